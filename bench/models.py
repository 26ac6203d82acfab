"""Whole models on one GPU: tw.compile beside eager PyTorch and torch.compile, with random weights, nothing downloaded.

python bench/models.py OUT.json [--seconds N] [--tiny] [--target T] [--modes LIST] [--int8] [--fp8] [name ...]

Each row is a process of its own with its own limit, and is written when it is known. "right" says that no element of
ours is off by more than what bfloat16 makes of the model in eager PyTorch, four times, beside float32. Times are
medians in milliseconds of one forward pass, all inputs on the GPU: of a call of the model ("ours"), and of the
function that `model.export` writes ("exported"), also without CUDA graphs ("plain"), with 13 addresses in turn
("other_addresses") and in a graph that torch captures ("torch_graph"); "host_us" is what a call takes this machine.
Results are compared bit by bit with those of the first calls ("..._same"). "groups" has our groups in their order, with
microseconds and bytes.

With --int8 or --fp8, a row also has the model with matmuls and convolutions in int8 or float8_e4m3fn, calibrated by the
input: its groups, its time, and the cosine of its result, and of ours, with float32.

With --tiny --target "cuda -arch=sm_90a" models are small and only compiled, which needs no GPU. With --tiny --target
cpu they run on the processor.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from rows import about, run_rows
from torch import nn
from torch.nn import functional as F

MODES = ("default", "reduce-overhead")
TYPES = {"int8": "int8", "fp8": "float8_e4m3fn"}


class Bottleneck(nn.Module):
    """Three convolutions beside the input."""

    def __init__(self, inner: int, width: int, stride: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for given, made, size, step in ((inner, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1)):
            layers += [nn.Conv2d(given, made, size, step, size // 2, bias=False), nn.BatchNorm2d(made), nn.ReLU()]
        self.body = nn.Sequential(*layers[:-1])
        skips = inner != 4 * width or stride != 1
        self.skip = nn.Sequential(nn.Conv2d(inner, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))
        self.skip = self.skip if skips else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.skip(x))


def resnet(depths: tuple[int, ...], width: int) -> nn.Module:
    """A ResNet of bottlenecks."""
    layers: list[nn.Module] = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    inner = width
    for stage, depth in enumerate(depths):
        for block in range(depth):
            layers.append(Bottleneck(inner, width << stage, 2 if stage and not block else 1))
            inner = 4 * (width << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 1000))


class Attention(nn.Module):
    """Heads of attention; rotary positions and fewer heads of keys where Llama has them."""

    def __init__(self, width: int, heads: int, keys: int, causal: bool, rotary: bool) -> None:
        super().__init__()
        self.heads, self.keys, self.causal, self.rotary, self.size = heads, keys, causal, rotary, width // heads
        self.q = nn.Linear(width, width, bias=not rotary)
        self.kv = nn.ModuleList(nn.Linear(width, keys * self.size, bias=not rotary) for _ in range(2))
        self.out = nn.Linear(width, width, bias=not rotary)

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        half = self.size // 2
        rates = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
        angles = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q = self.q(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        k, v = (one(x).view(batch, length, self.keys, self.size).transpose(1, 2) for one in self.kv)
        if self.rotary:
            q, k = self._turned(q), self._turned(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.keys != self.heads)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class RMSNorm(nn.Module):
    """Llama's norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


class Gated(nn.Module):
    """Llama's feed-forward network."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    """A layer of BERT (norms behind), GPT-2 (norms before) or Llama."""

    def __init__(self, kind: str, width: int, heads: int, keys: int, inner: int) -> None:
        super().__init__()
        llama = kind == "llama"
        self.behind = kind == "bert"
        self.attention = Attention(width, heads, keys, kind != "bert", llama)
        self.norms = nn.ModuleList(RMSNorm(width) if llama else nn.LayerNorm(width) for _ in range(2))
        act = nn.GELU(approximate="none" if self.behind else "tanh")
        plain = nn.Sequential(nn.Linear(width, inner), act, nn.Linear(inner, width))
        self.feed = Gated(width, inner) if llama else plain

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one, two = self.norms
        if self.behind:
            x = one(x + self.attention(x))
            return two(x + self.feed(x))
        x = x + self.attention(one(x))
        return x + self.feed(two(x))


class Text(nn.Module):
    """Embeddings, layers, and for GPT-2 and Llama the words' scores."""

    def __init__(self, kind: str, words: int, width: int, heads: int, inner: int, layers: int, length: int,
                 keys: int = 0, head: bool = True) -> None:  # fmt: skip
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width) if kind != "llama" else None
        self.layers = nn.Sequential(*(Layer(kind, width, heads, keys or heads, inner) for _ in range(layers)))
        self.norm = RMSNorm(width) if kind == "llama" else nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False) if head else nn.Identity()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids)
        if self.places is not None:
            x = x + self.places(torch.arange(ids.shape[1], device=ids.device))
        return self.head(self.norm(self.layers(x)))


