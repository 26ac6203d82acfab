//===- TilePrelude.cpp - what printed kernels of asynchronous tiles need --===//
//
// The one table of instructions that CUDA C++ has no word for: TMA, mbarriers, wgmma, named barriers, clusters. A
// function each, called as CUTLASS calls it where that has one. wgmma's functions are of a shape and of types, and are
// made by wgmmaFunction.
//
//===----------------------------------------------------------------------===//
#include "passes/gpu-to-source/TilePrelude.h"
#include "passes/gpu-to-source/TilePieces.h"

#include "dialects/Target/Limits.h"

namespace tilewright::source {

namespace {

constexpr TilePiece memoryPieces[] = {
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
};

/// What warpgroups of different blocks tell each other.
constexpr TilePiece arrivalPieces[] = {
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

/// In the order in which they stand.
template <typename Callable> void forEachPiece(Callable callable) {
  for (llvm::ArrayRef<TilePiece> pieces :
       {llvm::ArrayRef(memoryPieces), getFragmentPieces(), llvm::ArrayRef(arrivalPieces)})
    for (const TilePiece &piece : pieces)
      callable(piece);
}

} // namespace

llvm::SmallVector<llvm::StringRef> tileHelpers() {
  llvm::SmallVector<llvm::StringRef> names = {"pack", "stmatrix_x4", "stmatrix_x2", "store_fragment", "nobody_arrived"};
  forEachPiece([&](const TilePiece &piece) { names.push_back(piece.name); });
  return names;
}

std::string tilePreludeOf(const std::set<std::string> &needed) {
  std::string text;
  forEachPiece([&](const TilePiece &piece) {
    if (needed.count(piece.name))
      text += piece.text;
  });
  return text;
}

} // namespace tilewright::source
