"""What KernelBench's problems are written in: the same words for te programs (`OfTe`) and for torch (`OfTorch`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tilewright import te
from tilewright.graph.operators import OPERATORS
from tilewright.graph.operators.reductions import reduced
from tilewright.ops.normalization import normalized

__all__ = ["OfTe", "OfTorch"]


def _operate(name: str, *tensors: Any, **attributes: Any) -> Any:
    return OPERATORS[name](*tensors, by_threads=True, **attributes)[0]


def _all(value: int | Sequence[int], rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _broadcast(x: Any, shape: Sequence[int], at: Sequence[Any]) -> Any:
    """The element of `x` for a place of a larger shape."""
    own = at[len(shape) - x.ndim :]
    return x(*(0 if extent == 1 else i for extent, i in zip(x.shape, own)))


def _binary(f: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    if not isinstance(y, te.Tensor):
        return te.compute(x.shape, lambda *at: f(x(*at), y), name="scaled")
    rank = max(x.ndim, y.ndim)
    shapes = [(1,) * (rank - one.ndim) + tuple(one.shape) for one in (x, y)]
    shape = [max(a, b) for a, b in zip(*shapes)]
    return te.compute(shape, lambda *at: f(_broadcast(x, shape, at), _broadcast(y, shape, at)), name="combined")


def _map(f: Callable[[Any], Any], name: str = "mapped") -> Callable[[Any], Any]:
    return lambda x: te.compute(x.shape, lambda *at: f(x(*at)), name=name)


def _running(combine: Callable[[Any, Any], Any], x: Any, axis: int, reverse: bool = False) -> Any:
    """Of each row along the last axis what all elements up to each are combined to."""
    *rows, extent = x.shape
    assert axis % x.ndim == len(rows)

    def place(step: Any) -> Any:
        return extent - 1 - step if reverse else step

    state = te.placeholder((extent, *rows), x.dtype, name="state")
    first = te.compute((1, *rows), lambda step, *row: x(*row, place(step)), name="first")
    more = te.compute(state.shape, lambda step, *row: combine(state(step - 1, *row), x(*row, place(step))), name="more")
    results = te.scan(first, more, state, [x], name="results")
    return te.compute(x.shape, lambda *at: results(place(at[-1]), *at[:-1]), name="running")


def _softplus(v: Any) -> Any:
    return te.max(v, 0.0) + te.log(1.0 + te.exp(-te.abs(v)))


def _axes(axis: int | Sequence[int] | None, rank: int) -> list[int]:
    return list(range(rank)) if axis is None else [one % rank for one in _all(axis, 1)]


class OfTe:
    """Each word is a function of te tensors."""

    relu = staticmethod(_map(lambda v: te.max(v, 0.0)))
    sigmoid = staticmethod(_map(te.sigmoid))
    tanh = staticmethod(_map(te.tanh))
    gelu = staticmethod(_map(lambda v: 0.5 * v * (1.0 + te.erf(v * math.sqrt(0.5)))))
    gelu_tanh = staticmethod(
        _map(lambda v: 0.5 * v * (1.0 + te.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v * v * v))))
    )
    swish = staticmethod(_map(lambda v: v * te.sigmoid(v)))
    mish = staticmethod(_map(lambda v: v * te.tanh(_softplus(v))))
    softplus = staticmethod(_map(_softplus))
    softsign = staticmethod(_map(lambda v: v / (1.0 + te.abs(v))))
    hardswish = staticmethod(_map(lambda v: v * te.min(te.max(v + 3.0, 0.0), 6.0) / 6.0))
    hardsigmoid = staticmethod(_map(lambda v: te.min(te.max(v + 3.0, 0.0), 6.0) / 6.0))
    selu = staticmethod(
        _map(lambda v: 1.0507009873554805 * te.select(v > 0.0, v, 1.6732632423543772 * (te.exp(te.min(v, 0.0)) - 1.0)))
    )
    elu = staticmethod(_map(lambda v: te.select(v > 0.0, v, te.exp(te.min(v, 0.0)) - 1.0)))
    abs = staticmethod(_map(te.abs))
    sqrt = staticmethod(_map(te.sqrt))
    exp = staticmethod(_map(te.exp))
    log = staticmethod(_map(te.log))
    add = staticmethod(lambda x, y: _binary(lambda a, b: a + b, x, y))
    sub = staticmethod(lambda x, y: _binary(lambda a, b: a - b, x, y))
    mul = staticmethod(lambda x, y: _binary(lambda a, b: a * b, x, y))
    div = staticmethod(lambda x, y: _binary(lambda a, b: a / b, x, y))
    minimum = staticmethod(lambda x, y: _binary(te.min, x, y))
    maximum = staticmethod(lambda x, y: _binary(te.max, x, y))

    @staticmethod
    def leaky(x: Any, slope: float = 0.01) -> Any:
        return _map(lambda v: te.select(v > 0.0, v, v * slope))(x)

    @staticmethod
    def clamp(x: Any, low: float, high: float) -> Any:
        return _map(lambda v: te.min(te.max(v, low), high))(x)

    @staticmethod
    def dropout(x: Any) -> Any:
        return x

    @staticmethod
    def matmul(a: Any, b: Any) -> Any:
        return _operate("matmul", a, b, acc="float32", to="float32")

    @staticmethod
    def transpose(x: Any) -> Any:
        *some, i, j = range(x.ndim)
        return _operate("transpose", x, permutation=[*some, j, i])

    @staticmethod
    def triangle(x: Any, *, upper: bool) -> Any:
        return te.compute(
            x.shape,
            lambda *at: te.if_then_else(at[-2] <= at[-1] if upper else at[-2] >= at[-1], x(*at), 0.0),
            name="triangle",
        )

    @classmethod
    def linear(cls, x: Any, w: Any, b: Any = None) -> Any:
        k = te.reduce_axis((0, x.shape[1]), "k")
        total = te.compute((x.shape[0], w.shape[0]), lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="total")
        return total if b is None else cls.add(total, b)

    @classmethod
    def _convolve(cls, what: str, x: Any, w: Any, b: Any, how: dict[str, Any]) -> Any:
        rank = x.ndim - 2
        margin = _all(how.pop("padding", 0), rank)
        extra = _all(how.pop("output_padding", 0), rank)
        total = _operate(
            what, x, w, strides=_all(how.pop("stride", 1), rank), before=margin,
            after=tuple(one - more for one, more in zip(margin, extra)), dilations=_all(how.pop("dilation", 1), rank),
            groups=how.pop("groups", 1), acc="float32", to="float32",
        )  # fmt: skip
        assert not how
        return total if b is None else cls.add(total, te.compute((b.shape[0], *[1] * rank), lambda f, *_: b(f)))

    @classmethod
    def conv(cls, x: Any, w: Any, b: Any = None, **how: Any) -> Any:
        return cls._convolve("conv", x, w, b, how)

    @classmethod
    def convt(cls, x: Any, w: Any, b: Any = None, **how: Any) -> Any:
        return cls._convolve("conv_transpose", x, w, b, how)

    @staticmethod
    def maxpool(x: Any, kernel: int, stride: int | None = None, padding: int = 0, dilation: int = 1) -> Any:
        rank = x.ndim - 2
        return _operate(
            "max_pool", x, kernel=_all(kernel, rank), strides=_all(stride or kernel, rank), before=_all(padding, rank),
            after=_all(padding, rank), dilations=_all(dilation, rank),
        )  # fmt: skip

    @classmethod
    def avgpool(cls, x: Any, kernel: int, stride: int | None = None, padding: int = 0) -> Any:
        rank = x.ndim - 2
        total = _operate(
            "sum_pool", x, kernel=_all(kernel, rank), strides=_all(stride or kernel, rank), before=_all(padding, rank),
            after=_all(padding, rank), dilations=(1,) * rank,
        )  # fmt: skip
        return cls.mul(total, 1.0 / kernel**rank)

    @staticmethod
    def sum(x: Any, axis: Any = None, keep: bool = False) -> Any:
        return reduced("total", x, _axes(axis, x.ndim), keep)

    @classmethod
    def mean(cls, x: Any, axis: Any = None, keep: bool = False) -> Any:
        count = math.prod(x.shape[one] for one in _axes(axis, x.ndim))
        return cls.mul(cls.sum(x, axis, keep), 1.0 / count)

    @staticmethod
    def max(x: Any, axis: int, keep: bool = False) -> Any:
        return reduced("largest", x, _axes(axis, x.ndim), keep, reducer="max")

    @staticmethod
    def min(x: Any, axis: int, keep: bool = False) -> Any:
        return reduced("least", x, _axes(axis, x.ndim), keep, reducer="min")

    @staticmethod
    def argmax(x: Any, axis: int) -> Any:
        return _operate("argmax", x, axis=axis % x.ndim, keepdims=False, select_last=False)

    @staticmethod
    def argmin(x: Any, axis: int) -> Any:
        return _operate("argmin", x, axis=axis % x.ndim, keepdims=False, select_last=False)

    @classmethod
    def cumsum(cls, x: Any, axis: int, *, reverse: bool = False, exclusive: bool = False) -> Any:
        total = _running(lambda a, b: a + b, x, axis, reverse)
        return te.compute(x.shape, lambda *at: total(*at) - x(*at), name="before") if exclusive else total

    @staticmethod
    def cumprod(x: Any, axis: int) -> Any:
        return _running(lambda a, b: a * b, x, axis)

    @staticmethod
    def softmax(x: Any, axis: int) -> Any:
        return _operate("softmax", x, axis=axis % x.ndim)

    @staticmethod
    def log_softmax(x: Any, axis: int) -> Any:
        return _operate("log_softmax", x, axis=axis % x.ndim)

    @classmethod
    def lse(cls, x: Any, axis: Any, keep: bool = False) -> Any:
        largest = reduced("largest", x, _axes(axis, x.ndim), True, reducer="max")
        total = cls.sum(cls.exp(cls.sub(x, largest)), axis, True)
        found = cls.add(cls.log(total), largest)
        return found if keep else cls.sum(found, axis)

    @staticmethod
    def _normal(x: Any, axes: Sequence[int], g: Any, b: Any, place: Callable[..., Sequence[Any]]) -> Any:
        def scaled(value: Any, *at: Any) -> Any:
            return value if g is None else value * g(*place(*at)) + b(*place(*at))

        return normalized(x, axes, 1e-5, scaled)

    @classmethod
    def ln(cls, x: Any, g: Any, b: Any) -> Any:
        axes = range(x.ndim - g.ndim, x.ndim)
        return cls._normal(x, axes, g, b, lambda *at: [at[axis] for axis in axes])

    @classmethod
    def bn(cls, x: Any, g: Any, b: Any) -> Any:
        """With the statistics of the batch, as a module that trains has."""
        return cls._normal(x, [0, *range(2, x.ndim)], g, b, lambda *at: [at[1]])

    @classmethod
    def inorm(cls, x: Any) -> Any:
        return cls._normal(x, range(2, x.ndim), None, None, lambda *at: [])

    @classmethod
    def gn(cls, x: Any, groups: int, g: Any, b: Any) -> Any:
        n, c, *rest = x.shape
        each = c // groups
        grouped = te.compute((n, groups, each, *rest), lambda n, i, e, *at: x(n, i * each + e, *at), name="grouped")
        made = cls._normal(grouped, range(2, grouped.ndim), g, b, lambda n, i, e, *at: [i * each + e])
        return te.compute(x.shape, lambda n, c, *at: made(n, c // each, c % each, *at), name="ungrouped")

    @classmethod
    def rms(cls, x: Any) -> Any:
        """Along the channels."""
        mean = cls.mean(cls.mul(x, x), 1, True)
        return cls.div(x, cls.sqrt(cls.add(mean, 1e-5)))

    @staticmethod
    def view(x: Any, shape: Sequence[int]) -> Any:
        return _operate("reshape", x, shape=list(shape))

    @staticmethod
    def at_labels(x: Any, labels: Any) -> Any:
        return te.compute(labels.shape, lambda i: x(i, labels(i)), name="picked")


class OfTorch:
    """The same words of torch tensors."""

    def __init__(self) -> None:
        import torch
        import torch.nn.functional as F

        self.torch, self.F = torch, F
        for word, function in {
            "relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": F.gelu, "swish": F.silu,
            "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "mish": F.mish, "softplus": F.softplus,
            "softsign": F.softsign, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "selu": F.selu,
            "elu": F.elu, "abs": torch.abs, "sqrt": torch.sqrt, "exp": torch.exp, "log": torch.log,
            "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
            "div": lambda x, y: x / y, "leaky": lambda x, slope=0.01: F.leaky_relu(x, slope), "clamp": torch.clamp,
            "minimum": lambda x, y: torch.clamp(x, max=y), "maximum": lambda x, y: torch.clamp(x, min=y),
            "dropout": lambda x: x, "matmul": torch.matmul, "transpose": lambda x: x.mT,
            "triangle": lambda x, upper: torch.triu(x) if upper else torch.tril(x), "linear": F.linear,
            "sum": lambda x, axis=None, keep=False: x.sum(_axes(axis, x.ndim), keepdim=keep),
            "mean": lambda x, axis=None, keep=False: x.mean(_axes(axis, x.ndim), keepdim=keep),
            "max": lambda x, axis, keep=False: x.amax(axis, keepdim=keep),
            "min": lambda x, axis, keep=False: x.amin(axis, keepdim=keep),
            "argmax": lambda x, axis: x.argmax(axis), "argmin": lambda x, axis: x.argmin(axis),
            "cumprod": lambda x, axis: x.cumprod(axis), "softmax": torch.softmax, "log_softmax": torch.log_softmax,
            "lse": lambda x, axis, keep=False: torch.logsumexp(x, axis, keepdim=keep),
            "ln": lambda x, g, b: F.layer_norm(x, g.shape, g, b),
            "bn": lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True),
            "inorm": F.instance_norm, "gn": F.group_norm,
            "rms": lambda x: x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5),
            "view": lambda x, shape: x.reshape(shape), "at_labels": lambda x, labels: x.gather(1, labels[:, None])[:, 0],
        }.items():  # fmt: skip
            setattr(self, word, function)

    def _of(self, name: str, x: Any) -> Any:
        return getattr(self.F, f"{name}{x.ndim - 2}d")

    def conv(self, x: Any, w: Any, b: Any = None, **how: Any) -> Any:
        return self._of("conv", x)(x, w, b, **how)

    def convt(self, x: Any, w: Any, b: Any = None, **how: Any) -> Any:
        return self._of("conv_transpose", x)(x, w, b, **how)

    def maxpool(self, x: Any, kernel: int, stride: int | None = None, padding: int = 0, dilation: int = 1) -> Any:
        return self._of("max_pool", x)(x, kernel, stride, padding, dilation)

    def avgpool(self, x: Any, kernel: int, stride: int | None = None, padding: int = 0) -> Any:
        return self._of("avg_pool", x)(x, kernel, stride, padding)

    def cumsum(self, x: Any, axis: int, *, reverse: bool = False, exclusive: bool = False) -> Any:
        if reverse:
            return x.flip(axis).cumsum(axis).flip(axis)
        return x.cumsum(axis) - x if exclusive else x.cumsum(axis)
