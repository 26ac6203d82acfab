"""The derivative of a scalar expression by the tensor elements that it reads."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import TilewrightTypeError as TypeError
from ..messages.location import Source
from .arithmetic import binary
from .expr import Call, Cast, Const, Expr, Read, Select
from .functions import cos, cosh, exp, log, sin, sinh, sqrt, trunc
from .walks import Steps, run

__all__ = ["derivative", "same"]


def same(one: Expr, other: Expr) -> bool:
    """Whether two expressions are written the same, of the same axes and tensors."""
    todo, seen = [(one, other)], set[tuple[int, int]]()
    while todo:
        a, b = todo.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if type(a) is not type(b) or a.element_type is not b.element_type:
            return False
        if isinstance(a, Const) and isinstance(b, Const):
            if a.value != b.value:
                return False
            continue
        if isinstance(a, Read) and isinstance(b, Read) and a.tensor is not b.tensor:
            return False
        if isinstance(a, Call) and isinstance(b, Call) and a.op != b.op:
            return False
        parts, others = a.operands(), b.operands()
        if not parts or len(parts) != len(others):
            return False
        todo.extend(zip(parts, others))
    return True


def number(value: float, like: Expr) -> Const:
    """A constant of the type of `like`."""
    return Const(value, like.element_type, like.source)


# By operation: the factor that the derivative of its one operand is multiplied by; None where it is constant almost
# everywhere. `x` is the operand and `y` the value.
_FACTORS: dict[str, Callable[[Expr, Expr], Expr] | None] = {
    "exp": lambda x, y: y,
    "exp2": lambda x, y: y * math.log(2),
    "log": lambda x, y: 1 / x,
    "log2": lambda x, y: 1 / (x * math.log(2)),
    "log10": lambda x, y: 1 / (x * math.log(10)),
    "log1p": lambda x, y: 1 / (x + 1),
    "sqrt": lambda x, y: 0.5 / y,
    "rsqrt": lambda x, y: -0.5 * y * y * y,
    "sigmoid": lambda x, y: y * (1 - y),
    "tanh": lambda x, y: 1 - y * y,
    "sin": lambda x, y: cos(x),
    "cos": lambda x, y: -sin(x),
    "tan": lambda x, y: 1 + y * y,
    "sinh": lambda x, y: cosh(x),
    "cosh": lambda x, y: sinh(x),
    "asin": lambda x, y: 1 / sqrt(1 - x * x),
    "acos": lambda x, y: -1 / sqrt(1 - x * x),
    "atan": lambda x, y: 1 / (1 + x * x),
    "asinh": lambda x, y: 1 / sqrt(x * x + 1),
    "acosh": lambda x, y: 1 / sqrt(x * x - 1),
    "atanh": lambda x, y: 1 / (1 - x * x),
    "erf": lambda x, y: exp(-x * x) * (2 / math.sqrt(math.pi)),
    "neg": lambda x, y: number(-1.0, x),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "nearbyint")),
}


def derivative(expr: Expr, read: Read, what: str, source: Source) -> Expr | None:
    """The derivative of `expr` by the element `read`, or None where it is 0.

    Raises TypeError for an operation that has none here. `what` and `source` say what asks.
    """
    known: dict[int, Expr | None] = {}

    def of(part: Expr) -> Steps[Expr | None]:
        if id(part) not in known:
            known[id(part)] = yield _of(part)
        return known[id(part)]

    def _of(part: Expr) -> Steps[Expr | None]:
        if not part.element_type.is_float:
            return None
        if isinstance(part, Read):
            return number(1.0, part) if same(part, read) else None
        if isinstance(part, Cast):
            inner = yield of(part.value)
            return None if inner is None else inner.astype(part.element_type)
        if isinstance(part, Select):
            yes = yield of(part.true_value)
            no = yield of(part.false_value)
            if yes is None and no is None:
                return None
            zero = number(0.0, part)
            yes, no = zero if yes is None else yes, zero if no is None else no
            return Select(part.condition, yes, no, part.lazy, source)
        if isinstance(part, Call):
            parts: list[Expr | None] = []
            for one in part.args:
                parts.append((yield of(one)))
            return _of_call(part, parts)
        return None

    def _of_call(part: Call, parts: list[Expr | None]) -> Expr | None:
        if all(one is None for one in parts):
            return None
        if len(parts) == 1:
            if part.op == "abs":
                inner = parts[0]
                return None if inner is None else Select(part.args[0] < 0.0, -inner, inner, False, source)
            if part.op in _FACTORS:
                factor = _FACTORS[part.op]
                return None if factor is None else times(parts[0], factor(part.args[0], part))
        elif part.op in _BINARY:
            return _BINARY[part.op](part, parts[0], parts[1], source)
        raise TypeError(f"{source}: {what}: expected operations that have a derivative, got '{part.op}' in {part}")

    return run(of(expr))


def plus(a: Expr | None, b: Expr | None) -> Expr | None:
    """The sum, of which None is 0."""
    return b if a is None else a if b is None else a + b


def times(a: Expr | None, b: Expr) -> Expr | None:
    """The product, of which None is 0; a factor 1 is left out."""
    if a is None:
        return None
    if isinstance(a, Const) and a.value == 1:
        return b
    return a if isinstance(b, Const) and b.value == 1 else a * b


def minus(a: Expr | None, b: Expr | None) -> Expr | None:
    return plus(a, None if b is None else -b)


def _choice(part: Call, a: Expr | None, b: Expr | None, source: Source) -> Expr:
    """Of a maximum or minimum: that of the one taken, of the first where they are equal."""
    zero = number(0.0, part)
    first = binary("ge" if part.op == "max" else "le", *part.args)
    return Select(first, zero if a is None else a, zero if b is None else b, False, source)


def _power(part: Call, a: Expr | None, b: Expr | None, source: Source) -> Expr | None:
    base, exponent = part.args
    by_base = times(a, exponent * binary("power", base, exponent - 1.0)) if a is not None else None
    return plus(by_base, times(b, part * log(base)) if b is not None else None)


def _remainder(part: Call, a: Expr | None, b: Expr | None, source: Source) -> Expr | None:
    quotient = trunc(part.args[0] / part.args[1]) if part.op == "truncmod" else binary("floordiv", *part.args)
    return minus(a, times(b, quotient))


def _atan2(part: Call, a: Expr | None, b: Expr | None, source: Source) -> Expr | None:
    y, x = part.args
    square = x * x + y * y
    return minus(times(a, x / square), times(b, y / square))


_BINARY: dict[str, Callable[[Call, Expr | None, Expr | None, Source], Expr | None]] = {
    "add": lambda part, a, b, source: plus(a, b),
    "sub": lambda part, a, b, source: minus(a, b),
    "mul": lambda part, a, b, source: plus(times(a, part.args[1]), times(b, part.args[0])),
    "div": lambda part, a, b, source: minus(
        None if a is None else a / part.args[1], None if b is None else b * part / part.args[1]
    ),
    "max": _choice,
    "min": _choice,
    "power": _power,
    "truncmod": _remainder,
    "floormod": _remainder,
    "floordiv": lambda part, a, b, source: None,
    "atan2": _atan2,
}
