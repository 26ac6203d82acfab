//===- ABI.h - what compiled kernels and the simulator agree on -----------===//
//
// The pass convert-gpu-to-sim makes of each kernel a function `void kernel(ThreadState *, void **params)` and constants
// `int64_t kernel_info[]` and `char kernel_arguments[]`. Both sides include this header; it needs neither MLIR nor
// anything of the run time.
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
  BlockInClusterX,
  ClusterBlocksX = BlockInClusterX + 3, // blocks of a cluster
  ClusterIdX = ClusterBlocksX + 3,
  ClusterCountX = ClusterIdX + 3,  // clusters of the grid
  ClusterRank = ClusterCountX + 3, // the block's number in its cluster
  NumStateWords
};

constexpr int warpSize = 32;

/// The words of a kernel's info.
enum InfoWord : int {
  InfoSynchronizes,      // 1 if the threads of a block wait for each other
  InfoSharedGranularity, // bytes of shared memory that the smallest access covers
  InfoPrivateBytes,      // bytes of private arrays a thread
  InfoAsynchronous,      // 1 if the kernel uses barriers of phases, TMA copies or matmuls of warpgroups
  InfoClusterX,          // blocks of a cluster
  InfoClusterY,
  InfoClusterZ,
  InfoNumRegions, // of shared memory, that have names
  InfoNumArguments,
  // Then for each argument: parameter, element bytes (0: no memory), rank, how many strides it has (0: it is
  // row-major), its extents and its strides in elements (-1: the next parameter).
  NumInfoWords
};

/// After the arguments come the regions, whose names stand behind those of the arguments.
enum RegionWord : int {
  RegionOffset,
  RegionBytes,    // of one slot
  RegionSlots,    // 1 unless it is a ring
  RegionBarriers, // where a ring's barriers lie, or -1
  NumRegionWords
};

/// What a check finds. A bad access is reported and then done all the same, except one that is out of bounds. A
/// division by zero has a result, which is reported where it is used.
enum Defect : int32_t {
  NoDefect,
  OutOfBounds,
  UnwrittenRead,
  Race,
  UnfinishedCopy,
  MissingFence,
  BarrierAccess,
  DivisionByZero
};

/// An access as compiled code describes it: these bits or'ed.
enum AccessFlag : int32_t { AccessWrites = 1, AccessShared = 2, AccessPrivate = 4 };

/// Modes of a shuffle, numbered as gpu::ShuffleMode is.
enum class ShuffleMode : int32_t { Xor, Down, Up, Idx };

/// The types of the operands and accumulators of a matmul.
enum class MatrixTypes : int32_t { F16ToF32, F16ToF16, BF16ToF32, TF32ToF32, S8ToS32, E4M3ToF32, E5M2ToF32 };

/// Types of the operands and accumulators of a matmul of warpgroups, numbered as tile::Element is.
enum class Element : int32_t { F16, BF16, TF32, E4M3, E5M2, S8, F32, S32 };

/// What one `tile.wgmma` does: this many instructions, each with two descriptors of 64 bits, one behind the other.
enum MatmulWord : int {
  MatmulA, // Element
  MatmulB,
  MatmulAccumulator,
  MatmulColumns,
  MatmulAccumulatorColumns, // at least as many
  MatmulMajors,             // 1: the first operand's rows are summed over; 2: the second's
  MatmulInstructions,
  NumMatmulWords
};

/// Fences, as `tw_sim_fence` numbers them.
enum class Fence : int32_t { Async, BarrierInit };

// `places` of a report is the index and the extent of each dimension, in order.
//
// The functions that compiled code calls. A site is two strings, one behind the other, each ended by a zero: the name
// of the buffer or operation, and the source line.
constexpr const char barrierFunction[] = "tw_sim_barrier"; // (state, site)
constexpr const char pollFunction[] = "tw_sim_poll";       // (state), now and then in what runs long
constexpr const char endFunction[] = "tw_sim_end";         // (state, site)
constexpr const char shuffleFunction[] = "tw_sim_shuffle"; // (state, site, mode, bits, offset, width) -> bits
constexpr const char loadMatricesFunction[] =
    "tw_sim_load_matrices";                                       // (state, site, matrices, transposed, row, result)
