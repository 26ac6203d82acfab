"""The cases of `random_cases.py` on a GPU: what torch has for each, and both timed and checked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import cublaslt
import torch
import torch.nn.functional as F
from random_cases import Array, Case, function_of
from simt import Bench

__all__ = ["Measure", "checked"]

Call = Callable[[], Any]


def tensor_of(array: Array) -> torch.Tensor:
    dtype = getattr(torch, array.dtype)
    if array.below:
        return torch.randint(0, array.below, array.shape, device="cuda", dtype=dtype)
    if array.dtype == "int8":
        return torch.randint(-128, 128, array.shape, device="cuda", dtype=dtype)
    return torch.randn(array.shape, device="cuda", dtype=torch.float32).to(dtype)


def _norm(x: torch.Tensor, *scales: torch.Tensor) -> torch.Tensor:
    if len(scales) == 2:
        return F.layer_norm(x, x.shape[-1:], *scales)
    return F.rms_norm(x, x.shape[-1:], *scales, eps=1e-5)


def expression_of(case: Case) -> Callable[..., torch.Tensor]:
    """What a case is in torch, of the operands as `tilewright.ops` has them."""
    options = dict(case.options)
    if case.op == "matmul":
        ways = options["transpose_a"], options["transpose_b"]
        return lambda a, b: (a.mT if ways[0] else a) @ (b.mT if ways[1] else b)
    if case.op == "conv2d":
        stride, half = options["stride"], case.arrays[1].shape[1] // 2

        # Channels are last in memory: these are views.
        def images(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            last = [one.permute(0, 3, 1, 2) for one in (x, w)]
            return F.conv2d(last[0], last[1], stride=stride, padding=half).permute(0, 2, 3, 1)

        return images
    if case.op == "conv":
        convolve = F.conv1d if len(case.arrays[0].shape) == 3 else F.conv2d
        if options.pop("layout", "first") == "first":
            return lambda x, w: convolve(x, w, **options)

        @cache
        def filters_of(w: torch.Tensor) -> torch.Tensor:  # once, as a model does
            return w.contiguous(memory_format=torch.channels_last)

        def with_channels_last(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return convolve(x.permute(0, 3, 1, 2), filters_of(w), **options).permute(0, 2, 3, 1)

        return with_channels_last
    return {
        "softmax": lambda x: torch.softmax(x, -1),
        "log_softmax": lambda x: torch.log_softmax(x, -1),
        "cross_entropy": lambda x, labels: F.cross_entropy(x, labels, reduction="none"),
        "layer_norm": _norm,
        "rms_norm": _norm,
        "sum": lambda x: x.sum(options["axis"]),
        "argmax": lambda x: x.argmax(-1),
        "cumsum": lambda x: x.cumsum(-1),
    }[case.op]


class Measure:
    """Measures one case after the other."""

    def __init__(self, compile_mode: str, repeat: int) -> None:
        torch.backends.cudnn.benchmark = True
        self.bench, self.compile_mode, self.repeat = Bench(), compile_mode, repeat
        self.device = torch.cuda.get_device_name()

    def __call__(self, case: Case, target: str) -> dict[str, Any]:
        is_tf32 = "tf32" in case.group
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_tf32
        begin = time.perf_counter()
        func = function_of(case, target)
        built = time.perf_counter() - begin
        tensors = [tensor_of(one) for one in case.arrays]
        peers = self._peers(case, tensors)
        theirs = next(iter(peers.values()))()
        output = torch.full_like(theirs, -1 if not theirs.dtype.is_floating_point else float("nan"))
        output = output.contiguous()
        func(*tensors, output)
        torch.cuda.synchronize()
        result = checked(case, tensors, output, theirs)
        if case.op == "matmul":
            peers |= self._cublaslt(case, tensors, torch.empty_like(output), result)
        timed = self.bench.medians_ms([lambda: func(*tensors, output), *peers.values()], self.repeat)
        ms, others = timed[0], dict(zip(peers, timed[1:]))
        best = min(others, key=others.__getitem__)
        moved = case.bytes + output.numel() * output.element_size()
        of_copy = moved / ms / self.bench.copied_per_ms
        torch.cuda.empty_cache()
        return result | {
            "ms": ms, "peers_ms": others, "best_peer": best, "ratio": others[best] / ms, "of_copy": round(of_copy, 3),
            "load_s": round(built, 3),
        }  # fmt: skip

    def _peers(self, case: Case, tensors: list[torch.Tensor]) -> dict[str, Call]:
        expression = expression_of(case)
        if case.op == "matmul" and case.arrays[0].dtype == "int8":
            return {"torch._int_mm": lambda: torch._int_mm(tensors[0], tensors[1].t())}
        if case.op == "matmul" and case.arrays[0].dtype.startswith("float8"):
            one = torch.ones((), device="cuda")
            return {
                "torch._scaled_mm": lambda: torch._scaled_mm(
                    tensors[0], tensors[1].t(), one, one, out_dtype=torch.bfloat16
                )
            }
        calls: dict[str, Call] = {"torch": lambda: expression(*tensors)}
        if case.group == "rows" and self.compile_mode != "none":
            torch._dynamo.reset()
            compiled = torch.compile(expression, dynamic=False, mode=self.compile_mode)
            calls[f"torch.compile {self.compile_mode}"] = lambda: compiled(*tensors)
        return calls

    def _cublaslt(
        self, case: Case, tensors: list[torch.Tensor], output: torch.Tensor, result: dict[str, Any]
    ) -> dict[str, Call]:
        """The best of the algorithms that cuBLASLt's heuristics offer."""
        options = dict(case.options)
        ways = {name: options[name] for name in ("transpose_a", "transpose_b")}
        try:
            calls = cublaslt.algorithms(*tensors, output, **ways, tf32="tf32" in case.group)
        except (RuntimeError, OSError) as refused:
            result["cublasLt"] = str(refused)
            return {}
        if not calls:
            return {}
        times = self.bench.medians_ms(calls, 10)
        return {f"best of {len(calls)} of cuBLASLt": calls[times.index(min(times))]}


