"""The page itself: one file without a network, names of users as data, and in a browser where there is one."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from browser import HOSTILE, Elements, in_browser, needs_chromium
from command import tilewright
from tilewright import cli, schedules, te
from tilewright.dtypes import as_dtype
from tilewright.viewer import view_data
from tilewright.viewer.page import page_of

EXAMPLE = Path(__file__).parent.parent.parent.parent / "python" / "examples" / "02_tiled_gemm.py"
SM90 = "cuda -arch=sm_90a"


def named(name: str) -> tw.Function:
    """A program whose tensor is called so."""
    A = te.placeholder((64,), name=name)
    B = te.compute((64,), lambda i: A[i] * 2.0, name=name + "2")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], SM90, "f")


@pytest.mark.sweep
def test_page_is_one_file_without_a_network(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    named("A").view(path)
    text = path.read_text()
    elements = Elements(text)
    assert elements.tags.count("script") == 2 and elements.tags.count("style") == 1
    assert "http-equiv" in text and "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=|@import|url\(|fetch\(|XMLHttpRequest", text.replace(elements.data, ""))
    assert json.loads(elements.data)["programs"][0]["name"] == "f"


@pytest.mark.sweep
def test_names_of_users_are_data() -> None:
    data = view_data(named(HOSTILE))
    elements = Elements(page_of(data))
    assert "img" not in elements.tags
    assert json.loads(elements.data) == data
    assert any(HOSTILE[:9] in line for pane in data["programs"][0]["panes"] for line in pane["lines"])


@pytest.mark.sweep
def test_marks_of_the_template_in_data_stay_data() -> None:
    data = view_data(named("@SCRIPT@ @DATA@"))
    assert json.loads(Elements(page_of(data)).data) == data


def test_notebooks_show_schedules_and_functions() -> None:
    A = te.placeholder((64,), name="<b>A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    shown = s._repr_html_()
    assert "for i in range(64):" in shown and "threadIdx.x" in shown
    assert "&lt;b&gt;A[i]" in shown and "<b>A" not in shown
    shown = tw.build(s, [A, B], "sim", "f")._repr_html_()
    assert "block.x = 64" in shown and "loop nest" in shown and "<b>A" not in shown


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return tilewright("view", *arguments)


@pytest.mark.sweep
def test_command_writes_a_page_and_data(tmp_path: Path) -> None:
    page, data = tmp_path / "page.html", tmp_path / "page.json"
    both = [f"--program=mmult(64, 64, 64, {tile})" for tile in (4, 8)]
    ran = run(str(EXAMPLE), *both, "--target", SM90, "-o", str(page))
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads(Elements(page.read_text()).data)["comparisons"]) == 1
    ran = run(str(EXAMPLE), both[0], "--target", SM90, "--json", "-o", str(data))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(data.read_text())["format"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.py", "-o", "x"], "nothing.py: no such file"),
        ([str(EXAMPLE), "--program=mmult(8, 8, 8)"], "expected -o PAGE, the file to write, or --json"),
        (
            [str(EXAMPLE), "--program=mmult(64, 64, 64)", "-o", "/nowhere/page.html"],
            "/nowhere/page.html: No such file or directory",
        ),
        (
            [str(EXAMPLE), "--program=(1, [2])", "--json"],
            f"{EXAMPLE}: expected a schedule, or the tensors to compute, got 1",
        ),
    ],
)
def test_command_says_what_is_wrong(arguments: list[str], said: str) -> None:
    ran = run(*arguments)
    assert (ran.returncode, ran.stderr) == (1, f"tilewright view: {said}\n")


def test_command_says_where_the_page_is_and_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tilewright.backend.sass.find_disassembler", lambda: None)
    monkeypatch.setattr("tilewright.viewer.device.find_disassembler", lambda: None)
    page = tmp_path / "page.html"
    cli.main(["view", str(EXAMPLE), "--program=mmult(64, 64, 64)", "--target", SM90, "-o", str(page)])
    assert capsys.readouterr().err == (
        f"{page}: open it in a browser; SASS is left out: pip install nvidia-cuda-nvdisasm brings its disassembler\n"
    )


# What the page itself finds.
DRIVE = """
async function drive(app, found) {
  const frame = () => new Promise((done) => setTimeout(done, 20));
  const code = app.code();
  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
  const source = app.data.programs[0].panes[0];
  found.panes = [...document.querySelectorAll(".pane h3")].map((head) => head.firstChild.data);
  const line = source.lines.findIndex((text, index) => code.links.isUsed(index + 1)) + 1;
  code.pick("source", line);
  await frame();
  found.picked = document.querySelectorAll(".row.picked").length;
  found.into = document.querySelectorAll(".row.into").length > 0;
  press("ArrowDown");
  found.down = code.picked.line - line;
  const hidden = code.shown.size;
  press("2");
  found.toggled = hidden - code.shown.size;
  press("]");
  found.tab = app.tab;
  press("[");
  const before = document.documentElement.dataset.theme;
  press("t");
  found.themes = [before, document.documentElement.dataset.theme].sort();
  press("Escape");
  found.cleared = code.picked === null;
  const longest = [...code.listings.values()].sort((a, b) => b.lines.length - a.lines.length)[0];
  const times = [];
  for (let step = 0; step < 60; ++step) {
    longest.scroller.scrollTop += 700;
    const begin = performance.now();
    longest.draw();
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  found.drawing = times[45];
  const begin = performance.now();
  code.pick("sass" in Object.fromEntries(code.links.panes) ? "sass" : "ptx", 60);
  found.picking = performance.now() - begin;
  found.rows = document.querySelectorAll(".row").length;
  found.hostile = document.querySelectorAll("main img").length;
  found.drawn = {};
  for (const tab of Object.keys(app.programs[0])) {
    app.show(tab);
    const count = () => document.querySelectorAll("main svg, main canvas.time, main td, main .row").length;
    for (let frames = 0; frames < 1000 && !count(); ++frames) await frame();  // rows are drawn once their place has a size
    found.drawn[tab] = count();
  }
  const timeline = app.programs[0].Timeline;
  if (timeline) {
    app.show("Timeline");
    found.rows_of_time = timeline.rows.map((row) => row.label);
    const before = timeline.to - timeline.from;
    press("+");
    found.zoomed = timeline.to - timeline.from < before;
  }
}
"""


# What a click on a line of the last pane lights up.
CLICK = """
async function drive(app, found) {
  const frame = () => new Promise((done) => setTimeout(done, 20));
  const code = app.code();
  code.pick("sass" in Object.fromEntries(code.links.panes) ? "sass" : "ptx", 60);
  // A click on a line of the last pane shows where it came from in every pane that it passed through.
  const last = code.picked.name;
  const box = code.listings.get(last).rows;
  const rowOf = (line) => [...box.querySelectorAll(".row")].find((row) => Number(row.dataset.line) === line);
  const count = code.links.panes.get(last).lines.length;
  let clicked = Math.min(60, count);
  while (clicked > 1 && !code.links.related(last, clicked, "source").lines.length) --clicked;
  code.listings.get(last).reveal(clicked, true);
  for (let frames = 0; frames < 1000 && !rowOf(clicked); ++frames) await frame();
  if (rowOf(clicked)) rowOf(clicked).dispatchEvent(new MouseEvent("mousedown", {bubbles: true}));
  await frame();
  found.clicked = code.picked.name === last && code.picked.line === clicked;
  found.cameFrom = [...code.links.panes.keys()].filter((name) => (code.marks[name] || {}).kind === "from" && code.marks[name].lines.size);
  found.from = document.querySelectorAll(".row.from").length > 0;
}
"""


@pytest.fixture(scope="module")
def matmul_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a kernel with thousands of lines."""
    page = tmp_path_factory.mktemp("page") / "page.html"
    tw.build(*schedules.matmul_wgmma(4096, 4096, 4096), SM90, "mm").view(page)
    return page


@needs_chromium
def test_page_works_in_a_browser(matmul_page: Path, tmp_path: Path) -> None:
    found = in_browser(matmul_page, tmp_path, DRIVE)
    assert found["panes"][:3] == ["your source", "loop nest", "gpu"]  # type: ignore[index]
    assert (found["picked"], found["into"], found["down"], found["toggled"]) == (1, True, 1, 1)
    assert (found["tab"], found["themes"], found["cleared"]) == ("Launch", ["dark", "light"], True)
    assert int(str(found["rows"])) < 1000  # of a kernel with thousands of lines those in sight alone


@needs_chromium
@pytest.mark.slow  # by the clock: other work on the machine would count
def test_a_frame_is_drawn_in_time(matmul_page: Path, tmp_path: Path) -> None:
    found = in_browser(matmul_page, tmp_path, DRIVE)
    # A frame of a display at 60 Hz is 16.7 ms.
    assert float(str(found["drawing"])) < 16 and float(str(found["picking"])) < 100


@pytest.mark.sweep
@needs_chromium
def test_a_click_shows_where_a_line_came_from(matmul_page: Path, tmp_path: Path) -> None:
    found = in_browser(matmul_page, tmp_path, CLICK)
    assert found["clicked"] is True and found["from"] is True
    assert {"source", "gpu", "nvvm"} <= set(found["cameFrom"])  # type: ignore[call-overload]


@pytest.mark.sweep
@needs_chromium
def test_each_section_is_drawn(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    schedule, args = schedules.matmul_wgmma(128, 256, 512)
    simulated = tw.build(schedule, args, "sim", "mm")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(as_dtype("bfloat16")) for shape in ((128, 512), (512, 256)))
    timeline = simulated.timeline(a, b, np.zeros((128, 256), np.float32))
    tw.view([simulated, named("A")], page, timeline=timeline)
    found = in_browser(page, tmp_path, DRIVE)
    drawn = found["drawn"]
    assert isinstance(drawn, dict)
    assert list(drawn) == ["Code", "Launch", "Resources", "Timeline", "Compare"] and all(drawn.values())
    labels = found["rows_of_time"]
    assert isinstance(labels, list)
    assert labels[:12] == [f"warp {number}" for number in range(12)]
    assert [label[-3:] for label in labels[12:]] == ["[0]", "[1]", "[2]", "[3]"]
    assert found["zoomed"] is True


@pytest.mark.sweep
@needs_chromium
def test_hostile_names_break_nothing_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    named(HOSTILE).view(page)
    found = in_browser(page, tmp_path, DRIVE)
    assert found["hostile"] == 0 and found["picked"] == 1
