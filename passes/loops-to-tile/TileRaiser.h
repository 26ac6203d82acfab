//===- TileRaiser.h - a nest of loops as ops on tiles ---------------------===//
//
// What raise-to-tile-ops makes of a nest: loops on blocks and warpgroups are a tile.kernel's grid, and each statement
// in them is an op on tiles by itself, at its place. Everything is checked against what the loops say, so that the ops
// compute the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILERAISER_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILERAISER_H

#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/index/LinearIndex.h"

#include <string>

namespace tilewright {

/// A dimension of the tensor as TMA sees it.
struct TileDimension {
  int64_t extent, stride;   // of the tensor, in elements
  int64_t box, step;        // the tile takes so many elements, one in `step`
  index::LinearIndex first; // the tile's first element, of loops around the copy
};

/// A dimension whose index the program reads from memory, once for so many rows of the tile: pages, by their numbers.
struct GatheredDimension {
  unsigned number;                      // of the tensor's dimensions
  mlir::Value index;                    // in the loops of the copy
  mlir::scf::ForOp rows;                // the loop over the tile's rows, null where one index is that of all rows
  llvm::SmallVector<mlir::Value> loops; // of the copy
  int64_t count = 1, each = 0;          // indices of a tile, rows of each
  unsigned inner = 0;                   // the dimension that the rows go along
  unsigned inMap = 0;                   // its number among the map's dimensions
};

/// Loops that copy a tile between a tensor in global memory and a buffer in shared memory.
struct TileCopy {
  mlir::memref::StoreOp store;
  mlir::memref::LoadOp load;
  mlir::Value tensor, buffer; // in global memory, in shared memory
  llvm::SmallVector<TileDimension, 0>
      dimensions;                // of the tensor map, outermost first; the last one's are columns, all others rows
  int64_t rows = 0, columns = 0; // of the tile
  std::optional<GatheredDimension> gathered;
  llvm::SmallVector<mlir::Value> read; // of what the places are sums: numbers in memory, one for all of the tile
  int64_t swizzle = 0;
  int64_t atOnce = 0;      // so many columns of the tile, or of the accumulator, are in the buffer at a time
  bool isDeferred = false; // until the block's next tile is computed
  bool byThreads = false;  // not by TMA
  mlir::Location getLoc() const { return const_cast<TileCopy *>(this)->store.getLoc(); }
  llvm::SmallVector<int64_t> getBox() const;
  /// The rows, along each dimension where there is more than one.
  std::string describeRows() const;
  /// Whether the dimensions are those of the tensor, and the tile takes all elements along each.
  bool hasTensorDimensions() const;
};

/// One operand of a matmul, as a part of a buffer.
struct TileOperand {
  mlir::Value buffer;
  bool isMNMajor = false; // its rows are summed over
  int64_t rows = 0, columns = 0;
  index::LinearIndex firstRow, firstColumn;
};

/// Raises one nest. What it makes stands before the nest, which stays as it is.
class TileRaiser {
public:
  TileRaiser(mlir::Operation *nest, mlir::func::FuncOp function) : nest(nest), function(function), builder(nest) {}

  /// Whether a nest is to become a kernel of tiles.
  static bool isWanted(mlir::Operation *nest);
  mlir::LogicalResult raise();
  mlir::InFlightDiagnostic matmulError() const;
  /// What the nest became.
  tile::KernelOp getKernel() const { return kernel; }

private:
  mlir::InFlightDiagnostic error(const mlir::Twine &primitive, mlir::Location loc) const {
    return mlir::emitError(loc) << primitive << ": ";
  }
  /// The stage of the first matmul, for messages.
  std::string getStage() const;

  // RaiseToTileOps.cpp: the grid.
  mlir::LogicalResult matchGrid();
  mlir::LogicalResult checkLanes();
  mlir::LogicalResult makeKernel();
  void guardTilesBeyond();
  /// A loop's extent, before the nest.
  mlir::FailureOr<mlir::Value> hoistExtent(mlir::StringRef primitive, mlir::scf::ForOp loop);

