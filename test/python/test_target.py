"""Targets: what strings mean, and what is refused."""

from __future__ import annotations

import re

import pytest

from tilewright import Target, target


def test_arch_given() -> None:
    assert Target("cuda", arch="sm_80") == Target("cuda -arch=sm_80")
    assert str(Target("cuda", arch="sm_80")) == "cuda -arch=sm_80"
    assert Target.of("cuda -arch=sm_120").arch == "sm_120"


def test_llvm_is_cpu() -> None:
    assert Target("llvm") == Target("cpu")
    assert Target("cpu").arch is None
    assert str(Target("cpu")) == "cpu"


def test_arch_without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_present_arch", lambda: None)
    assert Target("cuda").arch == "sm_90a"


def test_arch_of_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_present_arch", lambda: "sm_86")
    assert Target("cuda").arch == "sm_86"
    assert Target("sim").arch == "sm_90a", "the simulator must not depend on the machine"


def test_checks_of_the_simulator() -> None:
    off = Target("sim -checks=off")
    assert (off.checks, Target("sim").checks) == (False, True)
    assert off == Target("sim", checks=False) != Target("sim")
    assert Target(str(off)) == off
    with pytest.raises(ValueError, match="^expected checks to be turned off for target sim only, got cuda$"):
        Target("cuda", arch="sm_90a", checks=False)


def test_indices_of_the_simulator() -> None:
    narrow = Target("sim -gpu-indices=on")
    assert (narrow.gpu_indices, Target("sim").gpu_indices) == (True, False)
    assert narrow == Target("sim", gpu_indices=True) == Target(narrow) != Target("sim")
    assert Target(str(narrow)) == narrow
    with pytest.raises(ValueError, match="^expected a GPU's indices for target sim only, got cpu$"):
        Target("cpu", gpu_indices=True)


def test_frozen_and_hashable() -> None:
    made = Target("sim", arch="sm_75")
    assert {made: 1}[Target("sim -arch=sm_75")] == 1
    with pytest.raises(AttributeError):
        made.arch = "sm_80"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Target("rocm"), ValueError, "expected a target of kind cuda, cpu or sim, got 'rocm'"),
        (
            lambda: Target('cuda -device="A'),
            ValueError,
            "expected a target whose quotes are closed, got 'cuda -device=\"A'",
        ),
        (lambda: Target(""), ValueError, "expected a target of kind cuda, cpu or sim, got ''"),
        (
            lambda: Target("cuda", arch="sm_70"),
            ValueError,
            "expected an architecture from sm_75 to sm_120, got 'sm_70'",
        ),
        (lambda: Target("cuda", arch="90"), ValueError, "expected an architecture from sm_75 to sm_120, got '90'"),
        (lambda: Target("cpu", arch="sm_80"), ValueError, "expected no architecture for target cpu, got 'sm_80'"),
        (
            lambda: Target("cuda -libs=cublas"),
            ValueError,
            "expected -arch=ARCH after the target's kind, got '-libs=cublas'",
        ),
        (
            lambda: Target("cuda -arch=sm_80", arch="sm_90"),
            ValueError,
            "expected one architecture, got 'sm_80' and 'sm_90'",
        ),
        (lambda: Target(3), TypeError, "expected the target's kind as a string, got int"),  # type: ignore[arg-type]
        (lambda: Target.of(3), TypeError, "expected a Target or a string, got int"),  # type: ignore[arg-type]
    ],
)
def test_refused(make, kind, message) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        make()
