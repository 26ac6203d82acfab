"""The page of a model, and the same as data."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from browser import HOSTILE, Elements, in_browser, needs_chromium
from command import tilewright
from tilewright import te
from tilewright.graph import GraphBuilder, Model, TensorType
from tilewright.graph.checks import GroupTime, Profile
from tilewright.viewer.page import page_of

LAYERS = 5


def network(target: str, batch: Any = 4, name: str = "net") -> Model:
    """Five layers, each of a matmul and of a softmax to which the layer's input is added."""
    rng = np.random.default_rng(0)
    symbols = {} if isinstance(batch, int) else {batch.name: batch}
    with GraphBuilder("net", [(name, TensorType((batch, 64), "float32"))], symbols) as b:
        h = b.inputs[name]
        for layer in range(LAYERS):
            weight = b.weight(f"w{layer}", rng.random((64, 64), np.float32))
            g = b.op("relu", b.op("matmul", h, weight, acc="float32", to="float32"))
            h = b.op("add", b.op("softmax", g, axis=1), h)
        return tw.compile(b.finish([("y", b.op("transpose", h, permutation=[1, 0]))]), target=target)


def profile_of(model: Model) -> Profile:
    """A profile with made-up times: the later, the slower."""
    return Profile(
        tuple(GroupTime(group, 1e-5 * (at + 1), 10000, 20000 * (at + 1), 2e-9) for at, group in enumerate(model.groups))
    )


def test_groups_have_their_nodes_and_the_groups_that_they_read() -> None:
    data = network("cpu").view_data()
    assert json.loads(json.dumps(data)) == data
    assert (data["format"], data["kind"], data["name"], data["target"]) == (1, "model", "net", "cpu")
    assert data["inputs"] == [{"name": "net", "type": "float32[4, 64]"}]
    assert data["outputs"] == [{"name": "y", "type": "float32[64, 4]"}]
    assert [group["name"] for group in data["groups"]] == ["matmul_relu", "softmax_add"] * LAYERS + ["transpose"]
    first, second, third, *_, last = data["groups"]
    assert first == {
        "name": "matmul_relu",
        "operators": ["matmul", "relu"],
        "nodes": [f"{__file__}:32 (graph.matmul)", f"{__file__}:32 (graph.relu)"],
        "program": 0,
        "inputs": [
            {"name": "net", "type": "float32[4, 64]", "group": None},
            {"name": "w0", "type": "float32[64, 64]", "group": None},
        ],
        "results": [{"type": "float32[4, 64]", "ends": "softmax reduces, too", "offset": 0, "outputs": []}],
        "symbols": [],
    }
    assert [(one["name"], one["group"]) for one in second["inputs"]] == [(None, 0), ("net", None)]
    assert [(one["name"], one["group"]) for one in third["inputs"]] == [(None, 1), ("w1", None)]
    assert last["results"][0]["outputs"] == ["y"] and last["results"][0]["offset"] is None
    assert third["program"] == first["program"], "groups that are the same share a program"
    assert len(data["programs"]) == 3 and any("te.compute" in line for line in data["programs"][0]["te"])
    assert data["profile"] is None
    assert any("graph.group" in line for line in data["ir"]["groups"])


def test_plan_is_that_of_the_model() -> None:
    model = network("cpu")
    plan = model.view_data()["plan"]
    assert plan["arena_bytes"] == model.plan.arena_bytes == 3072
    assert [(one["offset"], one["bytes"], one["first"], one["last"]) for one in plan["buffers"]] == [
        (one.offset, one.bytes, one.first, one.last) for one in model.plan.buffers
    ]
    assert all(one["offset"] + one["bytes"] <= plan["arena_bytes"] for one in plan["buffers"])


@pytest.mark.sweep
def test_kernels_have_their_launches() -> None:
    model = network("cuda -arch=sm_90a")
    data = model.view_data()
    for group, program in zip(model.groups, (data["programs"][each["program"]] for each in data["groups"])):
        launches = group.function.launch_config()
        assert [launch["name"] for launch in program["launches"]] == [launch.kernel for launch in launches]
        for shown, launch in zip(program["launches"], launches):
            values = {number["name"]: number["value"] for number in shown["numbers"]}
            assert (values["grid.x"], values["block.x"]) == (launch.grid[0], launch.block[0])
    assert any("threadIdx.x" in line for line in data["programs"][0]["nest"])


@pytest.mark.sweep
def test_launches_of_symbolic_extents_are_formulas() -> None:
    data = network("cuda -arch=sm_90a", te.var("n", min=1)).view_data()
    numbers = {each["name"]: each for program in data["programs"] for each in program["launches"][0]["numbers"]}
    assert numbers["grid.x"]["value"] is None and "n" in numbers["grid.x"]["formula"]


@pytest.mark.sweep
def test_profile_stands_beside_the_roofs_of_the_gpu() -> None:
    model = network("cuda -device=H200")
    profile = model.view_data(profile_of(model))["profile"]
    assert profile["seconds"] == pytest.approx(sum(range(1, 12)) * 1e-5)
    assert profile["groups"][1] == {"seconds": 2e-5, "bytes": 10000, "operations": 40000, "least_seconds": 2e-9}
    assert profile["machine"]["name"] == "NVIDIA H200" and profile["machine"]["bytes_per_second"] == 4.8e12
    assert [roof["name"] for roof in profile["machine"]["roofs"]] == [
        "fma on float32",
        "tensor cores on tf32",
        "tensor cores on 16-bit types",
    ]


def test_profile_of_a_call_is_shown() -> None:
    model = network("cpu")
    taken = model.profile(np.ones((4, 64), np.float32), repeat=2)
    profile = model.view_data(taken)["profile"]
    assert [each["seconds"] for each in profile["groups"]] == [one.seconds for one in taken.groups]
    assert profile["machine"] is None


