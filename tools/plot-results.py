"""Draws docs/figures/ from the measurements in bench/results/.

python tools/plot-results.py [FOLDER]      (needs matplotlib: the extra `plot`)
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
    """A measurement and its peer in the same run, relative to one unit, and the measurement in absolute terms."""

    name: str
    ours: float
    theirs: float
    absolute: str


class Panel(NamedTuple):
    """Bars under one title; `axis` says what a bar's length is, and `peer` whose ticks are drawn."""

    title: str
    axis: str
    peer: str
    bars: Sequence[Bar]


def load(name: str) -> Mapping[str, Any]:
    """The measurements of a file of `bench/results`."""
    return json.loads((RESULTS / name).read_text())


def absolute(one: Mapping[str, Any]) -> str:
    """What a measurement is in operations or bytes per second: in bytes where few operations are done for each."""
    moved, computed = one.get("TBs"), one.get("TFLOPs")
    if computed is None or (moved is not None and computed < 100):
        return f"{moved:.2f} TB/s" if moved is not None else ""
    return f"{computed:.0f} TFLOP/s" if computed >= 100 else f"{computed:.1f} TFLOP/s"


def of_copy(results: Mapping[str, Any], pattern: str) -> list[Bar]:
    """What moves bytes, as a share of the copy's bytes per second."""
    return [
        Bar(name, one["of_copy"], one["of_copy"] * one["ms"] / one["torch_ms"], absolute(one))
        for name, one in results.items()
        if re.match(pattern, name) and "of_copy" in one and one["of_copy"] > 0.1  # not of a single element
    ]


def of_peer(results: Mapping[str, Any], pattern: str) -> list[Bar]:
    """What computes, as a share of the peer's operations per second."""
    return [
        Bar(name, one.get("of_cublas", one.get("of_torch")), 1.0, absolute(one))
        for name, one in results.items()
        if re.match(pattern, name)
    ]


def of_cudnn(results: Mapping[str, Any]) -> list[Bar]:
    """The forward passes of attention, the fastest tile of each: `forward d64 16x32x1024 full`."""
    found: list[tuple[int, str, int, Bar]] = []
    for name, one in results.items():
        named = re.match(r"forward d(\d+) (\d+)x(\d+)x(\d+) (\w+)$", name)
        if named is None:
            continue
        width, batch, heads, keys, mask = named.groups()
        best = one["best"]
        label = f"{mask}, head size {width}, {batch} x {heads} heads, {keys} keys"
        bar = Bar(label, best["of_cudnn"], 1.0, f"{one[best['choice']]['TFLOPs']:.0f} TFLOP/s")
        found.append((-int(width), {"full": "0"}.get(mask, mask), int(keys), bar))
    return [bar for *_, bar in sorted(found)]


def best_of(bars: Sequence[Bar]) -> list[Bar]:
    """Of each GEMM the fastest choice, without its options."""
    found: dict[str, Bar] = {}
    for bar in bars:
        name = bar.name.split(" {")[0].replace("tfloat32", "tf32")
        if name not in found or found[name].ours < bar.ours:
            found[name] = bar._replace(name=name)
    return list(found.values())


def limits(bars: Sequence[Bar]) -> tuple[float, tuple[float, float] | None]:
    """Where the axis ends that most bars fit on, and from where to where one behind a break goes, for the others."""
    ends = sorted(max(bar.ours, bar.theirs) for bar in bars)
    most = ends[int(0.85 * (len(ends) - 1))]
    near = [end for end in ends if end <= 1.8 * most]
    far = [end for end in ends if end > 1.8 * most]
    end = 1.06 * max(near)
    return end, (0.92 * min(far), 1.04 * max(far)) if far else None


