// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm{arch=sm_90a}))' | FileCheck %s

// f32 is three products of tf32 by the warps, also on a GPU with wgmma.
gpu.module @kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}

  // Both operands have what is summed over in their rows: ldmatrix gives 16 bytes of a row, four elements.
  // CHECK-LABEL: llvm.func @along_rows
  // CHECK-NOT: tilewright.matmuls_by_warps
  gpu.func @along_rows() kernel {
    %a = tile.alloc at 0 : <64x8xf32, swizzle = 32>
    %b = tile.alloc at 4096 : <8x8xf32, swizzle = 32>
    // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32,
    // What is rounded to tf32, and what is left.
    // CHECK: llvm.mlir.constant(4096 : i32)
    // CHECK: %[[MORE:.*]] = llvm.add
    // CHECK: %[[ROUNDED:.*]] = llvm.and %[[MORE]], %{{.*}}
    // CHECK: llvm.fsub
    // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 2 : i32,
    // CHECK-COUNT-3: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
    // CHECK-COUNT-4: llvm.fadd
    // CHECK-NOT: wgmma
    %sum = tile.wgmma %a, %b : !tile.buffer<64x8xf32, swizzle = 32>, !tile.buffer<8x8xf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    tile.wgmma_commit
    %f = tile.wgmma_wait 0 for %sum : !tile.accumulator<64x8xf32> -> !tile.fragment<64x8xf32>
    gpu.return
  }

  // Operand A in registers, whose neighbours are what lanes have of it: lanes load neighbours of operand B, too. The sums of
  // four instructions are added up at once.
  // CHECK-LABEL: llvm.func @registers
  gpu.func @registers(%x: f32) kernel {
    %a = tile.assemble %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : f32 -> !tile.fragment<64x64xf32>
    %b = tile.alloc at 0 : <64x8xf32, swizzle = 32>
    // CHECK-NOT: nvvm.ldmatrix
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    // CHECK-COUNT-12: nvvm.mma.sync
    // CHECK-COUNT-4: llvm.fadd
    // CHECK-COUNT-12: nvvm.mma.sync
    // CHECK-COUNT-4: llvm.fadd
    // CHECK-NOT: nvvm.mma.sync
    // CHECK: llvm.return
    %sum = tile.wgmma %a, %b mn_major : !tile.fragment<64x64xf32>, !tile.buffer<64x8xf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // Operand A whose rows are summed over.
  // CHECK-LABEL: llvm.func @across
  gpu.func @across() kernel {
    %a = tile.alloc at 0 : <8x64xf32, swizzle = 128>
    %b = tile.alloc at 4096 : <8x8xf32, swizzle = 32>
    // CHECK-NOT: nvvm.ldmatrix
    // CHECK-COUNT-6: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    // CHECK-NOT: llvm.load
    // CHECK-COUNT-3: nvvm.mma.sync
    %sum = tile.wgmma %a mn_major, %b : !tile.buffer<8x64xf32, swizzle = 128>, !tile.buffer<8x8xf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // In the kernels of warpgroups nothing changes.
  // CHECK-LABEL: llvm.func @of_warpgroups
  gpu.func @of_warpgroups() kernel {
    %a = tile.alloc at 0 : <64x8xtf32, swizzle = 32>
    %b = tile.alloc at 4096 : <8x8xtf32, swizzle = 32>
    // CHECK-NOT: nvvm.mma.sync
    // CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32
    // CHECK: nvvm.wgmma.commit.group.sync.aligned
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
    %sum = tile.wgmma %a, %b : !tile.buffer<64x8xtf32, swizzle = 32>, !tile.buffer<8x8xtf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    tile.wgmma_commit
    %f = tile.wgmma_wait 0 for %sum : !tile.accumulator<64x8xf32> -> !tile.fragment<64x8xf32>
    gpu.return
  }
}
