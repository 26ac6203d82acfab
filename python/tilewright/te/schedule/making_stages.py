"""What the primitives of a schedule do that make stages, or find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import user_source
from ..expr import Expr, IterVar, ReduceItem
from ..program import unique_name
from ..scan_stages import ScanOp
from ..tensor import CacheOp, Operation, PlaceholderOp, Tensor
from . import handles
from .bodies import body_of, elements, over_axes, reduced
from .checks import checked_scope, integer, schedule_error
from .group import Group
from .input_layouts import input_layouts

if TYPE_CHECKING:
    from .program_primitives import TensorOrOp
    from .schedule import Schedule

__all__ = ["cache_read", "cache_write", "create_group", "rfactor"]


def cache_read(schedule: Schedule, tensor: Tensor, scope: str, readers: TensorOrOp | Sequence[TensorOrOp]) -> Tensor:
    """`Schedule.cache_read`."""
    source = user_source()
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{source}: cache_read: expected a tensor, got {tensor!r}")
    scope = checked_scope("cache_read", scope, source)
    op = tensor.op if isinstance(tensor.op, PlaceholderOp) else schedule.find_stage(tensor, "cache_read", source).key
    if op not in schedule.names:
        raise schedule_error(source, f"cache_read: expected a tensor of this schedule, got '{op.name}'")
    if isinstance(op, PlaceholderOp) and schedule.names[op] in input_layouts(schedule):
        raise schedule_error(
            source,
            f"cache_read: expected an input that lies as it was declared, got '{op.name}', which transform_layout has "
            "given another layout: a te.compute of its elements is a copy",
        )
    if isinstance(op, PlaceholderOp) and op.given is not None:
        raise schedule_error(
            source, f"cache_read: expected a tensor that every call gives, got '{op.name}', which is optional"
        )
    if op.num_outputs != 1:
        raise schedule_error(
            source, f"cache_read: expected a stage with one tensor, got '{op.name}' with {op.num_outputs}"
        )
    given = list(readers) if isinstance(readers, Sequence) else [readers]
    stages = [schedule.find_stage(reader, "cache_read", source) for reader in given]
    for stage in stages:
        if op not in schedule.graph.reads[stage.key]:
            reads = ", ".join(f"'{schedule.names[read]}'" for read in schedule.graph.reads[stage.key]) or "nothing"
            raise schedule_error(
                source,
                f"cache_read: expected a reader of '{schedule.names[op]}', "
                f"got stage '{stage.name}', which reads {reads}",
            )
    axis = tuple(IterVar(f"ax{d}", (0, extent), "spatial", source) for d, extent in enumerate(op.shape))
    cache = CacheOp(
        unique_name(f"{schedule.names[op]}.{scope}", schedule.names.values()), op.shape, op.element_types, source
    )
    cache.axis = axis
    cache.body = elements(op, axis)
    value = schedule.apply(
        handles.cache_read, source, schedule.names[op], scope, [stage.handle for stage in stages], cache.name
    )
    schedule.add_stage(cache, value, scope, [op])
    for stage in stages:
        schedule.graph.reads[stage.key] = [cache if read is op else read for read in schedule.graph.reads[stage.key]]
    return cache.output(0)


def cache_write(schedule: Schedule, tensor: Tensor | Sequence[Tensor], scope: str) -> Tensor | list[Tensor]:
    """`Schedule.cache_write`."""
    source = user_source()
    tensors = list(tensor) if isinstance(tensor, Sequence) else [tensor]
    for one in tensors:
        if not isinstance(one, Tensor):
            raise TypeError(f"{source}: cache_write: expected a tensor, got {one!r}")
    scope = checked_scope("cache_write", scope, source)
    stages = list(dict.fromkeys(schedule.find_stage(one, "cache_write", source) for one in tensors))
    if len(stages) != 1:
        raise schedule_error(source, f"cache_write: expected tensors of one stage, got {len(stages)} stages")
    stage = stages[0]
    op, old = stage.key, stage.op
    if isinstance(op, ScanOp):
        raise schedule_error(
            source,
            f"cache_write: expected a stage whose elements can be kept elsewhere, got the scan '{stage.name}', "
            "which reads its own",
        )
    if op.num_outputs != len(tensors):
        raise schedule_error(
            source,
            f"cache_write: expected all {op.num_outputs} tensors of stage '{stage.name}', got {len(tensors)}",
        )
    stage.forget_unused_axes()
    loops = stage.spatial_loops()
    name = unique_name(f"{stage.name}.{scope}", schedule.names.values())
    if loops is None:
        shape = op.shape
        axis = tuple(IterVar(axis.name, axis.dom, axis.kind, source) for axis in old.axis)
    else:  # the tensor lies in the order of the loops
        shape = tuple(loop.dom[1] for loop in loops if loop.dom is not None)
        axis = tuple(IterVar(f"{loop.name}.c", loop.dom, "spatial", source) for loop in loops)
    cache = CacheOp(name, shape, op.element_types, source)
    cache.axis, cache.reduce_axis = axis, old.reduce_axis
    own = dict(zip(old.axis, axis)) if loops is None else stage.axes_at(dict(zip(stage.spatial_leaves(), axis)))
    cache.body = over_axes(body_of(old), {root: value for root, value in own.items() if root.kind != "reduce"})
    value = schedule.apply(handles.cache_write, source, stage.handle, scope, cache.name)
    copy = CacheOp(stage.name, op.shape, op.element_types, op.source)
    copy.axis = old.axis
    at: Sequence[Expr] = old.axis
    if loops is not None:
        at = stage.loops_at(dict(zip(old.axis, old.axis)))
    copy.body = elements(cache, at)
    stage.replace_op(copy)
    schedule.graph.stages[copy] = stage
    schedule.add_stage(cache, value, scope, schedule.graph.reads[op])
    schedule.graph.reads[op] = [cache]
    made = [cache.output(one.value_index) for one in tensors]
    return made if isinstance(tensor, Sequence) else made[0]


def rfactor(
    schedule: Schedule, tensor: Tensor | Sequence[Tensor], axis: IterVar, factor_axis: int
) -> Tensor | tuple[Tensor, ...]:
    """`Schedule.rfactor`."""
    source = user_source()
    tensors = list(tensor) if isinstance(tensor, Sequence) else [tensor]
    for one in tensors:
        if not isinstance(one, Tensor):
            raise TypeError(f"{source}: rfactor: expected a tensor, got {one!r}")
    stages = list(dict.fromkeys(schedule.find_stage(one, "rfactor", source) for one in tensors))
    if len(stages) != 1:
        raise schedule_error(source, f"rfactor: expected tensors of one stage, got {len(stages)} stages")
    stage = stages[0]
    op, old = stage.key, stage.op
    if not old.reduce_axis:
        raise schedule_error(source, f"rfactor: expected a stage with a reduction, got '{stage.name}'")
    position = integer(factor_axis, "rfactor", "factor_axis", source, 0) or 0
    position += len(old.axis) + 1 if position < 0 else 0
    if not 0 <= position <= len(old.axis):
        known = f"from {-len(old.axis) - 1} to {len(old.axis)}"
        raise schedule_error(source, f"rfactor: expected a factor_axis {known}, got {factor_axis}")
    handle = stage.axis_handle(axis, "rfactor", source)
    name = unique_name(f"{stage.name}.rf", schedule.names.values())
    value = schedule.apply(handles.rfactor, source, stage.handle, handle, position, name)
    rest = stage.factored_axes(axis)
    axes = [IterVar(one.name, one.dom, "spatial", source) for one in old.axis]
    axes.insert(position, IterVar(axis.name, axis.dom, "spatial", source))
    cache = CacheOp(name, tuple(one.dom[1] for one in axes if one.dom is not None), op.element_types, source)
    cache.axis, cache.reduce_axis = tuple(axes), rest
    combined = CacheOp(stage.name, op.shape, op.element_types, op.source)
    combined.axis, combined.reduce_axis = old.axis, (axis,)
    if body := body_of(old):
        factored = {**dict(zip(rest, rest)), axis: axes[position]}
        values = dict(zip(old.axis, axes[:position] + axes[position + 1 :]))
        values |= {root: value for root, value in stage.axes_at(factored).items() if root.kind == "reduce"}
        cache.body = over_axes(body, values, rest)
        places = [*old.axis[:position], axis, *old.axis[position:]]
        assert isinstance(body[0], ReduceItem)
        combined.body = reduced(body[0].reduction, elements(cache, places), (axis,))
    stage.replace_op(combined)
    schedule.graph.stages[combined] = stage
    schedule.add_stage(cache, value, "global", schedule.graph.reads[op])
    schedule.graph.reads[op] = [cache]
    return cache.output(0) if cache.num_outputs == 1 else tuple(cache.results)


def create_group(
    schedule: Schedule, outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], include_inputs: bool
) -> Group:
    """`Schedule.create_group`."""
    source = user_source()

    def ops_of(tensors: Tensor | Sequence[Tensor]) -> list[Operation]:
        given = list(tensors) if isinstance(tensors, Sequence) else [tensors]
        for one in given:
            if not isinstance(one, Tensor):
                raise TypeError(f"{source}: create_group: expected a tensor, got {one!r}")
        return [
            one.op if isinstance(one.op, PlaceholderOp) else schedule.find_stage(one, "create_group", source).key
            for one in given
        ]

    ends, found, todo = ops_of(inputs), set[int](), ops_of(outputs)
    reached = {id(op): False for op in ends}
    while todo:
        op = todo.pop()
        if id(op) in reached:
            reached[id(op)] = True
        if id(op) in found or id(op) in reached and not include_inputs:
            continue
        found.add(id(op))
        if id(op) not in reached:
            todo.extend(schedule.graph.reads.get(op, ()))
    for op in ends:
        if not reached[id(op)]:
            raise schedule_error(
                source, f"create_group: expected inputs that the outputs need, got '{schedule.names[op]}'"
            )
    group = Group([stage for stage in schedule.graph.in_order(schedule.outputs) if id(stage.key) in found])
    schedule.graph.groups.append(group)
    return group
