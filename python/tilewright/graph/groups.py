"""The groups of a model: each a program of tensor expressions, compiled for a target."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from .. import te
from ..errors import CompileError, TilewrightError
from ..messages.location import Source, at_source
from ..messages.progress import progress
from ..native.interruptible import side_by_side
from ..te import ComputeOp, Tensor, Var
from ..te.expr import Call, Const, Expr, IterVar, Read, Select
from ..te.extern_op import ExternOp
from ..te.program import operations
from ..te.scan_stages import ScanOp
from ..te.strides import Strided
from ..te.walks import parts
from .attention_groups import ATTENTION, AttentionGroup, attention_group
from .convolution_groups import ConvolutionGroup, convolution_group
from .definitions import attribute_names, label_of, symbols_apart, tensors_of
from .joint_results import as_one_stage
from .library_calls import LibraryCall, library_call
from .types import TensorType, from_ir
from .views import View

if TYPE_CHECKING:
    from ..compiler import Function
    from ..target import Target

__all__ = ["Group", "compile_groups", "constant_tensor", "read_groups"]

_MOST_AT_ONCE = 16
"""No more programs are compiled at a time: each takes some 200 MB of memory."""


@dataclass(frozen=True, slots=True, repr=False)
class Group:
    """Operators of a model that are computed together: `tw.compile` forms groups.

    `nodes` are the nodes of the model that the operators came from. `ends` says for each result why the group ends
    there. `offsets` are the results' places in the arena, -1 for a result outside of it. `schedule` is the schedule.
    `function` is the compiled program, which takes the inputs, then the results, then the numbers of `symbols`. If it
    takes an input or a result as a view of it, `views` has that at its place. `identifier` is the name of the program.
    Groups that are the same, with one `key`, share one of the `functions`. `library` says how a library computes the
    group in a call of the model, and what was measured; it is None where the program does. `module` has the IR of the
    values `inputs` and `results`, and keeps it.
    """

    name: str
    operators: tuple[str, ...]
    nodes: tuple[str, ...]
    inputs: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    types: tuple[TensorType, ...]
    ends: tuple[str, ...]
    offsets: tuple[int, ...]
    schedule: te.Schedule
    arguments: tuple[Tensor | Strided | Var, ...]
    symbols: tuple[Var, ...]
    identifier: str
    key: str
    functions: dict[str, Function]
    views: tuple[View | None, ...] = ()
    library: LibraryCall | None = None
    module: ir.Module | None = field(default=None, repr=False, compare=False)

    @property
    def tensors(self) -> list[Tensor]:
        """The arguments that are tensors: the inputs, and then the results."""
        plain = (one.tensor if isinstance(one, Strided) else one for one in self.arguments)
        return [one for one in plain if isinstance(one, Tensor)]

    def viewed(self, values: Sequence[Any], view: Callable[[Any, View], Any]) -> list[Any]:
        """The inputs and results, `values`, as the program takes them; `view` makes a view of one."""
        views = self.views or (None,) * len(values)
        return [one if own is None else view(one, own) for one, own in zip(values, views, strict=True)]

    @property
    def all_symbols(self) -> tuple[Var, ...]:
        """The symbols that are extents of arguments, and those that are arguments."""
        tensors = self.tensors
        extents = [extent for one in tensors for extent in one.shape if isinstance(extent, Var)]
        return tuple(dict.fromkeys([*extents, *self.symbols]))

    @property
    def function(self) -> Function:
        """The compiled program."""
        return self.functions[self.key]

    def __str__(self) -> str:
        shapes = ", ".join(map(str, self.types))
        by = "" if self.library is None else f"; {self.library}"
        return f"{self.name}: {', '.join(self.nodes)} -> {shapes}; ends: {'; '.join(self.ends)}{by}"

    def __repr__(self) -> str:
        return f"<Group {self}>"


def read_groups(
    module: ir.Module, function: ir.Operation, symbols: Mapping[str, Var], target: Target
) -> list[Group]:  # fmt: skip
    """The groups of a model's function in a module, in their order. Groups that are the same share one schedule."""
    functions: dict[str, Function] = {}
    programs: dict[str, _Program] = {}
    with function.context, progress("scheduling the model") as line:
        found = [one.operation for one in function.regions[0].blocks[0].operations]
        found = [one for one in found if one.name == "graph.group"]
        groups: list[Group] = []
        for number, operation in enumerate(found):
            line.show(number, len(found), "groups", ir.StringAttr(operation.attributes["name"]).value)
            read = _read_group(operation)
            if read.key not in programs:
                name = _identifier(operation, {one.name for one in programs.values()})
                programs[read.key] = _program_of(read, name, symbols, target)
            groups.append(_group_of(operation, read, programs[read.key], functions, module))
        return groups


