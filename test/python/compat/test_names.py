"""The names of TVM's te: what they are here, and what is refused with its replacement."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tvm
from tilewright import te
from tilewright.native.callable import set_target
from tilewright.tvm_compat.missing_names import REPLACEMENTS


def doubled():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, B]


@pytest.mark.parametrize("name", ["relay", "topi", "script", "relax", "autotvm"])
def test_imports_of_what_is_missing_name_the_replacement(name: str) -> None:
    message = (
        f"no module named 'tilewright.{name}': of TVM's te it is not carried over (docs/tvm-compatibility.md): "
        f"use {REPLACEMENTS[name]}"
    )
    for statement in (f"from tilewright import {name}", f"import tilewright.{name}", f"import tilewright.{name}.nn"):
        with pytest.raises(ImportError) as raised:
            exec(statement)
        assert str(raised.value) == message
        assert isinstance(raised.value, tvm.TVMError)
    with pytest.raises(ModuleNotFoundError, match="No module named 'tilewright.nonsense'"):
        exec("import tilewright.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from tilewright import nonsense")


def test_what_nobody_has_is_just_missing() -> None:
    for owner, what in ((tvm, "module 'tilewright'"), (te, "module 'tilewright.te'")):
        with pytest.raises(AttributeError, match=f"^{what} has no attribute 'nonsense'$"):
            owner.nonsense  # noqa: B018


@pytest.mark.parametrize("kind", ["llvm", "sim"])
def test_arrays_of_the_host(kind: str) -> None:
    s, args = doubled()
    func = tvm.build(s, args, kind, name="doubled")
    dev = tvm.device(kind)
    a, b = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), "float32", dev)
    func["doubled"](a, b)
    tvm.testing.assert_allclose(b.asnumpy(), a.numpy() * 2)
    tvm.testing.assert_allclose(b, np.arange(8) * 2)
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(b, np.arange(8))
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(b, np.zeros((1, 8)))
    assert (dev.device_type, dev.device_id, dev.device_name, dev.exist) == (1, 0, "cpu", True)


def test_arrays_are_filled_printed_and_made_of_capsules() -> None:
    a = tvm.nd.array(np.arange(3, dtype="float32"))
    assert str(a) == "[0. 1. 2.]" and repr(a) == "NDArray(shape=(3,), dtype=float32, device=cpu(0))"
    a[:] = np.ones(3, "float32")
    assert a.numpy().tolist() == [1, 1, 1]
    a[...] = [2, 2, 2]
    assert a.numpy().tolist() == [2, 2, 2]
    for index in (0, slice(0, 2), (0, 1), np.arange(3)):
        with pytest.raises(ValueError) as raised:
            a[index] = 0.0
        here = f"{__file__}:{raised.traceback[0].lineno + 1}"
        assert str(raised.value) == f"{here}: expected a[:] = source, which copies to all elements, got a[{index}]"
    capsule = a.__dlpack__()
    assert tvm.nd.from_dlpack(capsule).numpy().tolist() == [2, 2, 2]
    with pytest.raises(TypeError) as wrong:
        tvm.nd.from_dlpack([1.0])
    assert str(wrong.value) == "expected an array with __dlpack__, got list"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_an_array_has_memory_of_its_own(copied: Callable) -> None:
    a = tvm.nd.array(np.arange(3, dtype="float32"))
    b = copied(a)
    a[:] = np.zeros(3, "float32")
    assert b.numpy().tolist() == [0, 1, 2] and (b.dtype, b.shape, b.device) == (a.dtype, a.shape, a.device)


def test_operations_are_compared_by_identity() -> None:
    (A, B), other = doubled()[1], doubled()[1][1]
    assert A.op.same_as(A.op) and B.op.same_as(B.op) and not B.op.same_as(other.op)


def test_sources() -> None:
    s, args = doubled()
    assert tvm.build(s, args, "llvm").imported_modules == []
    simulated = tvm.build(s, args, "sim", name="doubled")
    assert "gpu.func @doubled_kernel0" in simulated.imported_modules[0].get_source()
    assert "llvm.func @doubled" in simulated.get_source() == simulated.inspect_source()
    with pytest.raises(ValueError, match="^expected 'mlir', the format that kernels for sim have, got 'cu'$"):
        simulated.imported_modules[0].inspect_source("cu")
    with pytest.raises(ValueError, match="^expected 'mlir', the format that the host function has, got 'asm'$"):
        simulated.get_source("asm")
    with pytest.raises(KeyError, match="expected the name of this function, 'doubled', got 'other'"):
        simulated["other"]


def test_lower() -> None:
    s, args = doubled()
    assert tvm.lower(s, args, simple_mode=True) == str(s)
    assert "scf.for" in str(tvm.lower(s, args))
    with pytest.raises(TypeError, match="^expected a schedule with simple_mode, got Tensor$"):
        tvm.lower(args[1], args, simple_mode=True)
    with pytest.raises(ValueError, match="expected the input A among the arguments, got B$"):
        tvm.lower(s, args[1:], simple_mode=True)


@pytest.mark.sweep
def test_time_evaluator() -> None:
    s, args = doubled()
    func = tvm.build(s, args, "llvm", name="doubled")
    a, b = np.ones(8, "float32"), np.empty(8, "float32")
    timing = func.time_evaluator(func.entry_name, tvm.cpu(), number=3, repeat=2)(a, b)
    assert len(timing.results) == 2
    calls = []
    counted = tvm.build(s, args, "llvm")
    set_target(counted, lambda *arrays: calls.append(1))  # what is timed is called alone
    counted.time_evaluator("main", tvm.cpu(), number=5)()
    assert len(calls) == 1 + 5, "one call to warm up, then number calls"
    assert func.time_evaluator("doubled", tvm.cpu(), number=1, min_repeat_ms=1, cache_flush_bytes=1)(a, b).mean > 0
    for call, message in (
        (lambda: func.time_evaluator("other", tvm.cpu()), "expected the name of this function, 'doubled', got 'other'"),
        (lambda: func.time_evaluator("doubled", tvm.cuda(0)), "expected a device of target cpu, got cuda(0)"),
        (lambda: func.time_evaluator("doubled"), "expected a device of target cpu, got None"),
        (
            lambda: func.time_evaluator("doubled", tvm.cpu(), f_preproc="x"),
            "expected f_preproc='cache_flush_cpu_non_first_arg', got 'x'",
        ),
        (lambda: func.time_evaluator("doubled", tvm.cpu(), number=0), "expected number to be 1 or more, got 0"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            call()


def test_devices() -> None:
    assert tvm.runtime.device("cuda", 1) == tvm.cuda(1) and tvm.runtime.device("llvm") == tvm.cpu()
    assert tvm.gpu(1) == tvm.cuda(1) == tvm.device("cuda", 1) == tvm.device(tvm.target.Target("cuda -arch=sm_80"), 1)
    assert tvm.device("llvm -mcpu=core-avx2") == tvm.device("sim") == tvm.cpu() == tvm.device("cpu")
    assert tvm.runtime.enabled("llvm") and tvm.runtime.enabled("cuda") and not tvm.runtime.enabled("opencl")
    for kind in ("rocm", "", 3):
        with pytest.raises(ValueError, match=re.escape(f"expected a device of kind cuda, cpu or sim, got {kind!r}")):
            tvm.device(kind)


def test_targets() -> None:
    Target = tvm.target.Target
    assert Target(target="cuda -arch=sm_80", host="llvm") == Target({"kind": "cuda", "arch": "sm_80"})
    assert Target("llvm -mcpu=skylake-avx512 -num-cores=4") == Target("cpu")
    assert Target("llvm -mtriple=x86_64-linux-gnu -keys=cpu -model=unknown -link-params=0") == Target("cpu")
    limits = {"max_threads_per_block": 1024, "max_num_threads": 1024, "thread_warp_size": 32, "model": "unknown"}
    assert Target({"kind": "cuda", "keys": ["cuda", "gpu"], "arch": "sm_80", **limits}) == Target("cuda -arch=sm_80")
    assert Target("nvidia/nvidia-a100").device is not None and Target("nvidia/nvidia-a100").arch == "sm_80"
    assert Target("nvidia/geforce-rtx-3090") == Target("cuda", device="geforce-rtx-3090")
    assert Target(Target("sim -checks=off")) == Target("sim", checks=False)
    assert tvm.target.cuda(arch="sm_80") == Target("cuda", arch="sm_80")
    assert (Target("cuda").kind.name, Target("llvm").kind.name) == ("cuda", "cpu")
    assert "gpu" in Target("cuda").keys and "gpu" in Target("sim").keys and Target("llvm").keys == ("cpu",)
    assert (Target("cuda").max_num_threads, Target("sim").thread_warp_size) == (1024, 32)
    assert (Target("llvm").max_num_threads, Target("llvm").thread_warp_size) == (1, 1)
    assert (Target("cuda").max_shared_memory_per_block, Target("llvm").max_shared_memory_per_block) == (49152, 0)
    assert (Target("cuda").model, Target("cuda").libs, Target("cuda").device_name) == ("unknown", (), "")
    assert Target.current() is None
    with Target("sim"):
        with Target("llvm"):
            assert Target.current() == Target("cpu")
        assert tvm.build(*doubled()).target == Target("sim")
        assert tvm.build(*doubled(), "llvm").target == Target("cpu")
    assert tvm.build(*doubled(), "sim", target_host="llvm").target == Target("sim")
    for call, message in (
        (lambda: Target("llvm", host="cuda"), "expected this machine's processor as host (cpu, llvm), got 'cuda'"),
        (lambda: Target.current(allow_none=False), "expected to be in a target's 'with' block"),
        (lambda: Target("cuda -mcpu=x"), "expected -arch=ARCH after the target's kind, got '-mcpu=x'"),
        (
            lambda: Target("llvm -mtriple=aarch64-linux-gnu"),
            "expected this machine's processor, x86_64, got '-mtriple=aarch64-linux-gnu'",
        ),
        (lambda: Target("nvidia/nvidia-v100"), "expected a target of kind cuda, cpu or sim, got 'nvidia/nvidia-v100'"),
        (lambda: Target({"arch": "sm_80"}), "expected the target's 'kind' in the dictionary, got arch"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            call()
    with pytest.raises(TypeError, match="^expected one kind, got 'cuda' and target='llvm'$"):
        Target("cuda", target="llvm")


def test_pass_context() -> None:
    with tvm.transform.PassContext(opt_level=3) as context:
        assert context.opt_level == 3
    with pytest.raises(ValueError) as raised:
        tvm.transform.PassContext(config={"tir.disable_vectorize": True})
    assert str(raised.value) == (
        "expected no config in a PassContext, got {'tir.disable_vectorize': True}: passes of one's own are asked of the "
        "build, tvm.build(..., after={stage: pass}), and Function.ir(stage) shows every stage"
    )
    with pytest.raises(ValueError) as raised:
        tvm.transform.PassContext(config={"te.keep_schedule_record": True})
    assert str(raised.value) == (
        "expected no config in a PassContext, got {'te.keep_schedule_record': True}: every schedule keeps its record, "
        "and Schedule.trace() shows it"
    )


def test_lowered_module_is_read_as_tvm_reads_one(capsys: pytest.CaptureFixture[str]) -> None:
    s, args = doubled()
    module = tvm.lower(s, args, name="doubled")
    assert module.astext() == module.script() == str(module)
    module.show()
    assert capsys.readouterr().out == f"{module}\n"
    assert str(module["doubled"]).startswith("func.func @doubled(")
    assert "doubled" in module and "main" not in module
    with pytest.raises(KeyError) as raised:
        module["main"]
    assert raised.value.args == ("expected a function of the module (doubled), got 'main'",)
    for name in ("functions", "get_global_var", "update"):
        with pytest.raises(AttributeError) as missing:
            getattr(module, name)
        assert str(missing.value) == (
            f"'Module' object has no attribute {name!r}: tvm.lower returns an MLIR module: use module['doubled'] or "
            "module.body.operations for its functions, and str(module) for its text"
        )


def test_expressions_of_tir() -> None:
    x = tvm.tir.Var("x", "int32")
    assert str(tvm.tir.const(2, "int32") * x + 1) == "2 * x + 1"
    assert tvm.tir.Cast("float32", x).dtype == "float32" == tvm.tir.FloatImm("float32", 1.0).dtype
    assert tvm.tir.IntImm("int64", 3).value == 3
    assert isinstance(tvm.tir.Select(x > 1, x, 2), tvm.tir.PrimExpr)
    assert str(tvm.tir.indexdiv(x, 4)) == "x // 4"


def test_nodes_of_tir_are_their_operators() -> None:
    x, y, tir = tvm.tir.Var("x", "int32"), tvm.tir.Var("y", "int32"), tvm.tir
    for node, text in (
        (tir.Add(x, 1), "x + 1"),
        (tir.Sub(1, x), "1 - x"),
        (tir.Mul(x, y), "x * y"),
        (tir.Div(x, 4), str(te.truncdiv(x, 4))),
        (tir.Mod(x, 4), str(te.truncmod(x, 4))),
        (tir.FloorDiv(x, 4), "x // 4"),
        (tir.FloorMod(x, 4), "x % 4"),
        (tir.Min(x, y), str(te.min(x, y))),
        (tir.Max(x, y), str(te.max(x, y))),
        (tir.EQ(x, 2), "x == 2"),
        (tir.NE(x, 2), "x != 2"),
        (tir.LT(x, 2), "x < 2"),
        (tir.LE(x, 2), "x <= 2"),
        (tir.GT(x, 2), "x > 2"),
        (tir.GE(x, 2), "x >= 2"),
        (tir.And(x > 1, y > 1), str(te.all(x > 1, y > 1))),
        (tir.Or(x > 1, y > 1), str(te.any(x > 1, y > 1))),
        (tir.Not(x > 1), str(~(x > 1))),
        (tir.shift_left(x, 2), str(te.left_shift(x, 2))),
        (tir.shift_right(x, 2), str(te.right_shift(x, 2))),
        (tir.likely(x > 1), "x > 1"),
        (tir.infinity("float64"), "inf"),
        (tvm.runtime.const(3, "int32"), "3"),
    ):
        assert str(node) == text
    assert tir.pow(tir.const(2.0), 3.0).dtype == "float32" and str(tir.convert((1, x))) == "[1, x]"
    assert te.schedule.Schedule is te.Schedule and tvm.TVMError is tvm.TilewrightError


def test_nodes_of_tir_are_classes() -> None:
    """Each expression is one of its own class, and of no other."""
    x, y, tir = tvm.tir.Var("x", "int32"), tvm.tir.SizeVar("y", "int32"), tvm.tir
    A = te.placeholder((4, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
    made = {
        tir.Add: x + 1, tir.Sub: x - 1, tir.Mul: x * y, tir.FloorDiv: x // 4, tir.FloorMod: x % 4,
        tir.Div: tir.truncdiv(x, 4), tir.Mod: tir.truncmod(x, 4), tir.Min: te.min(x, y), tir.Max: te.max(x, y),
        tir.EQ: x == 1, tir.NE: x != 1, tir.LT: x < 1, tir.LE: x <= 1, tir.GT: x > 1, tir.GE: x >= 1,
        tir.And: te.all(x > 1, y > 1), tir.Or: te.any(x > 1, y > 1), tir.Not: ~(x > 1),
        tir.IntImm: te.const(3), tir.FloatImm: te.const(3.0), tir.Cast: x.astype("int64"),
        tir.Select: te.select(x > 1, x, y), tir.Call: te.if_then_else(x > 1, x, y), tir.ProducerLoad: A[x, y],
        tir.BufferLoad: tir.decl_buffer((4,), name="b")[x], tir.Reduce: B.op.body[0], tir.SizeVar: y,
    }  # fmt: skip
    for kind, expr in made.items():
        assert [one.__name__ for one in made if isinstance(expr, one)] == [kind.__name__], expr
        assert isinstance(expr, tir.PrimExpr)
    assert isinstance(te.exp(A[0, 0]), tir.Call) and isinstance(A[0, 0] / 2.0, tir.Div)
    assert isinstance(x, tir.Var) and isinstance(y, tir.Var) and isinstance(B.op.axis[0].var, tir.Var)
    assert not isinstance(x, tir.SizeVar) and not isinstance(x + 1, tir.Var) and not isinstance(3, tir.IntImm)
    assert isinstance(B.op.axis[0], tir.IterVar) and isinstance(A, tir.DataProducer)
    assert isinstance(te.all(A[0, 0] > 1.0, A[x, 0] > 1.0), tir.And) and isinstance(te.const(True), tir.IntImm)
    assert all(isinstance(made[kind], tir.BinaryOpExpr) for kind in (tir.Add, tir.Div, tir.Max))
    assert all(isinstance(made[kind], tir.CmpExpr) for kind in (tir.EQ, tir.GE))
    assert all(isinstance(made[kind], tir.LogicalExpr) for kind in (tir.And, tir.Or, tir.Not))
    assert isinstance(te.const(3), tir.ConstExpr) and isinstance(A.shape[0], tir.ConstExpr)
    assert ((x + 1).a is x) and (x + 1).b.value == 1 and int(te.const(3)) == 3 and float(te.const(2.5)) == 2.5
    assert A[x, y].producer is A and made[tir.BufferLoad].buffer.name == "b"
    assert str(tir.BufferLoad(tir.decl_buffer((4,), name="b"), [x])) == "b[x]"
    for kind, instead in (
        ("Call", "te's functions of mathematics"),
        ("Reduce", "te.sum"),
        ("ProducerLoad", r"A\[i, j\]"),
    ):
        with pytest.raises(
            TypeError, match=rf"test_names.py:\d+: tir.{kind}: expected {instead}.*, which make it, got"
        ):
            getattr(tir, kind)("float32", "tir.exp", [x])


def test_ten_to_the_power_and_products_of_bytes() -> None:
    x, words = np.linspace(-3, 3, 16, dtype="float32"), np.random.default_rng(0).integers(-(2**31), 2**31, 16)
    A, W = te.placeholder((16,), name="A"), te.placeholder((16,), "int32", name="W")
    U = te.placeholder((16,), "uint32", name="U")
    B = te.compute((16,), lambda i: te.exp10(A[i]), name="B")
    C = te.compute((16,), lambda i: tvm.tir.dp4a(W[i], W[15 - i], 7), name="C")
    D = te.compute((16,), lambda i: te.dp4a(U[i], U[15 - i]), name="D")
    E = te.compute((16,), lambda i: te.dp4a(U[i], W[i]), name="E")
    args = [A, W, U, B, C, D, E]
    func = tvm.build(te.create_schedule([B.op, C.op, D.op, E.op]), args, "llvm")
    w, u = words.astype("int32"), words.astype("uint32")
    out = [np.empty(16, kind) for kind in ("float32", "int32", "uint32", "int32")]
    func(x, w, u, *out)
    np.testing.assert_allclose(out[0], 10.0 ** x.astype("float64"), rtol=1e-6)

    def products(a, b, to):
        return (a.reshape(-1, 4).astype("int64") * b.reshape(-1, 4)).sum(axis=1).astype(to)

    signed, back = w.view("int8"), np.ascontiguousarray(w[::-1]).view("int8")
    unsigned, unsigned_back = u.view("uint8"), np.ascontiguousarray(u[::-1]).view("uint8")
    np.testing.assert_array_equal(out[1], products(signed, back, "int32") + 7)
    np.testing.assert_array_equal(out[2], products(unsigned, unsigned_back, "uint32"))
    np.testing.assert_array_equal(out[3], products(unsigned, signed, "int32"))
    for call, message in (
        (
            lambda: te.dp4a(A[0], A[0]),
            r'te.dp4a: expected words of int32 or uint32, or vload\(begin, "int8x4"\), got float32',
        ),
        (lambda: te.dp4a(W[0], W[0], A[0]), "te.dp4a: expected acc of int32, got float32"),
        (lambda: te.exp10(W[0]), "te.exp10: expected a float, got int32: convert it with .astype"),
    ):
        with pytest.raises(TypeError, match=rf"test_names.py:\d+: {message}$"):
            call()


def test_what_is_small() -> None:
    func = tvm.build(*doubled(), "llvm", name="doubled")
    assert func.get_function("doubled") is func is func.entry_func and func.type_key == "cpu"
    assert func.implements_function("doubled") and not func.implements_function("other")
    A, a = te.placeholder((4,), name="A"), tvm.nd.empty((4,))
    x = te.var("x")
    assert A.same_as(A) and not A.same_as(te.placeholder((4,), name="A")) and not A.axis
    assert x.same_as(x) and not (x + 1).same_as(x + 1) and a.same_as(a) and not a.same_as(tvm.nd.empty((4,)))
    assert (tvm.target.Target("cuda").max_block_size_x, tvm.target.Target("llvm").max_block_size_y) == (1024, 1)
    PassContext = tvm.transform.PassContext
    assert PassContext.current().opt_level == 2 and PassContext.current().config == {}
    with PassContext(opt_level=3) as outer, PassContext(opt_level=1):
        assert PassContext.current().opt_level == 1 and outer.opt_level == 3
    assert PassContext.current().opt_level == 2
    with pytest.raises(
        AttributeError, match="^'Target' object has no attribute 'with_host': of TVM's te it is not carried over"
    ):
        tvm.target.Target("cuda").with_host  # noqa: B018
    with pytest.raises(AttributeError, match="^'Stage' object has no attribute 'nonsense'$"):
        te.create_schedule(doubled()[1][1].op).stages[0].nonsense  # noqa: B018


def test_what_tests_use() -> None:
    def test(target: str = "", dev: object = None) -> None: ...

    assert tvm.testing.enabled_targets()[0] == ("llvm", tvm.cpu())
    assert tvm.testing.device_enabled("sim") and tvm.testing.device_enabled("cuda") == tvm.cuda(0).exist
    for decorator in (tvm.testing.parametrize_targets, tvm.testing.parametrize_targets("llvm", "sim")):
        marked = decorator(test)
        (mark,) = marked.pytestmark
        assert mark.args[0] == ("target", "dev") and mark.args[1][0].values == ("llvm", tvm.cpu())
        assert len(mark.args[1]) == 2
        del marked.pytestmark
    for decorator in (tvm.testing.requires_gpu, tvm.testing.requires_cuda, tvm.testing.uses_gpu):
        assert decorator(test).pytestmark[-1].args == (not tvm.cuda(0).exist,)
        assert decorator()(test) is test
    assert tvm.testing.requires_llvm(test) is test and tvm.testing.requires_llvm()(test) is test


def test_tags() -> None:
    A = te.placeholder((4,), name="A")

    @te.tag_scope(tag="injective")
    def twice(X):
        return te.compute((4,), lambda i: X[i] * 2, name="B")

    assert twice(A).op.tag == "injective"
    assert te.compute((4,), lambda i: A[i], tag="mine", attrs={"layout": "NCHW"}).op.attrs == {"layout": "NCHW"}
    with pytest.raises(ValueError, match=r"te.tag_scope: expected no scope inside another, got 'b' inside 'a'$"):
        with te.tag_scope("a"), te.tag_scope("b"):
            pass
    with pytest.raises(ValueError, match=r"compute B: expected one tag, got 'b' inside te.tag_scope\('a'\)$"):
        with te.tag_scope("a"):
            te.compute((4,), lambda i: A[i], name="B", tag="b")
    with pytest.raises(TypeError, match=r"te.tag_scope: expected a tag, got ''$"):
        te.tag_scope("")


def test_errors_and_numbers_by_the_names_of_their_modules() -> None:
    from tilewright.error import TVMError

    assert tvm.error.TVMError is TVMError is tvm.TVMError
    with pytest.raises(tvm.error.TVMError):
        te.placeholder((-1,), name="A")
    assert tvm.convert is tvm.runtime.convert is tvm.tir.convert
    n = tvm.runtime.convert(96)
    assert isinstance(n, tvm.tir.IntImm) and n.value == 96 and tvm.convert((1, 2))[1].value == 2
    A = te.placeholder((n, n), name="A")
    k = te.reduce_axis((tvm.convert(0), n), name="k")
    B = te.compute((n,), lambda i: te.sum(A[k, i], axis=k), name="B")
    assert B.shape[0].value == k.dom.extent.value == 96 and tuple(A.shape) == (96, 96)
    s = te.create_schedule(B.op)
    _, inner = s[B].split(B.op.axis[0], factor=tvm.runtime.convert(8))
    s[B].parallel(inner)
    a, b = np.random.default_rng(0).integers(0, 9, (96, 96)).astype("float32"), np.empty(96, "float32")
    tvm.build(s, [A, B], "llvm")(a, b)
    np.testing.assert_array_equal(b, a.sum(0))
    assert te.thread_axis((tvm.convert(0), n), "threadIdx.x").dom.extent.value == 96
    with pytest.raises(TypeError, match="placeholder A: dimension 0: expected an extent, got 4.0"):
        te.placeholder((tvm.convert(4.0),), name="A")
    schedule = te.schedule
    assert (schedule.Buffer, schedule.IterVar, schedule.Var) == (tvm.tir.Buffer, tvm.tir.IterVar, tvm.tir.Var)
    assert s[B].iter_var_attrs[inner].iter_type == schedule.IterVar.Parallelized


@pytest.mark.parametrize(
    ("module", "name", "use"),
    [
        ("contrib", "utils", "Python's own tempfile"),
        ("contrib", "cc", "Function.export_library, which links by itself"),
        ("contrib", "cblas", "a call of the library beside the built function"),
        ("contrib", "graph_executor", "tilewright.compile of a model"),
        ("error", "OpError", "tvm.TVMError, which every error is"),
        ("tir", "Schedule", "te.create_schedule"),
        ("tir.stmt_functor", "post_order_visit", "tvm.build(..., after={stage: pass}), with passes on MLIR"),
        ("te.hybrid", "HybridModule", "what tvm.build returns"),
        ("target", "codegen", "tvm.target.Target"),
    ],
)
def test_what_an_import_from_a_module_says(module: str, name: str, use: str) -> None:
    with pytest.raises(ImportError) as raised:
        exec(f"from tilewright.{module} import {name}", {})
    assert str(raised.value).endswith(f"of TVM's te it is not carried over (docs/tvm-compatibility.md): use {use}")
