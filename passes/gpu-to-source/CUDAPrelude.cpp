//===- CUDAPrelude.cpp - what printed kernels need ------------------------===//
#include "passes/gpu-to-source/CUDAPrelude.h"

namespace tilewright::source {

namespace {

struct Piece {
  const char *name, *text;
};

/// In the order in which they stand.
constexpr Piece pieces[] = {
    {"cuda.h", R"(#ifdef __CUDACC_RTC__
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };  // NVRTC has no <cuda.h>
#else
#include <cuda.h>
#endif
)"},
    {"cuda_fp16.h", "#include <cuda_fp16.h>\n"},
    {"cuda_bf16.h", "#include <cuda_bf16.h>\n"},
    {"cuda_fp8.h", "#include <cuda_fp8.h>\n"},
    {"INFINITY", "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"},
    {"shared_memory", "\nextern __shared__ __align__(1024) unsigned char shared_memory[];\n"},
    {"Vector", R"(
template <typename T, int N> struct alignas(N & (N - 1) ? sizeof(T) : sizeof(T) * N) Vector {
  T at[N];
  __device__ T &operator[](int i) { return at[i]; }
  __device__ const T &operator[](int i) const { return at[i]; }
};
)"},
    {"load", R"(
template <int N, typename T> __device__ Vector<T, N> load(const T *from) { return *reinterpret_cast<const Vector<T, N> *>(from); }
)"},
    {"store", R"(
template <int N, typename T> __device__ void store(T *to, const Vector<T, N> &value) { *reinterpret_cast<Vector<T, N> *>(to) = value; }
)"},
    {"Chunk", R"(
// Of a smaller alignment than a vector's.
template <typename T, int N, int Alignment> struct alignas(Alignment) Chunk { T at[N]; };
template <int N, int Alignment, typename T> __device__ Vector<T, N> load(const T *from) {
  const auto chunk = *reinterpret_cast<const Chunk<T, N, Alignment> *>(from);
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = chunk.at[i];
  return made;
}
template <int N, int Alignment, typename T> __device__ void store(T *to, const Vector<T, N> &value) {
  Chunk<T, N, Alignment> chunk;
  for (int i = 0; i < N; ++i) chunk.at[i] = value[i];
  *reinterpret_cast<Chunk<T, N, Alignment> *>(to) = chunk;
}
)"},
    {"broadcast", R"(
template <int N, typename T> __device__ Vector<T, N> broadcast(T value) {
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = value;
  return made;
}
)"},
    {"slice", R"(
template <int N, typename T, int M> __device__ Vector<T, N> slice(const Vector<T, M> &value, int first) {
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = value[first + i];
  return made;
}
)"},
    {"insert", R"(
template <typename T, int N, int M> __device__ Vector<T, M> insert(const Vector<T, N> &value, Vector<T, M> into, int first) {
  for (int i = 0; i < N; ++i) into[first + i] = value[i];
  return into;
}
)"},
    {"copy_async", R"(
// Copies from global to shared memory, of which `bytes` are read and the rest are zeros.
template <int Bytes, bool PassesL1 = false>
__device__ void copy_async(void *shared, const void *global, int bytes = Bytes) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const size_t from = __cvta_generic_to_global(global);
  if (PassesL1) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(bytes) : "memory");
}
__device__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups> __device__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory"); }
)"},
    {"load_matrices", R"(
// Each lane gives the address of a row of 16 bytes, eight lanes those of one of `Count` matrices; each gets 4 bytes of each
// matrix: of row lane / 4, or with Transposed of columns.
template <int Count, bool Transposed = false, typename T> __device__ Vector<T, Count * 4 / sizeof(T)> load_matrices(const T *row) {
  Vector<T, Count * 4 / sizeof(T)> made;
  unsigned part[4];
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if (Count == 4 && Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3]) : "r"(from) : "memory");
  else if (Count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3]) : "r"(from) : "memory");
  else if (Count == 2 && Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(part[0]), "=r"(part[1]) : "r"(from) : "memory");
  else if (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(part[0]), "=r"(part[1]) : "r"(from) : "memory");
  else if (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(part[0]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part[0]) : "r"(from) : "memory");
  memcpy(&made, part, sizeof made);
  return made;
}
)"},
    {"mma", "\n// The lanes of a warp multiply a tile of 16 rows by one of 8 columns, and add; each has its part of "
            "the three.\n"},
    {"mma_f16_f32",
     R"(__device__ Vector<float, 4> mma_m16n8k16(const Vector<__half, 8> &a, const Vector<__half, 4> &b, Vector<float, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_f16_f16",
     R"(__device__ Vector<__half, 4> mma_m16n8k16(const Vector<__half, 8> &a, const Vector<__half, 4> &b, Vector<__half, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  unsigned *C = reinterpret_cast<unsigned *>(&c);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(C[0]), "+r"(C[1]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_bf16_f32",
     R"(__device__ Vector<float, 4> mma_m16n8k16(const Vector<__nv_bfloat16, 8> &a, const Vector<__nv_bfloat16, 4> &b, Vector<float, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_f32_f32", R"(// A float rounded to tf32.
__device__ __forceinline__ unsigned to_tf32(float number) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(number));
  return bits;
}
__device__ Vector<float, 4> mma_m16n8k8(const Vector<float, 4> &a, const Vector<float, 2> &b, Vector<float, 4> c) {
  const unsigned A[] = {to_tf32(a[0]), to_tf32(a[1]), to_tf32(a[2]), to_tf32(a[3])}, B[] = {to_tf32(b[0]), to_tf32(b[1])};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_i8_i32",
     R"(__device__ Vector<int, 4> mma_m16n8k32(const Vector<signed char, 16> &a, const Vector<signed char, 8> &b, Vector<int, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_e4m3_f32", R"(// The factors are 8-bit floats, in bytes.
__device__ Vector<float, 4> mma_m16n8k32_e4m3(const Vector<signed char, 16> &a, const Vector<signed char, 8> &b, Vector<float, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"mma_e5m2_f32", R"(// The factors are 8-bit floats, in bytes.
__device__ Vector<float, 4> mma_m16n8k32_e5m2(const Vector<signed char, 16> &a, const Vector<signed char, 8> &b, Vector<float, 4> c) {
  const unsigned *A = reinterpret_cast<const unsigned *>(&a), *B = reinterpret_cast<const unsigned *>(&b);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
  return c;
}
)"},
    {"wait_for_kernels_before", R"(
// What the kernels before this one in the stream wrote is there from here on; the one after it may come up, and waits too.
__device__ void wait_for_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
)"},
    {"prefetch", R"(
__device__ void prefetch(const void *address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}
)"},
    {"bit_cast", R"(
template <typename To, typename From> __device__ To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
)"},
    {"to_fp8", R"(
template <typename To, __nv_fp8_interpretation_t Kind> __device__ To to_fp8(float value) {
  To made;
  made.__x = __nv_cvt_float_to_fp8(value, __NV_NOSAT, Kind);
  return made;
}
template <typename To, __nv_fp8_interpretation_t Kind> __device__ To to_fp8(double value) {
  To made;
  made.__x = __nv_cvt_double_to_fp8(value, __NV_NOSAT, Kind);
  return made;
}
)"},
    {"maximum", R"(
// NaN where one of them is.
__device__ float maximum(float a, float b) { return a != a || b != b ? a + b : fmaxf(a, b); }
__device__ double maximum(double a, double b) { return a != a || b != b ? a + b : fmax(a, b); }
template <typename T> __device__ T maximum(T a, T b) { return T(maximum(float(a), float(b))); }
)"},
    {"minimum", R"(
// NaN where one of them is.
__device__ float minimum(float a, float b) { return a != a || b != b ? a + b : fminf(a, b); }
__device__ double minimum(double a, double b) { return a != a || b != b ? a + b : fmin(a, b); }
template <typename T> __device__ T minimum(T a, T b) { return T(minimum(float(a), float(b))); }
)"},
    {"floor_div", "\n// Rounded down, where / rounds towards zero.\ntemplate <typename T> __device__ T floor_div(T a, "
                  "T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"},
    {"floor_mod", "\n// Of the sign of b, where % has that of a.\ntemplate <typename T> __device__ T floor_mod(T a, T "
                  "b) { const T r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"},
    {"ceil_div", "\n// Rounded up, where / rounds towards zero.\ntemplate <typename T> __device__ T ceil_div(T a, T b) "
                 "{ return a / b + (a % b != 0 && (a < 0) == (b < 0)); }\n"},
    {"ceil_div_unsigned",
     "\ntemplate <typename T> __device__ T ceil_div_unsigned(T a, T b) { return a / b + (a % b != 0); }\n"},
    {"absolute", "\n__device__ int absolute(int a) { return a < 0 ? int(0u - unsigned(a)) : a; }\n__device__ long long "
                 "absolute(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }\n"},
    {"count_ones",
     "\ntemplate <typename T> __device__ int count_ones(T a) { return sizeof(T) == 8 ? __popcll(a) : __popc(a); }\n"},
    {"leading_zeros", "\ntemplate <typename T> __device__ int leading_zeros(T a) { int n = 8 * sizeof(T); for (; a; a "
                      ">>= 1) --n; return n; }\n"},
    {"trailing_zeros", "\ntemplate <typename T> __device__ int trailing_zeros(T a) { int n = 0; for (; n < 8 * "
                       "int(sizeof(T)) && !(a >> n & 1); ++n) ; return n; }\n"},
    {"integer_power", R"(
// Wraps around; of a negative power what is left of 1 / base.
template <typename T> __device__ T integer_power(T base, T power) {
  if (power < 0) return base == 1 ? 1 : base == T(-1) ? (power % 2 ? T(-1) : T(1)) : 0;
  unsigned long long made = 1, factor = base;
  for (; power; power >>= 1, factor *= factor)
    if (power & 1) made *= factor;
  return T(made);
}
)"},
};

} // namespace

std::string preludeOf(const std::set<std::string> &needed) {
  std::string text;
  for (const Piece &piece : pieces)
    if (needed.count(piece.name))
      text += piece.text;
  return text;
}

} // namespace tilewright::source
