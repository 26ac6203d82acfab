"""The IR of a schedule: one op of the `schedule` dialect a primitive, verified as it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir

from ...errors import ScheduleError
from ...ir import schedule as ops
from ...ir.diagnostics import MLIRError, diagnostics_of
from ...messages.location import Source

__all__ = ["append", "clone_for", "new_module"]


def new_module(context: ir.Context, source: Source) -> tuple[ir.Module, ir.Operation]:
    """A module with an empty `schedule.of`; the function's name is set when it is known."""
    with context, ir.Location.file(source.file, source.line, 0):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            of = ops.OfOp(ir.FlatSymbolRefAttr.get("main"))
            of.regions[0].blocks.append()
    made: ir.Operation = of.operation
    return module, made


def clone_for(of: ir.Operation, function: str) -> None:
    """A copy of the schedule at the current insertion point, as that of `function`."""
    copy = of.clone()
    copy.attributes["function"] = ir.FlatSymbolRefAttr.get(function)


def append(of: ir.Operation, build: Callable[..., ir.OpView], source: Source, args: Sequence[object]) -> Any:
    """The results of `build(*args)` at the end of the schedule: None, a value, or a list of values."""
    block = of.regions[0].blocks[0]
    with of.context, ir.Location.file(source.file, source.line, 0), ir.InsertionPoint(block):
        op = build(*args).operation
        try:
            op.verify()
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            op.erase()
            raise ScheduleError("\n".join(map(str, found)), "schedule", found) from None
    results = list(op.results)
    return None if not results else results[0] if len(results) == 1 else results


def erase_unused(values: Sequence[ir.Value]) -> bool:
    """Takes back the ops of handles that nothing uses; False where one is used."""
    owners = list({hash(value.owner): value.owner for value in values}.values())
    if any(True for owner in owners for result in owner.results for _ in result.uses):
        return False
    for owner in owners:
        owner.erase()
    return True


def _named(name: str) -> ir.Location:
    current = ir.Location.current
    return ir.Location.name(name, current)


def _strings(names: Sequence[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])


def _axis_type() -> ir.Type:
    return ir.Type.parse("!schedule.axis")


def _integer(value: int | None) -> ir.IntegerAttr | None:
    return None if value is None else ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _scope(scope: str) -> ir.Attribute:
    """A fragment is in the registers of a warp's lanes."""
    return ir.Attribute.parse(f"#schedule.scope<{'local' if scope.startswith('wmma.') else scope}>")


def _noted(op: ir.OpView, scope: str) -> ir.OpView:
    """What kind of fragment TVM's word names, for those who read the schedule."""
    if scope.startswith("wmma."):
        text = f"#schedule.fragment<{scope.removeprefix('wmma.')}>"
        op.operation.attributes["schedule.fragment"] = ir.Attribute.parse(text)
    return op


def stage(name: str) -> ir.OpView:
    return ops.StageOp(ir.StringAttr.get(name), loc=_named(name))


def axes(of: ir.Value, names: Sequence[str]) -> ir.OpView:
    return ops.AxesOp([_axis_type()] * len(names), of, _strings(names))


def reduce_axes(of: ir.Value, names: Sequence[str]) -> ir.OpView:
    return ops.ReduceAxesOp([_axis_type()] * len(names), of, _strings(names))


def split(axis: ir.Value, factor: int | str | None, nparts: int | str | None, disable_predication: bool) -> ir.OpView:
    """By a number, or by the name of a symbol."""
    names = {
        name: ir.StringAttr.get(given)
        for name, given in (("factor_symbol", factor), ("nparts_symbol", nparts))
        if isinstance(given, str)
    }
    numbers = {
        name: _integer(given) for name, given in (("factor", factor), ("nparts", nparts)) if isinstance(given, int)
    }
    return ops.SplitOp(axis, **numbers, **names, disable_predication=disable_predication or None)


def tile(x: ir.Value, y: ir.Value, x_factor: int, y_factor: int) -> ir.OpView:
    return ops.TileOp(x, y, _integer(x_factor), _integer(y_factor))


