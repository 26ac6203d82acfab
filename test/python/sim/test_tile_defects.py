"""What kernels of asynchronous tiles do wrong: each kind of finding with the full text of its report."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tile_kernels import host_function, run_expanded
from tilewright.errors import SimulationError

SHARED = "#gpu.address_space<workgroup>"
TILE = "!tile.buffer<8x32xf32, swizzle = 128>"
MAP = "!tile.tensor_map<8x32xf32, swizzle = 128>"
RING = f"!tile.ring<1, {TILE}>"
START = f"""
  scf.if %isFirst {{
    tile.init %ring : {RING} @1
    nvvm.fence.mbarrier.init
  }}
  gpu.barrier @3
"""
FILL = f"""
  memref.store %one, %raw[%t] : memref<256xf32, {SHARED}> @15
  memref.store %one, %raw[%next] : memref<256xf32, {SHARED}> @16
"""
STORE = f"""
  scf.if %isFirst {{
    tile.tma_store %buffer to %B[%c0, %c0] : {TILE}, {MAP} @20
    tile.commit_stores
    tile.wait_stores 0
  }}
"""
LOAD = f"""
  scf.if %isFirst {{
    %into = tile.acquire %ring[%slot, %slot] : {RING} @10
    tile.tma_load %A[%c0, %c0] to %into signal %ring[%slot] : {MAP}, {TILE}, {RING} @11
    tile.commit %ring[%slot] : {RING} @12
  }}
"""
WAIT = f"%tile = tile.wait %ring[%slot, %slot] : {RING} @13\n"
STORE_SLOT = STORE.replace("%buffer", "%tile")
AGAIN = FILL.replace("@15", "@25").replace("@16", "@26")
# A product of a buffer that threads wrote.
FACTOR = "!tile.buffer<64x64xbf16, swizzle = 128>"
SUM, FRAGMENT = "!tile.accumulator<64x64xf32>", "!tile.fragment<64x64xf32>"
OPERAND = f"""
  %a = tile.alloc at 4096 : {FACTOR} loc("a"("k.py":5:0))
  %zero = arith.constant 0.0 : bf16
  %at_a = arith.constant 4096 : index
  %c4096 = arith.constant 4096 : index
  %raw_a = memref.view %shared[%at_a][] {{te.stage = "a"}} : memref<0xi8, {SHARED}> to memref<4096xbf16, {SHARED}>
  scf.for %i = %t to %c4096 step %c128 {{
    memref.store %zero, %raw_a[%i] : memref<4096xbf16, {SHARED}> @50
  }}
"""
PRODUCT = f"%s = tile.wgmma %a, %a : {FACTOR}, {FACTOR} -> {SUM} @51\n"
MORE = f"%s1 = tile.wgmma %a, %a into %s : {FACTOR}, {FACTOR} -> {SUM} @53\n"
COMMIT = "tile.wgmma_commit\n"
ARRIVE = """
  %nine = arith.constant 9 : i32
  %n = arith.constant 256 : i32
  nvvm.barrier.arrive id = %nine number_of_threads = %n """
READ = f"%f = tile.wgmma_wait 0 for %s : {SUM} -> {FRAGMENT} @52\n"
FENCED = "tile.fence_async\ntile.sync_warpgroup @18\n"


def kernel(body: str, threads: int = 128, cluster: int = 1) -> str:
    """A kernel of one cluster, on a ring of one slot and, behind it in shared memory, a buffer of one tile; a line that ends
    in @N is line N of k.py."""
    size = f", known_cluster_size = array<i32: {cluster}, 1, 1>" if cluster > 1 else ""
    host = host_function(
        "f", {"A": "memref<8x32xf32>"}, {"B": "memref<8x32xf32>"}, {"A": MAP, "B": MAP}, threads, cluster
    )
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    memref.global @shared_memory : memref<0xi8, {SHARED}> {{alignment = 1024}}
    gpu.func @f_kernel0(%A: {MAP}, %B: {MAP}) kernel
        attributes {{known_block_size = array<i32: {threads}, 1, 1>{size}}} {{
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %at = arith.constant 1024 : index
      %one = arith.constant 1.0 : f32
      %slot = arith.constant 0 : i32
      %phase1 = arith.constant 1 : i32
      %t = gpu.thread_id x
      %next = arith.addi %t, %c128 : index
      %isFirst = arith.cmpi eq, %t, %c0 : index
      %shared = memref.get_global @shared_memory : memref<0xi8, {SHARED}>
      %raw = memref.view %shared[%at][] {{te.stage = "raw"}} : memref<0xi8, {SHARED}> to memref<256xf32, {SHARED}>
      %ring = tile.ring consumers 1 at 0 barriers at 2048 : {RING} loc("ring"("k.py":1:0))
      %buffer = tile.alloc at 1024 : {TILE} loc("buffer"("k.py":2:0))
      {body}
      gpu.return @99
    }}
  }}
  {host}
}}"""
    return re.sub(r" @(\d+)$", r' loc("k.py":\1:0)', text, flags=re.MULTILINE)


