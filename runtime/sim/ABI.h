//===- ABI.h - what compiled kernels and the simulator agree on -----------===//
//
// The pass convert-gpu-to-sim makes of each kernel a function `void kernel(ThreadState *, void **params)` and constants
// `int64_t kernel_info[]` and `char kernel_arguments[]`. Both sides include this header; it needs neither MLIR nor anything of the run time.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_ABI_H
#define TILEWRIGHT_RUNTIME_SIM_ABI_H

#include <cstdint>

namespace tilewright::sim {

/// The words of a thread's state that compiled code reads, each 8 bytes wide.
enum StateWord : int {
  ThreadIdX, // y and z follow, here and below
  BlockIdX = ThreadIdX + 3,
  BlockDimX = BlockIdX + 3,
  GridDimX = BlockDimX + 3,
  LaneId = GridDimX + 3,
  SubgroupId,
  NumSubgroups,
  SharedBase,   // the address of the block's shared memory
  ShuffleValid, // whether the last shuffle found its lane
  NumStateWords
};

constexpr int warpSize = 32;

/// The words of a kernel's info.
enum InfoWord : int {
  InfoSynchronizes,      // 1 if the threads of a block wait for each other
  InfoSharedGranularity, // bytes of shared memory that the smallest access covers
  InfoPrivateBytes,      // bytes of private arrays a thread
  InfoNumArguments,
  NumInfoWords // then for each argument: parameter, element bytes (0: a scalar), rank, extents (-1: the next parameter)
};

/// What a check finds. A bad access is reported and then done all the same, except one that is out of bounds.
enum Defect : int32_t { NoDefect, OutOfBounds, UnwrittenRead, Race, UnfinishedCopy };

/// An access as compiled code describes it: these bits or'ed.
enum AccessFlag : int32_t { AccessWrites = 1, AccessShared = 2, AccessPrivate = 4 };

/// Modes of a shuffle, numbered as gpu::ShuffleMode is.
enum class ShuffleMode : int32_t { Xor, Down, Up, Idx };

/// The types of the factors and sums of a product of matrices.
enum class MatrixTypes : int32_t { F16ToF32, F16ToF16, BF16ToF32, TF32ToF32, S8ToS32 };

// `places` of a report is the index and the extent of each dimension, in order.
//
// The functions that compiled code calls. A site is two strings, one behind the other, each ended by a zero: the name
// of the buffer or operation, and the source line.
constexpr const char barrierFunction[] = "tw_sim_barrier";          // (state, site)
constexpr const char endFunction[] = "tw_sim_end";                  // (state, site)
constexpr const char shuffleFunction[] = "tw_sim_shuffle";          // (state, site, mode, bits, offset, width) -> bits
constexpr const char loadMatricesFunction[] = "tw_sim_load_matrices"; // (state, site, matrices, transposed, row, result)
constexpr const char multiplyFunction[] = "tw_sim_multiply";          // (state, site, types, k, a, b, c, which it adds to)
constexpr const char loadGlobalFunction[] = "tw_sim_load_global";   // (state, argument or -1, address, bytes) -> defect
constexpr const char storeGlobalFunction[] = "tw_sim_store_global"; // (state, argument or -1, address, bytes) -> defect
constexpr const char loadSharedFunction[] = "tw_sim_load_shared";   // (state, address, bytes, site) -> defect
constexpr const char storeSharedFunction[] = "tw_sim_store_shared"; // (state, address, bytes, site, value) -> defect
constexpr const char copySharedFunction[] = "tw_sim_copy_shared";   // the same, of a copy that ends at a wait
constexpr const char commitCopiesFunction[] = "tw_sim_commit_copies"; // (state)
constexpr const char waitCopiesFunction[] = "tw_sim_wait_copies";     // (state, how many groups may be under way)
constexpr const char reportFunction[] = "tw_sim_report"; // (state, defect, flags, site, rank, elements, places)

} // namespace tilewright::sim

#endif
