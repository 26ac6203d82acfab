//===- TileEmitter.h - work on tiles as a kernel of the dialect tile ------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILEEMITTER_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILEEMITTER_H

#include "passes/loops-to-tile/TileProgram.h"

namespace tilewright {

/// How clusters share the steps of tiles: each has `whole` tiles for itself; of the `shared` tiles that are left each has
/// `each` steps, the first `more` clusters one more. No share ends within `grain` steps of the end of a tile.
struct TileShares {
  TileShares(int64_t tiles, int64_t steps, int64_t clusters);
  int64_t steps, clusters, whole = 0, shared = 0, each = 0, more = 0, grain = 0;
};

/// A place among the tiles: columns along blockIdx.x, rows along blockIdx.y.
struct TilePlace {
  mlir::Value column, row;
};

/// Puts a launch in the place of a program's nest.
class TileEmitter {
public:
  explicit TileEmitter(TileProgram &program);
  void emit();

private:
  /// What a role knows of the ring's next slot.
  struct RingState {
    mlir::Value slot, phase;
  };

  // TileEmitter.cpp: the launch, and what a block does.
  void emitMaps();
  mlir::gpu::LaunchOp emitLaunch();
  void emitRole(mlir::StringRef name, int64_t warps, int64_t registers, bool multiplies);
  /// What a role does for one tile; gives the ring's state after it.
  RingState emitTile(bool multiplies, RingState state);
  /// Whether the tile belongs to the tensors, where that is not known.
  mlir::Value emitIsThere();
  void emitConsumer(mlir::Value number);
  /// Has the tiles of a step copied to a slot.
  void emitFill(mlir::Value step, RingState state);
  RingState advance(RingState state, int64_t by = 1);
  void emitDrain(RingState state, bool multiplies);
  RingState emitLoads(RingState state);

  // EmitProducts.cpp: the steps of a tile.
  /// Where several sets of warpgroups take tiles in turn: an op of the turn, unless the condition holds.
  template <typename Op> void emitTurn(mlir::Value isLeftOut);
  /// Where warpgroups take steps in turn: an op of the turn, by all of them or by one.
  template <typename Op> void emitStepsTurn(std::optional<int64_t> onlyBy = std::nullopt);
  /// The first of a tile's steps that this block does, the one after it, and the one after the last.
  mlir::Value getFirstStep() { return firstStep ? firstStep : constant(0); }
  mlir::Value getSecondStep() {
    return firstStep ? mlir::arith::AddIOp::create(builder, loc, firstStep, constant(1)).getResult() : constant(1);
  }
  mlir::Value getEndStep() { return endStep ? endStep : program.steps.getUpperBound(); }
  /// Whether the loop over steps begins with the first one.
  bool hasFirstStepInLoop() const { return program.narrower.has_value(); }
  RingState emitFirstLoads(RingState state);
  void emitLoadAhead(mlir::Value step, RingState state);
  RingState emitProducts(RingState state, mlir::Value &fragment);
  RingState emitPromotedProducts(RingState state, mlir::Value &fragment);
  tile::AccumulatorType getAccumulatorType();
  mlir::Value emitProduct(mlir::ValueRange buffers, mlir::Value accumulator);
  /// What the products of so many slots add up to, once they are done.
  mlir::Value emitPart(RingState state, int64_t count);
  mlir::Value emitSum(mlir::Value sum, mlir::Value part);

  // TileOrder.cpp: which tiles a block takes.
  /// The loop over tiles that a persistent block goes through, or what one block does.
  void emitTiles(bool multiplies);
  /// The values of the loops on block indices, from the number of the cluster's tile.
  void emitPlace(mlir::Value tile);
  /// The place of a number in the schedule's order among so many columns and rows of clusters.
  TilePlace getPlace(mlir::Value number, mlir::Value columns, mlir::Value rows);
  /// How many clusters, tiles and steps there are, before the launch.
  void emitCounts();

  // StreamK.cpp: blocks that share the reductions of the last tiles.
  /// What a cluster has of a tile: whether it is all, or its last steps. The tile is one of those that are shared.
  struct TilePart {
    mlir::Value cluster, tile, isWhole, ends;
  };
  TileShares getShares() const;
  /// The buffers in global memory for parts of tiles.
  void emitWorkspace();
  void emitShares(bool multiplies, mlir::Value cluster);
  std::pair<mlir::Value, mlir::Value> emitSumOfParts(mlir::Value fragment);

  // NarrowerTiles.cpp: tiles of several widths.
  /// The index, where what the loop on tiles adds is so many units.
  LinearIndex getInUnits(const LinearIndex &index) const;
  void emitNarrowMaps();
  /// The place of a tile where some are narrower, with its column in units.
  TilePlace getPlaceOfSeveralWidths(mlir::Value tile);
  /// Which of the widths a tile has.
  mlir::Value getWidth(mlir::Value tile);
  /// What `emit` makes for the columns of each width, of which one is chosen.
  mlir::scf::IndexSwitchOp emitForWidth(mlir::Value width, mlir::TypeRange types,
                                        llvm::function_ref<mlir::SmallVector<mlir::Value>(int64_t)> emit);
  /// Stores columns of the sums, from `firstColumn` on, to their coordinates.
  void emitStore(mlir::Value buffer, mlir::ValueRange coordinates, int64_t firstColumn, mlir::Value width);

