"""What a GPU hides: each kind of defect with the full text of its report."""

import numpy as np
import pytest

from tilewright.errors import CompileError, SimulationError, TilewrightError

SHARED = "#gpu.address_space<workgroup>"
LOCAL = "#gpu.address_space<private>"
TYPES = f"memref<0xi8, {SHARED}> to memref<64xf32, {SHARED}>"
TILE = f'%tile = memref.view %shared[%c0][] {{te.stage = "A_shared"}} : {TYPES}'


def line(number: int, file: str = "k.py") -> str:
    return f'loc("{file}":{number}:0)'


@pytest.fixture
def reports(run):
    """The reports of a kernel that has defects."""

    def launch(*arguments, **options) -> tuple[str, ...]:
        with pytest.raises(SimulationError) as raised:
            run(*arguments, **options)
        assert isinstance(raised.value, TilewrightError)
        assert str(raised.value) == "\n".join(raised.value.reports)
        return raised.value.reports

    return launch


def vector(count: int = 64) -> np.ndarray:
    return np.arange(count, dtype="f4")


def test_a_column_outside_a_row_is_found_though_it_lies_in_the_buffer(reports):
    body = f"""
      %c3 = arith.constant 3 : index
      %c70 = arith.constant 70 : index
      %t = gpu.thread_id x
      %x = memref.load %A[%c3, %c70] : memref<64x64xf32> {line(14)}
      memref.store %x, %B[%t] : memref<64xf32> {line(15)}
      gpu.return"""
    b = np.ones(64, dtype="f4")
    found = reports("%A: memref<64x64xf32>, %B: memref<64xf32>", body, [np.ones((64, 64), "f4")], b, (2, 1, 1))
    assert found == (
        "k.py:14: out-of-bounds read of 'A' at [3, 70], whose shape is [64, 64], "
        "by thread (0, 0, 0) of block (0, 0, 0) in k (1 more like this)",
    )
    # What was read out of bounds is zero, and the program went on.
    assert b[:3].tolist() == [0, 0, 1]


def test_a_write_out_of_bounds_is_not_made(reports):
    body = f"""
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<64xf32> {line(3)}
      memref.store %x, %B[%t] : memref<60xf32> loc("B"("k.py":4:0))
      gpu.return"""
    memory = np.full(64, -1, dtype="f4")
    found = reports("%A: memref<64xf32>, %B: memref<60xf32>", body, [vector()], memory[:60], (64, 1, 1))
    assert found == (
        "k.py:4: out-of-bounds write of 'B' at [60], whose shape is [60], "
        "by thread (60, 0, 0) of block (0, 0, 0) in k (3 more like this)",
    )
    assert memory[60:].tolist() == [-1] * 4


def test_a_vector_that_begins_inside_and_ends_outside(reports):
    body = f"""
      %c62 = arith.constant 62 : index
      %v = vector.load %A[%c1, %c62] : memref<2x64xf32>, vector<4xf32> {line(8)}
      vector.store %v, %B[%c0] : memref<4xf32>, vector<4xf32> {line(9)}
      gpu.return"""
    found = reports("%A: memref<2x64xf32>, %B: memref<4xf32>", body, [np.ones((2, 64), "f4")], vector(4), (1, 1, 1))
    assert found == (
        "k.py:8: out-of-bounds read of 'A' at [1, 62:66], whose shape is [2, 64], "
        "by thread (0, 0, 0) of block (0, 0, 0) in k",
    )


def test_out_of_bounds_of_shared_and_local_memory(reports):
    body = f"""
      {TILE}
      %l = memref.alloca() {{te.stage = "acc"}} : memref<4xf32, {LOCAL}>
      %c64 = arith.constant 64 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %tile[%c64] : memref<64xf32, {SHARED}> {line(5)}
      memref.store %zero, %l[%c4] : memref<4xf32, {LOCAL}> {line(6)}
      memref.store %zero, %tile[%c4] : memref<64xf32, {SHARED}> {line(7)}
      memref.store %zero, %B[%c0] : memref<1xf32>
      gpu.return"""
    found = reports("%B: memref<1xf32>", body, [], vector(1), (1, 1, 1), shared=16)
    where = "by thread (0, 0, 0) of block (0, 0, 0) in k"
    assert found == (
        f"k.py:5: out-of-bounds write of 'A_shared' at [64], whose shape is [64], {where}",
        f"k.py:6: out-of-bounds write of 'acc' at [4], whose shape is [4], {where}",
        # The launch gave the block 16 bytes of shared memory.
        f"k.py:7: out-of-bounds write of 'A_shared' at [4], outside the buffer's memory, {where}",
    )