def singleton(of: ir.Value, name: str) -> ir.OpView:
    return ops.SingletonOp(of, loc=_named(name))


def fuse(fused: Sequence[ir.Value], name: str) -> ir.OpView:
    return ops.FuseOp(fused, loc=_named(name))


def reorder(order: Sequence[ir.Value], name: str) -> ir.OpView:
    return ops.ReorderOp(order, loc=_named(name))


def bind(axis: ir.Value, name: str, thread: str, extent: int | None, reduce_add: bool) -> ir.OpView:
    tag = "vthread" if thread.startswith("vthread") else thread
    index = ir.Attribute.parse(f"#schedule.thread<{tag}>")
    return ops.BindOp(axis, index, extent=_integer(extent), reduce_add=reduce_add, loc=_named(name))


def vectorize(axis: ir.Value, name: str) -> ir.OpView:
    return ops.VectorizeOp(axis, loc=_named(name))


def unroll(axis: ir.Value, name: str) -> ir.OpView:
    return ops.UnrollOp(axis, loc=_named(name))


def loop_partition(axis: ir.Value, name: str) -> ir.OpView:
    return ops.LoopPartitionOp(axis, loc=_named(name))


def parallel(axis: ir.Value, name: str) -> ir.OpView:
    return ops.ParallelOp(axis, loc=_named(name))


def auto_unroll(axis: ir.Value, name: str, max_step: int) -> ir.OpView:
    return ops.AutoUnrollOp(axis, _integer(max_step), loc=_named(name))


def set_store_predicate(of: ir.Value, name: str, thread: str, first: int, end: int | None) -> ir.OpView:
    tag = ir.Attribute.parse(f"#schedule.thread<{thread}>")
    return ops.SetStorePredicateOp(of, tag, from_=_integer(first or None), to=_integer(end), loc=_named(name))


def decompose_reduction(of: ir.Value, axis: ir.Value, name: str) -> ir.OpView:
    return ops.DecomposeReductionOp(of, axis, loc=_named(name))


def reverse_compute_at(of: ir.Value, name: str, producer: ir.Value, axis: ir.Value) -> ir.OpView:
    return ops.ReverseComputeAtOp(of, producer, axis, loc=_named(name))


def reverse_compute_inline(of: ir.Value, name: str, producer: ir.Value) -> ir.OpView:
    return ops.ReverseComputeInlineOp(of, producer, loc=_named(name))


def cache_read(tensor: str, scope: str, readers: Sequence[ir.Value], name: str) -> ir.OpView:
    tensor_name, stage_name = ir.StringAttr.get(tensor), ir.StringAttr.get(name)
    return _noted(ops.CacheReadOp(tensor_name, _scope(scope), readers, stage_name, loc=_named(name)), scope)


def cache_write(of: ir.Value, scope: str, name: str) -> ir.OpView:
    return _noted(ops.CacheWriteOp(of, _scope(scope), ir.StringAttr.get(name), loc=_named(name)), scope)


def rfactor(of: ir.Value, axis: ir.Value, factor_axis: int, name: str) -> ir.OpView:
    return ops.RfactorOp(of, axis, _integer(factor_axis), ir.StringAttr.get(name), loc=_named(name))


def rolling_update(axis: ir.Value, of: ir.Value, name: str) -> ir.OpView:
    return ops.RollingUpdateOp(axis, of, loc=_named(name))


def set_scope(of: ir.Value, name: str, scope: str) -> ir.OpView:
    return _noted(ops.SetScopeOp(of, _scope(scope), loc=_named(name)), scope)


def compute_at(of: ir.Value, name: str, consumer: ir.Value, axis: ir.Value) -> ir.OpView:
    return ops.ComputeAtOp(of, consumer, axis, loc=_named(name))


def compute_inline(of: ir.Value, name: str) -> ir.OpView:
    return ops.ComputeInlineOp(of, loc=_named(name))


