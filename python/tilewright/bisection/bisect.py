"""`tilewright.testing.bisect`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightError, TilewrightTypeError, TilewrightValueError
from ..messages.progress import progress
from .inputs import Inputs
from .program import BisectedProgram
from .result import Bisection
from .search import Found, Search

if TYPE_CHECKING:
    from ..compiler.pipeline import Hook

__all__ = ["bisect"]

_BUILDS = 24
"""How often a program is built to make its sizes smaller."""


@progress("bisecting")
def bisect(
    program: Any,
    args: Sequence[Any] | None = None,
    target: Any = "sim",
    name: str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    inputs: Sequence[Any] | None = None,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
    rtol: float | None = None,
) -> Bisection:
    """Runs a program at each stage on the same random inputs, and finds the stage that differs.

    te runs by NumPy, linalg and loops on the processor, gpu on the simulator, and for target "cuda" the cubin where
    there is a GPU. Of the first stage that differs the passes run one after the other, and the first whose result
    differs is named. The extents that symbols stand for and the elements of the inputs are made as small as they can
    be.

    Parameters
    ----------
    program, args, target, name, after
        As of `tw.build`. With `sizes`, a function from these to the pair (schedule, args); they are made smaller too.
    inputs
        The arrays and numbers to run with, without the outputs; small random numbers where they are left out.
    sizes
        What `program` is called with.
    seed
        Of the random numbers.
    rtol
        How far floats may differ, relative to the largest; 128 times the unit roundoff of their type where it is left
        out.

    Raises
    ------
    TypeError, ValueError
        For arguments that are not as said here, for strided, optional or pointer arguments, and where random inputs
        make a program read outside of a tensor.
    CompileError
        Where the program does not compile.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] + 1, name="B")
    >>> s = te.create_schedule(B.op)
    >>> axis = s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    >>> print(bisect(s, [A, B], name="add"))
    add: each stage computes the same
      te      right: by NumPy
      linalg  right: on the processor
      loops   right: on the processor
      gpu     right: on the simulator
      cubin   not run: target sim has no cubin
    """
    if (sizes is not None) != (callable(program) and args is None):
        raise TilewrightTypeError("expected sizes with a function that makes a schedule and its args, and not without")

    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise TilewrightValueError(f"expected seed to be 0 or more, got {seed!r}")

    def searched(sizes: tuple[int, ...]) -> tuple[Search, Found]:
        made: Any = program
        one, given = made(*sizes) if sizes else (program, args)
        bisected = BisectedProgram(one, given, target, name, after)
        search = Search(bisected, Inputs(bisected.signature, seed, inputs), rtol)
        return search, search.stages()

    now = tuple(sizes) if sizes is not None else ()
    search, found = searched(now)
    builds = 0
    for at in range(len(now) if found.wrong else 0):
        wanted = 1
        while wanted < now[at] and builds < _BUILDS:
            builds += 1
            smaller = (*now[:at], wanted, *now[at + 1 :])
            wanted *= 2
            try:
                again, result = searched(smaller)
            except TilewrightError:  # a size that the program cannot have
                continue
            if result.wrong == found.wrong:
                search, found, now = again, result, smaller
                break
    made = Bisection(search.program.name, found.stages, sizes=now)
    if found.wrong is None or found.right is None:
        return made
    told = search.shrink(found.right, found.wrong)
    passes = search.passes(found.right, found.wrong)
    return replace(made, stage=found.wrong, passes=passes, found=told, inputs=search.inputs.named())
