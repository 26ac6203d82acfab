"""What operations expect of arrays, and what they say where it is not so."""

from __future__ import annotations

from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from .operator import Operand

__all__ = ["expect_dimensions", "expect_float32", "expect_same_shape", "expect_shape"]


def expect_float32(what: str, **operands: Operand) -> None:
    for name, operand in operands.items():
        if operand.dtype != "float32":
            raise TypeError(f"{what}: {name}: expected float32, got {operand.dtype}")


def expect_dimensions(what: str, count: int, **operands: Operand) -> None:
    for name, operand in operands.items():
        if len(operand.shape) != count:
            raise ValueError(f"{what}: {name}: expected {count} dimensions, got shape {operand.shape}")


def expect_shape(what: str, shape: tuple[Any, ...], **operands: Operand) -> None:
    for name, operand in operands.items():
        if operand.shape != shape:
            raise ValueError(f"{what}: {name}: expected shape {shape}, got {operand.shape}")


def expect_same_shape(what: str, **operands: Operand) -> None:
    (first, operand), *others = operands.items()
    for name, other in others:
        if other.shape != operand.shape:
            raise ValueError(f"{what}: expected one shape, got {first} {operand.shape} and {name} {other.shape}")
