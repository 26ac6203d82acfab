"""Random schedules for a GPU, over all primitives. Most are legal by construction; the rest must be refused."""

from __future__ import annotations

from fuzz.choices import Choices
from fuzz.dataflow import Dataflow, reads_anywhere, reads_windows
from fuzz.loops import MAX_COPIES, MAX_THREADS, Kernel, Loop, Loops, Place
from fuzz.program import Program
from fuzz.tiles import Tile
from tilewright import te
from tilewright.te import Expr, ExternOp, IterVar, Operation, PlaceholderOp, ScanOp, Schedule, Stage
from tilewright.te.expr import Var


def _whole(axis: IterVar) -> Loop:
    """The loop over all of an axis."""
    extent = axis.dom[1] if axis.dom else None
    if isinstance(extent, int):
        return Loop(axis, extent)
    return Loop(axis, None, extent is not None, extent.divisible_by if isinstance(extent, Var) else 1)


class Scheduler:
    """Makes one schedule, which `schedule.trace()` shows afterwards, also where a primitive was refused."""

    def __init__(self, choices: Choices, program: Program, target: str = "sim") -> None:
        self.choices, self.target = choices, target
        self.schedule = te.create_schedule(list(dict.fromkeys(value.tensor.op for value in program.outputs)))
        self.flow = Dataflow(choices, self.schedule)
        self.loops = Loops(choices)
        self.places: dict[Operation, Place] = {}

    def run(self) -> Schedule:
        if self.choices.chance(5):
            self.schedule = self.schedule.normalize()
        self.flow.run()
        for stage in self._in_order():
            self._place(stage)
        for place in self.places.values():
            self._finish(place)
            self._lay_out(place)
        if self.choices.chance(10):
            self.schedule.launch(dependent=True, cooperative=self.choices.chance(50))
        return self.schedule

    # Where a stage is computed.

    def _in_order(self) -> list[Stage]:
        """What reads a stage comes before it, what follows it comes after it."""
        order: list[Stage] = []
        left, follows = self.flow.stages(), self.flow.follows
        while left:
            done = {stage.key for stage in order}
            ready = [
                stage
                for stage in left
                if all(r in done or follows.get(r) is stage.key for r in self.flow.readers(stage.key))
                and follows.get(stage.key) not in {one.key for one in left}
            ]
            assert ready, "stages in a circle"
            order += ready
            left = [stage for stage in left if stage not in ready]
        return order

    def _sites(self, op: Operation) -> list[tuple[Place, int]]:
        """The loops that are around all that reads a stage."""
        chains = []
        is_symbolic = any(_whole(axis).is_symbolic for axis in op.axis)
        if is_symbolic and any(map(reads_anywhere, self.flow.readers(op))):
            return []  # all of it is needed, which has no place in a buffer of a block's or thread's
        for reader in self.flow.readers(op):
            chain: dict[int, tuple[Place, int, int]] = {}
            place: Place | None = self.places[reader]
            last = len(self.places[reader].loops) - 1
            while place is not None:
                # What loops of an extent that is not known run over has no place in a buffer of a block's or thread's.
                first = max((d for d in range(last + 1) if place.loops[d].is_symbolic), default=0)
                chain[id(place)] = (place, first, last)
                if first or (place.loops and place.loops[0].is_symbolic):
                    break
                place, last = place.parent, place.at
            chains.append(chain)
        sites = []
        for key, (place, *_) in chains[0].items() if chains else ():
            if all(key in chain for chain in chains):
                first, last = max(chain[key][1] for chain in chains), min(chain[key][2] for chain in chains)
                sites += [(place, d) for d in range(first, last + 1) if place.loops[d].is_plain]
        return [site for site in sites if any(tag and tag[0] != "v" for tag in site[0].tags_at(site[1]))]

    def _place(self, stage: Stage) -> None:
        c, key = self.choices, stage.key
        if key in self.flow.scripts:  # which say it themselves
            self.places[key] = Place(key, stage, Kernel(), [])
            return
        axes = [_whole(axis) for axis in (*stage.op.axis, *stage.op.reduce_axis)]
        if not stage.op.axis:
            axes.insert(0, Loop(stage.fuse(), 1))
        axes[0].is_scan = isinstance(key, ScanOp)
        if key in self.flow.in_steps:
            self._step(stage, axes)
            return
        if key in self.flow.follows and self._follow(stage, axes):
            return
        is_root = self.flow.is_output(key) or key in self.flow.follows.values() or isinstance(key, ScanOp)
        sites = [] if is_root else self._sites(key)
        cached = stage.scope != "global"
        if cached and not sites:
            stage.set_scope("global")
        is_copy = type(key).__name__ == "CacheOp" and key not in self.flow.factored
        if sites and is_copy and not cached and c.chance(30):
            stage.set_scope(c.pick(["shared", "local"]))
            cached = True
        if not sites or not (cached or (stage.scope == "global" and not is_copy and c.chance(65))):
            self.places[key] = place = Place(key, stage, Kernel(), axes)
            self._root(place)
            return
        # Near the threads or outside of them, as the scope wants it.
        inside = [site for site in sites if any(tag.startswith("thread") for tag in site[0].tags_at(site[1]))]
        outside = [site for site in sites if site not in inside]
        wanted = inside if stage.scope == "local" else outside if c.chance(60) else inside
        parent, at = c.pick(wanted or sites)
        place = self._attach(stage, axes, parent, at)
        place.scope = stage.scope if stage.scope != "global" else None
        if place.scope is None and c.chance(40):
            place.scope = c.pick(["shared", "local"]) if (parent, at) not in outside else "shared"
            stage.set_scope(place.scope)
        if place.scope is None:
            # A loop of virtual threads is one of threads.
            tags = {tag[:5] for tag in parent.tags_at(at) if tag}
            place.scope = "shared" if tags == {"block"} else "local"
        group = self.schedule.create_group(key.results, [op.output(0) for op in self.schedule.graph.reads[key]])
        if c.chance(4):  # another place, taken back
            other = c.pick(sites)
            stage.compute_at(other[0].stage, other[0].loops[other[1]].axis)
            group.compute_root() if c.chance(50) else stage.compute_root()
        (group if c.chance(10) else stage).compute_at(parent.stage, parent.loops[at].axis)
        self._attached(place)

    def _step(self, stage: Stage, axes: list[Loop]) -> None:
        """A scan with stages in its steps, or such a stage: threads for the axes beside its own, which they reduce."""
        c, key = self.choices, stage.key
        scan = self.places.get(self.flow.in_steps[key])
        place = Place(key, stage, scan.kernel if scan else Kernel(), axes)
        self.places[key] = place
        tags = ["threadIdx.x", "threadIdx.y"]
        for loop in [loop for loop in axes[::-1] if loop.is_free][: c.integer(1, 2)]:
            extent = place.kernel.threads.get(tags[0]) or c.integer(1, 6)
            self.loops.bind(place, self.loops.split(place, loop, extent)[1], tags.pop(0))
        self._bind_reduction(place, tags[:1])

    def _attach(self, stage: Stage, loops: list[Loop], parent: Place, at: int) -> Place:
        for loop in loops:
            if not loop.is_reduce:
                loop.extent, loop.is_symbolic = None, False
        place = Place(stage.key, stage, parent.kernel, loops, parent, at)
        parent.children.append(place)
        self.places[stage.key] = place
        return place

    def _follow(self, stage: Stage, loops: list[Loop]) -> bool:
        """After a part of what it reads."""
        producer = self.places[self.flow.follows[stage.key]]
        first = next((i for i, loop in enumerate(producer.loops) if loop.is_reduce), len(producer.loops))
        sites = [
            i
            for i, loop in enumerate(producer.loops[:first])
            if loop.is_plain and any(tag and tag[0] != "v" for tag in producer.tags_at(i))
        ]
        if not sites or not (producer.is_plain or self.choices.chance(10)):
            del self.flow.follows[stage.key]
            return False
        at = self.choices.pick(sites)
        place = self._attach(stage, loops, producer, at)
        place.scope = "shared"  # what it writes, all threads may see
        stage.reverse_compute_at(producer.stage, producer.loops[at].axis)
        self._attached(place)
        return True

    # Its loops.

    def _root(self, place: Place) -> None:
        """A kernel: some loops are blocks and threads, on the outside most of the time."""
        c, kernel, loops = self.choices, place.kernel, self.loops
        self._tensorize(place)
        loops.transform(place)
        blocks, threads = ["blockIdx.x", "blockIdx.y", "blockIdx.z"], ["threadIdx.x", "threadIdx.y", "threadIdx.z"]
        for _ in range(c.integer(1, 4)):
            free = [loop for loop in place.loops if loop.is_free]
            if not free:
                break
            loop = free[0] if c.chance(70) else c.pick(free)
            kind = c.pick(["thread", "block", "vthread"])
            if kind == "thread" and threads:
                if loop.extent is None or kernel.count() * loop.extent > MAX_THREADS:
                    factor = c.integer(1, MAX_THREADS // kernel.count())
                    loop = loops.split(place, loop, factor)[1]
                loops.bind(place, loop, threads.pop(c.integer(0, len(threads) - 1) if c.chance(20) else 0))
            elif kind == "block" and blocks:
                loops.bind(place, loop, blocks.pop(0))
            elif kind != "vthread":
                continue
            elif loop.extent is not None and len(free) > 1 and kernel.copies * loop.extent <= MAX_COPIES:
                kernel.copies *= max(loop.extent, 1)
                loops.bind(place, loop, c.pick(["vthread", "vthread.x"]))
        self._bind_reduction(place, threads)
        if not any(loop.tag and loop.tag[:7] != "vthread" for loop in place.loops):
            free = [loop for loop in place.loops if loop.is_free]
            if free:
                loops.bind(place, free[0], "blockIdx.x")
        if c.chance(60):  # as one writes it
            rank = {"": 3, "b": 0, "v": 1, "t": 2}
            order = sorted(place.loops, key=lambda loop: 3 if loop.is_reduce else rank[loop.tag[:1]])
            if order != place.loops:
                loops.reorder(place, order)
        loops.inner(place)
        loops.order_reduction(place)
        if self.target == "cpu" and c.chance(30):
            plain = [loop for loop in place.loops if loop.is_free and loop.is_plain]
            if plain:
                place.stage.parallel(plain[0].axis)
        if c.chance(10):
            place.stage.launch_bounds(c.integer(1, 4))
        if kernel.threads and c.chance(5):
            threads = [te.thread_axis((0, extent), tag) for tag, extent in kernel.threads.items()]
            place.stage.env_threads(threads if c.chance(50) else threads[:1])

    def _bind_reduction(self, place: Place, free_tags: list[str]) -> None:
        """A reduction axis, or a part of one, over threads."""
        c, kernel = self.choices, place.kernel
        reduce = [loop for loop in place.loops if loop.is_reduce and not loop.tag]
        if not reduce or place.is_tensorized or not c.chance(25):
            return
        tags = [tag for tag in kernel.threads if tag not in place.tags_at(len(place.loops))]
        tag = c.pick([*tags, *free_tags[:1]]) if tags or free_tags else None
        if tag is None:
            return
        extent = kernel.threads.get(tag) or c.integer(2, max(2, MAX_THREADS // kernel.count()))
        self.loops.bind(place, self.loops.split(place, c.pick(reduce), extent)[1], tag)
        if place.scope != "local" and c.chance(35):
            place.stage.set_store_predicate(te.thread_axis(tag).equal(0))

    def _attached(self, place: Place) -> None:
        c, kernel, loops = self.choices, place.kernel, self.loops
        self._tensorize(place)
        loops.transform(place)
        around = place.tags_around()
        is_copy = place.stage.op is place.op and type(place.op).__name__ == "CacheOp"
        if place.scope == "shared":
            tags = [
                tag for tag in kernel.threads if tag not in around or (is_copy and place.op not in self.flow.factored)
            ]
            spare = [tag for tag in ("threadIdx.x", "threadIdx.y") if tag not in kernel.threads]
            if c.chance(10) and spare:
                tags.append(spare[0])
            free = [loop for loop in place.loops if loop.is_free]
            if tags and free and not place.is_tensorized and c.chance(60):
                count = len(place.leading())
                loop = loops.fuse(place, 0, count) if count > 1 and c.chance(50) else free[0]
                for tag in c.some(tags, 75):
                    extent = kernel.threads.get(tag) or c.integer(1, max(1, MAX_THREADS // kernel.count()))
                    loop, inner = loops.split(place, loop, extent)
                    loops.bind(place, inner, tag)
            if place.stage.op.reduce_axis and not any(tag.startswith("thread") for tag in around):
                self._bind_reduction(place, [])
        if place.scope == "shared" and place.op not in self.flow.follows:
            if len(place.stage.op.axis) >= 2 and c.chance(20):
                factor = c.integer(2, 16)
                place.is_aligned = True
                place.stage.storage_align(place.stage.op.axis[-2], factor, c.integer(0, factor - 1))
            if c.chance(15) and self._can_wait(place):
                place.stage.double_buffer()
        loops.inner(place)
        loops.order_reduction(place)

    def _tensorize(self, place: Place) -> None:
        """The innermost loops, of a tile of the stage, are what an intrinsic computes."""
        c, op = self.choices, place.stage.op
        element = self.flow.element(place.stage) if op.axis and c.chance(12) else None
        if element is None:
            return
        factors = []
        for loop in place.loops:
            extent = loop.divisor if loop.is_symbolic else loop.extent
            fits = [d for d in (1, 2, 3, 4, 8) if extent is not None and extent % d == 0]
            factors.append(c.pick(fits[::-1] or [1]))
        if all(factor == 1 for factor in factors):
            return
        tile = Tile(c, element, factors)
        outer, inner = [], []
        for loop, factor in zip(list(place.loops), factors):
            made = self.loops.split(place, loop, factor) if factor > 1 else (loop,)
            outer.append(made[0])
            inner += made[1:]
        place.stage.reorder(*(loop.axis for loop in outer + inner))
        place.loops, place.is_tensorized = outer, True
        place.stage.tensorize(inner[0].axis, tile.intrinsic(f"tile_of_{op.name.replace('.', '_')}"))

    @staticmethod
    def _reads_beside(place: Place) -> set[Operation]:
        """What is computed at the same loop as a stage, and in the loops around that one."""
        found, at = set[Operation](), place
        while at.parent is not None:
            found |= {child.op for child in at.parent.children} | {at.parent.op}
            at = at.parent
        return found

    @staticmethod
    def _is_serial(loop: Loop) -> bool:
        return not loop.tag and loop.is_plain and not loop.is_scan

    def _can_wait(self, place: Place) -> bool:
        """The stage may be computed an iteration early: the loop is a plain one, and what the stage reads is there."""
        assert place.parent is not None
        loop = place.parent.loops[place.at]
        return self._is_serial(loop) and not set(self.flow.reads(place.op)) & self._reads_beside(place)

    def _finish(self, place: Place) -> None:
        """What depends on all that is computed in the loops of a stage."""
        c = self.choices
        for at, loop in enumerate(place.loops):
            inside = [child for child in place.children if child.at == at and child.scope == "shared"]
            inside = [child for child in inside if child.op not in self.flow.follows]
            if inside and all(self._can_wait(child) for child in inside) and c.chance(30):
                copies = all(isinstance(op, PlaceholderOp) for child in inside for op in self.flow.reads(child.op))
                wide = all(child.op.output(0).dtype in ("float32", "int32", "float64", "int64") for child in inside)
                plain = all(child.stage.op is child.op and not child.stage.op.reduce_axis for child in inside)
                place.stage.software_pipeline(loop.axis, c.integer(2, 4), copies and wide and plain and c.chance(50))
        reduce = [at for at, loop in enumerate(place.loops) if loop.is_reduce]
        fits = reduce and not place.is_tensorized and not any(loop.tag for loop in place.loops if loop.is_reduce)
        if fits and c.chance(12):
            taken = [child.at for child in place.children if child.at < reduce[0]]
            at = c.integer(max(taken, default=-1) + 1, reduce[0])
            place.stage.decompose_reduction(place.loops[at].axis)
        for loop in place.loops:
            inputs = [op for op in self.flow.reads(place.op) if isinstance(op, PlaceholderOp)]
            plain = (
                self._is_serial(loop) and not loop.is_reduce and place.scope != "shared"
            )  # which threads fill together
            if inputs and plain and place.op not in self.flow.of_steps and c.chance(4):
                place.stage.prefetch(c.pick(inputs).output(0), loop.axis, c.integer(0, 3))

    def _slides(self, place: Place) -> bool:
        """Neighbouring iterations of the loop that a stage is computed at may need the same of its elements."""
        assert place.parent is not None
        return reads_windows(place.parent.op, place.parent.loops[place.at].axis)

    def _lay_out(self, place: Place) -> None:
        """Where the elements of a buffer of the program's own lie, and which of them are kept."""
        c, op = self.choices, place.op
        if self.flow.is_output(op) or isinstance(op, (ScanOp, ExternOp)) or op in self.flow.follows or place.is_aligned:
            return
        if not place.stage.op.axis:
            return
        rank, row = len(place.stage.op.axis), _whole(place.stage.op.axis[-1]).extent
        # Of what is computed at a loop, the rows are as long as what is needed there.
        granules = [g for g in (4, 8) if place.parent is not None or row in (2 * g, 4 * g, 8 * g)]
        if rank > 1 and granules and c.chance(30 if place.parent is None else 1):
            place.stage.swizzle(c.pick(granules))
        elif c.chance(10):
            order, tiled, size = c.shuffled(range(rank)), c.integer(0, rank - 1), c.integer(2, 5)

            def layout(*indices: Expr) -> list[Expr]:
                places = [indices[d] for d in order]
                return [*places[:tiled], places[tiled] // size, *places[tiled + 1 :], places[tiled] % size]

            place.stage.transform_layout(layout if c.chance(50) else lambda *indices: [indices[d] for d in order])
        parent = place.parent
        if parent is not None and self._is_serial(parent.loops[place.at]) and self._slides(place) and c.chance(80):
            place.stage.rolling_buffer()
