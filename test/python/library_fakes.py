"""A driver and a cuBLASLt that are not there, and models all of whose matmuls the library computes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph import Graph, GraphBuilder, Model, TensorType, compile_graph, ir_of_graph
from tilewright.graph.builder import Value
from tilewright.graph.library_records import candidates_in
from tilewright.ir import context
from tilewright.records import Journal, Trial, Where, device_name

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("c++") is None, reason="no compiler for what is not there"
)
RUNTIME = Path(__file__).parent / "runtime"
TARGET = tw.Target("cuda", arch="sm_90a")
LIBRARIES = ("cublaslt",)


def record(path: Path, graph: Graph, ratio: float = 0.5, **changed: str) -> None:
    """Records in a database that the library takes `ratio` of the time of each group that it can compute."""
    text = ir_of_graph(graph, target=TARGET)["groups"]
    with Journal(path) as journal, context():
        for one in candidates_in(text, graph.name, "cublaslt"):
            where = Where(one.program, device_name(TARGET), **{"driver": "1", "compiler": "c", "policy": "p"} | changed)
            choices = json.dumps({"library": "cublaslt", "sizes": {}})
            journal.add(where, Trial(choices, "ok", "", (ratio * 2e-6,), (2e-6,), ratio))


def compiled(graph: Graph, folder: Path) -> Model:
    """The graph, all of whose matmuls the library computes."""
    record(folder / "tuning.db", graph)
    return compile_graph(graph, TARGET, libraries=LIBRARIES, database=folder / "tuning.db")


def layer(b: GraphBuilder, x: Value, columns: int, rows: int, activation: str = "relu") -> Value:
    """A linear layer with a bias, whose weight is stored transposed."""
    rng = np.random.default_rng(columns)
    weight = rng.integers(-3, 4, (columns, rows)).astype(np.float32)
    transposed = b.op("transpose", b.weight(f"w{columns}x{rows}", weight), permutation=[1, 0])
    product = b.op("matmul", x, transposed, acc="float32", to="float32")
    bias = b.weight(f"b{columns}x{rows}", rng.integers(-3, 4, columns).astype(np.float32))
    made = b.op("add", product, bias)
    return b.op(activation, made) if activation else made


def two_layers(rows: int | te.Var = 8) -> Graph:
    symbols = {} if isinstance(rows, int) else {rows.name: rows}
    with GraphBuilder("layers", [("x", TensorType((rows, 16), "float32"))], symbols) as b:
        return b.finish([("y", layer(b, layer(b, b.inputs["x"], 32, 16), 16, 32, ""))])


def fakes(folder: Path, driver: str = "fake_cuda.c") -> None:
    """Puts the driver and the library into a folder."""
    built = [
        ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", "libcuda.so.1", str(RUNTIME / driver)],
        ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", "libcublasLt.so.13",
         str(RUNTIME / "fake_cublaslt.cpp"), "-ldl"],
    ]  # fmt: skip
    for command in built:
        if not (folder / command[command.index("-o") + 1]).exists():
            made = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
            assert made.returncode == 0, made.stderr


def run(script: str, folder: Path, *, keeps_path: bool = False) -> str:
    """Runs a script with the driver and the library that are not there, and returns what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" or keeps_path}
    environment |= {"LD_LIBRARY_PATH": str(folder), "TILEWRIGHT_CACHE": "off"}
    made = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False, env=environment
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


COUNTS = """
NAMES = ["launches", "captures", "instances", "updates", "graph_launches", "graphs", "streams", "allocations", "captured"]
LT_NAMES = ["handles", "descs", "layouts", "preferences", "heuristics", "matmuls"]
driver = ctypes.CDLL("libcuda.so.1")
counts = (ctypes.c_int * len(NAMES)).in_dll(driver, "fake_counts")

def counted(call):
    # What the driver and the library were asked for by a call.
    before, lt_before = list(counts), list(lt_counts)
    call()
    found = {name: now - old for name, now, old in zip(NAMES, counts, before) if now != old and name != "graphs"}
    return found | {name: now - old for name, now, old in zip(LT_NAMES, lt_counts, lt_before) if now != old}

def open_lt(path):
    global lt, lt_counts, lt_codes, lt_last
    lt = ctypes.CDLL(path)
    lt_counts, lt_codes = ((ctypes.c_int * len(LT_NAMES)).in_dll(lt, name) for name in ("fake_lt_counts", "fake_lt_codes"))
    lt_last = (ctypes.c_int64 * 16).in_dll(lt, "fake_lt_last")

def fails(name, code):
    lt_codes[LT_NAMES.index(name)] = code
"""
