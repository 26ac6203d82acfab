"""Operators that are given modules of FX: cond, while_loop, scan, associative_scan and flex_attention.

Loops are unrolled, and of two branches `where` takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch._ops import OpOverload  # pyright: ignore[reportPrivateUsage]
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves, tree_unflatten

from ..graph import Value
from ..guards import is_listed

if TYPE_CHECKING:
    from .call import Call

__all__ = ["CONTROL", "MOST_ITERATIONS", "Body", "Known", "module_of"]

MOST_ITERATIONS = 1024
"""So many iterations of a loop or a scan are unrolled at most."""

Body = Callable[[GraphModule, Sequence[Any], Sequence[torch.Tensor | None]], tuple[list[Any], list[Any]]]
"""What makes operators of a module of FX, of its arguments and of what is known: the results, and what is known."""


class Known:
    """What nodes are when the model is compiled, where that depends on no input: constants and what is made of them."""

    def __init__(self, constants: Callable[[Node], torch.Tensor | None]) -> None:
        self._constants = constants
        self._found: dict[Node, Any] = {}

    def put(self, node: Node, value: Any) -> None:
        """An argument of a body in one of its iterations; None where it is not known."""
        self._found[node] = value

    def forget(self, nodes: Sequence[Node]) -> None:
        """A body is made once more."""
        for node in nodes:
            self._found.pop(node, None)

    def of(self, node: Any) -> Any:
        """The tensor that a node is, None where that is not known. Its elements are few, as of a counter."""
        if not isinstance(node, Node):
            return node
        if node not in self._found:
            with unset_fake_temporarily(), torch.no_grad():
                self._found[node] = self._evaluated(node)
        return self._found[node]

    def _evaluated(self, node: Node) -> Any:
        if node.op != "call_function":
            return self._constants(node)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or any(not isinstance(size, int) for size in value.shape):
            return None
        target: Any = node.target
        is_random = torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())
        if value.numel() > _MOST_KNOWN or is_random or not isinstance(target, OpOverload):
            return None
        unknown = [one for one in node.all_input_nodes if self.of(one) is None]
        if unknown:
            return None
        args: Any = map_arg(node.args, self.of)
        kwargs: Any = map_arg({key: one for key, one in node.kwargs.items() if key != "device"}, self.of)
        return cast(Callable[..., Any], target)(*args, **kwargs)


_MOST_KNOWN = 64
"""So many elements of a tensor are computed when the model is compiled at most."""


def _is_true(value: Any) -> bool:
    """What is known of a condition; PyTorch's tracing must not take its tensor for one of its own."""
    with unset_fake_temporarily():
        return bool(value)


def _cond(call: Call, node: Node, known: Known, values: Sequence[Any], body: Body) -> list[Any]:
    predicate, taken, other, operands = values[0], *node.args[1:3], values[3]
    branches = [module_of(taken), module_of(other)]
    of_operands = [known.of(one) for one in cast(Sequence[Any], node.args[3])]
    condition = known.of(node.args[0])
    if condition is not None:
        return body(branches[0 if _is_true(condition) else 1], operands, of_operands)[0]
    if not isinstance(predicate, Value):
        raise call.error(f"expected a tensor as the condition, got {predicate}")
    condition = call.reshape(predicate, [])
    made = [_tensors(call, body(branch, operands, of_operands)[0]) for branch in branches]
    for number, (then, otherwise) in enumerate(zip(*made)):
        if str(then.type) != str(otherwise.type):
            raise call.error(
                f"result {number}: expected branches of one type where the condition is not known when the model is "
                f"compiled, got {then.type} and {otherwise.type}"
            )
    return [call.op("where", condition, then, otherwise) for then, otherwise in zip(*made)]


def _while_loop(call: Call, node: Node, known: Known, values: Sequence[Any], body: Body) -> list[Any]:
    condition, step = module_of(node.args[0]), module_of(node.args[1])
    state, more = _tensors(call, values[2]), values[3]
    of_state = [known.of(one) for one in cast(Sequence[Any], node.args[2])]
    of_more = [known.of(one) for one in cast(Sequence[Any], node.args[3])]
    for number in range(MOST_ITERATIONS + 1):
        _, (goes_on,) = body(condition, [*state, *more], [*of_state, *of_more])
        if goes_on is None:
            raise call.error(
                "expected a condition that is known when the model is compiled, got one that depends on data"
            )
        if not _is_true(goes_on):
            break
        if number == MOST_ITERATIONS:
            raise call.error(f"expected a number of iterations of at most {MOST_ITERATIONS}, got more")
        state, of_state = body(step, [*state, *more], [*of_state, *of_more])
    return list(state)


