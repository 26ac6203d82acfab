//===- TilePrelude.cpp - what printed kernels of asynchronous tiles need --===//
//
// The one table of instructions that CUDA C++ has no word for: TMA, mbarriers, wgmma, named barriers, clusters. A
// function each, called as CUTLASS calls it where that has one. wgmma's functions are of a shape and of types, and are
// made by wgmmaFunction.
//
//===----------------------------------------------------------------------===//
#include "passes/gpu-to-source/TilePrelude.h"

#include "dialects/Target/Limits.h"

namespace tilewright::source {

namespace {

struct TilePiece {
  const char *name, *text;
};

/// In the order in which they stand.
constexpr TilePiece tilePieces[] = {
    {"shared_address", R"(
__device__ __forceinline__ unsigned shared_address(const void *shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
)"},
    // ---------------------------------------------------------------- threads
    {"elect_one_sync", R"(
// Whether this thread is the one of its warp that the hardware elects.
__device__ __forceinline__ bool elect_one_sync() {
  unsigned elected;
  asm volatile("{\n.reg .pred p;\n.reg .b32 lane;\nelect.sync lane|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
  return elected;
}
)"},
    {"warpgroup_reg_alloc", R"(
// Each thread of the warpgroup may have so many registers from here on.
template <int Registers> __device__ __forceinline__ void warpgroup_reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
)"},
    {"warpgroup_reg_dealloc", R"(
// Each thread of the warpgroup gives back all but so many registers.
template <int Registers> __device__ __forceinline__ void warpgroup_reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
)"},
    {"named_barrier_sync", R"(
// Waits until so many threads, which are whole warps, are at a barrier of the block.
__device__ __forceinline__ void named_barrier_sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
)"},
    {"named_barrier_arrive", R"(
// Counts as being at a barrier of the block, and goes on.
__device__ __forceinline__ void named_barrier_arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
)"},
    {"named_barrier_any", R"(
// Waits as named_barrier_sync does, and says whether it holds for any of the threads.
__device__ __forceinline__ bool named_barrier_any(int barrier, int threads, bool holds) {
  unsigned any;
  asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %3, 0;\nbar.red.or.pred q, %1, %2, p;\nselp.u32 %0, 1, 0, q;\n}"
               : "=r"(any) : "r"(barrier), "r"(threads), "r"(unsigned(holds)) : "memory");
  return any;
}
)"},
    // ---------------------------------------------------------------- clusters
    {"cluster_arrive", R"(
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
)"},
    {"cluster_arrive_relaxed", R"(
// Orders no memory: what the others are to see has a fence of its own.
__device__ __forceinline__ void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
)"},
    {"cluster_wait", R"(
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
)"},
    {"cluster_id_x", R"(
__device__ __forceinline__ int cluster_id_x() { int x; asm("mov.u32 %0, %%clusterid.x;" : "=r"(x)); return x; }
)"},
    {"cluster_id_y", R"(
__device__ __forceinline__ int cluster_id_y() { int y; asm("mov.u32 %0, %%clusterid.y;" : "=r"(y)); return y; }
)"},
    {"cluster_id_z", R"(
__device__ __forceinline__ int cluster_id_z() { int z; asm("mov.u32 %0, %%clusterid.z;" : "=r"(z)); return z; }
)"},
    {"block_id_in_cluster_x", R"(
__device__ __forceinline__ int block_id_in_cluster_x() { int x; asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x)); return x; }
)"},
    {"block_id_in_cluster_y", R"(
__device__ __forceinline__ int block_id_in_cluster_y() { int y; asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y)); return y; }
)"},
    {"block_id_in_cluster_z", R"(
__device__ __forceinline__ int block_id_in_cluster_z() { int z; asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(z)); return z; }
)"},
    // ---------------------------------------------------------------- mbarriers
    {"mbarrier_init", R"(
// A barrier in shared memory, a phase of which ends after so many arrivals.
__device__ __forceinline__ void mbarrier_init(unsigned long long *barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
)"},
    {"fence_barrier_init", R"(
// Whoever waits for this thread finds the barriers started.
__device__ __forceinline__ void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
)"},
    {"mbarrier_wait", R"(
// Waits until the phase of this parity has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *barrier, int phase) {
  asm volatile("{\n.reg .pred done;\nlab_wait:\nmbarrier.try_wait.parity.shared.b64 done, [%0], %1, 10000000;\n"
               "@done bra.uni lab_done;\nbra.uni lab_wait;\nlab_done:\n}" ::"r"(shared_address(barrier)), "r"(phase) : "memory");
}
)"},
    {"mbarrier_arrive_and_expect_tx", R"(
// Arrives; the phase also waits for so many bytes.
__device__ __forceinline__ void mbarrier_arrive_and_expect_tx(unsigned long long *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
)"},
    {"mbarrier_arrive", R"(
__device__ __forceinline__ void mbarrier_arrive(unsigned long long *barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
)"},
    {"mbarrier_arrive_cluster", R"(
// Arrives at the barrier that another block of the cluster has in this place.
__device__ __forceinline__ void mbarrier_arrive_cluster(unsigned long long *barrier, int block) {
  asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [remote];\n}"
               ::"r"(shared_address(barrier)), "r"(block) : "memory");
}
)"},
    // ---------------------------------------------------------------- TMA
    {"prefetch_tma_descriptor", R"(
__device__ __forceinline__ void prefetch_tma_descriptor(const CUtensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
)"},
    {"tma_store_fence", R"(
// What this thread wrote to shared memory is there for TMA and the tensor cores, once there was a barrier.
__device__ __forceinline__ void tma_store_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
)"},
    {"tma_store_arrive", R"(
// Ends a group of this thread's stores.
__device__ __forceinline__ void tma_store_arrive() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
)"},
    {"tma_store_wait", R"(
// Waits until all but the latest Groups have read what they store.
template <int Groups> __device__ __forceinline__ void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}
)"},
    {"tma_store_wait_done", R"(
// Waits until all but the latest Groups are done.
template <int Groups> __device__ __forceinline__ void tma_store_wait_done() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Groups) : "memory");
}
)"},
    // ---------------------------------------------------------------- tensor cores
    {"Fragment", R"(
// What a thread of a warpgroup has of a tile of 64 rows: of every 8 columns, two neighbours in one row and the two that
// are 8 rows further down. Of one element a row, the two of these rows.
template <typename T, int N> struct Fragment {
  T at[N];
  __device__ __forceinline__ T &operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return at[i]; }
  __device__ __forceinline__ void set(int i, T value) { at[i] = value; }
};
)"},
    {"PackedFragment", R"(
// Of 16-bit elements a register has two.
template <typename T, int N> struct PackedFragment {
  unsigned words[N / 2];
  __device__ __forceinline__ T operator[](int i) const {
    const unsigned short bits = words[i / 2] >> i % 2 * 16;
    return reinterpret_cast<const T &>(bits);
  }
  __device__ __forceinline__ void set(int i, T value) {
    const unsigned bits = reinterpret_cast<const unsigned short &>(value);
    words[i / 2] = i % 2 ? (words[i / 2] & 0xffff) | bits << 16 : (words[i / 2] & 0xffff0000) | bits;
  }
};
)"},
    {"Fragment_f16", R"(template <int N> struct Fragment<__half, N> : PackedFragment<__half, N> {};
)"},
    {"Fragment_bf16", R"(template <int N> struct Fragment<__nv_bfloat16, N> : PackedFragment<__nv_bfloat16, N> {};
)"},
    {"fragment_row", R"(
__device__ __forceinline__ int fragment_row(int i) { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
)"},
    {"fragment_column", R"(
__device__ __forceinline__ int fragment_column(int i) { return threadIdx.x % 4 * 2 + i / 4 * 8 + i % 2; }
)"},
    {"warpgroup_fence_operand", R"(
// The compiler moves no access to these registers across this place: the tensor cores read and write them on their own.
template <int N> __device__ __forceinline__ void warpgroup_fence_operand(Fragment<float, N> &fragment) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(fragment[i])::"memory");
}
template <int N> __device__ __forceinline__ void warpgroup_fence_operand(Fragment<int, N> &fragment) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(fragment[i])::"memory");
}
)"},
    {"warpgroup_fence_packed",
     R"(template <typename T, int N> __device__ __forceinline__ void warpgroup_fence_operand(PackedFragment<T, N> &fragment) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+r"(fragment.words[i])::"memory");
}
)"},
    {"warpgroup_arrive", R"(
// What was written to registers is there for the wgmma behind this.
__device__ __forceinline__ void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
)"},
    {"warpgroup_commit_batch", R"(
// Ends a group of the warpgroup's wgmma.
__device__ __forceinline__ void warpgroup_commit_batch() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
)"},
    {"warpgroup_wait", R"(
// Waits until all but the latest Groups are done.
template <int Groups> __device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
}
)"},
    {"MatrixDescriptor", R"(
// Where wgmma finds an operand in shared memory (PTX ISA, "matrix descriptor"), in units of 16 bytes.
struct MatrixDescriptor {
  unsigned lower, upper;
  __device__ __forceinline__ MatrixDescriptor operator+(int units) const { return {lower + units, upper}; }
  __device__ __forceinline__ unsigned long long bits() const { return (unsigned long long)(upper) << 32 | lower; }
};
// Layout is 1 for a swizzle of 128 bytes, 2 for one of 64, 3 for one of 32; Stride is from 8 rows to the next 8, Leading
// from panel to panel.
template <int Layout, int Stride, int Leading> __device__ __forceinline__ MatrixDescriptor matrix_descriptor(const void *tile) {
  return {((shared_address(tile) & 0x3ffff) >> 4) + (unsigned(Leading) << 16), unsigned(Layout) << 30 | Stride};
}
)"},
    // ---------------------------------------------------------------- fragments and memory
    {"chunk_address", R"(
// Of 16 bytes in a row of a tile, whose panels are RowBytes wide. The hardware's swizzle permutes these within a row.
template <int RowBytes, int PanelBytes, bool IsSwizzled> __device__ __forceinline__ unsigned char *chunk_address(unsigned char *tile, int row, int chunk) {
  constexpr int chunks = RowBytes / 16;
  const int place = IsSwizzled ? chunk % chunks ^ row / (128 / RowBytes ? 128 / RowBytes : 1) % chunks : chunk % chunks;
  return tile + chunk / chunks * PanelBytes + row * RowBytes + place * 16;
}
)"},
    {"pack_f16", R"(
__device__ __forceinline__ unsigned pack(float a, float b, __half) {
  const __half2 packed = __floats2half2_rn(a, b);
  return reinterpret_cast<const unsigned &>(packed);
}
__device__ __forceinline__ unsigned pack(__half a, __half b, __half) {
  const __half2 packed = __halves2half2(a, b);
  return reinterpret_cast<const unsigned &>(packed);
}
)"},
    {"pack_bf16", R"(
__device__ __forceinline__ unsigned pack(float a, float b, __nv_bfloat16) {
  const __nv_bfloat162 packed = __floats2bfloat162_rn(a, b);
  return reinterpret_cast<const unsigned &>(packed);
}
__device__ __forceinline__ unsigned pack(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16) {
  const __nv_bfloat162 packed = __halves2bfloat162(a, b);
  return reinterpret_cast<const unsigned &>(packed);
}
)"},
    {"stmatrix", R"(
// Stores four matrices of 8 x 8 elements of 16 bits, or two, of which each lane has a pair; each lane gives the address
// of a row of 16 bytes. IsTransposed: of a column.
template <bool IsTransposed> __device__ __forceinline__ void stmatrix_x4(void *row, unsigned a, unsigned b, unsigned c, unsigned d) {
  if (IsTransposed) asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
  else asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
template <bool IsTransposed> __device__ __forceinline__ void stmatrix_x2(void *row, unsigned a, unsigned b) {
  if (IsTransposed) asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(a), "r"(b) : "memory");
  else asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(a), "r"(b) : "memory");
}
)"},
    {"store_fragment_16", R"(
// Rounds the fragment's columns, From one on, to 16 bits and writes them to a tile. IsTransposed: they are its rows.
template <typename T, int From, int Columns, bool IsTransposed, int RowBytes, int PanelBytes, bool IsSwizzled, typename F, int N>
__device__ __forceinline__ void store_fragment(unsigned char *tile, const Fragment<F, N> &fragment) {
  const int lane = threadIdx.x % 32, first = threadIdx.x % 128 / 32 * 16;
#pragma unroll
  for (int column = 0; column < Columns; column += 16) {
    unsigned char *const row = IsTransposed
        ? chunk_address<RowBytes, PanelBytes, IsSwizzled>(tile, column + lane % 8 + lane / 16 * 8, (first + (lane & 8)) / 8)
        : chunk_address<RowBytes, PanelBytes, IsSwizzled>(tile, first + lane % 16, column / 8 + lane / 16);
    const auto pair = [&](int i) { return pack(fragment[(From + column) / 2 + 2 * i], fragment[(From + column) / 2 + 2 * i + 1], T()); };
    if (Columns - column >= 16) stmatrix_x4<IsTransposed>(row, pair(0), pair(1), pair(2), pair(3));
    else stmatrix_x2<IsTransposed>(row, pair(0), pair(1));
  }
}
)"},
    {"store_fragment_32", R"(
// Writes the fragment's columns, From one on, of 32 bits to a tile. IsTransposed: they are its rows.
template <typename T, int From, int Columns, bool IsTransposed, int RowBytes, int PanelBytes, bool IsSwizzled, int N>
__device__ __forceinline__ void store_fragment(unsigned char *tile, const Fragment<T, N> &fragment) {
  const int lane = threadIdx.x % 32, first = threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
  for (int column = 0; column < Columns; column += 8) {
    const T *const values = &fragment[(From + column) / 2];
    if (IsTransposed) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int of = first + i / 2 * 8;
        *reinterpret_cast<T *>(chunk_address<RowBytes, PanelBytes, IsSwizzled>(tile, column + lane % 4 * 2 + i % 2, of / 4) + of % 4 * 4) = values[i];
      }
    } else {
#pragma unroll
      for (int lower = 0; lower < 2; ++lower)
        *reinterpret_cast<Vector<T, 2> *>(chunk_address<RowBytes, PanelBytes, IsSwizzled>(tile, first + 8 * lower, column / 4 + lane % 4 / 2) + lane % 2 * 8) =
            Vector<T, 2>{{values[2 * lower], values[2 * lower + 1]}};
    }
  }
}
)"},
    {"save_fragment", R"(
// Writes what each thread has to a row in global memory, for restore_fragment: 4 elements at a time, beside those of the
// next thread.
template <typename T, int N> __device__ __forceinline__ void save_fragment(T *row, const Fragment<T, N> &fragment) {
#pragma unroll
  for (int i = 0; i < N; i += 4)
    *reinterpret_cast<Vector<T, 4> *>(row + threadIdx.x % 128 * 4 + i * 128) = Vector<T, 4>{{fragment[i], fragment[i + 1], fragment[i + 2], fragment[i + 3]}};
}
)"},
    {"restore_fragment", R"(
template <int N, typename T> __device__ __forceinline__ Fragment<T, N> restore_fragment(const T *row) {
  Fragment<T, N> fragment;
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const Vector<T, 4> values = *reinterpret_cast<const Vector<T, 4> *>(row + threadIdx.x % 128 * 4 + i * 128);
#pragma unroll
    for (int j = 0; j < 4; ++j) fragment.set(i + j, values[j]);
  }
  return fragment;
}
)"},
    {"Sum", R"(
struct Sum {
  static __device__ __forceinline__ float of(float a, float b) { return __fadd_rn(a, b); }
  static __device__ __forceinline__ int of(int a, int b) { return int(unsigned(a) + unsigned(b)); }
};
)"},
    {"Max", R"(
// NaN where one of them is.
struct Max {
  static __device__ __forceinline__ float of(float a, float b) { float c; asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b)); return c; }
  static __device__ __forceinline__ int of(int a, int b) { return a > b ? a : b; }
};
)"},
    {"Min", R"(
// NaN where one of them is.
struct Min {
  static __device__ __forceinline__ float of(float a, float b) { float c; asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b)); return c; }
  static __device__ __forceinline__ int of(int a, int b) { return a < b ? a : b; }
};
)"},
    {"row_reduce", R"(
// Reduces each row of a tile: a thread what it has of its two rows, in two chains each, then the four threads of a row.
template <typename Reduction, typename T, int N> __device__ __forceinline__ Fragment<T, 2> row_reduce(const Fragment<T, N> &fragment, const Fragment<T, 2> &init) {
  Fragment<T, 2> made;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    T even = fragment[2 * row], odd = fragment[2 * row + 1];
#pragma unroll
    for (int i = 4; i < N; i += 4) {
      even = Reduction::of(even, fragment[i + 2 * row]);
      odd = Reduction::of(odd, fragment[i + 2 * row + 1]);
    }
    T all = Reduction::of(even, odd);
    all = Reduction::of(all, __shfl_xor_sync(0xffffffff, all, 1));
    all = Reduction::of(all, __shfl_xor_sync(0xffffffff, all, 2));
    made[row] = Reduction::of(init[row], all);
  }
  return made;
}
)"},
    {"exp2_approximate", R"(
// Of what is below 2^-126 the result is 0.
__device__ __forceinline__ float exp2_approximate(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
)"},
    // ---------------------------------------------------------------- arrivals
    {"load_relaxed", R"(
__device__ __forceinline__ long long load_relaxed(const long long *from) {
  long long value;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(from)) : "memory");
  return value;
}
)"},
    {"load_acquire", R"(
__device__ __forceinline__ long long load_acquire(const long long *from) {
  long long value;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(from)) : "memory");
  return value;
}
)"},
    {"store_relaxed", R"(
__device__ __forceinline__ void store_relaxed(long long *to, long long value) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(value) : "memory");
}
)"},
    {"fence_acq_rel", R"(
__device__ __forceinline__ void fence_acq_rel() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
)"},
    {"compare_and_swap", R"(
__device__ __forceinline__ long long compare_and_swap(long long *at, long long known, long long next) {
  long long found;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;" : "=l"(found) : "l"(__cvta_generic_to_global(at)), "l"(known), "l"(next) : "memory");
  return found;
}
)"},
    {"one_more_arrival", R"(
// A counter holds this and the number of those that arrived; where it holds anything else, nobody has.
constexpr long long nobody_arrived = 0x5d3c9a617be40000;
__device__ __forceinline__ long long one_more_arrival(long long known) {
  return (known - nobody_arrived >= 0 && known - nobody_arrived < 65536 ? known : nobody_arrived) + 1;
}
)"},
    {"arrive", R"(
// A warpgroup says that its part is done, and learns whether it is the last of so many, which sees what the others wrote.
__device__ __forceinline__ bool arrive(long long *counter, long long parts) {
  const int barrier = 1 + threadIdx.x / 128;
  long long known = load_relaxed(counter);
  named_barrier_sync(barrier, 128);
  bool is_last = false;
  if (threadIdx.x % 128 == 0) {
    fence_acq_rel();
    long long next, found;
    while ((found = compare_and_swap(counter, known, next = one_more_arrival(known))) != known) known = found;
    if (next == nobody_arrived + parts) {
      fence_acq_rel();
      store_relaxed(counter, 0);
      is_last = true;
    }
  }
  return named_barrier_any(barrier, 128, is_last);
}
)"},
    {"arrive_if_last", R"(
// As arrive, but a warpgroup that is not the last has not arrived.
__device__ __forceinline__ bool arrive_if_last(long long *counter, long long parts) {
  const int barrier = 1 + threadIdx.x / 128;
  named_barrier_sync(barrier, 128);
  bool is_last = false;
  if (threadIdx.x % 128 == 0 && one_more_arrival(load_acquire(counter)) == nobody_arrived + parts) {
    store_relaxed(counter, 0);
    is_last = true;
  }
  return named_barrier_any(barrier, 128, is_last);
}
)"},
};

} // namespace

llvm::SmallVector<llvm::StringRef> tileHelpers() {
  llvm::SmallVector<llvm::StringRef> names = {"pack", "stmatrix_x4", "stmatrix_x2", "store_fragment", "nobody_arrived"};
  for (const TilePiece &piece : tilePieces)
    names.push_back(piece.name);
  return names;
}

std::string tilePreludeOf(const std::set<std::string> &needed) {
  std::string text;
  for (const TilePiece &piece : tilePieces)
    if (needed.count(piece.name))
      text += piece.text;
  return text;
}

} // namespace tilewright::source
