"""Draws docs/figures/ from the measurements in bench/results/.

python tools/plot-results.py [FOLDER]      (needs matplotlib)
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
OURS, THEIRS = "#2a6fbb", "#d9480f"
# The same file from the same figures, and text that follows the page's font.
mpl.rcParams.update({"svg.hashsalt": "tilewright", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9})


class Bar(NamedTuple):
    """A measurement as a share of `Panel.unit`, and the peer's in the same run."""

    name: str
    ours: float
    theirs: float


class Panel(NamedTuple):
    """Bars under one title."""

    title: str
    bars: Sequence[Bar]


def load(name: str) -> Mapping[str, Any]:
    """The measurements of a file of `bench/results`."""
    return json.loads((RESULTS / name).read_text())


def of_copy(results: Mapping[str, Any], pattern: str) -> list[Bar]:
    """What moves bytes, as a share of the copy's bytes per second."""
    return [
        Bar(name, one["of_copy"], one["of_copy"] * one["ms"] / one["torch_ms"])
        for name, one in results.items()
        if re.match(pattern, name) and "of_copy" in one
    ]


def of_peer(results: Mapping[str, Any], pattern: str) -> list[Bar]:
    """What computes, as a share of the peer's operations per second."""
    return [
        Bar(name, one.get("of_cublas", one.get("of_torch")), 1.0)
        for name, one in results.items()
        if re.match(pattern, name)
    ]


def best_of(bars: Sequence[Bar]) -> list[Bar]:
    """Of each product the fastest choice, without its options."""
    found: dict[str, Bar] = {}
    for bar in bars:
        name = bar.name.split(" {")[0]
        if name not in found or found[name].ours < bar.ours:
            found[name] = Bar(name, bar.ours, bar.theirs)
    return list(found.values())


def draw(axes: Axes, panel: Panel) -> None:
    """One panel: a bar for each of ours, a line across it where the peer stands."""
    for row, bar in enumerate(panel.bars):
        axes.barh(row, bar.ours, height=0.7, color=OURS)
        axes.plot([bar.theirs] * 2, [row - 0.45, row + 0.45], color=THEIRS, linewidth=2)
        axes.text(bar.ours - 0.01, row, f"{bar.ours:.2f}", va="center", ha="right", color="white", fontsize=8)
    axes.set_yticks(range(len(panel.bars)), [bar.name for bar in panel.bars])
    axes.set_ylim(len(panel.bars) - 0.4, -0.6)
    axes.set_xlim(0, max(1.15, *(bar.ours + 0.05 for bar in panel.bars)))
    axes.set_title(panel.title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def write(panels: Sequence[Panel], file: Path) -> None:
    """Writes the panels, one below the other, as SVG."""
    heights = [len(panel.bars) + 2 for panel in panels]
    figure, all_axes = plt.subplots(
        len(panels), figsize=(8.5, 0.22 * sum(heights)), gridspec_kw={"height_ratios": heights}, squeeze=False
    )
    for axes, panel in zip(all_axes[:, 0], panels):
        draw(axes, panel)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draws all figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    simt, products = load("h200-simt.json"), load("h200-matmul.json")
    models = load("h200-model-shapes.json")
    rows = "softmax|layer norm|rms norm|row sum|column sum|transpose"
    write(
        [
            Panel("bytes per second, of a copy's (line: torch)", of_copy(simt, f"gelu|add|tanh|{rows}|A x|x B")),
            Panel("float32 without tensor cores, of cuBLAS and cuDNN (line)", of_peer(simt, "sgemm|conv2d")),
        ],
        folder / "simt.svg",
    )
    write(
        [
            Panel(
                "products by warpgroups, of cuBLAS (line)", best_of(of_peer(products, "bfloat16|float16|tfloat32|int8"))
            ),
            Panel("bfloat16 products of 7B and 70B models, of cuBLAS (line)", of_peer(models, r".* \w\w$")),
        ],
        folder / "tensor-cores.svg",
    )


if __name__ == "__main__":
    main()
