"""Every name of v0.19's te, of its schedules and expressions, and of what scripts use beside: it is here, or an error
says what to use, which the page quotes."""

from __future__ import annotations

import operator
import pathlib
import re
import runpy

import pytest

import tilewright as tvm
from compat.names import NAMES
from tilewright import te
from tilewright.tvm_compat.missing_names import REPLACEMENTS

ROOT = pathlib.Path(__file__).parents[3]
PAGE = ROOT / "docs" / "tvm-compatibility.md"
# What only a GPU answers.
ASKS_A_GPU = {
    "compute_version",
    "max_shared_memory_per_block",
    "max_threads_per_block",
    "multi_processor_count",
    "warp_size",
}


def doubled(a):
    b = output_tensor((8,), "float32")  # noqa: F821 - scripts have it by name
    for i in range(8):
        b[i] = a[i] * 2
    return b


@pytest.fixture(scope="module")
def owners() -> dict[str, object]:
    """What has the names of each namespace or class."""
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    instances = {
        "te.Schedule": s,
        "te.Stage": s[B],
        "te.Tensor": A,
        "te.Operation": B.op,
        "te.ExternOp": te.hybrid.script(doubled)(A).op,
        "IRBuilder": tvm.tir.ir_builder.create(),
        "Buffer": tvm.tir.decl_buffer((4,)),
        "PrimExpr": te.var("n") + 1,
        "IterVar": B.op.axis[0],
        "NDArray": tvm.nd.empty((4,)),
        "Function": tvm.build(s, [A, B], "llvm"),
        "Target": tvm.target.Target("cuda"),
        "PassContext": tvm.transform.PassContext(),
        "Device": tvm.cpu(),
    }
    modules = {name: operator.attrgetter(name)(tvm) if name else tvm for name in NAMES if name not in instances}
    return modules | instances


@pytest.mark.parametrize("owner", NAMES)
def test_every_name(owner: str, owners: dict[str, object]) -> None:
    for name in NAMES[owner].split():
        whole = f"{owner}.{name}" if owner else name
        of = type(owners[owner]) if name in ASKS_A_GPU else owners[owner]
        if whole not in REPLACEMENTS:
            getattr(of, name)
            continue
        with pytest.raises(AttributeError) as raised:
            getattr(of, name)
        message = str(raised.value)
        assert message.endswith(
            f"has no attribute {name!r}: of TVM's te it is not carried over (docs/tvm-compatibility.md): "
            f"use {REPLACEMENTS[whole]}"
        )
        assert isinstance(raised.value, tvm.TVMError)


def test_only_names_of_tvm_are_refused() -> None:
    known = {f"{owner}.{name}" if owner else name for owner, names in NAMES.items() for name in names.split()}
    # Of older releases than v0.19.
    older = {
        "context", "ffi", "metal", "micro", "opencl", "rocm", "vulkan", "webgpu", "ir.IRModule", "nd.context",
        "runtime.num_threads", "target.current_target", "target.generic", "te.tensor_intrin",
        "target.intel_graphics", "tir.call_pure_intrin", "tir.expr", "tir.op", "tir.generic", "tir.Store", "tir.Load",
        "tir.buffer", "Function.save", "te.operation",
    }  # fmt: skip
    assert set(REPLACEMENTS) - known <= older


def test_the_page_has_what_the_table_has() -> None:
    """`python tools/regenerate-docs.py` writes it."""
    made = runpy.run_path(str(ROOT / "tools" / "regenerate-docs.py"))["tvm_names"]()
    text = PAGE.read_text()
    begin, end = text.index("<!-- names -->"), text.index("<!-- end of names -->")
    assert text[begin:end] == "<!-- names -->\n" + made
    quoted = {
        name for row in re.findall(r"^\| (.*?) \| ", made, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)
    }
    assert quoted == set(REPLACEMENTS)
    for instead in set(REPLACEMENTS.values()):
        assert f"| {instead} |" in made


def test_every_name_that_works_is_run_by_a_test_or_an_example() -> None:
    """Beside `test_every_name`, which only looks for it."""
    tests = [path for path in (ROOT / "test" / "python").rglob("*.py") if path.name != "names.py"]
    examples = (
        line
        for path in (ROOT / "python" / "tilewright").rglob("*.py")
        for line in path.read_text().splitlines()
        if line.lstrip().startswith((">>>", "..."))
    )
    text = "\n".join([*(path.read_text() for path in tests), *examples])
    used = set(re.findall(r"\.(\w+)", text)) | set(re.findall(r"\b(\w+)\(", text)) | set(re.findall(r'"(\w+)"', text))
    for line in re.findall(r"^ *from \S+ import (.*)$", text, re.MULTILINE):
        used |= set(re.findall(r"\w+", line))
    unused = [
        whole
        for owner, names in NAMES.items()
        for name in names.split()
        if (whole := f"{owner}.{name}" if owner else name) not in REPLACEMENTS and name not in used
    ]
    assert unused == []
