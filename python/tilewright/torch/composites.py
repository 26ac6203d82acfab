"""Operators that PyTorch does not decompose, as functions of others: products and windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten


def _replication_pad_backward(grad: torch.Tensor, x: torch.Tensor, padding: Sequence[int]) -> torch.Tensor:
    """The gradient of padding with the elements at the edge. The last dimension's padding comes first."""
    for number, before in enumerate(padding[::2]):
        dim = x.dim() - 1 - number
        places = (torch.arange(grad.shape[dim], device=x.device) - before).clamp(0, x.shape[dim] - 1)
        shape = [x.shape[d] if d == dim else extent for d, extent in enumerate(grad.shape)]
        grad = grad.new_zeros(shape).index_add(dim, places, grad)
    return grad


def _trilinear(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, expand1: Sequence[int], expand2: Sequence[int],
    expand3: Sequence[int], sumdim: Sequence[int], unroll_dim: int = 1,
) -> torch.Tensor:  # fmt: skip
    del unroll_dim
    parts: list[torch.Tensor] = []
    for x, dims in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in dims:
            x = x.unsqueeze(dim)
        parts.append(x)
    product = parts[0] * parts[1] * parts[2]
    return product.sum(list(sumdim)) if sumdim else product


def _addbmm(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: Any = 1, alpha: Any = 1) -> torch.Tensor:
    total = torch.bmm(a, b).sum(0) * alpha
    return total if beta == 0 else x * beta + total


