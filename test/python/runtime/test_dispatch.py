"""Several functions as one: in process, through tvm-ffi, and in an exported library."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fake_arrays import WITHOUT_TORCH
from tilewright import schedules, te
from tilewright.runtime.dlpack import read_capsule

tvm_ffi = pytest.importorskip("tvm_ffi")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with")


def scale(
    name: str, factor: float, dtype: str = "float32", target: str = "cpu", rank: int = 1, **symbol: int
) -> tw.Function:
    n = te.var("n", **symbol)
    A = te.placeholder((n,) if rank == 1 else (n, 4), dtype, name="A")
    B = te.compute(A.shape, lambda *at: A[at] * te.const(factor, dtype), name="B")
    s = te.create_schedule(B.op)
    if target != "cpu":
        outer, inner = s[B].split(B.op.axis[0], 32)
        s[B].bind(outer, te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], target, name)


@pytest.fixture(scope="module")
def by_type_and_shape() -> tw.Dispatch:
    """The factor tells which one was called."""
    functions = [
        scale("scale_of_8", 8, divisible_by=8, min=16),
        scale("scale_any", 2),
        scale("scale_rows", 3, rank=2),
        scale("scale_half", 4, "float16"),
        scale("scale_int", 5, "int32"),
    ]
    return tw.dispatch(functions, "scale")


CALLS = [((16,), "float32", 8), ((8,), "float32", 2), ((17,), "float32", 2), ((24,), "float32", 8), ((5, 4), "float32", 3),
         ((16,), "float16", 4), ((16,), "int32", 5)]  # fmt: skip
REFUSED = """scale: expected a call that one of these takes
  scale_of_8(A: float32[n], B: float32[n]): argument 0 (A): expected dtype float32, got float64
  scale_any(A: float32[n], B: float32[n]): argument 0 (A): expected dtype float32, got float64
  scale_rows(A: float32[n, 4], B: float32[n, 4]): argument 0 (A): expected dtype float32, got float64
  scale_half(A: float16[n], B: float16[n]): argument 0 (A): expected dtype float16, got float64
  scale_int(A: int32[n], B: int32[n]): argument 0 (A): expected dtype int32, got float64"""


def test_the_first_that_fits_is_called(by_type_and_shape: tw.Dispatch) -> None:
    for shape, dtype, factor in CALLS:
        for call in (by_type_and_shape, by_type_and_shape.ffi):
            a, b = np.ones(shape, dtype), np.zeros(shape, dtype)
            call(a, b)
            assert (b == factor).all(), (shape, dtype)
        returned = by_type_and_shape(a)
        assert returned.dtype == a.dtype and (returned == factor).all()
        a = np.ones(shape, dtype)
        chosen = by_type_and_shape.select(a, np.zeros_like(a))
        assert chosen is not None and (chosen(a) == factor).all()
        assert chosen is by_type_and_shape.select(a), "by the inputs alone"
    assert by_type_and_shape.select(np.zeros((2, 2, 2))) is None
    a, b = np.ones(16, "float32"), np.zeros(16, "float32")
    by_type_and_shape(B=b, A=a)
    assert (b == 8).all()
    assert str(by_type_and_shape) == "scale(A, B)"


class Only:
    """An array that has DLPack's protocol and nothing that compiled code reads."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries(by_type_and_shape: tw.Dispatch) -> None:
    a, b = np.ones(16, "float16"), np.zeros(16, "float16")
    by_type_and_shape(Only(a), Only(b))
    assert (b == 4).all()


def test_it_goes_when_nobody_has_it() -> None:
    either = tw.dispatch([scale("one", 2), scale("other", 2, "int32")], "either")
    either(np.ones(4, "int32"))
    gone = [weakref.ref(either), weakref.ref(either.functions[0])]
    del either
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_what_none_takes(by_type_and_shape: tw.Dispatch) -> None:
    a = np.ones(16)
    for call in (by_type_and_shape, by_type_and_shape.ffi, by_type_and_shape._choice):
        for arrays in ((a, a.copy()), (a,)):
            with pytest.raises(TypeError) as caught:
                call(*arrays)
            assert str(caught.value) == REFUSED
    with pytest.raises(
        ValueError, match=r"scale_int.*: argument 1 \(B\): expected extent n = 16, as in dimension 0 of A"
    ) as caught:
        by_type_and_shape(np.ones(16, "int32"), np.ones(8, "int32"))
    with pytest.raises(TypeError) as caught:
        by_type_and_shape()
    assert (
        str(caught.value).splitlines()[1] == "  scale_of_8(A: float32[n], B: float32[n]): expected 2 arguments, got 0"
    )
    # What else is wrong the one says that is called.
    with pytest.raises(ValueError) as caught:
        by_type_and_shape(np.ones(32, "int32")[::2], np.ones(16, "int32"))
    assert str(caught.value) == (
        "scale_int(A: int32[n], B: int32[n]): argument 0 (A): expected a row-major array, got strides (2,) for shape (16,)"
    )


