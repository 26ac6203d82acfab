"""Arithmetic of several ops: divisions that round down, and functions that take more than one op of math."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, math

__all__ = ["float_floordiv", "float_floormod", "sigmoid", "signed_floormod"]


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
