"""What hybrid scripts call by name: in a program as expressions, on arrays as NumPy's."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import DTYPE_NAMES, dtype_of
from ..errors import TilewrightValueError as ValueError
from ..messages.location import user_source
from ..target import Target
from . import functions, reduction
from .expr import Expr

__all__ = ["ALLOCATIONS", "FUNCTIONS", "LOOPS", "RUN_TIME"]

# Of loops the kind that `ir_builder.for_range` has for them.
LOOPS = {"range": "serial", "serial": "serial", "unroll": "unroll", "parallel": "parallel", "vectorize": "vectorize"}
ALLOCATIONS = ("allocate", "output_tensor")
_TYPES = [name for name in DTYPE_NAMES if name not in ("bfloat16", "bool") and "float8" not in name]


def _has_expr(values: tuple[Any, ...]) -> bool:
    return builtins.any(isinstance(value, Expr) for value in values)


def _either(of_exprs: Callable[..., Any], of_numbers: Callable[..., Any]) -> Callable[..., Any]:
    """One function for numbers that are known now, another one for expressions."""
    return lambda *values: of_exprs(*values) if _has_expr(values) else of_numbers(*values)


def _cast(name: str) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        return value.astype(name) if isinstance(value, Expr) else functions.const(value).astype(name)

    return cast


def _length(value: Any) -> Any:
    shape = getattr(value, "shape", None)
    if shape is None:
        return len(value)
    if len(shape) != 1:
        raise ValueError(f"{user_source()}: len: expected a tensor of one dimension, got {len(shape)}")
    return shape[0]


def max_num_threads(allow_none: Any = True) -> int:
    """How many threads a block of the current target has at most."""
    return Target.of(None).max_num_threads


def _same(condition: Any) -> Any:
    return condition


def _ceil_div(a: Any, b: Any) -> Any:
    return (a + b - 1) // b


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(functions, name) for name in ("sqrt", "rsqrt", "log", "exp", "tanh", "sigmoid", "popcount")},
    "round": functions.round,
    "power": functions.power,
    "abs": _either(functions.abs, builtins.abs),
    "min": _either(reduction.min, builtins.min),
    "max": _either(reduction.max, builtins.max),
    "len": _length,
    "likely": _same,
    "ceil_div": _ceil_div,
    "max_num_threads": max_num_threads,
    "inf": functions.max_value,
    "ninf": functions.min_value,
    "int": _either(_cast("int32"), int),
    "float": _either(_cast("float32"), float),
    **{name: _cast(name) for name in _TYPES},
}


def _array(shape: Any, dtype: str = "float32", scope: str = "global") -> Any:
    return np.zeros(shape, dtype_of(dtype).name)


def _limit(largest: bool) -> Callable[[str], Any]:
    def limit(dtype: str) -> Any:
        if dtype_of(dtype).is_float:
            return math.inf if largest else -math.inf
        return np.iinfo(dtype).max if largest else np.iinfo(dtype).min

    return limit


def _bound(tag: str, extent: int) -> range:
    return range(extent)


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _popcount(x: Any) -> int:
    return bin(int(x)).count("1")


# The same on arrays of NumPy.
RUN_TIME: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("serial", "unroll", "parallel", "vectorize", "const_range"), range),
    "bind": _bound,
    **dict.fromkeys(ALLOCATIONS, _array),
    **{name: getattr(np, name) for name in ("sqrt", "log", "exp", "tanh", "power", *_TYPES)},
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "popcount": _popcount,
    "likely": _same,
    "ceil_div": _ceil_div,
    "max_num_threads": max_num_threads,
    "inf": _limit(True),
    "ninf": _limit(False),
}