LOADED = (
    WITHOUT_TORCH
    + """
import sys
import numpy as np
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
for shape, dtype, factor in eval(sys.argv[2]):
    a, b = np.ones(shape, dtype), np.zeros(shape, dtype)
    module.scale(a, b)
    assert (b == factor).all(), (shape, dtype, b)
try:
    module.scale(np.ones(16), np.ones(16))
except TypeError as error:
    print(error)
module.scale_any(np.ones(3, "float32"), np.zeros(3, "float32"))
print(module.get_function_doc("scale"))
print(module.get_function_metadata("scale")["functions"][1])
assert not [name for name in sys.modules if name.split(".")[0] in ("tilewright", "mlir")]
"""
)


@pytest.mark.sweep
@needs_compiler
def test_a_library_has_it(by_type_and_shape: tw.Dispatch, tmp_path: Path) -> None:
    path = tmp_path / "scale.so"
    tw.export_library([by_type_and_shape], path, header=True)
    packages = {str(Path(package.__file__).parents[1]) for package in (np, tvm_ffi)}
    result = subprocess.run(
        [sys.executable, "-c", LOADED, path, repr(CALLS)], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(packages)},
    )  # fmt: skip
    signatures = [str(function.signature) for function in by_type_and_shape.functions]
    assert result.stdout == (
        f"{REFUSED}\nscale(A, B)\n\nCalls the first of these that takes the arguments:\n\n"
        + "".join(f"- {signature}\n" for signature in signatures)
        + f"\n{signatures[1]}\n"
    )
    header = path.with_suffix(".h").read_text()
    assert (
        "/* scale(A, B): calls the first of these that takes the dtypes and extents:\n"
        + "".join(f" *   {signature}\n" for signature in signatures)[:-1]
        + "; writes B. */\nint __tvm_ffi_scale("
        in header
    )
    shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    assert all(line.split()[-1].startswith("__tvm_ffi_") for line in shown.splitlines())


@needs_compiler
def test_a_library_of_cpu_and_gpu(tmp_path: Path) -> None:
    """One name for arrays wherever they are; the kernels of it are loaded by one call."""
    on_cpu, on_gpu = scale("scale_cpu", 2), scale("scale_gpu", 2, target="cuda -arch=sm_90a")
    both = tw.dispatch([on_cpu, on_gpu], "scale")
    both.export_library(tmp_path / "scale.so", architectures=["sm_80"])
    module = tvm_ffi.load_module(str(tmp_path / "scale.so"))
    a, b = np.ones(8, "float32"), np.zeros(8, "float32")
    module.scale(a, b)
    assert (b == 2).all()
    both(a, a := b)
    assert (b == 2).all()
    if tw.cuda(0).exist:
        module.scale_load(0)
    else:
        with pytest.raises(RuntimeError, match="^no CUDA driver|^cuInit failed with "):
            module.scale_load(0)
    metadata = json.loads(json.dumps(module.get_function_metadata("scale")))
    assert metadata["signature"] == "scale(A, B)" and len(metadata["functions"]) == 2