def test_a_read_of_shared_memory_that_nothing_wrote(reports):
    body = f"""
      {TILE}
      %c3 = arith.constant 3 : index
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<64xf32>
      memref.store %x, %tile[%t] : memref<64xf32, {SHARED}> {line(5)}
      gpu.barrier
      %s = arith.addi %t, %c3 : index
      %y = memref.load %tile[%s] : memref<64xf32, {SHARED}> {line(7)}
      memref.store %y, %B[%t] : memref<64xf32>
      gpu.return"""
    arguments = "%A: memref<64xf32>, %B: memref<64xf32>"
    found = reports(arguments, body, [vector()], vector(), (16, 1, 1), grid=(2, 1, 1), shared=256)
    # What one block wrote is not there for the next one.
    assert found == (
        "k.py:7: read of unwritten memory: 'A_shared' at [16] "
        "by thread (13, 0, 0) of block (0, 0, 0) in k (5 more like this)",
    )


def test_a_read_of_an_output_that_nothing_wrote(reports):
    body = f"""
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<64xf32>
      %y = memref.load %B[%t] : memref<64xf32> {line(3)}
      %z = arith.addf %x, %y : f32
      memref.store %z, %B[%t] : memref<64xf32> {line(3)}
      %again = memref.load %B[%t] : memref<64xf32> {line(4)}
      gpu.return"""
    found = reports("%A: memref<64xf32>, %B: memref<64xf32>", body, [vector()], vector(), (8, 1, 1))
    assert found == (
        "k.py:3: read of unwritten memory: 'B' at [0] by thread (0, 0, 0) of block (0, 0, 0) in k (7 more like this)",
    )


def test_a_read_of_a_local_array_that_nothing_wrote(reports):
    body = f"""
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %l = memref.alloca() {{te.stage = "acc"}} : memref<2x4xf32, {LOCAL}>
      memref.store %zero, %l[%c1, %c2] : memref<2x4xf32, {LOCAL}>
      %x = memref.load %l[%c1, %c2] : memref<2x4xf32, {LOCAL}> {line(5)}
      %y = vector.load %l[%c1, %c1] : memref<2x4xf32, {LOCAL}>, vector<2xf32> {line(6)}
      %first = vector.extract %y[0] : f32 from vector<2xf32>
      memref.store %first, %B[%c0] : memref<4xf32>
      scf.for %i = %c0 to %c4 step %c1 {{
        %m = memref.alloca() : memref<1xf32, {LOCAL}> loc("mine"("k.py":7:0))
        %last = arith.cmpi sge, %i, %c2 : index
        scf.if %last {{
          memref.store %x, %m[%c0] : memref<1xf32, {LOCAL}>
        }}
        %z = memref.load %m[%c0] : memref<1xf32, {LOCAL}> {line(9)}
        memref.store %z, %B[%i] : memref<4xf32>
      }}
      gpu.return"""
    found = reports("%B: memref<4xf32>", body, [], vector(4), (3, 1, 1))
    # What an earlier iteration wrote would not be there, either: the array is another one.
    assert found == (
        "k.py:6: read of unwritten memory: 'acc' at [1, 1:3] by thread (0, 0, 0) of block (0, 0, 0) in k "
        "(2 more like this)",
        "k.py:9: read of unwritten memory: 'mine' at [0] by thread (0, 0, 0) of block (0, 0, 0) in k "
        "(5 more like this)",
    )


def exchange(first: str, second: str) -> str:
    """Each thread writes its place of a shared buffer and reads its neighbour's."""
    return f"""
      {TILE}
      %t = gpu.thread_id x
      %n = arith.constant 63 : index
      %next = arith.addi %t, %c1 : index
      %neighbour = arith.remui %next, %n : index
      %x = memref.load %A[%t] : memref<64xf32>
      memref.store %x, %tile[%t] : memref<64xf32, {SHARED}> {line(10)}
      {first}
      %y = memref.load %tile[%neighbour] : memref<64xf32, {SHARED}> {line(11)}
      {second}
      memref.store %y, %tile[%t] : memref<64xf32, {SHARED}> {line(12)}
      memref.store %y, %B[%t] : memref<64xf32>
      gpu.return"""


