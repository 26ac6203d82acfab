"""The values of a graph or a function body by their names, and the nodes that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ..errors import CompileError, TilewrightError
from ..graph import GraphBuilder, TensorType, Value
from . import control, sequences, symbolic
from .failures import AlreadyFailed, NeedsInput
from .narrow import MOVES, NARROW, Narrow
from .node import CLASSICAL, CONTRIB, CONVERTERS, Node, constant_of, without_inputs

__all__ = ["Scope"]


class Scope:
    """The names of one graph or function body. A name that is not here is looked up in the enclosing scope.

    A name stands for a tensor of the graph, for a known value, or for a node whose inputs are all known. Such a node
    becomes a tensor or a value at its first use.
    """

    builder: GraphBuilder
    opsets: dict[str, int]
    parent: Scope | None
    prefix: str
    functions: Mapping[tuple[str, str], Any]

    def __init__(
        self, builder: GraphBuilder, opsets: Mapping[str, int], parent: Scope | None = None, prefix: str = "",
        functions: Mapping[tuple[str, str], Any] | None = None,
    ) -> None:  # fmt: skip
        self.builder, self.opsets, self.parent, self.prefix = builder, dict(opsets), parent, prefix
        self.functions = functions if functions is not None else (parent.functions if parent is not None else {})
        self._tensors: dict[str, Value] = {}
        self._hosts: dict[str, np.ndarray] = {}
        self._inputs: dict[str, np.ndarray | None] = {}  # of the model, with their values where these are known
        self._lazy: dict[str, tuple[Node, int]] = {}
        self._missing: dict[str, tuple[str, ...]] = {}  # by name, the inputs of the model that it is made of
        self.errors: list[str] = parent.errors if parent is not None else []
        self._failed: set[str] = set()
        self._sequences: dict[str, tuple[sequences.Element, ...]] = {}

    # Names.

    def version_of(self, domain: str) -> int:
        """The version of a domain's operators."""
        domain = "" if domain == "ai.onnx" else domain
        if domain in self.opsets:
            return self.opsets[domain]
        return self.parent.version_of(domain) if self.parent is not None else 1

    def put(self, name: str, value: Value) -> None:
        """A name for a tensor of the graph."""
        self._tensors[name] = value

    def put_host(self, name: str, value: np.ndarray) -> None:
        """A name for a value that is known now."""
        self._hosts[name] = value

    def put_input(self, name: str, value: Value, known: np.ndarray | None) -> None:
        """An input of the model; `known` is its value where shapes may depend on it."""
        self._tensors[name] = value
        self._inputs[name] = known

    def put_sequence(self, name: str, elements: tuple[sequences.Element, ...]) -> None:
        """A name for a sequence of tensors."""
        self._sequences[name] = elements

    def sequence(self, name: str) -> tuple[sequences.Element, ...] | None:
        """The sequence of tensors that a name stands for, None where it stands for a tensor."""
        scope, own = self._owner(name)
        if own in scope._failed:
            raise AlreadyFailed
        return scope._sequences.get(own)

    def link(self, name: str, other: Scope, outer: str) -> None:
        """A name for what another scope has under its own name."""
        self._links()[name] = (other, outer)

    def inner(self, label: str) -> Scope:
        """A scope for a graph in a node, which sees the names around it."""
        made = Scope(self.builder, {}, self, f"{label} / ", self.functions)
        made.errors = self.errors
        return made

    def run_graph(self, graph: Any) -> None:
        """The constants and the nodes of a graph in a node."""
        from .load import array_of

        for one in graph.initializer:
            self.put_host(one.name, array_of(one, None))
        before = len(self.errors)
        self.run(graph.node)
        if len(self.errors) > before:
            raise AlreadyFailed

    def _links(self) -> dict[str, tuple[Scope, str]]:
        if not hasattr(self, "_linked"):
            self._linked: dict[str, tuple[Scope, str]] = {}
        return self._linked

    def _owner(self, name: str) -> tuple[Scope, str]:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._links():
                other, outer = scope._links()[name]
                return other._owner(outer)
            if any(
                name in held for held in (scope._tensors, scope._hosts, scope._lazy, scope._failed, scope._sequences)
            ):
                return scope, name
            scope = scope.parent
        raise CompileError(f"expected a value {name!r} before it is used, got none", stage="graph")

    # Values.

    def tensor(self, name: str) -> Value:
        """The tensor of the graph that a name stands for."""
        scope, own = self._owner(name)
        return scope._tensor(own)

    def _tensor(self, name: str) -> Value:
        if name in self._failed:
            raise AlreadyFailed
        if name in self._sequences:
            raise CompileError(f"expected a tensor, got sequence {name!r}", stage="graph")
        if name not in self._tensors:
            if name in self._lazy and not self._is_constant_node(self._lazy[name][0]):
                node, _ = self._lazy[name]
                self._convert(node)
                return self.tensor(name)  # a function's result is in the scope of its body
            value = self._host(name)
            if value.dtype == object:
                self._tensors[name] = symbolic.as_tensor(self.builder, value)
            else:
                self._tensors[name] = self._constant(name, value)
        return self._tensors[name]

    def _constant(self, name: str, value: np.ndarray) -> Value:
        if value.dtype.name in NARROW:
            held = self._constant(name, np.ascontiguousarray(value).view(np.uint8).reshape(value.shape))
            return Narrow(held.value, held.type, value.dtype.name)
        if value.size == 1:
            return self.builder.constant(value)
        return self.builder.weight(f"{self.prefix}{name}", np.ascontiguousarray(value).reshape(value.shape))

    def type_of(self, name: str) -> TensorType:
        """The type of what a name stands for."""
        scope, own = self._owner(name)
        if own in scope._tensors:
            value = scope._tensors[own]
            return TensorType(value.shape, value.stored) if isinstance(value, Narrow) else value.type
        if own in scope._hosts or own in scope._lazy and scope._is_known(own):
            value = scope._host(own)
            return TensorType(value.shape, "int64" if value.dtype == object else value.dtype.name)  # pyright: ignore[reportUnknownArgumentType]
        scope._tensor(own)
        return scope.type_of(own)

    def is_known(self, name: str) -> bool:
        """Whether the value of a name is known now."""
        scope, own = self._owner(name)
        return scope._is_known(own)

    def _is_known(self, name: str) -> bool:
        if name in self._hosts or name in self._lazy:
            return True
        return self._inputs.get(name) is not None

    def host(self, name: str) -> np.ndarray:
        """The value of a name, which has to be known now."""
        scope, own = self._owner(name)
        return scope._host(own)

    def _host(self, name: str) -> np.ndarray:
        if name in self._failed:
            raise AlreadyFailed
        if name in self._hosts:
            return self._hosts[name]
        known = self._inputs.get(name)
        if known is not None:
            return known
        if name in self._lazy:
            node, _ = self._lazy[name]
            for own, value in zip(node.proto.output, self.evaluate(node)):
                if own:
                    self._hosts[own] = value
            return self._hosts[name]
        if name in self._inputs:
            raise NeedsInput(f"input {name!r}", [name])
        if name in self._missing:
            raise NeedsInput(f"value {name!r}", self._missing[name])
        raise CompileError(f"expected a value that is known when the model is compiled, got {name!r}", stage="graph")

    def _depends_on(self, node: Node) -> tuple[str, ...]:
        """The inputs of the model whose values would make the results of a node known."""
        found: dict[str, None] = {}
        for name in node.proto.input:
            if not name:
                continue
            scope, own = self._owner(name)
            if scope._inputs.get(own, 0) is None:
                found[own] = None
            elif own in scope._missing:
                found.update(dict.fromkeys(scope._missing[own]))
        return tuple(found)

    def _is_constant(self, name: str) -> bool:
        """Whether a name is made of nothing but the model's own constants."""
        scope, own = self._owner(name)
        if own in scope._lazy:
            return scope._is_constant_node(scope._lazy[own][0])
        return own in scope._hosts and scope._inputs.get(own) is None

    def _is_constant_node(self, node: Node) -> bool:
        return node.op in ("Shape", "Size") or all(self._is_constant(name) for name in node.proto.input if name)

    def evaluate(self, node: Node) -> Sequence[np.ndarray]:
        """The results of a node on values that are known, by ONNX's reference."""
        with self.builder.node(node.label, 0):
            if node.op in ("Shape", "Size"):
                return [symbolic.shape_of(node)]
            values = [self.host(name) if name else None for name in node.proto.input]
            if any(value is not None and value.dtype == object for value in values):
                return symbolic.evaluate(node, [value for value in values if value is not None])
            if node.op == "Constant":
                return [constant_of(node)]
            if node.op == "Unsqueeze" and node.version < 13 and values[0] is not None:
                # ONNX's reference does not take this version.
                return [np.expand_dims(values[0], tuple(node.attr("axes")))]
            from onnx.reference import ReferenceEvaluator

            proto = node.proto
            opsets = {**self.opsets, "": self.version_of("")}
            try:
                feeds = {name: value for name, value in zip(proto.input, values) if name and value is not None}
                results = ReferenceEvaluator(proto, opsets=opsets).run(None, feeds)  # type: ignore[arg-type]
            except Exception as error:
                raise node.error(f"on constants: {error}") from error
            return [np.asarray(result) for result in results]  # type: ignore[arg-type]

    # Nodes.

    def add_initializers(self, graph: Any, arrays: Mapping[str, np.ndarray]) -> None:
        """The constants of a graph."""
        del graph
        for name, array in arrays.items():
            self._hosts[name] = array

    def run(self, nodes: Sequence[Any], attributes: Mapping[str, Any] | None = None) -> None:
        """Converts nodes in their order. Errors are kept, so that all are told at once."""
        from .attributes import attributes_of

        for position, proto in enumerate(nodes):
            name = proto.name or next((out for out in proto.output if out), str(position))
            label = self.prefix + f"node {name!r} ({proto.op_type})"
            try:
                node = Node(self, proto, label, attributes_of(proto, attributes or {}))
                if self._can_wait(node):
                    for number, out in enumerate(proto.output):
                        if out:
                            self._lazy[out] = (node, number)
                    continue
                self._convert(node)
            except NeedsInput:
                raise
            except AlreadyFailed:
                self._failed.update(out for out in proto.output if out)
            except TilewrightError as error:
                text = str(error)
                self.errors.append(text if text.startswith(self.prefix + "node ") else f"{label}: {text}")
                self._failed.update(out for out in proto.output if out)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Attributes and constants of a file may be anything.
                told = f"expected a node as ONNX describes it, got one that ends in {type(error).__name__}: {error}"
                self.errors.append(f"{label}: {told}")
                self._failed.update(out for out in proto.output if out)

    def _can_wait(self, node: Node) -> bool:
        """Whether the results can be known without running the model."""
        if node.op == "Constant":
            return True
        if node.op in sequences.CONVERTERS:
            return False
        if any(
            attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
            for attribute in node.proto.attribute
        ):
            return False
        if node.op in ("Shape", "Size"):
            return True
        if node.proto.domain not in ("", "ai.onnx") or node.op.startswith(("Random", "Bernoulli", "Dropout")):
            return False
        if any(len(each) == 0 for each in node.proto.input) and node.op == "Optional":
            return False
        names = [name for name in node.proto.input if name]
        if not all(self.is_known(name) for name in names) or not names:
            return False
        # A weight stays as small as it is.
        if node.op == "DequantizeLinear" and any(extent != 1 for extent in self.type_of(names[0]).shape):
            return False
        symbols = [self._is_symbolic(name) for name in names]
        return symbolic.supports(node, symbols) if any(symbols) else True

    def _is_symbolic(self, name: str) -> bool:
        scope, own = self._owner(name)
        if own in scope._hosts:
            return scope._hosts[own].dtype == object
        if own in scope._lazy:
            node = scope._lazy[own][0]
            if node.op in ("Shape", "Size"):
                return scope._host(own).dtype == object
            return any(scope._is_symbolic(each) for each in node.proto.input if each)
        return False

    def _convert(self, node: Node) -> None:
        missing = self._depends_on(node)
        for out in node.proto.output:
            if out and missing:
                self._missing[out] = missing
        with self.builder.node(node.label, 0):
            if (node.proto.domain, node.op) in self.functions:
                results = self._call(node)
            elif node.proto.domain == "com.microsoft" and node.op in CONTRIB:
                results = CONTRIB[node.op](node)
            elif node.proto.domain == "ai.onnx.ml" and node.op in CLASSICAL:
                results = CLASSICAL[node.op](node)
            elif node.proto.domain not in ("", "ai.onnx"):
                results = self._call(node)
            elif node.op in control.CONVERTERS:
                results = control.CONVERTERS[node.op](node)
            elif node.op in sequences.CONVERTERS:
                results = sequences.CONVERTERS[node.op](node)
            elif node.op == "Identity" and self.sequence(node.proto.input[0]) is not None:
                results = self.link(node.proto.output[0], self, node.proto.input[0])
            elif node.op in CONVERTERS:
                results = CONVERTERS[node.op](node)
            else:
                results = self._call(node)
        if results is None:
            return
        results = [results] if isinstance(results, Value) else results
        results = self._with_narrow(node, results)
        for out, value in zip(node.proto.output, results):
            if out and value is not None:
                self._tensors[out] = value

    def _with_narrow(self, node: Node, results: Sequence[Value | None]) -> Sequence[Value | None]:
        """The results of a node on tensors of narrow types, which only moves them: of the type of its first input."""
        if node.op in control.CONVERTERS or node.op in sequences.CONVERTERS:
            return results
        kinds = [self.type_of(name).dtype if name else "" for name in node.proto.input]
        narrow = [kind for kind in kinds if kind in NARROW]
        converts = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "GatherBlockQuantized", "Shape", "Size")
        if not narrow or node.op in converts:
            return results
        if node.op not in MOVES:
            raise node.error(f"{node.op} of {narrow[0]} is not supported")
        return [Narrow(one.value, one.type, narrow[0]) if one is not None else None for one in results]

    def _call(self, node: Node) -> None:
        """The body of a function in the place of a node."""
        from .bodies import body_of, defaults_of

        function = body_of(node, self.functions)
        if function is None:
            raise node.error(f"{node.op} of version {node.version} is not supported")
        inner = Scope(
            self.builder, {each.domain: each.version for each in function.opset_import} or self.opsets, None,
            f"{node.label} / ", self.functions,
        )  # fmt: skip
        inner.errors = self.errors
        before = len(self.errors)
        for formal, actual in zip(function.input, node.proto.input):
            if actual:
                inner.link(formal, self, actual)
        values = defaults_of(node) | {each.name: each for each in function.attribute_proto}
        # In a function's body an attribute may be that of the call around it.
        values |= {name: onnx.helper.make_attribute(name, value) for name, value in node.attributes.items()}
        absent = {formal for formal, actual in zip(function.input, [*node.proto.input, *[""] * 99]) if not actual}
        inner.run(without_inputs(function.node, absent), values)
        if len(self.errors) > before:
            raise AlreadyFailed
        for formal, actual in zip(function.output, node.proto.output):
            if actual:
                self.link(actual, inner, formal)
