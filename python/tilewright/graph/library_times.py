"""Groups of a model measured by libraries and by their own kernels, in turn."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import LaunchError, TilewrightError
from ..ir import context
from ..records import Journal, Trial
from ..runtime.device import Device, cuda
from ..runtime.libraries import find_library
from ..runtime.stream import Stream
from ..runtime.timing_graph import time_alternatives
from .library_check import is_right
from .library_records import FASTER, Candidate, candidates_in, where_of
from .library_run import LibraryRun

if TYPE_CHECKING:
    from .groups import Group
    from .model import Model

__all__ = ["LibraryTime", "LibraryTimes", "tune_libraries"]


@dataclass(frozen=True, slots=True)
class LibraryTime:
    """A group that a library can compute: the medians of its times in seconds, by its own kernel and by the library.

    `told` says why there is no time of the library, or why it does not count.

    >>> LibraryTime(group, "cublaslt", 12.5e-6, 9.25e-6).is_faster    # doctest: +SKIP
    True
    """

    group: Group
    library: str
    own_seconds: float
    library_seconds: float = 0.0
    told: str = ""

    @property
    def is_faster(self) -> bool:
        """Whether the library is to compute the group."""
        return not self.told and self.library_seconds <= FASTER * self.own_seconds

    def __str__(self) -> str:
        if self.told:
            return f"{self.own_seconds * 1e6:10.1f} us  {self.library}: {self.told}  {self.group.name}"
        winner = self.library if self.is_faster else "its own kernel"
        times = f"{self.own_seconds * 1e6:10.1f} us  {self.library_seconds * 1e6:.1f} us by {self.library}"
        return f"{times}, by {winner} from now on  {self.group.name}"


@dataclass(frozen=True, slots=True)
class LibraryTimes:
    """The groups of a model that libraries can compute, in their order.

    >>> print(LibraryTimes(()))
    no group that a library can compute
    """

    groups: tuple[LibraryTime, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.groups)) or "no group that a library can compute"


def tune_libraries(
    model: Model, values: Sequence[Any], sizes: Mapping[str, int], libraries: Mapping[str, Any], database: Any,
    repeat: int,
) -> LibraryTimes:  # fmt: skip
    """Measures the groups of a model that libraries can compute, and adds the times to a database.

    Parameters
    ----------
    model
        For target cuda.
    values
        For each group the arguments that it has in a call, after the group has run.
    sizes
        What the symbols are in that call.
    libraries
        Libraries by name with their files, None for one that is found by its name.
    database
        The file of the records, which is created if it does not exist.
    repeat
        In how many rounds each is timed.

    Raises
    ------
    TilewrightError
        Where a library is not found.
    DriverError
        Where a call of the driver fails.
    JournalError
        Where the file cannot be written, or another process writes into it.
    """
    device, found = cuda(0), list[LibraryTime]()
    with Journal(database) as journal, journal.writing():
        for library, path in libraries.items():
            opened = find_library(library, path)
            if opened.problem:
                raise TilewrightError(f"{library} cannot be measured: {opened.problem}")
            with context():
                candidates = candidates_in(model.ir("groups"), model.name, library)
            found += _measured(model, values, sizes, candidates, opened.version, device, journal, repeat)
    return LibraryTimes(tuple(found))


def _measured(
    model: Model, values: Sequence[Any], sizes: Mapping[str, int], candidates: Sequence[Candidate], version: str,
    device: Device, journal: Journal, repeat: int,
) -> list[LibraryTime]:  # fmt: skip
    stream = Stream(device)
    runs: dict[int, LibraryRun] = {}
    refused: dict[int, tuple[str, str]] = {}
    with device.active(), stream:
        for candidate in candidates:
            group, arguments = model.groups[candidate.number], values[candidate.number]
            tensors = arguments[: len(group.inputs) + 1]
            run = LibraryRun(candidate.call, tensors, device)
            stream.synchronize()
            group.function(*arguments)
            own = [one.numpy() for one in tensors]
            try:
                run()
                stream.synchronize()
            except LaunchError as error:
                refused[candidate.number] = "refused", str(error)
                continue
            if told := is_right(candidate.call, own, tensors[-1].numpy()):
                refused[candidate.number] = "wrong", told
                continue
            runs[candidate.number] = run
        own = [partial(group.function, *arguments) for group, arguments in zip(model.groups, values)]
        by_library = [runs.get(number, call) for number, call in enumerate(own)]
        ours, theirs = time_alternatives([own, by_library], device, stream, repeat)
    return [
        _recorded(model, one, sizes, version, journal, ours, theirs, refused, candidates) for one in candidates
    ]  # fmt: skip


def _recorded(
    model: Model, candidate: Candidate, sizes: Mapping[str, int], version: str, journal: Journal, ours: Sequence[Any],
    theirs: Sequence[Any], refused: Mapping[int, tuple[str, str]], candidates: Sequence[Candidate],
) -> LibraryTime:  # fmt: skip
    """The time of a group, which is recorded with those of all groups that are the same."""
    number, call, group = candidate.number, candidate.call, model.groups[candidate.number]
    status, cause = refused.get(number, ("ok", ""))
    same = [one.number for one in candidates if one.program == candidate.program and one.number not in refused]
    own = [seconds for one in same or [number] for seconds in ours[one].results]
    by_library = [] if cause else [seconds for one in same for seconds in theirs[one].results]
    if number == next(one.number for one in candidates if one.program == candidate.program):
        symbols = {symbol.name: sizes[symbol.name] for symbol in group.all_symbols}
        ratio = None if cause else statistics.median(by_library) / statistics.median(own)
        choices = json.dumps({"library": call.library, "sizes": symbols}, sort_keys=True)
        trial = Trial(choices, status, cause, tuple(by_library), tuple(own), ratio)
        journal.add(where_of(candidate.program, model.target, call.library, version), trial)
    seconds = 0.0 if cause else statistics.median(by_library)
    return LibraryTime(group, call.library, statistics.median(own), seconds, cause)
