//===- TileProgram.h - a nest of loops, read as work on tiles -------------===//
//
// What form-tile-kernels finds in a nest: which loops are blocks and warpgroups, which copies fill the buffers of the
// pipelined loop, what is multiplied, and what becomes of the sums. Everything is checked against what the loops say, so
// that a kernel made of it computes the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILEPROGRAM_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILEPROGRAM_H

#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/loops-to-gpu/InstructionMarks.h"
#include "passes/loops-to-tile/LinearIndex.h"

namespace tilewright {

/// A dimension of the tensor as the copy engine sees it.
struct TileDimension {
  int64_t extent, stride;   // of the tensor, in elements
  int64_t box, step;        // the tile takes so many elements, one in `step`
  LinearIndex first;        // the tile's first element, of loops around the copy
};

/// A tile that the copy engine moves between a tensor in global memory and a buffer in shared memory.
struct TileCopy {
  mlir::memref::StoreOp store;
  mlir::memref::LoadOp load;
  mlir::Value tensor, buffer;           // in global memory, in shared memory
  llvm::SmallVector<TileDimension, 0> dimensions; // of the tensor map, outermost first; the last one's are columns, all others rows
  int64_t rows = 0, columns = 0;        // of the tile
  int64_t swizzle = 0;
  int64_t atOnce = 0;                   // so many columns of the tile, or of the sums, are in the buffer at a time
  bool isDeferred = false;              // until the next tile's first products are under way
  mlir::Location getLoc() const { return const_cast<TileCopy *>(this)->store.getLoc(); }
  /// The extents of a part with so many of the rows, as one box of them; nothing where they are none.
  std::optional<llvm::SmallVector<int64_t>> getPartBox(int64_t partRows) const;
  /// The rows, along each dimension where there is more than one.
  std::string describeRows() const;
  /// Whether the dimensions are those of the tensor, and the tile takes all elements along each.
  bool hasTensorDimensions() const;
};

/// One operand of the product, as a part of a buffer.
struct TileOperand {
  mlir::Value buffer;
  bool isMNMajor = false;       // its rows are summed over
  int64_t rows = 0, columns = 0;
  LinearIndex firstRow, firstColumn;
};

/// Elements that are computed one by one from the sums: what a nest stores.
struct TileFunction {
  mlir::Operation *nest;
  mlir::memref::StoreOp store;
  llvm::SmallVector<Digit> rows, columns; // the loops, as digits of the element's row and column in the fragment
};

/// Tiles of several widths: in some rows of tiles there is one more than in the others, and many of them are narrower.
struct NarrowerTiles {
  /// Tiles of one width that are numbered one behind the other, in so many rows and columns of them; `firstRow` is a row of
  /// tiles, `firstColumn` one of the tensor.
  struct Zone {
    int64_t rows, columns, firstRow, firstColumn, width;
    int64_t first = 0; // the number of its first tile
    int64_t count() const { return rows * columns; }
  };
  /// Puts a zone behind the others, if it has tiles.
  void addZone(Zone zone);
  int64_t countAll() const { return zones.back().first + zones.back().count(); }
  /// The most columns that one of so many blocks has, which go through the tiles in turns.
  int64_t countColumnsOfLongest(int64_t blocks) const;
  /// Where tiles begin is counted in so many columns.
  int64_t getUnit() const;
  int64_t width;                     // of a tile that is not narrower
  llvm::SmallVector<Zone, 4> zones;  // from the widest on
  llvm::SmallVector<int64_t> widths; // each once, from the widest on
};

class TileProgram {
public:
  TileProgram(mlir::Operation *nest, mlir::func::FuncOp function) : nest(nest), function(function) {}

  /// Whether a nest is to become a kernel of tiles.
  static bool isWanted(mlir::Operation *nest);
  mlir::LogicalResult match();

  mlir::Operation *nest;
  mlir::func::FuncOp function;

  mlir::scf::ForOp blocks[3]; // by block index, null where none is bound; their extents, and that of `steps`, stand before the nest
  mlir::scf::ForOp lanes, warpgroups, steps, product;
  llvm::SmallVector<mlir::scf::ForOp> productLoops; // between steps and product, which are written out
  int64_t cluster[3] = {1, 1, 1};
  // Those that compute one tile; how many sets of these take the tiles of a block in turn.
  int64_t numWarpgroups = 1, numConsumers = 1;
  int64_t depth = 1, producerRegisters = 0, consumerRegisters = 0;

