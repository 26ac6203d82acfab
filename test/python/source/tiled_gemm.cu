
extern __shared__ __align__(1024) unsigned char shared_memory[];

// 4 x 4 x 1 blocks of 4 x 4 x 1 threads
extern "C" __global__ void __launch_bounds__(16) mmult_kernel0(
    const float (*__restrict__ A)[16],
    const float (*__restrict__ B)[16],
    float (*__restrict__ C)[16]) {
  float (&A_shared)[4][16] = *reinterpret_cast<float (*)[4][16]>(shared_memory + 0);
  float (&B_shared)[16][4] = *reinterpret_cast<float (*)[16][4]>(shared_memory + 256);
  const int bx = blockIdx.x;  // x.outer of stage C, 02_tiled_gemm.py:32
  const int by = blockIdx.y;  // y.outer of stage C, 02_tiled_gemm.py:33
  const int tx = threadIdx.x;  // x.inner of stage C, 02_tiled_gemm.py:34
  const int ty = threadIdx.y;  // y.inner of stage C, 02_tiled_gemm.py:35
  for (int ax0_ax1_fused_outer_outer = 0; ax0_ax1_fused_outer_outer < 4; ++ax0_ax1_fused_outer_outer) {  // A.shared.ax0.ax1.fused.outer.outer, 02_tiled_gemm.py:30
    const int i = ty * 4 + tx;
    // 02_tiled_gemm.py:28: AS = s.cache_read(A, "shared", [C])
    A_shared[ax0_ax1_fused_outer_outer][i] = A[ax0_ax1_fused_outer_outer + bx * 4][i];
  }
  for (int ax0_ax1_fused_outer_outer = 0; ax0_ax1_fused_outer_outer < 4; ++ax0_ax1_fused_outer_outer) {  // B.shared.ax0.ax1.fused.outer.outer, 02_tiled_gemm.py:31
    const int i = ax0_ax1_fused_outer_outer * 4 + ty;
    // 02_tiled_gemm.py:29: BS = s.cache_read(B, "shared", [C])
    B_shared[i][tx] = B[i][by * 4 + tx];
  }
  float C_local;
  // 02_tiled_gemm.py:24: C = te.compute((M, N), lambda x, y: te.sum(A[x, k] * B[k, y], axis=k), name="C")
  C_local = 0.0f;
  __syncthreads();
  for (int k = 0; k < 16; ++k) {  // C.k, 02_tiled_gemm.py:24
    C_local = C_local + A_shared[tx][k] * B_shared[k][ty];
  }
  C[bx * 4 + tx][by * 4 + ty] = C_local;
}
