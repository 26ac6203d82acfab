"""Sequences of tensors: which tensors one has is known when the model is compiled, so that no group sees one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .narrow import Narrow

if TYPE_CHECKING:
    from ..graph import Value
    from .node import Node
    from .scope import Scope

__all__ = ["CONVERTERS", "Element", "sequence_of"]


class Element:
    """A tensor of a sequence: a name in a scope, or what makes it where somebody asks for it."""

    def __init__(self, scope: Scope, name: str, make: Callable[[], Value] | None = None) -> None:
        self._scope, self._name, self._make = scope, name, make

    def place(self) -> tuple[Scope, str]:
        """The scope that has the tensor, and its name there."""
        if self._make is not None:
            self._scope.put(self._name, self._make())
            self._make = None
        return self._scope, self._name


def sequence_of(node: Node, position: int = 0) -> tuple[Element, ...]:
    """The elements of an input, which has to be a sequence."""
    name = node.proto.input[position]
    found = node.scope.sequence(name)
    if found is None:
        raise node.error(f"input {position}: expected a sequence, got tensor {name!r}")
    return found


def _put(node: Node, elements: tuple[Element, ...]) -> None:
    node.scope.put_sequence(node.proto.output[0], elements)


def _input(node: Node, position: int) -> Element:
    name = node.proto.input[position]
    if node.scope.sequence(name) is not None:
        raise node.error(f"input {position}: expected a tensor, got sequence {name!r}")
    return Element(node.scope, name)


def _place(node: Node, position: int, length: int, least: int, most: int, default: int) -> int:
    """A place in a sequence of some length: counted from 0, and from `least` to `most`."""
    if not node.has(position):
        return default
    given = int(node.host(position).reshape(-1)[0])
    if not least <= given <= most:
        raise node.error(f"expected a place from {least} to {most} in a sequence of {length}, got {given}")
    return given + length if given < 0 else given


def _of_type(made: Value, like: Value) -> Value:
    """A tensor that was moved, of the type that te does not have where the one before has such a type."""
    return Narrow(made.value, made.type, like.stored) if isinstance(like, Narrow) else made


def _construct(node: Node) -> None:
    _put(node, tuple(_input(node, position) for position in range(node.input_count)))


def _empty(node: Node) -> None:
    _put(node, ())


def _insert(node: Node) -> None:
    elements = sequence_of(node)
    count = len(elements)
    place = _place(node, 2, count, -count, count, count)
    _put(node, (*elements[:place], _input(node, 1), *elements[place:]))


def _erase(node: Node) -> None:
    elements = sequence_of(node)
    count = len(elements)
    if not count:
        raise node.error("expected a sequence of one element at least, got an empty one")
    place = _place(node, 1, count, -count, count - 1, count - 1)
    _put(node, (*elements[:place], *elements[place + 1 :]))


def _at(node: Node) -> None:
    elements = sequence_of(node)
    count = len(elements)
    place = _place(node, 1, count, -count, count - 1, 0)
    node.scope.link(node.proto.output[0], *elements[place].place())


def _length(node: Node) -> None:
    node.scope.put_host(node.proto.output[0], np.asarray(len(sequence_of(node)), np.int64))


def _split(node: Node) -> None:
    from .converters.movement import sliced

    x = node.tensor(0)
    axis = node.axis(node.attr("axis", 0), x.rank)
    extent = x.shape[axis]
    keeps = node.attr("keepdims", 1) or node.has(1)
    sizes: list[int] | None = None
    if node.has(1) and node.type(1).rank:
        sizes = [int(one) for one in node.host(1).reshape(-1)]
        if isinstance(extent, int) and sum(sizes) != extent or any(size < 0 for size in sizes):
            raise node.error(f"expected sizes that sum up to {extent}, got {sizes}")
    elif not isinstance(extent, int):
        raise node.error(f"expected sizes for a dimension of extent {extent}, got none")
    else:
        each = int(node.host(1).reshape(-1)[0]) if node.has(1) else 1
        if each < 1:
            raise node.error(f"expected sizes of at least 1, got {each}")
        sizes = [min(each, extent - begin) for begin in range(0, extent, each)]

    def part(begin: int, size: int) -> Callable[[], Value]:
        def make() -> Value:
            made = sliced(node, x, {axis: (begin, begin + size, 1)})
            if not keeps:
                made = node.reshape(made, [one for d, one in enumerate(made.shape) if d != axis])
            return _of_type(made, x)

        return make

    begins = [sum(sizes[:number]) for number in range(len(sizes))]
    name = node.proto.output[0]
    _put(
        node,
        tuple(
            Element(node.scope, f"{name} [{number}]", part(begin, size))
            for number, (begin, size) in enumerate(zip(begins, sizes))
        ),
    )


def _concat(node: Node) -> Any:
    elements = sequence_of(node)
    if not elements:
        raise node.error("expected a sequence of one element at least, got an empty one")
    places = [one.place() for one in elements]
    wide = bool(node.attr("new_axis", 0))
    if all(scope.is_known(name) for scope, name in places):
        values = [scope.host(name) for scope, name in places]
        axis = node.axis(node.attr("axis"), values[0].ndim + wide)
        join = np.stack if wide else np.concatenate
        node.scope.put_host(node.proto.output[0], join(values, axis))
        return None
    values = [scope.tensor(name) for scope, name in places]
    first = values[0]
    axis = node.axis(node.attr("axis"), first.rank + wide)
    if wide:
        values = [node.reshape(one, [*one.shape[:axis], 1, *one.shape[axis:]]) for one in values]
    return _of_type(node.op_("concat", *values, axis=axis), first)


CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceInsert": _insert,
    "SequenceErase": _erase,
    "SequenceAt": _at,
    "SequenceLength": _length,
    "SplitToSequence": _split,
    "ConcatFromSequence": _concat,
}
"""What resolves these nodes, by their names."""
