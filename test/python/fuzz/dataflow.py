"""What a random schedule makes of a program's stages before there are loops: some go, others come."""

from __future__ import annotations

from fuzz.choices import Choices
from fuzz.tiles import Element, copy_of, element_of
from tilewright.te import ComputeOp, ExternOp, IterVar, Operation, ScanOp, Schedule, Stage
from tilewright.te.expr import Call, Expr, Read
from tilewright.te.linear import linear_of


class Dataflow:
    """The stages of a schedule and what they read, as the primitives on tensors leave them."""

    def __init__(self, choices: Choices, schedule: Schedule) -> None:
        self.choices, self.schedule = choices, schedule
        self.factored = set[Operation]()
        """The parts of reductions, which rfactor made."""
        self.follows: dict[Operation, Operation] = {}
        """Stages that are to be computed at a loop of one that they read."""
        self._computes: dict[Operation, Element] = {}  # of the stages that primitives made
        self._inlined: set[Operation] = set()
        self._into: dict[Operation, Operation] = {}  # by what was computed where its producer is: the producer

        scans = [stage.op for stage in schedule.stages if isinstance(stage.op, ScanOp) and stage.op.inner]
        self.in_steps: dict[Operation, Operation] = {
            op: scan.scans[0] for scan in scans for op in (*scan.inner, *scan.scans)
        }
        """By scan with stages in its steps, and by such a stage: the scan, or the first of those of several states."""
        self.scripts = {stage.op for stage in schedule.stages if isinstance(stage.op, ExternOp)}
        self.of_steps = {
            *self.scripts,
            *self.in_steps,
            *self.in_steps.values(),
            *(scan.state.op for scan in scans if scan.state is not None),
        }

    def stages(self) -> list[Stage]:
        gone = self._inlined | set(self._into)
        return [stage for stage in self.schedule.stages if stage.key not in gone]

    def reads(self, op: Operation) -> list[Operation]:
        """What a stage reads, through what is inlined."""
        found: list[Operation] = []
        for read in self.schedule.graph.reads.get(op, ()):
            read = self.holder(read)
            found += self.reads(read) if read in self._inlined else [read]
        return found

    def element(self, stage: Stage) -> Element | None:
        """What a stage computes, where an intrinsic may say it: nothing is inlined in it."""
        busy = stage.key in self._into.values() or any(
            op in self._inlined for op in self.schedule.graph.reads[stage.key]
        )
        if busy or isinstance(stage.key, ScanOp):
            return None
        if stage.op is stage.key and isinstance(stage.op, ComputeOp):
            return element_of(stage.op)
        return self._computes.get(stage.key)

    def holder(self, op: Operation) -> Operation:
        """The stage that computes what `op` says."""
        while op in self._into:
            op = self._into[op]
        return op

    def readers(self, op: Operation) -> list[Operation]:
        return [stage.key for stage in self.stages() if op in self.reads(stage.key)]

    def is_output(self, op: Operation) -> bool:
        return any(self.holder(output) is op for output in self.schedule.outputs)

    def run(self) -> None:
        self._inline()
        self._reverse()
        self._pad()
        self._write_caches()
        self._factor()
        self._read_caches()

    def _inline(self) -> None:
        for stage in self.schedule.stages:
            fits = not stage.is_output and not stage.op.reduce_axis and not isinstance(stage.op, ScanOp)
            fits = fits and not self.of_steps & {stage.key, *self.readers(stage.key)}
            if fits and self.choices.chance(25):
                stage.compute_inline()
                self._inlined.add(stage.key)

    def _reverse(self) -> None:
        """Stages that go where what they read is computed: instead of it, or after a part of it."""
        c = self.choices
        for stage in self.stages():
            reads = self.schedule.graph.reads[stage.key]
            if isinstance(stage.key, ScanOp) or stage.op.reduce_axis or not c.chance(45):
                continue
            if stage.key in self.of_steps or any(op in self.of_steps for op in reads):
                continue
            for op in reads:
                producer = next((one for one in self.stages() if one.key is op), None)
                if producer is None or isinstance(op, ScanOp) or not _reads_at_axes(stage.key, op):
                    continue
                alone = self.readers(op) == [stage.key] and not producer.is_output
                if alone and len(reads) == 1 and op.num_outputs == 1 and not producer.op.reduce_axis and c.chance(60):
                    if op in self.follows or stage.key in self.follows.values():
                        continue
                    stage.reverse_compute_inline()
                    self._into[stage.key] = op
                    break
                if op not in self.follows and stage.key not in self.follows.values() and self._is_last(stage.key, op):
                    self.follows[stage.key] = op
                    break

    def _is_last(self, follower: Operation, producer: Operation) -> bool:
        """What else the follower reads needs nothing of the producer."""
        todo = [read for read in self.reads(follower) if read is not producer]
        while todo:
            read = todo.pop()
            if read is producer:
                return False
            todo += self.reads(read)
        return True

    def _write_caches(self) -> None:
        c = self.choices
        for stage in self.stages():
            busy = stage.key in self._into.values() or stage.key in {*self.follows, *self.follows.values()}
            if busy or isinstance(stage.key, ScanOp) or stage.key in self.of_steps or not c.chance(30):
                continue
            tensors = [stage.key.output(i) for i in range(stage.key.num_outputs)]
            scope = c.pick(["local", "local", "shared", "global"])
            element = self.element(stage)
            made = self.schedule.cache_write(tensors if len(tensors) > 1 else tensors[0], scope)
            caches = made if isinstance(made, (list, tuple)) else [made]
            self._computes[stage.key] = copy_of(caches, stage.op.axis)
            if element is not None:
                self._computes[caches[0].op] = element

    def _pad(self) -> None:
        """Products of matrices grow to whole tiles."""
        c = self.choices
        for stage in self.stages():
            busy = stage.key in {*self.follows, *self.follows.values(), *self._into.values()}
            if busy or stage.key.num_outputs > 1 or not _is_product(stage.key) or not c.chance(40):
                continue
            if any(read in self._inlined for read in self.schedule.graph.reads[stage.key]):
                continue
            if not all(axis.dom and isinstance(axis.dom[1], int) for axis in (*stage.op.axis, *stage.op.reduce_axis)):
                continue
            padding = [c.integer(1, 6) for _ in (*stage.op.axis, *stage.op.reduce_axis)]
            for tensor in stage.pad_einsum(padding)[:-1]:
                if c.chance(50):
                    self.schedule[tensor].compute_inline()
                    self._inlined.add(tensor.op)

    def _factor(self) -> None:
        """Reductions whose parts are a stage of their own."""
        c = self.choices
        for stage in self.stages():
            busy = stage.key in {*self.follows, *self.follows.values()} or stage.key in self.of_steps
            if not stage.op.reduce_axis or busy or not c.chance(20):
                continue
            axis = c.pick(list(stage.op.reduce_axis))
            if c.chance(70):
                parts = stage.split(axis, factor=c.integer(1, 9))
                axis = c.pick(parts)
            tensors = [stage.key.output(i) for i in range(stage.key.num_outputs)]
            position = c.integer(0, len(stage.op.axis))
            made = self.schedule.rfactor(tensors if len(tensors) > 1 else tensors[0], axis, position)
            self._computes.pop(stage.key, None)
            self.factored.add((made[0] if isinstance(made, tuple) else made).op)

    def _read_caches(self) -> None:
        c, s = self.choices, self.schedule
        for op in list(s.names):
            readers = self.readers(op)
            direct = [reader for reader in readers if op in s.graph.reads[reader]]
            if op in self._inlined or op.num_outputs > 1 or not direct or len(direct) < len(readers):
                continue
            if op in self._into or op in self._into.values() or op in self.follows.values():
                continue
            if op in self.of_steps or any(reader in self.of_steps for reader in readers):
                continue
            scopes = [scope for scope in ("shared", "local", "global") if c.chance(20 if scope != "global" else 4)]
            tensor = op.output(0)
            for scope in scopes:
                whole = tensor.op is not op or not c.chance(20) or len(direct) == 1
                copy = s.cache_read(tensor, scope, direct if whole else [c.pick(direct)])
                self._computes[copy.op] = copy_of([tensor], copy.op.axis)
                tensor = copy
                if not whole:
                    break