def _scan(call: Call, node: Node, known: Known, values: Sequence[Any], body: Body) -> list[Any]:
    combine = module_of(node.args[0])
    state, xs, more = _tensors(call, values[1]), _tensors(call, values[2]), list(values[3])
    count = _length(call, xs)
    unknown: list[Any] = [None] * (len(state) + len(xs) + len(more))
    stacked: list[list[Value]] = []
    for place in range(count):
        made = _tensors(call, body(combine, [*state, *(_element(call, x, place) for x in xs), *more], unknown)[0])
        stacked.append(made[len(state) :])
        state = made[: len(state)]
    return [*state, *(_stacked(call, list(each)) for each in zip(*stacked))]


def _associative_scan(call: Call, node: Node, known: Known, values: Sequence[Any], body: Body) -> list[Any]:
    combine = module_of(node.args[0])
    xs, more = _tensors(call, values[1]), list(values[2])
    unknown: list[Any] = [None] * (2 * len(xs) + len(more))
    state = [_element(call, x, 0) for x in xs]
    stacked = [state]
    for place in range(1, _length(call, xs)):
        given = [*state, *(_element(call, x, place) for x in xs), *more]
        state = _tensors(call, body(combine, given, unknown)[0])
        stacked.append(state)
    return [_stacked(call, list(each)) for each in zip(*stacked)]


def _flex_attention(call: Call, node: Node, known: Known, values: Sequence[Any], body: Body) -> list[Any]:
    from .flex_attention import expanded  # which loads TorchDynamo: that takes as long as PyTorch itself

    module, taken, structure = expanded(node)
    arguments: Any = node.args
    given = {one: value for one, value in zip(tree_leaves(arguments), tree_leaves(values)) if isinstance(one, Node)}
    results, _ = body(module, [given[one] for one in taken], [None] * len(taken))
    return tree_unflatten(results, structure)


CONTROL: dict[Any, Callable[[Any, Node, Known, Sequence[Any], Body], list[Any]]] = {
    torch.ops.higher_order.cond: _cond,
    torch.ops.higher_order.while_loop: _while_loop,
    torch.ops.higher_order.scan: _scan,
    torch.ops.higher_order.associative_scan: _associative_scan,
    torch.ops.higher_order.flex_attention: _flex_attention,
    torch.ops.higher_order.flex_attention_backward: _flex_attention,
}
"""What makes operators of these nodes, whose bodies are modules."""


def module_of(node: Any) -> GraphModule:
    """The module that a node gives an operator."""
    owner: Any = node.graph.owning_module
    return owner.get_submodule(node.target)


def _flat(values: Any) -> Iterator[Any]:
    for one in values:
        yield from _flat(one) if is_listed(one) else (one,)


def _tensors(call: Call, values: Any) -> list[Value]:
    found = list(_flat(values))
    for one in found:
        if not isinstance(one, Value):
            what = f"the number {one}" if isinstance(one, (int, float)) else "complex numbers"
            raise call.error(f"expected tensors of real numbers in a branch or a loop, got {what}")
    return found


def _length(call: Call, xs: Sequence[Value]) -> int:
    count = xs[0].shape[0]
    if not isinstance(count, int) or count > MOST_ITERATIONS:
        raise call.error(f"expected a sequence of at most {MOST_ITERATIONS}, got {count}")
    return count


def _element(call: Call, x: Value, place: int) -> Value:
    rest = list(x.shape[1:])
    part = call.op("slice", x, starts=[place, *([0] * len(rest))], steps=[1] * x.rank, sizes=[1, *rest])
    return call.reshape(part, rest)


def _stacked(call: Call, values: Sequence[Value]) -> Value:
    wide = [call.reshape(one, [1, *one.shape]) for one in values]
    return wide[0] if len(wide) == 1 else call.op("concat", *wide, axis=0)