def _identifier(group: ir.Operation, taken: Collection[str]) -> str:
    """The name of a program: none of a function of the C library's, which the program may call. Programs have different
    ones, for a library has all of them."""
    name = ir.StringAttr(group.attributes["name"]).value
    name = base = "group_" + "".join(c if c.isalnum() else "_" for c in name)
    number = 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def compile_groups(groups: Sequence[Group], target: Target, tell: Callable[[int, Group], object]) -> None:
    """Compiles the programs of groups, as many at a time as there are processors; groups that are the same share one.

    `tell` is called with the number of a group, and the group, before it is compiled. Raises CompileError with the
    names of a group's nodes.
    """
    from ..compiler import build

    def compiled(group: Group) -> Function:
        try:
            return build(group.schedule, group.arguments, target=target, name=group.identifier)
        except TilewrightError as error:
            raise CompileError(f"{', '.join(group.nodes)}: {error}", stage="te") from error

    first: dict[str, tuple[int, Group]] = {}
    for number, group in enumerate(groups):
        first.setdefault(group.key, (number, group))
    told = list(first.values())
    made = side_by_side(
        [partial(compiled, group) for _, group in told], min(len(os.sched_getaffinity(0)), _MOST_AT_ONCE),
        lambda place: tell(*told[place]),
    )  # fmt: skip
    for (_, group), function in zip(told, made):
        group.functions[group.key] = function


def constant_tensor(operation: ir.Operation, symbols: Mapping[str, Var]) -> Tensor:
    """A constant of one element."""
    kind = from_ir(operation.result.type, symbols)
    value = element_of(operation.attributes["value"], kind.dtype)
    return te.compute(kind.shape, lambda *_: te.const(value, kind.dtype), name="constant")


def element_of(attribute: ir.Attribute, dtype: str) -> int | float | bool:
    """The one element of a constant."""
    dense = ir.DenseElementsAttr(attribute)
    element = dense.get_splat_value()
    if isinstance(element, ir.FloatAttr):
        return element.value
    number = ir.IntegerAttr(element).value
    if dtype.startswith("uint"):
        return number % (1 << int(dtype.removeprefix("uint")))
    return bool(number) if dtype == "bool" else number


@dataclass(frozen=True, slots=True)
class _ReadGroup:
    """The operators of a group: the constants and the others, its inputs and what it yields, the nodes of the model
    that they came from, and as text all that its program depends on."""

    operations: tuple[ir.Operation, ...]
    inputs: tuple[ir.Value, ...]
    yielded: tuple[ir.Value, ...]
    nodes: tuple[str, ...]
    key: str

    @property
    def members(self) -> list[ir.Operation]:
        """The operators that are no constants."""
        return [one for one in self.operations if one.name != "graph.constant"]


@dataclass(frozen=True, slots=True)
class _Program:
    """The program of groups that are the same: which of their inputs it takes, and as what."""

    name: str
    schedule: te.Schedule
    inputs: tuple[int, ...]
    types: tuple[TensorType, ...]
    arguments: tuple[Tensor | Strided | Var, ...]
    symbols: tuple[Var, ...]
    views: tuple[View | None, ...]


