"""What the front end uses of MLIR's builders of the dialect `math`, which have no types of their own."""

from mlir import ir

def absf(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def absi(operand: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None) -> ir.Value: ...
def acos(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def acosh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def asin(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def asinh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def atan2(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def atan(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def atanh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def cbrt(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def ceil(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def clampf(
    value: ir.Value,
    min: ir.Value,
    max: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def copysign(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def cos(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def cosh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def ctlz(operand: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None) -> ir.Value: ...
def cttz(operand: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None) -> ir.Value: ...
def ctpop(operand: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None) -> ir.Value: ...
def erf(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def erfc(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def exp2(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def expm1(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def exp(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fpowi(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def floor(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fma(
    a: ir.Value,
    b: ir.Value,
    c: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def ipowi(
    lhs: ir.Value, rhs: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def isfinite(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def isinf(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def isnan(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def isnormal(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def log1p(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def log2(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def log10(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def log(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def powf(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def roundeven(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def round(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def rsqrt(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def sin(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def sincos(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> tuple[ir.Value, ir.Value]: ...
def sinh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def sqrt(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def tan(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def tanh(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def trunc(
    operand: ir.Value,
    *,
    fastmath: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
