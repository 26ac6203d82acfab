"""Types and attributes of the graph dialect, to and from those of te and Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir import ir

from .. import te
from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_sequence
from ..te import Expr, Tensor, Var

__all__ = [
    "Extent", "TensorType", "attribute_of", "dtype_of_element", "element_type", "extent_of", "from_ir", "to_ir",
    "value_of",
]  # fmt: skip

Extent = int | Expr


@dataclass(frozen=True, slots=True)
class TensorType:
    """A shape, of numbers and index expressions, and NumPy's name of the element type.

    >>> from tilewright import graph
    >>> print(graph.TensorType((2, 3), "float32"))
    float32[2, 3]
    """

    shape: tuple[Extent, ...]
    dtype: str

    @staticmethod
    def of(tensor: Tensor) -> TensorType:
        """The type of a tensor of te."""
        return TensorType(tuple(tensor.shape), tensor.dtype)

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every extent is a number."""
        return all(isinstance(extent, int) for extent in self.shape)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def element_type(dtype: str) -> ir.Type:
    """MLIR's type of an element: unsigned where the type is."""
    kind = dtype_of(dtype)
    return ir.Type.parse(f"u{kind.mlir}" if kind.kind == "uint" else kind.mlir)


_NAMES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool",
    "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
}  # fmt: skip


def dtype_of_element(kind: ir.Type) -> str:
    """NumPy's name of MLIR's type of an element."""
    text = str(kind)
    if text in _NAMES:
        return _NAMES[text]
    return f"uint{text[2:]}" if text.startswith("ui") else f"int{text[1:]}"


def to_ir(kind: TensorType) -> ir.Type:
    """The type of a value of the graph dialect."""
    dynamic = ir.ShapedType.get_dynamic_size()
    extents = [extent if isinstance(extent, int) else dynamic for extent in kind.shape]
    if kind.is_static:
        return ir.RankedTensorType.get(extents, element_type(kind.dtype))
    names = ", ".join('""' if isinstance(extent, int) else f'"{extent}"' for extent in kind.shape)
    return ir.RankedTensorType.get(
        extents, element_type(kind.dtype), encoding=ir.Attribute.parse(f"#graph.extents<{names}>")
    )


def from_ir(kind: ir.Type, symbols: Mapping[str, Var]) -> TensorType:
    """What `to_ir` made."""
    ranked = ir.RankedTensorType(kind)
    texts: list[str] = [""] * ranked.rank
    if ranked.encoding is not None:
        texts = [
            piece.value
            for piece in map(ir.StringAttr, ir.ArrayAttr(ir.Attribute.parse(_as_array(str(ranked.encoding)))))
        ]
    shape = [
        extent_of(text, symbols) if ranked.is_dynamic_dim(d) else ranked.get_dim_size(d) for d, text in enumerate(texts)
    ]
    return TensorType(tuple(shape), dtype_of_element(ranked.element_type))


def _as_array(encoding: str) -> str:
    return f"[{encoding[encoding.index('<') + 1 : -1]}]"


_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: te.floordiv,
    ast.Mod: te.floormod,
}


def extent_of(text: str, symbols: Mapping[str, Var]) -> Extent:
    """The extent that a text says: a number, a symbol, or an expression of them.

    >>> n = te.var("n")
    >>> extent_of("n * 2 + 1", {"n": n})
    n * 2 + 1
    """

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and node.id in symbols:
            return symbols[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return 0 - value(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            first, second = map(value, node.args)
            return (te.min if node.func.id == "min" else te.max)(first, second)
        raise ValueError(f"expected an expression of {', '.join(symbols) or 'numbers'}, got {text!r}")

    try:
        return value(ast.parse(text, mode="eval").body)
    except SyntaxError:
        raise ValueError(f"expected an expression of {', '.join(symbols) or 'numbers'}, got {text!r}") from None


# Attributes whose elements are numbers, not extents.
_INTEGERS = frozenset(
    "permutation steps before after wanted repeats axes strides dilations kernel image".split()
)  # fmt: skip


def attribute_of(name: str, value: object) -> ir.Attribute:
    """A keyword argument of an operator as an attribute."""
    i64 = ir.IntegerType.get_signless(64)
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(i64, value)
    if isinstance(value, float):
        return ir.FloatAttr.get(ir.F64Type.get(), value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if is_sequence(value):
        if name in _INTEGERS:
            return ir.DenseI64ArrayAttr.get([int(one) for one in value])
        if any(isinstance(one, float) for one in value) or name in ("scales", "roi"):
            return ir.DenseF64ArrayAttr.get([float(one) for one in value])
        return ir.ArrayAttr.get([
            ir.IntegerAttr.get(i64, int(one)) if isinstance(one, int) else ir.StringAttr.get(str(one)) for one in value
        ])  # fmt: skip
    raise TypeError(f"{name}: expected a number, a text, or a list of them, got {value!r}")


def value_of(attribute: ir.Attribute, symbols: Mapping[str, Var]) -> Any:
    """What `attribute_of` made an attribute of."""
    if isinstance(attribute, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr, ir.StringAttr)):
        return attribute.value
    if isinstance(attribute, (ir.DenseI64ArrayAttr, ir.DenseF64ArrayAttr)):
        return list(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [
            extent_of(one.value, symbols) if isinstance(one, ir.StringAttr) else ir.IntegerAttr(one).value
            for one in attribute
        ]
    raise TypeError(f"expected an attribute of the graph dialect, got {attribute}")