def _read_group(group: ir.Operation) -> _ReadGroup:
    numbers: dict[ir.Value, int] = {}  # of all values, in the order in which they are read
    inputs: list[ir.Value] = []
    found: list[ir.Operation] = []
    nodes: dict[str, None] = {}
    text: list[str] = []
    for each in group.regions[0].blocks[0].operations:
        operation = each.operation
        if operation.name == "graph.yield":
            yielded = tuple(operation.operands)
            text.append(str([numbers[value] for value in yielded]))
            return _ReadGroup(tuple(found), tuple(inputs), yielded, tuple(nodes), "\n".join(text))
        found.append(operation)
        if operation.name == "graph.constant":
            numbers[operation.result] = len(numbers)
            text.append(f"{operation.attributes['value']}")
            continue
        for operand in operation.operands:
            if operand not in numbers:
                numbers[operand] = len(numbers)
                inputs.append(operand)
                text.append(f"{operand.type}")
        kept = {key: str(operation.attributes[key]) for key in attribute_names(operation)}
        text.append(f"{operation.name} {[numbers[operand] for operand in operation.operands]} {kept}")
        for value in operation.results:
            numbers[value] = len(numbers)
        nodes.setdefault(label_of(operation))
    raise AssertionError("the verifier lets no group through that yields nothing")


def _program_of(read: _ReadGroup, name: str, symbols: Mapping[str, Var], target: Target) -> _Program:
    tensors: dict[ir.Value, Tensor] = {}
    inputs: dict[ir.Value, Tensor] = {}
    constants: dict[ir.Value, Tensor] = {}
    for operation in read.operations:
        with at_source(Source(label_of(operation), 0)):
            if operation.name == "graph.constant":
                tensors[operation.result] = constants[operation.result] = constant_tensor(operation, symbols)
                continue
            for operand in operation.operands:
                if operand not in tensors:
                    kind = from_ir(operand.type, symbols)
                    inputs[operand] = te.placeholder(kind.shape, kind.dtype, name=f"x{len(inputs)}")
                    tensors[operand] = inputs[operand]
        operands = [tensors[operand] for operand in operation.operands]
        made = tensors_of(operation, operands, symbols, by_threads=target.kind != "cpu")
        for value, tensor in zip(operation.results, made):
            tensors[value] = tensor
    outputs = [tensors[value] for value in read.yielded]
    if target.kind != "cpu":
        outputs = as_one_stage(outputs)
    names = {one.name.removeprefix("graph.") for one in read.members}
    with at_source(Source(next(reversed(read.nodes), "group"), 0)):
        kernel: AttentionGroup | ConvolutionGroup | None = None
        if not ATTENTION.isdisjoint(names):
            kernel = attention_group(read.members, constants, symbols, target)
        elif "windows" in names and target.kind != "cpu":
            kernel = convolution_group(read.members, constants, list(read.yielded), symbols, target)
        if kernel is not None:
            schedule, values, arguments, views = kernel.schedule, kernel.values, kernel.arguments, kernel.views
        else:
            schedule, values, arguments, views = _schedule(outputs, target), inputs, (*inputs.values(), *outputs), ()
    apart = symbols_apart([*inputs.values(), *outputs], read.members, symbols)
    places = {value: number for number, value in enumerate(read.inputs)}
    return _Program(
        name, schedule, tuple(places[value] for value in values), tuple(TensorType.of(tensor) for tensor in outputs),
        (*arguments, *apart), tuple(apart), views,
    )  # fmt: skip


def _group_of(
    group: ir.Operation, read: _ReadGroup, program: _Program, functions: dict[str, Function], module: ir.Module
) -> Group:
    attributes = group.attributes
    ends = tuple(ir.StringAttr(one).value for one in ir.ArrayAttr(attributes["ends"])) if "ends" in attributes else ()
    nowhere = (-1,) * len(read.yielded)
    offsets = tuple(ir.DenseI64ArrayAttr(attributes["offsets"])) if "offsets" in attributes else nowhere
    operators = tuple(one.name.removeprefix("graph.") for one in read.members)
    return Group(
        ir.StringAttr(attributes["name"]).value, operators, read.nodes,
        tuple(read.inputs[place] for place in program.inputs), tuple(group.results), program.types, ends, offsets,
        program.schedule, program.arguments, program.symbols, program.name, read.key, functions, program.views,
        library_call(group), module,
    )  # fmt: skip


# The schedule of a group.


