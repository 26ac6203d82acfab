"""A schedule as the calls that made it: Python that rebuilds it, and JSON to keep it in."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import TilewrightError
from ...errors import TilewrightValueError as ValueError
from ...guards import is_list, is_listed, is_mapping
from ...ir.launch_options import launch_options
from ...ir.schedule_calls import CALLS_OF_SCHEDULE, CALLS_OF_STAGE
from ...messages.printable import printable
from ..expr import Var
from ..program import operations, symbols_of
from .input_layouts import input_layout_texts
from .primitives import identifiers, primitives
from .steps import Reader, Step

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["Step", "Trace", "trace_of"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Trace:
    """What was done to a schedule, in order. `Schedule.trace` makes it.

    `tensors` maps the name of a tensor to its variable. The variable of an operation with several tensors is their
    tuple. `outputs` are the tensors that the schedule was created for.

    >>> from tilewright import te
    >>> A = te.placeholder((64,), name="A")
    >>> B = te.compute((64,), lambda i: A[i] + 1, name="B")
    >>> s = te.create_schedule(B.op)
    >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
    >>> s[B].bind(outer, te.thread_axis("blockIdx.x"))
    >>> print(s.trace())
    s = te.create_schedule(B.op)
    (i,) = s[B].op.axis
    i_outer, i_inner = s[B].split(i, factor=16)
    s[B].bind(i_outer, te.thread_axis("blockIdx.x"))
    >>> again = te.create_schedule(B.op)
    >>> Trace.from_json(s.trace().to_json()).apply(again)
    >>> again.ir() == s.ir()
    True
    """

    tensors: Mapping[str, str]
    several: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        ops = [f"{name}[0].op" if name in self.several else f"{name}.op" for name in self.outputs]
        first = f"s = te.create_schedule({ops[0] if len(ops) == 1 else '[' + ', '.join(ops) + ']'})"
        return "\n".join([first, *map(str, self.written())])

    def written(self) -> list[Step]:
        """The steps as Python writes them: the stage of several tensors is that of the first."""
        named = {name: f"{name}[0]" for name in self.several}

        def written(step: Step, arg: Any) -> Any:
            if is_list(arg) and step.call == "cache_read":  # its readers, each a tensor of a stage
                return [{"tensor": named.get(one["tensor"], one["tensor"])} for one in arg]
            if is_mapping(arg) and "stage" in arg:
                return {"stage": named.get(arg["stage"], arg["stage"])}
            return arg

        steps: list[Step] = []
        for step in self.steps:
            args = tuple(written(step, arg) for arg in step.args)
            stage = step.stage if step.stage is None else named.get(step.stage, step.stage)
            steps.append(Step(step.call, stage, args, step.options, step.makes))
        return steps

    def to_json(self) -> str:
        """The trace as JSON."""
        content = {"version": _VERSION, **asdict(self)}
        return json.dumps(content, indent=1)

    @staticmethod
    def from_json(text: str) -> Trace:
        """The trace that `to_json` wrote as `text`. Raises ValueError for anything else."""
        said = "expected the JSON of a schedule's trace, got something else"
        try:
            content = json.loads(text)
        except (TypeError, RecursionError, builtins.ValueError) as error:  # of more digits than Python reads, too
            raise ValueError(f"{said}: {error!r}") from None
        try:
            version = content["version"]
            if version != _VERSION:
                raise ValueError(f"expected a trace of version {_VERSION}, got version {version!r}")
            steps = tuple(
                Step(_call(one), one["stage"], tuple(one["args"]), dict(one["options"]), _names(one["makes"]))
                for one in content["steps"]
            )
            tensors = dict(zip(_names(content["tensors"]), _names(content["tensors"].values())))
            return Trace(tensors, _names(content["several"]), _names(content["outputs"]), steps)
        except TilewrightError:
            raise
        except (KeyError, TypeError, AttributeError, builtins.ValueError) as error:
            raise ValueError(f"{said}: {error!r}") from None

    def save(self, path: str | Path) -> None:
        """Writes the JSON to the file `path`."""
        Path(path).write_text(self.to_json() + "\n")

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Reads what `save` wrote to the file `path`. Raises ValueError for a file of anything else."""
        return Trace.from_json(Path(path).read_text())

    def apply(self, schedule: Schedule) -> None:
        """Applies the trace to a new schedule of `te.create_schedule`, for a program with tensors of the same names.

        Raises ValueError if the program has other tensors, or the schedule is not new. It also raises ValueError if an
        intrinsic does not compute what it describes, or has ops that it may not have. Raises ScheduleError if a
        primitive does not fit, such as for another number of axes.
        """
        if any(True for _ in primitives(schedule.operation)):
            raise ValueError("expected a schedule without primitives, got one that has some")
        ops = {name: op for op, name in schedule.names.items()}
        missing = [name for name in self.tensors.values() if name not in ops]
        if missing:
            raise ValueError(f"expected a program with the tensors {', '.join(missing)}, got {', '.join(ops)}")
        known: dict[str, Any] = {}
        for variable, name in self.tensors.items():
            op = ops[name]
            known[variable] = [op.output(i) for i in range(op.num_outputs)] if op.num_outputs > 1 else op.output(0)
        for step in self.steps:
            try:
                made = self._call(schedule, step, known)
            except TilewrightError:
                raise
            except (LookupError, TypeError, AttributeError) as error:
                # A file may say anything; a primitive itself raises errors of this package.
                told = f"{type(error).__name__}: {error}"
                raise ValueError(f"expected a step of this schedule's, got {repr(step)[:400]}: {told}") from None
            results = () if made is None else made if is_listed(made) else (made,)
            if len(step.makes) == 1 and made is not None and step.call not in ("axis", "reduce_axis"):
                results = (made,)
            if step.makes and len(results) != len(step.makes):
                told = printable(str(step))[:400]
                raise ValueError(f"expected {len(step.makes)} results of '{told}', got {len(results)}")
            known.update(zip(step.makes, results))

    @staticmethod
    def _call(schedule: Schedule, step: Step, known: Mapping[str, Any]) -> Any:
        def stage(variable: str) -> Any:
            tensor = known[variable]
            return schedule[tensor[0] if isinstance(tensor, (list, tuple)) else tensor]

        def value(arg: Any) -> Any:
            if is_list(arg) and step.call == "cache_read":  # its readers, each a tensor of a stage
                return [stage(one["tensor"]) for one in arg]
            if not is_mapping(arg):
                return arg
            if "stage" in arg:
                return stage(arg["stage"])
            if "symbol" in arg:
                return _symbol(schedule, arg["symbol"])
            if "intrin" in arg:
                from ..intrinsic_ir import intrinsic_from_file

                return intrinsic_from_file(arg["intrin"], arg["functions"])
            if "first" in arg:
                from ..conditions import all as te_all
                from ..variables import thread_axis

                index, first, end = thread_axis(arg["first"]), arg.get("from", 0), arg.get("to", 1)
                return te_all(index >= first, *(() if end is None else (index < end,)))
            if "thread" in arg:
                from ..variables import thread_axis

                tag, extent = arg["thread"], arg["extent"]
                return thread_axis(tag) if extent is None else thread_axis((0, extent), tag)
            return known[arg.get("axis") or arg["tensor"]]

        receiver: Any = schedule if step.stage is None else stage(step.stage)
        if step.call in ("axis", "reduce_axis"):
            return getattr(receiver.op, step.call)
        options = {name: value(option) for name, option in step.options.items()}
        return getattr(receiver, step.call)(*map(value, step.args), **options)


