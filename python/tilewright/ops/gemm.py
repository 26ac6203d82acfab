"""Matmuls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import schedules
from ..dtypes import dtype_of, item_bytes
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..instructions import MMA_SYNC
from ..schedules.matmuls.problem import Choice
from ..schedules.matmuls.selection import choose_for_any
from ..target import Target, current_gpu
from ..te import Expr, Tensor, compute, erf, exp, max, placeholder, reduce_axis, sum, tanh
from .broadcast_matmul import define_any
from .by_rules import acc_of, by_rules, expect_precision
from .empty import is_empty
from .operator import Operand, Operator, Scheduled
from .shapes import expect_shape
from .strides import is_transposed

__all__ = ["ACTIVATIONS", "expect_activation", "make_epilogue", "matmul"]

ACTIVATIONS: dict[str, Callable[[Expr], Expr]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * 0.5 * (1.0 + erf(x * 0.5**0.5)),
    "gelu_tanh": lambda x: x * 0.5 * (1.0 + tanh((x + x * x * x * 0.044715) * 0.7978845608028654)),
    "silu": lambda x: x / (1.0 + exp(-x)),
}


def _acc_of(dtype: str) -> str:
    """The accumulator's type; bools are counted."""
    return "float32" if dtype == "bool" else acc_of(dtype)


