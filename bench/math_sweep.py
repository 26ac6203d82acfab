"""How far the functions of te are off on a GPU: all of them on each of the 2^32 floats.

`python bench/math_sweep.py OUT.json [function ...]`: the largest error of each function in units of the last place of
the result that torch computes in float64, with the argument that has it, and how many infinities, NaNs and signed zeros
are not as they should be. Figures that are claimed stand in bench/results/ with the command, commit and device.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

import tilewright as tw
from tilewright import te

CHUNK = 1 << 26
FUNCTIONS = (
    *("exp", "exp2", "tanh", "sinh", "cosh", "log", "log2", "log10", "log1p", "asinh", "acosh", "atanh"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "rsqrt", "erf", "sigmoid"),
    *("floor", "ceil", "trunc", "nearbyint", "abs"),
)


def build(name: str) -> Any:
    A = te.placeholder((CHUNK,), name="A")
    B = te.compute((CHUNK,), lambda i: getattr(te, name)(A[i]), name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=256)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], target="cuda", name=name)


def sweep(name: str) -> dict[str, Any]:
    function = build(name)
    reference = {"nearbyint": torch.round}.get(name) or getattr(torch, name)
    y = torch.empty(CHUNK, device="cuda")
    worst, argument, wrong = 0.0, 0.0, 0
    for start in range(-(1 << 31), 1 << 31, CHUNK):
        bits = torch.arange(start, start + CHUNK, device="cuda", dtype=torch.int64)
        x = bits.to(torch.int32).view(torch.float32)
        y.fill_(float("nan"))
        function(x, y)
        exact = reference(x.double())
        rounded = exact.float()
        size = rounded.abs().clamp(min=torch.finfo(torch.float32).tiny)
        unit = torch.nextafter(size, torch.full_like(size, torch.inf)).double() - size.double()
        error = (y.double() - exact).abs() / unit
        same = (y == rounded) & (torch.signbit(y) == torch.signbit(rounded)) | torch.isnan(y) & torch.isnan(exact)
        alone = ~torch.isfinite(y) | ~torch.isfinite(rounded) | (exact == 0)
        wrong += int((alone & ~same).sum())
        error = torch.where(alone, 0.0, error)
        at = int(error.argmax())
        if float(error[at]) > worst:
            worst, argument = float(error[at]), float(x[at])
    return {"units": round(worst, 3), "at": argument, "wrong_specials": wrong}


if __name__ == "__main__":
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name in sys.argv[2:] or FUNCTIONS:
        results[name] = sweep(name)
        print(name, results[name], flush=True)
    Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")
