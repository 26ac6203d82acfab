"""The element types, by NumPy's names."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import TilewrightTypeError as TypeError
from .messages.location import Source, user_source

__all__ = ["MOST", "DType", "dtype_of", "fits", "item_bytes", "stored_as"]

MOST = 2**63 - 1
"""The largest number of elements, bytes or iterations: the compiler counts in 64 bits."""


@dataclass(frozen=True, slots=True)
class DType:
    """An element type: its name, its kind (``"float"``, ``"int"``, ``"uint"``, ``"bool"``), its bits and MLIR's type.

    A storage type is loaded, stored and converted, and nothing else.
    """

    name: str
    kind: str
    bits: int
    mlir: str
    storage: bool = False

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in ("int", "uint")

    @property
    def is_unsigned(self) -> bool:
        return self.kind in ("uint", "bool")

    def __str__(self) -> str:
        return self.name


_DTYPES = {
    dtype.name: dtype
    for dtype in (
        DType("float16", "float", 16, "f16"),
        DType("bfloat16", "float", 16, "bf16"),
        DType("float32", "float", 32, "f32"),
        DType("float64", "float", 64, "f64"),
        DType("float8_e4m3fn", "float", 8, "f8E4M3FN", storage=True),
        DType("float8_e5m2", "float", 8, "f8E5M2", storage=True),
        DType("bool", "bool", 1, "i1"),
        *(DType(f"int{bits}", "int", bits, f"i{bits}") for bits in (8, 16, 32, 64)),
        *(DType(f"uint{bits}", "uint", bits, f"i{bits}") for bits in (8, 16, 32, 64)),
    )
}


# TVM's names of types without their bits.
_DTYPES |= {"float": _DTYPES["float32"], "int": _DTYPES["int32"], "uint": _DTYPES["uint32"]}
_NAMES = ", ".join(name for name, dtype in _DTYPES.items() if dtype.name == name)


def dtype_of(name: object, source: Source | None = None) -> DType:
    """The element type of that name; NumPy's dtypes and scalar types count as their names.

    The names ``"float"``, ``"int"`` and ``"uint"`` are those of the types of 32 bits, as in TVM.

    >>> dtype_of("uint8")
    DType(name='uint8', kind='uint', bits=8, mlir='i8', storage=False)
    """
    if isinstance(name, DType):
        return name
    # Python's own types are of 64 bits in NumPy and 32 in TVM: they say nothing.
    own = name is float or name is int
    text = name if isinstance(name, str) else None if own else getattr(name, "name", getattr(name, "__name__", None))
    found = _DTYPES.get(text) if isinstance(text, str) else None
    if found is None:
        raise TypeError(f"{source or user_source()}: expected a dtype ({_NAMES}), got {name!r}")
    return found


def stored_as(in_dtype: str) -> str:
    """The type of the elements that an instruction takes by this name."""
    return "float32" if in_dtype == "tfloat32" else in_dtype


def item_bytes(dtype: str) -> int:
    """The bytes of an element, of ``"tfloat32"`` too."""
    return dtype_of(stored_as(dtype)).bits // 8


def fits(value: int, dtype: DType) -> bool:
    """True where an integer type has this value."""
    low = 0 if dtype.kind == "uint" else -(1 << dtype.bits - 1)
    high = (1 << dtype.bits if dtype.kind == "uint" else 1 << dtype.bits - 1) - 1
    return low <= value <= high