class _Product(Operator):
    """Of arrays, operand A may have any number of dimensions before its last, where B is a matrix."""

    takes_symbols = True

    def _run(self, *arrays: Any, **options: Any) -> Any:
        # A place for the result is left as it is: whether a reshaped one shares its memory, only its library knows.
        listed = list(arrays)
        if len(listed) < 2 or options.get("out") is not None or not all(hasattr(one, "shape") for one in listed[:2]):
            return super()._run(*arrays, **options)
        a, b = listed[:2]
        if len(a.shape) == len(b.shape) > 3 and a.shape[:-2] == b.shape[:-2] and a.size and b.size:
            return self._run_batches(listed, options)
        if options.get("transpose_a") or len(b.shape) != 2 or len(a.shape) < 3:
            return super()._run(*arrays, **options)
        taken, columns = b.shape[::-1] if options.get("transpose_b") else b.shape
        if a.shape[-1] != taken:
            return super()._run(*arrays, **options)
        given = {**dict(zip(("bias", "residual"), listed[2:])), **options}
        if given.get("residual") is not None:
            given["residual"] = given["residual"].reshape(-1, columns)
        return super()._run(a.reshape(-1, taken), b, **given).reshape(*a.shape[:-1], columns)

    def _row_major(self, given: dict[str, Any], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The transpose of a row-major matrix is read where it is."""
        given, options = dict(given), dict(options)
        for name in ("a", "b"):
            if name in given and is_transposed(given[name]):
                given[name] = given[name].T
                options[f"transpose_{name}"] = not options.get(f"transpose_{name}", False)
        return super()._row_major(given, options)

    def _run_batches(self, listed: list[Any], options: dict[str, Any]) -> Any:
        """As many matrices of each, whose dimensions in front are made one."""
        some = listed[0].shape[:-2]
        given = {**dict(zip(("a", "b", "bias", "residual"), listed)), **options}
        for name in ("a", "b", "residual"):
            if given.get(name) is not None:
                given[name] = given[name].reshape(-1, *given[name].shape[-2:])
        result = super()._run(given.pop("a"), given.pop("b"), **given)
        return result.reshape(*some, *result.shape[-2:])


@_Product
def matmul(
    a: Operand,
    b: Operand,
    bias: Operand | None = None,
    residual: Operand | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: str | None = None,
    scale: float = 1.0,
    out_dtype: str | None = None,
    acc_dtype: str | None = None,
    precision: str | None = None,
    choice: Choice | Mapping[str, Any] | None = None,
    target: Target | None = None,
) -> Scheduled:
    """activation(scale * (a @ b) + bias) + residual, cast to `out_dtype`, in one kernel where that is the fastest.

    `a` is M x K, or K x M with `transpose_a`. `b` is K x N, or N x K with `transpose_b`. Leading dimensions are
    batches, and are broadcast. An operand of one dimension is a vector of K elements, as in NumPy: the result is
    without its M or N. `bias` has N elements, and `residual` has the shape of the result. The accumulator is float32
    for floats of 16 and 8 bits and for bools, and int32 for int8 and uint8. Otherwise it has the operands' type. The
    result has the accumulator's type, but float16 and bfloat16 operands give a result of their own type. `out_dtype`
    overrides this. With float16 operands, `acc_dtype` may be float16. A scale, an activation, and a float bias or
    residual are computed in float32, or in float64 if one of these is float64. They are then cast to the result's type.
    Matmuls in float32 are exact to rounding. With ``precision="tf32"``, tensor cores multiply what is
    rounded to tf32. `activation` is one of `ACTIVATIONS`.

    The schedule is chosen by shape, type and device (`schedules.matmuls.selection`). `choice` overrides it: the
    options of `schedules.matmul_mma`, as ``{"tile": (128, 256), "warps": (2, 4)}``, or a `Choice` of any schedule.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, w = (rng.standard_normal(shape).astype("float16") for shape in ((4, 64), (32, 64)))
    >>> y = matmul(x, w, rng.standard_normal(32).astype("float16"), transpose_b=True, activation="gelu")
    >>> y.shape, y.dtype
    ((4, 32), dtype('float16'))
    >>> s, tensors = matmul.schedule(x, w, transpose_b=True, choice={"tile": (16, 32), "warps": (1, 2)})

    Placeholders may have symbolic extents. One function then serves all their values. With one symbol, it has a
    schedule for each class of its values, and else the schedule for the greatest.

    >>> from tilewright import te
    >>> tokens = te.placeholder((te.var("tokens", max=64), 64), "float16", name="x")
    >>> layer = matmul.function(tokens, w, transpose_b=True, target="sim")
    >>> layer(x, w).shape, layer(x[:1], w).shape
    ((4, 32), (1, 32))
    """
    notes = expect_precision("matmul", precision, a.dtype)
    expect_activation("matmul", activation)
    acc_dtype = acc_dtype or _acc_of(a.dtype)
    out_dtype = out_dtype or (a.dtype if a.dtype in ("float16", "bfloat16") else _acc_of(a.dtype))
    if a.dtype != b.dtype:
        raise TypeError(f"matmul: expected operands of one type, got {a.dtype} and {b.dtype}")
    if len(a.shape) not in (2, 3) or len(a.shape) != len(b.shape) or a.shape[:-2] != b.shape[:-2]:
        sums = define_any(a, b, transpose_a, transpose_b, acc_dtype, notes)
        return by_rules(*_with_epilogue(sums, bias, residual, activation, scale, out_dtype), target)
    M, N, K, batch = _extents(a, b, transpose_a, transpose_b)
    some = () if batch is None else (batch,)
    given: list[Tensor] = []
    if bias is not None:
        expect_shape("matmul", (N,), bias=bias)
        given.append(placeholder((N,), bias.dtype, name="bias"))
    if residual is not None:
        expect_shape("matmul", (*some, M, N), residual=residual)
        given.append(placeholder((*some, M, N), residual.dtype, name="residual"))

    epilogue = make_epilogue(
        given[0] if bias is not None else None, given[-1] if residual is not None else None, activation, scale
    )
    options: dict[str, Any] = {
        "batch": batch,
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "acc_dtype": acc_dtype,
    }
    options |= {"epilogue": epilogue, "operands": given}
    dtype = precision or a.dtype
    is_static = all(isinstance(extent, int) for extent in (M, N, K, batch or 1))
    is_exact = dtype == "float32"
    # A grid has up to 65535 blocks along its third axis, of which a matmul in parts has up to 64.
    by_own = is_static and (batch or 1) < 1024 if is_exact else (dtype, acc_dtype) in MMA_SYNC
    on_gpu = target is None or target.kind != "cpu"
    has_cores = ("mma.sync.f8" if dtype.startswith("float8") else "mma.sync") in current_gpu().features
    if not on_gpu or not by_own or is_empty(a, b) or not (is_exact or has_cores):
        return by_rules(*_definition(M, N, K, a.dtype, out_dtype, notes, **options), target)
    if is_static and transpose_b and _is_of_reductions(M, K, dtype, transpose_a):
        return by_rules(*_definition(M, N, K, a.dtype, out_dtype, notes, **options), target)
    if is_exact:
        exact = {name: value for name, value in options.items() if name != "acc_dtype"}
        return schedules.sgemm(M, N, K, out_dtype=out_dtype, **exact)
    if choice is None:
        layout = "NT"[transpose_a] + "NT"[transpose_b]
        extents = {"M": M, "N": N, "K": K, "batch": 1 if batch is None else batch}
        choice = choose_for_any(extents, dtype, layout)
    elif not isinstance(choice, Choice):
        choice = Choice("matmul_mma", choice)
    make = getattr(schedules, choice.schedule)
    return make(M, N, K, dtype, out_dtype, **options, **choice.options)


def _is_of_reductions(M: int, K: int, dtype: str, transpose_a: bool) -> bool:
    """Whether each result is a reduction better than a part of a tile, which would be of more rows than there are. B's
    rows lie along K, and so have A's to. Of 16 bits this is so where TMA and 16-byte copies cannot read B."""
    if dtype == "float32":
        return M < 4 and (M == 1 or not transpose_a)
    return M == 1 and item_bytes(dtype) == 2 and K % 8 != 0


def expect_activation(what: str, activation: str | None) -> None:
    if activation is not None and activation not in ACTIVATIONS:
        raise ValueError(f"{what}: expected an activation of {', '.join(ACTIVATIONS)}, got {activation!r}")


def make_epilogue(
    bias: Tensor | None, residual: Tensor | None, activation: str | None, scale: float
) -> Callable[..., Expr] | None:
    """What becomes of a sum on its way to the result; None where nothing does."""
    if bias is None and residual is None and activation is None and scale == 1.0:
        return None

    added = {each.dtype for each in (bias, residual) if each is not None and dtype_of(each.dtype).is_float}

    def epilogue(value: Expr, *at: Expr) -> Expr:
        # A float that is added to a sum of integers, or of float16, would be rounded to that first.
        if scale != 1.0 or activation is not None or added - {value.dtype}:
            value = value.astype("float64" if "float64" in added | {value.dtype} else "float32")
        if scale != 1.0:
            value = value * scale
        if bias is not None:
            value = value + bias[at[-1]].astype(value.dtype)
        if activation is not None:
            value = ACTIVATIONS[activation](value)
        if residual is not None:
            value = value + residual[at].astype(value.dtype)
        return value

    return epilogue


def _extents(a: Operand, b: Operand, transpose_a: bool, transpose_b: bool) -> tuple[Any, Any, Any, Any]:
    """M, N and K, and how many matrices, None where the operands are matrices."""
    M, K = a.shape[-2:][::-1] if transpose_a else a.shape[-2:]
    N, other = b.shape[-2:] if transpose_b else b.shape[-2:][::-1]
    if K != other:
        raise ValueError(
            f"matmul: expected operands that fit, got shapes {a.shape}{' transposed' * transpose_a} and "
            f"{b.shape}{' transposed' * transpose_b}"
        )
    return M, N, K, a.shape[0] if len(a.shape) == 3 else None


def _with_epilogue(
    sums: tuple[list[Tensor], Tensor],
    bias: Operand | None,
    residual: Operand | None,
    activation: str | None,
    scale: float,
    out_dtype: str,
) -> tuple[list[Tensor], Tensor]:
    """The arguments and the result of a matmul of any rank."""
    inputs, total = sums
    added: dict[str, Tensor] = {}
    for name, operand, shape in (("bias", bias, total.shape[-1:]), ("residual", residual, total.shape)):
        if operand is not None:
            expect_shape("matmul", shape, **{name: operand})
            added[name] = placeholder(shape, operand.dtype, name=name)
    epilogue = make_epilogue(added.get("bias"), added.get("residual"), activation, scale)
    result = compute(
        total.shape, lambda *at: (epilogue(total(*at), *at) if epilogue else total(*at)).astype(out_dtype), name="C"
    )
    return [*inputs, *added.values()], result


def _definition(
    M: int,
    N: int,
    K: int,
    dtype: str,
    out_dtype: str,
    notes: Mapping[str, str],
    *,
    batch: int | None,
    transpose_a: bool,
    transpose_b: bool,
    acc_dtype: str,
    epilogue: Any,
    operands: list[Tensor],
) -> tuple[list[Tensor], Tensor]:
    """What it is: the arguments, and the result."""
    some = () if batch is None else (batch,)
    A = placeholder((*some, *((K, M) if transpose_a else (M, K))), dtype, name="A")
    B = placeholder((*some, *((N, K) if transpose_b else (K, N))), dtype, name="B")
    k = reduce_axis((0, K), "k")

    def multiplied(*at: Expr) -> Expr:
        *some, i, j = at
        x, y = A[(*some, k, i) if transpose_a else (*some, i, k)], B[(*some, j, k) if transpose_b else (*some, k, j)]
        return sum(x.astype(acc_dtype) * y.astype(acc_dtype), axis=k)

    total = compute((*some, M, N), multiplied, name="total", attrs=notes)
    C = compute(
        (*some, M, N),
        lambda *at: (epilogue(total[at], *at) if epilogue else total[at]).astype(out_dtype),
        name="C",
    )
    return [A, B, *operands], C
