"""Elements of buffers that statements load and store: whether loops surely reach one that is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source
from .expr import Call, Expr, Select
from .linear import linear_of
from .statements import Buffer, Choice, Let, Load, Loop, Statement, Store

__all__ = ["check_places"]

# The first and the last value of a variable, by its identity.
_Ranges: TypeAlias = Mapping[int, tuple[int, int]]


def check_places(statements: Sequence[Statement]) -> None:
    """Raises ValueError for an element outside of its buffer that loops of known numbers reach.

    Only what no condition guards is looked at, and only sums of multiples of loops' variables: these take all of their
    values.
    """
    waiting: list[tuple[Sequence[Statement], _Ranges]] = [(statements, {})]
    while waiting:
        body, ranges = waiting.pop()
        for one in body:
            if isinstance(one, Loop) and not (isinstance(one.extent, int) and one.extent == 0):
                waiting.append((one.body, {**ranges, **_range_of(one)}))
            elif isinstance(one, Store):
                _check(one.buffer, one.indices, one.source, ranges)
                _check_loads((*one.indices, one.value), ranges)
            elif isinstance(one, Choice):
                _check_loads((one.condition,), ranges)
            elif isinstance(one, Let):
                _check_loads((one.value,), ranges)


def _range_of(loop: Loop) -> _Ranges:
    first = 0 if loop.var.dom is None else loop.var.dom.min
    if loop.begin is not None or not isinstance(loop.extent, int):
        return {}
    return {id(loop.var): (first, first + loop.extent - 1)}


def _check_loads(exprs: Sequence[Expr], ranges: _Ranges) -> None:
    waiting = list(exprs)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Load):
            _check(one.buffer, one.indices, one.source, ranges)
        if isinstance(one, Select):
            waiting.append(one.condition)  # which guards the values
        elif not (isinstance(one, Call) and one.op in ("and", "or")):
            waiting += one.operands()


def _check(buffer: Buffer, indices: Sequence[Expr], source: Source, ranges: _Ranges) -> None:
    for position, (index, extent) in enumerate(zip(indices, buffer.shape)):
        linear = linear_of(index) if index.is_index else None
        if linear is None or not isinstance(extent, int) or any(key not in ranges for key in linear.terms):
            continue
        ends = [
            linear.constant + sum(count * ranges[key][(count > 0) == most] for key, (_, count) in linear.terms.items())
            for most in (False, True)
        ]
        if ends[0] < 0 or ends[1] >= extent:
            raise ValueError(
                f"{source}: index {position} of {buffer.name}: expected 0 to {extent - 1}, got {ends[0]} to {ends[1]}"
            )
