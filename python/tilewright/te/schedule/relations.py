"""What the axes of a stage have to do with one another, as TVM's schedules tell it: `Stage.relations`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..expr import IterVar, Var

__all__ = ["Fuse", "IterVarAttr", "Relation", "Singleton", "Split"]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """`parent` became `outer` and `inner`, by the `factor` or into `nparts`, whichever was given."""

    parent: IterVar
    outer: IterVar
    inner: IterVar
    factor: int | Var | None
    nparts: int | Var | None


@dataclass(frozen=True, slots=True, eq=False)
class Fuse:
    """`outer` and `inner` became `fused`."""

    outer: IterVar
    inner: IterVar
    fused: IterVar


@dataclass(frozen=True, slots=True, eq=False)
class Singleton:
    """`iter` came of nothing: it has one iteration."""

    iter: IterVar


Relation = Split | Fuse | Singleton


@dataclass(slots=True, eq=False)
class IterVarAttr:
    """What the schedule says of one axis, as in TVM's ``Stage.iter_var_attrs``."""

    iter_type: int
    bind_thread: IterVar | None = None
    prefetch_data: list[Any] = field(default_factory=list[Any])
    prefetch_offset: list[int] = field(default_factory=list[int])
    tensor_intrin: str | None = None
    dim_align_factor: int = 0
    dim_align_offset: int = 0
    pragma_keys: list[str] = field(default_factory=list[str])
    pragma_values: list[object] = field(default_factory=list[object])
