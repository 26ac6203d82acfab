"""Packed documents of attention: a mask that is computed of the number of each token's document."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..te import Expr, Tensor, compute
from .operator import Operand

__all__ = ["check_documents", "mask_of_documents", "masked_by"]


def check_documents(documents: Operand | None, q: Operand, k: Operand, **others: Operand | None) -> None:
    """The `others` are what documents are not combined with."""
    if documents is None:
        return
    if documents.dtype != "int32":
        raise TypeError(f"attention: expected documents of int32, got {documents.dtype}")
    for name, one in others.items():
        if one is not None:
            raise ValueError(f"attention: expected documents without {name}, got both")
    own, whole = documents.shape, (*q.shape[:-3], k.shape[-2])
    if q.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"attention: expected as many queries as keys beside documents, got {q.shape[-2]} and {k.shape[-2]}"
        )
    if own not in (whole, whole[-1:]):
        raise ValueError(
            f"attention: expected documents of shape {whole[-1:]}"
            + (f" or {whole}" if len(whole) > 1 else "")
            + f", a number for each token, got {own}"
        )


def masked_by(documents: Operand | None) -> Operand | None:
    """The mask of bools that documents are."""
    return None if documents is None else Operand(_shape(documents.shape), "bool")


def _shape(own: Sequence[int]) -> tuple[int, ...]:
    heads = [*own[:-1], 1] if len(own) > 1 else []
    return (*heads, own[-1], own[-1])


def mask_of_documents(documents: Tensor) -> Tensor:
    """Whether a query and a key are of one document. It is computed where it is read."""
    extents = [extent for extent in documents.shape if isinstance(extent, int)]

    def element(*at: Expr) -> Expr:
        *outer, i, j = at
        return documents(*outer[:-1], i) == documents(*outer[:-1], j)

    return compute(_shape(extents), element, name="mask")
