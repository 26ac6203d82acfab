"""Whether an intrinsic computes what it describes: both are run on numbers of the whole range of their types.

What Python declares runs on this machine's processor. What a file holds runs in the simulator, which sees to it that no
element is accessed that is not there.
"""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from .. import ir as tw_ir
from ..dtypes import name_of_mlir
from ..errors import TilewrightValueError as ValueError
from ..ir.attributes import parameters
from .compiler_interface import compiler

__all__ = ["Description", "check", "functions_in", "name_of"]

_COMBINE = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}
# Of functions of mathematics and of sums in another order.
_TOLERANCES = {
    "float8_e5m2": 0.3,
    "float8_e4m3fn": 0.15,
    "bfloat16": 3e-2,
    "float16": 1e-2,
    "float32": 1e-4,
    "float64": 1e-9,
}
# Of sums and products of positive numbers alone, which cancel nothing.
_CLOSE = {"float32": 1e-5, "float64": 1e-13}
# Small numbers times two to this are large ones whose products are in the type's range, and as exact as they.
_LARGE = {"float64": 30, "float32": 20, "bfloat16": 20, "float16": 4, "float8_e5m2": 4, "float8_e4m3fn": 2}
# Of functions of mathematics: beyond, processors differ in the last digits of what is computed of so large a number.
_LARGE_OF_MATH = 6
_EXACT_MATH = {
    *("math.fma", "math.absf", "math.absi", "math.floor", "math.ceil", "math.trunc", "math.round", "math.copysign")
}
_TO_INTEGERS = {"arith.fptosi", "arith.fptoui"}


@dataclass(frozen=True, slots=True)
class _Argument:
    name: str
    dtype: str
    shape: tuple[int, ...]
    is_output: bool


def name_of(function: Any) -> str:
    """The name of an op that is a symbol."""
    return ir.StringAttr(function.attributes["sym_name"]).value


def functions_in(module: ir.Module) -> dict[str, Any]:
    """The functions of a module by name."""
    return {name_of(op): op.operation for op in module.body.operations if op.operation.name == "func.func"}


