"""`tw.tune`: what it finds, what it keeps, and what becomes of candidates and workers that fail."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.cli import main
from tilewright.target import Target
from tilewright.tuning import Journal, JournalError, Knobs, Policy, Trial, Where, key_of, run_trial
from tilewright.tuning.process import close_workers
from tilewright.tuning.program import TunedProgram

from .spaces import POLICY, matmul, space


@pytest.fixture(autouse=True, scope="module")
def own_state(tmp_path_factory: pytest.TempPathFactory):
    # Measuring is exclusive for each user; tests in other processes are not waited for.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
    close_workers()


@pytest.fixture(scope="module")
def engine():
    """One worker process for several tests: it takes a second of a processor to start.

    A run without an executor ends all worker processes at its end, this one, too.
    """
    with ThreadPoolExecutor(1) as executor:
        yield executor


def problem(schedule_args=None, policy: Policy = POLICY, sizes=None) -> TunedProgram:
    _, args = schedule_args or matmul()
    return TunedProgram(args, Target.of("cpu"), 0, sizes or {}, policy)


def task(schedule_args=None, policy: Policy = POLICY, edit=lambda text: text, incumbent=None) -> dict:
    schedule, args = schedule_args or matmul()
    tuned = problem((schedule, args), policy)
    return tuned.task(edit(tuned.schedule_text(schedule, args)), incumbent, None, 0)


# ---------------------------------------------------------------------- what is found


def test_a_run_measures_each_point_once_and_returns_a_schedule_that_is_right(tmp_path, engine):
    told = []
    result = tw.tune(
        space(), "cpu", trials=12, database=tmp_path / "t.db", policy=POLICY, executor=engine, progress=told.append
    )
    assert len({one.choices for one in result.trials}) == len(result.trials) == result.measured == 12
    assert {one.status for one in result.trials} == {"ok"}
    assert result.score <= 1
    assert told[-1].startswith("12 trials, best ")
    a, b = (np.random.rand(64, 64).astype("float32") for _ in range(2))
    c = np.zeros((64, 64), "float32")
    result.build()(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    report = result.report()
    assert str(result) == report
    assert len(repr(result)) < 1000
    assert re.match(r"\d\.\d{3}x the first schedule: ", report)
    assert "12 trials, 12 of them in this run: 12 ok" in report


def test_what_the_rules_could_have_chosen_is_searched(tmp_path, engine):
    X, b = te.placeholder((64, 96), name="X"), te.placeholder((96,), name="b")
    k = te.reduce_axis((0, 96), name="k")
    total = te.compute((64,), lambda i: te.sum(X[i, k], axis=k), name="total")
    Y = te.compute((64, 96), lambda i, j: te.exp(X[i, j]) / total[i] + b[j], name="Y")
    result = tw.tune([Y], "cpu", trials=4, database=tmp_path / "t.db", args=[b, X, Y], policy=POLICY, executor=engine)
    assert result.trials[0].choices == key_of(tw.tuning.RuleSpace([Y], Target.of("cpu")).first())
    assert result.trials[0].status == "ok" and {one.status for one in result.trials} <= {"ok", "refused"}
    x, y = np.random.rand(64, 96).astype("float32"), np.zeros((64, 96), "float32")
    c = np.random.rand(96).astype("float32")
    result.build()(c, x, y)
    np.testing.assert_allclose(y, np.exp(x) / x.sum(1, keepdims=True) + c, rtol=1e-5)


@pytest.mark.sweep
def test_another_rule_is_a_point_of_the_space_with_its_own_settings():
    A, B = te.placeholder((64, 4096), name="A"), te.placeholder((4096, 64), name="B")
    k = te.reduce_axis((0, 4096), name="k")
    C = te.compute((64, 64), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    space = tw.tuning.RuleSpace([C], Target("cuda -device=H200"))
    first, rng = space.first(), random.Random(0)
    others = {point["C.rule"] for point in space.neighbours(first, rng)} - {first["C.rule"]}
    assert others and others <= {point["C.rule"] for point in space.draft(32, rng)}
    for point in [*space.draft(32, rng), *space.neighbours(first, rng)]:
        plan = space.make(json.loads(key_of(point)))[0].plan
        settings = {f"C.{name}": value for name, value in plan.of("C").settings.items()}
        assert key_of({"C.rule": plan.of("C").rule, **settings}) == key_of(point)


def rows(n: int | te.Var) -> list[te.Tensor]:
    X = te.placeholder((n, 512), name="X")
    k = te.reduce_axis((0, 512), name="k")
    return [X, te.compute((n,), lambda i: te.sum(X[i, k], axis=k), name="Y")]


@pytest.mark.parametrize(("extent", "sizes"), [(4096, None), ("n", {"n": 4096})])
def test_auto_schedule_takes_the_fastest_record_whose_settings_there_are(tmp_path, extent, sizes):
    path = tmp_path / "t.db"
    args = rows(te.var("n") if extent == "n" else extent)
    tuned = TunedProgram(args, Target.of("cpu"), 0, sizes or {}, POLICY)
    (decision,) = tw.auto_schedule(args[1], "cpu").plan
    choice = next(one for one in decision.choices if len(one.alternatives) > 1)
    faster = next(value for value in choice.alternatives if value != choice.value)
    with Journal(path) as journal:
        for setting, value, score in (("block", 4, 0.1), (choice.name, faster, 0.5), (choice.name, choice.value, 1.0)):
            journal.add(tuned.where, Trial(json.dumps({f"Y.{setting}": value}), "ok", score=score))
    again = rows(te.var("n") if extent == "n" else extent)
    (found,) = tw.auto_schedule(again[1], "cpu", database=path, sizes=sizes).plan
    assert found[choice.name] == faster != decision[choice.name]
    # Settings are above the database; records of another program or device are not this one's.
    settings = {"Y": {choice.name: choice.value}}
    (asked,) = tw.auto_schedule(again[1], "cpu", database=path, sizes=sizes, settings=settings).plan
    assert asked[choice.name] == choice.value
    (other,) = tw.auto_schedule(rows(8192)[1], "cpu", database=path).plan
    assert other == next(iter(tw.auto_schedule(rows(8192)[1], "cpu").plan))


def test_auto_schedule_with_a_database_that_is_none(tmp_path):
    with pytest.raises(ValueError, match=f"^expected the file of a database, got {tmp_path}/none.db$"):
        tw.auto_schedule(rows(8)[1], "cpu", database=tmp_path / "none.db")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="^expected sizes beside a database, got them alone$"):
        tw.auto_schedule(rows(8)[1], "cpu", sizes={"n": 8})
    Journal(tmp_path / "t.db").close()
    with pytest.raises(ValueError, match=r"^expected a value of n in sizes, at which the program is measured$"):
        tw.auto_schedule(rows(te.var("n"))[1], "cpu", database=tmp_path / "t.db")


def test_all_points_are_found_where_there_are_fewer_than_trials(tmp_path, engine):
    result = tw.tune(Knobs(matmul, block=(8, 16), n=(16,)), "cpu", trials=64, policy=POLICY, executor=engine)
    assert [key_of({"block": block, "n": 16}) for block in (8, 16)] == sorted(
        (one.choices for one in result.trials), key=len
    )


def test_a_second_run_measures_nothing_again(tmp_path, engine):
    first = tw.tune(space(), "cpu", trials=5, database=tmp_path / "t.db", policy=POLICY, executor=engine)
    again = tw.tune(space(), "cpu", trials=5, database=tmp_path / "t.db", policy=POLICY, executor=engine)
    more = tw.tune(space(), "cpu", trials=7, database=tmp_path / "t.db", policy=POLICY, executor=engine)
    assert (first.measured, again.measured, more.measured) == (5, 0, 2)
    assert [one.number for one in more.trials] == [1, 2, 3, 4, 5, 6, 7]


def test_records_of_other_conditions_do_not_count(tmp_path, engine):
    tw.tune(space(), "cpu", trials=3, database=tmp_path / "t.db", policy=POLICY, executor=engine)
    other = tw.tune(
        space(), "cpu", trials=3, database=tmp_path / "t.db", policy=replace(POLICY, warmup=2), executor=engine
    )
    assert other.measured == 3


@pytest.mark.sweep
def test_the_picture_of_a_search(tmp_path, engine):
    pytest.importorskip("matplotlib")
    result = tw.tune(space(), "cpu", trials=3, policy=POLICY, executor=engine)
    assert result.plot(tmp_path / "search.png").read_bytes().startswith(b"\x89PNG")


def test_lightgbm_predicts_scores_once_there_are_enough_trials(engine):
    pytest.importorskip("lightgbm")
    result = tw.tune(space(), "cpu", trials=22, policy=POLICY, executor=engine)
    predicted = [one.predicted is not None for one in result.trials]
    assert not any(predicted[:16]) and any(predicted[17:])


def test_symbolic_extents_have_the_sizes_that_are_given(engine):
    def doubled(factor):
        n = te.var("n")
        A = te.placeholder((n,), name="A")
        B = te.compute((n,), lambda i: A[i] * 2, name="B")
        s = te.create_schedule(B.op)
        s[B].split(B.op.axis[0], factor=factor)
        return s, [A, B]

    result = tw.tune(Knobs(doubled, factor=(4, 8)), "cpu", trials=2, sizes={"n": 100}, policy=POLICY, executor=engine)
    assert [one.status for one in result.trials] == ["ok", "ok"]
    with pytest.raises(ValueError, match=r"^expected a value of n in sizes, at which the program is measured$"):
        tw.tune(Knobs(doubled, factor=(4, 8)), "cpu")
    with pytest.raises(ValueError, match=r"^sizes: expected symbols of the program \(n\), got m$"):
        tw.tune(Knobs(doubled, factor=(4, 8)), "cpu", sizes={"n": 1, "m": 2})


def test_indices_in_the_data_stay_inside_and_large_outputs_are_checked_at_random_places(monkeypatch):
    def gather(factor):
        T, ids = te.placeholder((50, 8), name="T"), te.placeholder((1000,), "int64", name="ids")
        Y = te.compute((1000, 8), lambda i, j: T[ids[i], j] + 1, name="Y")
        s = te.create_schedule(Y.op)
        s[Y].split(Y.op.axis[0], factor=factor)
        return s, [T, ids, Y]

    monkeypatch.setattr("tilewright.tuning.program._MOST", 1000)
    tuned = problem(gather(4))
    assert tuned.reference()["samples"] == [[1000, 8]]
    made = task(gather(4))
    assert made["arguments"][1]["range"] == [0, 50]
    assert run_trial(made)["status"] == "ok"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "int32"])
def test_every_type_is_checked_against_double_precision(dtype):
    A = te.placeholder((33, 65), dtype, name="A")
    k = te.reduce_axis((0, 65), name="k")
    B = te.compute((33,), lambda i: te.sum(A[i, k], axis=k), name="B")
    answer = run_trial(task((te.create_schedule(B.op), [A, B])))
    assert (answer["status"], answer["cause"]) == ("ok", "")
    assert answer["error"] <= {"float16": 0.01, "bfloat16": 0.1, "float64": 1e-12}.get(dtype, 0)


# ---------------------------------------------------------------------- what fails


def test_a_wrong_candidate_is_a_record():
    answer = run_trial(task(edit=lambda text: text.replace("arith.mulf", "arith.addf")))
    assert answer["status"] == "wrong"
    assert re.fullmatch(r"C: expected an error of at most 0.05 of the root mean square, got [\d.]+", answer["cause"])


def test_a_candidate_that_does_not_compile_is_a_record():
    answer = run_trial(task(edit=lambda text: text.replace("schedule.split", "schedule.spilt", 1)))
    assert answer["status"] == "failed"
    assert answer["cause"].startswith("CompileError: ")


@pytest.mark.sweep
def test_a_candidate_that_ends_its_process_is_a_crash_and_the_next_trial_runs():
    run_trial(task())
    from tilewright.tuning import process

    worker = process._own().worker
    threading.Timer(0.3, lambda: os.kill(worker.process.pid, signal.SIGSEGV)).start()
    answer = run_trial(task(policy=replace(POLICY, repeats=(1_000_000, 1_000_000), seconds=30)))
    assert (answer["status"], answer["cause"]) == ("crash", "while measuring: the process ended by SIGSEGV")
    assert run_trial(task())["status"] == "ok"


@pytest.mark.sweep
def test_a_candidate_without_an_end_is_killed():
    run_trial(task())
    answer = run_trial(task(policy=replace(POLICY, repeats=(1_000_000, 1_000_000), seconds=30, timeout=0.5)))
    assert (answer["status"], answer["cause"]) == ("hang", "while measuring: no end after 0.5 s")
    assert run_trial(task())["status"] == "ok"


@pytest.mark.sweep
def test_trials_apart_compile_in_their_own_processes_and_are_measured_in_one():
    from tilewright.tuning import process

    first, second = {**task(), "apart": True}, {**task(matmul(8)), "apart": True}
    with ThreadPoolExecutor(2) as executor:
        answers = [*executor.map(run_trial, [first, second])]
    assert [one["status"] for one in answers] == ["ok", "ok"]
    worker = process._measuring(0).worker
    assert worker is not None and worker is not process._own().worker
    assert run_trial(first)["status"] == "ok" and process._measuring(0).worker is worker
    # What does not compile never comes to the process that measures; what ends that process ends its own trial alone.
    broken = run_trial({**first, "text": "nothing"})
    assert broken["status"] == "failed" and process._measuring(0).worker is worker
    threading.Timer(0.3, lambda: os.kill(worker.process.pid, signal.SIGSEGV)).start()
    long = {**task(policy=replace(POLICY, repeats=(1_000_000, 1_000_000), seconds=30)), "apart": True}
    assert run_trial(long)["cause"] == "while measuring: the process ended by SIGSEGV"
    assert run_trial(second)["status"] == "ok"


@pytest.mark.parametrize("trials", [16, pytest.param(64, marks=pytest.mark.sweep)])
def test_one_draft_serves_many_trials(trials, monkeypatch, engine):
    from tilewright.tuning import search

    answer = {"status": "ok", "cause": "", "ratio": 1.1, "seconds": [1.0], "against": [1.0], "error": 0.0}
    monkeypatch.setattr(search, "run_trial", lambda task: answer)
    drafts = []

    class Counted(Knobs):
        def draft(self, count, rng):
            drafts.append(count)
            return super().draft(count, rng)

    many = Counted(lambda block, other: matmul(block), block=(4, *range(5, 20)), other=tuple(range(20)))
    result = tw.tune(many, "cpu", trials=trials, policy=POLICY, executor=engine)
    assert len({one.choices for one in result.trials}) == trials
    assert len(drafts) <= 2


def test_failures_are_in_the_report_with_their_cause_and_a_reproducer(monkeypatch, engine):
    from tilewright.tuning import search

    def refused(block):
        if block == 3:
            raise tw.ScheduleError("expected another block")
        return matmul(block)

    result = tw.tune(Knobs(refused, block=(4, 3, 8)), "cpu", trials=3, policy=POLICY, executor=engine)
    assert sorted(one.status for one in result.trials) == ["ok", "ok", "refused"]
    assert "\n  1 x refused: expected another block" in result.report()

    calls = []

    def failing(task):
        calls.append(task)
        return run_trial(task) if len(calls) != 2 else {"status": "crash", "cause": "while checking: it did"}

    monkeypatch.setattr(search, "run_trial", failing)
    result = tw.tune(Knobs(matmul, block=(4, 8)), "cpu", trials=2, policy=POLICY, executor=engine)
    (crash,) = (one for one in result.trials if one.status == "crash")
    assert "\n  1 x crash: while checking: it did" in result.report()
    assert tw.build(crash.reproducer, target="cpu", start="te").signature.name == "tuned"


def test_a_first_schedule_that_is_wrong_ends_the_run(monkeypatch, engine):
    from tilewright.tuning import search

    monkeypatch.setattr(search, "run_trial", lambda task: {"status": "wrong", "cause": "C: it is"})
    text = r'^expected a first schedule that runs and is right, got {"block": 4}: wrong: C: it is$'
    with pytest.raises(tw.TilewrightError, match=text):
        tw.tune(Knobs(matmul, block=(4, 8)), "cpu", policy=POLICY, executor=engine)


def test_a_space_of_several_programs_is_refused(engine):
    with pytest.raises(tw.TilewrightError) as error:
        tw.tune(Knobs(lambda n: matmul(n=n), n=(16, 32)), "cpu", trials=2, policy=POLICY, executor=engine)
    assert str(error.value) == "expected a schedule of one program for each point of the space, got another program"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tw.tune(space(), "sim"), 'expected a target whose time can be measured ("cuda" or "cpu"), got "sim"'),
        (lambda: tw.tune(space(), "cpu", trials=0), "expected trials to be 1 or more, got 0"),
        (lambda: tw.tune(space(), "cpu", workers=0), "expected workers to be 1 or more, got 0"),
        (lambda: tw.tune(space(), "cpu", seed=-1), "expected seed to be 0 or more, got -1"),
        (lambda: tw.tune(space(), "cpu", seconds=-1), "expected seconds to be 0 or more, got -1"),
        (lambda: tw.tune(3, "cpu"), "expected the outputs of a program or a space, got 3"),
        (lambda: tw.tune(space(), "cpu", executor=3), "expected a concurrent.futures.Executor, got int"),
        (lambda: tw.tune(space(), "cpu", args=[]), "expected no args beside a space: its schedules bring them"),
        (lambda: Knobs(matmul, block=()), "knob block: expected a list or tuple of values, got ()"),
        (
            lambda: Knobs(matmul, where=lambda block: block > 4, block=(4, 8)),
            "expected the knobs' first values to fit together, got {'block': 4}",
        ),
        (lambda: Knobs(3, block=(4,)), "expected a function that makes a schedule, got 3"),
        (lambda: Policy(repeats=(1, 5)), "expected repeats (least, largest) with 2 <= least <= largest, got (1, 5)"),
        (lambda: Policy(seconds=0), "expected seconds to be 0.001 or more, got 0"),
        (lambda: Journal("/nowhere/t.db"), "expected a database in a folder that exists, got /nowhere/t.db"),
    ],
)
def test_bad_arguments(call, text):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert str(error.value) == text


@pytest.mark.skipif(tw.cuda(0).exist, reason="there is a GPU")
def test_without_a_gpu_tuning_for_cuda_says_so():
    with pytest.raises(tw.TilewrightError) as error:
        tw.tune(space(), "cuda")
    assert str(error.value) == "expected a device to measure on, got none: no cuda device 0"


# ---------------------------------------------------------------------- the journal

WHERE = Where("program", "device", "driver", "compiler", "policy")


def test_records_are_only_added(tmp_path):
    with Journal(tmp_path / "t.db") as journal:
        journal.add(WHERE, Trial("{}", "ok", score=1.0))
        for statement in ("update trials set score = 0", "delete from trials"):
            with pytest.raises(sqlite3.IntegrityError, match="records are only added"):
                journal._connection.execute(statement)


def test_a_damaged_database_is_moved_aside_and_kept(tmp_path):
    path = tmp_path / "t.db"
    path.write_bytes(b"SQLite format 3\0" + b"damaged" * 1000)
    before = path.read_bytes()
    with pytest.warns(UserWarning, match=r"t\.db: no database of this version, or a damaged one .*: moved to "):
        Journal(path).close()
    (aside,) = tmp_path.glob("t.db.2*")
    assert aside.read_bytes() == before


def test_a_database_of_another_version_is_moved_aside(tmp_path):
    path = tmp_path / "t.db"
    with Journal(path) as journal:
        journal._connection.execute("update journal set version = 99")
    with pytest.warns(UserWarning, match=r"expected a database of version 1, got version 99: moved to "):
        Journal(path).close()


def test_one_process_writes(tmp_path):
    with Journal(tmp_path / "t.db") as journal, journal.writing(), Journal(tmp_path / "t.db") as other:
        with pytest.raises(JournalError, match=r"t\.db: another process is tuning into this database$"):
            with other.writing():
                pass


def test_the_records_of_a_program_on_a_device_by_their_scores(tmp_path):
    with Journal(tmp_path / "t.db") as journal:
        journal.add(WHERE, Trial('{"tile": 8}', "ok", score=0.1))
        newer = replace(WHERE, driver="newer")
        for tile, status, score in ((16, "ok", 0.5), (32, "ok", 0.4), (64, "wrong", None)):
            journal.add(newer, Trial(json.dumps({"tile": tile}), status, score=score))
        ranked = journal.ranked("program", "device")
        assert [json.loads(one.choices) for one in ranked] == [{"tile": 32}, {"tile": 16}]
        assert journal.ranked("program", "another device") == []


KILLED = """
import os, signal, sys
import tilewright as tw
sys.path.insert(0, sys.argv[1])
from tuning.spaces import POLICY, space
def say(text):
    if text.startswith("4 trials"):
        os.kill(os.getpid(), signal.SIGKILL)