def _names(found: Iterable[Any]) -> tuple[str, ...]:
    """Names that were read, as a program's names are written."""
    names = tuple(found)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"expected names in the JSON of a schedule's trace, got {name!r}")
    return tuple(map(printable, names))


def _symbol(schedule: Schedule, name: str) -> Var:
    """The symbol that the program calls so."""
    for op in operations(schedule.outputs):
        for symbol in symbols_of(op):
            if symbol.name == name:
                return symbol
    raise ValueError(f"expected a program with te.var {name!r}, by which the trace splits, got one without")


def _call(step: Mapping[str, Any]) -> str:
    """The call of a step that was read: a file is data, and may call the primitives alone."""
    call, of_schedule = step["call"], step["stage"] is None
    if call not in (CALLS_OF_SCHEDULE if of_schedule else CALLS_OF_STAGE):
        raise ValueError(f"expected a primitive of {'a schedule' if of_schedule else 'a stage'}, got {call!r}")
    return call


def trace_of(schedule: Schedule) -> Trace:
    """The trace of a schedule, from its IR."""
    program = operations(schedule.outputs)
    words = identifiers(schedule.names.values())
    variables = {op: words[schedule.names[op]] for op in program}
    reader = Reader(words, [variables[op] for op in program if op.num_outputs > 1])
    steps = [step for primitive in primitives(schedule.operation) if (step := reader.step(primitive)) is not None]
    layouts = input_layout_texts(schedule)
    steps[:0] = [Step("transform_layout", words[name], (layout,)) for name, layout in layouts.items()]
    reader.used.update(layouts)
    if options := launch_options(schedule.operation):
        steps.append(Step("launch", None, (), options))
    used = {schedule.names[op] for op in schedule.outputs} | reader.used
    kept = [op for op in program if schedule.names[op] in used]
    return Trace(
        {variables[op]: schedule.names[op] for op in kept},
        tuple(reader.several),
        tuple(variables[op] for op in schedule.outputs),
        tuple(steps),
    )
