"""A schedule's primitives as the calls that made them, read from its IR."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from ...errors import TilewrightValueError as ValueError
from ...guards import is_list, is_mapping
from .primitives import Primitive, identifiers

__all__ = ["Reader", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One call: `makes = s[stage].call(*args, **options)`, or of the schedule itself where there is no stage.

    Arguments that are dictionaries stand for objects:

    - ``{"axis": v}``, ``{"tensor": v}`` and ``{"stage": v}`` stand for the value of the variable v.
    - ``{"thread": tag, "extent": n}`` stands for a thread axis.
    - ``{"first": tag, "from": n, "to": m}`` stands for some of the threads of an axis.
    - ``{"intrin": name, "functions": ir}`` stands for an intrinsic.
    - ``{"symbol": name}`` stands for the program's `te.var` of that name.

    Other arguments are values. "axis" and "reduce_axis" are no methods, but attributes of the stage's operation.
    """

    call: str
    stage: str | None
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    makes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The call as Python."""
        receiver = "s" if self.stage is None else f"s[{self.stage}]"
        if self.call in ("axis", "reduce_axis"):
            value = f"{receiver}.op.{self.call}"
        else:
            options = [f"{name}={_source(value)}" for name, value in self.options.items()]
            value = f"{receiver}.{self.call}({', '.join([*map(_source, self.args), *options])})"
        if not self.makes:
            return value
        # A tuple of one needs its comma; what makes one thing does not give a tuple.
        single = len(self.makes) == 1 and self.call in ("axis", "reduce_axis")
        return f"{'(' * single}{', '.join(self.makes)}{',)' * single} = {value}"


def _scope(options: Mapping[str, Any]) -> str:
    """The memory as the schedule was told: a fragment's is TVM's word for it."""
    return f"wmma.{options['schedule.fragment']}" if "schedule.fragment" in options else options["scope"]


def _source(value: Any) -> str:
    if is_list(value):
        return f"[{', '.join(map(_source, value))}]"
    if not is_mapping(value):
        return repr(value) if not isinstance(value, str) else json.dumps(value)
    if "stage" in value:
        return f"s[{value['stage']}]"
    if "symbol" in value:
        return identifiers([value["symbol"]])[value["symbol"]]
    if "first" in value:
        return _predicate(value)
    if "thread" in value:
        extent = "" if value["extent"] is None else f"(0, {value['extent']}), "
        return f'te.thread_axis({extent}"{value["thread"]}")'
    return value.get("axis") or value.get("intrin") or value["tensor"]


def _predicate(value: Mapping[str, Any]) -> str:
    """The comparisons that let some threads store."""
    thread, first, end = f'te.thread_axis("{value["first"]}")', value.get("from", 0), value.get("to", 1)
    if end == first + 1:
        return f"{thread}.equal({first})"
    low = [f"{thread} >= {first}"] if first or end is None else []
    return low[0] if end is None else f"te.all({', '.join([*low, f'{thread} < {end}'])})"


class Reader:
    """Reads a schedule's primitives, from the first to the last, and gives each of its handles a variable.

    `words` are the variables of tensors, by the names of their operations. `several` are the variables that hold
    several tensors. `used` are the names of the operations that occurred.
    """

    several: list[str]

    def __init__(self, words: Mapping[str, str], several: Iterable[str]) -> None:
        self._taken, self._words = list(words.values()), words
        self.several = list(several)
        self.variables: dict[ir.Value, str] = {}
        self.axis_names: dict[ir.Value, str] = {}  # the names that axes have in errors
        self._stage_of: dict[ir.Value, str] = {}
        self.used: set[str] = set()

    def step(self, primitive: Primitive) -> Step | None:
        """The call that a primitive stands for; None for the mere handle of a stage."""
        options = primitive.options
        if primitive.name == "stage":
            self._name_stage(primitive.results[0], options["name"])
            return None
        make: Callable[[Primitive], Step] | None = getattr(self, f"_{primitive.name}", None)
        if make is None:
            raise ValueError(f"trace: expected a primitive with a call in Python, got '{primitive.name}'")
        return make(primitive)

    def _name_stage(self, handle: ir.Value, name: str) -> str:
        self.used.add(name)
        self.variables[handle] = self._words[name]
        return self.variables[handle]

    def _make(self, stage: str, results: Sequence[ir.Value], names: Sequence[str]) -> tuple[str, ...]:
        words = identifiers(names, ("s", "te", *self._taken)).values()
        for result, word, name in zip(results, words, names):
            self.variables[result], self.axis_names[result], self._stage_of[result] = word, name, stage
        self._taken.extend(words)
        return tuple(words)

    def _of(self, axis: ir.Value) -> dict[str, str]:
        return {"axis": self.variables[axis]}

    def _axes_of(self, primitive: Primitive, call: str) -> Step:
        stage = self.variables[primitive.operands[0]]
        return Step(call, stage, makes=self._make(stage, primitive.results, primitive.options["names"]))

    def _axes(self, primitive: Primitive) -> Step:
        return self._axes_of(primitive, "axis")

    def _reduce_axes(self, primitive: Primitive) -> Step:
        return self._axes_of(primitive, "reduce_axis")

    def _split(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        stage, name = self._stage_of[axis], self.axis_names[axis]
        makes = self._make(stage, primitive.results, [f"{name}.outer", f"{name}.inner"])
        # The number first, then what is said of it.
        options = dict(sorted(primitive.options.items(), key=lambda option: option[0] == "disable_predication"))
        for name in ("factor", "nparts"):
            if f"{name}_symbol" in options:
                options = {name: {"symbol": options.pop(f"{name}_symbol")}, **options}
        return Step("split", stage, (self._of(axis),), options, makes)

    def _tile(self, primitive: Primitive) -> Step:
        x, y = primitive.operands
        stage = self._stage_of[x]
        names = [f"{self.axis_names[axis]}.{part}" for part in ("outer", "inner") for axis in (x, y)]
        factors = primitive.options["x_factor"], primitive.options["y_factor"]
        makes = self._make(stage, primitive.results, names)
        return Step("tile", stage, (self._of(x), self._of(y), *factors), makes=makes)

    def _singleton(self, primitive: Primitive) -> Step:
        stage = self.variables[primitive.operands[0]]
        return Step("fuse", stage, makes=self._make(stage, primitive.results, ["singleton"]))

    def _fuse(self, primitive: Primitive) -> Step:
        axes = primitive.operands
        stage = self._stage_of[axes[0]]
        name = ".".join(self.axis_names[axis] for axis in axes) + ".fused"
        return Step("fuse", stage, tuple(map(self._of, axes)), makes=self._make(stage, primitive.results, [name]))

    def _on_axes(self, primitive: Primitive) -> Step:
        axes = primitive.operands
        return Step(primitive.name, self._stage_of[axes[0]], tuple(map(self._of, axes)))

    _reorder = _vectorize = _unroll = _parallel = _loop_partition = _on_axes

    def _auto_unroll(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        args = (self._of(axis), "auto_unroll_max_step", primitive.options["max_step"])
        return Step("pragma", self._stage_of[axis], args)

    def _bind(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        thread = {"thread": primitive.options["thread"], "extent": primitive.options.get("extent")}
        options = {"reduce_add": True} if primitive.options.get("reduce_add") else {}
        return Step("bind", self._stage_of[axis], (self._of(axis), thread), options)

    def _on_stage(self, primitive: Primitive) -> Step:
        return Step(primitive.name, self.variables[primitive.operands[0]])

    _compute_inline = _compute_root = _double_buffer = _reverse_compute_inline = _rolling_buffer = _on_stage

    def _tensorize(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        intrinsic = {"intrin": primitive.options["name"], "functions": primitive.options["functions"]}
        return Step("tensorize", self._stage_of[axis], (self._of(axis), intrinsic))

    def _transform_layout(self, primitive: Primitive) -> Step:
        return Step("transform_layout", self.variables[primitive.operands[0]], (primitive.options["layout"],))

    def _swizzle(self, primitive: Primitive) -> Step:
        return Step("swizzle", self.variables[primitive.operands[0]], (primitive.options["granule"],))

    def _copy_by(self, primitive: Primitive) -> Step:
        options = {name: primitive.options[name] for name in ("swizzle", "columns") if name in primitive.options}
        if "deferred" in primitive.options:
            options["deferred"] = True
        return Step("copy_by", self.variables[primitive.operands[0]], (primitive.options["copier"],), options)

    def _specialize(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        options = {f"{role}_registers": primitive.options[role] for role in ("producer", "consumer")}
        if primitive.options.get("consumers", 1) > 1:
            options["consumers"] = primitive.options["consumers"]
        return Step("specialize", self._stage_of[axis], (self._of(axis),), options)

    def _cluster(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        return Step("cluster", self._stage_of[axis], (self._of(axis), primitive.options["blocks"]))

    def _persistent(self, primitive: Primitive) -> Step:
        options = {name: primitive.options[name] for name in ("raster", "group")}
        if "streamK" in primitive.options:
            options["stream_k"] = True
        if primitive.options.get("narrower"):
            options["narrower"] = primitive.options["narrower"]
        if "serpentineK" in primitive.options:
            options["serpentine_k"] = True
        return Step("persistent", self.variables[primitive.operands[0]], (primitive.options["blocks"],), options)

    def _prefetch(self, primitive: Primitive) -> Step:
        stage, axis = primitive.operands
        self.used.add(primitive.options["tensor"])
        tensor = {"tensor": self._words[primitive.options["tensor"]]}
        return Step("prefetch", self.variables[stage], (tensor, self._of(axis), primitive.options["offset"]))

    def _env_threads(self, primitive: Primitive) -> Step:
        thread = {"thread": primitive.options["thread"], "extent": primitive.options["extent"]}
        return Step("env_threads", self.variables[primitive.operands[0]], (thread,))

    def _pad_einsum(self, primitive: Primitive) -> Step:
        of = self.variables[primitive.operands[0]]
        names = primitive.options["names"]
        makes = tuple(self._name_stage(handle, name) for handle, name in zip(primitive.results, names))
        return Step("pad_einsum", of, (primitive.options["padding"],), makes=makes)

    def _compute_at(self, primitive: Primitive) -> Step:
        stage, other, axis = primitive.operands
        args = ({"stage": self.variables[other]}, self._of(axis))
        return Step(primitive.name, self.variables[stage], args)

    _reverse_compute_at = _compute_at

    def _rolling_update(self, primitive: Primitive) -> Step:
        axis, of = primitive.operands
        tensor = {"tensor": self.variables[of]}
        return Step("rolling_update", self._stage_of[axis], (self._of(axis), tensor))

    def _decompose_reduction(self, primitive: Primitive) -> Step:
        stage, axis = primitive.operands
        return Step("decompose_reduction", self.variables[stage], (self._of(axis),))

    def _set_store_predicate(self, primitive: Primitive) -> Step:
        options = primitive.options
        first = {"first": options["thread"], "from": options.get("from", 0), "to": options.get("to")}
        return Step("set_store_predicate", self.variables[primitive.operands[0]], (first,))

    def _set_scope(self, primitive: Primitive) -> Step:
        return Step("set_scope", self.variables[primitive.operands[0]], (_scope(primitive.options),))

    def _storage_align(self, primitive: Primitive) -> Step:
        stage, axis = primitive.operands
        args = (self._of(axis), primitive.options["factor"], primitive.options["offset"])
        return Step("storage_align", self.variables[stage], args)

    def _launch_bounds(self, primitive: Primitive) -> Step:
        return Step("launch_bounds", self.variables[primitive.operands[0]], (primitive.options["min_blocks"],))

    def _software_pipeline(self, primitive: Primitive) -> Step:
        (axis,) = primitive.operands
        options = {"use_async": True} if "async" in primitive.options else {}
        return Step("software_pipeline", self._stage_of[axis], (self._of(axis), primitive.options["depth"]), options)

    def _cache_read(self, primitive: Primitive) -> Step:
        options = primitive.options
        self.used.add(options["tensor"])
        readers = [{"tensor": self.variables[reader]} for reader in primitive.operands]
        args = ({"tensor": self._words[options["tensor"]]}, _scope(options), readers)
        return Step("cache_read", None, args, makes=(self._name_stage(primitive.results[0], options["name"]),))

    def _cache_write(self, primitive: Primitive) -> Step:
        options = primitive.options
        written = self.variables[primitive.operands[0]]
        made = self._name_stage(primitive.results[0], options["name"])
        if written in self.several:
            self.several.append(made)
        return Step("cache_write", None, ({"tensor": written}, _scope(options)), makes=(made,))

    def _rfactor(self, primitive: Primitive) -> Step:
        of, axis = primitive.operands
        factored = self.variables[of]
        made = self._name_stage(primitive.results[0], primitive.options["name"])
        if factored in self.several:
            self.several.append(made)
        options = {"factor_axis": primitive.options["factor_axis"]}
        return Step("rfactor", None, ({"tensor": factored}, self._of(axis)), options, (made,))
