"""Which groups of a model a library computes faster, by records of measurements."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir import ir

from ..compiler.known import compiler_hash
from ..errors import LaunchError
from ..errors import TilewrightValueError as ValueError
from ..ir.passes import run_passes
from ..records import Journal, Trial, Where, device_name
from ..runtime.cuda_driver import driver_version
from ..runtime.libraries import find_library
from ..target import Target
from .definitions import model_function
from .library_calls import LibraryCall, library_call

__all__ = ["FASTER", "Candidate", "candidates_in", "dispatch_to_libraries", "is_faster", "policy_of", "where_of"]

FASTER = 0.98
"""A library computes a group if it takes at most this much of the time of the group's own kernel."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A group of a model that a library can compute: its number, the call, and the key of its program in records."""

    number: int
    call: LibraryCall
    program: str


def candidates_in(text: str, name: str, library: str) -> list[Candidate]:
    """The groups that a library can compute of the model `name`, whose IR with groups is `text`."""
    module = ir.Module.parse(text)
    run_passes(module, f"builtin.module(dispatch-to-library{{library={library}}})", f"optimising {name}", "graph")
    found: list[Candidate] = []
    for number, group in enumerate(_groups_of(module, name)):
        call = library_call(group)
        if call is not None:
            found.append(Candidate(number, call, _program_of(group, library)))
    return found


def _groups_of(module: ir.Module, name: str) -> list[ir.Operation]:
    block = model_function(module, name).regions[0].blocks[0]
    return [one.operation for one in block.operations if one.operation.name == "graph.group"]


def _program_of(group: ir.Operation, library: str) -> str:
    """The key of a group's program: what it computes, whatever its values and operators are called."""
    numbers: dict[ir.Value, int] = {}
    lines: list[str] = [library]
    for one in group.regions[0].blocks[0].operations:
        operation = one.operation
        operands = [f"{numbers.setdefault(value, len(numbers))}: {value.type}" for value in operation.operands]
        attributes: Any = operation.attributes
        kept: dict[str, str] = {name: str(attributes[name]) for name in attributes if name != "graph.definition"}
        for result in operation.results:
            numbers.setdefault(result, len(numbers))
        results = [f"{numbers[result]}: {result.type}" for result in operation.results]
        lines.append(f"{operation.name} {operands} {sorted(kept.items())} {results}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def policy_of(library: str, version: str) -> str:
    """What tells the records of one version of a library from those of another."""
    return json.dumps({"library": library, "version": version, "measured": "in turn, in a call"})


def where_of(program: str, target: Target, library: str, version: str) -> Where:
    """What a record of a measurement on this machine belongs to. Raises LaunchError where there is no driver."""
    from .. import __version__

    compiler = f"tilewright {__version__} {compiler_hash()}"
    return Where(program, device_name(target), driver_version(), compiler, policy_of(library, version))


def is_faster(trials: Sequence[Trial]) -> Trial | None:
    """The newest record, if the library was right and faster with the newest records of all sizes; else None."""
    newest = {trial.choices: trial for trial in trials}
    if not all(trial.status == "ok" and trial.ratio is not None and trial.ratio <= FASTER for trial in newest.values()):
        return None
    return trials[-1] if trials else None


def dispatch_to_libraries(
    module: ir.Module, name: str, target: Target, libraries: Mapping[str, Any], database: str | os.PathLike[str]
) -> None:
    """Lets libraries compute the groups of a model for which they were faster when they were measured.

    Parameters
    ----------
    module
        The model's IR with groups, which is changed.
    name
        The model.
    target
        Where it is to run.
    libraries
        Libraries by name with their files, None for one that is found by its name.
    database
        The file that `Model.tune_libraries` writes.

    Raises ValueError where there is no such file, JournalError where it cannot be read.
    """
    if not Path(database).is_file():
        raise ValueError(f"expected the file of a database, got {os.fspath(database)}")
    with Journal(database) as journal, module.context:
        for library, path in libraries.items():
            version = find_library(library, path).version
            faster: dict[int, Trial] = {}
            for candidate in candidates_in(str(module), name, library):
                trials = _trials(journal, candidate.program, target, library, version)
                trial = is_faster(trials)
                if trial is not None:
                    faster[candidate.number] = trial
            if faster:
                _dispatch(module, name, library, faster)


def _trials(journal: Journal, program: str, target: Target, library: str, version: str) -> list[Trial]:
    """The records of this machine; those of the newest conditions where it has no driver, or no such library."""
    try:
        where = where_of(program, target, library, version) if version else None
    except LaunchError:
        where = None
    if where is None:
        where = journal.newest(program, device_name(target))
    return [] if where is None else journal.trials(where)


def _dispatch(module: ir.Module, name: str, library: str, faster: Mapping[int, Trial]) -> None:
    groups, own, by_library = list[str](), list[str](), list[str]()
    for number, trial in faster.items():
        groups.append(str(number))
        own.append(str(round(statistics.median(trial.against) * 1e9)))
        by_library.append(str(round(statistics.median(trial.seconds) * 1e9)))
    options = f"library={library} groups={','.join(groups)} own-ns={','.join(own)} library-ns={','.join(by_library)}"
    run_passes(module, f"builtin.module(dispatch-to-library{{{options}}})", f"optimising {name}", "graph")