def _schedule(outputs: Sequence[Tensor], target: Target) -> te.Schedule:
    """The schedule of a group: for GPUs and the simulator that of the rules.

    For a processor it is that of the rules where they have tiles of matmuls. Elsewhere every stage that is computed
    element by element is computed where it is read, unless that repeats work.
    """
    from ..rules import auto_schedule
    from ..rules.launches import is_short
    from ..rules.processor import schedule_of_tiles

    if target.kind != "cpu":
        made = auto_schedule([tensor.op for tensor in dict.fromkeys(outputs)], target)
        if is_short(outputs, target):
            made.launch(dependent=True)
        return made
    tiled = schedule_of_tiles([tensor.op for tensor in dict.fromkeys(outputs)], target)
    if tiled is not None:
        return tiled
    schedule = te.create_schedule([tensor.op for tensor in dict.fromkeys(outputs)])
    stages = operations([tensor.op for tensor in outputs])
    results = {tensor.op for tensor in outputs}
    reads = _reads(stages)
    # Statements read whole tensors.
    whole = {tensor.op for op in stages if isinstance(op, ExternOp) for tensor in op.input_tensors}
    for op in stages:
        if not isinstance(op, ComputeOp) or isinstance(op, ScanOp) or op.reduction is not None:
            continue
        if op in results or op in whole:
            continue
        if op.num_outputs == 1 and _is_inlined(op, reads.get(op, [])):
            schedule[op.output(0)].compute_inline()
    return schedule


def _reads(stages: Sequence[Any]) -> dict[Any, list[tuple[Any, Read]]]:
    """By stage, where its elements are read, and by which stage."""
    found: dict[Any, list[tuple[Any, Read]]] = {}
    for reader in stages:
        if isinstance(reader, ComputeOp):
            for part in parts(reader.body):
                if isinstance(part, Read):
                    found.setdefault(part.tensor.op, []).append((reader, part))
    return found


def _is_inlined(op: ComputeOp, reads: Sequence[tuple[Any, Read]]) -> bool:
    if any(isinstance(reader, ScanOp) for reader, _ in reads):
        return False
    if _only_moves(op):
        # A contraction whose reads divide or multiply axes has no vectors: there a copy costs less.
        in_contraction = any(reader.reduction is not None and not _reads_once(reader, read) for reader, read in reads)
        return not (in_contraction and _scales(op))
    return len(reads) == 1 and _reads_once(*reads[0])


def _reads_once(reader: ComputeOp, read: Read) -> bool:
    """Whether each element is read for one place of the reader's axes."""
    alone = {id(index) for index in read.indices if isinstance(index, IterVar)}
    axes = [axis for axis in (*reader.axis, *reader.reduce_axis) if axis.dom is None or str(axis.dom[1]) != "1"]
    return all(id(axis) in alone for axis in axes)


def _scales(op: ComputeOp) -> bool:
    """Whether places are quotients, remainders or multiples of others, as of reshapes that split or join dimensions."""
    return any(isinstance(part, Call) and part.op in ("floordiv", "floormod", "mul") for part in parts(op.body))


def _only_moves(op: ComputeOp) -> bool:
    """Whether the elements are others as they are, or constants: then it costs nothing to compute one again."""

    def moves(expr: Expr) -> bool:
        if isinstance(expr, (Const, Read)):
            return True
        if isinstance(expr, Select):
            return moves(expr.true_value) and moves(expr.false_value)
        return False

    return all(moves(expr) for expr in op.body)


def constants_outside(function: ir.Operation, symbols: Mapping[str, Var]) -> dict[ir.Value, np.ndarray]:
    """Constants of one element that the model has as outputs, or that stand outside of groups for another reason."""
    import ml_dtypes as ml_dtypes  # names of its types are NumPy's

    found: dict[ir.Value, np.ndarray] = {}
    for operation in function.regions[0].blocks[0].operations:
        one = operation.operation
        if one.name == "graph.constant":
            kind = from_ir(one.result.type, symbols)
            element = element_of(one.attributes["value"], kind.dtype)
            found[one.result] = np.full([1] * kind.rank, element, kind.dtype)
    return found