tw.tune(space(), "cpu", trials=20, database=sys.argv[2], policy=POLICY, progress=say)
"""


@pytest.mark.sweep
def test_a_killed_run_goes_on_and_measures_nothing_twice(tmp_path):
    path = tmp_path / "t.db"
    folder = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(path)])
    assert done.returncode == -signal.SIGKILL
    result = tw.tune(space(), "cpu", trials=8, database=path, policy=POLICY)
    assert result.measured == 4
    assert len({one.choices for one in result.trials}) == 8


# ---------------------------------------------------------------------- executors


class Vanishing(Executor):
    """The worker of every other trial vanishes before it answers."""

    def __init__(self, engine):
        self.engine, self.count = engine, 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        if self.count % 2 == 0:
            lost: Future = Future()
            lost.set_exception(RuntimeError("the worker is gone"))
            return lost
        return self.engine.submit(fn, *args, **kwargs)


def test_a_trial_whose_worker_vanished_is_run_again_and_recorded(tmp_path, engine):
    with Vanishing(engine) as executor:
        result = tw.tune(space(), "cpu", trials=4, database=tmp_path / "t.db", policy=POLICY, executor=executor)
    assert [one.status for one in result.trials] == ["ok"] * 4
    with Journal(tmp_path / "t.db") as journal:
        assert {one.status for one in journal.trials(result.where)} == {"ok", "lost"}


@pytest.mark.sweep
def test_workers_that_all_vanish_end_the_run(engine):
    class Gone(Vanishing):
        def submit(self, fn, /, *args, **kwargs):
            self.count = min(self.count, 1)  # all but the first
            return super().submit(fn, *args, **kwargs)

    text = r"^expected workers that answer, got 3 in a row that vanished; the last: the worker is gone$"
    with Gone(engine) as executor, pytest.raises(tw.TilewrightError, match=text):
        tw.tune(space(), "cpu", trials=4, policy=POLICY, executor=executor)


@pytest.mark.sweep
def test_dask_workers_one_of_which_dies(tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
    )
    with cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        killed = []

        def say(text):
            if not killed and text.startswith("2 trials"):
                killed.append(os.kill(pids[0], signal.SIGKILL))

        result = tw.tune(
            space(), "cpu", trials=6, policy=POLICY, executor=client.get_executor(retries=0), workers=2, progress=say
        )
    assert killed and [one.status for one in result.trials] == ["ok"] * 6


@pytest.mark.slow
def test_ray_workers_one_of_which_dies():
    ray = pytest.importorskip("ray")
    folder = tempfile.mkdtemp(prefix="ray")  # the path of a socket in it has at most 107 bytes
    # Ray's own niceness of 15 leaves its workers no time on a machine that is busy.
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=folder,
        _system_config={"worker_niceness": 0},
    )
    try:
        executor = tw.tuning.RayExecutor()
        pid = executor.submit(os.getpid).result()
        killed = []

        def say(text):
            if not killed and text.startswith("2 trials"):
                killed.append(os.kill(pid, signal.SIGKILL))

        result = tw.tune(space(), "cpu", trials=6, policy=POLICY, executor=executor, workers=2, progress=say)
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    assert killed and [one.status for one in result.trials] == ["ok"] * 6


@pytest.mark.sweep
def test_ctrl_c_ends_the_run_and_its_processes():
    def say(text):
        if text.startswith("2 trials"):
            raise KeyboardInterrupt

    def children():
        return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())

    before = children()
    with pytest.raises(KeyboardInterrupt):
        tw.tune(space(), "cpu", trials=20, policy=replace(POLICY, repeats=(1000, 1000), seconds=0.2), progress=say)
    assert children() <= before


# ---------------------------------------------------------------------- the command


@pytest.mark.sweep
def test_the_command(tmp_path, capsys):
    file = tmp_path / "doubled.py"
    file.write_text(
        """import tilewright as tw
