"""Hybrid script: tensors that a Python function with loops computes, `te.hybrid.script`.

The function is read, not run: its loops, choices and assignments become the statements of a `te.extern`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import TilewrightTypeError as TypeError
from ..guards import is_listed
from ..messages.location import user_source
from ..tvm_compat.missing_names import attribute_of
from .expr import Expr
from .extents import Array
from .extern_op import ExternOp
from .hybrid_names import RUN_TIME
from .hybrid_parser import Parser
from .ir_builder import IRBuilder
from .statements import Buffer, check_stores
from .tensor import Tensor

__all__ = ["HybridOp", "script"]


class HybridOp(ExternOp):
    """Tensors that a hybrid script computes: `te.hybrid.script` makes one.

    Its axes are the loops of the script, which the script itself binds and marks.
    """

    __slots__ = ()


def script(pyfunc: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function that computes tensors by the loops of `pyfunc`: a decorator.

    Called with tensors, `te.var`s and numbers, it gives the tensors that the function returns. Called with NumPy
    arrays, it runs as Python.

    The function may contain:

    - Loops: ``for i in range(n)``, ``range(begin, end)``, and ``while condition``. ``unroll``, ``parallel`` and
      ``vectorize`` may replace range. ``const_range`` is unrolled. ``bind("threadIdx.x", n)`` gives the threads of a
      kernel.
    - Buffers: ``output_tensor(shape, dtype)`` for a result, and ``allocate(shape, dtype, scope)`` for others. The scope
      is global, shared or local.
    - Statements: assignments to elements and to names, also with ``+=`` and its like; ``if`` and ``else``; the return,
      last.
    - Mathematical functions: min, max, abs, exp, log, sqrt, rsqrt, tanh, sigmoid, power, round, popcount.
    - Other functions: len, ceil_div, likely, inf, ninf, max_num_threads, conversions such as ``float32(x)``. Functions
      of te are called as ``te.name``. Other scripts can be called too.

    Its statements are those of `tir.ir_builder`, with the rules of `te.extern`.

    >>> from tilewright import te
    >>> @te.hybrid.script
    ... def running_sum(a):                                         # doctest: +SKIP
    ...     b = output_tensor(a.shape, a.dtype)
    ...     total = 0.0
    ...     for i in range(a.shape[0]):
    ...         total += a[i]
    ...         b[i] = total
    ...     return b
    >>> A = te.placeholder((64,), name="A")
    >>> B = running_sum(A)                                          # doctest: +SKIP

    Raises
    ------
    ValueError, TypeError
        Where the function has something else. They name the line of the function.
    """
    source = user_source()
    if not isinstance(pyfunc, types.FunctionType):
        raise TypeError(f"{source}: hybrid.script: expected a function, got {pyfunc!r}")

    @functools.wraps(pyfunc)
    def call(*args: Any) -> Any:
        if args and all(isinstance(one, (np.ndarray, np.generic, int, float)) for one in args):
            return _run(pyfunc, args)
        return _compute(pyfunc, args)

    call.hybrid_function = pyfunc  # type: ignore[attr-defined]
    return call


def _run(function: types.FunctionType, args: Sequence[Any]) -> Any:
    """The function on arrays, as Python."""
    names = {**function.__globals__, **RUN_TIME}
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    return made(*args)


def _compute(function: types.FunctionType, args: Sequence[Any]) -> Any:
    """The tensors of one call."""
    source = user_source()
    what = f"hybrid.script {function.__name__}"
    tensors: list[Tensor] = []
    buffers: list[Buffer] = []

    def argument(value: Any) -> Any:
        if isinstance(value, Tensor):
            if not any(one is value for one in tensors):
                tensors.append(value)
                buffers.append(Buffer(value.name, value.shape, value.op.element_types[value.value_index], source))
            return next(buffer for one, buffer in zip(tensors, buffers) if one is value)
        if is_listed(value):
            return tuple(argument(one) for one in value)
        if isinstance(value, np.generic):
            number: Any = value.item()  # pyright: ignore[reportUnknownVariableType]
            return number  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(value, (Expr, int, float, str)):
            raise TypeError(f"{source}: {what}: expected tensors, expressions and numbers, got {value!r}")
        return value

    given = [argument(value) for value in args]
    builder = IRBuilder()
    parser = Parser(function, given, builder, source)
    made = parser.parse()
    statements = builder.get()
    check_stores(statements, buffers, what)
    op = HybridOp(parser.name, tensors, [one.shape for one in made], [one.element_type for one in made], source)
    op.buffers, op.statements, op.axis = (*buffers, *made), statements, Array(parser.loops)
    op.tag = "hybrid"
    results = list(op.results)
    return results[0] if len(results) == 1 else results


__getattr__: Callable[[str], object] = attribute_of("te.hybrid", "module 'tilewright.te.hybrid'")
