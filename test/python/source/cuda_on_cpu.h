// Enough of CUDA to run printed kernels with g++: blocks come one after the other, and of a block each thread runs until it
// waits for others.
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)

using std::max;
using std::min;

struct Dim3 {
  unsigned x, y, z;
};
static Dim3 threadIdx, blockIdx, blockDim, gridDim;

// ------------------------------------------------------------------ threads

struct Thread {
  ucontext_t context;
  Dim3 place;
  bool done;
};
static constexpr size_t kStack = 256 << 10;
static std::vector<std::unique_ptr<char[]>> stacks;
static std::vector<Thread> threads;
static size_t current;
static ucontext_t scheduler;
static unsigned long events;
static std::function<void()> body;

struct Barrier {
  unsigned expected = 0, waiting = 0, turns = 0;
  void reset(unsigned count) { expected = count, waiting = 0; }
  void wait() {
    unsigned turn = turns;
    if (++waiting == expected) {
      waiting = 0, ++turns, ++events;
      return;
    }
    while (turn == turns) swapcontext(&threads[current].context, &scheduler);
  }
};
static Barrier block, warps[32];
static uint64_t lanes[32][32];

static void run_thread() {
  body();
  threads[current].done = true, ++events;
  swapcontext(&threads[current].context, &scheduler);
}

/// All threads of a block; false where they wait for each other for ever.
static bool run_block(unsigned count) {
  threads.resize(count);
  while (stacks.size() < count) stacks.emplace_back(new char[kStack]);
  for (unsigned number = 0; number < count; ++number) {
    Thread &thread = threads[number];
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = stacks[number].get(), thread.context.uc_stack.ss_size = kStack;
    thread.context.uc_link = nullptr, thread.done = false;
    thread.place = {number % blockDim.x, number / blockDim.x % blockDim.y, number / blockDim.x / blockDim.y};
    makecontext(&thread.context, run_thread, 0);
  }
  for (;;) {
    unsigned long before = events;
    bool all_done = true;
    for (current = 0; current < count; ++current) {
      if (threads[current].done) continue;
      all_done = false, threadIdx = threads[current].place;
      swapcontext(&scheduler, &threads[current].context);
    }
    if (all_done) return true;
    if (before == events) return false;
  }
}

inline void __syncthreads() { block.wait(); }
inline unsigned rank_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

// ------------------------------------------------------------------ warps

/// All lanes put their value down; afterwards each looks at those of the others.
template <typename T, typename F> auto exchange(T value, F look) {
  static_assert(sizeof(T) <= 8, "");
  unsigned warp = rank_in_block() / 32, lane = rank_in_block() % 32;
  std::memcpy(&lanes[warp][lane], &value, sizeof value);
  warps[warp].wait();
  auto of = [&](unsigned other) {
    T found;
    std::memcpy(&found, &lanes[warp][other], sizeof found);
    return found;
  };
  auto made = look(lane, of);
  warps[warp].wait();
  return made;
}
/// A lane past the end of its part of the warp, or that is not there, gives each its own.
template <typename T, typename F> T shuffle(T value, unsigned width, F source) {
  return exchange(value, [&](unsigned lane, auto of) {
    unsigned from = source(lane);
    return of(from / width == lane / width ? from : lane);
  });
}
template <typename T> T __shfl_down_sync(unsigned, T value, int offset, int width = 32) {
  return shuffle(value, width, [=](unsigned lane) { return lane + offset; });
}
template <typename T> T __shfl_up_sync(unsigned, T value, int offset, int width = 32) {
  return shuffle(value, width, [=](unsigned lane) { return lane - offset; });
}
template <typename T> T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
  return shuffle(value, width, [=](unsigned lane) { return lane ^ mask; });
}
template <typename T> T __shfl_sync(unsigned, T value, int from, int width = 32) {
  return shuffle(value, width, [=](unsigned lane) { return lane / width * width + from % width; });
}

// ------------------------------------------------------------------ numbers

typedef _Float16 __half;
struct __nv_bfloat16 {
  uint16_t bits;
  __nv_bfloat16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> __nv_bfloat16(T number) {
    float single = float(number);
    uint32_t all;
    std::memcpy(&all, &single, 4);
    bits = single != single ? 0x7fff : uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  operator float() const {
    uint32_t all = uint32_t(bits) << 16;
    float single;
    std::memcpy(&single, &all, 4);
    return single;
  }
};
#define BFLOAT16_OPERATOR(op) \
  inline __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(float(a) op float(b)); }
