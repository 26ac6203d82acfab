"""Builds that find their kernels in the cache: the same function as a compiled one, in a few milliseconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import te
from tilewright.cache import Cache

TARGET = tw.Target("cuda", arch="sm_90a")


def program(n: int = 1024, factor: float = 2.0) -> tuple[Any, list[Any]]:
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * factor, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=128)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [A, B]


@pytest.fixture
def kernels(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kernels")


def build(kernels: Cache | None, *, n: int = 1024, factor: float = 2.0, **options: Any) -> tw.Function:
    s, args = program(n, factor)
    target = options.pop("target", TARGET)
    return tw.build(s, args, target, options.pop("name", "scale"), cache=kernels or False, **options)


def test_a_hit_is_the_function_that_was_compiled(kernels: Cache) -> None:
    first, second = (build(kernels) for _ in range(2))
    alone = build(None)
    assert (first.cache_hit, second.cache_hit, alone.cache_hit) == (False, True, False)
    for stage in alone.stages:
        for locations in (False, True):
            if (stage, locations) != ("host", True):  # its locations are not kept
                assert second.ir(stage, locations=locations) == alone.ir(stage, locations=locations), stage
    assert second.ptx == first.ptx == alone.ptx
    assert second.cubin == first.cubin == alone.cubin
    assert str(second.signature) == str(alone.signature)
    assert second.entry_name == alone.entry_name
    assert str(second.launch_config()) == str(alone.launch_config())
    assert "i.outer of stage B, test_builds.py:" in str(second.launch_config())
    assert set(build(kernels).timings) == {"te", "cache"}
    assert "cubin" in first.timings


@pytest.mark.parametrize(
    "options",
    [
        {"n": 2048},
        {"factor": 3.0},
        {"name": "other"},
        {"target": tw.Target("cuda", arch="sm_80")},
        {"after": {"loops": "canonicalize"}},
        {"after": {"gpu": "canonicalize"}},
    ],
    ids=str,
)
def test_whatever_changes_the_kernels_changes_the_key(kernels: Cache, options: dict[str, Any]) -> None:
    build(kernels)
    assert not build(kernels, **options).cache_hit
    assert build(kernels, **options).cache_hit
    assert build(kernels).cache_hit


def test_another_build_of_the_compiler_changes_the_key(kernels: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.compiler import known

    build(kernels)
    versions = known.compiler_versions()
    assert [line.split()[0] for line in versions.splitlines()[1:4]] == [
        "libMLIRPythonCAPI.so", "libLLVM", "libtilewright.so",
    ]  # fmt: skip
    assert "nvidia_nvjitlink-13" in versions.splitlines()[-1]
    monkeypatch.setattr(known, "compiler_versions", lambda: versions + "+")
    assert not build(kernels).cache_hit


def test_ir_has_a_key_too(kernels: Cache) -> None:
    loops = build(None).ir("loops")
    first, second = (tw.build(loops, target=TARGET, start="loops", cache=kernels) for _ in range(2))
    assert (first.cache_hit, second.cache_hit) == (False, True)
    assert second.ir("gpu") == first.ir("gpu")
    # The same text as another stage is another program.
    assert tw.build(loops, target=TARGET, start="linalg", after={"loops": "cse"}, cache=kernels).cache_hit is False


def test_kernels_stay_known_when_their_lines_move(kernels: Cache) -> None:
    def elsewhere() -> tw.Function:
        A = te.placeholder((1024,), name="A")
        B = te.compute((1024,), lambda i: A[i] * 2.0, name="B")
        s = te.create_schedule(B.op)
        outer, inner = s[B].split(B.op.axis[0], factor=128)
        s[B].bind(outer, te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
        return tw.build(s, [A, B], TARGET, "scale", cache=kernels)

    compiled = build(kernels)
    moved = elsewhere()
    assert moved.cache_hit
    line = elsewhere.__code__.co_firstlineno + 5
    assert f"i.outer of stage B, test_builds.py:{line}" in str(moved.launch_config())
    assert "ptx" not in moved.timings
    assert "host" in moved.timings
    assert f"test_builds.py:{line}" not in str(compiled.launch_config())
    again = elsewhere()
    assert "host" not in again.timings, "the lines are known by now"
    assert str(again.launch_config()) == str(moved.launch_config())


def test_passes_that_are_functions_are_not_known(kernels: Cache) -> None:
    for _ in range(2):
        assert not build(kernels, after={"loops": lambda module: None}).cache_hit
    found = kernels.stats()
    assert (found.entries, found.misses) == (0, 0)


def test_other_targets_keep_nothing(kernels: Cache) -> None:
    for target in ("sim", "cpu"):
        assert not build(kernels, target=target).cache_hit
    assert not kernels.directory.exists()


def test_a_damaged_entry_is_compiled_again(kernels: Cache) -> None:
    cubin = build(kernels).cubin
    (file,) = kernels.directory.glob("*/*")
    whole = file.read_bytes()
    file.write_bytes(whole[:-100] + bytes(100))
    rebuilt = build(kernels)
    assert not rebuilt.cache_hit
    assert rebuilt.cubin == cubin
    assert file.read_bytes() == whole
    assert build(kernels).cache_hit
    assert kernels.stats().rebuilt == 1


def test_a_program_that_does_not_compile_is_not_kept(kernels: Cache) -> None:
    for _ in range(2):
        with pytest.raises(tw.CompileError):
            build(kernels, after={"nvvm": "no-such-pass"})
    assert kernels.stats().entries == 0


@pytest.mark.sweep
def test_another_process_builds_a_known_kernel_faster(kernels: Cache) -> None:
    """bench/cache.py has the figures, 10 ms at most; here one is beside the other, for a machine may be busy."""
    file = Path(__file__).parent.parent.parent.parent / "bench" / "cache.py"
    environment = {**os.environ, "TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": str(kernels.directory)}
    found = [
        json.loads(subprocess.check_output([sys.executable, str(file), "--one"], env=environment, text=True))
        for _ in range(4)
    ]
    assert [run["hit"] for run in found] == [False, True, True, True]
    assert min(run["build"] for run in found[1:]) < found[0]["build"] / 3
    assert kernels.stats().hits == 3
