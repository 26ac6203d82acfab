//===- CUDAPrelude.cpp - what printed kernels need ------------------------===//
#include "passes/gpu-to-source/CUDAPrelude.h"

namespace tilewright::source {

namespace {

struct Piece {
  const char *name, *text;
};

/// In the order in which they stand.
constexpr Piece pieces[] = {
    {"cuda_fp16.h", "#include <cuda_fp16.h>\n"},
    {"cuda_bf16.h", "#include <cuda_bf16.h>\n"},
    {"cuda_fp8.h", "#include <cuda_fp8.h>\n"},
    {"INFINITY", "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"},
    {"shared_memory", "\nextern __shared__ __align__(1024) unsigned char shared_memory[];\n"},
    {"Vector", R"(
template <typename T, int N> struct alignas(sizeof(T) * N) Vector {
  T at[N];
  __device__ T &operator[](int i) { return at[i]; }
  __device__ const T &operator[](int i) const { return at[i]; }
};
template <typename T, int N, int Alignment> struct alignas(Alignment) Chunk { T at[N]; };

template <int N, int Alignment, typename T> __device__ Vector<T, N> load(const T *from) {
  const auto chunk = *reinterpret_cast<const Chunk<T, N, Alignment> *>(from);
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = chunk.at[i];
  return made;
}
template <int N, typename T> __device__ Vector<T, N> load(const T *from) { return *reinterpret_cast<const Vector<T, N> *>(from); }
template <int N, int Alignment, typename T> __device__ void store(T *to, const Vector<T, N> &value) {
  Chunk<T, N, Alignment> chunk;
  for (int i = 0; i < N; ++i) chunk.at[i] = value[i];
  *reinterpret_cast<Chunk<T, N, Alignment> *>(to) = chunk;
}
template <int N, typename T> __device__ void store(T *to, const Vector<T, N> &value) { *reinterpret_cast<Vector<T, N> *>(to) = value; }
template <int N, typename T> __device__ Vector<T, N> broadcast(T value) {
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = value;
  return made;
}
template <int N, typename T, int M> __device__ Vector<T, N> slice(const Vector<T, M> &value, int first) {
  Vector<T, N> made;
  for (int i = 0; i < N; ++i) made[i] = value[first + i];
  return made;
}
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
    {"floor_div", "\n// Rounded down, where / rounds towards zero.\ntemplate <typename T> __device__ T floor_div(T a, T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"},
    {"floor_mod", "\n// Of the sign of b, where % has that of a.\ntemplate <typename T> __device__ T floor_mod(T a, T b) { const T r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"},
    {"ceil_div", "\n// Rounded up, where / rounds towards zero.\ntemplate <typename T> __device__ T ceil_div(T a, T b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }\n"},
    {"ceil_div_unsigned", "\ntemplate <typename T> __device__ T ceil_div_unsigned(T a, T b) { return a / b + (a % b != 0); }\n"},
    {"absolute", "\n__device__ int absolute(int a) { return a < 0 ? int(0u - unsigned(a)) : a; }\n__device__ long long absolute(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }\n"},
    {"count_ones", "\n__device__ int count_ones(unsigned a) { return __popc(a); }\n__device__ int count_ones(unsigned long long a) { return __popcll(a); }\n"},
    {"leading_zeros", "\ntemplate <typename T> __device__ int leading_zeros(T a) { int n = 8 * sizeof(T); for (; a; a >>= 1) --n; return n; }\n"},
    {"trailing_zeros", "\ntemplate <typename T> __device__ int trailing_zeros(T a) { int n = 0; for (; n < 8 * int(sizeof(T)) && !(a >> n & 1); ++n) ; return n; }\n"},
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
