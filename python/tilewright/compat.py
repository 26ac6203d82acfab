"""What scripts for TVM ask for that is not here, and what takes its place; docs/tvm-compatibility.md says why."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["REPLACEMENTS", "attribute_of"]

REPLACEMENTS = {
    "autotvm": "search over schedules yourself: build each with tvm.build and time it with time_evaluator",
    "auto_scheduler": "search over schedules yourself: build each with tvm.build and time it with time_evaluator",
    "meta_schedule": "search over schedules yourself: build each with tvm.build and time it with time_evaluator",
    "context": "tvm.device(kind, index)",
    "contrib": "nothing: kernels are compiled in process, without nvcc, and no external library is called",
    "convert": "Python's own numbers, tuples and lists",
    "get_global_func": "a Python function of your own",
    "IRModule": "the MLIR module that tvm.lower returns",
    "metal": "tvm.cuda(index), or tvm.cpu() for targets cpu and sim",
    "opencl": "tvm.cuda(index), or tvm.cpu() for targets cpu and sim",
    "rocm": "tvm.cuda(index), or tvm.cpu() for targets cpu and sim",
    "vulkan": "tvm.cuda(index), or tvm.cpu() for targets cpu and sim",
    "register_func": "a Python function of your own",
    "relay": "te.compute for each operator",
    "relax": "te.compute for each operator",
    "rpc": "a process of your own on the other machine",
    "script": "te.compute and a schedule",
    "topi": "te.compute for each operator",
    "te.AXIS_SEPARATOR": "buffers with one dimension",
    "te.ExternOp": "te.ComputeOp",
    "te.HybridOp": "te.ComputeOp",
    "te.SpecializedCondition": "te.var(name, divisible_by=..., min=...)",
    "te.TensorComputeOp": "te.ComputeOp",
    "te.TensorIntrin": "the schedule's own primitives, as vectorize",
    "te.create_prim_func": "tvm.lower(s, args), whose result is an MLIR module",
    "te.decl_tensor_intrin": "the schedule's own primitives, as vectorize",
    "te.extern": "te.compute, or te.scan for a recurrence; a library's function is called beside the built one",
    "te.extern_primfunc": "te.compute, or te.scan for a recurrence",
    "te.hybrid": "te.compute, or te.scan for a recurrence",
    "te.trace": "an output of its own for the value, or target sim",
    "tir.Schedule": "te.create_schedule",
    "tir.call_extern": "te's functions of mathematics",
    "tir.call_intrin": "te's functions of mathematics",
    "tir.call_packed": "a call of your own beside the built function",
    "tir.call_pure_extern": "te's functions of mathematics",
    "tir.ir_builder": "te.compute, or te.scan for a recurrence",
    "tir.stmt_functor": "tvm.build(..., after={stage: pass}), with passes on MLIR",
    "tir.transform": "tvm.build(..., after={stage: pass}), with passes on MLIR",
    "target.create": "tvm.target.Target(text)",
    "transform.Sequential": "tvm.build(..., after={stage: [passes]})",
    "Function.export_library": "Function.cubin and Function.ptx, or Function.ir(stage), as text that tvm.build takes",
    "Function.save": "Function.cubin and Function.ptx, or Function.ir(stage), as text that tvm.build takes",
    "Function.import_module": "a built function for each program",
}
"""By TVM's name without "tvm.": what to use in its place. `Function` is what tvm.build returns."""


def attribute_of(owner: str, what: str) -> Callable[[str], object]:
    """The `__getattr__` of a module called `owner` in TVM ("" for tvm itself), for names that it lacks."""

    def missing(name: str) -> object:
        replacement = REPLACEMENTS.get(f"{owner}.{name}" if owner else name)
        message = f"{what} has no attribute {name!r}"
        if replacement is not None:
            message += f": of TVM's te it is not carried over (docs/tvm-compatibility.md): use {replacement}"
        raise AttributeError(message)

    return missing
