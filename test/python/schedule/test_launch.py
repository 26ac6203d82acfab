"""How kernels are launched, set from the schedule: from the call to the driver's attributes."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.te.schedule import Trace


def chain(n: int = 256) -> tuple[te.Schedule, list[te.Tensor]]:
    """B = A * 2 + 1 in two kernels of 64 threads."""
    a = te.placeholder((n,), name="A")
    t = te.compute((n,), lambda i: a[i] * 2, name="T")
    b = te.compute((n,), lambda i: t[i] + 1, name="B")
    s = te.create_schedule(b.op)
    for stage in (t, b):
        outer, inner = s[stage].split(stage.op.axis[0], 64)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [a, b]


def build(arch: str = "sm_90a", **launch: object) -> tw.Function:
    s, args = chain()
    s.launch(**launch)
    return tw.build(s, args, tw.Target("cuda", arch=arch), name="chain")


def test_dependent_kernels_wait_before_they_read() -> None:
    f = build(dependent=True)
    assert f.ptx.count("griddepcontrol.wait") == 2 and f.ptx.count("griddepcontrol.launch_dependents") == 2
    for kernel in f.ptx.split(".visible .entry")[1:]:
        wait = kernel.index("griddepcontrol.wait")
        assert "ld.global" not in kernel[:wait] and "ld.global.b32" in kernel[wait:]
    assert "ld.global.nc" not in f.ptx
    plain = tw.build(*chain(), tw.Target("cuda", arch="sm_90a"))
    assert "griddepcontrol" not in plain.ptx and "ld.global.nc" in plain.ptx


def test_clusters_are_in_the_kernel_and_in_the_configuration() -> None:
    f = build(cluster=(2, 1, 1), cooperative=True)
    assert f.ptx.count(".explicitcluster") == 2 and f.ptx.count(".reqnctapercluster 2, 1, 1") == 2
    launches = f.launch_config(np.zeros(256, "float32"), np.zeros(256, "float32"))
    assert [(each.cluster, each.dependent, each.cooperative) for each in launches] == [((2, 1, 1), False, True)] * 2
    assert str(launches[0]).splitlines()[-2:] == ["  cluster = (2, 1, 1)", "  cooperative"]


@pytest.mark.parametrize(
    ("launch", "what"),
    [({"dependent": True}, "dependent launches"), ({"cluster": (2, 1, 1)}, "clusters of blocks")],
)
def test_older_gpus_have_none(launch: dict[str, object], what: str) -> None:
    with pytest.raises(tw.CompileError) as caught:
        build("sm_80", **launch)
    first = str(caught.value).splitlines()[0]
    assert first.startswith(__file__) and first.endswith(f"error: expected sm_90 or later for {what}, got sm_80")


def test_cooperative_launches_are_as_old_as_any() -> None:
    assert build("sm_80", cooperative=True).cubin


@pytest.mark.parametrize(
    ("launch", "kind", "message"),
    [
        ({"dependent": 1}, TypeError, "expected dependent to be a bool, got 1"),
        ({"cooperative": "yes"}, TypeError, "expected cooperative to be a bool, got 'yes'"),
        ({"cluster": 2}, TypeError, "expected cluster to be three integers, got 2"),
        ({"cluster": (2, 1)}, TypeError, "expected cluster to be three integers, got (2, 1)"),
        ({"cluster": (2, True, 1)}, TypeError, "expected cluster to be three integers, got (2, True, 1)"),
        ({"cluster": (2, 0, 1)}, ValueError, "expected 1 block or more along each axis, got (2, 0, 1)"),
        ({"cluster": (4, 4, 1)}, ValueError, "expected at most 8 blocks in a cluster, got 16"),
    ],
)
def test_refused(launch: dict[str, object], kind: type[Exception], message: str) -> None:
    s, _ = chain()
    with pytest.raises(kind) as caught:
        s.launch(**launch)  # type: ignore[arg-type]
    assert str(caught.value).startswith(__file__) and str(caught.value).endswith(f": launch: {message}")
    assert "schedule.launch" not in s.ir()


def test_the_last_call_counts() -> None:
    s, _ = chain()
    s.launch(dependent=True, cooperative=True, cluster=(4, 2, 1))
    assert str(s).startswith("# launched dependent, cooperative, in clusters of (4, 2, 1)\n")
    s.launch(cluster=(1, 1, 1))
    assert "schedule.launch" not in s.ir() and "# launched" not in str(s)


def test_traces_have_it() -> None:
    s, args = chain()
    s.launch(dependent=True, cluster=(2, 1, 1))
    assert str(s.trace()).splitlines()[-1] == "s.launch(dependent=True, cluster=(2, 1, 1))"
    again = te.create_schedule(args[-1].op)
    Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir()
    exec(str(s.trace()), {"te": te, "T": args[-1].op.input_tensors[0], "B": args[-1]}, found := {})
    assert found["s"].ir() == s.ir()


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_elsewhere_it_changes_nothing(target: str) -> None:
    s, args = chain()
    s.launch(dependent=True, cooperative=True, cluster=(2, 1, 1))
    a, b = np.arange(256, dtype="float32"), np.zeros(256, "float32")
    tw.build(s, args, target)(a, b)
    np.testing.assert_array_equal(b, 2 * a + 1)
