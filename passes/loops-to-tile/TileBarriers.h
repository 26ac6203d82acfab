//===- TileBarriers.h - rings' slots, and what waits for what -------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILEBARRIERS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILEBARRIERS_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// What a role knows of a ring: its next slot.
struct RingState {
  mlir::Value slot, phase;
};

/// A slot whose tiles are read, until the matmuls that read them are done. `last` is the last op of the block that
/// reads.
struct ReadSlot {
  mlir::Value ring, slot;
  mlir::Operation *last;
};

/// Lowers what one role stores: by way of a buffer in shared memory, of which each warpgroup has a part.
class StorePlacer {
public:
  StorePlacer(tile::KernelOp kernel, mlir::Block &role) : kernel(kernel), role(role), builder(kernel.getContext()) {}
  mlir::LogicalResult place(tile::StoreOp store);
  /// By way of a buffer of the block, which nobody reads any more where one warpgroup writes to it again.
  void place(tile::ShareOp share);
  /// At the role's end: nothing of the block's memory is read any more.
  void finish();

private:
  mlir::Value getBuffer(tile::StoreOp store);
  mlir::Value getMap(tile::StoreOp store, tile::BufferType part);
  mlir::Value getNarrowMap(tile::StoreOp store, tile::BufferType part, int64_t width);
  void emitRows(tile::StoreOp store, mlir::Value buffer, mlir::ValueRange coordinates);
  void emitCopy(tile::StoreOp store, mlir::Value buffer, mlir::ValueRange coordinates, int64_t firstColumn);

  tile::KernelOp kernel;
  mlir::Block &role;
  mlir::OpBuilder builder;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> buffers, maps;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> narrowMaps;
  bool hasTMA = false;                                                        // copies of buffers
  llvm::DenseSet<mlir::Value> written;                                        // buffers, by stores so far
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> shared; // by stages and types
};

/// Places the barriers of what one role does, in the order in which its ops stand: gets and puts become slots of rings,
/// matmuls become wgmma with the waits that they need, and stores go by way of shared memory.
class BarrierPlacer {
public:
  BarrierPlacer(tile::KernelOp kernel, mlir::Block &role)
      : kernel(kernel), role(role), builder(kernel.getContext()), stores(kernel, role) {}

  mlir::LogicalResult placeRole();

private:
  mlir::LogicalResult place(mlir::Block &block);
  mlir::LogicalResult placeLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult placeAccumulation(mlir::scf::ForOp loop);
  mlir::LogicalResult placeIf(mlir::scf::IfOp choice);
  mlir::LogicalResult placeElect(tile::ElectOp elect);
  void placeGet(tile::GetOp get);
  /// Fills a slot, which is acquired behind `before`, or at the block's start; gives back what ends that.
  mlir::Operation *placePut(tile::PutOp put, mlir::Operation *before, RingState state);
  void placeSkip(tile::SkipOp skip);
  /// The matmuls that follow `first`, each of which adds to the one before, as one group of wgmma.
  mlir::LogicalResult placeMatmuls(tile::MatmulOp first);
  mlir::Value emitGroup(llvm::ArrayRef<tile::MatmulOp> group, mlir::Value accumulator);
  /// What an accumulator holds, once all matmuls are done. Turns that are passed on right behind do not wait for that.
  mlir::Value waitFor(mlir::Value accumulator, mlir::Operation *behind);
  /// Whether a matmul's result is used behind another matmul, so that both are under way at once.
  bool isUsedLater(tile::MatmulOp last);
  /// Whether matmuls under way read what warpgroups share.
  bool readsShared() const;
  /// Waits for what is under way of which `op` uses the result, or for all of it.
  void waitBefore(mlir::Operation *op, bool forAll);
  /// Waits until all slots have been used, by the cluster's other blocks too: then nothing of theirs is on its way to
  /// this block's memory, and it may end.
  void drain(mlir::Block &block);

  RingState advance(mlir::Value ring, RingState state, int64_t by = 1);
  RingState &getState(mlir::Value ring);
  /// Goes on behind slots that were taken.
  void advanceTaken();
  void release(llvm::ArrayRef<ReadSlot> slots);
  void releaseReadUpTo(llvm::function_ref<bool(mlir::Operation *)> isLast);

  tile::KernelOp kernel;
  mlir::Block &role;
  mlir::OpBuilder builder;
  StorePlacer stores;
  mlir::Block *top = nullptr; // where the rings' states begin
  bool getsTiles = false;     // the role, beside those that it puts
  llvm::SmallMapVector<mlir::Value, RingState, 4>
      states; // of the slots that the role gets or, if it gets none, puts next
  llvm::SmallMapVector<mlir::Value, RingState, 4> ahead; // of those that a role that gets tiles puts next
  llvm::SmallVector<mlir::Value> taken;                  // rings whose state is still that of a slot that was taken
  llvm::SmallVector<ReadSlot> reading;                   // slots that were taken
  llvm::SmallVector<ReadSlot> underWay; // those that matmuls read of which nobody knows that they are done
  llvm::DenseMap<mlir::Value, mlir::Value> accumulators; // of fragments whose matmuls are under way
  /// Groups of matmuls that are waited for where their result is used, the oldest first.
  struct Group {
    mlir::Value sum, result;
    llvm::SmallVector<ReadSlot> read;
    bool readsShared; // what warpgroups share
  };
  llvm::SmallVector<Group> groups;
  // In a loop that is an accumulation: its accumulators, what the iteration before read, and whether there always was
  // one.
  mlir::scf::ForOp accumulation;
  int64_t numAccumulators = 0;
  bool isBegun = false;
  llvm::SmallVector<ReadSlot> readBefore;
};

/// Whether a kernel's blocks can copy what a load brings.
mlir::LogicalResult verifyLoad(tile::LoadOp load, tile::KernelOp kernel);
/// The matmuls that stand behind each other from `first` on, each of which adds to the one before.
llvm::SmallVector<tile::MatmulOp> getMatmulGroup(tile::MatmulOp first);
/// The type of the map of a tensor for copies of parts of a tile, or an error. `op` is a load or a store.
template <typename Op> mlir::FailureOr<tile::TensorMapType> getMapType(Op op, tile::BufferType part);
/// On the host: that map.
template <typename Op> mlir::Value encodeTile(Op op, tile::KernelOp kernel, tile::BufferType part);
/// Which of its widths a tile has: what `emit` makes for each, of which one is chosen.
mlir::scf::IndexSwitchOp emitForWidth(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value width,
                                      llvm::ArrayRef<int64_t> widths, mlir::TypeRange types,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t)> emit);

} // namespace tilewright

#endif