  // DeferredResult.cpp: a result that is stored while the next tile is multiplied.
  /// A tile's result, of which threads hold the elements, and its place.
  struct HeldResult {
    mlir::Value fragment, isThere;
    mlir::SmallVector<mlir::Value> coordinates;
    mlir::Value width; // where there are narrower tiles
  };
  bool defersResult() const { return program.result && program.result->isDeferred; }
  void holdNothing();
  void holdResult(mlir::Value sums, mlir::Value isThere);
  /// After how many of a tile's first steps parts of what is held are stored.
  int64_t countStoringSteps();
  /// Stores parts of what is held, if there is anything.
  void emitHeldResult(int64_t firstPart, int64_t parts);
  /// How many parts are stored after a step: all that are left after the last that stores.
  int64_t countPartsBehind(int64_t step);
  /// The part that is stored after a step, one from `firstPart` on.
  void emitHeldBehind(mlir::Value step, int64_t firstPart);
  /// What a loop over tiles carries: at its beginning, from one tile to the next, and what is done with it behind the last.
  mlir::SmallVector<mlir::Value> beginTiles(RingState state, bool multiplies);
  mlir::SmallVector<mlir::Value> carry(RingState state);
  RingState takeCarried(mlir::ValueRange values);
  void endTiles(mlir::ValueRange values, bool multiplies);

  // EmitFunctions.cpp: what becomes of the sums.
  void emitFunctions(mlir::Value fragment);
  /// A map of fragments whose elements are `value`, or, if it `stores`, that stores them where the loops do.
  mlir::Value emitFunction(TileFunction &function, mlir::Value value, mlir::Type element, bool stores);
  /// Where the warpgroup's rows of the result begin.
  mlir::SmallVector<mlir::Value> getResultCoordinates();
  /// The result goes by way of its buffer in so many parts, of so many columns of the sums each.
  int64_t getPartColumns() const;
  int64_t countResultParts() const { return program.getResultColumns() / getPartColumns(); }
  /// The buffer that it goes by way of, and what a warpgroup has of it for a part.
  tile::BufferType getResultType() const;
  tile::BufferType getResultPartType() const;
  void emitResult(mlir::Value fragment, mlir::ValueRange coordinates, int64_t firstPart, int64_t parts, mlir::Value width);
  /// A value of the nest, made again at the insertion point from what `mapping` has.
  mlir::Value remake(mlir::Value value, mlir::IRMapping &mapping);

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value constant32(int64_t value) {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  mlir::Value binary(mlir::AffineExpr expr, mlir::ValueRange operands) {
    return mlir::affine::makeComposedAffineApply(builder, loc, expr, mlir::getAsOpFoldResult(operands));
  }
  /// The tensor map for copies of parts as large as `buffer`.
  mlir::Value emitMap(const TileCopy &copy, tile::BufferType buffer);
  /// Of the tile's first element, in the tensor map.
  mlir::SmallVector<mlir::Value> getCoordinates(const TileCopy &copy);
  /// From there to one of the parts of so many rows.
  void moveToPart(const TileCopy &copy, int64_t rows, mlir::Value number, mlir::MutableArrayRef<mlir::Value> coordinates);
  tile::BufferType getBufferType(const TileCopy &copy, mlir::Type element, int64_t columns);
  /// Of a part of a buffer: where there is one panel nothing lies between it and the next.
  static tile::BufferType getPartType(tile::BufferType whole, int64_t rows, int64_t columns) {
    return tile::BufferType::get(whole.getContext(), {rows, columns}, whole.getElementType(), whole.getSwizzle(),
                                 columns > whole.getPanelColumns() ? whole.getPanelRows() : rows);
  }
  mlir::Type getElement(const TileCopy &copy) const;
  bool isPersistent() const { return program.nest->hasAttr(schedule::kPersistentAttr); }

  TileProgram &program;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Value clusters[3], tiles;            // of the launch: clusters along each block index, and tiles that each has
  mlir::Value stayingClusters;               // those that go through the tiles, where they stay
  bool isNonEmpty = true;                    // whatever the extents are there are tiles
  tile::RingType ringType;
  mlir::SmallVector<tile::BufferType> parts; // of each load: what one block of the cluster copies
  mlir::SmallVector<mlir::Value> maps;       // of each load
  mlir::Value resultMap, ring, result;       // the result's map and buffer
  llvm::SmallDenseMap<int64_t, mlir::Value> narrowResultMaps; // for tiles that are narrower, by their columns
  mlir::Value width;                         // where tiles are of several widths: which of these the tile's is
  mlir::Value isBackwards;                   // whether its steps are gone through from the last one, if that changes
  mlir::Value ranks[2];                      // of the block in its cluster
  mlir::Value warpgroup, myResult;
  mlir::Value set, isFirstTurn, isLastTurn; // of warpgroups that take tiles in turn
  mlir::Value firstStep, endStep;            // where these are not all steps, from 0 on
  std::optional<TilePart> share;             // where a block may have a part of a tile
  std::optional<HeldResult> held;            // of the tile before
  mlir::Value savedParts, arrivals;          // in global memory
  mlir::IRMapping places;                    // values for the loops on blocks and warpgroups, and of steps
  llvm::DenseMap<mlir::Value, mlir::Value> fragments; // what buffers of the nest hold
};

} // namespace tilewright

#endif