def checked(case: Case, tensors: list[torch.Tensor], output: torch.Tensor, theirs: torch.Tensor) -> dict[str, Any]:
    """Whether the result is as near to that of float64 as torch's, or as that of operands in tf32, or as a sum in
    float32, of one product after the other, is to be expected."""
    if case.op == "argmax":
        found = tensors[0].gather(1, output[:, None].clamp(0, tensors[0].shape[1] - 1))[:, 0]
        return {"right": bool((found == tensors[0].amax(1)).all())}
    wide = [one.double() if one.dtype != torch.int64 else one for one in tensors]
    error = peers = largest = own = 0.0
    if "tf32" in case.group:
        # What the operands lose in tf32, of which torch may lose nothing: it multiplies one row in float32.
        short = [(one.view(torch.int32) & ~0x1FFF).view(torch.float32).double() for one in tensors]
        for (_, exact), (_, rounded) in zip(_parts(case, wide), _parts(case, short), strict=True):
            own = max(own, (rounded - exact).abs().max().item())
    for some, exact in _parts(case, wide):
        error = max(error, (output[some].double() - exact).abs().max().nan_to_num(torch.inf).item())
        peers = max(peers, (theirs[some].double() - exact).abs().max().item())
        largest = max(largest, exact.abs().max().item())
    factor = 4 if output.dtype == torch.float32 else 2
    if output.dtype == torch.float32:
        own = max(own, _rounding_of_a_sum(case) * largest)
    bound = 0 if output.dtype == torch.int32 else max(factor * peers, 1.25 * own) + 1e-6 * largest
    return {"right": error <= bound, "error": error, "torch_error": peers, "largest": largest}


def _rounding_of_a_sum(case: Case) -> float:
    """Of a sum of n products in float32, as a share of the largest result: n roundings of up to 2**-24 of a sum that
    grows to it, as independent errors (N. Higham and T. Mary, A New Approach to Probabilistic Rounding Error Analysis,
    2019). Their standard deviation is a third of 2**-24 sqrt(n); the largest of millions is four of them from zero."""
    if case.op == "matmul":
        count = case.arrays[0].shape[0 if dict(case.options)["transpose_a"] else 1]
    elif case.op.startswith("conv"):
        count = math.prod(case.arrays[1].shape[1:])
    else:
        return 0.0
    return 4 / 3 * 2.0**-24 * math.sqrt(count)


def _parts(case: Case, wide: list[torch.Tensor]) -> Any:
    """Parts of the result in float64: of a matmul some rows at once, as many as there is memory for."""
    expression = expression_of(case)
    if case.op != "matmul":
        yield ..., expression(*wide)
        return
    transpose_a, transpose_b = (dict(case.options)[name] for name in ("transpose_a", "transpose_b"))
    left, right = wide[0].mT if transpose_a else wide[0], wide[1].mT if transpose_b else wide[1]
    rows = max(1, (1 << 27) // right.shape[1])
    for first in range(0, left.shape[0], rows):
        some = slice(first, first + rows)
        yield some, left[some] @ right