from tilewright import te

def doubled(factor):
    A = te.placeholder((256,), name="A")
    B = te.compute((256,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=factor)[1])
    return s, [A, B]

space = tw.tuning.Knobs(doubled, factor=(4, 8))
"""
    )

    def refusal_of(*more):
        assert main(["tune", str(file), "--target", "cpu", *more]) != 0
        return capsys.readouterr().err

    command = [sys.executable, "-m", "tilewright", "tune", str(file), "--target", "cpu", "--trials", "2"]
    done = subprocess.run(
        [*command, "--database", str(tmp_path / "t.db"), "-o", str(tmp_path / "best.json")],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 trials, 2 of them in this run: 2 ok" in done.stdout
    assert "s[B].vectorize(i_inner)" in done.stdout
    s, _ = te_program()
    from tilewright.te.schedule.trace import Trace

    Trace.load(tmp_path / "best.json").apply(s)
    refusal = "expected a file in a folder that exists, got /nowhere/x"
    assert refusal_of("--plot", "/nowhere/x") == f"tilewright tune: --plot: {refusal}\n"
    assert refusal_of("-o", "/nowhere/x") == f"tilewright tune: --output: {refusal}\n"
    assert refusal_of("--size", "n") == "tilewright tune: --size: expected NAME=NUMBER, got 'n'\n"
    told = f"tilewright tune: {file}: expected the outputs of a program or a space, got 1\n"
    assert refusal_of("--program", "1") == told


def te_program():
    A = te.placeholder((256,), name="A")
    B = te.compute((256,), lambda i: A[i] * 2, name="B")
    return te.create_schedule(B.op), [A, B]


@pytest.mark.sweep
def test_the_example_of_the_page(tmp_path, monkeypatch):
    page = (Path(__file__).parent.parent.parent.parent / "docs" / "tuning.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(example, names)
    assert names["function"].signature.name == "matmul"
