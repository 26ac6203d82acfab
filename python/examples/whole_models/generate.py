"""Text from a transformer with a key-value cache, by one exported function. GPT-2's shape, small, random weights.

Run it: python generate.py cpu
It exports the model to gpt.so and gpt.safetensors, loads that, and generates: the prompt's tokens go in at once, then
one token at a time. The keys and values of earlier tokens are inputs, and come back with those of the new tokens
behind them. One function is for all lengths. PyTorch, which computes all tokens again each time, has to choose the
same tokens.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

import tilewright as tw


class Layer(nn.Module):
    """Attention over the cache and the new tokens, and a network of two layers for each token."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, length, width = x.shape
        q, k, v = (
            one.view(batch, length, self.heads, -1).transpose(1, 2) for one in self.qkv(self.before(x)).chunk(3, -1)
        )
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        scores = q @ keys.transpose(2, 3) * (width // self.heads) ** -0.5
        y = torch.softmax(scores + mask, -1) @ values
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(nn.functional.gelu(self.wide(self.after(x)), approximate="tanh")), keys, values


class Transformer(nn.Module):
    """GPT-2's shape. `cache` has the keys and the values of each layer, behind a row of zeros: torch.export has no
    extents that may be 0."""

    def __init__(self, words: int = 64, width: int = 32, heads: int = 4, layers: int = 2, longest: int = 64) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.cache_shape = (1, heads, 1, width // heads)

    def forward(self, ids: torch.Tensor, place: torch.Tensor, *cache: torch.Tensor) -> tuple[torch.Tensor, ...]:
        # A token sees itself and what is before it, but for the cache's first row, which is of no token.
        row = torch.arange(cache[0].shape[2] + ids.shape[1])
        mask = torch.where((row <= place[:, None]) & (row > 0), 0.0, -1e9)
        x = self.words(ids) + self.places(place)
        made = list(cache)
        for i, layer in enumerate(self.layers):
            x, made[2 * i], made[2 * i + 1] = layer(x, mask, cache[2 * i], cache[2 * i + 1])
        return self.head(self.norm(x[:, -1])), *made


def export(model: Transformer, target: str, path: str) -> None:
    """One function for all lengths of prompt and cache."""
    ids, place = torch.zeros(1, 3, dtype=torch.int64), torch.arange(5, 8)
    cache = [torch.zeros(1, *model.cache_shape[1:2], 5, model.cache_shape[3]) for _ in range(2 * len(model.layers))]
    shapes = ({1: "length"}, {0: "length"}, tuple({2: "past"} for _ in cache))
    tw.compile(model, (ids, place, *cache), target=target, dynamic_shapes=shapes).export(path)


def generate(model: tw.LoadedModel, ids: torch.Tensor, cache: list[torch.Tensor], count: int) -> list[int]:
    """The tokens that are the likeliest, one after the other."""
    tokens: list[int] = []
    for _ in range(count):
        past = cache[0].shape[2]
        place = torch.arange(past, past + ids.shape[1], device=ids.device)
        scores, *cache = model(ids, place, *cache)
        tokens.append(int(scores.argmax()))
        ids = torch.tensor([tokens[-1:]], device=ids.device)
    return tokens


def generate_eagerly(model: Transformer, ids: torch.Tensor, count: int) -> list[int]:
    """The same by PyTorch, without a cache."""
    empty = [torch.zeros(model.cache_shape) for _ in range(2 * len(model.layers))]
    with torch.no_grad():
        for _ in range(count):
            ids = torch.cat([ids, model(ids, torch.arange(1, ids.shape[1] + 1), *empty)[0].argmax()[None, None]], 1)
    return ids[0, -count:].tolist()


if __name__ == "__main__":
    target = sys.argv[1]
    torch.manual_seed(0)
    transformer = Transformer().eval()
    export(transformer, target, "gpt.so")
    prompt = torch.tensor([[3, 1, 4, 1, 5]])
    start = [torch.zeros(transformer.cache_shape, device=target) for _ in range(2 * len(transformer.layers))]
    tokens = generate(tw.load_model("gpt.so"), prompt.to(target), start, 16)
    print(*tokens)
    print("right" if tokens == generate_eagerly(transformer, prompt, 16) else "wrong")