def _diagonal_scatter(
    x: torch.Tensor, src: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> torch.Tensor:  # fmt: skip
    """A tensor with another one on a diagonal. PyTorch's own decomposition writes into a view."""
    if not src.shape[-1]:
        return x.clone()
    matrices = x.movedim((dim1, dim2), (-2, -1))
    rows = torch.arange(matrices.shape[-2], device=x.device)[:, None]
    columns = torch.arange(matrices.shape[-1], device=x.device)
    place = rows if offset >= 0 else columns
    value = src[..., place.clamp(max=src.shape[-1] - 1).expand(matrices.shape[-2:])]
    return torch.where(columns - rows == offset, value, matrices).movedim((-2, -1), (dim1, dim2))


def _chosen(x: torch.Tensor, dim: int, keepdim: bool, rank_of: Callable[[torch.Tensor], Any]) -> Any:
    """Along a dimension, of the elements in order the one that has a rank, and where it is."""
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, places = x.sort(stable=True, dim=dim)
    rank = rank_of(x)
    if isinstance(rank, torch.Tensor):
        found = values.gather(dim, rank), places.gather(dim, rank)
    else:
        found = values.narrow(dim, rank, 1), places.narrow(dim, rank, 1)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def _median(x: torch.Tensor, dim: int, keepdim: bool = False) -> Any:
    """The lower one of the middle; NaN where there is one, as all NaN are last in order."""

    def rank(x: torch.Tensor) -> Any:
        middle = (x.shape[dim] - 1) // 2
        if not x.is_floating_point():
            return middle
        missing = x.isnan().sum(dim, keepdim=True)
        return torch.where(missing > 0, x.shape[dim] - missing, middle)

    return _chosen(x, dim, keepdim, rank)


def _nanmedian(x: torch.Tensor, dim: int, keepdim: bool = False) -> Any:
    def rank(x: torch.Tensor) -> Any:
        return ((~x.isnan()).sum(dim, keepdim=True) - 1).clamp(min=0) // 2

    return _chosen(x, dim, keepdim, rank)


def _of_all(function: Callable[..., Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    def of_all(x: torch.Tensor) -> torch.Tensor:
        return function(x.flatten(), 0)[0]

    return of_all


def _kthvalue(x: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    return _chosen(x, dim, keepdim, lambda x: k - 1)


def _mode(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The smallest of the most frequent elements, and its last place."""
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    x = x.movedim(dim, -1)
    values = x.sort(-1).values
    counts = (values.unsqueeze(-1) == values.unsqueeze(-2)).sum(-1)
    found = values.gather(-1, counts.argmax(-1, keepdim=True))
    places = torch.arange(x.shape[-1], device=x.device)
    last = torch.where(x == found, places, -1).amax(-1, keepdim=True)
    found, last = found.movedim(-1, dim), last.movedim(-1, dim)
    return (found, last) if keepdim else (found.squeeze(dim), last.squeeze(dim))


def _up_to_each(x: torch.Tensor, dim: int, rest: Any) -> torch.Tensor:
    """By element along a dimension, which becomes the last but one, those up to it, and `rest` behind."""
    x = x.movedim(dim, -1)
    places = torch.arange(x.shape[-1], device=x.device)
    return x.unsqueeze(-2).masked_fill(places > places[:, None], rest)


def _running(largest: bool) -> Callable[..., Any]:
    def running(x: torch.Tensor, dim: int) -> Any:
        if not x.dim():
            return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
        numbers = x if x.dtype != torch.bool else x.to(torch.uint8)
        info: Any = torch.finfo(numbers.dtype) if x.is_floating_point() else torch.iinfo(numbers.dtype)
        rest = (-math.inf if largest else math.inf) if x.is_floating_point() else info.min if largest else info.max
        parts = _up_to_each(numbers, dim, rest)
        parts = parts.flip(-1)  # of equal ones the last
        best = parts.argmax(-1) if largest else parts.argmin(-1)
        places = x.shape[dim] - 1 - best
        # Where all elements so far are as those that come later were filled, the last so far is the element itself.
        own = torch.arange(x.shape[dim], device=x.device).expand(x.movedim(dim, -1).shape)
        places = torch.minimum(places, own).movedim(-1, dim)
        return x.gather(dim, places), places

    return running


def _logcumsumexp(x: torch.Tensor, dim: int) -> torch.Tensor:
    if not x.dim():
        return x.clone()
    parts = _up_to_each(x, dim, -math.inf)
    return parts.logsumexp(-1).movedim(-1, dim)


def _rrelu(
    x: torch.Tensor, noise: torch.Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False,
    generator: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    del generator
    if training:
        slopes = torch.where(x <= 0, torch.rand_like(x) * (upper - lower) + lower, 1.0)
        return x * slopes, slopes
    return torch.where(x > 0, x, x * ((lower + upper) / 2)), noise.clone()


def _distances_backward(grad: torch.Tensor, away: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    """The gradient of the norm of the last dimension."""
    grad, distance = grad.unsqueeze(-1), distance.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(away)
    if p == 1:
        return grad * away.sign()
    if p == math.inf:
        return grad * away.sign() * (away.abs() == distance)
    over = away if p == 2 else away.sign() * away.abs() ** (p - 1)
    return torch.where(distance == 0, 0.0, grad * over / distance ** (p - 1))


def _cdist_backward(
    grad: torch.Tensor, a: torch.Tensor, b: torch.Tensor, p: float, distance: torch.Tensor
) -> torch.Tensor:  # fmt: skip
    return _distances_backward(grad, a.unsqueeze(-2) - b.unsqueeze(-3), p, distance).sum(-2)


def _pdist_backward(grad: torch.Tensor, x: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    rows, columns = torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)
    each = _distances_backward(grad, x[rows] - x[columns], p, distance)
    return torch.zeros_like(x).index_add(0, rows, each).index_add(0, columns, -each)


def _weight_norm_backward(
    grad: torch.Tensor, v: torch.Tensor, g: torch.Tensor, norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The gradient of v times g over the norm of v, without a dimension."""
    dims = [d for d in range(v.dim()) if d != dim]
    norms = norms.reshape(g.shape)
    along = (grad * v).sum(dims, keepdim=True) / norms
    return (grad - v * (along / norms)) * (g / norms), along.to(g.dtype)


def _meshgrid(tensors: Sequence[torch.Tensor], indexing: str = "ij") -> list[torch.Tensor]:
    """The coordinates of a grid: by an operator that functionalisation takes, which PyTorch's own is not."""
    shape = [one.numel() for one in tensors]
    made: list[torch.Tensor] = []
    for d, one in enumerate(tensors):
        grid = one.reshape([-1 if d == axis else 1 for axis in range(len(shape))]).expand(shape)
        made.append(grid.transpose(0, 1) if indexing == "xy" and len(shape) > 1 else grid)
    return made


def _cosines(*factors: float) -> Callable[..., torch.Tensor]:
    """A window that is a sum of cosines."""

    def window(length: int, periodic: bool = True, *given: float, **options: Any) -> torch.Tensor:
        kept: dict[str, Any] = {
            key: one for key, one in options.items() if key in ("dtype", "device") and one is not None
        }
        own = (*given, *factors[len(given) :])
        if length == 1:
            return torch.ones(1, **kept)
        kept = {"dtype": torch.get_default_dtype(), **kept}
        angles = torch.arange(length, **kept) * (2 * math.pi / (length - (not periodic)))
        total: Any = own[0]
        for i, one in enumerate(own[1:], 1):
            total = total + (-1) ** i * one * torch.cos(angles * i)
        return total

    return window


def _prelu(x: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    """PyTorch's own decomposition is of views that functionalisation does not take."""
    if slopes.dim() == 1 and x.dim() > 1:
        slopes = slopes.reshape([-1 if d == 1 else 1 for d in range(x.dim())])
    return torch.where(x > 0, x, x * slopes)


def _conv_tbc(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, pad: int = 0) -> torch.Tensor:
    made = torch.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return made.permute(2, 0, 1)


def _bartlett(length: int, periodic: bool = True, **options: Any) -> torch.Tensor:
    kept: dict[str, Any] = {key: one for key, one in options.items() if key in ("dtype", "device") and one is not None}
    places = _places_of_window(length, periodic, kept)
    return 1 - places.abs() if length > 1 else torch.ones(length, **kept)


def _kaiser(length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> torch.Tensor:
    kept: dict[str, Any] = {key: one for key, one in options.items() if key in ("dtype", "device") and one is not None}
    if length <= 1:
        return torch.ones(length, **kept)
    places = _places_of_window(length, periodic, kept)
    height: Any = _aten.special_i0e(torch.full((), beta, dtype=torch.float64, device=places.device))
    curve = beta * torch.sqrt((1 - places * places).clamp(min=0))
    return (_aten.special_i0e(curve) * torch.exp(curve - beta) / height).to(**kept)


def _places_of_window(length: int, periodic: bool, kept: dict[str, Any]) -> torch.Tensor:
    """From -1 to 1, or to one step before it."""
    own: dict[str, Any] = {"dtype": torch.get_default_dtype(), **kept}
    steps = torch.arange(length, **own)
    return steps * (2 / max(length - (not periodic), 1)) - 1


def _frequencies(is_half: bool) -> Callable[..., torch.Tensor]:
    """The frequencies of a Fourier transform's elements."""

    def frequencies(length: int, d: float = 1.0, **options: Any) -> torch.Tensor:
        kept: dict[str, Any] = {
            key: one for key, one in options.items() if key in ("dtype", "device") and one is not None
        }
        own: dict[str, Any] = {"dtype": torch.get_default_dtype(), **kept}
        if is_half:
            return torch.arange(length // 2 + 1, **own) * (1.0 / (length * d))
        places = torch.arange(length, **own)
        return torch.where(places < (length + 1) // 2, places, places - length) * (1.0 / (length * d))

    return frequencies


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    made: dict[Any, Any] = {
        _aten._trilinear.default: _trilinear, _aten.addbmm.default: _addbmm,
        _aten.diagonal_scatter.default: _diagonal_scatter,
        _aten.median.dim: _median, _aten.nanmedian.dim: _nanmedian, _aten.kthvalue.default: _kthvalue,
        _aten.median.default: _of_all(_median), _aten.nanmedian.default: _of_all(_nanmedian),
        _aten.mode.default: _mode, _aten.cummax.default: _running(True), _aten.cummin.default: _running(False),
        _aten.logcumsumexp.default: _logcumsumexp, _aten.rrelu_with_noise_functional.default: _rrelu,
        _aten._cdist_backward.default: _cdist_backward, _aten._pdist_backward.default: _pdist_backward,
        _aten._weight_norm_interface_backward.default: _weight_norm_backward,
        _aten.prelu.default: _prelu, _aten.conv_tbc.default: _conv_tbc, _aten.meshgrid.default: _meshgrid,
        _aten.meshgrid.indexing: _meshgrid,
        _aten.fft_fftfreq.default: _frequencies(False), _aten.fft_rfftfreq.default: _frequencies(True),
    }  # fmt: skip
    for overload in ("default", "periodic", "beta"):
        made[getattr(_aten.kaiser_window, overload)] = _kaiser
    for overload in ("default", "periodic"):
        made[getattr(_aten.bartlett_window, overload)] = _bartlett
    for rank in (1, 2, 3):
        made[getattr(_aten, f"replication_pad{rank}d_backward").default] = _replication_pad_backward
    for name, overloads, factors in (
        ("hamming_window", ("default", "periodic", "periodic_alpha", "periodic_alpha_beta"), (0.54, 0.46)),
        ("blackman_window", ("default", "periodic"), (0.42, 0.5, 0.08)),
    ):
        for overload in overloads:
            made[getattr(getattr(_aten, name), overload)] = _cosines(*factors)
    return made
