//===- FragmentPieces.cpp - tensor cores and fragments in printed kernels -===//
#include "passes/gpu-to-source/TilePieces.h"

namespace tilewright::source {

static constexpr TilePiece fragmentPieces[] = {
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
    {"Words", R"(
// What a thread of a warpgroup multiplies of operand A, in registers of 32 bits.
template <int N> struct Words {
  unsigned words[N];
};
)"},
    {"load_across", R"(
// The elements of a tile of 64 columns that a thread multiplies. They are 32 bits wide and have k along the tile's rows,
// in panels as wide as Span, from one of which to the next it is Panel bytes.
template <int Span, int Panel, int K> __device__ __forceinline__ Words<K / 2> load_across(const void *tile) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  Words<K / 2> a;
#pragma unroll
  for (int i = 0; i < K / 2; ++i) {
    const int row = i / 4 * 8 + i / 2 % 2 * 4 + lane % 4, column = warp * 16 + i % 2 * 8 + lane / 4;
    const int inside = column % (Span / 4), chunk = inside / 4 ^ row * Span / 128 % (Span / 16);
    const int place = column / (Span / 4) * Panel + row * Span + chunk * 16 + inside % 4 * 4;
    a.words[i] = *reinterpret_cast<const unsigned *>(static_cast<const char *>(tile) + place);
  }
  return a;
}
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
    {"store_fragment_pairs", R"(
// Writes the fragment's columns, From one on, of 32 or 8 bits to a tile. IsTransposed: they are its rows, of 32 bits.
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
      const int byte = (column + lane % 4 * 2) * sizeof(T);
#pragma unroll
      for (int lower = 0; lower < 2; ++lower)
        *reinterpret_cast<Vector<T, 2> *>(chunk_address<RowBytes, PanelBytes, IsSwizzled>(tile, first + 8 * lower, byte / 16) + byte % 16) =
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
};

llvm::ArrayRef<TilePiece> getFragmentPieces() { return fragmentPieces; }

} // namespace tilewright::source
