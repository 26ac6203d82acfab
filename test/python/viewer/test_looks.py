"""How pages look: text that can be read on each ground, marks beside their lines, tables without empty columns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from browser import in_browser, needs_chromium
from tilewright import te
from tilewright.graph import GraphBuilder, TensorType, compile_graph
from tilewright.viewer import page as page_package

STYLE = (Path(page_package.__file__).parent / "page" / "page.css").read_text()
TEXTS = ("ink", "faint", "keyword", "string", "number", "comment", "register", "op", "good", "bad", "accent")
MARKED = ("picked", "from", "into", "weak", "found")


def colours(theme: str) -> dict[str, str]:
    """The colours of a theme, by name."""
    block = re.search(re.escape(theme) + r" \{(.*?)\n\}", STYLE, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--(\w+): (#\w{6});", block[1]))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """As the Web Content Accessibility Guidelines define it, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [":root", ':root[data-theme="dark"]'])
def test_text_has_contrast(theme: str) -> None:
    """4.5 is what WCAG asks of text, 3 of large text; a marked line is looked at."""
    found = colours(theme)
    assert [text for text in TEXTS if contrast(found[text], found["panel"]) < 4.5] == []
    assert [(text, on) for text in TEXTS for on in MARKED if contrast(found[text], found[on]) < 3] == []


@pytest.mark.sweep
@needs_chromium
def test_marks_of_a_short_text_are_beside_their_lines(tmp_path: Path) -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    page = tmp_path / "page.html"
    tw.build(s, [A, B], "sim", "f").view(page)
    found = in_browser(
        page,
        tmp_path,
        """async function drive(app, found) {
          const pane = [...document.querySelectorAll(".pane")].find((each) => each.querySelectorAll(".row").length === 2);
          const [, second] = pane.querySelectorAll(".row");
          second.querySelector(".tx").dispatchEvent(new MouseEvent("mousedown", {bubbles: true}));
          const map = pane.querySelector("canvas.map"), context = map.getContext("2d");
          const scale = devicePixelRatio || 1;
          const at = (y) => context.getImageData(6 * scale, y * scale, 1, 1).data[3] > 0;
          found.marked = [at(18 + 9), at(map.height / scale - 9)];
        }""",
    )
    assert found["marked"] == [True, False]


@pytest.mark.sweep
@needs_chromium
def test_a_table_has_no_empty_column_and_numbers_at_the_right(tmp_path: Path) -> None:
    with GraphBuilder("net", [("x", TensorType((4, 8), "float32"))]) as b:
        graph = b.finish([("y", b.op("relu", b.inputs["x"]))])
    model = compile_graph(graph, "cpu")
    page = tmp_path / "page.html"
    model.view(page, profile=model.profile(np.ones((4, 8), np.float32), repeat=2))
    found = in_browser(
        page,
        tmp_path,
        """async function drive(app, found) {
          document.dispatchEvent(new KeyboardEvent("keydown", {key: "]"}));
          document.dispatchEvent(new KeyboardEvent("keydown", {key: "]"}));
          found.heads = [...document.querySelectorAll("main th")].map((head) => [head.textContent, head.className]);
        }""",
    )
    numbers = [[name, "num"] for name in ("bytes", "GB/s", "operations", "Gop/s")]
    assert found["heads"] == [["group", ""], ["µs", "num"], ["", ""], *numbers]
