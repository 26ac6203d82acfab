"""The rows of `bench/attention.py` beside the forward pass of equal heads: gradients, masks, heads that share keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import tilewright as tw
from tilewright import ops, te
from tilewright.schedules.attention_backward import attention_gradients_of
from tilewright.schedules.attention_fp8 import attention_fp8_of
from tilewright.schedules.online_softmax import attention_of

# What is tried beside what is chosen, where a tile of queries visits few of keys.
CHOICES: dict[str, list[dict[str, Any]]] = {
    kind: [{"tile": (128, 128), "blocks": 131}, {"tile": (128, 64)}] for kind in ("window", "documents")
}
Calls = dict[str, Callable[[], Any]]
Medians = Callable[[list[Callable[[], Any]]], list[float]]


def random(*shape: int, grad: bool = False) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, requires_grad=grad)


def figures_of(
    calls: Calls, errors: dict[str, Any], operations: float, medians: Medians, within: float = 1.5
) -> dict[str, Any]:
    """Times and rates of all, and the best of ours beside the best peer: ours are named in braces."""
    times = dict(zip(calls, medians(list(calls.values())), strict=True))
    made: dict[str, Any] = {
        name: {"ms": round(ms, 4), "TFLOPs": round(operations / ms / 1e9, 1), "error": errors.get(name)}
        for name, ms in times.items()
    }
    ours = min((name for name in times if name.startswith("{")), key=times.__getitem__)
    peers = [name for name in times if not name.startswith("{")]
    peer = min(peers, key=times.__getitem__, default=None)
    made["best"] = {"choice": ours, "peer": peer, "of_peer": round(times[peer] / times[ours], 3) if peer else None}
    known = [errors[name] for name in peers if errors.get(name) is not None]
    made["best"]["right"] = errors[ours] <= within * min(known, default=2e-2)
    return made


def _allowed(queries: int, keys: int, options: dict[str, Any]) -> torch.Tensor:
    i, j = torch.arange(queries, device="cuda")[:, None], torch.arange(keys, device="cuda")
    seen = torch.ones(queries, keys, dtype=torch.bool, device="cuda")
    if options.get("is_causal"):
        seen &= j <= i
    if window := options.get("window"):
        seen &= j >= i - window[0]
    if options.get("mask") is not None:
        seen &= options["mask"]
    return seen


def _exact(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, head: int, options: dict[str, Any]) -> torch.Tensor:
    """One head of the first sequence, in float64; q, k and v may require gradients."""
    groups = q.shape[1] // k.shape[1]
    one, keys, values = q[0, head].double(), k[0, head // groups].double(), v[0, head // groups].double()
    scores = one @ keys.t() * one.shape[-1] ** -0.5
    if cap := options.get("softcap"):
        scores = cap * torch.tanh(scores / cap)
    i, j = torch.arange(q.shape[-2], device="cuda")[:, None], torch.arange(k.shape[-2], device="cuda")
    if options.get("slopes") is not None:
        scores = scores + options["slopes"][head].double() * (j - i)
    scores = scores.masked_fill(~_allowed(q.shape[-2], k.shape[-2], options), float("-inf"))
    if options.get("sinks") is None:
        return torch.softmax(scores, -1) @ values
    extra = options["sinks"][head].double().expand(scores.shape[0], 1)
    return torch.softmax(torch.cat([scores, extra], -1), -1)[:, :-1] @ values


def _error(result: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, options: dict[str, Any]) -> float:
    heads = (0, q.shape[1] - 1)
    return max((result[0, head].double() - _exact(q, k, v, head, options)).abs().max().item() for head in heads)


def gradients(medians: Medians, batch: int, heads: int, length: int, width: int, causal: bool) -> dict[str, Any]:
    """The backward pass: 2.5 times the operations of the forward pass."""
    q, k, v = (random(batch, heads, length, width, grad=True) for _ in range(3))
    head = random(batch, heads, length, width)
    errors: dict[str, Any] = {}
    calls: Calls = {}
    options = {"is_causal": causal}
    with torch.enable_grad():
        exact = [one.detach()[:, :1].double().requires_grad_() for one in (q, k, v)]
        right = torch.autograd.grad(_exact(*exact, 0, options), exact, head[0, 0].double())

    def error(made: Any) -> list[float]:
        # The root of the mean square: the largest error of all is a few ulps of one element, by luck.
        pairs = [(a[0, 0].double(), b[0, 0]) for a, b in zip(made, right, strict=True)]
        return [((a - b).square().mean() / b.square().mean()).sqrt().item() for a, b in pairs]

    for name, backend in {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash2": SDPBackend.FLASH_ATTENTION}.items():
        try:
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            calls[name] = lambda out=out: torch.autograd.grad(out, (q, k, v), head, retain_graph=True)
            errors[name] = max(error(calls[name]()))
        except RuntimeError as refused:
            print(name, "refuses", str(refused).splitlines()[0])
    of_keys = [(128, 64), (128, 48)] if width == 128 and causal else [(128, 64)]
    shape = (batch * heads, length, width)
    flat = [one.detach().flatten(0, 1) for one in (head, q, k, v)]
    # What the peers have saved of the forward pass, too: its result, and for each query the logarithm of its sum.
    known = [x.view(batch * heads, length, -1).squeeze(-1) for x in _saved(q, k, v, causal)]
    choices = [(last, kept, False) for last in of_keys for kept in (1, 2)]
    for last, kept, adds in [*choices, ((128, 128 if width == 64 else 64), 2, True)]:
        tiles = ((128, 128), (128, 128 if width == 64 else 64), last)
        *tensors, result = (te.placeholder(shape, "bfloat16", name=name) for name in ("head", "Q", "K", "V", "result"))
        logarithms = te.placeholder(shape[:-1], "float32", name="logarithms") if kept == 2 else None
        scheduled = attention_gradients_of(
            *tensors, behind=0 if causal else None, tiles=tiles, result=result, logarithms=logarithms, adds=adds
        )
        func = tw.build(*scheduled, target="cuda", name="gradients")
        made = [torch.full_like(flat[0], float("nan")) for _ in range(3)]
        given = (*flat, *known[:kept])
        func(*given, *made)
        name = json.dumps({"tiles": tiles, "logarithms": kept == 2, "adds": adds})
        errors[name] = max(error([one.view(batch, heads, length, width) for one in made]))
        calls[name] = lambda func=func, given=given, made=made: func(*given, *made)
    return figures_of(calls, errors, 10.0 * batch * heads * length**2 * width / (2 if causal else 1), medians, 1.05)


def _saved(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> list[torch.Tensor]:
    made = ops.attention_with_logarithms(*(x.detach() for x in (q, k, v)), is_causal=causal)
    return [x.contiguous() for x in made]


def grouped(medians: Medians) -> dict[str, Any]:
    """64 heads that share 8 of keys and values, 2 x 4096, causal."""
    q, (k, v) = random(2, 64, 4096, 128), (random(2, 8, 4096, 128) for _ in range(2))
    out = torch.full_like(q, float("nan"))
    calls: Calls = {"{}": lambda: ops.attention(q, k, v, is_causal=True, enable_gqa=True, out=out)}

    def peer() -> torch.Tensor:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    calls["{}"]()
    options = {"is_causal": True}
    errors = {"{}": _error(out, q, k, v, options), "cudnn": _error(peer(), q, k, v, options)}
    return figures_of({**calls, "cudnn": peer}, errors, 2.0 * 2 * 64 * 4096**2 * 128, medians)


def masked(medians: Medians, kind: str) -> dict[str, Any]:
    """A mask of 4 x 16 heads x 4096, beside FlexAttention; the operations are those that are not masked away."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    batch, heads, length, width = 4, 16, 4096, 128
    q, k, v = (random(batch, heads, length, width) for _ in range(3))
    slopes = torch.exp2(-(torch.arange(heads, device="cuda") + 1.0) * 0.5)
    sinks = torch.randn(heads, device="cuda")
    documents = torch.arange(length, device="cuda") // 512
    options: dict[str, Any] = {
        "causal": {"is_causal": True},
        "window": {"is_causal": True, "window": (1023, 0)},
        "cap": {"softcap": 20.0},
        "alibi": {"is_causal": True, "slopes": slopes},
        "sinks": {"is_causal": True, "sinks": sinks},
        "documents": {"is_causal": True, "mask": documents[:, None] == documents},
    }[kind]
    rules: dict[str, Any] = {
        "window": lambda b, h, i, j: (i >= j) & (i - j < 1024),
        "documents": lambda b, h, i, j: (i >= j) & (documents[i] == documents[j]),
    }
    changes: dict[str, Any] = {
        "cap": lambda s, b, h, i, j: 20 * torch.tanh(s / 20),
        "alibi": lambda s, b, h, i, j: s + (j - i) * slopes[h],
    }
    given = dict(options)
    mask = given.pop("mask", None)
    out = torch.full_like(q, float("nan"))
    masks = [] if mask is None else [mask]
    calls: Calls = {"{}": lambda: ops.attention(q, k, v, *masks, out=out, **given)}
    calls["{}"]()
    errors: dict[str, Any] = {"{}": _error(out, q, k, v, options)}
    for choice in CHOICES.get(kind, []):
        name, result = json.dumps(choice), torch.full_like(q, float("nan"))
        tensors = [te.placeholder(tuple(q.shape), "bfloat16", name=one) for one in "QKV"]
        tensors += [te.placeholder((length, length), "bool", name="mask") for _ in masks]
        before = options["window"][0] if "window" in options else None
        scheduled = attention_of(*tensors, before=before, behind=0, is_listed=bool(masks), **choice)
        func = tw.build(*scheduled, target="cuda", name="attention")
        func(q, k, v, *masks, result)
        errors[name] = _error(result, q, k, v, options)
        calls[name] = lambda func=func, result=result: func(q, k, v, *masks, result)
    torch._dynamo.reset()
    flex = torch.compile(flex_attention, dynamic=False)
    rule = rules.get(kind, lambda b, h, i, j: i >= j)
    block = None if kind == "cap" else create_block_mask(rule, None, None, length, length)

    def peer() -> Any:
        if kind != "sinks":
            return flex(q, k, v, score_mod=changes.get(kind), block_mask=block)
        result, logarithms = flex(q, k, v, block_mask=block, return_lse=True)
        return result * torch.sigmoid(logarithms - sinks[:, None])[..., None].to(result.dtype)

    try:
        errors["flex"] = _error(peer(), q, k, v, options)
        calls["flex"] = peer
    except Exception as refused:  # whatever the compiler of another project raises
        print("flex refuses", str(refused)[:200])
    share = _allowed(length, length, options).double().mean().item()
    return figures_of(calls, errors, 4.0 * batch * heads * length**2 * width * share, medians)