constexpr const char multiplyFunction[] = "tw_sim_multiply";      // (state, site, types, k, a, b, c, which it adds to)
constexpr const char loadGlobalFunction[] = "tw_sim_load_global"; // (state, argument or -1, address, bytes) -> defect
constexpr const char storeGlobalFunction[] = "tw_sim_store_global"; // (state, argument or -1, address, bytes) -> defect
constexpr const char loadSharedFunction[] = "tw_sim_load_shared";   // (state, address, bytes, site) -> defect
constexpr const char storeSharedFunction[] = "tw_sim_store_shared"; // (state, address, bytes, site, value) -> defect
constexpr const char copySharedFunction[] = "tw_sim_copy_shared";   // the same, of a copy that ends at a wait
constexpr const char commitCopiesFunction[] = "tw_sim_commit_copies"; // (state)
constexpr const char waitCopiesFunction[] = "tw_sim_wait_copies";     // (state, how many groups may be under way)
// Of kernels of asynchronous tiles. Addresses lie in shared memory, one of the cluster's if not the block's own.
constexpr const char loadBytesFunction[] = "tw_sim_load_bytes";   // (state, site, address, result, bytes)
constexpr const char storeBytesFunction[] = "tw_sim_store_bytes"; // (state, site, address, value, bytes)
constexpr const char storeMatricesFunction[] =
    "tw_sim_store_matrices";                           // (state, site, matrices, transposed, address, registers)
constexpr const char electFunction[] = "tw_sim_elect"; // (state, site) -> 1 in one lane of the warp, else 0
constexpr const char namedBarrierFunction[] = "tw_sim_named_barrier";   // (state, site, number, threads or 0 for all)
constexpr const char namedArriveFunction[] = "tw_sim_named_arrive";     // the same, and nobody waits
constexpr const char clusterArriveFunction[] = "tw_sim_cluster_arrive"; // (state, site)
constexpr const char clusterArriveRelaxedFunction[] = "tw_sim_cluster_arrive_relaxed"; // (state, site)
constexpr const char clusterWaitFunction[] = "tw_sim_cluster_wait";                    // (state, site)
constexpr const char peerAddressFunction[] = "tw_sim_peer_address";   // (state, site, address, rank) -> address
constexpr const char setRegistersFunction[] = "tw_sim_set_registers"; // (state, site, registers)
constexpr const char fenceFunction[] = "tw_sim_fence";                // (state, fence)
constexpr const char startBarrierFunction[] = "tw_sim_start_barrier"; // (state, site, address, arrivals a phase)
constexpr const char arriveFunction[] = "tw_sim_arrive"; // (state, site, address, arrivals, bytes that are to come)
constexpr const char waitPhaseFunction[] = "tw_sim_wait_phase"; // (state, site, address, parity)
// (state, site, target, map, coordinates innermost first, their number, barrier, blocks' bits or 0 for the own alone)
constexpr const char loadTileFunction[] = "tw_sim_load_tile";
// (state, site, map, dimension innermost first, coordinate): of a dimension whose coordinates the program read
constexpr const char checkPlaceFunction[] = "tw_sim_check_place";
// (state, site, map, source, coordinates, their number, whether elements are added)
constexpr const char storeTileFunction[] = "tw_sim_store_tile";
constexpr const char commitStoresFunction[] = "tw_sim_commit_stores"; // (state)
constexpr const char waitStoresFunction[] = "tw_sim_wait_stores";     // (state, how many groups may be under way)
// (state, site, accumulator or 0, matmul, descriptors) -> accumulator
constexpr const char beginMatmulFunction[] = "tw_sim_begin_matmul";
// The same of a first operand in registers: (..., registers of all instructions, four each); its descriptors are 0.
constexpr const char beginRegisterMatmulFunction[] = "tw_sim_begin_register_matmul";
constexpr const char beginAccumulatorFunction[] =
    "tw_sim_begin_accumulator";                      // (state, site, matmul, registers) -> accumulator
constexpr const char packFunction[] = "tw_sim_pack"; // (numbers of f32, registers of four e4m3 each, their number)
constexpr const char commitMatmulsFunction[] = "tw_sim_commit_matmuls"; // (state)
constexpr const char waitMatmulsFunction[] = "tw_sim_wait_matmuls";     // (state, how many groups may be under way)
// (state, site, counter, warpgroups, whether to count only if it is the last) -> 1 for the last of so many, else 0
constexpr const char countArrivalFunction[] = "tw_sim_count_arrival";
constexpr const char readAccumulatorFunction[] = "tw_sim_read_accumulator"; // (state, site, accumulator, result)
constexpr const char reportFunction[] = "tw_sim_report"; // (state, defect, flags, site, rank, elements, places)

} // namespace tilewright::sim

#endif
