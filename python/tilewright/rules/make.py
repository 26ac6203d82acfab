"""The schedule of a program, made by rules."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..records import Journal, device_name, identify, in_order, settings_of
from ..target import Target
from ..te.schedule import Schedule, create_schedule
from ..te.tensor import Operation, Tensor
from .attention import Attention, attention_in
from .classes import in_classes, rows_in
from .context import Context, Rule, TiledConvolution
from .contraction import contraction_of
from .convolutions import Tiled
from .cpu import CPU_RULES
from .elementwise import Elementwise, Fallback, Transposed
from .facts import Program
from .groups import Group, groups_of
from .launches import is_short
from .losses import SumsByRows, sums_by_rows
from .matrices import as_matrices
from .plan import Decision, Plan
from .reductions import Reductions
from .reductions_in_parts import SplitReduction
from .running import Running, running_in
from .scans import Statements
from .simt import TiledContraction
from .staging import operands_to_store
from .tensor_cores import TensorCores
from .transposed_results import as_stored_in_rows
from .vector_tiles import VectorTiles
from .warpgroup_convolutions import CopiedPixels, WarpgroupConvolutions, convolutions_in, store_operands
from .warpgroups import Warpgroups
from .windows import Windows, is_staged

__all__ = ["auto_schedule"]

_GPU_RULES: tuple[Rule, ...] = (
    Statements(),
    WarpgroupConvolutions(),
    CopiedPixels(),
    Warpgroups(),
    TensorCores(),
    VectorTiles(),
    TiledContraction(),
    Windows(),
    SplitReduction(),
    Reductions(),
    Transposed(),
    Elementwise(),
    Fallback(),
)


def auto_schedule(
    outputs: Tensor | Operation | Sequence[Tensor | Operation],
    target: Target | str | None = None,
    *,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    rules: Sequence[Rule] = (),
    database: str | os.PathLike[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Schedule:
    """A schedule for the program that computes `outputs`, made by rules, without measuring.

    The result is an ordinary `Schedule`, which you can print, change and build. ``s.explain()`` says which rule chose
    what, and ``s.plan`` is the same as data. The same program and target always give the same schedule.

    With a symbolic extent, the schedule is for all values. ``s.classes`` are schedules for classes of the rows of
    matmuls, of which ``tw.build(s.classes, args)`` makes one function that chooses by the extents of a call.

    A softmax between two matmuls of 16-bit floats becomes one kernel on sm_90a, as attention has it, with any change of
    the scores between. The schedule is then of a program with the same results. Its maximum, sum and values have scores
    of their own, and the division comes last.

    Sums of products of float32 are exact to rounding, unless ``te.compute(..., attrs={"precision": "tf32"})`` allows
    tensor cores to round their factors to tf32.

    Parameters
    ----------
    outputs
        Tensors of `te.compute`, `te.scan` or `te.extern`, or their operations, of any shape and type. Extents may be
        symbolic.
    target
        The target; its device decides the tiles, threads and instructions. The default is that of `tw.build`.
    settings
        Values that replace those of the rules, by the name of a stage: ``{"C": {"threads": 128}}``. The plan lists the
        names and the allowed values. The setting ``"rule"`` selects another rule that applies to the stage.
    rules
        Your own rules (`tilewright.rules.Rule`), which are tried before the built-in ones.
    database
        A file that `tw.tune` wrote. If it has records of this program on this device, the settings of the fastest one
        replace those of the rules. `settings` takes precedence over both. Only programs that were tuned with their
        arguments in the default order, inputs and then outputs, are found.
    sizes
        The values of the symbolic extents for which the program was tuned, as for `tw.tune`.

    Raises
    ------
    TypeError
        Something among the outputs is not an output.
    ValueError
        The plan has no such setting, the database does not exist, or sizes are given without a database.
    JournalError
        The database cannot be read.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> X = te.placeholder((1024, 512), name="X")
    >>> k = te.reduce_axis((0, 512), name="k")
    >>> total = te.compute((1024,), lambda i: te.sum(X[i, k], axis=k), name="total")
    >>> Y = te.compute((1024,), lambda i: total[i] * 2, name="Y")
    >>> s = tw.auto_schedule(Y, "cuda -device=H200")
    >>> print(s.explain())
    scheduled by rules for cuda -arch=sm_90a -device=H200, NVIDIA H200
      reduction: Y, total: 1024 results of 512 elements each, whose elements lie together \
