// RUN: tilewright-opt %s --convert-tile-to-sim -split-input-file -verify-diagnostics

func.func @k(%state: !llvm.ptr, %params: !llvm.ptr) attributes {tilewright.sim_kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  // expected-error@+1 {{expected an operation that the simulator runs, got 'nvvm.bar.warp.sync'}}
  nvvm.bar.warp.sync %all : i32
  return
}

// -----

// A relaxed arrival orders nothing.
func.func @k(%state: !llvm.ptr, %params: !llvm.ptr, %barrier: !llvm.ptr<3>) attributes {tilewright.sim_kernel} {
  // expected-error@+1 {{expected an operation that the simulator runs, got 'nvvm.mbarrier.arrive'}}
  nvvm.mbarrier.arrive %barrier {relaxed = true, scope = #nvvm.mem_scope<cta>} : !llvm.ptr<3>
  return
}

// -----

// No kernel that convert-gpu-to-sim has made: it is not called with a state.
gpu.module @kernels {
  gpu.func @k(%a: !tile.buffer<64x64xbf16, swizzle = 128>, %sum: !tile.accumulator<64x64xf32>) {
    // expected-error@+1 {{'tile.wgmma' op expected to be in a kernel as convert-gpu-to-sim makes it, got it elsewhere}}
    %more = tile.wgmma %a, %a into %sum : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
    gpu.return
  }
}
