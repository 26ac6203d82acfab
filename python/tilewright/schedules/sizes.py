"""What a ready schedule checks of its extents before it computes with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, SupportsIndex, TypeVar

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import user_source
from ..te.expr import Expr

__all__ = ["sizes"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def sizes(**least: int) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Parameters that are extents, each with its least value. A parameter of type `int` takes no symbol.

    The decorated function raises TypeError for another object, ValueError for a smaller number.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            given = signature.bind(*args, **kwargs).arguments
            for name, minimum in least.items():
                is_number = signature.parameters[name].annotation == "int"
                _check(f"{function.__name__}: {name}", given.get(name), minimum, is_number)
            return function(*args, **kwargs)

        return checked

    return decorate


def _check(what: str, extent: object, minimum: int, is_number: bool) -> None:
    if isinstance(extent, Expr) and not is_number:
        return
    if isinstance(extent, (bool, Expr)) or not isinstance(extent, SupportsIndex):
        wanted = "an integer" if is_number else "an integer or te.var"
        raise TypeError(f"{user_source()}: {what}: expected {wanted}, got {extent!r}")
    if extent.__index__() < minimum:
        raise ValueError(f"{user_source()}: {what}: expected at least {minimum}, got {extent.__index__()}")
