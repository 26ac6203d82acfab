"""The loops of a stage as a random schedule changes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fuzz.choices import Choices
from tilewright import te
from tilewright.te import IterVar, Operation, Stage

MAX_THREADS, MAX_COPIES = 48, 12


@dataclass
class Loop:
    """A loop of a stage; its extent where it is known, which it is for what is computed whole and is no symbol."""

    axis: IterVar
    extent: int | None
    is_symbolic: bool = False  # known when the program is called, and no earlier
    divisor: int = 1  # of such an extent
    tag: str = ""
    is_plain: bool = True  # not vectorized, not unrolled
    is_scan: bool = False  # the iterations come in order

    @property
    def is_reduce(self) -> bool:
        return self.axis.kind == "reduce"

    @property
    def is_free(self) -> bool:
        """What may be bound, split and so on."""
        return not self.tag and not self.is_reduce and not self.is_scan


@dataclass
class Kernel:
    """What the loops of a kernel are bound to."""

    threads: dict[str, int] = field(default_factory=dict)
    copies: int = 1  # of code, by all that is unrolled

    def count(self) -> int:
        count = 1
        for extent in self.threads.values():
            count *= extent
        return count


@dataclass
class Place:
    """A stage with its loops, outermost first, and where it is computed."""

    op: Operation
    stage: Stage
    kernel: Kernel
    loops: list[Loop]
    parent: Place | None = None
    at: int = 0  # the loop of the parent
    scope: str | None = None
    children: list[Place] = field(default_factory=list)
    is_plain: bool = True  # each loop inside some others runs over a block of the tensor
    is_tensorized: bool = False  # the loops inside of those here are an intrinsic's
    is_aligned: bool = False  # its rows are set apart

    def tags_around(self) -> set[str]:
        """What the loops around are bound to, its own not counted."""
        tags = set[str]() if self.parent is None else self.parent.tags_around()
        return tags | ({loop.tag for loop in self.parent.loops[: self.at + 1]} if self.parent else set())

    def tags_at(self, at: int) -> set[str]:
        """What the loops are bound to that are around what is computed at one of them."""
        return self.tags_around() | {loop.tag for loop in self.loops[: at + 1]}

    def leading(self) -> list[Loop]:
        """The outermost loops that are free, up to the first that is not."""
        found = []
        for loop in self.loops:
            if not loop.is_free:
                break
            found.append(loop)
        return found


class Loops:
    """Changes the loops of a place by the primitives."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def split(self, place: Place, loop: Loop, factor: int | None = None) -> tuple[Loop, Loop]:
        c, n, is_symbolic = self.choices, loop.extent, loop.is_symbolic
        if place.is_tensorized:  # its tiles are whole
            factor = c.pick(
                [d for d in range(1, (factor or 9) + 1) if (loop.divisor if is_symbolic else n or 1) % d == 0]
            )
        if factor is None and c.chance(30):
            parts = c.integer(1, 6)
            made = place.stage.split(loop.axis, nparts=parts, disable_predication=self._divides(loop, parts))
            inner, outer = n and -(-n // parts), parts
            loops = Loop(made[0], outer), Loop(made[1], inner, is_symbolic)
        else:
            factor = factor or c.integer(1, 9)
            made = place.stage.split(loop.axis, factor=factor, disable_predication=self._divides(loop, factor))
            inner, outer = factor, n and -(-n // factor)
            loops = Loop(made[0], outer, is_symbolic), Loop(made[1], inner)
        divides = n is not None and outer is not None and inner is not None and outer * inner == n
        place.is_plain &= divides or any(loop.axis is axis for axis in place.stage.op.axis)
        at = place.loops.index(loop)
        place.loops[at : at + 1] = loops
        return loops

    def _divides(self, loop: Loop, number: int) -> bool:
        extent = loop.divisor if loop.is_symbolic else loop.extent
        return extent is not None and extent % number == 0 and self.choices.chance(15)

    def fuse(self, place: Place, first: int, count: int) -> Loop:
        parts = place.loops[first : first + count]
        extent: int | None = 1
        for part in parts:
            extent = None if extent is None or part.extent is None else extent * part.extent
        axis = place.stage.fuse(*(part.axis for part in parts))
        loop = Loop(axis, extent, any(part.is_symbolic for part in parts))
        place.loops[first : first + count] = [loop]
        place.is_plain = False
        return loop

    def reorder(self, place: Place, order: Sequence[Loop]) -> None:
        place.stage.reorder(*(loop.axis for loop in order))
        place.loops = list(order)

    def transform(self, place: Place) -> None:
        """Splits, fusions and a new order, each or none."""
        c = self.choices
        if c.chance(15) and not place.is_tensorized:
            self._tile(place)
        for _ in range(c.integer(0, 2)):
            loops = [loop for loop in place.loops if not loop.is_scan]
            if loops:
                self.split(place, c.pick(loops))
        if c.chance(20) and len(place.loops) >= 2:
            at = c.integer(0, len(place.loops) - 2)
            pair = place.loops[at : at + 2]
            if pair[0].is_reduce == pair[1].is_reduce and not any(loop.is_scan for loop in pair):
                self.fuse(place, at, 2)
        if c.chance(50) and len(place.loops) >= 2:
            self.reorder(place, c.shuffled(place.loops))

    def _tile(self, place: Place) -> None:
        c, free = self.choices, [loop for loop in place.loops if loop.is_free]
        if len(free) < 2:
            return
        x, y = free[:2]
        at = place.loops.index(x)
        if place.loops[at + 1] is not y:
            return
        factors = c.integer(1, 6), c.integer(1, 6)
        made = place.stage.tile(x.axis, y.axis, *factors)
        outer = [n.extent and -(-n.extent // f) for n, f in zip((x, y), factors)]
        symbolic = [x.is_symbolic, y.is_symbolic, False, False]
        place.loops[at : at + 2] = [Loop(*one) for one in zip(made, [*outer, *factors], symbolic)]

    def bind(self, place: Place, loop: Loop, tag: str) -> None:
        said = loop.extent or None if self.choices.chance(20) else None
        place.stage.bind(loop.axis, te.thread_axis(tag) if said is None else te.thread_axis((0, said), tag))
        loop.tag = tag
        if tag.startswith("thread"):
            assert loop.extent is not None
            place.kernel.threads[tag] = max(loop.extent, 1)

    @staticmethod
    def order_reduction(place: Place) -> None:
        """What the compiler does where threads reduce together: their loops stand around those of the parts."""
        first = next((at for at, loop in enumerate(place.loops) if loop.is_reduce), len(place.loops))
        if any(loop.is_reduce and loop.tag for loop in place.loops):
            place.loops[first:] = sorted(
                place.loops[first:], key=lambda loop: 0 if not loop.is_reduce else 1 if loop.tag else 2
            )

    def inner(self, place: Place) -> None:
        """Lanes for the innermost loop and copies of others."""
        c, kernel = self.choices, place.kernel
        last = place.loops[-1]
        width = c.pick([2, 4, 8])
        if last.is_free and not place.is_tensorized and kernel.copies * width <= MAX_COPIES and c.chance(25):
            kernel.copies *= width
            if last.extent != width:
                last = self.split(place, last, width)[1]
            place.stage.vectorize(last.axis)
            last.is_plain = False
        for loop in place.loops:
            copies = kernel.copies * (loop.extent or 4)
            fits = not loop.tag and loop.is_plain and not loop.is_symbolic
            if fits and copies <= MAX_COPIES and c.chance(15):
                place.stage.unroll(loop.axis)
                loop.is_plain = False
                kernel.copies = copies
        plain = [loop for loop in place.loops if not loop.tag and loop.is_plain]
        if plain and kernel.copies * 3 <= MAX_COPIES and c.chance(10):
            loop = c.pick(plain)
            place.stage.loop_partition(loop.axis)
            loop.is_plain = False
            kernel.copies *= 3
        if c.chance(8):
            steps = c.integer(0, MAX_COPIES // kernel.copies)
            place.stage.pragma(c.pick(place.loops).axis, "auto_unroll_max_step", steps)
            kernel.copies *= max(steps, 1)