def test_which_functions_make_one() -> None:
    wide, narrow, rows = scale("wide", 2), scale("narrow", 2, divisible_by=4), scale("rows", 2, rank=2)
    n = te.var("n")
    X = te.placeholder((n,), name="X")
    Y = te.compute((n,), lambda i: X[i] + 1.0, name="Y")
    other = tw.build(te.create_schedule(Y.op), [X, Y], "cpu", "other")
    for functions, name, kind, message in (
        ([wide], "not one", ValueError, "expected a name that is an identifier, got 'not one'"),
        ([], "f", ValueError, "f: expected one function or more, got none"),
        ([len], "f", TypeError, "f: expected functions that tw.build has made, got builtin_function_or_method"),
        (
            [wide],
            "wide",
            ValueError,
            "wide: expected functions of different names, and of others than its own, got two called 'wide'",
        ),
        (
            [wide, other],
            "f",
            ValueError,
            "f: expected functions whose arguments have the same names, in the same order, and of which the same are "
            "outputs, got wide(A: float32[n], B: float32[n]) and other(X: float32[n], Y: float32[n])",
        ),
        (
            [wide, rows, narrow],
            "f",
            ValueError,
            "f: expected the special functions before the general ones, got narrow(A: float32[n], B: float32[n]) after "
            "wide(A: float32[n], B: float32[n]), which takes all its calls",
        ),
    ):
        with pytest.raises(kind) as caught:
            tw.dispatch(functions, name)  # type: ignore[arg-type]
        assert str(caught.value) == message
    both = tw.dispatch([narrow, wide], "f")
    with pytest.raises(TypeError) as caught:
        tw.export_object(both, "f.o")  # type: ignore[arg-type]
    assert str(caught.value) == (
        "expected one function that tw.build has made, got f, which chooses between narrow, wide: export_library takes it"
    )
    simulated = tw.dispatch([scale("simulated", 2, target="sim")], "f")
    a = np.ones(8, "float32")
    assert (simulated(a) == 2).all()
    with pytest.raises(tw.TilewrightError) as refused:
        tw.export_library(simulated, "f.so")
    assert str(refused.value) == (
        "simulated is built for target sim, which runs in this process alone: build it for cuda or cpu"
    )
    with pytest.raises(ValueError, match="^expected functions of different names in one library, got two called 'f'"):
        tw.export_library([both, tw.dispatch([rows], "f")], "f.so")


def test_by_the_greatest_extent() -> None:
    small, middle, large = scale("small", 3, max=100), scale("middle", 4, max=200), scale("large", 2)
    either = tw.dispatch([small, middle, large], "either")
    for n, factor in ((100, 3), (101, 4), (200, 4), (201, 2)):
        for call in (either, either.ffi):
            a, b = np.ones(n, "float32"), np.zeros(n, "float32")
            call(a, b)
            assert (b == factor).all(), n
        assert either.select(a, b) is (small if factor == 3 else middle if factor == 4 else large)
    for order in ([middle, small], [large, small]):
        with pytest.raises(ValueError, match="small"):
            tw.dispatch(order, "either")


def test_kernels_for_few_rows_and_for_many() -> None:
    """As docs/operations.md has it."""

    def kernel(name: str, tile: tuple[int, int], **bounds: int) -> tw.Function:
        tokens = te.var("tokens", **bounds)
        scheduled = schedules.matmul_wgmma(tokens, 128, 64, "float16", transpose_b=True, tile=tile)
        return tw.build(*scheduled, "sim", name)

    layer = tw.dispatch([kernel("few", (64, 64), max=128), kernel("many", (128, 128))], "layer")
    choose = np.random.default_rng(7)
    w = choose.standard_normal((128, 64)).astype("float16")
    for rows, name in ((1, "few"), (128, "few"), (129, "many"), (200, "many")):
        x = choose.standard_normal((rows, 64)).astype("float16")
        y = np.full((rows, 128), np.nan, "float32")
        layer(x, w, y)
        assert layer.select(x, w, y).name == name
        assert np.allclose(y, x.astype("float64") @ w.astype("float64").T, atol=1e-4)


def test_others_may_set_the_types_of_pythons_functions() -> None:
    """`ctypes.pythonapi` is the process's own: what somebody says of its functions does not change how capsules are read."""
    api = ctypes.pythonapi
    before = api.PyCapsule_GetName.restype, api.PyCapsule_GetPointer.restype
    try:
        for kind in (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int):
            api.PyCapsule_GetName.restype = api.PyCapsule_GetPointer.restype = kind
            assert read_capsule(np.ones(4, "float32"), None).shape == (4,)
    finally:
        api.PyCapsule_GetName.restype, api.PyCapsule_GetPointer.restype = before
