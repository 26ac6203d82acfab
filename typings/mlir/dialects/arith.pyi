"""What the front end uses of MLIR's builders of the dialect `arith`, which have no types of their own."""

import enum

from mlir import ir

class CmpFPredicate(enum.IntEnum):
    AlwaysFalse = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    AlwaysTrue = 15

class CmpIPredicate(enum.IntEnum):
    eq = 0
    ne = 1
    slt = 2
    sle = 3
    sgt = 4
    sge = 5
    ult = 6
    ule = 7
    ugt = 8
    uge = 9

def constant(
    result: ir.Type,
    value: int | float | ir.Attribute,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def select(
    condition: ir.Value,
    true_value: ir.Value,
    false_value: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def cmpf(
    predicate: CmpFPredicate | int | ir.Attribute,
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def cmpi(
    predicate: CmpIPredicate | int | ir.Attribute,
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def addf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def subf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def mulf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def divf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def remf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def minimumf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def maximumf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def minnumf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def maxnumf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def addi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def subi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def muli(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def divsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def divui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def floordivsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def ceildivsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def ceildivui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def remsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def remui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def minsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def minui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def maxsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def maxui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def andi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def ori(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def xori(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def shli(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def shrsi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def shrui(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def negf(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def extf(
    out: ir.Type,
    in_: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def truncf(
    out: ir.Type,
    in_: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def bitcast(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def extsi(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def extui(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def trunci(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def fptosi(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def fptoui(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def sitofp(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def uitofp(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def index_cast(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def index_castui(
    out: ir.Type, in_: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
