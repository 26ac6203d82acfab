"""Attention as a user writes it, for tests of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tilewright import te

H200 = "sim -device=H200"
Mask = Callable[[Any, Any, Any, Any], Any]


@dataclass
class Program:
    """softmax(Q K^T / sqrt(width)) V, with something done to the scores, and divided before or after the values."""

    heads: int
    queries: int
    keys: int
    width: int
    shared: int = 1  # heads of Q that read one of K and V
    change: Mask = lambda b, i, j, value: value
    divided: str = "after"
    dtype: str = "float16"
    finite: bool = False
    rounded: bool = True
    none: str = "sum"  # what says that a row sees no key

    def tensors(self) -> list[te.Tensor]:
        own, dtype, shape = self.heads // self.shared, self.dtype, (self.heads, self.queries, self.keys)
        q = te.placeholder((self.heads, self.queries, self.width), dtype, name="q")
        k, v = (te.placeholder((own, self.keys, self.width), dtype, name=name) for name in "kv")
        d = te.reduce_axis((0, self.width), name="d")
        jm, jl, jo = (te.reduce_axis((0, self.keys), name=name) for name in ("jm", "jl", "jo"))

        def of(b: Any) -> Any:
            return b // self.shared if self.shared > 1 else b

        dot = te.compute(
            shape,
            lambda b, i, j: te.sum(q[b, i, d].astype("float32") * k[of(b), j, d].astype("float32"), axis=d),
            name="dot",
        )
        score = te.compute(shape, lambda b, i, j: self.change(b, i, j, dot[b, i, j] * self.width**-0.5), name="score")
        most = te.compute(shape[:2], lambda b, i: te.max(score[b, i, jm], axis=jm), name="most")

        def less(b: Any, i: Any) -> Any:
            return te.max(most[b, i], -1e30) if self.finite else most[b, i]

        exps = te.compute(shape, lambda b, i, j: te.exp(score[b, i, j] - less(b, i)), name="exps")
        total = te.compute(shape[:2], lambda b, i: te.sum(exps[b, i, jl], axis=jl), name="total")

        def share(b: Any, i: Any, j: Any) -> Any:
            if self.divided == "by one over it":
                return exps[b, i, j] * (1 / total[b, i])
            return exps[b, i, j] / total[b, i] if self.divided == "before" else exps[b, i, j]

        weight = te.compute(
            shape, lambda b, i, j: share(b, i, j).astype(dtype if self.rounded else "float32"), name="p"
        )
        values = te.compute(
            (self.heads, self.queries, self.width),
            lambda b, i, c: te.sum(weight[b, i, jo].astype("float32") * v[of(b), jo, c].astype("float32"), axis=jo),
            name="values",
        )

        def result(b: Any, i: Any, c: Any) -> Any:
            value = values[b, i, c] / total[b, i] if self.divided == "after" else values[b, i, c]
            if self.finite:
                none = {"sum": total[b, i] == 0.0, "maximum": most[b, i] == float("-inf"), "place": i < 5}[self.none]
                value = te.select(none, te.const(0.0, "float32"), value)
            return value.astype(dtype)

        return [q, k, v, te.compute(values.shape, result, name="out")]