def walk(op: Any) -> list[Any]:
    """An op and all ops in it."""
    found: list[Any] = []

    def visit(one: Any) -> ir.WalkResult:
        found.append(one.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


class Description:
    """What ``@describe`` says: the tensors, the reducer, and which numbers it can be tried with."""

    compute: Any  # te.compute
    combine: str | None
    has_math: bool
    makes_integers: bool
    terms: int
    literals: list[float | int]  # numbers that stand in the functions, those of each trial left out

    def __init__(self, module: ir.Module, where: str) -> None:
        function = functions_in(module)["describe"]
        self.arguments: list[_Argument] = []
        kinds = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
        for kind, attributes in zip(kinds, ir.ArrayAttr(function.attributes["arg_attrs"])):
            known = {one.name: one.attr for one in ir.DictAttr(attributes)}
            name = ir.StringAttr(known["te.name"]).value
            dtype = name_of_mlir(str(ir.TypeAttr(known["te.dtype"]).value))
            shape = tuple(ir.RankedTensorType(kind).shape)
            self.arguments.append(_Argument(name, dtype, shape, "te.output" in known))
        ops = walk(function)
        self.literals = sorted({number for op in walk(module.operation) for number in _literals(op)})
        computes = [op for op in ops if op.name == "te.compute"]
        if len(computes) != 1:
            raise ValueError(f"{where}: expected a description that is one te.compute, got {len(computes)}")
        (self.compute,) = computes
        has_reducer = "reducer" in self.compute.attributes
        reducer = parameters(self.compute.attributes["reducer"])["reducer"] if has_reducer else None
        self.combine = _COMBINE.get(reducer) if reducer is not None else None
        names = {op.name for op in ops}
        self.has_math = any(name.startswith("math.") for name in names - _EXACT_MATH)
        self.makes_integers = bool(names & _TO_INTEGERS)
        extents = [int(n) for n in ir.DenseI64ArrayAttr(self.compute.attributes["static_extents"])]
        self.terms = math.prod(extents[len(self.outputs[0].shape) :]) if self.outputs else 1
        for op in ops:
            if op.name == "te.read" and any(_is_of_data(index) for index in list(op.operands)[1:]):
                raise ValueError(f"{where}: expected reads at indices of the axes, got one at an index that is read")

    @property
    def inputs(self) -> list[_Argument]:
        return [one for one in self.arguments if not one.is_output]

    @property
    def outputs(self) -> list[_Argument]:
        return [one for one in self.arguments if one.is_output]


def _literals(op: Any) -> list[float | int]:
    if op.name != "arith.constant":
        return []
    value = op.attributes["value"]
    if isinstance(value, ir.FloatAttr):
        return [] if not math.isfinite(value.value) or abs(value.value) <= 1 else [value.value]
    # Numbers of loops are indices. Those beyond 64 bits, which Python's bindings do not read, none has.
    if isinstance(value, ir.IntegerAttr) and isinstance(value.type, ir.IntegerType) and value.type.width > 1:
        return [] if abs(int(value)) <= 3 else [int(value)]
    return []


def _is_of_data(value: Any) -> bool:
    if isinstance(value, ir.BlockArgument):
        return False
    op = value.owner.operation
    return op.name == "te.read" or any(_is_of_data(operand) for operand in op.operands)


def check(functions: str, where: str, *, simulated: bool = False) -> None:
    """Raises ValueError where the functions of an intrinsic compute something else than it describes.

    `functions` is a module with ``@describe`` on tensors and the others on memrefs. `where` begins the error.
    """
    import numpy

    with tw_ir.context(), ir.Location.unknown():
        module = ir.Module.parse(functions)
        description = Description(module, where)
        parts = [name for name in functions_in(module) if name != "describe"]
        run = (_simulated if simulated else _compiled)(module, description, where)
    outputs = description.outputs
    trials = _Trials(description)
    for trial in trials.kinds():
        first, second = ([trials.elements(one, trial) for one in description.inputs] for _ in range(2))

        def described(given: Sequence[Any]) -> list[Any]:
            results = [trials.elements(one, "small") for one in outputs]
            run("describe", [*given, *results])
            return results

        def compare(role: str, got: Sequence[Any], wanted: Sequence[Any], trial: str = trial) -> None:
            for one, mine, theirs in zip(outputs, got, wanted):
                place = trials.difference(mine, theirs, one.dtype, trial)
                if place is not None:
                    raise ValueError(
                        f"{where}: expected {role} to compute what is described, got {mine[place]} in place of "
                        f"{theirs[place]} at {one.name}{list(place)}, for random inputs"
                    )

        with numpy.errstate(all="ignore"):
            wanted = described(first)
            got = [trials.elements(one, "small") for one in outputs]  # what was there before must not matter
            if "body" in parts:
                run("body", [*first, *got])
                compare("the body", got, wanted)
            if "reset" in parts:
                run("reset", [*first, *got])
                if "update" in parts:
                    run("update", [*first, *got])
                    compare("the reset and the update", got, wanted)
            if "update" in parts and description.combine is not None and {"body", "reset"} & set(parts):
                run("update", [*second, *got])
                more = described(second)
                combine = getattr(numpy, description.combine)
                compare("the update", got, [combine(a, b).astype(a.dtype) for a, b in zip(wanted, more)])


class _Trials:
    """Numbers that tell apart what computes something else: in its range, in how it rounds, at infinities."""

    def __init__(self, description: Description) -> None:
        import numpy

        self.description = description
        self.random = numpy.random.default_rng(0)

    def kinds(self) -> list[str]:
        dtypes = {one.dtype for one in self.description.inputs}
        kinds = ["small", "small", "large", "large"]
        if self.description.literals and self.description.combine != "multiply":
            kinds += ["literal", "literal"]
        if any("float" in dtype for dtype in dtypes):
            kinds += ["precise", "short"]
            # What an infinity is as an integer nothing says; the narrowest types have none.
            if not self.description.makes_integers and not any(dtype.startswith("float8") for dtype in dtypes):
                kinds.append("special")
        return kinds

    def elements(self, tensor: _Argument, trial: str) -> Any:
        import numpy

        return numpy.asarray(self._values(tensor, trial))  # for NumPy makes scalars of arrays without dimensions

    def _values(self, tensor: _Argument, trial: str) -> Any:
        import numpy

        from ..dtypes import as_dtype

        dtype, shape = tensor.dtype, tensor.shape
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(bool)
        if trial == "literal":
            return self._with_literals(self.elements(tensor, "small"), dtype)
        small = self.random.integers(0 if dtype.startswith("uint") else -3, 4, shape)
        if "float" not in dtype:
            kind = as_dtype(dtype)
            if trial != "large":
                return small.astype(kind)
            least, most = numpy.iinfo(kind).min, numpy.iinfo(kind).max
            values = self.random.integers(least, most, shape, dtype=kind, endpoint=True)
            edges = numpy.array([least, least + 1, 0, 1, 100, 101, most - 1, most], kind)
            return numpy.where(self.random.integers(0, 4, shape) == 0, self.random.choice(edges, shape), values)
        # Sums of such numbers are exact in any order.
        values = small * 0.5
        if self.description.combine == "multiply":
            # A product of many would be 0, or an infinity in one order and, with a 0, no number in another: most are
            # 1 or -1.
            units = numpy.where(small < 0, -1.0, 1.0)
            values = numpy.where(self.random.integers(0, self.description.terms, shape) == 0, values, units)
        elif trial == "large" and not self.description.makes_integers:
            most = _LARGE_OF_MATH if self.description.has_math else 99
            values = values * 2.0 ** min(most, _LARGE[dtype])
        elif trial == "precise":
            values = self.random.uniform(1, 2, shape)
        elif trial == "short":
            # What types of 11 bits or less round to 1, all in one direction.
            values = numpy.full(shape, 1 + 2.0**-11 - 2.0**-20)
        elif trial == "special":
            specials = self.random.choice([numpy.inf, -numpy.inf, numpy.nan], shape)
            values = numpy.where(self.random.integers(0, 8, shape) == 0, specials, values)
        return values.astype(as_dtype(dtype))

    def _with_literals(self, values: Any, dtype: str) -> Any:
        """Every other element one of the numbers that the functions have, or one beside it: a choice may hang on it."""
        import numpy

        is_float = "float" in dtype
        # Sums stay as exact as those of large numbers, and integers of floats what the type holds.
        most = 2.0 ** _LARGE[dtype] if is_float and self.description.terms > 1 else math.inf
        most = min(most, 100) if self.description.makes_integers else most
        near: list[Any] = []
        for number in self.description.literals:
            if is_float:
                exact = numpy.asarray(number).astype(values.dtype)
                near += [n for n in (exact, exact * 2, exact / 2) if numpy.isfinite(n)]
            else:
                bounds = numpy.iinfo(values.dtype)
                # MLIR's numbers have no signs: what is negative may stand for a large one.
                around = [n + more for n in range(int(number) - 1, int(number) + 2) for more in (0, 1 << bounds.bits)]
                near += [n for n in around if bounds.min <= n <= bounds.max]
        chosen = [n for n in near if abs(float(n)) <= most]
        if not chosen:
            return values
        picked = self.random.choice(numpy.array(chosen, values.dtype), values.shape)
        return numpy.where(self.random.integers(0, 2, values.shape) == 0, picked, values).astype(values.dtype)

    def difference(self, mine: Any, theirs: Any, dtype: str, trial: str) -> tuple[int, ...] | None:
        """Where two arrays differ by more than rounding, or nothing."""
        import numpy

        if "float" not in dtype:
            same = mine == theirs
        else:
            tolerance = _TOLERANCES[dtype]
            if trial in ("precise", "short") and not self.description.has_math:
                tolerance = _CLOSE.get(dtype, tolerance) * max(1, self.description.terms / 64)
            a, b = mine.astype("float64"), theirs.astype("float64")
            finite = numpy.abs(b[numpy.isfinite(b)])
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            same = numpy.isclose(a, b, tolerance, tolerance * scale, equal_nan=True)
        if same.all():
            return None
        return tuple(int(index) for index in numpy.argwhere(~same)[0])


_Run = Callable[[str, Sequence[Any]], None]


def _compiled(module: ir.Module, description: Description, where: str) -> _Run:
    """The functions of a module, to be called by name with arrays."""
    from mlir.execution_engine import ExecutionEngine

    from ..ir.passes import run_passes
    from ..native.jit import lookup
    from ..runtime.cpu_program import PIPELINE
    from ..runtime.host_program import HostFunction
    from ..target import Target

    names = list(functions_in(module))
    doing = "compiling an intrinsic to check it"
    # What is compiled of it later has vectors in place of the loops marked so.
    run_passes(module, "builtin.module(func.func(vectorize-scheduled-loops))", doing, "te")
    run_passes(module, compiler().pipeline_text("te", "linalg", Target("cpu")), doing, "te")
    run_passes(module, PIPELINE, doing, "linalg")
    engine = ExecutionEngine(module, opt_level=0)
    programs = {name: HostFunction(lookup(engine, name)) for name in names}

    def run(name: str, arrays: Sequence[Any], _engine: ExecutionEngine = engine) -> None:  # which holds the code
        extents = [extent for array in arrays for extent in array.shape]
        addresses = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        programs[name](addresses, (ctypes.c_int64 * len(extents))(*extents), None, None)

    return run


def _simulated(module: ir.Module, description: Description, where: str) -> _Run:
    """The same by the simulator: each function is a kernel of one thread."""
    from ..errors import TilewrightError

    programs: Mapping[str, Any] = {
        name: compiler().build(_described(function, description), start="te", target="sim")
        if name == "describe"
        else compiler().build(_of_one_thread(function), start="loops", target="sim")
        for name, function in functions_in(module).items()
    }

    def run(name: str, arrays: Sequence[Any]) -> None:
        try:
            programs[name](*arrays)
        except TilewrightError as error:
            raise ValueError(f"{where}: expected @{name} to run, got an error: {error}") from None

    return run


def _described(function: Any, description: Description) -> str:
    compute = description.compute

    def axes(handle: str, op: str, names: str) -> str:
        count = len(ir.ArrayAttr(compute.attributes[names])) if names in compute.attributes else 0
        if not count:
            return ""
        handles = ", ".join(f"%{handle}{i}" for i in range(count))
        listed = json.dumps([ir.StringAttr(one).value for one in ir.ArrayAttr(compute.attributes[names])])
        return f"{handles} = schedule.{op} %s {listed} : {', '.join(['!schedule.axis'] * count)}\n"

    name = json.dumps(ir.StringAttr(compute.attributes["name"]).value)
    return (
        f"{function.get_asm(enable_debug_info=False)}\nschedule.of @describe {{\n%s = schedule.stage {name}\n"
        + axes("i", "axes", "axes")
        + axes("k", "reduce_axes", "reduce_axes")
        + "schedule.bind %i0 to <blockIdx.x>\n}\n"
    )


def _of_one_thread(function: Any) -> str:
    """The function as IR of the loops stage: its statements stand in a loop on blocks, of one iteration."""
    from mlir.dialects import arith, scf

    module = ir.Module.create()
    kernel = function.clone(ip=ir.InsertionPoint(module.body))
    # What it updates has a value before.
    kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [
            ir.DictAttr.get({one.name: one.attr for one in ir.DictAttr(given) if one.name != "te.output"})
            for given in ir.ArrayAttr(kernel.attributes["arg_attrs"])
        ]
    )
    block = kernel.regions[0].blocks[0]
    statements = list(block.operations)[:-1]
    index = ir.IndexType.get()
    with ir.InsertionPoint.at_block_begin(block):
        first, one = (arith.constant(index, ir.IntegerAttr.get(index, n)) for n in (0, 1))
        loop = scf.ForOp(first, one, one)
    loop.operation.attributes["schedule.bind"] = ir.Attribute.parse("#schedule.thread<blockIdx.x>")
    with ir.InsertionPoint(loop.body):
        end = scf.YieldOp([])
    for statement in statements:
        statement.operation.move_before(end.operation)
    return str(module)