def draw(near: Axes, far: Axes, panel: Panel) -> None:
    """One panel: a bar for each of ours, a tick where the peer stands, and right of them the relative and the absolute
    number in columns of their own."""
    end, beyond = limits(panel.bars)
    for axes in (near, far):
        for row, bar in enumerate(panel.bars):
            axes.barh(row, bar.ours, height=0.62, color=OURS)
            axes.plot([bar.theirs] * 2, [row - 0.44, row + 0.44], color=THEIRS, linewidth=2.2, solid_capstyle="butt")
        axes.set_ylim(len(panel.bars) - 0.4, -0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#8884", linewidth=0.5)
        axes.set_axisbelow(True)
    near.set_xlim(0, end)
    near.set_yticks(range(len(panel.bars)), [bar.name for bar in panel.bars])
    near.set_title(panel.title, loc="left", fontsize=10)
    near.set_xlabel(panel.axis, color="#555", fontsize=8)
    near.plot([], [], color=THEIRS, linewidth=2.2, label=panel.peer)
    near.barh(0, 0, color=OURS, label="Tilewright")
    near.legend(
        loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize=8, borderaxespad=0, handlelength=1.2
    )
    far.set_yticks([])
    if beyond is None:
        far.set_visible(False)
    else:
        far.set_xlim(*beyond)
        far.locator_params(axis="x", nbins=2)
        # Two strokes on either side of the break.
        marks = {
            "marker": [(-0.5, -1), (0.5, 1)],
            "markersize": 7,
            "linestyle": "none",
            "color": "#888",
            "clip_on": False,
        }
        near.plot([1], [0], transform=near.transAxes, **marks)
        far.plot([0], [0], transform=far.transAxes, **marks)
    last = near if beyond is None else far
    at = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center", "fontsize": 8}
    for row, bar in enumerate(panel.bars):
        last.annotate(f"{bar.ours:.2f}x", (1, row), xytext=(40, 0), ha="right", weight="bold", **at)
        last.annotate(bar.absolute, (1, row), xytext=(104, 0), ha="right", color="#777", **at)


def write(panels: Sequence[Panel], file: Path) -> None:
    """Writes the panels, one below the other, as SVG."""
    heights = [len(panel.bars) + 2 for panel in panels]
    figure = plt.figure(figsize=(6.4, 0.22 * sum(heights) + 0.7 * len(panels)))
    rows = figure.add_gridspec(len(panels), 1, height_ratios=heights, hspace=4.8 * len(panels) / sum(heights))
    for place, panel in zip(rows, panels):
        is_broken = limits(panel.bars)[1] is not None
        near, far = place.subgridspec(1, 2, width_ratios=(4, 1) if is_broken else (200, 1), wspace=0.03).subplots()
        draw(near, far, panel)
    figure.savefig(file, metadata={"Date": None}, bbox_inches="tight", pad_inches=0.1)
    plt.close(figure)


def main() -> None:
    """Draws all figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    simt, gemms = load("h200-simt.json"), load("h200-matmul.json")
    models, attention = load("h200-model-shapes.json"), load("h200-attention.json")
    rows = "softmax|layer norm|rms norm|row sum|column sum|transpose"
    kernels = of_copy(simt, f"gelu|add|tanh|{rows}|A x|x B")
    plain = of_peer(simt, "sgemm|conv2d")
    write(
        [
            Panel("Memory-bound kernels", "bandwidth, relative to a copy's", "torch", kernels),
            Panel("float32 without tensor cores", "speed, relative to the library's", "cuBLAS or cuDNN", plain),
        ],
        folder / "simt.svg",
    )
    of_cublas = "speed, relative to cuBLAS"
    wgmma = best_of(of_peer(gemms, "bfloat16|float16|tfloat32|int8"))
    write(
        [
            Panel("GEMMs by wgmma", of_cublas, "cuBLAS", wgmma),
            Panel("bfloat16 GEMMs of 7B and 70B models", of_cublas, "cuBLAS", of_peer(models, r".* \w\w$")),
        ],
        folder / "tensor-cores.svg",
    )
    panel = Panel("Attention, forward, bfloat16", "speed, relative to cuDNN", "cuDNN", of_cudnn(attention))
    write([panel], folder / "attention.svg")


if __name__ == "__main__":
    main()
