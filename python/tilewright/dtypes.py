"""The element types: NumPy's names, MLIR's and DLPack's codes, and sizes. No other module has such a table."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .errors import TilewrightTypeError as TypeError
from .messages.location import Source, user_source

__all__ = [
    "DLPACK_CODES", "DLPACK_TYPES", "DTYPE_NAMES", "MOST", "DType", "as_dtype", "dtype_of", "fits", "item_bytes",
    "itemsize", "name_of_mlir", "stored_as", "stored_dtype",
]  # fmt: skip

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
    def signed_mlir(self) -> str:
        """MLIR's type with its sign, as `te.dtype` has it: ``"ui8"`` where `mlir` is ``"i8"``."""
        return f"u{self.mlir}" if self.kind == "uint" else self.mlir

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
DTYPE_NAMES = tuple(name for name, dtype in _DTYPES.items() if dtype.name == name)
_NAMES = ", ".join(DTYPE_NAMES)


def dtype_of(name: object, source: Source | None = None) -> DType:
    """The element type of that name; NumPy's dtypes and scalar types, and torch's dtypes, count as their names.

    The names ``"float"``, ``"int"`` and ``"uint"`` are those of the types of 32 bits, as in TVM.

    >>> dtype_of("uint8")
    DType(name='uint8', kind='uint', bits=8, mlir='i8', storage=False)
    """
    if isinstance(name, DType):
        return name
    # Python's own types are of 64 bits in NumPy and 32 in TVM: they say nothing.
    own = name is float or name is int
    text = name if isinstance(name, str) else None if own else getattr(name, "name", getattr(name, "__name__", None))
    if text is None and type(name).__module__ == "torch":
        text = str(name).removeprefix("torch.")
    found = _DTYPES.get(text) if isinstance(text, str) else None
    if found is None:
        raise TypeError(f"{source or user_source()}: expected a dtype ({_NAMES}), got {name!r}")
    return found


def stored_as(in_dtype: str) -> str:
    """The type of the elements that an instruction takes by this name."""
    return "float32" if in_dtype == "tf32" else in_dtype


def item_bytes(dtype: str) -> int:
    """The bytes of an element, of ``"tf32"`` too."""
    return dtype_of(stored_as(dtype)).bits // 8


def fits(value: int, dtype: DType) -> bool:
    """True where an integer type has this value."""
    low = 0 if dtype.kind == "uint" else -(1 << dtype.bits - 1)
    high = (1 << dtype.bits if dtype.kind == "uint" else 1 << dtype.bits - 1) - 1
    return low <= value <= high


# Those of DLPack, which has more types than te, by code and bits.
DLPACK_TYPES = {
    **{(0, bits): f"int{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"float{bits}" for bits in (16, 32, 64)},
    (4, 16): "bfloat16",
    (5, 64): "complex64",
    (5, 128): "complex128",
    (6, 8): "bool",
    (7, 8): "float8_e3m4",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
}
DLPACK_CODES = {name: code for code, name in DLPACK_TYPES.items()}


def itemsize(name: str) -> int:
    """The bytes of an element in memory, by NumPy's name of its type.

    >>> itemsize("bool"), itemsize("bfloat16"), itemsize("complex64")
    (1, 2, 8)
    """
    return DLPACK_CODES[name][1] // 8


def name_of_mlir(mlir: str) -> str:
    """NumPy's name for an MLIR type, of which an integer without a sign is a signed one; any other text stays.

    >>> name_of_mlir("bf16"), name_of_mlir("i8"), name_of_mlir("ui8"), name_of_mlir("index")
    ('bfloat16', 'int8', 'uint8', 'index')
    """
    return _OF_MLIR.get(mlir, mlir)


_OF_MLIR = {dtype.signed_mlir: dtype.name for dtype in _DTYPES.values()}


@cache
def _of_ml_dtypes() -> dict[str, np.dtype[Any]]:
    import ml_dtypes  # takes time that most imports of this module need not wait for

    names = (name for name in DLPACK_CODES if not hasattr(np, name) and hasattr(ml_dtypes, name))
    return {name: np.dtype(getattr(ml_dtypes, name)) for name in names}


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype of that name, with ml_dtypes' (bfloat16, float8_e4m3fn, ...) beside its own."""
    name = getattr(dtype, "name", dtype)
    more = _of_ml_dtypes()
    try:
        found = more[name] if isinstance(name, str) and name in more else np.dtype(dtype)
    except builtins.TypeError:
        raise TypeError(f"expected a dtype of numbers, got {dtype!r}") from None
    if found.name not in DLPACK_CODES:
        raise TypeError(f"expected a dtype of numbers, got {found}")
    return found


def stored_dtype(name: str) -> np.dtype[Any]:
    """As `as_dtype`, and ml_dtypes' types of two and four bits, which weights and constants of models may have."""
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else as_dtype(name)
