"""The loop nest of a schedule as text: the loops stage that `apply-schedule` makes, for people to read.

Nothing is decided here. Loops, extents, buffers and predicates are those of the IR; only their names are the user's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlir import ir

from ...errors import CompileError
from ...ir.attributes import parameters
from ...ir.launch_options import launch_options
from ...target import DEFAULT_ARCH, Target
from ..compiler_interface import compiler
from ..program import operations, symbols_of
from ..tensor import PlaceholderOp, is_optional
from .expressions import Expressions
from .launching import launch_text
from .notation import dtype_name
from .threads import Block, block_of, combined_by

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["loop_extents", "loops_of", "nest_lines", "nest_text", "show"]

_BIND, _AXIS, _PIPELINE, _COPY = "schedule.bind", "schedule.axis", "schedule.pipeline", "schedule.copy"
_MARKS = {"schedule.vectorize": "vectorized", "schedule.unroll": "unrolled", "schedule.parallel": "parallel"}
_SCOPES = {"workgroup": "shared", "private": "local"}


def loops_of(schedule: Schedule) -> ir.Module:
    """The program at the loops stage. Raises what keeps it from getting there."""
    ops = operations(schedule.outputs)
    inputs = [op.output(0) for op in ops if isinstance(op, PlaceholderOp)]
    outputs = [op.output(i) for op in schedule.outputs for i in range(op.num_outputs)]
    tensors = [*inputs, *outputs]
    # What no tensor has as an extent is a number, and what tells whether one is given follows from it.
    known = {id(extent) for tensor in tensors if not is_optional(tensor) for extent in tensor.shape}
    known |= {id(tensor.op.given) for tensor in tensors if isinstance(tensor.op, PlaceholderOp)}
    symbols = [*(var for op in ops for var in symbols_of(op)), *schedule.symbols.values()]
    numbers = {id(var): var for var in symbols if id(var) not in known}
    # Down to the loops all architectures are one.
    return compiler().lower(
        schedule, [*tensors, *numbers.values()], stage="loops", target=Target("cuda", arch=DEFAULT_ARCH)
    )


def show(schedule: Schedule) -> str:
    """The loop nest of a schedule; its primitives and the reason where it has none."""
    try:
        module = loops_of(schedule)
    except (CompileError, ValueError) as error:
        reason = str(error).splitlines()
        return "\n".join([schedule.ir(), "# It has no loop nest:", *(f"# {line}" for line in reason)])
    dtypes = {name: op.output(0).dtype for op, name in schedule.names.items() if op.num_outputs == 1}
    return nest_text(module, dtypes)


def _function(module: ir.Module) -> ir.Operation:
    return next(op.operation for op in module.body if op.operation.name == "func.func")


def loop_extents(module: ir.Module) -> dict[str, str]:
    """The extent of each loop of a module at the loops stage, by stage and axis ("C.i.outer")."""
    found: dict[str, str] = {}
    function = _function(module)
    expressions = Expressions(function)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "scf.for" and _AXIS in op.attributes:
            found.setdefault(_axis_of(op)[0], expressions.of(op.operands[1]).text)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def nest_text(module: ir.Module, dtypes: Mapping[str, str]) -> str:
    """The loop nest of a module at the loops stage.

    `dtypes` are the types of the stages' elements by name where the IR says less (`uint8`).
    """
    return "\n".join(text for text, _ in nest_lines(module, dtypes))


def nest_lines(module: ir.Module, dtypes: Mapping[str, str]) -> Iterator[tuple[str, Sequence[ir.Operation]]]:
    """The lines of `nest_text`, each with the ops that it stands for."""
    nest = _Nest(_function(module), dtypes)
    for text in nest.lines():
        yield text, nest.shown


class _Nest:
    """Prints one function. A loop's comment names its stage where that is another than the surrounding loop's."""

    def __init__(self, function: ir.Operation, dtypes: Mapping[str, str]) -> None:
        self._function = function
        self.element_types = dtypes
        self._expressions = Expressions(function)
        self._block_threads: Block = {}
        self._depth = 0  # of the pipeline around what is printed
        # Of each stage and memory as many buffers as it computes tensors.
        self._buffers: Counter[tuple[str, str]] = Counter()
        self._made: Counter[tuple[str, str]] = Counter()
        self.shown: Sequence[ir.Operation] = ()  # what the line stands for that was yielded last
        function.walk(self._count_buffer, ir.WalkOrder.PRE_ORDER)

    def lines(self) -> Iterator[str]:
        """The lines of the nest."""
        if options := launch_options(self._function):
            yield f"# launched {launch_text(options)}"
        yield from self._block(self._function.regions[0].blocks[0], "", "")

    def _count_buffer(self, op: ir.Operation) -> ir.WalkResult:
        if op.name in ("memref.alloc", "memref.alloca"):
            self._buffers[_stage_and_scope(op)] += 1
        return ir.WalkResult.ADVANCE

    def _block(self, block: ir.Block, indent: str, stage: str) -> Iterator[str]:
        """The loops and buffers of a block; what stands between them, which has neither, is a leaf."""
        leaf: list[ir.Operation] = []
        for view in block.operations:
            op = view.operation
            if not (op.name in ("memref.alloc", "memref.alloca") or _has_loop(op)):
                leaf.append(op)
                continue
            yield from self._leaf(leaf, indent)
            leaf = []
            self.shown = (op,)
            if op.name == "scf.for":
                yield from self._loop(op, indent, stage)
            elif op.name == "scf.while":
                yield indent + self._while(op)
                yield from self._block(op.regions[1].blocks[0], indent + "  ", stage)
            elif op.name == "scf.if":
                yield f"{indent}if {self._expressions.of(op.operands[0]).text}:"
                yield from self._block(op.regions[0].blocks[0], indent + "  ", stage)
                if len(op.regions[1].blocks):
                    self.shown = (op,)
                    yield f"{indent}else:"
                    yield from self._block(op.regions[1].blocks[0], indent + "  ", stage)
            else:
                yield indent + self._buffer(op)
        yield from self._leaf(leaf, indent)

    def _loop(self, op: ir.Operation, indent: str, stage: str) -> Iterator[str]:
        full, own, name = _axis_of(op)
        body = op.regions[0].blocks[0]
        extent = self._expressions.of(op.operands[1]).text
        # A loop further out that has the name is of another stage.
        name = self._expressions.name(body.arguments[0], full if self._expressions.is_taken(name) else name)
        if not indent:
            self._block_threads = block_of(op)
        remarks = [own] if own and own != stage else []
        remarks += self._remarks(op)
        # What threads reduce together: the loop carries it, and beside it each thread's part.
        carried = list(body.arguments)[1 : 1 + len(op.results) // 2]
        names = [own] if len(carried) == 1 else [f"{own}.v{number}" for number in range(len(carried))]
        totals = [self._expressions.name(value, f"{one}.total") for value, one in zip(carried, names)]
        if totals:
            first = [self._expressions.of(value).text for value in list(op.operands)[3 : 3 + len(totals)]]
            yield f"{indent}{', '.join(totals)} = {', '.join(first)}"
        yield f"{indent}for {name} in range({extent}):" + (f"  # {', '.join(remarks)}" if remarks else "")
        depth = self._depth
        if _PIPELINE in op.attributes:
            self._depth = parameters(op.attributes[_PIPELINE])["stages"]
        yield from self._block(body, indent + "  ", own or stage)
        self._depth = depth
        if totals:
            self.shown = (op,)
            values = list(list(body.operations)[-1].operation.operands)[: len(totals)]
            yield f"{indent}  {self._expressions.assignments(totals, values)}"
        self._expressions.forget(body.arguments[0])
        for value, result, total in zip(carried, op.results, totals):
            self._expressions.forget(value)
            self._expressions.name(result, total)

    def _remarks(self, op: ir.Operation) -> Iterator[str]:
        """What is said of a loop besides its extent."""
        if _BIND in op.attributes:
            thread = str(parameters(op.attributes[_BIND])["thread"])
            yield thread
            if len(op.results):
                yield f"combined {combined_by(self._block_threads, thread)}"
        yield from (word for mark, word in _MARKS.items() if mark in op.attributes)
        if _PIPELINE in op.attributes:
            pipeline = parameters(op.attributes[_PIPELINE])
            yield f"filled {int(pipeline['stages']) - 1} ahead{' by cp.async' if pipeline['async'] else ''}"
        if "schedule.specialize" in op.attributes:
            roles = parameters(op.attributes["schedule.specialize"])
            turns = f", {roles['consumers']} sets of which take tiles in turn" if roles["consumers"] != 1 else ""
            yield (
                f"by a warpgroup with {roles['producer']} registers a thread, "
                f"the others with {roles['consumer']}{turns}"
            )
        if "schedule.cluster" in op.attributes:
            yield f"clusters of {ir.IntegerAttr(op.attributes['schedule.cluster']).value}"
        if "schedule.persistent" in op.attributes:
            how = parameters(op.attributes["schedule.persistent"])
            order = {
                "row": "in rows",
                "grouped": f"in groups of {how['group']}",
                "hilbert": f"on a curve through squares of {how['group']}",
            }[str(how["raster"])]
            shares = ", and share the steps of the last" if how["stream_k"] else ""
            if how["narrower"]:
                shares = f", some {how['narrower']} columns narrower"
            if how["serpentine_k"]:
                shares += ", every second from the end of its reduction"
            yield f"{how['blocks']} blocks go through the tiles {order}{shares}"
        if "schedule.min_blocks" in op.attributes:
            number = ir.IntegerAttr(op.attributes["schedule.min_blocks"]).value
            yield f"at least {number} {'block' if number == 1 else 'blocks'} per SM"

    def _buffer(self, op: ir.Operation) -> str:
        kind = ir.MemRefType(op.results[0].type)
        stage, scope = _stage_and_scope(op)
        name = stage if self._buffers[stage, scope] < 2 else f"{stage}.v{self._made[stage, scope]}"
        self._made[stage, scope] += 1
        if self._expressions.is_taken(name):  # by the stage's tensor, which is summed up in here first
            name = f"{name}.acc"
        name = self._expressions.name(op.results[0], name)
        dynamic = (self._expressions.of(operand).text for operand in op.operands)
        sizes = [next(dynamic) if kind.is_dynamic_dim(d) else str(kind.get_dim_size(d)) for d in range(kind.rank)]
        dtype = self.element_types.get(stage) or dtype_name(str(kind.element_type))
        places = f"  # {self._depth} places" if "schedule.pipelined" in op.attributes else ""
        return f"{name}: {scope} {dtype}" + (f"[{', '.join(sizes)}]" if sizes else "") + places

    def _leaf(self, ops: Sequence[ir.Operation], indent: str) -> Iterator[str]:
        if ops:
            self.shown = tuple(ops)
            for line in self._expressions.abbreviated(lambda: list(self._statements(ops, ""))):
                yield indent + line

    def _statements(self, ops: Iterable[ir.Operation], indent: str) -> Iterator[str]:
        stores: list[ir.Operation] = []
        for op in ops:
            if op.name == "memref.store":
                stores.append(op)
            elif op.name == "memref.load" and any(op.operands[0] == store.operands[1] for store in stores):
                yield from self._assignment(stores, indent)
                stores = []
            elif op.name == "memref.prefetch":
                yield f"{indent}prefetch({self._expressions.element(op.operands[0], list(op.operands)[1:])})"
            elif op.name == "scf.if" and not len(op.results):
                yield from self._assignment(stores, indent)
                stores = []
                yield f"{indent}if {self._expressions.of(op.operands[0]).text}:"
                yield from self._region(op.regions[0], indent + "  ")
                if len(op.regions[1].blocks):
                    yield f"{indent}else:"
                    yield from self._region(op.regions[1], indent + "  ")
        yield from self._assignment(stores, indent)

    def _while(self, op: ir.Operation) -> str:
        condition = list(op.regions[0].blocks[0].operations)[-1].operation
        return f"while {self._expressions.of(condition.operands[0]).text}:"

    def _region(self, region: ir.Region, indent: str) -> Iterator[str]:
        return self._statements((view.operation for view in region.blocks[0].operations), indent)

    def _assignment(self, stores: Sequence[ir.Operation], indent: str) -> Iterator[str]:
        """Stores that follow one another: all values were there before the first was written."""
        targets = [self._expressions.element(store.operands[1], list(store.operands)[2:]) for store in stores]
        if stores and "schedule.reduce_add" in stores[0].attributes:
            for target, store in zip(targets, stores, strict=True):
                yield f"{indent}{target} += {self._expressions.of(store.operands[0]).text}  # by blocks together"
        elif stores:
            copies = [parameters(store.attributes[_COPY]) for store in stores if _COPY in store.attributes]
            by = f"  # by {copies[0]['by']}" if copies else ""
            yield indent + self._expressions.assignments(targets, [store.operands[0] for store in stores]) + by


def _axis_of(op: ir.Operation) -> tuple[str, str, str]:
    """The name of a loop's axis with its stage's before it, the stage, and the axis."""
    if _AXIS not in op.attributes:
        return "loop", "", "loop"
    found = parameters(op.attributes[_AXIS])
    stage, axis = str(found["stage"]), str(found["axis"])
    return f"{stage}.{axis}" if stage else axis, stage, axis


def _stage_and_scope(op: ir.Operation) -> tuple[str, str]:
    """Whose buffer an allocation is, and in which memory."""
    stage = ir.StringAttr(op.attributes["te.stage"]).value if "te.stage" in op.attributes else "buffer"
    space = str(ir.MemRefType(op.results[0].type).memory_space)
    if "schedule.warp" in op.attributes:
        return stage, "warp"
    return stage, next((word for mark, word in _SCOPES.items() if mark in space), "global")


def _has_loop(op: ir.Operation) -> bool:
    found = False

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or inner.name in ("scf.for", "scf.while")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