def compute_root(of: ir.Value, name: str) -> ir.OpView:
    return ops.ComputeRootOp(of, loc=_named(name))


def launch_bounds(of: ir.Value, name: str, min_blocks: int) -> ir.OpView:
    return ops.LaunchBoundsOp(of, _integer(min_blocks), loc=_named(name))


def storage_align(of: ir.Value, axis: ir.Value, name: str, factor: int, offset: int) -> ir.OpView:
    return ops.StorageAlignOp(of, axis, _integer(factor), _integer(offset), loc=_named(name))


def double_buffer(of: ir.Value, name: str) -> ir.OpView:
    return ops.DoubleBufferOp(of, loc=_named(name))


def software_pipeline(axis: ir.Value, name: str, depth: int, use_async: bool) -> ir.OpView:
    return ops.SoftwarePipelineOp(axis, _integer(depth), async_=use_async, loc=_named(name))


def tensorize(axis: ir.Value, name: str, intrinsic: str, functions: str) -> ir.OpView:
    op = ops.TensorizeOp(axis, ir.StringAttr.get(intrinsic), loc=_named(name))
    block: ir.Block = op.regions[0].blocks.append()
    for function in ir.Module.parse(functions).body:
        block.append(function.operation.clone(ip=False))
    return op


def transform_layout(of: ir.Value, name: str, layout: ir.AffineMap) -> ir.OpView:
    return ops.TransformLayoutOp(of, ir.AffineMapAttr.get(layout), loc=_named(name))


def swizzle(of: ir.Value, name: str, granule: int) -> ir.OpView:
    return ops.SwizzleOp(of, _integer(granule), loc=_named(name))


def copy_by(of: ir.Value, name: str, copier: str, swizzle: int, columns: int | None, deferred: bool) -> ir.OpView:
    engine = ir.Attribute.parse(f"#schedule.copier<{copier}>")
    part = None if columns is None else _integer(columns)
    return ops.CopyByOp(engine, of, _integer(swizzle), columns=part, deferred=deferred, loc=_named(name))


def specialize(axis: ir.Value, name: str, producer: int, consumer: int, consumers: int) -> ir.OpView:
    sets = None if consumers == 1 else _integer(consumers)
    return ops.SpecializeOp(axis, _integer(producer), _integer(consumer), consumers=sets, loc=_named(name))


def cluster(axis: ir.Value, name: str, blocks: int) -> ir.OpView:
    return ops.ClusterOp(axis, _integer(blocks), loc=_named(name))


def persistent(
    of: ir.Value, name: str, blocks: int, raster: str, group: int, stream_k: bool, narrower: int, serpentine_k: bool
) -> ir.OpView:
    order = ir.Attribute.parse(f"#schedule.raster<{raster}>")
    return ops.PersistentOp(
        of,
        _integer(blocks),
        order,
        _integer(group),
        streamK=stream_k,
        narrower=_integer(narrower) if narrower else None,
        serpentineK=serpentine_k,
        loc=_named(name),
    )


def rolling_buffer(of: ir.Value, name: str) -> ir.OpView:
    return ops.RollingBufferOp(of, loc=_named(name))


def prefetch(of: ir.Value, name: str, tensor: str, axis: ir.Value, offset: int) -> ir.OpView:
    return ops.PrefetchOp(of, ir.StringAttr.get(tensor), axis, _integer(offset), loc=_named(name))


def env_threads(of: ir.Value, name: str, thread: str, extent: int) -> ir.OpView:
    tag = ir.Attribute.parse(f"#schedule.thread<{thread}>")
    return ops.EnvThreadsOp(of, tag, _integer(extent), loc=_named(name))


def pad_einsum(of: ir.Value, padding: Sequence[int], names: Sequence[str], name: str) -> ir.OpView:
    kinds = [ir.Type.parse("!schedule.stage")] * len(names)
    return ops.PadEinsumOp(kinds, of, ir.DenseI64ArrayAttr.get(padding), _strings(names), loc=_named(name))
