"""The schedule of a program, made by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..target import Target
from ..te.schedule import Schedule, create_schedule
from ..te.tensor import Operation, Tensor
from .context import Context, Rule
from .contraction import contraction_of
from .cpu import CPU_RULES
from .elementwise import Elementwise, Fallback, Transposed
from .facts import Program
from .groups import groups_of
from .plan import Decision, Plan
from .reductions import Reductions, SplitReduction
from .scans import Statements
from .simt import TiledContraction
from .tensor_cores import TensorCores

__all__ = ["auto_schedule"]

_GPU_RULES: tuple[Rule, ...] = (
    Statements(),
    TensorCores(),
    TiledContraction(),
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
) -> Schedule:
    """A schedule for the program that computes `outputs`, made by rules, without measuring.

    It is an ordinary `Schedule`: it prints, it can be changed and built. ``s.explain()`` says which rule made what, and
    ``s.plan`` is the same as data. The same program and target give the same schedule.

    Parameters
    ----------
    outputs
        Tensors of `te.compute`, `te.scan` or `te.extern`, or their operations, of any shape and type. Extents may be
        symbolic.
    target
        What it is for: tiles, threads and instructions are those of the target's device. By default as `tw.build` has
        it.
    settings
        Values in the place of those that the rules choose, by the name of a stage: ``{"C": {"threads": 128}}``. The
        plan has the names and the values that are allowed.

    Raises
    ------
    TypeError
        For something that is no output.
    ValueError
        For a setting that the plan does not have.

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
(along='threads along the reduction', threads=128, rows=2)
    """
    where = Target.of(target)
    s = create_schedule(outputs)  # type: ignore[arg-type]
    program = Program(s.outputs)
    gpu = where.device
    context = Context(where, gpu, program, gpu.sms * gpu.threads_per_sm if gpu else 1)
    rules = _GPU_RULES if gpu else CPU_RULES
    anchors = [stage.op for stage in program if contraction_of(stage) is not None]
    groups = groups_of(program, context.threads, anchors)
    decided: list[tuple[Rule, Decision]] = []
    for group in groups:
        decided.append(next((rule, found) for rule in rules if (found := rule.decide(context, group)) is not None))
    plan = Plan(str(where), gpu.name if gpu else "", tuple(decision for _, decision in decided))
    if settings:
        plan = plan.with_(settings)
    # Readers first: what a kernel inlines has to be there when others are made of it.
    for group, (rule, _), decision in reversed(list(zip(groups, decided, plan.decisions))):
        rule.apply(context, s, group, decision)
    s.plan = plan
    return s
