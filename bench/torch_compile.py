"""torch.compile with this project's backend beside eager PyTorch and Inductor: models, training, masks, torch.linalg.

python bench/torch_compile.py OUT.json [--seconds N] [--tiny] [--device D] [row ...]

Each row is a process of its own, and is written when it is known:
- "infer NAME": a forward pass of a model of bench/models.py in bfloat16, under no_grad.
- "train NAME": its forward pass, its gradients and a step of AdamW, compiled as users do: the model is compiled, the
  optimiser is PyTorch's, fused.
- "train hf NAME": the same of a model of HUGGING_FACE, in the sizes of its paper, without dropout.
- "infer32 NAME" and "train32 NAME": the same in float32, with torch.set_float32_matmul_precision("high").
- "ieee NAME" and "train-ieee NAME": the same in float32 with PyTorch's own settings: no matmul in tf32.
- "sdpa MASK": scaled_dot_product_attention of 4 x 16 heads of 128, 4096 queries and keys, bfloat16, with a mask of
  MASKS. "sdpa-ieee MASK" is the same in float32 with PyTorch's own settings.
- "written WAY": attention of the same heads without that operator, as models write it: WRITTEN.
- "flex MASK": flex_attention of the same sizes. Inductor is the peer: eager PyTorch has no kernel of its own.
- "linalg CASE": a function of torch.linalg in float32, as in LINALG; "x 64" is a batch.

Times are medians of events of the call in Python, all in random order in each of 100 rounds. "..._error" is the largest
error beside float64, over the largest element; of training, that of all gradients. "right" says that ours is no more
than four times that of eager PyTorch. "..._first_s" is the first call, which compiles.

With --tiny --device cpu the models are small and run on the processor.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rows import Row, about, error, medians, run_rows
from torch import nn
from torch.nn.attention import flex_attention as flex
from torch.nn.functional import scaled_dot_product_attention

from models import made as model_of

Call = Callable[[], Any]

MASKS = ("none", "causal", "bools causal", "bools documents", "bools padding", "bools window", "floats input",
         "floats made")  # fmt: skip
FLEX = ("none", "causal", "window", "documents", "alibi")
# A softmax of scores, a causal one by masked_fill, one in float32 with a mask, and one of grouped heads by einsum.
WRITTEN = ("none", "causal", "mask", "grouped")
LINALG = ("solve 512", "cholesky 512", "qr 512", "lu_factor 512", "solve 1024", "cholesky 1024", "qr 1024", "inv 1024",
          "det 1024", "solve_triangular 1024", "solve 2048", "cholesky 2048", "qr 2048", "solve 256 x 64",
          "cholesky 256 x 64", "qr 256 x 64", "eigvalsh 32", "eigvalsh 128")  # fmt: skip
MODELS = ("bert 16x512", "resnet50 b64", "gpt2 1x1024", "bert 1x128", "block gpt2 4x1024")
TRAINED = ("block gpt2 4x1024", "resnet50 b64", "bert 16x512")
# By name the class, its configuration, what makes its sizes tiny, and the batch: of images, or sequences of so many.
HUGGING_FACE: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, "use_cache": False},
             {"n_layer": 1, "n_embd": 64, "n_head": 2, "vocab_size": 101}, (4, 1024)),
    "bert": ("BertForMaskedLM", "BertConfig", {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0},
             {"num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 2, "vocab_size": 101}, (16, 512)),
    "vit": ("ViTForImageClassification", "ViTConfig", {"num_labels": 1000},
            {"num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 2}, (64,)),
    "convnext": ("ConvNextForImageClassification", "ConvNextConfig", {"num_labels": 1000},
                 {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 16, 32, 32]}, (64,)),
    "swin": ("SwinForImageClassification", "SwinConfig", {"num_labels": 1000, "drop_path_rate": 0},
             {"depths": [1, 1], "num_heads": [2, 2], "embed_dim": 32}, (64,)),
    "efficientnet": ("EfficientNetForImageClassification", "EfficientNetConfig",
                     {"num_labels": 1000, "hidden_dim": 1280, "width_coefficient": 1.0, "depth_coefficient": 1.0,
                      "image_size": 224, "dropout_rate": 0, "drop_connect_rate": 0},
                     {"depth_coefficient": 0.2, "image_size": 64}, (64,)),
}  # fmt: skip
ROWS = (
    *(f"train hf {name}" for name in HUGGING_FACE),
    *(f"infer {name}" for name in MODELS), *(f"train {name}" for name in TRAINED),
    *(f"infer32 {name}" for name in MODELS), *(f"train32 {name}" for name in TRAINED),
    *(f"ieee {name}" for name in MODELS), *(f"train-ieee {name}" for name in TRAINED),
    *(f"sdpa {name}" for name in MASKS), *(f"sdpa-ieee {name}" for name in MASKS),
    *(f"written {name}" for name in WRITTEN),
    *(f"flex {name}" for name in FLEX), *(f"linalg {name}" for name in LINALG),
)  # fmt: skip


def compilers() -> dict[str, Any]:
    """What compiles a function, by name. The backend itself is given, so that nothing needs to be installed."""
    from tilewright.torch.backend import compile_fx

    return {
        "eager": lambda function: function,
        "ours": lambda function: torch.compile(function, backend=compile_fx, dynamic=False),
        "inductor": lambda function: torch.compile(function, dynamic=False),
        "reduce-overhead": lambda function: torch.compile(function, mode="reduce-overhead", dynamic=False),
    }


class Case:
    """A function of what each compiler makes of it, and its result in float64.

    `make` has a compiler and gives a call, which returns a tensor.
    """

    def __init__(self, make: Callable[[Any], Call], exact: torch.Tensor, peers: tuple[str, ...]) -> None:
        self.make, self.exact, self.peers = make, exact, peers

    def measure(self, row: Row, device: str, rounds: int) -> None:
        calls: dict[str, Call] = {}
        every = compilers()
        for name in (*self.peers, "ours"):
            torch.compiler.reset()

            def first(name: str = name) -> None:
                call = self.make(every[name])
                start = time.perf_counter()
                got = call()
                if device == "cuda":
                    torch.cuda.synchronize()
                took = time.perf_counter() - start
                row.tell(**{f"{name}_first_s": round(took, 2), f"{name}_error": error(got.detach(), self.exact)})
                calls[name] = call

            row.attempt(name, first)
        if "ours" in calls:
            # Inductor's own error where eager PyTorch has no kernel.
            peer = min(row.found[f"{name}_error"] for name in self.peers if name in calls)
            row.tell(right=row.found["ours_error"] <= max(4 * peer, 1e-5))
        row.tell(**medians(calls, device, rounds))


class First(nn.Module):
    """The first output of a model of Hugging Face."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x, return_dict=False)[0]


