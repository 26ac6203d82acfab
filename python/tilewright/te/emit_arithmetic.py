"""Builders of arithmetic: ops by name, divisions that round down, functions that take more than one op of math."""

from __future__ import annotations

from typing import Any

from mlir import ir
from mlir.dialects import arith, math

__all__ = [
    "ARITHMETIC",
    "FLOAT_PREDICATES",
    "MATH",
    "PREDICATES",
    "SIGNED_PREDICATES",
    "UNSIGNED_PREDICATES",
    "float_floordiv",
    "float_floormod",
    "sigmoid",
    "signed_floormod",
]

# Builders of the operations on floats, on signed and on unsigned integers.
ARITHMETIC: dict[str, tuple[Any, Any, Any]] = {
    "add": (arith.addf, arith.addi, arith.addi),
    "sub": (arith.subf, arith.subi, arith.subi),
    "mul": (arith.mulf, arith.muli, arith.muli),
    "div": (arith.divf, None, None),
    "floordiv": (None, arith.floordivsi, arith.divui),
    "truncdiv": (None, arith.divsi, arith.divui),
    "truncmod": (arith.remf, arith.remsi, arith.remui),
    "floormod": (None, None, arith.remui),
    "min": (arith.minimumf, arith.minsi, arith.minui),
    "max": (arith.maximumf, arith.maxsi, arith.maxui),
    "power": (math.powf, math.ipowi, math.ipowi),
    "and": (None, arith.andi, arith.andi),
    "or": (None, arith.ori, arith.ori),
    "xor": (None, arith.xori, arith.xori),
    "shl": (None, arith.shli, arith.shli),
    "shr": (None, arith.shrsi, arith.shrui),
    "atan2": (math.atan2, None, None),
}
MATH = {
    name: getattr(math, name)
    for name in (
        "exp exp2 erf tanh log log2 log10 log1p tan cos cosh sin sinh asin acos atan asinh acosh atanh sqrt rsqrt "
        "floor ceil trunc round"
    ).split()
} | {"nearbyint": math.roundeven}
# No fast-math flags: `contract` says nothing of them.
PREDICATES = {"isnan": math.isnan, "isfinite": math.isfinite, "isinf": math.isinf, "popcount": math.ctpop}
FLOAT_PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}  # ordered, but une
SIGNED_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
UNSIGNED_PREDICATES = {"eq": 0, "ne": 1, "lt": 6, "le": 7, "gt": 8, "ge": 9}


def _number(like: ir.Value, number: float) -> ir.Value:
    return arith.constant(like.type, ir.FloatAttr.get(like.type, number))


def sigmoid(x: ir.Value, fast: ir.Attribute) -> ir.Value:
    """1 / (1 + e^-x); of a negative x e^x / (1 + e^x), as e^-x could overflow where the result is not yet zero."""
    zero, one = _number(x, 0.0), _number(x, 1.0)
    power = math.exp(arith.negf(math.absf(x, fastmath=fast), fastmath=fast), fastmath=fast)
    above = arith.select(arith.cmpf(arith.CmpFPredicate.OLT, x, zero), power, one)
    return arith.divf(above, arith.addf(one, power, fastmath=fast), fastmath=fast)


# Python's and NumPy's steps, from a remainder that is exact. Nothing may be contracted, or the results would not be
# those of NumPy, and not the same everywhere.


def _remainder(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """What a divided by b leaves, of the sign of a, and whether that is not 0 and b has the other sign."""
    rest, zero = arith.remf(a, b), _number(a, 0.0)
    predicate = arith.CmpFPredicate
    differs = arith.xori(arith.cmpf(predicate.OLT, b, zero), arith.cmpf(predicate.OLT, rest, zero))
    return rest, arith.andi(arith.cmpf(predicate.UNE, rest, zero), differs)


def float_floormod(a: ir.Value, b: ir.Value) -> ir.Value:
    """What the quotient of floats, rounded down, leaves."""
    rest, differs = _remainder(a, b)
    moved = arith.select(differs, arith.addf(rest, b), rest)
    is_zero = arith.cmpf(arith.CmpFPredicate.OEQ, rest, _number(a, 0.0))
    return arith.select(is_zero, math.copysign(_number(a, 0.0), b), moved)


def float_floordiv(a: ir.Value, b: ir.Value) -> ir.Value:
    """The quotient of floats, rounded down."""
    predicate, zero, one = arith.CmpFPredicate, _number(a, 0.0), _number(a, 1.0)
    rest, differs = _remainder(a, b)
    quotient = arith.divf(a, b)
    whole = arith.divf(arith.subf(a, rest), b)
    whole = arith.select(differs, arith.subf(whole, one), whole)
    # That is all but an integer: the nearest one.
    low = math.floor(whole)
    is_above = arith.cmpf(predicate.OGT, arith.subf(whole, low), _number(a, 0.5))
    nearest = arith.select(is_above, arith.addf(low, one), low)
    result = arith.select(arith.cmpf(predicate.OEQ, whole, zero), math.copysign(zero, quotient), nearest)
    return arith.select(arith.cmpf(predicate.OEQ, b, zero), quotient, result)


def signed_floormod(a: ir.Value, b: ir.Value) -> ir.Value:
    """What the quotient of signed integers, rounded down, leaves."""
    zero, less, rest = arith.constant(a.type, ir.IntegerAttr.get(a.type, 0)), arith.CmpIPredicate.slt, arith.remsi(a, b)
    differs = arith.cmpi(less, arith.xori(rest, b), zero)
    is_moved = arith.andi(arith.cmpi(arith.CmpIPredicate.ne, rest, zero), differs)
    return arith.select(is_moved, arith.addi(rest, b), rest)