EXCHANGE = "%A: memref<64xf32>, %B: memref<64xf32>"


def test_a_read_races_with_a_write_before_it(reports):
    # Thread 62 alone reads what a thread before it wrote, in the order in which they are simulated.
    found = reports(EXCHANGE, exchange("", "gpu.barrier"), [vector()], vector(), (63, 1, 1), shared=256)
    assert found == (
        "k.py:11: read of unwritten memory: 'A_shared' at [1] by thread (0, 0, 0) of block (0, 0, 0) in k "
        "(61 more like this)",
        "k.py:10: race on shared memory: thread (1, 0, 0) writes 'A_shared' at [1], which thread (0, 0, 0) reads at "
        "k.py:11 with no barrier between, in block (0, 0, 0) in k (61 more like this)",
        "k.py:11: race on shared memory: thread (62, 0, 0) reads 'A_shared' at [0], which thread (0, 0, 0) writes at "
        "k.py:10 with no barrier between, in block (0, 0, 0) in k",
    )


def test_a_write_races_with_a_read_before_it(reports):
    found = reports(EXCHANGE, exchange("gpu.barrier", ""), [vector()], vector(), (63, 1, 1), shared=256)
    assert found == (
        "k.py:12: race on shared memory: thread (1, 0, 0) writes 'A_shared' at [1], which thread (0, 0, 0) reads at "
        "k.py:11 with no barrier between, in block (0, 0, 0) in k (61 more like this)",
        "k.py:11: race on shared memory: thread (62, 0, 0) reads 'A_shared' at [0], which thread (0, 0, 0) writes at "
        "k.py:12 with no barrier between, in block (0, 0, 0) in k",
    )


def test_barriers_on_both_sides_end_the_race(run):
    run(EXCHANGE, exchange("gpu.barrier", "gpu.barrier"), [vector()], vector(), (63, 1, 1), shared=256)


def test_two_writes_of_different_values_race(reports):
    body = f"""
      {TILE}
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<64xf32>
      memref.store %x, %tile[%c0] : memref<64xf32, {SHARED}> {line(4)}
      gpu.barrier
      %y = memref.load %tile[%c0] : memref<64xf32, {SHARED}>
      memref.store %y, %B[%t] : memref<64xf32>
      gpu.return"""
    found = reports(EXCHANGE, body, [vector()], vector(), (2, 1, 1), shared=256)
    assert found == (
        "k.py:4: race on shared memory: thread (1, 0, 0) writes 'A_shared' at [0], which thread (0, 0, 0) writes at "
        "k.py:4 with no barrier between, in block (0, 0, 0) in k",
    )


def test_neighbouring_bytes_do_not_race(run):
    a, b = np.arange(64, dtype="i1"), np.zeros(64, dtype="i1")
    body = f"""
      %tile = memref.view %shared[%c0][] : memref<0xi8, {SHARED}> to memref<64xi8, {SHARED}>
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<64xi8>
      memref.store %x, %tile[%t] : memref<64xi8, {SHARED}>
      %y = memref.load %tile[%t] : memref<64xi8, {SHARED}>
      memref.store %y, %B[%t] : memref<64xi8>
      gpu.return"""
    run("%A: memref<64xi8>, %B: memref<64xi8>", body, [a], b, (64, 1, 1), shared=64)
    np.testing.assert_array_equal(b, a)


def test_a_barrier_that_some_threads_end_without(reports):
    body = f"""
      %t = gpu.thread_id x
      %c5 = arith.constant 5 : index
      %low = arith.cmpi ult, %t, %c5 : index
      scf.if %low {{
        gpu.barrier {line(21)}
      }}
      gpu.return {line(23)}"""
    for checks in (False, True):
        found = reports("%B: memref<64xf32>", body, [], vector(), (8, 1, 1), checks=checks)
        assert found == (
            "k.py:21: divergent barrier: thread (0, 0, 0) of block (0, 0, 0) in k waits here, "
            "but thread (5, 0, 0) has ended at k.py:23",
        )


