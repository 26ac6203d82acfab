"""Runs whole models with random weights on target cpu, and writes which are right: docs/model-coverage.json and .md.

python tools/score-models.py [--shards N] [--only REGEX] [--minutes N] [--target T --out FILE]
(needs torch, transformers and timm)

A model is right where each output is as near to that of PyTorch in float64 as TOLERANCE says. What is not run keeps its
result.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import warnings
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from model_suite import MODELS, made  # noqa: E402
from scoreboard import read_command, told  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "model-coverage.json"
PAGE = ROOT / "docs" / "model-coverage.md"
# The largest difference from float64, as a part of the largest element.
TOLERANCE = 1e-4


def tensors_of(result: Any) -> list[Any]:
    """The tensors that a model returns, in the order in which PyTorch flattens them."""
    import torch
    from torch.utils._pytree import tree_leaves

    return [one for one in tree_leaves(result) if torch.is_tensor(one)]


def differs(got: Any, wanted: Any) -> float:
    """The largest difference of a tensor from the expected one, as a part of the largest element of that."""
    import torch

    assert got.shape == wanted.shape, f"expected shape {tuple(wanted.shape)}, got {tuple(got.shape)}"
    wanted = wanted.double()
    assert torch.isfinite(wanted).all() and wanted.std() > 0, "expected a result that tells something"
    return float((got.double() - wanted).abs().max() / wanted.abs().max())


def result_of(name: str, target: str = "cpu") -> str:
    """ "passes", or what goes wrong."""
    import torch

    import tilewright as tw

    warnings.filterwarnings("ignore")
    model, examples = made(name)
    try:
        with torch.no_grad():
            exact = copy.deepcopy(model).double()
            wanted = tensors_of(exact(*(one.double() if one.is_floating_point() else one for one in examples)))
    except RuntimeError:  # an operator that PyTorch has in float32 alone, as _grouped_mm
        with torch.no_grad():
            wanted = tensors_of(model(*examples))
    try:
        # As PyTorch does, a GPU may compute convolutions in tf32 otherwise.
        got = tensors_of(tw.compile(model, examples, target=target, precision="ieee")(*examples))
        assert len(got) == len(wanted), f"expected {len(wanted)} tensors, got {len(got)}"
        assert max(differs(one, other) for one, other in zip(got, wanted)) <= TOLERANCE
    except Exception as error:
        return told(error)
    return "passes"


def run_shard(number: int, shards: int, only: str, skip: int, target: str) -> None:
    """Prints a line of JSON a case, its name first, so that the one that ends the process is known."""
    chosen = [name for name in MODELS if re.search(only, name)][number::shards]
    for position, name in enumerate(chosen[skip:], skip):
        print(json.dumps({"position": position, "name": name}), flush=True)
        print(json.dumps({"name": name, "result": result_of(name, target)}), flush=True)


def page(data: dict[str, Any]) -> str:
    """docs/model-coverage.md."""
    results: dict[str, str] = data["results"]
    kinds = Counter(result.split(":")[0] for result in results.values())
    lines = [
        "<!-- Written by tools/score-models.py from docs/model-coverage.json. -->",
        "# Models of transformers and timm",
        "",
        f"Models of transformers {data['transformers']} and timm {data['timm']} with random weights, on target `cpu`,",
        "compiled by `tw.compile(module, examples)` in float32. The reference is PyTorch in float64, or in float32",
        "where an operator has no float64. Models of transformers have small configurations (tools/model_suite.py).",
        "Models of timm mostly have their own configuration, and small images. A model passes",
        f"if no element of an output differs by more than {TOLERANCE} of the largest element.",
        "RWKV is called once before it is compiled: its first call divides weights in place.",
        "",
        "| | models |",
        "| --- | --- |",
        f"| models | {len(results)} |",
        *(f"| {kind} | {kinds[kind]} |" for kind in ("passes", "refused", "wrong", "fails", "not run")),
        "",
        "## Each model",
        "| model | result |",
        "| --- | --- |",
        *(f"| {name} | {result.replace('|', '/')} |" for name, result in results.items()),
    ]
    return "\n".join(lines) + "\n"


def _unplaced(result: str) -> str:
    """A result in which the files of packages have no folder."""
    return re.sub(r"/[^ :]*/(?=(transformers|timm|torch)/)", "", result)


def _version(package: str) -> str:
    """The version of a package, "" where it is not there: then only models of other packages are run."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main() -> None:
    run = read_command(__file__, __doc__, run_shard)
    if run is None:
        return
    import torch
    import transformers

    data: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {"results": {}}
    known: dict[str, str] = data["results"]
    results = {name: known.get(name, "not run") for name in MODELS}
    found = run()
    results |= {name: _unplaced(one) for name, one in found.items()}
    versions = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__,
                "timm": _version("timm") or data.get("timm", "")}  # fmt: skip
    DATA.write_text(json.dumps({**versions, "results": dict(sorted(results.items()))}, indent=0) + "\n")
    PAGE.write_text(page({**versions, "results": dict(sorted(results.items()))}))
    print(PAGE)


if __name__ == "__main__":
    main()
