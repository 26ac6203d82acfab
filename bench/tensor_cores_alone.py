"""What the tensor cores do at the power that a GPU may take when nothing is copied.

Products by warpgroups of numbers that stay in shared memory, with the tiles of a product of matrices. It is timed by
`bench/matmul.py OUT.json clock`.
"""

from __future__ import annotations

from typing import Any

from tile_gemm import build_text

ROWS, COLUMNS, STEP, SLOTS = 128, 256, 64, 4


def flops(blocks: int, steps: int) -> float:
    """Of a launch: each step of a block multiplies a tile of A by one of B."""
    return 2.0 * ROWS * COLUMNS * STEP * SLOTS * steps * blocks


def text(blocks: int, steps: int) -> str:
    """The module at the gpu stage: `steps` rounds through the slots of a ring that is filled once."""
    slots = range(SLOTS)
    fill = "\n".join(
        f"""
            %slot_a{s}, %slot_b{s} = tile.acquire %ring[%slot{s}, %phase] : !ring
            tile.tma_load %map_a[%zero, %at{s}] to %slot_a{s} signal %ring[%slot{s}] : !map_a, !a, !ring
            tile.tma_load %map_b[%zero, %at{s}] to %slot_b{s} signal %ring[%slot{s}] : !map_b, !b, !ring
            tile.commit %ring[%slot{s}] : !ring"""
        for s in slots
    )
    wait = "\n".join(
        f"""
          %a{s}, %b{s} = tile.wait %ring[%slot{s}, %phase] : !ring
          %my_a{s} = tile.part %a{s}[%warpgroup, %zero] : !a -> !my_a"""
        for s in slots
    )
    products = "\n".join(
        f"""
            %sum{s + 1} = tile.wgmma %my_a{s}, %b{s} into %sum{s} : !my_a, !b -> !sum
            tile.wgmma_commit
            tile.wgmma_wait 1"""
        for s in slots
    )
    release = "\n".join(f"          tile.release %ring[%slot{s}] : !ring" for s in slots)
    numbers = "\n".join(
        f"""
      %slot{s} = arith.constant {s} : i32
      %at{s} = arith.constant {s * STEP} : index"""
        for s in slots
    )
    columns = SLOTS * STEP
    return f"""
!a = !tile.buffer<{ROWS}x{STEP}xbf16, swizzle = 128>
!b = !tile.buffer<{COLUMNS}x{STEP}xbf16, swizzle = 128>
!my_a = !tile.buffer<64x{STEP}xbf16, swizzle = 128>
!map_a = !tile.tensor_map<{ROWS}x{STEP}xbf16, swizzle = 128>
!map_b = !tile.tensor_map<{COLUMNS}x{STEP}xbf16, swizzle = 128>
!ring = !tile.ring<{SLOTS}, !a, !b>
!sum = !tile.accumulator<64x{COLUMNS}xf32>
!fragment = !tile.fragment<64x{COLUMNS}xf32>
!A = memref<{ROWS}x{columns}xbf16>
!B = memref<{COLUMNS}x{columns}xbf16>
!C = memref<2x{64 * COLUMNS}xf32>
module attributes {{gpu.container_module}} {{
  gpu.module @alone_kernels {{
    gpu.func @alone_kernel0(%map_a: !map_a, %map_b: !map_b, %C: !C) kernel
        attributes {{known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: {blocks}, 1, 1>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %steps = arith.constant {steps} : index
      %phase = arith.constant 0 : i32
{numbers}
      %ring = tile.ring consumers 2 : !ring
      tile.roles {{
        tile.role "producer" warps 4 registers 40 {{
          tile.elect role {{
{fill}
          }}
        }}
        tile.role "consumer" warps 8 registers 232 {{
        ^bb0(%warpgroup: index):
{wait}
          %first = tile.wgmma %my_a0, %b0 : !my_a, !b -> !sum
          tile.wgmma_commit
          %last = scf.for %i = %zero to %steps step %one iter_args(%sum0 = %first) -> (!sum) {{
{products}
            scf.yield %sum{SLOTS} : !sum
          }}
          %total = tile.wgmma_wait 0 for %last : !sum -> !fragment
{release}
          %block = gpu.block_id x
          %keeps = arith.cmpi eq, %block, %zero : index
          scf.if %keeps {{
            tile.save_fragment %total to %C[%warpgroup] : !fragment, !C
          }}
        }}
      }}
      gpu.return
    }}
  }}
  func.func @alone(%A: !A {{te.name = "A", te.dtype = bf16}}, %B: !B {{te.name = "B", te.dtype = bf16}},
      %C: !C {{te.name = "C", te.dtype = f32, te.output}}) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {blocks} : index
    %threads = arith.constant 384 : index
    %map_a = tile.encode %A : !A -> !map_a
    %map_b = tile.encode %B : !B -> !map_b
    gpu.launch_func @alone_kernels::@alone_kernel0 blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
        args(%map_a : !map_a, %map_b : !map_b, %C : !C)
    return
  }}
}}
"""


def build(blocks: int, steps: int, target: str = "cuda -arch=sm_90a") -> Any:
    """The function of A (128 x 256), B (256 x 256) and of what the first block has added up, as its registers lie."""
    return build_text(text(blocks, steps), "alone", target)