def hugging_face_model(name: str, tiny: bool) -> tuple[nn.Module, torch.Tensor]:
    """A model of transformers with random weights, and its input."""
    import transformers

    kind, configuration, options, smaller, batch = HUGGING_FACE[name]
    made = getattr(transformers, configuration)(**(options | (smaller if tiny else {})))
    torch.manual_seed(0)
    model = First(getattr(transformers, kind)(made))
    if name == "efficientnet":  # with its own first weights, results are 1e-31
        for one in model.modules():
            reset: Any = getattr(one, "reset_parameters", lambda: None)
            reset()
    batch = tuple(min(one, 16) if tiny else one for one in batch)
    if len(batch) > 1:
        return model, torch.randint(made.vocab_size, batch)
    return model, torch.randn(min(*batch, 2) if tiny else batch[0], 3, made.image_size, made.image_size)


def model_in(dtype: torch.dtype, name: str, tiny: bool, device: str, precision: str) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input of a type, for float32 with such a precision of matmuls."""
    torch.set_float32_matmul_precision(precision)
    is_of_others = name.startswith("hf ")
    module, x = hugging_face_model(name[3:], tiny) if is_of_others else model_of(name, tiny)
    return module.to(dtype).to(device), (x.to(dtype) if x.is_floating_point() else x).to(device)


def infer_case(
    name: str, tiny: bool, device: str, dtype: torch.dtype = torch.bfloat16, precision: str = "highest"
) -> Case:
    module, x = model_in(dtype, name, tiny, device, precision)
    module = module.eval()
    exact = copy.deepcopy(module).double()(x.double() if x.is_floating_point() else x)

    def make(compiler: Any) -> Call:
        compiled = compiler(module)
        return lambda: compiled(x)

    return Case(make, exact, ("eager", "inductor", "reduce-overhead"))


def train_case(
    name: str, tiny: bool, device: str, dtype: torch.dtype = torch.bfloat16, precision: str = "highest"
) -> Case:
    module, x = model_in(dtype, name, tiny, device, precision)
    module = module.train()

    def gradients(trained: nn.Module) -> torch.Tensor:
        return torch.cat([one.grad.double().flatten() for one in trained.parameters() if one.grad is not None])

    def loss_of(out: torch.Tensor) -> torch.Tensor:
        return out.float().square().mean() if out.dtype != torch.float64 else out.square().mean()

    wide = copy.deepcopy(module).double()
    loss_of(wide(x.double() if x.is_floating_point() else x)).backward()
    exact = gradients(wide)

    def make(compiler: Any) -> Call:
        own = copy.deepcopy(module)
        compiled = compiler(own)
        optimiser = torch.optim.AdamW(own.parameters(), lr=1e-5, fused=device == "cuda")
        steps = [0]

        def step() -> torch.Tensor | None:
            optimiser.zero_grad(set_to_none=True)
            loss_of(compiled(x)).backward()
            steps[0] += 1
            found = gradients(own) if steps[0] == 1 else None  # of the first step, where the weights are the same
            optimiser.step()
            return found

        return step

    return Case(make, exact, ("eager", "inductor"))


def mask_of(name: str, length: int, device: str) -> torch.Tensor | None:
    """The mask of a row of "sdpa"."""
    at = torch.arange(length, device=device)
    q, k = at[:, None], at[None, :]
    kept = {
        "bools causal": q >= k,
        "bools documents": q // 391 == k // 391,
        "bools padding": (k < length - length // 5).expand(length, length),
        "bools window": (q >= k) & (q - k < length // 4),
        "floats input": q >= k,
    }.get(name)
    if kept is None or not name.startswith("floats"):
        return kept
    return torch.zeros(length, length, device=device, dtype=torch.bfloat16).masked_fill(~kept, float("-inf"))


def heads_of(tiny: bool, device: str) -> list[torch.Tensor]:
    shape = (1, 2, 128, 64) if tiny else (4, 16, 4096, 128)
    generator = torch.Generator(device).manual_seed(0)
    return [torch.randn(shape, generator=generator, device=device).to(torch.bfloat16) for _ in range(3)]


def in_double(function: Callable[..., torch.Tensor], tensors: list[torch.Tensor]) -> torch.Tensor:
    """The result of the first element of the batch in float64, one head at a time: a head's scores take 128 MB."""
    heads = [
        function(*(one[:1, head : head + 1].double() for one in tensors)) for head in range(min(2, tensors[0].shape[1]))
    ]
    return torch.cat(heads, 1)


