"""The groups of a model: each a program of tensor expressions, compiled for a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from .. import te
from ..errors import CompileError, TilewrightError
from ..messages.location import Source, at_source
from ..messages.progress import progress
from ..te import ComputeOp, Tensor, Var
from ..te.expr import Call, Const, Expr, IterVar, Read, Select
from ..te.extern_op import ExternOp
from ..te.program import operations
from ..te.scan_stages import ScanOp
from ..te.strides import Strided
from ..te.walks import parts
from .attention_groups import ATTENTION, AttentionGroup, attention_group
from .convolution_groups import ConvolutionGroup, convolution_group
from .definitions import label_of, symbols_apart, tensors_of
from .joint_results import as_one_stage
from .library_calls import LibraryCall, library_call
from .types import TensorType, from_ir
from .views import View

if TYPE_CHECKING:
    from ..compiler import Function
    from ..target import Target

__all__ = ["Group", "constant_tensor", "read_groups"]


@dataclass(frozen=True, slots=True)
class Group:
    """Operators of a model that are computed together: `tw.compile` forms groups.

    `nodes` are the nodes of the model that the operators came from. `ends` says for each result why the group ends
    there. `offsets` are the results' places in the arena, -1 for a result outside of it. `schedule` is the schedule.
    `function` is the compiled program, which takes the inputs, then the results, then the numbers of `symbols`. If it
    takes an input or a result as a view of it, `views` has that at its place. `library` says how a library computes the
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

    def compile(self, target: Target) -> Function:
        """The program for `target`; groups that are the same share one. Raises CompileError with its nodes' names."""
        if self.key not in self.functions:
            from ..compiler import build

            try:
                self.functions[self.key] = build(self.schedule, self.arguments, target=target, name=self.identifier)
            except TilewrightError as error:
                raise CompileError(f"{', '.join(self.nodes)}: {error}", stage="te") from error
        return self.functions[self.key]

    @property
    def identifier(self) -> str:
        """The name of the program: none of a function of the C library's, which the program may call. Groups that are
        not the same have different ones, for a library has all of them."""
        name = base = "group_" + "".join(c if c.isalnum() else "_" for c in self.name)
        taken = {function.entry_name for key, function in self.functions.items() if key != self.key}
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name

    @property
    def function(self) -> Function:
        """The compiled program."""
        return self.functions[self.key]

    def __str__(self) -> str:
        shapes = ", ".join(map(str, self.types))
        by = "" if self.library is None else f"; {self.library}"
        return f"{self.name}: {', '.join(self.nodes)} -> {shapes}; ends: {'; '.join(self.ends)}{by}"


def read_groups(
    module: ir.Module, function: ir.Operation, symbols: Mapping[str, Var], target: Target
) -> list[Group]:  # fmt: skip
    """The groups of a model's function in a module, in their order."""
    functions: dict[str, Function] = {}
    with function.context, progress("scheduling the model") as line:
        found = [one.operation for one in function.regions[0].blocks[0].operations]
        found = [one for one in found if one.name == "graph.group"]
        groups: list[Any] = []
        for number, operation in enumerate(found):
            line.show(number, len(found), "groups", ir.StringAttr(operation.attributes["name"]).value)
            groups.append(_read_group(operation, symbols, functions, target, module))
        return groups


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