def fp8(medians: Medians, width: int, length: int, causal: bool) -> dict[str, Any]:
    """8-bit floats with scales of blocks, beside our bfloat16 of the same numbers; 16 Ki tokens in all."""
    batch, heads = 16384 // length, 2048 // width
    calls: Calls = {}
    errors: dict[str, Any] = {}
    inputs = [random(batch, heads, length, width).float() for _ in range(3)]
    out = torch.full_like(inputs[0], float("nan"), dtype=torch.bfloat16)

    def error(exact: torch.Tensor) -> float:
        return ((out[0, 0].double() - exact).square().mean() / exact.square().mean()).sqrt().item()

    for of_keys in (128, length):
        numbers, scales, halves = [], [], []
        for x, rows in zip(inputs, (128, of_keys, length), strict=True):  # values have one scale a head
            blocks = x.unflatten(2, (-1, rows))
            scale = blocks.abs().amax((3, 4)) / 448.0
            narrow = (blocks / scale[..., None, None]).to(torch.float8_e4m3fn)
            numbers.append(narrow.flatten(2, 3))
            scales.append(scale)
            halves.append((narrow.float() * scale[..., None, None]).flatten(2, 3).bfloat16())
        given = (*numbers, *scales[:2], scales[2].squeeze(-1))
        exact = _exact(*(x[:1, :1] for x in halves), 0, {"is_causal": causal})
        name = json.dumps({"keys of a scale": of_keys})
        calls[name] = lambda given=given: ops.attention_fp8(*given, is_causal=causal, out=out)
        other = json.dumps({"keys of a scale": of_keys, **({"blocks": 131} if causal else {"stages": 2})})
        names = ("Q", "K", "V", "q_scales", "k_scales", "v_scales")
        tensors = [
            te.placeholder(tuple(x.shape), str(x.dtype).removeprefix("torch."), name=one)
            for one, x in zip(names, given, strict=True)
        ]
        scheduled = attention_fp8_of(
            *tensors, behind=0 if causal else None, stages=3 if causal else 2, blocks=131 if causal else None
        )
        func = tw.build(*scheduled, target="cuda", name="attention")
        calls[other] = lambda func=func, given=given: func(*given, out)
        calls["our bfloat16"] = lambda halves=halves: ops.attention(*halves, is_causal=causal, out=out)
        for one in (name, other, "our bfloat16"):
            calls[one]()
            errors[one] = error(exact)
    figures = figures_of(calls, errors, 4.0 * batch * heads * length**2 * width / (2 if causal else 1), medians)
    # Weights of 4 bits round as much.
    figures["best"]["right"] = all(made < 2.0**-4 / 3**0.5 for made in errors.values())
    return figures