def _is_product(op: Operation) -> bool:
    """A sum of products of elements, each read at axes."""
    if not isinstance(op, ComputeOp) or op.reduction is None or op.reduction.name != "sum":
        return False
    (todo, places) = (list(op.reduction.exprs), dict[int, tuple[int, ...]]())
    while todo:
        expr = todo.pop()
        if isinstance(expr, Read):
            at = tuple(id(index) for index in expr.indices)
            fits = all(isinstance(index, IterVar) for index in expr.indices) and len(set(at)) == len(at)
            if not fits or places.setdefault(id(expr.tensor), at) != at:
                return False
        elif isinstance(expr, Call) and expr.op == "mul":
            todo += expr.operands()
        else:
            return False
    axes = {id(axis) for axis in op.reduce_axis}
    return all(axes <= set(at) for at in places.values())


def _reads_at_axes(op: Operation, of: Operation) -> bool:
    """True where an operation reads another at its own axes, in their order."""
    todo: list[Expr] = list(op.body)
    found = False
    while todo:
        expr = todo.pop()
        if isinstance(expr, Read) and expr.tensor.op is of:
            found = True
            if len(expr.indices) != len(op.axis) or any(at is not own for at, own in zip(expr.indices, op.axis)):
                return False
        todo += expr.operands()
    return found


def reads_anywhere(op: Operation) -> bool:
    """True where an operation of the program reads at what is no sum of axes: where data or a remainder say."""
    todo: list[Expr] = list(op.body) if isinstance(op, ComputeOp) else []
    while todo:
        expr = todo.pop()
        if isinstance(expr, Read) and any(linear_of(index) is None for index in expr.indices):
            return True
        todo += expr.operands()
    return False


def reads_windows(op: Operation, axis: IterVar) -> bool:
    """True where an operation of the program reads at sums of an axis and others, as a stencil does."""
    todo: list[Expr] = list(op.body) if isinstance(op, ComputeOp) else []
    while todo:
        expr = todo.pop()
        places = [linear_of(index) for index in expr.indices] if isinstance(expr, Read) else []
        if any(place and place.of(axis) and (len(place.terms) > 1 or place.constant) for place in places):
            return True
        todo += expr.operands()
    return False