def sdpa_case(name: str, tiny: bool, device: str, dtype: torch.dtype = torch.bfloat16) -> Case:
    tensors = [one.to(dtype) for one in heads_of(tiny, device)]
    length = tensors[0].shape[2]
    mask, causal = mask_of(name, length, device), name == "causal"
    mask = mask.to(dtype) if mask is not None and mask.is_floating_point() else mask

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, given: torch.Tensor | None) -> torch.Tensor:
        if name == "floats made":
            rows = torch.arange(length, device=q.device)
            given = torch.zeros(length, length, device=q.device, dtype=q.dtype)
            given = given.masked_fill(rows[:, None] < rows[None, :], float("-inf"))
        return scaled_dot_product_attention(q, k, v, attn_mask=given, is_causal=causal)

    wide = mask.double() if mask is not None and mask.is_floating_point() else mask
    exact = in_double(lambda q, k, v: attend(q, k, v, wide), tensors)

    def make(compiler: Any) -> Call:
        compiled = compiler(attend)
        return lambda: compiled(*tensors, mask)

    return OfTwoHeads(make, exact, ("eager", "inductor"))


def written_case(name: str, tiny: bool, device: str) -> Case:
    q, k, v = heads_of(tiny, device)
    length, width = q.shape[2:]
    mask = mask_of("floats input", length, device)
    hides = torch.ones(length, length, device=device, dtype=torch.bool).triu(1)
    if name == "grouped":
        k, v = k[:, ::2].contiguous(), v[:, ::2].contiguous()

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if name == "grouped":
            k, v = (one.repeat_interleave(q.shape[1] // one.shape[1], 1) for one in (k, v))
            weights = torch.einsum("bhqd,bhkd->bhqk", q, k) / width**0.5
            return torch.einsum("bhqk,bhkd->bhqd", weights.softmax(-1), v)
        weights = q @ k.transpose(-2, -1) * width**-0.5
        if name == "causal":
            weights = weights.masked_fill(hides, float("-inf"))
        if name == "mask":
            weights = torch.softmax(weights + mask, -1, dtype=torch.promote_types(q.dtype, torch.float32))
        else:
            weights = weights.softmax(-1)
        return weights.to(q.dtype) @ v

    tensors = [q, *(one.repeat_interleave(2, 1) if name == "grouped" else one for one in (k, v))]
    exact = in_double(attend, tensors)

    def make(compiler: Any) -> Call:
        compiled = compiler(attend)
        return lambda: compiled(q, k, v)

    return OfTwoHeads(make, exact, ("eager", "inductor"))


def flex_case(name: str, tiny: bool, device: str) -> Case:
    tensors = heads_of(tiny, device)
    length, count = tensors[0].shape[2], tensors[0].shape[1]
    masks: dict[str, Any] = {
        "causal": lambda b, h, q, k: q >= k,
        "window": lambda b, h, q, k: (q >= k) & (q - k < length // 4),
        "documents": lambda b, h, q, k: q // 391 == k // 391,
    }
    block = flex.create_block_mask(masks[name], None, None, length, length, device) if name in masks else None

    def alibi(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return score + torch.exp2(-8.0 * (h + 1) / count) * (k - q)

    change = alibi if name == "alibi" else None

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flex.flex_attention(q, k, v, score_mod=change, block_mask=block)

    at = torch.arange(length, device=device)

    def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        head = torch.tensor(plain.head, device=device)  # type: ignore[attr-defined]
        plain.head += 1  # type: ignore[attr-defined]
        if change is not None:
            scores = alibi(scores, 0, head.double(), at[:, None], at[None, :])
        if name in masks:
            scores = scores.masked_fill(~masks[name](0, head, at[:, None], at[None, :]), float("-inf"))
        return scores.softmax(-1) @ v

    plain.head = 0  # type: ignore[attr-defined]
    exact = in_double(plain, tensors)

    def make(compiler: Any) -> Call:
        compiled = compiler(attend)
        return lambda: compiled(*tensors)

    return OfTwoHeads(make, exact, ("inductor",))


class OfTwoHeads(Case):
    """A case that is compared by two heads of the first element of the batch."""

    def __init__(self, make: Callable[[Any], Call], exact: torch.Tensor, peers: tuple[str, ...]) -> None:
        def made(compiler: Any) -> Call:
            call, first = make(compiler), [True]

            def checked() -> torch.Tensor:
                got = call()
                if first[0]:
                    first[0] = False
                    return got[:1, :2]
                return got

            return checked

        super().__init__(made, exact, peers)


def linalg_case(name: str, tiny: bool, device: str) -> Case:
    function, size, *rest = name.split()
    rows = min(int(size), 24) if tiny else int(size)
    batch = (int(rest[1]),) if rest else ()
    generator = torch.Generator(device).manual_seed(0)
    square = torch.randn(*batch, rows, rows, generator=generator, device=device)
    right = torch.randn(*batch, rows, 16, generator=generator, device=device)
    positive = square @ square.mT + rows * torch.eye(rows, device=device)
    of: dict[str, tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]] = {
        "solve": (torch.linalg.solve, (positive, right)),
        "cholesky": (torch.linalg.cholesky, (positive,)),
        "qr": (lambda a: torch.linalg.qr(a).R.abs(), (square,)),  # a row's sign is the implementation's
        "lu_factor": (lambda a: torch.linalg.lu_factor(a).LU, (square,)),
        "inv": (torch.linalg.inv, (positive,)),
        "det": (torch.linalg.det, (square / rows**0.5 + torch.eye(rows, device=device),)),
        "solve_triangular": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), (positive.tril(), right)),
        "eigvalsh": (torch.linalg.eigvalsh, (positive,)),
    }
    call, tensors = of[function]
    exact = call(*(one.double() for one in tensors))

    def make(compiler: Any) -> Call:
        compiled = compiler(call)
        return lambda: compiled(*tensors)

    return Case(make, exact, ("eager",))


CASES = {
    "infer": infer_case, "train": train_case,
    "infer32": partial(infer_case, dtype=torch.float32, precision="high"),
    "train32": partial(train_case, dtype=torch.float32, precision="high"),
    "ieee": partial(infer_case, dtype=torch.float32), "train-ieee": partial(train_case, dtype=torch.float32),
    "sdpa": sdpa_case, "sdpa-ieee": partial(sdpa_case, dtype=torch.float32),
    "written": written_case, "flex": flex_case, "linalg": linalg_case,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--seconds", type=float, default=420, help="of all rows together")
    parser.add_argument("--rounds", type=int, default=100, help="of all calls, each once")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.row:
        kind, rest = str(given.out).split(" ", 1)
        row = Row()
        context = torch.enable_grad() if kind.startswith("train") else torch.no_grad()
        with context:
            CASES[kind](rest, given.tiny, given.device).measure(row, given.device, given.rounds)
        return 0
    options = ["--device", given.device, f"--rounds={given.rounds}", *(["--tiny"] * given.tiny)]
    head = {**about(given.device), "tiny": given.tiny}
    rows = run_rows(__file__, given.out, given.names, options, given.seconds, head)
    return any("failed" in row or "ours_failed" in row or row.get("right") is False for row in rows.values())


if __name__ == "__main__":
    sys.exit(main())
