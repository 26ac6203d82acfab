"""A matrix product in the dialect tile, written by hand at the gpu stage, beside torch on one GPU.

`python bench/tile_gemm.py OUT.json [SHAPES ...]`, each shape as 8192x8192x8192: what a schedule has to come out as.
Persistent blocks in clusters, one role that copies and one that multiplies, TMA copies with multicast, products on
warpgroups, stores in bulk. Times are medians of events, inputs random, the L2 cache flushed before every run; each
result, written over NaN, is checked against float64 in the same run, with the error of torch's own as the measure.
`Gemm(...).text()` is the module; importing this needs neither a GPU nor torch.
"""

# ruff: noqa: E501

from __future__ import annotations

import ctypes
import json
import statistics
import sys
from dataclasses import asdict, dataclass
from typing import Any

# Bytes of an element, the accumulator's and the result's types.
TYPES = {
    "bf16": (2, "f32", "bf16"),
    "f16": (2, "f32", "f16"),
    "tf32": (4, "f32", "f32"),
    "f8E4M3FN": (1, "f32", "bf16"),
    "i8": (1, "i32", "i32"),
}
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "i32": 4}
# CUtensorMapDataType
ENCODED = {"bf16": 9, "f16": 6, "f32": 7, "i32": 3, "tf32": 11, "f8E4M3FN": 0, "i8": 0}
SPAN = 128
PIPELINE = "builtin.module(plan-tile-memory,tilewright-pipeline{from=gpu to=nvvm arch=sm_90a})"


