"""What scripts for TVM ask for that is not here, and what takes its place; docs/tvm-compatibility.md says why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from .errors import TilewrightAttributeError as AttributeError
from .errors import TilewrightImportError as ImportError

__all__ = ["REPLACEMENTS", "attribute_of"]

_GRAPH = "te.compute for each operator"
_SEARCH = "search over schedules yourself: build each with tvm.build and time it with time_evaluator"
_DEVICES = "tvm.cuda(index), or tvm.cpu() for targets cpu and sim"
_STATEMENTS = "te.compute and the primitives of its schedule"
_INTRINSICS = "te's functions of mathematics"
_PASSES = "tvm.build(..., after={stage: pass}), with passes on MLIR"
_TYPES = "NumPy's names of types, such as 'float32'"
_FILES = "Function.cubin and Function.ptx, or Function.ir(stage), as text that tvm.build takes"

REPLACEMENTS = {
    "autotvm": _SEARCH,
    "auto_scheduler": _SEARCH,
    "meta_schedule": _SEARCH,
    "context": "tvm.device(kind, index)",
    "contrib": "nothing: kernels are compiled in process, without nvcc, and no external library is called",
    "convert": "Python's own numbers, tuples and lists",
    "get_global_func": "a Python function of your own",
    "IRModule": "the MLIR module that tvm.lower returns",
    "metal": _DEVICES,
    "opencl": _DEVICES,
    "rocm": _DEVICES,
    "vulkan": _DEVICES,
    "register_func": "a Python function of your own",
    "relay": _GRAPH,
    "relax": _GRAPH,
    "rpc": "a process of your own on the other machine",
    "script": "te.compute and a schedule",
    "topi": _GRAPH,
    "te.AXIS_SEPARATOR": "buffers with one dimension",
    "te.SpecializedCondition": "te.var(name, divisible_by=..., min=...)",
    "te.create_prim_func": "tvm.lower(s, args), whose result is an MLIR module",
    "te.extern_primfunc": "te.extern, with statements of tir.ir_builder",
    "te.hybrid.build": "tvm.build",
    "te.hybrid.parse": "te.hybrid.script",
    "te.hybrid.HybridModule": "what tvm.build returns",
    "te.hybrid.decorate": "functools.wraps",
    "te.schedule.ScheduleOps": "tvm.lower(s, args, simple_mode=True), whose result is the loop nest as text",
    "te.trace": "an output of its own for the value, or target sim",
    "tir.Schedule": "te.create_schedule",
    "tir.call_extern": _INTRINSICS,
    "tir.call_intrin": _INTRINSICS,
    "tir.call_packed": "a call of your own beside the built function",
    "tir.call_pure_extern": _INTRINSICS,
    "tir.stmt_functor": _PASSES,
    "tir.transform": _PASSES,
    "target.create": "tvm.target.Target(text)",
    "transform.Sequential": "tvm.build(..., after={stage: [passes]})",
    "DataType": _TYPES,
    "arith": "nothing: bounds and simplification are the compiler's",
    "error": "tvm.TilewrightError and what derives from it",
    "ffi": "a Python function of your own",
    "instrument": "Function.timings, and Function.ir(stage) for what each stage made",
    "parser": _GRAPH,
    "support": "tvm.runtime.enabled(kind)",
    "ext_dev": _DEVICES,
    "hexagon": _DEVICES,
    "webgpu": _DEVICES,
    "micro": _DEVICES,
    "ir.IRModule": "the MLIR module that tvm.lower returns",
    "ir.Range": "a tuple (begin, extent)",
    "ir.structural_equal": "str(...) of both",
    "ir.assert_structural_equal": "str(...) of both",
    "ir.make_node": "te's own functions",
    "ir.save_json": "Schedule.trace().to_json()",
    "ir.load_json": "tilewright.te.Trace.from_json",
    "nd.context": "tvm.device(kind, index)",
    "nd.numpyasarray": "tvm.nd.array",
    "runtime.DataType": _TYPES,
    "runtime.String": "str",
    "runtime.Module": "what tvm.build returns",
    "runtime.load_module": _FILES,
    "runtime.convert": "Python's own numbers, tuples and lists",
    "runtime.num_threads": "os.cpu_count()",
    "target.current_target": "tvm.target.Target.current()",
    "target.arm_cpu": "tvm.target.Target('llvm')",
    "target.intel_graphics": "tvm.target.Target('cuda')",
    "target.mali": "tvm.target.Target('cuda')",
    "target.generic_func": "a Python function that looks at tvm.target.Target.current()",
    "target.override_native_generic_func": "a Python function that looks at tvm.target.Target.current()",
    "target.generic": "a Python function that looks at tvm.target.Target.current()",
    "te.operation": "the same names in te itself",
    "te.tensor_intrin": "the same names in te itself",
    "tir.Any": "te.var",
    "tir.expr": "the same names in tir itself",
    "tir.op": "the same names in tir itself",
    "tir.StringImm": "str",
    "tir.Let": "the expression itself, which is computed once",
    "tir.call_llvm_intrin": _INTRINSICS,
    "tir.call_pure_intrin": _INTRINSICS,
    "tir.q_multiply_shift": "products of int64 and te.right_shift",
    "tir.clz": "te.log2 of the number as float64",
    "tir.copysign": "te.select(y < 0, -te.abs(x), te.abs(x))",
    "tir.hypot": "te.sqrt(x * x + y * y)",
    "tir.ldexp": "x * te.power(2.0, e)",
    "tir.nextafter": "a constant",
    "tir.reinterpret": "astype, which converts the value",
    "tir.trace": "an output of its own for the value, or target sim",
    "tir.generic": "the operators of expressions",
    "tir.ret": "an output tensor",
    "tir.Evaluate": _STATEMENTS,
    "tir.For": _STATEMENTS,
    "tir.Store": _STATEMENTS,
    "tir.Load": "A[i]",
    "tir.BufferStore": _STATEMENTS,
    "tir.Allocate": _STATEMENTS,
    "tir.IfThenElse": "te.if_then_else",
    "tir.Block": _STATEMENTS,
    "tir.PrimFunc": "what tvm.build returns",
    "tir.buffer": "te.placeholder",
    "tir.analysis": "tvm.build, which checks a kernel's limits",
    "transform.module_pass": _PASSES,
    "transform.Pass": _PASSES,
    "transform.PassInfo": _PASSES,
    "Function.save": "f.export_library, tw.export_object",
    "Function.import_module": "a built function for each program",
}
"""By TVM's name without "tvm.": what to use in its place. `Function` is what tvm.build returns."""


def refusal(name: str, what: str) -> str | None:
    """The text of the error for `name`, as `REPLACEMENTS` has it; None of what it does not have."""
    if name not in REPLACEMENTS:
        return None
    return f"{what}: of TVM's te it is not carried over (docs/tvm-compatibility.md): use {REPLACEMENTS[name]}"


def attribute_of(owner: str, what: str) -> Callable[[str], object]:
    """The `__getattr__` of a module called `owner` in TVM ("" for tvm itself), for names that it lacks."""

    def missing(name: str) -> object:
        message = f"{what} has no attribute {name!r}"
        raise AttributeError(refusal(f"{owner}.{name}" if owner else name, message) or message)

    return missing


class _Finder:
    """Asked last for modules: ``import tilewright.topi`` and ``from tilewright import topi`` say what to use."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        package, _, name = fullname.partition(".")
        if package == __package__ and (message := refusal(name, f"no module named {fullname!r}")) is not None:
            raise ImportError(message)


if not any(type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__ for finder in sys.meta_path):
    sys.meta_path.append(_Finder())