def run(body: str, threads: int = 128, cluster: int = 1) -> np.ndarray:
    a, b = np.arange(256, dtype=np.float32).reshape(8, 32), np.full((8, 32), np.nan, np.float32)
    run_expanded(kernel(body, threads, cluster), [a, b], shared_bytes=12288)
    return b


def test_nothing_is_found_where_all_is_there() -> None:
    assert (run(FILL + FENCED + STORE) == 1).all()
    assert np.array_equal(run(START + LOAD + WAIT + STORE_SLOT), np.arange(256).reshape(8, 32))
    run(OPERAND + FENCED + PRODUCT + COMMIT + READ)


CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "a store of what is not visible to it": (
        FILL + "tile.sync_warpgroup\n" + STORE,
        (
            "k.py:20: missing fence: a TMA copy of thread (0, 0, 0) reads 'buffer' at byte 0, which thread (0, 0, "
            "0) writes at k.py:15 with no tile.fence_async between, in block (0, 0, 0) in f_kernel0",
        ),
    ),
    "a store before all have written": (
        FILL + "tile.fence_async\n" + STORE,
        (
            "k.py:20: read of unwritten memory: a TMA copy of thread (0, 0, 0) reads 'buffer' at byte 4, in block "
            "(0, 0, 0) in f_kernel0",
            "k.py:15: race on shared memory: thread (1, 0, 0) writes 'raw' at [1], which a TMA copy of thread (0, "
            "0, 0) reads at k.py:20 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (126 more like "
            "this)",
            "k.py:16: race on shared memory: thread (1, 0, 0) writes 'raw' at [129], which a TMA copy of thread (0, "
            "0, 0) reads at k.py:20 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (126 more like "
            "this)",
        ),
    ),
    "a store that nobody waits for": (
        FILL + FENCED + STORE.replace("tile.wait_stores 0", ""),
        (
            "k.py:20: TMA copy to global memory that is not waited for: thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0 ends while what it began here may still use shared memory",
        ),
    ),
    "writing what is stored": (
        FILL + FENCED + STORE.replace("tile.wait_stores 0\n  }", "}" + AGAIN + "tile.wait_stores 0"),
        (
            "k.py:25: race on shared memory: thread (0, 0, 0) writes 'raw' at [0], which a TMA copy of thread (0, "
            "0, 0) reads at k.py:20 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (127 more like "
            "this)",
            "k.py:26: race on shared memory: thread (0, 0, 0) writes 'raw' at [128], which a TMA copy of thread (0, "
            "0, 0) reads at k.py:20 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (127 more like "
            "this)",
        ),
    ),
    "reading what is copied": (
        START
        + LOAD
        + f"""
  %slot0 = memref.view %shared[%c0][] {{te.stage = "slot"}} : memref<0xi8, {SHARED}> to memref<256xf32, {SHARED}>
  %x = memref.load %slot0[%t] : memref<256xf32, {SHARED}> @30
  memref.store %x, %raw[%t] : memref<256xf32, {SHARED}> @31
""",
        (
            "k.py:30: race on shared memory: thread (0, 0, 0) reads 'slot' at [0], which a TMA copy writes at "
            "k.py:11 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (127 more like this)",
            "k.py:11: TMA copy that is not waited for: no thread of block (0, 0, 0) in f_kernel0 waits for the "
            "barrier 'full' of slot 0 of 'ring', which it signals",
        ),
    ),
    "a load that nobody waits for": (
        START + LOAD,
        (
            "k.py:11: TMA copy that is not waited for: no thread of block (0, 0, 0) in f_kernel0 waits for the "
            "barrier 'full' of slot 0 of 'ring', which it signals",
        ),
    ),
    "barriers that are not started": (
        LOAD + WAIT,
        (
            "k.py:10: wait of a barrier that has not been started, by thread (0, 0, 0) of block (0, 0, 0) in f_kernel0",
            "k.py:11: tma_load of a barrier that has not been started, by thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0",
            "k.py:12: commit of a barrier that has not been started, by thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0",
            "k.py:13: wait of a barrier that has not been started, by thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0 (127 more like this)",
        ),
    ),
    "barriers whose start is not waited for": (
        START.replace("gpu.barrier @3", "") + LOAD + WAIT + STORE_SLOT,
        (
            "k.py:13: wait of a barrier whose start is not waited for: thread (1, 0, 0) of block (0, 0, 0) in "
            "f_kernel0 uses the barrier 'full' of slot 0 of 'ring', which thread (0, 0, 0) starts with no barrier "
            "between (126 more like this)",
        ),
    ),
    "barriers whose start is not visible": (
        START.replace("nvvm.fence.mbarrier.init", "") + LOAD + WAIT + STORE_SLOT,
        (
            "k.py:11: tma_load of a barrier whose start is not visible: thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0 uses the barrier 'full' of slot 0 of 'ring', which thread (0, 0, 0) starts with no fence "
            "after it",
        ),
    ),
    "a phase that does not end": (
        START + LOAD + WAIT.replace("%slot]", "%phase1]") + STORE_SLOT,
        (
            "k.py:13: deadlock in f_kernel0: thread (0, 0, 0) and 127 more of block (0, 0, 0) wait here for phase 1 "
            "of the barrier 'full' of slot 0 of 'ring', which lacks 1 of 1 arrival",
        ),
    ),
    "a load that nobody commits": (
        START + LOAD.replace(f"tile.commit %ring[%slot] : {RING} @12", "") + WAIT,
        (
            "k.py:13: deadlock in f_kernel0: thread (0, 0, 0) and 127 more of block (0, 0, 0) wait here for phase 0 "
            "of the barrier 'full' of slot 0 of 'ring', which lacks 1 of 1 arrival and has 1024 bytes more than it "
            "was told of",
        ),
    ),
    "a commit without its load": (
        START + re.sub("tile.tma_load.*", "", LOAD) + WAIT,
        (
            "k.py:13: deadlock in f_kernel0: thread (0, 0, 0) and 127 more of block (0, 0, 0) wait here for phase 0 "
            "of the barrier 'full' of slot 0 of 'ring', which waits for 1024 bytes",
        ),
    ),
    "a slot that is committed twice": (
        START + LOAD.replace("  }", f"  tile.commit %ring[%slot] : {RING} @14\n}}") + WAIT,
        (
            "k.py:14: arrivals that do not add up: at the end phase 1 of the barrier 'full' of slot 0 of 'ring' is "
            "not over, which waits for 1024 bytes, in block (0, 0, 0) in f_kernel0",
        ),
    ),
    "a slot that nobody releases": (
        START + LOAD + WAIT + LOAD.replace("slot, %slot]", "slot, %phase1]").replace("%into", "%again"),
        (
            "k.py:10: deadlock in f_kernel0: thread (0, 0, 0) of block (0, 0, 0) waits here for phase 0 of the "
            "barrier 'empty' of slot 0 of 'ring', which lacks 1 of 1 arrival; 127 threads of block (0, 0, 0) ended "
            "at k.py:99",
        ),
    ),
    "the memory of a barrier": (
        START
        + f"""
  %c2048 = arith.constant 2048 : index
  %barrier = memref.view %shared[%c2048][] {{te.stage = "barrier"}} : memref<0xi8, {SHARED}> to memref<4xf32, {SHARED}>
  memref.store %one, %barrier[%c0] : memref<4xf32, {SHARED}> @33
""",
        (
            "k.py:33: write of a barrier's memory: 'barrier' at [0] by thread (0, 0, 0) of block (0, 0, 0) in "
            "f_kernel0 (127 more like this)",
        ),
    ),
    "a barrier that not all come to": (
        "scf.if %isFirst {\n tile.sync_warpgroup @60\n}",
        (
            "k.py:60: deadlock in f_kernel0: thread (0, 0, 0) of block (0, 0, 0) waits here at barrier 1, to which 1 "
            "of 128 threads have come; 127 threads of block (0, 0, 0) ended at k.py:99",
        ),
    ),
    "an arrival that nobody waits for": (
        ARRIVE + "@61\n",
        (
            "k.py:61: arrivals that do not add up: at the end 128 of 256 threads have come to barrier 9, and none waits "
            "for them, in block (0, 0, 0) in f_kernel0",
        ),
    ),
    "a second arrival": (
        ARRIVE + "@61\n nvvm.barrier.arrive id = %nine number_of_threads = %n @62\n",
        (
            "k.py:62: too many arrivals: thread (0, 0, 0) of block (0, 0, 0) in f_kernel0 arrives again at barrier 9, which "
            "is one of 256 threads and not over (128 more like this)",
        ),
    ),
    "an arrival as one of others": (
        ARRIVE + "@61\n %m = arith.constant 384 : i32\n nvvm.barrier.arrive id = %nine number_of_threads = %m @62\n",
        (
            "k.py:62: arrivals that do not add up: thread (0, 0, 0) of block (0, 0, 0) in f_kernel0 arrives as one of 384 "
            "threads at barrier 9, which is one of 256 threads and not over (128 more like this)",
        ),
    ),
    "an election that not all come to": (
        "scf.if %isFirst {\n %e = nvvm.elect.sync -> i1 @71\n}",
        (
            "k.py:71: deadlock in f_kernel0: thread (0, 0, 0) of block (0, 0, 0) waits here for its warp at elect; "
            "127 threads of block (0, 0, 0) ended at k.py:99",
        ),
    ),
    "memory that the block has not": (
        f"%o = tile.alloc at 65536 : {TILE}\n" + STORE.replace("%buffer", "%o"),
        (
            "k.py:20: out-of-bounds use of shared memory: tma_store of 1024 bytes 65536 bytes after the start of "
            "12288 bytes, in block (0, 0, 0) in f_kernel0",
        ),
    ),
    "a matmul of memory that the block has not": (
        f"%o = tile.alloc at 65536 : {FACTOR}\n" + PRODUCT.replace("%a", "%o") + COMMIT + READ,
        (
            "k.py:51: out-of-bounds read: wgmma of warpgroup 0 reads byte 65536 of shared memory, of which "
            "there are 12288, in block (0, 0, 0) in f_kernel0 (7 more like this)",
        ),
    ),
    "a matmul of what is not visible to it": (
        OPERAND + "tile.sync_warpgroup\n" + PRODUCT + COMMIT + READ,
        (
            "k.py:51: missing fence: wgmma of warpgroup 0 reads 'a' at byte 0, which thread (0, 0, 0) writes "
            "at k.py:50 with no tile.fence_async between, in block (0, 0, 0) in f_kernel0 (1023 more like this)",
        ),
    ),
    "a matmul of what other threads write": (
        OPERAND + "tile.fence_async\n" + PRODUCT + COMMIT + READ,
        (
            "k.py:51: race on shared memory: wgmma of warpgroup 0 reads 'a' at byte 0, which thread (0, 0, 0) "
            "writes at k.py:50 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (1023 more like this)",
        ),
    ),
    "a matmul of what nobody wrote": (
        OPERAND.replace("memref.store", "//") + PRODUCT + COMMIT + READ,
        (
            "k.py:51: read of unwritten memory: wgmma of warpgroup 0 reads 'a' at byte 0, in block (0, 0, 0) "
            "in f_kernel0 (1023 more like this)",
        ),
    ),
    "writing what is multiplied": (
        OPERAND
        + FENCED
        + PRODUCT
        + COMMIT
        + f"memref.store %zero, %raw_a[%t] : memref<4096xbf16, {SHARED}> @55\n tile.wgmma_wait 0\n",
        (
            "k.py:55: race on shared memory: thread (0, 0, 0) writes 'a' at [0], which wgmma of warpgroup 0 "
            "reads at k.py:51 with no barrier or wait between, in block (0, 0, 0) in f_kernel0 (127 more like this)",
        ),
    ),
    "sums of a group that is not ended": (
        OPERAND + FENCED + PRODUCT + READ + COMMIT + "tile.wgmma_wait 0\n",
        (
            "k.py:52: read of an accumulator that is not done: thread (0, 0, 0) of block (0, 0, 0) in f_kernel0 reads what "
            "wgmma at k.py:51 adds up, which is under way: its group is not ended (127 more like this)",
        ),
    ),
    "a product that nobody waits for": (
        OPERAND + FENCED + PRODUCT + COMMIT,
        (
            "k.py:51: wgmma that is not waited for: thread (0, 0, 0) of block (0, 0, 0) in f_kernel0 ends while "
            "what it began here may still use shared memory",
        ),
    ),
    "sums that are read after others were added": (
        OPERAND + FENCED + PRODUCT + MORE + COMMIT + READ,
        (
            "k.py:52: use of an accumulator that another wgmma has added to since: an accumulator is used once, in "
            "block (0, 0, 0) in f_kernel0 (127 more like this)",
        ),
    ),
    "sums that are added to twice": (
        OPERAND
        + FENCED
        + PRODUCT
        + MORE
        + MORE.replace("%s1", "%s2").replace("@53", "@54")
        + COMMIT
        + "tile.wgmma_wait 0\n",
        (
            "k.py:54: use of an accumulator that another wgmma has added to since: an accumulator is used once, in "
            "block (0, 0, 0) in f_kernel0",
        ),
    ),
    "a product that not all come to": (
        OPERAND + FENCED + "scf.if %isFirst {\n" + PRODUCT + COMMIT + "tile.wgmma_wait 0\n}",
        (
            "k.py:51: deadlock in f_kernel0: thread (0, 0, 0) of block (0, 0, 0) waits here for its warpgroup at "
            "wgmma; 127 threads of block (0, 0, 0) ended at k.py:99",
        ),
    ),
}


@pytest.mark.parametrize("defect", list(CASES))
def test_the_report_of(defect: str) -> None:
    body, expected = CASES[defect]
    with pytest.raises(SimulationError) as raised:
        run(body)
    assert raised.value.reports == expected
