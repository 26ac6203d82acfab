"""Whether an intrinsic computes what it describes: both are run on numbers of the whole range of their types.

What is the same by its operations is proven, and run once. What Python declares runs on this machine's processor. What
a file holds runs in the simulator, which sees to it that no element is accessed that is not there.
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
from .intrinsic_proof import choices_in, is_proven
from .intrinsic_trials import Trials

__all__ = ["Argument", "Description", "check", "functions_in", "name_of"]

_COMBINE = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}
_EXACT_MATH = {
    *("math.fma", "math.absf", "math.absi", "math.floor", "math.ceil", "math.trunc", "math.round", "math.copysign")
}
_COMBINER = "} combine ("
_TO_INTEGERS = {"arith.fptosi", "arith.fptoui"}


@dataclass(frozen=True, slots=True)
class Argument:
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


def _check_choices(functions: Mapping[str, Any], where: str) -> None:
    """Of what others wrote, that it makes no choices beyond those described: random numbers may not meet them."""
    described = set(choices_in(walk(functions["describe"])).values())
    for role, function in functions.items():
        for name, kind in choices_in(walk(function)).items() if role != "describe" else ():
            if kind not in described:
                raise ValueError(
                    f"{where}: expected @{role} to compute what is described by the same operations, or by sums and "
                    f"products, got {name}: declare the intrinsic in Python"
                )


class Description:
    """What ``@describe`` says: the tensors, the reducer, and which numbers it can be tried with."""

    compute: Any  # te.compute
    combine: str | None
    has_own_reducer: bool
    has_math: bool
    makes_integers: bool
    terms: int
    literals: list[float | int]  # numbers that stand in the functions, those of each trial left out

    def __init__(self, module: ir.Module, where: str) -> None:
        function = functions_in(module)["describe"]
        self.arguments: list[Argument] = []
        self.element_types: dict[str, str] = {}
        kinds: list[ir.Type] = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs  # pyright: ignore[reportUnknownVariableType]
        for kind, attributes in zip(kinds, ir.ArrayAttr(function.attributes["arg_attrs"])):
            known = {one.name: one.attr for one in ir.DictAttr(attributes)}
            name = ir.StringAttr(known["te.name"]).value
            dtype = name_of_mlir(str(ir.TypeAttr(known["te.dtype"]).value))
            shape = tuple(ir.RankedTensorType(kind).shape)
            self.arguments.append(Argument(name, dtype, shape, "te.output" in known))
            self.element_types[name] = str(known["te.dtype"])
        ops = walk(function)
        self.literals = sorted({number for op in walk(module.operation) for number in _literals(op)})
        computes = [op for op in ops if op.name == "te.compute"]
        if len(computes) != 1:
            raise ValueError(f"{where}: expected a description that is one te.compute, got {len(computes)}")
        (self.compute,) = computes
        has_reducer = "reducer" in self.compute.attributes
        self.has_own_reducer = len(self.compute.regions) == 2 and len(self.compute.regions[1].blocks) > 0
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
    def inputs(self) -> list[Argument]:
        return [one for one in self.arguments if not one.is_output]

    @property
    def outputs(self) -> list[Argument]:
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
        known = functions_in(module)
        parts = [name for name in known if name != "describe"]
        proven = is_proven(known, len(description.outputs))
        if simulated and not proven:
            _check_choices(known, where)
        if description.has_own_reducer and "update" in parts:
            other = ir.Module.parse(_combining(description, where))
            other.body.operations[0].operation.clone(ip=ir.InsertionPoint(module.body))
        run = (_simulated if simulated else _compiled)(module, description, where)
    outputs = description.outputs
    trials = Trials(description)
    # What is proven is tried once, for the loops that are marked: it is compiled as the kernel will be.
    for trial in trials.kinds()[: 1 if proven else None]:
        first, second = ([trials.elements(one, trial) for one in description.inputs] for _ in range(2))

        def described(given: Sequence[Any]) -> list[Any]:
            results = [trials.elements(one, "small") for one in outputs]
            run("describe", [*given, *results])
            return results

        def combined(these: Sequence[Any], those: Sequence[Any]) -> list[Any]:
            if description.combine is not None:
                combine = getattr(numpy, description.combine)
                return [combine(a, b).astype(a.dtype) for a, b in zip(these, those)]
            results = [trials.elements(one, "small") for one in outputs]
            run("combine", [*these, *those, *results])
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
            # With what is no number a reducer of one's own may give another result in another order.
            if "update" in parts and not (trial == "special" and description.has_own_reducer):
                if not {"body", "reset"} & set(parts):
                    wanted = [array.copy() for array in got]  # an update alone adds to whatever is there
                run("update", [*second, *got])
                compare("the update", got, combined(wanted, described(second)))


def _combining(description: Description, where: str) -> str:
    """A function that combines two of what is described by the reducer: a reduction of two, which picks one of them."""
    compute = description.compute
    text = compute.parent.get_asm(enable_debug_info=False)
    if text.count(_COMBINER) != 1:
        raise ValueError(f"{where}: expected names without {_COMBINER!r}, got one")
    combiner = text[text.index(_COMBINER) : text.rindex("return ")]
    tensors = [ir.RankedTensorType(one.type) for one in compute.results]

    def axes(names: str, letter: str, extents: Sequence[int]) -> str:
        named = zip(ir.ArrayAttr(compute.attributes[names]), extents)
        return ", ".join(f"%{letter}{i} as {name}: {extent}" for i, (name, extent) in enumerate(named))

    arguments, reads, chosen = list[str](), list[Any](), list[Any]()
    for role in ("here", "there", "out"):
        for i, (one, tensor) in enumerate(zip(description.outputs, tensors)):
            marks = f'te.dtype = {description.element_types[one.name]}, te.name = "{role}{i}"'
            arguments.append(f"%{role}{i}: {tensor} {{{marks}{', te.output' * (role == 'out')}}}")
    place = ", ".join(f"%i{i}" for i in range(tensors[0].rank))
    for i, tensor in enumerate(tensors):
        reads += [f"%of_{role}{i} = te.read %{role}{i}[{place}] : {tensor}" for role in ("here", "there")]
        reads.append(f"%chosen{i} = arith.select %is_first, %of_here{i}, %of_there{i} : {tensor.element_type}")
        chosen.append(f"%chosen{i}")
    results = ", ".join(str(tensor) for tensor in tensors)
    returned = ", ".join(f"%both#{i}" for i in range(len(tensors)))
    two = [2, *[1] * (len(ir.ArrayAttr(compute.attributes["reduce_axes"])) - 1)]
    lines = [
        f"func.func @combine({', '.join(arguments)}) -> ({results}) {{",
        f"%both:{len(tensors)} = te.compute {compute.attributes['name']} ({axes('axes', 'i', tensors[0].shape)})"
        f" reduce ({axes('reduce_axes', 'k', two)}) {{",
        "%zero = arith.constant 0 : index",
        "%is_first = arith.cmpi eq, %k0, %zero : index",
        *reads,
        f"te.yield {', '.join(chosen)} : {', '.join(str(tensor.element_type) for tensor in tensors)}",
        combiner,
        f"return {returned} : {results}",
        "}",
    ]
    return "\n".join(lines)


_Run = Callable[[str, Sequence[Any]], None]


def _compiled(module: ir.Module, description: Description, where: str) -> _Run:
    """The functions of a module, to be called by name with arrays."""
    from ..ir.passes import run_passes
    from ..native.jit import Engine, lookup
    from ..runtime.cpu_program import PIPELINE
    from ..runtime.host_program import HostFunction
    from ..target import Target

    names = list(functions_in(module))
    doing = "compiling an intrinsic to check it"
    # What is compiled of it later has vectors in place of the loops marked so.
    run_passes(module, "builtin.module(func.func(vectorize-scheduled-loops))", doing, "te")
    run_passes(module, compiler().pipeline_text("te", "linalg", Target("cpu")), doing, "te")
    run_passes(module, PIPELINE, doing, "linalg")
    engine = Engine(module, 0, is_quick=True)
    programs = {name: HostFunction(lookup(engine, name)) for name in names}

    def run(name: str, arrays: Sequence[Any], _engine: Engine = engine) -> None:  # which holds the code
        extents = [extent for array in arrays for extent in array.shape]
        addresses = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        programs[name](addresses, (ctypes.c_int64 * len(extents))(*extents), None, None)

    return run


def _simulated(module: ir.Module, description: Description, where: str) -> _Run:
    """The same by the simulator: each function is a kernel of one thread."""
    from ..errors import TilewrightError

    programs: Mapping[str, Any] = {
        name: compiler().build(_described(function, description), start="te", target="sim")
        if name in ("describe", "combine")
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
        f"{function.get_asm(enable_debug_info=False)}\n"
        f"schedule.of @{name_of(function)} {{\n%s = schedule.stage {name}\n"
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