BFLOAT16_OPERATOR(+)
BFLOAT16_OPERATOR(-)
BFLOAT16_OPERATOR(*)
BFLOAT16_OPERATOR(/)
inline __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16(-float(a)); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline float rsqrtf(float a) { return 1 / std::sqrt(a); }
inline double rsqrt(double a) { return 1 / std::sqrt(a); }
// g++ contracts nothing here.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
// The simulator rounds products, too.
inline float __fmaf_rn(float a, float b, float c) { return a * b + c; }
inline double __fma_rn(double a, double b, double c) { return a * b + c; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __int_as_float(int bits) {
  float number;
  std::memcpy(&number, &bits, 4);
  return number;
}

// ------------------------------------------------------------------ copies

template <int Bytes, bool PassesL1 = false> void copy_async(void *shared, const void *global, int bytes = Bytes) {
  std::memset(shared, 0, Bytes);
  std::memcpy(shared, global, bytes);
}
inline void commit_copies() {}
template <int Groups> void wait_for_copies() {}
inline void prefetch(const void *) {}
inline void wait_for_kernels_before() {}

// ------------------------------------------------------------------ matrices

/// A lane's part of matrices, which each program has a type of its own for.
template <int Count> struct Fragment {
  unsigned char bytes[4 * Count];
  template <typename Vector> operator Vector() const {
    static_assert(sizeof(Vector) == 4 * Count, "");
    Vector made;
    std::memcpy(&made, bytes, sizeof made);
    return made;
  }
};

template <int Count, bool Transposed = false, typename T> Fragment<Count> load_matrices(const T *row) {
  Fragment<Count> made;
  exchange(row, [&](unsigned lane, auto of) {
    for (int matrix = 0; matrix < Count; ++matrix) {
      unsigned char *to = made.bytes + 4 * matrix;
      auto bytes = [&](unsigned row) { return reinterpret_cast<const char *>(of(8 * matrix + row)); };
      for (unsigned half = 0; half < 2; ++half)
        std::memcpy(to + 2 * half, Transposed ? bytes(lane % 4 * 2 + half) + lane / 4 * 2 : bytes(lane / 4) + lane % 4 * 4 + 2 * half, 2);
    }
    return 0;
  });
  return made;
}

/// Each register of a lane has elements beside each other along k: of A the rows lane / 4 and 8 below, then the second
/// half of k; of B the column lane / 4.
template <int K, typename A, typename B, typename C> C multiply(const A &a, const B &b, C c) {
  using Element = std::remove_const_t<std::remove_reference_t<decltype(a.at[0])>>;
  using Sum = std::remove_reference_t<decltype(c.at[0])>;
  using Wide = std::conditional_t<std::is_integral_v<Sum>, int, float>;
  constexpr unsigned per = 4 / sizeof(Element);
  Element left[16][K], right[8][K];
  auto spread = [&](const void *registers, unsigned count, auto place) {
    for (unsigned number = 0; number < count; ++number) {
      uint32_t mine;
      std::memcpy(&mine, static_cast<const char *>(registers) + 4 * number, 4);
      exchange(mine, [&](unsigned, auto of) {
        for (unsigned other = 0; other < 32; ++other) {
          uint32_t found = of(other);
          // A float is rounded to tf32, which has 13 bits less.
          if (std::is_same_v<Element, float> && (~found & 0x7f800000u)) found = (found + 0x1000u) & ~0x1fffu;
          std::memcpy(place(number, other), &found, 4);
        }
        return 0;
      });
    }
  };
  spread(&a, 4, [&](unsigned number, unsigned lane) { return &left[lane / 4 + 8 * (number & 1)][per * (lane % 4 + 4 * (number >> 1))]; });
  spread(&b, 2, [&](unsigned number, unsigned lane) { return &right[lane / 4][per * (lane % 4 + 4 * number)]; });
  unsigned lane = rank_in_block() % 32;
  for (unsigned i = 0; i < 4; ++i) {
    Wide sum = Wide(c.at[i]);
    for (int k = 0; k < K; ++k) sum += Wide(left[lane / 4 + 8 * (i >> 1)][k]) * Wide(right[lane % 4 * 2 + (i & 1)][k]);
    c.at[i] = Sum(sum);
  }
  return c;
}
template <typename A, typename B, typename C> C mma_m16n8k8(const A &a, const B &b, C c) { return multiply<8>(a, b, c); }
template <typename A, typename B, typename C> C mma_m16n8k16(const A &a, const B &b, C c) { return multiply<16>(a, b, c); }
template <typename A, typename B, typename C> C mma_m16n8k32(const A &a, const B &b, C c) { return multiply<32>(a, b, c); }

// ------------------------------------------------------------------ launches

template <typename P> decltype(auto) argument(void *at) {
  if constexpr (std::is_reference_v<P>)
    return **static_cast<std::remove_reference_t<P> **>(at);
  else
    return *static_cast<P *>(at);
}

template <typename... P, size_t... I>
int launch(void (*kernel)(P...), const uint64_t *config, void **params, std::index_sequence<I...>) {
  gridDim = {unsigned(config[0]), unsigned(config[1]), unsigned(config[2])};
  blockDim = {unsigned(config[3]), unsigned(config[4]), unsigned(config[5])};
  unsigned count = blockDim.x * blockDim.y * blockDim.z;
  body = [=] { kernel(argument<P>(params[I])...); };
  for (unsigned number = 0; number < gridDim.x * gridDim.y * gridDim.z; ++number) {
    block.reset(count);
    for (unsigned warp = 0; warp < 32; ++warp)
      warps[warp].reset(std::min(32u, count - std::min(count, 32 * warp)));
    blockIdx = {number % gridDim.x, number / gridDim.x % gridDim.y, number / gridDim.x / gridDim.y};
    if (!run_block(count)) return 1;
  }
  return 0;
}
/// 0, or 1 where threads wait for each other for ever.
template <typename... P> int launch(void (*kernel)(P...), const uint64_t *config, void **params) {
  return launch(kernel, config, params, std::index_sequence_for<P...>());
}
