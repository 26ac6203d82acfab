// RUN: tilewright-opt %s --convert-gpu-to-sim --verify-diagnostics

gpu.module @m_kernels {
  gpu.func @m_kernel0(%A: memref<64xvector<1x1xf64>>) kernel {
    %t = gpu.thread_id x
    %x = memref.load %A[%t] : memref<64xvector<1x1xf64>>
    %c = arith.constant dense<0.0> : vector<1x2xf64>
    // expected-error @below {{expected an mma that the simulator computes, got 'vector<1x1xf64>' to 'vector<1x2xf64>'}}
    %d = nvgpu.mma.sync(%x, %x, %c) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    gpu.return
  }
}