def test_a_profile_of_something_else_is_refused(tmp_path: Path) -> None:
    model = network("cpu")
    with pytest.raises(TypeError, match=r"^expected profile to be what model\.profile returns, got int$"):
        model.view_data(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^expected a profile of net, got one of another model's groups$"):
        model.view(tmp_path / "page.html", profile=Profile(profile_of(model).groups[:3]))
    with pytest.raises(tw.TilewrightError, match=r"^/nowhere/page\.html: No such file or directory$"):
        model.view("/nowhere/page.html")


def test_names_are_data() -> None:
    data = network("cpu", name=HOSTILE).view_data()
    elements = Elements(page_of(data))
    assert "img" not in elements.tags
    assert json.loads(elements.data) == data and data["groups"][0]["inputs"][0]["name"] == HOSTILE


@pytest.fixture
def onnx_file(tmp_path: Path) -> Path:
    onnx = pytest.importorskip("onnx")
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (4, 8))
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (4, 8))
    nodes = [
        onnx.helper.make_node("Exp", ["x"], ["e"], name="first"),
        onnx.helper.make_node("Softmax", ["e"], ["y"], name="second"),
    ]
    path = tmp_path / "small.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "small", [x], [y])), path)
    return path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return tilewright("view", *arguments)


def test_command_views_an_onnx_file(onnx_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ran = run(str(onnx_file), "--target=sim", "-o", str(page))
    assert (ran.returncode, ran.stderr) == (0, f"{page}: open it in a browser\n")
    data = json.loads(Elements(page.read_text()).data)
    assert [node for group in data["groups"] for node in group["nodes"]] == [
        "node 'first' (Exp)",
        "node 'second' (Softmax)",
    ]
    ran = run(str(onnx_file), "--target=sim", "--json")
    assert json.loads(ran.stdout)["groups"] == data["groups"]


@pytest.mark.parametrize("flag", ["--program", "--name", "--from"])
def test_command_says_what_a_model_does_not_take(onnx_file: Path, flag: str) -> None:
    ran = run(str(onnx_file), f"{flag}=x", "--json")
    assert (ran.returncode, ran.stderr) == (1, f"tilewright view: {onnx_file}: expected no {flag} with a model\n")


def test_command_says_that_a_file_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"nothing")
    ran = run(str(path), "--json")
    assert ran.returncode == 1 and ran.stderr.startswith(f"tilewright view: {path}: ") and "Traceback" not in ran.stderr


DRIVE = """
async function drive(app, found) {
  const frame = () => new Promise((done) => setTimeout(done, 20));
  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
  const count = (what) => document.querySelectorAll("main " + what).length;
  const groups = app.sections.Groups;
  found.tabs = [...document.querySelectorAll("#tabs button")].map((tab) => tab.textContent);
  found.rows = count(".group");
  found.edges = count(".edge");
  press("ArrowDown");
  found.down = [groups.picked, count(".group.picked"), count(".edge.from"), count(".edge.into")];
  press("End");
  found.end = groups.picked;
  press("Home");
  found.launches = [...document.querySelectorAll("main h3")].map((head) => head.textContent);
  found.ends = document.getElementById("status").textContent;
  for (let frames = 0; frames < 1000 && !count(".row"); ++frames) await frame();
  found.lines = count(".row") > 0;
  document.querySelector("main .sheet button.link").click();
  found.linked = groups.picked;
  app.search("transpose");
  found.searched = [groups.picked, count(".group.missed")];
  app.search("");
  press("]");
  found.arena = [app.tab, count(".bar-of-time")];
  press("ArrowRight");
  found.result = app.sections.Arena.picked;
  press("Enter");
  found.entered = [app.tab, groups.picked];
  app.show("Profile");
  found.points = count(".point");
  const first = () => document.querySelector("main tbody button").textContent;
  found.order = [first()];
  press("s");
  found.order.push(first());
  press("j");
  press("Enter");
  found.opened = [app.tab, groups.picked];
  press("[");
  found.back = app.tab;
  for (let frames = 0; frames < 1000 && !count(".row"); ++frames) await frame();
  found.ir = count(".pane");
  found.themes = [];
  for (const turn of [0, 1]) {
    found.themes.push([document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor].join(" "));
    press("t");
  }
  found.themes.sort();
  found.hostile = document.querySelectorAll("main img, header img").length;
  press("?");
  found.keys = document.getElementById("keys").open;
}
"""


@needs_chromium
def test_page_works_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    model = network("cuda -device=H200", name=HOSTILE)
    model.view(page, profile=profile_of(model))
    found = in_browser(page, tmp_path, DRIVE)
    launches, ends = found.pop("launches"), found.pop("ends")
    assert isinstance(launches, list)
    assert "group_matmul_relu_kernel0" in launches and "Loop nest" in launches
    assert ends == "group 0 matmul_relu  ·  ends: softmax reduces, too"
    assert found == {
        "errors": [],
        "tabs": ["Groups", "Arena", "Profile", "IR"],
        "rows": 11,
        "edges": 14,  # 10 to the next group, and 4 past a matmul to where its input is added
        "down": [1, 1, 1, 2],
        "end": 10,
        "lines": True,
        "linked": 1,
        "searched": [10, 10],
        "arena": ["Arena", 10],
        "result": 1,
        "entered": ["Groups", 1],
        "points": 11,
        "order": ["10 transpose", "0 matmul_relu"],
        "opened": ["Groups", 1],
        "back": "IR",
        "ir": 2,
        "themes": ["dark rgb(18, 22, 27)", "light rgb(251, 251, 250)"],
        "hostile": 0,
        "keys": True,
    }
