"""Matmuls by rules that store their results in another order, or read a part of longer rows, beside PyTorch.

python bench/stored_orders.py OUT.json

Operands are random, in bfloat16. "swap" stores the transpose of the result, "heads" puts the matmuls of a batch among
its rows, and "plain" stores it as it is. Rows of A may be longer than K: what is behind K is NaN. PyTorch multiplies
and then copies. Times are medians of events in random order; errors are beside float64, over the largest element.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from rows import about
from simt import Bench

import tilewright as tw
from tilewright import te

TARGET, DTYPE = "cuda -device=H200", "bfloat16"
# Rows, K, columns, the length of the rows of A, the order, and the extents of the batch.
Case = tuple[int, int, int, int, str, tuple[int, ...]]
CASES: tuple[Case, ...] = (
    (2048, 2048, 2048, 2048, "swap", ()),
    (512, 256, 384, 256, "swap", ()),
    (8192, 1024, 4096, 1024, "swap", ()),
    (1024, 1024, 64, 1024, "heads", (4, 16)),
    (512, 512, 128, 512, "heads", (8, 16)),
    (1024, 5027, 96, 5027, "plain", ()),
    (1024, 5027, 96, 5032, "plain", ()),
    (64, 4099, 1024, 4104, "plain", ()),
    (256, 1021, 2048, 1024, "plain", ()),
)


def program(case: Case) -> list[te.Tensor]:
    rows, K, columns, length, order, batch = case
    A, B = (
        te.placeholder((*batch, rows, length), DTYPE, name="A"),
        te.placeholder((*batch, K, columns), DTYPE, name="B"),
    )
    k = te.reduce_axis((0, K), "k")

    def product(*at: Any) -> te.Expr:
        *some, i, j = at
        return te.sum(A(*some, i, k).astype("float32") * B(*some, k, j).astype("float32"), axis=k)

    C = te.compute((*batch, rows, columns), product, name="C")
    if order == "swap":
        D = te.compute((*batch, columns, rows), lambda *at: C(*at[:-2], at[-1], at[-2]).astype(DTYPE), name="D")
    elif order == "heads":
        shape = (batch[0], rows, batch[1], columns)
        D = te.compute(shape, lambda b, i, h, j: C(b, h, i, j).astype(DTYPE), name="D")
    else:
        D = te.compute((*batch, rows, columns), lambda *at: C(*at).astype(DTYPE), name="D")
    return [A, B, D]


def stored(product: torch.Tensor, order: str) -> torch.Tensor:
    if order == "plain":
        return product
    return (product.mT if order == "swap" else product.transpose(1, 2)).contiguous()


def measured(case: Case, bench: Bench) -> dict[str, Any]:
    rows, K, columns, length, order, batch = case
    args = program(case)
    s = tw.auto_schedule(args[-1], TARGET)
    function = tw.build(s, args, target=TARGET, name="matmul")
    a, b = (torch.randn(*batch, *shape, device="cuda").bfloat16() for shape in ((rows, length), (K, columns)))
    a[..., K:] = float("nan")
    part = a[..., :K]
    exact = stored(part.double() @ b.double(), order)
    out = torch.empty(exact.shape, device="cuda", dtype=torch.bfloat16)
    function(a, b, out)
    errors = [((one - exact).abs().max() / exact.abs().max()).item() for one in (out, stored(part @ b, order))]
    times = bench.medians_ms([lambda: stored(part @ b, order), lambda: function(a, b, out)], 15)
    return {
        "case": case,
        "rules": [decision.rule for decision in s.plan or ()],
        "torch_us": round(1e3 * times[0], 2),
        "ours_us": round(1e3 * times[1], 2),
        "error": errors[0],
        "torch_error": errors[1],
    }


def main() -> None:
    bench = Bench()
    record: dict[str, Any] = {**about("cuda"), **bench.results, "rows": []}
    for case in CASES:
        record["rows"].append(measured(case, bench))
        print(record["rows"][-1], flush=True)
        Path(sys.argv[1]).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