  llvm::SmallVector<TileCopy> loads; // in the order of the ring's buffers
  TileOperand a, b;
  mlir::Type aType, bType; // of the elements, as the instruction reads them
  const tile::WgmmaInstruction *instruction = nullptr;
  mlir::Value sum;         // the private buffer
  int64_t k = 0;
  int64_t promotedSteps = 0; // 0: the tensor cores add up all steps
  bool isSpecialized = false;
  llvm::SmallVector<TileFunction> functions; // after the steps, in order
  std::optional<TileCopy> result;            // from shared memory
  bool isTransposed = false;                 // the result has rows where the sums have columns
  std::optional<NarrowerTiles> narrower;

  /// Whether the warpgroups of a tile begin its steps one after the other: each gets through what it does between two tiles
  /// while the tensor cores do what the others began. Not those that share steps with other blocks, for which this gains
  /// little: what they know of their shares takes the registers that it needs.
  bool takesStepsInTurn() const {
    bool isDeferred = result && result->isDeferred;
    return isSpecialized && numConsumers == 1 && numWarpgroups > 1 && isDeferred && !sharesSteps();
  }
  /// Whether blocks share the steps of the last tiles.
  bool sharesSteps() const { return nest->hasAttr(schedule::kStreamKAttr); }
  /// The rows, or columns, of the result that are columns of the sums.
  int64_t getResultColumns() const { return isTransposed ? result->rows : result->columns; }
  /// Of a buffer for so many columns of the sums: its rows and columns.
  std::pair<int64_t, int64_t> getResultShape(int64_t columns, int64_t rows) const {
    return isTransposed ? std::pair(columns, rows) : std::pair(rows, columns);
  }
  /// Whether it follows from a symbolic extent how many steps there are.
  bool hasAnyNumberOfSteps() const;
  /// Whether blocks of the cluster along `tag` all need what a copy brings, and if so whether each brings columns of it,
  /// whole panels, rather than rows.
  bool isMulticast(const TileCopy &copy, unsigned tag) const;
  bool isMulticastByColumns(const TileCopy &copy, unsigned tag) const;
  /// The stage of a loop or buffer, for messages.
  std::string getStage() const;
  mlir::InFlightDiagnostic error(const mlir::Twine &primitive, mlir::Location loc) const {
    return mlir::emitError(loc) << primitive << ": ";
  }
  mlir::InFlightDiagnostic wgmmaError() const;

private:
  mlir::LogicalResult matchLoops();
  mlir::LogicalResult checkLanes();
  mlir::LogicalResult matchSteps();
  mlir::LogicalResult matchProductLoops();
  mlir::LogicalResult matchProduct();
  mlir::LogicalResult matchOperand(mlir::memref::LoadOp load, TileOperand &operand, mlir::ArrayRef<mlir::scf::ForOp> loops,
                                   const LinearIndex &along, int64_t extent, LinearIndex &summed);
  mlir::LogicalResult matchRest();
  mlir::LogicalResult matchFunction(mlir::Operation *nest, mlir::memref::StoreOp store);
  mlir::FailureOr<TileCopy> matchCopy(mlir::Operation *nest, mlir::memref::StoreOp store);
  /// Puts a loop's extent before the nest.
  mlir::LogicalResult hoistExtent(mlir::StringRef primitive, mlir::scf::ForOp loop);
  /// A loop on blocks, or on steps, whose extent is symbolic; null where there is none.
  mlir::scf::ForOp findSymbolicLoop() const;
  mlir::LogicalResult checkSteps();
  /// Whether blocks can go through the tiles as the schedule says.
  mlir::LogicalResult checkOrder();
  /// Finds out which tiles are narrower, if some are to be.
  mlir::LogicalResult matchNarrower();
  /// Whether some tiles can be narrower by half of `less`.
  bool canHalve(int64_t less) const;
  mlir::LogicalResult checkResources();
  mlir::LogicalResult checkDeferred();

  mlir::Block *blockBody = nullptr, *warpgroupBody = nullptr;
};

/// The loops around `op` up to `nest`, which is one of them, outermost first.
llvm::SmallVector<mlir::scf::ForOp> getLoopsAround(mlir::Operation *op, mlir::Operation *nest);
inline bool isInGlobalMemory(mlir::Value buffer) { return !mlir::cast<mlir::MemRefType>(buffer.getType()).getMemorySpace(); }
/// Whether all that is computed in `nest` of such indices is sums of multiples of loops.
bool areOfLoops(llvm::ArrayRef<LinearIndex> indices, mlir::Operation *nest);
/// The stores in `nest`.
llvm::SmallVector<mlir::memref::StoreOp> getStores(mlir::Operation *nest);
/// Whether an op stands where the condition of `guard` does not hold.
inline bool isInElse(mlir::Operation *op, mlir::scf::IfOp guard) {
  return guard.getElseRegion().isAncestor(op->getParentRegion());
}
/// Ops that only compute or name things, which are made again where they are needed.
bool isOnlyComputed(mlir::Operation *op);

} // namespace tilewright

#endif
