"""Random ONNX graphs of nearly all operators, whose values ONNX's reference computes in double precision as they are drawn.

Floats of the inputs are multiples of 1/4. What is computed of them without rounding is known to be exact. Operators that
are not continuous (comparisons, indices of the largest, casts to integers) take exact values alone, so that float32 and
float64 agree on them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

__all__ = ["RandomGraph"]

OPSET = 21
_LARGEST = 1e4
_MOST = 4000
"""Elements of a value."""


@dataclass(slots=True)
class Value:
    """A value of the graph: what it is in double precision, whether that is exact, and the largest of what led to it."""

    array: np.ndarray
    exact: bool
    scale: float


class NotDrawn(Exception):
    """What was drawn is no node: the next is."""


class RandomGraph:
    """A graph with its inputs and results. `model(FLOAT)` is what is compiled."""

    def __init__(self, seed: int, nodes: int = 10) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.drawn = 0
        self.weights: dict[str, np.ndarray] = {}
        self.values: dict[str, Value] = {}
        self.used: set[str] = set()
        rank = int(self.rng.integers(1, 5))
        shape = tuple(int(n) for n in self.rng.integers(1, 7, rank))
        inputs = {
            "x": self._quarters(shape),
            "y": self._quarters(shape if self.rng.random() < 0.6 else self._shape()),
            "i": self.rng.integers(-9, 10, shape if self.rng.random() < 0.5 else self._shape()),
            "c": self.rng.random(shape) < 0.5,
        }
        for name, array in inputs.items():
            self.values[name] = Value(array, True, float(np.abs(array.astype("float64")).max(initial=0)))
        self.inputs = list(inputs)
        left = 40 * nodes
        while len(self.nodes) < nodes and left:
            left -= 1
            with contextlib.suppress(NotDrawn):
                KINDS[int(self.rng.integers(len(KINDS)))](self)
        read = {name for node in self.nodes for name in node.input}
        self.weights = {name: array for name, array in self.weights.items() if name in read}

    # ------------------------------------------------------------------ what is drawn

    def _shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.rng.integers(1, 6, int(self.rng.integers(1, 5))))

    def _quarters(self, shape: Sequence[int]) -> np.ndarray:
        return self.rng.integers(-12, 13, tuple(shape)).astype("float64") / 4

    def chance(self, part: float) -> bool:
        return bool(self.rng.random() < part)

    def number(self, low: int, high: int) -> int:
        """From low up to high, high included."""
        if high < low:
            raise NotDrawn  # an extent of 0
        return int(self.rng.integers(low, high + 1))

    def one_of(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def pick(self, kinds: str, exact: bool = False, least: int = 0, most: int = 9) -> str:
        """A value with a type of `kinds` (f, i, b, q), of so many dimensions; later ones are likelier."""
        found = [
            name
            for name, value in self.values.items()
            if _kind(value.array) in kinds and (value.exact or not exact) and least <= value.array.ndim <= most
        ]
        if not found:
            raise NotDrawn
        weights = np.arange(1, len(found) + 1, dtype="float64")
        return str(self.rng.choice(found, p=weights / weights.sum()))

    def shape(self, name: str) -> tuple[int, ...]:
        return self.values[name].array.shape if name in self.values else self.weights[name].shape

    def constant(self, array: Any) -> str:
        name = f"w{self.drawn}"
        self.drawn += 1
        self.weights[name] = np.asarray(array)
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(np.array(values, "int64"))

    def weight(self, *shape: int) -> str:
        return self.constant(self._quarters(shape))

    def partner(self, name: str) -> str:
        """An operand that broadcasts with a value: another one, or a constant of some of its dimensions."""
        shape, kind = self.shape(name), _kind(self.values[name].array)
        found = []
        for other, value in self.values.items():
            try:
                whole = np.broadcast_shapes(shape, value.array.shape)
            except ValueError:
                continue
            if value.array.dtype == self.values[name].array.dtype and np.prod(whole) <= _MOST:
                found.append(other)
        if found and self.chance(0.7):
            return str(self.rng.choice(found))
        some = tuple(n if self.chance(0.5) else 1 for n in shape)[self.number(0, len(shape)) :]
        array = self._quarters(some) if kind == "f" else self.rng.integers(-5, 6, some)
        return self.constant(array.astype(self.values[name].array.dtype))

    # ------------------------------------------------------------------ nodes

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        outputs: int = 1,
        *,
        keeps: bool = False,
        body: Any = None,
        **attributes: Any,
    ) -> None:
        """Adds a node where the reference computes it and its values are of a size to go on with.

        `keeps` says that results of exact values are exact, where they are multiples of 2^-10 and no larger than 2^12.
        """
        names = [f"v{len(self.values) + at}" for at in range(outputs)]
        node = helper.make_node(op, list(inputs), names, name=f"n{len(self.nodes)}", **attributes)
        given = {name: self._array(name) for name in inputs if name}
        infos = [helper.make_tensor_value_info(name, _onnx(array), list(array.shape)) for name, array in given.items()]
        graph = helper.make_graph([node], "one", infos, [helper.make_empty_tensor_value_info(name) for name in names])
        try:
            with np.errstate(all="ignore"):
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
                results = [np.asarray(one) for one in ReferenceEvaluator(model).run(None, given)]
        except Exception:  # what the reference refuses, or does not have
            raise NotDrawn from None
        from_values = [self.values[name] for name in inputs if name in self.values]
        scale = max((value.scale for value in from_values), default=0.0)
        made: list[Value] = []
        for one in results:
            wide = one.astype("float64") if one.dtype != object else None
            if (
                wide is None
                or one.size > _MOST
                or not np.isfinite(wide).all()
                or np.abs(wide).max(initial=0) > _LARGEST
            ):
                raise NotDrawn
            if _kind(one) == "f" and one.dtype != np.float64:
                raise NotDrawn
            exact = keeps and all(value.exact for value in from_values)
            if _kind(one) == "f":
                exact = exact and bool((np.abs(wide) <= 2**12).all() and (wide * 2**10 == np.round(wide * 2**10)).all())
            made.append(Value(one, exact or _kind(one) != "f", max(scale, float(np.abs(wide).max(initial=0)))))
        self.nodes.append(node)
        self.used.update(inputs)
        self.values.update(zip(names, made))

    def _array(self, name: str) -> np.ndarray:
        return self.values[name].array if name in self.values else self.weights[name]

    def outputs(self) -> list[str]:
        """What no node reads, but for inputs."""
        return [name for name in self.values if name not in self.used and name not in self.inputs]

    def model(self, float_type: int = TensorProto.FLOAT) -> onnx.ModelProto:
        dtype = helper.tensor_dtype_to_np_dtype(float_type)

        def info(name: str) -> Any:
            array = self.values[name].array
            kind = float_type if _kind(array) == "f" else _onnx(array)
            return helper.make_tensor_value_info(name, kind, list(array.shape))

        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in self.nodes]
        for node in nodes:
            for attribute in node.attribute:
                if attribute.name in ("to", "dtype", "output_dtype") and attribute.i == TensorProto.DOUBLE:
                    attribute.i = float_type
        weights = [
            numpy_helper.from_array(array.astype(dtype) if _kind(array) == "f" else array, name)
            for name, array in self.weights.items()
        ]
        graph = helper.make_graph(
            nodes, "random", [info(name) for name in self.inputs], [info(name) for name in self.outputs()], weights
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])

    def arguments(self) -> list[np.ndarray]:
        return [_narrow(self.values[name].array) for name in self.inputs]

    def check(self, results: Sequence[np.ndarray]) -> None:
        """Raises AssertionError where results are not those of the reference."""
        for name, found in zip(self.outputs(), results):
            value = self.values[name]
            wanted, say = value.array, f"output {name}"
            assert found.shape == wanted.shape, f"{say}: expected shape {wanted.shape}, got {found.shape}"
            if _kind(wanted) != "f":
                assert found.dtype == wanted.dtype, f"{say}: expected {wanted.dtype}, got {found.dtype}"
                np.testing.assert_array_equal(found, wanted, err_msg=say)
            else:
                limit = 0.0 if value.exact else 1e-4 * max(1.0, value.scale)
                np.testing.assert_allclose(found.astype("float64"), wanted, rtol=0, atol=limit, err_msg=say)


def _kind(array: np.ndarray) -> str:
    if array.dtype.kind == "f":
        return "f"
    return "b" if array.dtype == bool else "i" if array.dtype in (np.int64, np.int32) else "q"


def _onnx(array: np.ndarray) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def _narrow(array: np.ndarray) -> np.ndarray:
    return array.astype("float32") if array.dtype == np.float64 else array


# ---------------------------------------------------------------------- the kinds of nodes

Graph = RandomGraph
_SMOOTH = (
    "Tanh", "Sigmoid", "Erf", "Softplus", "Elu", "Selu", "HardSwish", "HardSigmoid", "Gelu", "Sin", "Cos", "Atan",
    "Softsign", "Mish", "Celu", "ThresholdedRelu",
)  # fmt: skip


def unary(g: Graph) -> None:
    name = g.pick("f")
    op = g.one_of("Relu", "Neg", "Abs", "LeakyRelu", "Identity", *_SMOOTH)
    if op == "ThresholdedRelu":
        return g.add(op, [g.pick("f", exact=True)], keeps=True, alpha=0.5)
    g.add(op, [name], keeps=op in ("Relu", "Neg", "Abs", "Identity"))


def exponential(g: Graph) -> None:
    name = g.pick("f")
    low, high = g.constant(np.array(-4.0)), g.constant(np.array(4.0))
    g.add("Clip", [name, low, high], keeps=True)
    g.add(g.one_of("Exp", "Sinh", "Cosh", "Tanh"), [f"v{len(g.values) - 1}"])


def root(g: Graph) -> None:
    g.add("Abs", [g.pick("f")], keeps=True)
    g.add("Add", [f"v{len(g.values) - 1}", g.constant(np.array(0.5))], keeps=True)
    g.add(g.one_of("Sqrt", "Log", "Reciprocal"), [f"v{len(g.values) - 1}"])


def steps(g: Graph) -> None:
    g.add(g.one_of("Floor", "Ceil", "Round", "Sign"), [g.pick("f", exact=True)], keeps=True)


def integers(g: Graph) -> None:
    g.add(g.one_of("Neg", "Abs", "Sign", "BitwiseNot"), [g.pick("i")])


def binary(g: Graph) -> None:
    name = g.pick("fi")
    pair = [name, g.partner(name)]
    if g.chance(0.5):
        pair.reverse()
    g.add(
        g.one_of("Add", "Sub", "Mul", "Max", "Min", "Mean" if _kind(g._array(name)) == "f" else "Add"), pair, keeps=True
    )


def division(g: Graph) -> None:
    name = g.pick("fi")
    shape = tuple(n if g.chance(0.5) else 1 for n in g.shape(name))
    if _kind(g._array(name)) == "f":
        return g.add(
            "Div", [name, g.constant((g.rng.integers(0, 2, shape) * 2 - 1) * g.rng.integers(1, 9, shape) / 2.0)]
        )
    divisor = (g.rng.integers(0, 2, shape) * 2 - 1) * g.rng.integers(1, 8, shape)
    op, fmod = g.one_of(("Div", None), ("Mod", 0), ("Mod", 1))
    divisor = g.constant(divisor.astype(g._array(name).dtype))
    if op == "Div":  # truncates, but ONNX's reference takes the floor of negative ones
        g.add("Abs", [name])
        return g.add("Div", [f"v{len(g.values) - 1}", g.constant(np.abs(g.weights[divisor]))])
    g.add("Mod", [name, divisor], fmod=fmod)


def power(g: Graph) -> None:
    g.add("Pow", [g.pick("f"), g.constant(np.array(g.one_of(2.0, 3.0)))], keeps=True)


def compare(g: Graph) -> None:
    name = g.pick("fi", exact=True)
    other = g.partner(name)
    if other in g.values and not g.values[other].exact:
        raise NotDrawn
    g.add(g.one_of("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"), [name, other])


def logic(g: Graph) -> None:
    name = g.pick("b")
    if g.chance(0.3):
        return g.add("Not", [name])
    g.add(g.one_of("And", "Or", "Xor"), [name, g.partner(name)])


def where(g: Graph) -> None:
    name = g.pick("fi")
    other = g.partner(name)
    g.add("Where", [g.pick("b"), name, other], keeps=True)


def cast(g: Graph) -> None:
    name = g.pick("fib", exact=True)
    to = g.one_of(TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.INT8)
    g.add("Cast", [name], keeps=True, to=to)


def narrow(g: Graph) -> None:
    g.add("Cast", [g.pick("q")], keeps=True, to=g.one_of(TensorProto.DOUBLE, TensorProto.INT32))


def matmul(g: Graph) -> None:
    name = g.pick("f", least=1)
    shape = g.shape(name)
    others = [
        other for other, value in g.values.items()
        if value.array.dtype == np.float64 and value.array.ndim > 1 and value.array.shape[-2] == shape[-1]
    ]  # fmt: skip
    if others and g.chance(0.5):
        return g.add("MatMul", [name, str(g.rng.choice(others))], keeps=True)
    batch = shape[:-2] if g.chance(0.2) else ()
    g.add("MatMul", [name, g.weight(*batch, shape[-1], g.number(1, 9))], keeps=True)


def gemm(g: Graph) -> None:
    name = g.pick("f", least=2, most=2)
    rows, cols = g.shape(name)
    a, b, n = g.number(0, 1), g.number(0, 1), g.number(1, 7)
    k, m = (rows, cols) if a else (cols, rows)
    c = g.one_of((), (n,), (1, n), (m, 1), (m, n))
    inputs = [name, g.weight(*((n, k) if b else (k, n)))] + ([g.weight(*c)] if g.chance(0.7) else [])
    g.add("Gemm", inputs, keeps=True, transA=a, transB=b, alpha=g.one_of(1.0, 0.5), beta=g.one_of(1.0, 2.0))


def einsum(g: Graph) -> None:
    name = g.pick("f", least=2, most=3)
    shape, n = g.shape(name), g.number(1, 5)
    if len(shape) == 2:
        text, other = g.one_of(("ij,jk->ik", (shape[1], n)), ("ij,kj->ki", (n, shape[1])), ("ij,ij->i", shape))
    else:
        text, other = g.one_of(
            ("bij,bjk->bik", (shape[0], shape[2], n)), ("bij,kj->kbi", (n, shape[2])), ("bij,bij->", shape),
            ("bij,b->ji", (shape[0],)),
        )  # fmt: skip
    g.add("Einsum", [name, g.weight(*other)], keeps=True, equation=text)


def convolution(g: Graph) -> None:
    name = g.pick("f", least=3, most=5)
    batch, channels, *spatial = g.shape(name)
    groups = g.one_of(1, 1, channels)
    dilations = [g.number(1, 2) for _ in spatial]
    kernel = [g.number(1, 3) for _ in spatial]
    attributes: dict[str, Any] = {"dilations": dilations, "strides": [g.number(1, 2) for _ in spatial], "group": groups}
    if g.chance(0.25):
        attributes["auto_pad"] = g.one_of("SAME_UPPER", "SAME_LOWER", "VALID")
        attributes["dilations"] = [1] * len(spatial)
    else:
        attributes["pads"] = [g.number(0, 2) for _ in range(2 * len(spatial))]
    outputs = groups * g.number(1, 3)
    if g.chance(0.3) and "pads" in attributes:
        attributes["dilations"] = [1] * len(spatial)
        weight, op = g.weight(channels, outputs // groups, *kernel), "ConvTranspose"
        if groups != 1:
            raise NotDrawn  # the reference's groups are not right
    else:
        weight, op = g.weight(outputs, channels // groups, *kernel), "Conv"
    bias = [g.weight(outputs)] if g.chance(0.5) else []
    g.add(op, [name, weight, *bias], keeps=True, kernel_shape=kernel, **attributes)


def pool(g: Graph) -> None:
    name = g.pick("f", least=3, most=5)
    spatial = g.shape(name)[2:]
    if g.chance(0.2):
        # The reference takes the largest along other dimensions where there are not two behind the channels.
        return g.add(g.one_of("GlobalAveragePool", *(["GlobalMaxPool"] if len(spatial) == 2 else [])), [name])
    kernel = [g.number(1, 3) for _ in spatial]
    pads = [g.number(0, (kernel[at % len(kernel)] - 1) // 2) for at in range(2 * len(spatial))]
    how: dict[str, Any] = {"kernel_shape": kernel, "strides": [g.number(1, 2) for _ in spatial], "pads": pads}
    if g.chance(0.5):
        how["pads"] = pads[: len(spatial)] * 2  # the reference's extents are not right for others
        return g.add("MaxPool", [name], keeps=True, **how)
    g.add("AveragePool", [name], count_include_pad=g.number(0, 1), **how)


def normalize(g: Graph) -> None:
    name = g.pick("f", least=2)
    shape = g.shape(name)
    op = g.one_of("BatchNormalization", "LayerNormalization", "InstanceNormalization", "GroupNormalization")
    channels = shape[1]
    if op == "LayerNormalization":
        axis = g.number(-len(shape), len(shape) - 1)
        of = shape[axis % len(shape) :]
        return g.add(op, [name, g.weight(*of), *([g.weight(*of)] if g.chance(0.5) else [])], axis=axis)
    given = [name, g.weight(channels), g.weight(channels)]
    if op == "BatchNormalization":
        given += [g.weight(channels), g.constant(g.rng.integers(1, 9, channels) / 4.0)]
    elif len(shape) < 3:
        raise NotDrawn
    elif op == "GroupNormalization":
        groups = g.one_of(*[n for n in range(1, channels + 1) if channels % n == 0])
        return g.add(op, given, num_groups=groups)
    g.add(op, given)


def reduction(g: Graph) -> None:
    name = g.pick("fi", least=1)
    rank = len(g.shape(name))
    op = g.one_of("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1")
    if _kind(g._array(name)) == "f":
        op = g.one_of(op, "ReduceMean", "ReduceL2", "ReduceLogSumExp")
    axes = g.rng.permutation(rank)[: g.number(1, rank)]
    axes = [int(axis) - (rank if g.chance(0.3) else 0) for axis in axes]
    inputs = [name] if g.chance(0.15) else [name, g.numbers(*axes)]
    g.add(op, inputs, keeps=op not in ("ReduceMean", "ReduceL2", "ReduceLogSumExp"), keepdims=g.number(0, 1))


def arg_reduction(g: Graph) -> None:
    name = g.pick("fi", exact=True, least=1)
    axis = g.number(-len(g.shape(name)), len(g.shape(name)) - 1)
    how = {"axis": axis, "keepdims": g.number(0, 1), "select_last_index": g.number(0, 1)}
    g.add(g.one_of("ArgMax", "ArgMin"), [name], **how)


def top_k(g: Graph) -> None:
    name = g.pick("fi", exact=True, least=1)
    axis = g.number(0, len(g.shape(name)) - 1)
    k = g.number(1, g.shape(name)[axis])
    array = g._array(name)
    if any(len(np.unique(row)) < len(row) for row in np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])):
        raise NotDrawn  # which of equal ones is not said
    g.add("TopK", [name, g.numbers(k)], 2, keeps=True, axis=axis, largest=g.number(0, 1), sorted=1)


def cumulate(g: Graph) -> None:
    name = g.pick("fi", least=1)
    axis = g.constant(np.array(g.number(0, len(g.shape(name)) - 1), "int64"))
    g.add("CumSum", [name, axis], keeps=True, exclusive=g.number(0, 1), reverse=g.number(0, 1))


def soft(g: Graph) -> None:
    name = g.pick("f", least=1)
    axis = g.number(-len(g.shape(name)), len(g.shape(name)) - 1)
    op = g.one_of("Softmax", "LogSoftmax", "LpNormalization")
    g.add(op, [name], axis=axis)


def transpose(g: Graph) -> None:
    name = g.pick("fibq", least=2)
    order = [int(d) for d in g.rng.permutation(len(g.shape(name)))]
    g.add("Transpose", [name], keeps=True, **({} if g.chance(0.2) else {"perm": order}))


def reshape(g: Graph) -> None:
    name = g.pick("fib", least=1)
    shape = list(g.shape(name))
    kind = g.number(0, 4)
    if kind == 0:
        return g.add("Flatten", [name], keeps=True, axis=g.number(0, len(shape)))
    if kind == 1:
        axes = sorted(int(d) for d in g.rng.permutation(len(shape) + 1)[: g.number(1, 2)])
        return g.add("Unsqueeze", [name, g.numbers(*axes)], keeps=True)
    if kind == 2:
        ones = [d for d, n in enumerate(shape) if n == 1]
        if not ones:
            raise NotDrawn
        return g.add("Squeeze", [name, g.numbers(*ones)], keeps=True)
    size, made = int(np.prod(shape)), []
    if not size:
        raise NotDrawn  # any extent would be right for -1
    for _ in range(g.number(0, 2)):
        factors = [n for n in range(1, size + 1) if size % n == 0]
        made.append(int(g.rng.choice(factors)))
        size //= made[-1]
    made.insert(g.number(0, len(made)), -1)
    g.add("Reshape", [name, g.numbers(*made)], keeps=True)


def shape_arithmetic(g: Graph) -> None:
    name = g.pick("fi", least=2)
    g.add("Shape", [name], keeps=True, start=0, end=g.number(1, len(g.shape(name)) - 1))
    g.add("Concat", [f"v{len(g.values) - 1}", g.numbers(-1)], keeps=True, axis=0)
    g.add("Reshape", [name, f"v{len(g.values) - 1}"], keeps=True)


def slices(g: Graph) -> None:
    name = g.pick("fibq", least=1)
    shape = g.shape(name)
    axes = sorted(int(d) for d in g.rng.permutation(len(shape))[: g.number(1, len(shape))])
    starts, ends, by = [], [], []
    for axis in axes:
        n, step = shape[axis], g.one_of(1, 1, 2, -1, -2)
        first, last = g.number(0, n - 1), g.number(1, n + 2)
        if step > 0:
            starts.append(min(first, last - 1)), ends.append(last)
        else:
            starts.append(g.number(0, n + 1)), ends.append(g.one_of(-n - 1, -n - 5))
        by.append(step)
    g.add("Slice", [name, g.numbers(*starts), g.numbers(*ends), g.numbers(*axes), g.numbers(*by)], keeps=True)


def concatenate(g: Graph) -> None:
    name = g.pick("fib", least=1)
    array = g._array(name)
    axis = g.number(0, array.ndim - 1)
    same = [
        other for other, value in g.values.items()
        if value.array.dtype == array.dtype and value.array.ndim == array.ndim
        and all(a == b for d, (a, b) in enumerate(zip(value.array.shape, array.shape)) if d != axis)
    ]  # fmt: skip
    g.add("Concat", [name, *(str(g.rng.choice(same)) for _ in range(g.number(1, 2)))], keeps=True, axis=axis)


def split(g: Graph) -> None:
    name = g.pick("fib", least=1)
    axis = g.number(0, len(g.shape(name)) - 1)
    n = g.shape(name)[axis]
    if n < 2:
        raise NotDrawn
    at = g.number(1, n - 1)
    g.add("Split", [name, g.numbers(at, n - at)], 2, keeps=True, axis=axis)


def repeat(g: Graph) -> None:
    name = g.pick("fib", least=1)
    shape = g.shape(name)
    if g.chance(0.5):
        return g.add("Tile", [name, g.numbers(*(g.number(1, 2) for _ in shape))], keeps=True)
    to = [g.number(2, 4) if n == 1 else n for n in shape]
    g.add("Expand", [name, g.numbers(*([g.number(1, 3)] if g.chance(0.4) else []), *to)], keeps=True)


def pad(g: Graph) -> None:
    name = g.pick("fi", least=1)
    shape = g.shape(name)
    mode = g.one_of("constant", "constant", "reflect", "edge", "wrap")
    most = [n - 1 if mode == "reflect" else n if mode == "wrap" else 3 for n in shape] * 2
    amounts = g.numbers(*(g.number(0, min(3, each)) for each in most))
    value = [g.constant(np.array(1.5 if _kind(g._array(name)) == "f" else 3, g._array(name).dtype))]
    g.add("Pad", [name, amounts, *(value if mode == "constant" and g.chance(0.5) else [])], keeps=True, mode=mode)


def gather(g: Graph) -> None:
    name = g.pick("fib", least=1)
    shape = g.shape(name)
    axis = g.number(0, len(shape) - 1)
    n = shape[axis]
    if 0 in shape:
        raise NotDrawn
    kind = g.number(0, 2)
    if kind == 0:
        of = tuple(g.number(1, 3) for _ in range(g.number(0, 2)))
        return g.add("Gather", [name, g.constant(g.rng.integers(-n, n, of))], keeps=True, axis=axis)
    if kind == 1:
        of = tuple(g.number(1, each) for each in shape)
        return g.add("GatherElements", [name, g.constant(g.rng.integers(-n, n, of))], keeps=True, axis=axis)
    depth = g.number(1, len(shape))
    count = g.number(1, 4)
    places = np.stack([g.rng.integers(-each, each, count) for each in shape[:depth]], -1)
    g.add("GatherND", [name, g.constant(places)], keeps=True)


def gather_by_data(g: Graph) -> None:
    name, index = g.pick("f", least=1), g.pick("i")
    n = g.shape(name)[0]
    if n == 0:
        raise NotDrawn
    g.add("Mod", [index, g.constant(np.array(n, g._array(index).dtype))], fmod=0)
    g.add("Gather", [name, f"v{len(g.values) - 1}"], keeps=True, axis=0)


def scatter(g: Graph) -> None:
    name = g.pick("fi", least=1)
    array = g._array(name)
    axis = g.number(0, array.ndim - 1)
    of = list(array.shape)
    of[axis] = g.number(1, of[axis])
    rows = [g.rng.permutation(array.shape[axis])[: of[axis]] for _ in range(int(np.prod(of)) // of[axis])]
    moved = np.array(rows).reshape(*(of[:axis] + of[axis + 1 :]), of[axis])
    updates = g.constant((g._quarters(of) * 4).astype(array.dtype))
    reduction = g.one_of("none", "add", "max")
    index = g.constant(np.moveaxis(moved, -1, axis))
    g.add("ScatterElements", [name, index, updates], keeps=True, axis=axis, reduction=reduction)


def space(g: Graph) -> None:
    name = g.pick("f", least=4, most=4)
    _, c, h, w = g.shape(name)
    if c % 4 == 0 and g.chance(0.6):
        return g.add("DepthToSpace", [name], keeps=True, blocksize=2, mode=g.one_of("DCR", "CRD"))
    if h % 2 or w % 2:
        raise NotDrawn
    g.add("SpaceToDepth", [name], keeps=True, blocksize=2)


def resize(g: Graph) -> None:
    name = g.pick("f", least=3, most=4)
    shape = g.shape(name)
    sizes = g.numbers(*shape[:2], *(g.number(1, 2 * n) for n in shape[2:]))
    mode = g.one_of("nearest", "linear")
    how = {"mode": mode, "coordinate_transformation_mode": g.one_of("half_pixel", "asymmetric", "align_corners")}
    if mode == "nearest":
        how["coordinate_transformation_mode"] = "asymmetric"
        how["nearest_mode"] = "floor"
    g.add("Resize", [name, "", "", sizes], **how)


def triangle(g: Graph) -> None:
    name = g.pick("fi", least=2)
    k = g.constant(np.array(g.number(-2, 2), "int64"))
    g.add("Trilu", [name, k], keeps=True, upper=g.number(0, 1))


def one_hot(g: Graph) -> None:
    name = g.pick("i", most=3)
    depth, values = g.constant(np.array(g.number(2, 9), "int64")), g.constant(np.array([-1.0, 2.5]))
    g.add("OneHot", [name, depth, values], keeps=True, axis=g.number(-1, len(g.shape(name))))


def quantize(g: Graph) -> None:
    name = g.pick("f", exact=True, least=1)
    scale, zero = g.constant(np.array(0.25)), g.constant(np.array(g.number(-3, 3), "int8"))
    g.add("QuantizeLinear", [name, scale, zero], keeps=True)
    g.add("DequantizeLinear", [f"v{len(g.values) - 1}", scale, zero], keeps=True)


def recurrent(g: Graph) -> None:
    name = g.pick("f", least=3, most=3)
    length, batch, size = g.shape(name)
    op, gates = g.one_of(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    hidden, direction = g.number(1, 5), g.one_of("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    inputs = [name, g.weight(ways, gates * hidden, size), g.weight(ways, gates * hidden, hidden)]
    if g.chance(0.5):
        inputs.append(g.weight(ways, 2 * gates * hidden))
    how = {"linear_before_reset": g.number(0, 1)} if op == "GRU" else {}
    if direction != "forward":
        raise NotDrawn  # the reference has the forward direction alone right
    g.add(op, inputs, 2, hidden_size=hidden, direction=direction, **how)


KINDS: tuple[Callable[[Graph], None], ...] = (
    unary, unary, binary, binary, binary, exponential, root, steps, integers, division, power, compare, logic, where,
    cast, narrow, matmul, matmul, gemm, einsum, convolution, convolution, pool, normalize, reduction, reduction,
    arg_reduction, top_k, cumulate, soft, transpose, reshape, reshape, shape_arithmetic, slices, concatenate, split,
    repeat, pad, gather, gather_by_data, scatter, space, resize, triangle, one_hot, quantize, recurrent,
)  # fmt: skip
