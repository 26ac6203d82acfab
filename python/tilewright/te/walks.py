"""Recursion without Python's limit: an expression of a thousand terms is as deep as it is long.

A step is a generator that yields the steps that it waits for and gets their results:

>>> def depth(tree):
...     below = [0]
...     for one in tree:
...         below.append((yield depth(one)))
...     return 1 + max(below)
>>> deep = ()
>>> for _ in range(100_000):
...     deep = (deep,)
>>> run(depth(deep))
100001
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .expr import Expr

__all__ = ["Steps", "parts", "run"]

T = TypeVar("T")
Steps = Generator[Any, Any, T]
"""What a step is: it returns a T."""


def run(first: Steps[T]) -> T:
    """The result of a step, and of all that it waits for on the way."""
    waiting: list[Steps[Any]] = [first]
    value: Any = None
    error: BaseException | None = None
    try:
        while waiting:
            try:
                step = waiting[-1].send(value) if error is None else waiting[-1].throw(error)
            except StopIteration as end:
                waiting.pop()
                value, error = end.value, None
            except BaseException as raised:
                # Whoever waits for it may have a `with` around.
                waiting.pop()
                value, error = None, raised
            else:
                waiting.append(step)
                value, error = None, None
    finally:
        # Ctrl-C may come between two steps. The innermost `with` ends first then, too.
        while waiting:
            waiting.pop().close()
    if error is not None:
        raise error
    return value


def parts(exprs: Iterable[Expr]) -> Iterator[Expr]:
    """Expressions and all that they are made of, each once.

    >>> from tilewright import te
    >>> n = te.var("n")
    >>> sorted(map(str, parts([n * n + 1])))
    ['1', 'n', 'n * n', 'n * n + 1']
    """
    todo, seen = list(exprs), set[int]()
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        yield expr
        todo.extend(expr.operands())
