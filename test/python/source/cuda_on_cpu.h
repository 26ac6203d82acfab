// Enough of CUDA to run printed kernels with g++: each thread of a block is a thread, blocks come one after the other.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

using std::max;
using std::min;
typedef _Float16 __half;

struct Dim3 {
  unsigned x, y, z;
};
thread_local Dim3 threadIdx, blockIdx;
Dim3 blockDim, gridDim;

class Barrier {
public:
  void reset(unsigned count) { expected = count, waiting = 0; }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    unsigned turn = turns;
    if (++waiting == expected) {
      waiting = 0, ++turns;
      all.notify_all();
    } else
      all.wait(lock, [&] { return turn != turns; });
  }

private:
  std::mutex mutex;
  std::condition_variable all;
  unsigned expected = 0, waiting = 0, turns = 0;
};
Barrier block, warps[32];
uint64_t lanes[32][32];

inline void __syncthreads() { block.wait(); }
inline unsigned rank_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

/// All lanes put their value down, and each takes that of another: its own where there is none.
template <typename T> T exchange(T value, std::function<unsigned(unsigned)> source) {
  unsigned warp = rank_in_block() / 32, lane = rank_in_block() % 32, from = source(lane);
  std::memcpy(&lanes[warp][lane], &value, sizeof value);
  warps[warp].wait();
  std::memcpy(&value, &lanes[warp][from < 32 ? from : lane], sizeof value);
  warps[warp].wait();
  return value;
}
template <typename T> T __shfl_down_sync(unsigned, T value, int offset) {
  return exchange(value, [=](unsigned lane) { return lane + offset; });
}
template <typename T> T __shfl_up_sync(unsigned, T value, int offset) {
  return exchange(value, [=](unsigned lane) { return lane - offset; });
}
template <typename T> T __shfl_xor_sync(unsigned, T value, int mask) {
  return exchange(value, [=](unsigned lane) { return lane ^ mask; });
}
template <typename T> T __shfl_sync(unsigned, T value, int from) {
  return exchange(value, [=](unsigned) { return unsigned(from); });
}

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline float rsqrtf(float a) { return 1 / std::sqrt(a); }
inline double rsqrt(double a) { return 1 / std::sqrt(a); }

template <int Bytes, bool PassesL1 = false> void copy_async(void *shared, const void *global, int bytes = Bytes) {
  std::memset(shared, 0, Bytes);
  std::memcpy(shared, global, bytes);
}
inline void commit_copies() {}
template <int Groups> void wait_for_copies() {}
inline void prefetch(const void *) {}

template <typename P> decltype(auto) argument(void *at) {
  if constexpr (std::is_reference_v<P>)
    return **static_cast<std::remove_reference_t<P> **>(at);
  else
    return *static_cast<P *>(at);
}

template <typename... P, size_t... I>
void launch(void (*kernel)(P...), const uint64_t *config, void **params, std::index_sequence<I...>) {
  gridDim = {unsigned(config[0]), unsigned(config[1]), unsigned(config[2])};
  blockDim = {unsigned(config[3]), unsigned(config[4]), unsigned(config[5])};
  unsigned count = blockDim.x * blockDim.y * blockDim.z;
  for (unsigned number = 0; number < gridDim.x * gridDim.y * gridDim.z; ++number) {
    block.reset(count);
    for (unsigned warp = 0; warp < 32; ++warp)
      warps[warp].reset(std::min(32u, count - std::min(count, 32 * warp)));
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < count; ++thread)
      threads.emplace_back([=] {
        blockIdx = {number % gridDim.x, number / gridDim.x % gridDim.y, number / gridDim.x / gridDim.y};
        threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
        kernel(argument<P>(params[I])...);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}
template <typename... P> void launch(void (*kernel)(P...), const uint64_t *config, void **params) {
  launch(kernel, config, params, std::index_sequence_for<P...>());
}