  // RaiseStatements.cpp: what stands in the loops on blocks and warpgroups, statement by statement.
  mlir::LogicalResult raiseBlock(mlir::Block &block, mlir::scf::ForOp pipeline);
  mlir::LogicalResult raiseStatement(mlir::Operation *statement, mlir::scf::ForOp pipeline);
  /// A loop around matmuls, which carries the tiles in registers that it stores to.
  mlir::LogicalResult raiseLoop(mlir::scf::ForOp loop, mlir::scf::ForOp pipeline);
  /// Loops between the pipelined loop and a matmul, which are unrolled.
  mlir::LogicalResult raiseUnrolled(mlir::scf::ForOp loop);
  mlir::LogicalResult checkIterations(mlir::scf::ForOp loop);
  mlir::LogicalResult raiseFill(mlir::memref::StoreOp store, mlir::Operation *of);

  // MatchCopies.cpp
  mlir::FailureOr<TileCopy> matchCopy(mlir::Operation *of, mlir::memref::StoreOp store);
  // RaiseGathers.cpp
  /// A load's dimension whose index is read from memory. `indices` are then those of one page after the other.
  mlir::LogicalResult matchGathered(mlir::Operation *of, TileCopy &copy,
                                    llvm::MutableArrayRef<index::LinearIndex> indices);
  /// Finds numbers in memory that the places of a load's elements are sums of, each one for all of the tile.
  void findRead(mlir::Operation *of, TileCopy &copy, llvm::ArrayRef<index::LinearIndex> indices);
  /// The indices that a tile has along such a dimension.
  llvm::SmallVector<mlir::Value> getGatheredCoordinates(const TileCopy &copy);
  // RaiseCopies.cpp
  mlir::LogicalResult raiseLoad(mlir::Operation *of, mlir::memref::StoreOp store);
  mlir::LogicalResult raiseStore(mlir::Operation *of, mlir::memref::StoreOp store);
  /// The axis of the cluster along which all blocks need the same.
  tile::ClusterAxisAttr getMulticast(const TileCopy &copy);
  llvm::SmallVector<mlir::Value> getCoordinates(const TileCopy &copy);

  // RaiseMatmuls.cpp
  mlir::LogicalResult raiseMatmul(mlir::scf::ForOp loops, mlir::ArrayRef<mlir::scf::ForOp> unrolled);
  mlir::FailureOr<TileOperand> matchOperand(mlir::memref::LoadOp load, schedule::MatrixOperand which,
                                            mlir::scf::ForOp nest, mlir::ArrayRef<mlir::scf::ForOp> loops,
                                            const index::LinearIndex &along, int64_t extent, index::LinearIndex &summed,
                                            int64_t &k);
  /// The same of operand A, in registers.
  mlir::FailureOr<TileOperand> matchFragment(mlir::memref::LoadOp load, tile::FragmentType type,
                                             schedule::MatrixOperand which, mlir::scf::ForOp nest,
                                             mlir::ArrayRef<mlir::scf::ForOp> loops, const index::LinearIndex &along,
                                             index::LinearIndex &summed, int64_t &k);
  mlir::Value makeOperand(const TileOperand &of, mlir::Location loc);
  /// Whether its matmuls are of f32 and not of tf32.
  bool multipliesF32() const;
  /// Has all warpgroups' fragments of a stage in shared memory, for a matmul to read.
  mlir::LogicalResult shareFragments(mlir::Value buffer, mlir::scf::ForOp matmul);
  /// The loop on warpgroups around `op`, or null.
  mlir::scf::ForOp getWarpgroupsAround(mlir::Operation *op) const;

  // RaiseElementwise.cpp
  mlir::LogicalResult raiseElementwise(mlir::Operation *of, mlir::memref::StoreOp store);
  /// Elements that are computed one by one: the loops, as digits of the element's row and column in the fragment.
  struct Elements {
    mlir::Operation *nest;
    mlir::memref::StoreOp store;
    llvm::SmallVector<index::Digit> rows, columns;
    index::LinearIndex row, column;
    tile::FragmentType like = nullptr; // the widest fragment that is read
    mlir::Value reduced = nullptr;     // a buffer that the elements of each row are reduced to
  };
  /// What is read of fragments: elements at one place, and of columns the row's.
  bool matchElements(Elements &elements);
  /// Loops that reduce each row of elements to one. Nothing where they do something else.
  std::optional<mlir::LogicalResult> raiseRowReduction(mlir::Operation *of,
                                                       llvm::ArrayRef<mlir::memref::StoreOp> stores);
  /// A map of fragments whose elements are `value`, or, if it `stores`, that stores them where the loops do.
  mlir::Value makeMap(const Elements &elements, mlir::Value value, mlir::Type element, bool stores);
  /// A value of the nest, made again at the insertion point from what `mapping` has.
  mlir::Value remake(mlir::Value value, mlir::IRMapping &mapping);