def test_threads_that_wait_at_two_barriers(reports):
    body = f"""
      %t = gpu.thread_id x
      %c40 = arith.constant 40 : index
      %low = arith.cmpi ult, %t, %c40 : index
      scf.if %low {{
        gpu.barrier {line(31)}
      }} else {{
        gpu.barrier {line(33)}
      }}
      gpu.return"""
    found = reports("%B: memref<64xf32>", body, [], vector(), (64, 1, 1))
    assert found == (
        "k.py:31: divergent barrier: thread (0, 0, 0) of block (0, 0, 0) in k waits here, "
        "but thread (40, 0, 0) waits at the barrier of k.py:33",
    )


@pytest.mark.parametrize(
    ("condition", "block", "reason"),
    [
        ("arith.cmpi ne, %t, %c1 : index", 32, "thread (1, 0, 0) waits at the barrier of k.py:43"),
        ("arith.cmpi eq, %t, %t : index", 16, "its width is 32 and the warp has 16 lanes"),
    ],
)
def test_a_shuffle_that_lanes_are_missing_from(reports, condition, block, reason):
    body = f"""
      %t = gpu.thread_id x
      %in = {condition}
      scf.if %in {{
        %x = arith.constant 1.0 : f32
        %o = arith.constant 1 : i32
        %w = arith.constant 32 : i32
        %s, %p = gpu.shuffle xor %x, %o, %w : f32 {line(41)}
        memref.store %s, %B[%t] : memref<64xf32>
      }}
      gpu.barrier {line(43)}
      gpu.return"""
    found = reports("%B: memref<64xf32>", body, [], vector(), (block, 1, 1))
    assert found == (f"k.py:41: divergent shuffle: thread (0, 0, 0) of block (0, 0, 0) in k waits here, but {reason}",)


def test_a_buffer_that_is_smaller_than_the_kernel_takes_it_for(reports):
    found = reports("%A: memref<64xf32>, %B: memref<64xf32>", "gpu.return", [vector(60)], vector(), (1, 1, 1))
    assert found == ("k: expected 256 bytes for 'A', got 240",)


def test_too_many_threads_and_missing_parameters(reports):
    found = reports("%B: memref<64xf32>", "gpu.return", [], vector(), (32, 33, 1))
    assert found == ("k: expected 1 to 1024 threads a block, got 1056",)
    found = reports("%B: memref<?xf32>", "gpu.return", [], vector(), (1, 1, 1))
    assert found == ("k: expected 2 parameters, got 1",)


def test_no_more_than_sixteen_places(reports):
    stores = "\n".join(f"memref.store %x, %B[%c64] : memref<64xf32> {line(n)}" for n in range(100, 120))
    body = f"%c64 = arith.constant 64 : index\n%x = arith.constant 1.0 : f32\n{stores}\ngpu.return"
    found = reports("%B: memref<64xf32>", body, [], vector(), (1, 1, 1))
    assert len(found) == 17
    assert found[0].startswith("k.py:100: ") and found[15].startswith("k.py:115: ")
    assert found[16] == "and more at other places"


def test_a_line_seen_through_fused_and_call_locations(reports):
    body = """
      %c64 = arith.constant 64 : index
      %x = arith.constant 1.0 : f32
      memref.store %x, %B[%c64] : memref<64xf32> loc(fused[callsite("f"("k.py":50:0) at "k.py":60:0), "k.py":70:0])
      gpu.return"""
    (found,) = reports("%B: memref<64xf32>", body, [], vector(), (1, 1, 1))
    assert found.startswith("k.py:50: out-of-bounds write of 'B'")


def test_a_kernel_that_the_simulator_does_not_run(run):
    body = f"""
      gpu.printf "hello" {line(3)}
      gpu.return"""
    with pytest.raises(CompileError) as raised:
        run("%B: memref<64xf32>", body, [], vector(), (1, 1, 1))
    assert str(raised.value) == (
        "k.py:3: error: expected an operation that the simulator runs, got 'gpu.printf'\n(compiling for the simulator)"
    )
    assert raised.value.stage == "sim"
