"""Tags: notes that computes carry for the user's own use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_list, is_mapping
from ..messages.location import Source, user_source
from .extents import as_extent

__all__ = ["TagScope", "allows_tf32", "current_tag", "notes", "tag_scope"]

_current: ContextVar[str] = ContextVar("tag", default="")


class TagScope:
    """Made by `tag_scope`: a context, or a decorator of a function that makes computes."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._token: Token[str] | None = None

    def __enter__(self) -> TagScope:
        if _current.get():
            raise ValueError(
                f"{user_source()}: te.tag_scope: expected no scope inside another, got {self.tag!r} inside "
                f"{_current.get()!r}"
            )
        self._token = _current.set(self.tag)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        _current.reset(self._token)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def tagged(*args: Any, **options: Any) -> Any:
            with TagScope(self.tag):
                return function(*args, **options)

        return tagged


def tag_scope(tag: str) -> TagScope:
    """Computes made inside carry this tag: a context, or a decorator.

    Raises TypeError where `tag` is no string.

    >>> from tilewright import te
    >>> A = te.placeholder((4,), name="A")
    >>> with te.tag_scope(tag="elemwise"):
    ...     B = te.compute((4,), lambda i: A[i] * 2, name="B")
    >>> B.op.tag
    'elemwise'
    """
    source = user_source()
    if not isinstance(tag, str) or not tag:
        raise TypeError(f"{source}: te.tag_scope: expected a tag, got {tag!r}")
    return TagScope(tag)


def current_tag(given: str, what: str, source: Source) -> str:
    """The tag of a compute made now, which was given `given` itself."""
    around = _current.get()
    if given and around:
        raise ValueError(f"{source}: {what}: expected one tag, got {given!r} inside te.tag_scope({around!r})")
    return given or around


def notes(attrs: object, what: str, source: Source) -> dict[str, Any]:
    """The `attrs` that a user gave an operation: ints in them have a ``.value``, as TVM's have."""
    if attrs is not None and not is_mapping(attrs):
        raise TypeError(f"{source}: {what}: expected attrs as a dict, got {attrs!r}")
    return {key: [_note(one) for one in of] if is_list(of) else _note(of) for key, of in (attrs or {}).items()}


def allows_tf32(attrs: Mapping[str, Any]) -> bool:
    """Whether the notes of a sum of products say that tensor cores may round its factors to tf32.

    >>> allows_tf32({"precision": "tf32"}), allows_tf32({})
    (True, False)
    """
    return attrs.get("precision") == "tf32"


def _note(value: Any) -> Any:
    return value if isinstance(value, bool) else as_extent(value)
