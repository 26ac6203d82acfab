// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(annotate-unrolled-loops)))' | FileCheck %s

// The steps of a tile stay a loop where a result of the tile before is held and stored; a fragment that is only added to
// does not count.
!a = !tile.buffer<64x64xbf16, swizzle = 128>
!sum = !tile.accumulator<64x64xf32>
!held = !tile.fragment<64x64xbf16>
!part = !tile.fragment<64x64xf32>
// CHECK: #[[STAYS:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[STAYS]]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @held
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NEXT: tile.wgmma
  // CHECK: } {llvm.loop_annotation = #[[LOOP]]}
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @held(%a: !a, %c: !a, %first: !sum, %nothing: !held) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %left = scf.for %tile = %c0 to %c4 step %c1 iter_args(%held = %nothing) -> (!held) {
      tile.store_fragment %held to %c : !held, !a
      %all = scf.for %step = %c0 to %c4 step %c1 iter_args(%sum = %first) -> (!sum) {
        %more = tile.wgmma %a, %a into %sum : !a, !a -> !sum
        scf.yield %more : !sum
      }
      %made = tile.map -> !held {
      ^bb0(%row: index, %column: index):
        %zero = arith.constant 0.0 : bf16
        tile.yield %zero : bf16
      }
      scf.yield %made : !held
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @promoted
  // CHECK-NOT: loop_annotation
  // CHECK: gpu.return
  gpu.func @promoted(%a: !a, %first: !sum, %none: !part) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %sums = scf.for %part = %c0 to %c4 step %c1 iter_args(%sum = %none) -> (!part) {
      %all = scf.for %step = %c0 to %c4 step %c1 iter_args(%products = %first) -> (!sum) {
        %more = tile.wgmma %a, %a into %products : !a, !a -> !sum
        scf.yield %more : !sum
      }
      %done = tile.wgmma_wait 0 for %all : !sum -> !part
      scf.yield %done : !part
    }
    gpu.return
  }
}