  mlir::Operation *nest;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::scf::ForOp blocks[3]; // by block index, null where none is bound
  mlir::Value extents[3];     // of these, before the nest
  mlir::scf::ForOp lanes, warpgroups;
  mlir::scf::ForOp matmul, pipeline; // the first of each
  mlir::Block *blockBody = nullptr, *warpgroupBody = nullptr;
  int64_t cluster[3] = {1, 1, 1}, numWarpgroups = 1, numSets = 1;

  tile::KernelOp kernel;
  mlir::IRMapping places; // what loops on blocks, warpgroups and iterations are in the kernel
  llvm::SmallMapVector<mlir::Value, mlir::Value, 8> tiles; // what buffers of the nest hold: tiles, and fragments
  llvm::SmallDenseSet<mlir::Value> transposed;             // shared buffers whose rows are the fragment's columns
  llvm::SmallVector<TileCopy, 0> loads;
  bool hasResult = false;
};

/// The loops around `op` up to `nest`, which is one of them, outermost first.
llvm::SmallVector<mlir::scf::ForOp> getLoopsAround(mlir::Operation *op, mlir::Operation *nest);
inline bool isInGlobalMemory(mlir::Value buffer) {
  return !mlir::cast<mlir::MemRefType>(buffer.getType()).getMemorySpace();
}
/// Whether all that is computed in `nest` of such indices is sums of multiples of loops, and of `known` values.
bool areOfLoops(llvm::ArrayRef<index::LinearIndex> indices, mlir::Operation *nest, mlir::ValueRange known = {});
/// The row and the column of an element of a buffer: all of its dimensions but the last are rows.
std::optional<std::pair<index::LinearIndex, index::LinearIndex>> getRowAndColumn(mlir::Value buffer,
                                                                                 mlir::ValueRange indices);
int64_t countRows(mlir::Value buffer);
/// Whether a buffer has one element for each row of a warpgroup's tile.
bool isColumn(mlir::Value buffer);
/// Of such a buffer, the row.
std::optional<index::LinearIndex> getRow(mlir::Value buffer, mlir::ValueRange indices);
/// The fragment that holds a buffer's elements.
tile::FragmentType getFragmentType(mlir::Value buffer);
/// The stores in `nest`.
llvm::SmallVector<mlir::memref::StoreOp> getStores(mlir::Operation *nest);
/// What to do with a stage that warpgroups cannot compute between their loads and matmuls, for a diagnostic.
std::string sayOtherPlace(mlir::Operation *nest, llvm::StringRef stage);
/// Whether an op stands where the condition of `guard` does not hold.
inline bool isInElse(mlir::Operation *op, mlir::scf::IfOp guard) {
  return guard.getElseRegion().isAncestor(op->getParentRegion());
}
/// Ops that only compute or name things, which are made again where they are needed.
bool isOnlyComputed(mlir::Operation *op);
/// Of a part of a buffer: where there is one panel nothing lies between it and the next.
inline tile::BufferType getPartType(tile::BufferType whole, int64_t rows, int64_t columns) {
  return tile::BufferType::get(whole.getContext(), {rows, columns}, whole.getElementType(), whole.getSwizzle(),
                               columns > whole.getPanelColumns() ? whole.getPanelRows() : rows);
}
/// The outermost loop of a matmul by warpgroups.
bool isMatmul(mlir::Operation *op);
/// After how many iterations what the tensor cores added up is promoted; 0 where they add up all.
int64_t getPromoted(mlir::scf::ForOp matmul);
bool isZero(mlir::Value value);

} // namespace tilewright

#endif
