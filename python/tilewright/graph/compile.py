"""From a graph to a compiled model: the passes, and a program for each group."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlir import ir

from ..errors import TilewrightValueError as ValueError
from ..ir.passes import run_passes
from ..messages.progress import progress
from ..runtime.libraries import as_libraries
from ..target import Target
from .builder import Graph
from .definitions import define, model_function
from .groups import Group, constants_outside, read_groups
from .library_records import dispatch_to_libraries
from .memory_needs import lives_of
from .model import Model
from .plan import Plan, PlannedBuffer
from .types import TensorType, from_ir
from .views import Parts, parts_in
from .weights import weight_of

__all__ = ["PASSES", "STAGES", "compile_graph", "ir_of_graph", "passes_for"]

_SIMPLIFY = (
    "canonicalize", "cse", "raise-attention", "merge-matmuls", "fuse-quantization", "channels-last", "sink-reshapes",
    "order-results", "fold-weights",
)  # fmt: skip
_LAST = ("fold-groups", "view-reshapes", "order-groups", "plan-memory", "form-cuda-graph")
PASSES = (*_SIMPLIFY, "fuse-operators", *_LAST)
"""The passes on a graph, in their order. Each can be switched off. `channels-last` is for a processor and for GPUs with
tensor cores alone, and `form-cuda-graph` for target cuda."""

# What a processor has otherwise.
_FOR_PROCESSORS = {"channels-last": "channels-last{floats=true}", "fold-weights": "fold-weights{transposes=true}"}

STAGES = ("graph", "groups")
"""The stages of a model: as it was imported, and its groups."""


Libraries = Sequence[str] | Mapping[str, str | os.PathLike[str]]


def compile_graph(
    graph: Graph, target: Target | str | None = None, without: Iterable[str] = (), *, libraries: Libraries = (),
    database: str | os.PathLike[str] | None = None,
) -> Model:  # fmt: skip
    """Compiles a graph, which stays as it is: it may be compiled again, for another target.

    Parameters
    ----------
    graph
        What a `GraphBuilder` or an importer made.
    target
        As of `tw.build`.
    without
        The passes, of `PASSES`, that are left out. Without `fuse-operators` each operator is a group of its own.
    libraries, database
        As of `tw.compile`.

    Raises
    ------
    TypeError, ValueError
        For another pass in `without`, and for libraries that are none, without a database, or of another target than
        cuda.
    JournalError
        Where the database cannot be read.
    CompileError
        Where a pass fails, or a group does not compile.

    >>> import numpy as np
    >>> from tilewright.graph import GraphBuilder, TensorType
    >>> with GraphBuilder("double", [("x", TensorType((4,), "float32"))]) as b:
    ...     graph = b.finish([("y", b.op("add", b.inputs["x"], b.inputs["x"]))])
    >>> model = compile_graph(graph, "cpu")
    >>> model(np.ones(4, "float32")).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    target = Target.of(target)
    chosen = _chosen(libraries, database, target)
    graph = graph.clone()
    texts = _run(graph, without, target)
    if database is not None:
        dispatch_to_libraries(graph.module, graph.name, target, chosen, database)
        texts["groups"] = str(graph.module)
    return _model(graph, target, texts)


def _chosen(libraries: Libraries, database: object, target: Target) -> dict[str, Any]:
    """Libraries by name with their files."""
    chosen = as_libraries(libraries)
    if bool(chosen) != (database is not None):
        raise ValueError(
            "expected libraries and the database that model.tune_libraries has written, or neither, got "
            f"{'libraries' if chosen else 'a database'} alone"
        )
    if chosen and target.kind != "cuda":
        raise ValueError(f"expected libraries for target cuda, got target {target.kind}")
    return chosen


def ir_of_graph(graph: Graph, without: Iterable[str] = (), target: Target | str | None = None) -> dict[str, str]:
    """Runs the passes on a graph, but those in `without`. Returns its IR by stage; no group is compiled.

    Without a target, passes that are for one target alone are left out. The graph stays as it is.

    Raises ValueError for another pass in `without`, CompileError where a pass fails.

    >>> import tilewright as tw
    >>> from tilewright.graph import GraphBuilder, TensorType
    >>> with GraphBuilder("small", [("x", TensorType((3,), "float32"))]) as b:
    ...     graph = b.finish([("y", b.op("relu", b.inputs["x"]))])
    >>> "graph.group" in ir_of_graph(graph)["groups"]
    True
    """
    return _run(graph.clone(), without, target)


def _run(graph: Graph, without: Iterable[str], target: Target | str | None) -> dict[str, str]:
    """Runs the passes on a graph, which becomes groups. Returns its texts by stage."""
    off = frozenset(without)
    unknown = sorted(off - set(PASSES))
    if unknown:
        raise ValueError(f"expected passes ({', '.join(PASSES)}) in without, got {', '.join(unknown)}")
    where = None if target is None else Target.of(target)
    off |= {*PASSES} - {*passes_for(where)}
    with progress(f"optimising {graph.name}"):
        # By warpgroups, attention has kernels for tensors that are not row-major.
        strided = where is not None and _has_feature(where, "mma.sync")
        return _optimised(graph.module, graph.name, graph, off, strided, _options_for(where))