def made(name: str, tiny: bool) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input."""
    torch.manual_seed(0)
    if name.split(" b")[0] in TIMM:
        import timm  # not needed by other rows

        architecture, batch = name.split(" b")
        return timm.create_model(architecture), torch.randn(2 if tiny else int(batch), 3, 224, 224)
    if name.startswith("resnet50"):
        batch = int(name.split(" b")[1])
        model = resnet((1, 1), 8) if tiny else resnet((3, 4, 6, 3), 64)
        return model, torch.randn(min(batch, 2) if tiny else batch, 3, *((32, 32) if tiny else (224, 224)))
    if name.startswith("block "):  # one layer, for what a layer costs
        kind, size = name.split()[1:]
        batch, length = map(int, size.split("x"))
        width, heads, inner = {"bert": (768, 12, 3072), "gpt2": (768, 12, 3072), "llama": (2048, 32, 8192)}[kind]
        keys = {"llama": 8}.get(kind, heads)
        if tiny:
            batch, length, width, heads, keys, inner = 1, 16, 64, 4, min(keys, 2 if kind == "llama" else 4), 128
        return Layer(kind, width, heads, keys, inner), torch.randn(batch, length, width)
    kind, size = name.split()
    batch, length = map(int, size.split("x"))
    options: dict[str, Any] = {
        "bert": {"words": 30522, "width": 768, "heads": 12, "inner": 3072, "layers": 12, "head": False},
        "gpt2": {"words": 50257, "width": 768, "heads": 12, "inner": 3072, "layers": 12},
        "llama": {"words": 128256, "width": 2048, "heads": 32, "keys": 8, "inner": 8192, "layers": 16},
    }[kind]
    if tiny:
        options.update(words=99, width=64, heads=4, inner=128, layers=1, keys=2 if kind == "llama" else 4)
        length = min(length, 16)
    return Text(kind, length=length, **options), torch.randint(options["words"], (batch, length))


ROWS = ("block bert 1x128", "bert 1x128", "resnet50 b1", "block gpt2 1x1024", "gpt2 1x1024", "block llama 1x2048",
        "bert 16x512", "resnet50 b64", "llama 1x2048", "llama 1x1", "vit_base_patch16_224 b1",
        "vit_base_patch16_224 b64", "convnext_tiny b64", "efficientnet_b0 b64", "mobilenetv3_large_100 b64",
        "swin_tiny_patch4_window7_224 b64")  # fmt: skip
TIMM = {name.split(" b")[0] for name in ROWS if "_" in name}
"""The rows whose models timm makes, where it is installed."""


def median_ms(call: Any, device: str, repeat: int = 30) -> float:
    """The median of the times of a call, after three calls."""
    times = []
    for number in range(repeat + 3):
        if device == "cuda":
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            ms = begin.elapsed_time(end)
        else:
            start = time.perf_counter()
            call()
            ms = 1e3 * (time.perf_counter() - start)
        if number >= 3:
            times.append(ms)
    return round(sorted(times)[len(times) // 2], 4)


def graphs_of(exported: Any, x: torch.Tensor) -> dict[str, Any]:
    """What CUDA graphs do: results and times where addresses change, and within a graph that torch captures."""
    inputs = [x, *(x.flip(-1).roll(i, -1).contiguous() for i in range(12))]
    streams = [torch.cuda.Stream() for _ in range(2)]
    plain = []
    for one in inputs:  # each first call with an address
        plain.append(exported(one).clone())
    kept = [exported(one) for _ in range(3) for one in inputs]  # outputs at new addresses
    same = all(bool((y == plain[i % len(inputs)]).all()) for i, y in enumerate(kept))
    for stream in streams:
        stream.wait_stream(torch.cuda.current_stream())
    for i, one in enumerate([*inputs, *inputs]):
        with torch.cuda.stream(streams[i % 2]):
            kept[i] = exported(one)
    torch.cuda.synchronize()
    on_streams = all(bool((kept[i] == plain[i % len(inputs)]).all()) for i in range(2 * len(inputs)))
    order = iter(inputs * 40)
    changing = median_ms(lambda: exported(next(order)), "cuda", 100)
    graph, static = torch.cuda.CUDAGraph(), inputs[0].clone()
    with torch.cuda.graph(graph):
        made = exported(static)
    captured = True
    for one, wanted in zip(inputs, plain):
        static.copy_(one)
        graph.replay()
        captured &= bool((made == wanted).all())
    start = time.perf_counter()
    for _ in range(100):
        exported(x)
    host = 1e4 * (time.perf_counter() - start)
    torch.cuda.synchronize()
    return {
        "other_addresses_same": same, "streams_same": on_streams, "other_addresses_ms": changing,
        "torch_graph_same": captured, "torch_graph_ms": median_ms(graph.replay, "cuda"),
        "host_us": round(host, 1),
    }  # fmt: skip


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    """The cosine of the angle between two tensors."""
    return round(float(F.cosine_similarity(a.double().flatten(), b.double().flatten(), dim=0)), 6)


def run_row(name: str, tiny: bool, target: str, modes: list[str], narrow: list[str]) -> None:
    """Prints what is known of a row as a line of JSON, each time that more is known."""
    import tilewright as tw

    runs = target in ("cuda", "cpu")
    dtype = torch.bfloat16 if target.startswith("cuda") else torch.float32
    found: dict[str, Any] = {}

    def tell(**more: Any) -> None:
        found.update(more)
        print(json.dumps(found), flush=True)

    module, x = made(name, tiny)
    module.eval()
    with torch.inference_mode():
        for one in module.modules():
            if isinstance(one, nn.BatchNorm2d):
                one.running_var.uniform_(0.5, 1.5)  # pyright: ignore[reportOptionalMemberAccess]
    exact_module, exact_x = module, x
    x = x.to(dtype) if x.is_floating_point() else x
    import copy

    module = copy.deepcopy(module).to(dtype)
    start = time.perf_counter()
    with torch.no_grad():
        model = tw.compile(module, (x,), target=target)
        tell(compile_s=round(time.perf_counter() - start, 1), number_of_groups=len(model.groups))
        quantised: dict[str, Any] = {}
        for one in narrow:
            start = time.perf_counter()
            quantised[one] = tw.compile(module, (x,), target=target, calibration=[(x,)], quantized=TYPES[one])
            seconds = round(time.perf_counter() - start, 1)
            tell(**{f"{one}_compile_s": seconds, f"{one}_number_of_groups": len(quantised[one].groups)})
    if not runs:
        tell(cubins=all(group.function.cubin for group in model.groups))
        return
    module, x = module.to(target), x.to(target)
    with torch.inference_mode():
        start = time.perf_counter()
        got = model(x)
        tell(first_s=round(time.perf_counter() - start, 2))
        eager = module(x)
        exact = exact_module.to(target)(exact_x.to(target)).float()
        exact_module.to("cpu")
        size = exact.abs().max()
        errors = [float((one.float() - exact).abs().max() / size) for one in (got, eager)]
        tell(error=errors[0], error_eager=errors[1], right=errors[0] <= max(4 * errors[1], 1e-5))
        tell(ours_ms=median_ms(lambda: model(x), target), eager_ms=median_ms(lambda: module(x), target))
        if quantised:
            tell(cosine=cosine(got, exact))
        for each, one in quantised.items():
            tell(**{f"{each}_cosine": cosine(one(x), exact), f"{each}_ms": median_ms(lambda one=one: one(x), target)})
            with tempfile.TemporaryDirectory() as folder:
                one.export(f"{folder}/model.so")
                exported = tw.load_model(f"{folder}/model.so")
                tell(**{f"{each}_exported_ms": median_ms(lambda exported=exported: exported(x), target)})
            own = one.profile(x, repeat=20)
            tell(**{f"{each}_groups": [[g.group.name, round(1e6 * g.seconds, 2), g.bytes] for g in own.groups]})
        profile = model.profile(x, repeat=20)
        tell(
            groups_ms=round(1e3 * profile.seconds, 4),
            groups=[[one.group.name, round(1e6 * one.seconds, 2), one.bytes] for one in profile.groups],
        )
        with tempfile.TemporaryDirectory() as folder:  # the whole model as one function of a library
            try:
                model.export(f"{folder}/model.so")
                exported = tw.load_model(f"{folder}/model.so")
                error = float((exported(x).float() - exact).abs().max() / size)
                tell(exported_error=error, exported_ms=median_ms(lambda: exported(x), target))
                if target == "cuda":
                    tell(**graphs_of(exported, x))
                    model.cuda_graph = False
                    model.export(f"{folder}/plain.so")
                    plain = tw.load_model(f"{folder}/plain.so")
                    tell(plain_ms=median_ms(lambda: plain(x), target), plain_same=bool((plain(x) == got).all()))
            except Exception as error:
                tell(exported_failed=f"{type(error).__name__}: {str(error)[:300]}")
        for mode in modes:
            torch.compiler.reset()
            faster: Any = torch.compile(module, mode=None if mode == "default" else mode, dynamic=False)
            start = time.perf_counter()
            faster(x)
            tell(**{f"{mode}_first_s": round(time.perf_counter() - start, 1)})
            tell(**{f"{mode}_ms": median_ms(lambda faster=faster: faster(x), target)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--seconds", type=float, default=150, help="of all rows together")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--fp8", action="store_true")
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    modes = [one for one in given.modes.split(",") if one]
    narrow = [one for one in TYPES if getattr(given, one)]
    if given.row:
        run_row(given.out, given.tiny, given.target, modes, narrow)
        return
    options = ["--target", given.target, "--modes", ",".join(modes)]
    options += [f"--{one}" for one in ("tiny", *TYPES) if getattr(given, one)]
    head = {**about(given.target), "tiny": given.tiny, "target": given.target}
    run_rows(__file__, Path(given.out), given.names, options, given.seconds, head)


if __name__ == "__main__":
    main()