def _read_group(
    group: ir.Operation, symbols: Mapping[str, Var], functions: dict[str, Function], target: Target, module: ir.Module
) -> Group:
    block = group.regions[0].blocks[0]
    tensors: dict[ir.Value, Tensor] = {}
    inputs: dict[ir.Value, Tensor] = {}
    constants: dict[ir.Value, Tensor] = {}
    names: list[str] = []
    members: list[ir.Operation] = []
    nodes: dict[str, None] = {}
    text: list[str] = []
    for operation in block.operations:
        found = operation.operation
        if found.name == "graph.constant":
            with at_source(Source(label_of(found), 0)):
                tensors[found.result] = constants[found.result] = constant_tensor(found, symbols)
            text.append(f"{found.attributes['value']}")
            continue
        if found.name == "graph.yield":
            break
        operands: list[Any] = []
        for operand in found.operands:
            if operand not in tensors:
                kind = from_ir(operand.type, symbols)
                with at_source(Source(label_of(found), 0)):
                    inputs[operand] = te.placeholder(kind.shape, kind.dtype, name=f"x{len(inputs)}")
                tensors[operand] = inputs[operand]
                text.append(f"{operand.type}")
            operands.append(tensors[operand])
        numbers = [list(tensors).index(operand) for operand in found.operands]
        kept = {key: str(found.attributes[key]) for key in _attribute_names(found)}
        text.append(f"{found.name} {numbers} {kept}")
        made = tensors_of(found, operands, symbols, by_threads=target.kind != "cpu")
        for value, tensor in zip(found.results, made):
            tensors[value] = tensor
        names.append(found.name.removeprefix("graph."))
        members.append(found)
        nodes.setdefault(label_of(found))
    yielded = list(block.operations[len(block.operations) - 1].operation.operands)
    outputs = [tensors[value] for value in yielded]
    if target.kind != "cpu":
        outputs = as_one_stage(outputs)
    attributes = group.attributes
    ends = tuple(ir.StringAttr(one).value for one in ir.ArrayAttr(attributes["ends"])) if "ends" in attributes else ()
    offsets = tuple(ir.DenseI64ArrayAttr(attributes["offsets"])) if "offsets" in attributes else (-1,) * len(yielded)
    text.append(str([list(tensors).index(value) for value in yielded]))
    with at_source(Source(next(reversed(nodes), "group"), 0)):
        kernel: AttentionGroup | ConvolutionGroup | None = None
        if not ATTENTION.isdisjoint(names):
            kernel = attention_group(members, constants, symbols, target)
        elif "windows" in names and target.kind != "cpu":
            kernel = convolution_group(members, constants, yielded, symbols, target)
        if kernel is not None:
            schedule, values, arguments, views = kernel.schedule, kernel.values, kernel.arguments, kernel.views
        else:
            schedule, values, arguments, views = _schedule(outputs, target), inputs, (*inputs.values(), *outputs), ()
    apart = symbols_apart([*inputs.values(), *outputs], members, symbols)
    return Group(
        ir.StringAttr(attributes["name"]).value, tuple(names), tuple(nodes), tuple(values), tuple(group.results),
        tuple(TensorType.of(tensor) for tensor in outputs), ends, offsets, schedule, (*arguments, *apart), tuple(apart),
        "\n".join(text), functions, views, library_call(group), module,
    )  # fmt: skip


def _attribute_names(operation: ir.Operation) -> Sequence[str]:
    from .operators import OPERATORS

    return OPERATORS[operation.name.removeprefix("graph.")].attributes


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
        # A contraction whose reads divide axes has no vectors: there a copy costs less.
        in_contraction = any(reader.reduction is not None and not _reads_once(reader, read) for reader, read in reads)
        return not (in_contraction and _divides(op))
    return len(reads) == 1 and _reads_once(*reads[0])


def _reads_once(reader: ComputeOp, read: Read) -> bool:
    """Whether each element is read for one place of the reader's axes."""
    alone = {id(index) for index in read.indices if isinstance(index, IterVar)}
    axes = [axis for axis in (*reader.axis, *reader.reduce_axis) if axis.dom is None or str(axis.dom[1]) != "1"]
    return all(id(axis) in alone for axis in axes)


def _divides(op: ComputeOp) -> bool:
    """Whether places are quotients or remainders of others, as of a reshape that splits or joins dimensions."""
    return any(isinstance(part, Call) and part.op in ("floordiv", "floormod") for part in parts(op.body))


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