def passes_for(target: Target | None) -> list[str]:
    """The passes of `PASSES` that run for a target: without one, those that run for all."""
    left_out: set[str] = set()
    if target is None or target.kind != "cuda":
        left_out.add("form-cuda-graph")
    if target is None or target.kind != "cpu" and not _has_feature(target, "mma.sync"):
        left_out.add("channels-last")
    return [name for name in PASSES if name not in left_out]


def _options_for(target: Target | None) -> Mapping[str, str]:
    """The passes that have options for a target, with these."""
    if target is None:
        return {}
    if target.kind == "cpu":
        return _FOR_PROCESSORS
    patches, sms = str(_has_feature(target, "wgmma")).lower(), 1 if target.device is None else target.device.sms
    return {"channels-last": f"channels-last{{patches={patches} processors={sms}}}"}


def _has_feature(target: Target, feature: str) -> bool:
    return target.kind != "cpu" and target.device is not None and feature in target.device.features


def _optimised(
    module: ir.Module, name: str, graph: Graph, off: frozenset[str], strided: bool, options_of: Mapping[str, str]
) -> dict[str, str]:
    """Runs the passes, but those in `off`, on a graph, which become groups. Returns its texts by stage."""
    texts: dict[str, str] = {}
    doing = f"optimising {name}"
    simplify = [options_of.get(flag, flag) for flag in _SIMPLIFY if flag not in off]
    if simplify:
        run_passes(module, f"builtin.module({','.join(simplify)})", doing, "graph")
    texts["graph"] = str(module)
    define(module, name, graph.symbols)
    options = "max-operators=1" if "fuse-operators" in off else "strided-attention=true" if strided else ""
    run_passes(module, f"builtin.module(fuse-operators{{{options}}})", doing, "graph")
    last = [flag for flag in _LAST if flag not in off]
    if last:
        run_passes(module, f"builtin.module({','.join(last)})", doing, "graph")
    texts["groups"] = str(module)
    return texts


def _model(graph: Graph, target: Target, texts: dict[str, str]) -> Model:
    with graph.module.context:
        function = model_function(graph.module, graph.name)
        block = function.regions[0].blocks[0]
        groups = read_groups(graph.module, function, graph.symbols, target)
        parts = parts_in(function, graph.symbols)
        arguments = list(block.arguments)
        attributes = function.attributes
        inputs = _named(attributes, "arg_attrs", [argument.type for argument in arguments], graph)
        last = block.operations[len(block.operations) - 1].operation
        results = list(last.operands)
        outputs = _named(attributes, "res_attrs", [result.type for result in results], graph)
        constants = constants_outside(function, graph.symbols)
        weights: dict[ir.Value, str] = {}
        for operation in block.operations:
            if operation.operation.name == "graph.weight":
                weight = ir.StringAttr(operation.operation.attributes["name"]).value
                constants[operation.operation.result] = weight_of(operation.operation, graph)
                weights[operation.operation.result] = weight
        return Model(
            graph.name, target, inputs, [(n, v, t) for (n, t), v in zip(outputs, results)], arguments, groups,
            constants, weights, parts, _plan(function, groups, parts), texts, graph.stored, graph.counts,
            "graph.cuda_graph" in attributes, _orders(attributes),
        )  # fmt: skip


def _orders(attributes: ir.OpAttributeMap) -> dict[int, tuple[int, ...]]:
    """By result that the caller transposes, the permutation."""
    marks = [ir.DictAttr(one) for one in ir.ArrayAttr(attributes["res_attrs"])] if "res_attrs" in attributes else []
    orders = {n: tuple(ir.DenseI64ArrayAttr(one["graph.order"])) for n, one in enumerate(marks) if "graph.order" in one}
    return {number: order for number, order in orders.items() if order != tuple(range(len(order)))}


def _named(attributes: ir.OpAttributeMap, key: str, types: list[ir.Type], graph: Graph) -> list[tuple[str, TensorType]]:
    each = ir.ArrayAttr(attributes[key]) if key in attributes else ()
    names = [ir.StringAttr(ir.DictAttr(one)["graph.name"]).value for one in each]
    return list(zip(names, (from_ir(kind, graph.symbols) for kind in types)))


def _plan(function: ir.Operation, groups: list[Group], parts: Parts) -> Plan:
    if "graph.arena_bytes" not in function.attributes:
        return Plan(0, ())
    block = function.regions[0].blocks[0]
    last = lives_of(groups, list(block.operations[len(block.operations) - 1].operation.operands), parts)
    buffers: list[PlannedBuffer] = []
    for i, group in enumerate(groups):
        for result, kind, offset in zip(group.results, group.types, group.offsets):
            if offset >= 0:
                from ..dtypes import dtype_of

                size = max(dtype_of(kind.dtype).bits // 8, 1)
                for extent in kind.shape:
                    size *= int(extent)  # pyright: ignore[reportArgumentType] - only what is static has a place
                buffers.append(PlannedBuffer(group.name, kind, offset, size, i, last[result]))
    return Plan(ir.IntegerAttr(function.attributes["graph.arena_bytes"]).value, tuple(buffers))
