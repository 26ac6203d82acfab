"""Functions of each element, of any shape and float type."""

from __future__ import annotations

from collections.abc import Callable

from .. import te
from ..target import Target
from ..te import Expr, compute
from .by_rules import acc_of, by_rules, expect_floats, given
from .operator import Operand, Operator, Scheduled, operator

__all__ = ["relu", "sigmoid", "silu", "tanh"]


def _activation(name: str, function: Callable[[Expr], Expr], doc: str) -> Operator:
    def activation(x: Operand, *, target: Target | None = None) -> Scheduled:
        expect_floats(name, x=x)
        X, acc = given(x, "X"), acc_of(x.dtype)
        return by_rules(
            [X], compute(x.shape, lambda *at: function(X(*at).astype(acc)).astype(x.dtype), name=name), target
        )

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = doc
    return operator(activation)


relu: Operator = _activation("relu", lambda x: te.max(x, te.const(0, x.dtype)), """The larger of x and 0.

    >>> import numpy as np
    >>> relu(np.array([-1, 2], "float16"))
    array([0., 2.], dtype=float16)
    """)  # fmt: skip
sigmoid: Operator = _activation("sigmoid", te.sigmoid, """1 / (1 + exp(-x)), computed in float32 for 16 bits.

    >>> import numpy as np
    >>> sigmoid(np.array([0, 2], "float32")).round(4)
    array([0.5   , 0.8808], dtype=float32)
    """)  # fmt: skip
silu: Operator = _activation("silu", lambda x: x * te.sigmoid(x), """x / (1 + exp(-x)), computed in float32 for 16 bits.

    >>> import numpy as np
    >>> silu(np.array([0, 2], "float32")).round(4)
    array([0.    , 1.7616], dtype=float32)
    """)  # fmt: skip
tanh: Operator = _activation("tanh", te.tanh, """The hyperbolic tangent of `x`, computed in float32 for 16 bits.

    >>> import numpy as np
    >>> tanh(np.array([0, 1], "float32")).round(4)
    array([0.    , 0.7616], dtype=float32)
    """)  # fmt: skip