@dataclass(frozen=True, slots=True)
class Gemm:
    """C[m, n] = sum over k of A[m, k] B[k, n], with the choices of one kernel.

    `transpose_a` says that A is stored as [k, m], `transpose_b` that B is stored as [n, k]. With `promote` the tensor
    cores, which keep few bits of sums of 8-bit floats, sum over one step alone, and other instructions add these up.
    The result goes through shared memory `store_n` columns at a time, or all at once.
    """

    m: int
    n: int
    k: int
    dtype: str = "bf16"
    transpose_a: bool = False
    transpose_b: bool = True
    block_n: int = 256
    warpgroups: int = 2
    depth: int = 3
    cluster: int = 2
    group: int = 8
    inflight: int = 1
    copy_registers: int = 40
    product_registers: int = 232
    promote: bool = False
    store_n: int = 0
    blocks: int = 132

    @property
    def block_m(self) -> int:
        return 64 * self.warpgroups

    @property
    def block_k(self) -> int:
        return SPAN // TYPES[self.dtype][0]

    @property
    def threads(self) -> int:
        return 128 * (1 + self.warpgroups)

    def check(self) -> None:
        """Raises ValueError for a shape that is no multiple of the kernel's tiles."""
        tile = (self.block_m * self.cluster, self.block_n, self.block_k)
        if any(extent % part for extent, part in zip((self.m, self.n, self.k), tile, strict=True)):
            raise ValueError(f"expected a shape of multiples of {tile}, got {(self.m, self.n, self.k)}")

    def boxes(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """What one instruction copies of A, B and C."""
        a = (self.block_k, self.block_k) if self.transpose_a else (self.block_m, self.block_k)
        b = (self.block_n // self.cluster, self.block_k) if self.transpose_b else (self.block_k, self.block_k)
        return a, b, (64, SPAN // BYTES[TYPES[self.dtype][2]])

    def shapes(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """How A, B and C are stored."""
        a = (self.k, self.m) if self.transpose_a else (self.m, self.k)
        b = (self.n, self.k) if self.transpose_b else (self.k, self.n)
        return a, b, (self.m, self.n)

    def text(self) -> str:
        """The module at the gpu stage."""
        self.check()
        _, total, result = TYPES[self.dtype]
        box_a, box_b, box_c = self.boxes()
        bm, bn, bk, wide = self.block_m, self.block_n, self.block_k, f", swizzle = {SPAN}"

        def buffer(rows: int, columns: int, dtype: str, more: str = "") -> str:
            return f"!tile.buffer<{rows}x{columns}x{dtype}{wide}{more}>"

        def tensor_map(box: tuple[int, int], dtype: str) -> str:
            return f"!tile.tensor_map<{box[0]}x{box[1]}x{dtype}{wide}>"

        half = bn // self.cluster
        a = buffer(bk, bm, self.dtype) if self.transpose_a else buffer(bm, bk, self.dtype)
        b = buffer(bn, bk, self.dtype) if self.transpose_b else buffer(bk, bn, self.dtype)
        # One panel's rows are all there is between two panels.
        store_n = self.store_n or bn
        of_c = f", panel_rows = {bm}" if store_n > box_c[1] and bm > 64 else ""
        aliases = {
            "a": a,
            "b": b,
            "my_a": buffer(bk, 64, self.dtype) if self.transpose_a else buffer(64, bk, self.dtype),
            "half_b": buffer(half, bk, self.dtype) if self.transpose_b else buffer(bk, half, self.dtype),
            "c": buffer(bm, store_n, result),
            "my_c": buffer(64, store_n, result, of_c),
            "map_a": tensor_map(box_a, self.dtype),
            "map_b": tensor_map(box_b, self.dtype),
            "map_c": tensor_map(box_c, result),
            "ring": f"!tile.ring<{self.depth}, !a, !b>",
            "sum": f"!tile.accumulator<64x{bn}x{total}>",
            "fragment": f"!tile.fragment<64x{bn}x{total}>",
        }
        at_a = "%k0, %m0" if self.transpose_a else "%m0, %k0"
        at_b = "%n1, %k0" if self.transpose_b else "%k0, %n1"
        part_a = "%zero, %warpgroup" if self.transpose_a else "%warpgroup, %zero"
        part_b = "%rank, %zero" if self.transpose_b else "%zero, %rank"
        majors = (" mn_major" if self.transpose_a else "", "" if self.transpose_b else " mn_major")
        multicast = " multicast x" if self.cluster > 1 else ""

        def products(into: str, name: str, slot: str, phase: str) -> str:
            return f"""
          %a_{name}, %b_{name} = tile.wait %ring[{slot}, {phase}] : !ring
          %my_{name} = tile.part %a_{name}[{part_a}] : !a -> !my_a
          %sum_{name} = tile.wgmma %my_{name}{majors[0]}, %b_{name}{majors[1]}{into} : !my_a, !b -> !sum
          tile.wgmma_commit"""

        place = """
          %group = arith.divui %tile, %group_tiles : index
          %first_m = arith.muli %group, %group_rows : index
          %left = arith.subi %tiles_m, %first_m : index
          %rows = arith.minui %left, %group_rows : index
          %in_group = arith.remui %tile, %group_tiles : index
          %row_in_group = arith.remui %in_group, %rows : index
          %row = arith.addi %first_m, %row_in_group : index
          %column = arith.divui %in_group, %rows : index
          %cluster_m = arith.muli %row, %blocks : index
          %block_row = arith.addi %cluster_m, %rank : index
          %m0 = arith.muli %block_row, %block_m : index
          %n0 = arith.muli %column, %block_n : index"""
        stored = "f32" if self.dtype == "tf32" else self.dtype
        shapes = zip(self.shapes(), (stored, stored, result), strict=True)
        tensors = [f"memref<{rows}x{columns}x{dtype}>" for (rows, columns), dtype in shapes]
        constants = {
            "zero": 0,
            "one": 1,
            "blocks": self.cluster,
            "block_m": bm,
            "block_n": bn,
            "block_k": bk,
            "half": half,
            "warpgroup_rows": 64,
            "group_rows": self.group,
            "group_tiles": self.group * (self.n // bn),
            "tiles_m": self.m // (bm * self.cluster),
            "tiles": (self.m // (bm * self.cluster)) * (self.n // bn),
            "steps": self.k // bk,
        }
        if self.inflight:
            wait, release, last = f"tile.wgmma_wait {self.inflight}", "%before", "tile.release %ring[%last#3] : !ring"
        else:
            wait, release, last = "tile.wgmma_wait 0", "%slot1", ""
        first_release = "" if self.inflight else "tile.wgmma_wait 0\n          tile.release %ring[%slot] : !ring"
        carried, first, into, after = "!sum", "%sum_first", " into %sum", "%sum_next"
        total = "%total = tile.wgmma_wait 0 for %last#0 : !sum -> !fragment"
        if self.promote:
            carried, first, into, after = "!fragment", "%part_first", "", "%added"
            wait = """%part = tile.wgmma_wait 0 for %sum_next : !sum -> !fragment
            %added = tile.map %sum, %part : !fragment, !fragment -> !fragment {
            ^bb0(%x: f32, %y: f32, %i: index, %j: index):
              %z = arith.addf %x, %y : f32
              tile.yield %z : f32
            }"""
            first_release = "%part_first = tile.wgmma_wait 0 for %sum_first : !sum -> !fragment"
            first_release += "\n          tile.release %ring[%slot] : !ring"
            release, last, total = "%slot1", "", ""
        sums = "%last#0" if self.promote else "%total"
        stores = "".join(
            f"""
          tile.wait_stores 0 read
          tile.sync_warpgroup
          tile.store_fragment {sums} from {column} to %my_c : !fragment, !my_c
          tile.fence_async
          tile.sync_warpgroup
          %columns_{column} = arith.constant {column} : index
          %n_{column} = arith.addi %n0, %columns_{column} : index
          tile.elect warpgroup {{
            tile.tma_store %my_c to %map_c[%m1, %n_{column}] : !my_c, !map_c
            tile.commit_stores
          }}"""
            for column in range(0, bn, store_n)
        )
        return f"""{"".join(f"!{name} = {text}{chr(10)}" for name, text in aliases.items())}
module attributes {{gpu.container_module}} {{
  gpu.module @gemm_kernels {{
    gpu.func @gemm_kernel0(%map_a: !map_a, %map_b: !map_b, %map_c: !map_c) kernel
        attributes {{known_block_size = array<i32: {self.threads}, 1, 1>, known_cluster_size = array<i32: {self.cluster}, 1, 1>}} {{
{"".join(f"      %{name} = arith.constant {value} : index{chr(10)}" for name, value in constants.items())}\
      %slot0 = arith.constant 0 : i32
      %ring = tile.ring consumers {self.warpgroups} : !ring
      %c = tile.alloc : !c
      %rank = gpu.cluster_block_id x
      %cluster = gpu.cluster_id x
      %clusters = gpu.cluster_dim x
      tile.roles {{
      tile.role "copy" warps 4 registers {self.copy_registers} {{
        tile.elect role {{
        scf.for %tile = %cluster to %tiles step %clusters iter_args(%slot = %slot0, %phase = %slot0) -> (i32, i32) {{{place}
          %rank_n = arith.muli %rank, %half : index
          %n1 = arith.addi %n0, %rank_n : index
          %next:2 = scf.for %step = %zero to %steps step %one iter_args(%slot1 = %slot, %phase1 = %phase) -> (i32, i32) {{
            %k0 = arith.muli %step, %block_k : index
            %a, %b = tile.acquire %ring[%slot1, %phase1] : !ring
            tile.tma_load %map_a[{at_a}] to %a signal %ring[%slot1] : !map_a, !a, !ring
            %half_b = tile.part %b[{part_b}] : !b -> !half_b
            tile.tma_load %map_b[{at_b}] to %half_b signal %ring[%slot1]{multicast} : !map_b, !half_b, !ring
            tile.commit %ring[%slot1] : !ring
            %slot2, %phase2 = tile.advance %ring[%slot1, %phase1] : !ring
            scf.yield %slot2, %phase2 : i32, i32
          }}
          scf.yield %next#0, %next#1 : i32, i32
        }}
        }}
      }}
      tile.role "products" warps {4 * self.warpgroups} registers {self.product_registers} {{
      ^bb0(%warpgroup: index):
        %my_c = tile.part %c[%warpgroup, %zero] : !c -> !my_c
        scf.for %tile = %cluster to %tiles step %clusters iter_args(%slot = %slot0, %phase = %slot0) -> (i32, i32) {{{place}
{products("", "first", "%slot", "%phase")}
          {first_release}
          %slot_first, %phase_first = tile.advance %ring[%slot, %phase] : !ring
          %last:4 = scf.for %step = %one to %steps step %one
              iter_args(%sum = {first}, %slot1 = %slot_first, %phase1 = %phase_first, %before = %slot) -> ({carried}, i32, i32, i32) {{
{products(into, "next", "%slot1", "%phase1")}
            {wait}
            tile.release %ring[{release}] : !ring
            %slot2, %phase2 = tile.advance %ring[%slot1, %phase1] : !ring
            scf.yield {after}, %slot2, %phase2, %slot1 : {carried}, i32, i32, i32
          }}
          {total}
          {last}
          %my_row = arith.muli %warpgroup, %warpgroup_rows : index
          %m1 = arith.addi %m0, %my_row : index{stores}
          scf.yield %last#1, %last#2 : i32, i32
        }}
        tile.wait_stores 0
      }}
      }}
      gpu.return
    }}
  }}
  func.func @gemm(%a: {tensors[0]} {{te.name = "A", te.dtype = {stored}}}, %b: {tensors[1]} {{te.name = "B", te.dtype = {stored}}}, %c: {tensors[2]} {{te.name = "C", te.dtype = {result}, te.output}}) {{
    %one = arith.constant 1 : index
    %cluster = arith.constant {self.cluster} : index
    %blocks = arith.constant {self.blocks // self.cluster * self.cluster} : index
    %threads = arith.constant {self.threads} : index
    %map_a = tile.encode %a : {tensors[0]} -> !map_a
    %map_b = tile.encode %b : {tensors[1]} -> !map_b
    %map_c = tile.encode %c : {tensors[2]} -> !map_c
    gpu.launch_func @gemm_kernels::@gemm_kernel0 clusters in (%cluster, %one, %one) blocks in (%blocks, %one, %one)
        threads in (%threads, %one, %one) args(%map_a : !map_a, %map_b : !map_b, %map_c : !map_c)
    return
  }}
}}
"""


def build(gemm: Gemm) -> Any:
    """The function of A, B and C."""
    return build_text(gemm.text(), "gemm", "cuda -arch=sm_90a")


def build_text(text: str, name: str, target: str) -> Any:
    """The function that `tw.build` makes of a module of the dialect tile at the gpu stage."""
    from mlir import ir
    from mlir.passmanager import PassManager

    import tilewright as tw
    from tilewright.ir import context

    with context():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(plan-tile-memory)").run(module.operation)
    return tw.build(module, target=target, name=name, start="gpu")


class Jitted:
    """A `Gemm` that the driver's own compiler makes of the PTX, to see what ptxas and nvJitLink cost."""

    def __init__(self, gemm: Gemm) -> None:
        from mlir import ir
        from mlir.passmanager import PassManager

        from tilewright.backend.cubin import emit_ptx
        from tilewright.ir import context
        from tilewright.runtime import cuda_driver

        self.gemm, self.driver = gemm, cuda_driver
        with context():
            module = ir.Module.parse(gemm.text())
            PassManager.parse(PIPELINE).run(module.operation)
            ptx = emit_ptx(module)
            function = next(op for op in module.body if op.operation.name == "func.func")
            launch = next(op for op in function.regions[0].blocks[0] if op.operation.name == "gpu.launch_func")
            shared = next(op for op in launch.operands if str(op.type) == "i32").owner.attributes["value"]
            self.shared_bytes = ir.IntegerAttr(shared).value
        self.module = cuda_driver.call("cuModuleLoadData", ptx.encode() + b"\0")
        self.function = cuda_driver.call("cuModuleGetFunction", self.module, b"gemm_kernel0")
        limit = cuda_driver.module().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        cuda_driver.call("cuFuncSetAttribute", self.function, limit, self.shared_bytes)

    def encode(self, address: int, shape: tuple[int, int], box: tuple[int, int], dtype: str) -> Any:
        """The tensor map of a row-major tensor."""
        cuda = self.driver.module()
        wide, narrow = cuda.cuuint64_t, cuda.cuuint32_t
        return self.driver.call(
            "cuTensorMapEncodeTiled",
            cuda.CUtensorMapDataType(ENCODED[dtype]),
            2,
            address,
            [wide(shape[1]), wide(shape[0])],
            [wide(shape[1] * (TYPES[dtype][0] if dtype in TYPES else BYTES[dtype]))],
            [narrow(box[1]), narrow(box[0])],
            [narrow(1), narrow(1)],
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cuda.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
            cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            cuda.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )

    def bind(self, *tensors: Any) -> Any:
        """A function that launches on these tensors and the current stream."""

        import torch

        dtypes = (self.gemm.dtype, self.gemm.dtype, TYPES[self.gemm.dtype][2])
        maps = [
            self.encode(tensor.data_ptr(), shape, box, dtype)
            for tensor, shape, box, dtype in zip(tensors, self.gemm.shapes(), self.gemm.boxes(), dtypes, strict=True)
        ]
        params = (ctypes.c_void_p * 3)(*(int(one.getPtr()) for one in maps))
        blocks = self.gemm.blocks // self.gemm.cluster * self.gemm.cluster
        launch_kernel, stream = self.driver.module().cuLaunchKernel, torch.cuda.current_stream().cuda_stream
        where = ctypes.addressof(params)

        def launch() -> None:
            (code,) = launch_kernel(
                self.function, blocks, 1, 1, self.gemm.threads, 1, 1, self.shared_bytes, stream, where, 0
            )
            if int(code):
                raise RuntimeError(f"cuLaunchKernel: {code.name}")

        launch.keeps = (maps, params, tensors)  # pyright: ignore[reportFunctionMemberAccess]
        return launch


def inputs(gemm: Gemm) -> tuple[Any, Any, Any]:
    """Random A and B, and C full of what is no result."""
    import torch

    kinds = {"bf16": torch.bfloat16, "f16": torch.float16, "tf32": torch.float32, "f8E4M3FN": torch.float8_e4m3fn}
    kinds |= {"f32": torch.float32, "i32": torch.int32}
    shape_a, shape_b, shape_c = gemm.shapes()
    if gemm.dtype == "i8":
        a, b = (torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8) for shape in (shape_a, shape_b))
        return a, b, torch.full(shape_c, 1 << 30, device="cuda", dtype=torch.int32)
    a, b = (torch.randn(shape, device="cuda").to(kinds[gemm.dtype]) for shape in (shape_a, shape_b))
    return a, b, torch.full(shape_c, float("nan"), device="cuda", dtype=kinds[TYPES[gemm.dtype][2]])


def measure(gemm: Gemm, flush: Any, *, jit: bool = False, repeat: int = 30) -> dict[str, Any]:
    """One kernel beside torch's."""
    import torch

    from tilewright.backend.cubin import link

    a, b, c = inputs(gemm)
    left, right = a.t() if gemm.transpose_a else a, b.t() if gemm.transpose_b else b
    result: dict[str, Any] = {**asdict(gemm), "jit": jit}
    if jit:
        launch = Jitted(gemm).bind(a, b, c)
    else:
        function = build(gemm)
        function(a, b, c)
        launch = lambda: function(a, b, c)  # noqa: E731
        cubin = link(function.ptx, "sm_90a")
        result["notes"], result["registers"] = cubin.notes, [one.registers for one in cubin.resources.values()]
    launch()
    torch.cuda.synchronize()
    if gemm.dtype == "i8":
        peer = lambda: torch._int_mm(left, right)  # noqa: E731
    elif gemm.dtype == "f8E4M3FN":
        one = torch.ones((), device="cuda")
        peer = lambda: torch._scaled_mm(left, right, one, one, out_dtype=torch.bfloat16)  # noqa: E731
    else:
        peer = lambda: left @ right  # noqa: E731
    theirs = None
    try:
        theirs = peer()
    except RuntimeError as error:  # layouts that torch has no kernel for
        result["torch"] = str(error).splitlines()[0]
    exact = left.double() @ right.double()
    result["error"] = error = (c.double() - exact).abs().max().item()
    bound = 1e-6 * exact.abs().max().item()
    if theirs is not None:
        result["torch_error"] = peers = (theirs.double() - exact).abs().max().item()
        bound += 2 * peers
    else:
        bound += 2.0**-8 * exact.abs().max().item()
    # NaN is no number that is less.
    result["right"] = error <= bound if gemm.dtype != "i8" else error == 0
    del exact
    operations = 2 * gemm.m * gemm.n * gemm.k

    def median_ms(call: Any) -> float:
        events = []
        for i in range(repeat + 3):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.sum()
            begin.record()
            call()
            end.record()
            if i >= 3:
                events.append((begin, end))
        torch.cuda.synchronize()
        return statistics.median(begin.elapsed_time(end) for begin, end in events)

    result["ms"] = median_ms(launch)
    result["TFLOPs"] = operations / result["ms"] / 1e9
    if theirs is not None:
        result["torch_ms"] = median_ms(peer)
        result["torch_TFLOPs"] = operations / result["torch_ms"] / 1e9
        result["of_torch"] = result["torch_ms"] / result["ms"]
    return result


def main() -> None:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.zeros(1, device="cuda")
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    flush = torch.zeros(64 << 20, dtype=torch.float32, device="cuda")
    cases = [(Gemm(256, 256, 64, blocks=blocks), False)]
    shapes = sys.argv[2:] or ["4096x4096x4096", "8192x8192x8192"]
    for m, n, k in (map(int, shape.split("x")) for shape in shapes):
        cases += [(Gemm(m, n, k, blocks=blocks), False), (Gemm(m, n, k, blocks=blocks), True)]
        cases += [(Gemm(m, n, k, blocks=blocks, depth=4, block_n=192 if n % 192 == 0 else 128), False)]
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            layout = Gemm(4096, 4096, 4096, transpose_a=transpose_a, transpose_b=transpose_b, blocks=blocks)
            cases.append((layout, False))
    for dtype in ("f16", "tf32", "f8E4M3FN", "i8"):
        store_n = 0 if BYTES[TYPES[dtype][2]] == 2 else 64
        cases.append(
            (Gemm(8192, 8192, 8192, dtype=dtype, store_n=store_n, depth=4 if store_n else 3, blocks=blocks), False)
        )
    promoted = Gemm(8192, 8192, 8192, dtype="f8E4M3FN", block_n=128, depth=4, promote=True, blocks=blocks)
    cases.append((promoted, False))
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "runs": []}
    for gemm, jit in cases:
        try:
            result = measure(gemm, flush, jit=jit)
        except Exception as error:
            result = {**asdict(gemm), "jit": jit, "failed": f"{type(error).__name__}: {error}"}
        results["runs"].append(result)
        print(json.dumps(result), flush=True)
    with open(sys.argv[1], "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    # Sums of 8-bit floats that stay in the tensor cores have few bits, as torch's fast ones.
    exact = [run for run in results["runs"] if run["dtype"] != "f8E4M3FN" or run["promote"]]
    if not all(result.get("right") for result in exact):
        sys.exit("a result is wrong")


if __name__ == "__main__":
    main()
