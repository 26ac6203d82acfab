"""Weights in files of safetensors, as exported models map them into memory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import TilewrightTypeError as TypeError
from ..storage.private_files import fresh_file

__all__ = ["WeightFile", "write_weights"]

_ALIGNMENT = 64
_NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
    "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of safetensors: what it begins with, its bytes, and where each tensor begins behind the header."""

    header: bytes
    bytes: int
    offsets: Mapping[str, int]


def write_weights(arrays: Mapping[str, np.ndarray], path: str | os.PathLike[str]) -> WeightFile:
    """Writes tensors as a file of safetensors, whole or not at all.

    Each tensor begins at a multiple of 64 bytes of the file. What lies between them is a tensor of its own, of bytes,
    for the format has no gaps. The header's metadata has the SHA-256 of all that follows it.

    Raises
    ------
    TypeError
        Where the format does not have an array's type.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write_weights({"w": np.ones(3, "float32"), "b": np.zeros(2, "int8")}, Path(folder) / "a.safetensors")
    >>> made.offsets, made.bytes - len(made.header)
    ({'w': 0, 'b': 64}, 66)
    """
    entries: dict[str, object] = {}
    pieces: list[np.ndarray] = []
    offsets: dict[str, int] = {}
    end = 0
    for name, array in arrays.items():
        if array.dtype.name not in _NAMES:
            raise TypeError(f"weight {name!r}: expected a type that safetensors has, got {array.dtype.name}")
        if gap := -end % _ALIGNMENT:
            entries[_free(f"padding.{len(entries)}", arrays)] = _entry("uint8", (gap,), end, gap)
            pieces.append(np.zeros(gap, np.uint8))
            end += gap
        offsets[name] = end
        entries[name] = _entry(array.dtype.name, array.shape, end, array.nbytes)  # pyright: ignore[reportUnknownArgumentType]
        # Without a copy where it is row-major already, as the arrays of a file that is mapped are.
        pieces.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        end += array.nbytes
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece.data)
    text = json.dumps({"__metadata__": {"sha256": digest.hexdigest()}, **entries}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    header = len(text).to_bytes(8, "little") + text
    _write(Path(path), header, pieces)
    return WeightFile(header, len(header) + end, offsets)


def _entry(dtype: str, shape: tuple[int, ...], begin: int, size: int) -> dict[str, object]:
    return {"dtype": _NAMES[dtype], "shape": list(shape), "data_offsets": [begin, begin + size]}


def _free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += "_"
    return name


def _write(path: Path, header: bytes, pieces: list[np.ndarray]) -> None:
    file, temporary = fresh_file(str(path.parent / f"{path.name[:32]}."), ".tmp", mode=0o666)
    try:
        with file:
            file.write(header)
            for piece in pieces:
                file.write(piece.data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
