"""Whether an intrinsic computes what it is declared to: both run on this machine's processor, on random elements."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..source import Source
from .tensor import ComputeOp, Tensor

__all__ = ["check"]

_COMBINE = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}
_TRIALS = 2
# Of functions of mathematics and of sums in another order.
_TOLERANCES = {
    "float8_e5m2": 0.3,
    "float8_e4m3fn": 0.15,
    "bfloat16": 3e-2,
    "float16": 1e-2,
    "float32": 1e-4,
    "float64": 1e-9,
}


def check(
    op: ComputeOp,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    functions: str,
    parts: Collection[str],
    what: str,
    source: Source,
) -> None:
    """Raises ValueError where the functions of an intrinsic compute something else than it describes.

    `functions` is a module with ``@describe`` on tensors and the `parts` on memrefs.
    """
    import numpy

    from ..runtime.ndarray import as_dtype

    run = _compiled(functions, ["describe", *parts])
    random = numpy.random.default_rng(0)

    def elements(tensor: Tensor) -> Any:
        shape: Any = tensor.shape  # of numbers alone
        if tensor.dtype == "bool":
            return random.integers(0, 2, shape).astype(bool)
        low = 0 if tensor.dtype.startswith("uint") else -3
        # Sums of such numbers are exact in any order.
        scale = 0.5 if "float" in tensor.dtype else 1
        return (random.integers(low, 4, shape) * scale).astype(as_dtype(tensor.dtype))

    def compare(role: str, got: Sequence[Any], wanted: Sequence[Any]) -> None:
        for tensor, mine, theirs in zip(outputs, got, wanted):
            tolerance = _TOLERANCES.get(tensor.dtype, 0)
            same = numpy.isclose(mine.astype("float64"), theirs.astype("float64"), tolerance, tolerance, equal_nan=True)
            if not same.all():
                place = tuple(int(index) for index in numpy.argwhere(~same)[0])
                raise ValueError(
                    f"{source}: {what}: expected {role} to compute what is described, got {mine[place]} in place of "
                    f"{theirs[place]} at {tensor.name}{list(place)}, for random inputs"
                )

    def described(given: Sequence[Any]) -> list[Any]:
        results = [elements(tensor) for tensor in outputs]
        run("describe", [*given, *results])
        return results

    for _ in range(_TRIALS):
        first, second = ([elements(tensor) for tensor in inputs] for _ in range(2))
        wanted = described(first)
        got = [elements(tensor) for tensor in outputs]  # what was there before must not matter
        if "body" in parts:
            run("body", [*first, *got])
            compare("the body", got, wanted)
        if "reset" in parts:
            run("reset", [*first, *got])
            if "update" in parts:
                run("update", [*first, *got])
                compare("the reset and the update", got, wanted)
        combine = _COMBINE.get(op.reduction.name) if op.reduction is not None else None
        if "update" in parts and combine is not None and {"body", "reset"} & set(parts):
            run("update", [*second, *got])
            more = described(second)
            compare("the update", got, [getattr(numpy, combine)(a, b) for a, b in zip(wanted, more)])


def _compiled(functions: str, names: Sequence[str]) -> Callable[[str, Sequence[Any]], None]:
    """The functions of a module, to be called by name with arrays."""
    from mlir import ir
    from mlir.execution_engine import ExecutionEngine

    from .. import ir as tw_ir
    from ..driver.pipeline import pipeline_text, run_passes
    from ..host import HostFunction
    from ..ir.jit import lookup
    from ..processor import PIPELINE
    from ..target import Target

    with tw_ir.context(), ir.Location.unknown():
        module = ir.Module.parse(functions)
    doing = "compiling an intrinsic to check it"
    # What is compiled of it later has vectors in place of the loops marked so.
    run_passes(module, "builtin.module(func.func(vectorize-scheduled-loops))", doing, "te")
    run_passes(module, pipeline_text("te", "linalg", Target("cpu")), doing, "te")
    run_passes(module, PIPELINE, doing, "linalg")
    engine = ExecutionEngine(module, opt_level=0)
    programs = {name: HostFunction(lookup(engine, name)) for name in names}

    def run(name: str, arrays: Sequence[Any], _engine: ExecutionEngine = engine) -> None:  # which holds the code
        extents = [extent for array in arrays for extent in array.shape]
        addresses = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        programs[name](addresses, (ctypes.c_int64 * len(extents))(*extents), None, None)

    return run