(along='threads along the reduction', threads=128, rows=2, lanes=4)
    """
    where = Target.of(target)
    if sizes is not None and database is None:
        raise ValueError("expected sizes beside a database, got them alone")
    if database is not None:
        for recorded in _recorded(outputs, where, database, sizes or {}):
            merged = {
                stage: {**recorded.get(stage, {}), **(settings or {}).get(stage, {})}
                for stage in {**recorded, **(settings or {})}
            }
            # Records may be of a space of the user's own, or of rules that have changed since.
            with contextlib.suppress(ValueError):
                return auto_schedule(outputs, target, settings=merged, rules=rules)

    def make() -> Schedule:
        return _schedule_of(outputs, where, settings or {}, rules)

    s = make()
    symbol = rows_in(Program(s.outputs)) if s.plan is not None else None
    if symbol is not None:
        s.make_classes = lambda: tuple(in_classes(symbol, make, lambda made: made))
    return s


def _schedule_of(
    outputs: Tensor | Operation | Sequence[Tensor | Operation],
    where: Target,
    settings: Mapping[str, Mapping[str, Any]],
    rules: Sequence[Rule],
) -> Schedule:
    """The schedule of the rules, for the values that symbols have now."""
    s = create_schedule(outputs)  # type: ignore[arg-type]
    gpu = where.device
    found = None if rules else attention_in(s.outputs, gpu) or running_in(s.outputs, gpu)
    asked = {values["rule"] for values in settings.values() if "rule" in values}
    if found is not None and asked <= {found.name}:
        return _of_whole(found, s.outputs[0], where, settings)
    program, sums = Program(s.outputs), SumsByRows()
    if gpu is not None and not rules:
        sums = sums_by_rows(program)
        if sums.instead:
            s = _with(s, sums.instead)
            program = Program(s.outputs)
        in_rows = as_stored_in_rows(program)
        if in_rows:
            s = _with(s, in_rows)
            program = Program(s.outputs)
    threads = gpu.sms * gpu.threads_per_sm if gpu else 1
    short = is_short([op.output(0) for op in s.outputs], where)
    convolutions: Mapping[Operation, tuple[Decision, Tiled]] = {}
    if gpu is not None and not rules:
        with where:
            convolutions = convolutions_in(Program(s.outputs), gpu, threads, settings, is_short=short)
    matrices = as_matrices(program, s.outputs, gpu, {op: tiled for op, (_, tiled) in convolutions.items()})
    if matrices.instead:
        s = _with(s, matrices.instead)
        program = Program(s.outputs)
        program.views, program.together, program.digits = matrices.views, matrices.together, matrices.digits
        program.apart = matrices.apart
        for op in matrices.copied:
            program.stages[op].is_stored = True
    if gpu is not None and not rules:
        for stage in operands_to_store(program, gpu):
            stage.is_stored = True
    for row in sums.rows:
        program.stages[s.instead.get(row, row)].is_stored = True
    tiles = {
        one.total.op: TiledConvolution(convolutions[op][0], one, matrices.stored.get(op))
        for op, one in matrices.tiles.items()
    }
    for one in tiles.values():
        store_operands(program, one.stages.found, one.stages.copied)
        for tensor in (one.stages.total, one.stored):
            if tensor is not None:
                program.stages[tensor.op].is_in_tiles = True
    context = Context(where, gpu, program, threads, tiles)
    all_rules = (*rules, *(_GPU_RULES if gpu else CPU_RULES))
    anchors = [stage.op for stage in program if contraction_of(stage) is not None]
    groups = groups_of(
        program, context.threads, anchors, matrices.matmuls, *([is_staged] if gpu else []), is_processor=gpu is None
    )  # fmt: skip
    wanted = {stage: values["rule"] for stage, values in settings.items() if "rule" in values}
    decided = [_decide(context, all_rules, group, wanted) for group in groups]
    plan = Plan(str(where), gpu.name if gpu else "", tuple(decision for _, decision in decided))
    for stage in wanted:
        plan.of(stage)  # else there is no such stage
    if settings:
        others = {
            stage: {name: value for name, value in values.items() if name != "rule"}
            for stage, values in settings.items()
        }
        plan = plan.with_(others)
    # Readers first: what a kernel inlines has to be there when others are made of it.
    with where:
        for group, (rule, _), decision in reversed(list(zip(groups, decided, plan.decisions))):
            rule.apply(context, s, group, decision)
    if len(groups) > 1 and short:
        s.launch(dependent=True)
    s.plan = plan
    return s


def _with(s: Schedule, instead: Mapping[Operation, Operation]) -> Schedule:
    """A schedule of the program that has others in the place of some operations."""
    made = create_schedule([instead.get(op, op) for op in s.outputs])
    made.instead = {**instead} | {op: instead.get(now, now) for op, now in s.instead.items()}
    return made


def _of_whole(
    found: Attention | Running, output: Operation, target: Target, settings: Mapping[str, Mapping[str, Any]]
) -> Schedule:
    """The schedule of a program of equal results, for which there is one as a whole."""
    gpu = target.device
    others = {stage: {name: v for name, v in values.items() if name != "rule"} for stage, values in settings.items()}
    plan = Plan(str(target), gpu.name if gpu else "", (found.decision(),)).with_(others)
    with target:
        s, result = found.schedule(plan.decisions[0])
    s.instead[output] = result.op
    s.plan = plan
    return s


def _recorded(
    outputs: Tensor | Operation | Sequence[Tensor | Operation],
    target: Target,
    database: str | os.PathLike[str],
    sizes: Mapping[str, int],
) -> list[dict[str, dict[str, Any]]]:
    """The settings of the records of a program, the fastest first."""
    if not Path(database).is_file():
        raise ValueError(f"expected the file of a database, got {os.fspath(database)}")
    given = [outputs] if isinstance(outputs, (Tensor, Operation)) else outputs
    tensors = [tensor for one in given for tensor in ([one] if isinstance(one, Tensor) else one.results)]
    _, _, key = identify(tensors, in_order(tensors), sizes)
    with Journal(database) as journal:
        return [settings_of(json.loads(one.choices)) for one in journal.ranked(key, device_name(target))]


def _decide(context: Context, rules: Sequence[Rule], group: Group, wanted: Mapping[str, Any]) -> tuple[Rule, Decision]:
    """The first rule that is for a group; of those with an estimate the fastest; or the one that is `wanted`."""
    found = [(rule, decision) for rule in rules if (decision := rule.decide(context, group)) is not None]
    names = tuple(decision.rule for _, decision in found)
    asked = next((wanted[name] for name in group.names if name in wanted), None)
    if asked is not None:
        if asked not in names:
            raise ValueError(f"{', '.join(group.names)}: expected a rule of {', '.join(names)}, got {asked!r}")
        rule, decision = found[names.index(asked)]
    else:
        rule, decision = found[0]
        if decision.seconds is not None:
            estimated = [one for one in found if one[1].seconds is not None]
            rule, decision = min(estimated, key=lambda one: one[1].seconds or 0.0)
    return rule, replace(decision, rules=decision.rules or names)
