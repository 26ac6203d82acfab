//===- LoadMatrices.cpp - tiles fetched by a warp together ----------------===//
//
// An ldmatrix fetches up to four matrices of 8 rows of 16 bytes. Lanes 8m to 8m + 7 say where the rows of matrix m
// start; each lane gets what FragmentLayout says it has of each matrix. Transposed, for elements of 16 bits, it gets
// what the layout says of columns and rows exchanged.
//
//===----------------------------------------------------------------------===//
#include "passes/index/Bounds.h"
#include "passes/loops-to-gpu/Fragments.h"
#include "passes/loops-to-gpu/KernelMemory.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {

/// The bytes of a matrix's row.
static constexpr int64_t kRowBytes = 16;

namespace {
/// A copy of a part of a buffer in shared memory to tiles in registers, by two loops.
struct FragmentFill {
  scf::ForOp rowLoop, colLoop; // one directly in the other
  memref::LoadOp load;
  memref::StoreOp store;
  FragmentLayout layout;
  AffineExpr row, col; // of the tiles, with the loops at 0
};
} // namespace

/// Whether an access is all that its loops do: to copy from shared memory.
static std::optional<FragmentFill> findFill(const FragmentAccess &access, index::IndexSpace &space) {
  auto store = dyn_cast<memref::StoreOp>(access.op);
  auto load = store ? store.getValueToStore().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
  scf::ForOp rowLoop = access.rowLoop, colLoop = access.colLoop, inner = rowLoop, outer = colLoop;
  if (inner->isProperAncestor(outer))
    std::swap(inner, outer);
  if (!load || !isShared(load.getMemRef()) || store->getBlock() != inner.getBody() ||
      load->getBlock() != inner.getBody() || inner->getParentOp() != outer)
    return std::nullopt;
  for (Block *block : {inner.getBody(), outer.getBody()})
    for (Operation &op : block->without_terminator())
      if (&op != store && &op != load && &op != inner && (op.getNumRegions() || !isMemoryEffectFree(&op)))
        return std::nullopt;
  unsigned row = access.layout.rowDim, col = access.layout.colDim;
  for (auto [d, expr] : llvm::enumerate(access.indices))
    if (d != row && d != col &&
        (space.dependsOn(expr, rowLoop.getInductionVar()) || space.dependsOn(expr, colLoop.getInductionVar())))
      return std::nullopt;
  return FragmentFill{rowLoop,
                      colLoop,
                      load,
                      store,
                      access.layout,
                      space.without(access.indices[row], rowLoop.getInductionVar()),
                      space.without(access.indices[col], colLoop.getInductionVar())};
}

/// Whether the elements that `variable` counts, from a multiple of `count` on, lie together at an aligned address.
static bool liesTogether(memref::LoadOp load, Value variable, int64_t count, index::IndexSpace &space) {
  MemRefType type = load.getMemRefType();
  if (!type.getLayout().isIdentity() || type.getShape().back() % count)
    return false;
  AffineExpr group = space.getFresh();
  auto at = [&](int64_t element) {
    index::IndexSpace::Substitution substitution;
    substitution[variable] = group * count + element;
    return space.get(load.getIndices(), substitution);
  };
  SmallVector<AffineExpr> first = at(0);
  if (!index::isMultipleOf(first.back(), count))
    return false;
  for (int64_t element = 1; element < count; ++element) {
    SmallVector<AffineExpr> indices = at(element);
    indices.back() = space.simplify(indices.back() - element);
    if (indices != first)
      return false;
  }
  return true;
}

scf::ForOp loadMatrices(const FragmentAccess &access, Value buffer, Value lane, index::IndexSpace &space) {
  std::optional<FragmentFill> found = findFill(access, space);
  if (!found)
    return nullptr;
  const FragmentFill &fill = *found;
  const FragmentLayout &layout = fill.layout;
  memref::LoadOp load = fill.load;
  Type element = load.getMemRefType().getElementType();
  int64_t columns = layout.getColumns(), elementBytes = getElementBytes(element);
  if (columns * elementBytes != kRowBytes)
    return nullptr;
  scf::ForOp rowLoop = fill.rowLoop, colLoop = fill.colLoop;
  bool isTransposed = !liesTogether(load, colLoop.getInductionVar(), columns, space);
  if (isTransposed &&
      (elementBytes != 2 || !liesTogether(load, rowLoop.getInductionVar(), FragmentLayout::kRows, space)))
    return nullptr;
  int64_t rows = *getConstantIntValue(rowLoop.getUpperBound()), cols = *getConstantIntValue(colLoop.getUpperBound());
  if (rows % layout.rowTile || cols % layout.colTile || !index::isMultipleOf(fill.row, layout.rowTile) ||
      !index::isMultipleOf(fill.col, layout.colTile))
    return nullptr;
  // As many tiles at once, one below the other, as four matrices hold.
  int64_t matricesOfTile = layout.getRowParts() * (layout.colTile / columns);
  int64_t tiles = 1;
  while (2 * tiles * matricesOfTile <= 4 && rows % (2 * tiles * layout.rowTile) == 0)
    tiles *= 2;
  int64_t matrices = tiles * matricesOfTile;

  bool rowIsOuter = rowLoop->isProperAncestor(colLoop);
  scf::ForOp nest = rowIsOuter ? rowLoop : colLoop;
  OpBuilder builder(nest);
  Location loc = load.getLoc();
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
  auto open = [&](int64_t extent) {
    auto loop = scf::ForOp::create(builder, nest.getLoc(), index(0), index(extent), index(1));
    loop->setAttr(schedule::kUnrollAttr, builder.getUnitAttr());
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    return loop.getInductionVar();
  };
  Value rowStep = open(rows / (tiles * layout.rowTile)), colStep = open(cols / layout.colTile);

  // Matrix m is part `m mod parts` of the rows of a tile, then of its columns, then of the next tile.
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  AffineExpr matrix = (d1.floorDiv(8)) % matrices, line = d1 % 8;
  int64_t rowParts = layout.getRowParts(), colParts = layout.colTile / columns;
  AffineExpr rowStart = d0 * (tiles * layout.rowTile) + (matrix.floorDiv(rowParts * colParts)) * layout.rowTile +
                        (matrix % rowParts) * FragmentLayout::kRows;
  AffineExpr colStart = d0 * layout.colTile + ((matrix.floorDiv(rowParts)) % colParts) * columns;
  auto apply = [&](AffineExpr expr, Value step) -> Value {
    return affine::makeComposedAffineApply(builder, loc, expr, {step, lane});
  };
  IRMapping mapping;
  mapping.map(rowLoop.getInductionVar(), apply(isTransposed ? rowStart : rowStart + line, rowStep));
  mapping.map(colLoop.getInductionVar(), apply(isTransposed ? colStart + line : colStart, colStep));
  // What the loops compute of the address, anew for each lane.
  std::function<Value(Value)> copy = [&](Value value) -> Value {
    if (mapping.contains(value) || !value.getDefiningOp() || !nest->isAncestor(value.getDefiningOp()))
      return mapping.lookupOrDefault(value);
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      copy(operand);
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      SmallVector<OpFoldResult> operands = llvm::map_to_vector(
          apply.getMapOperands(), [&](Value operand) -> OpFoldResult { return mapping.lookupOrDefault(operand); });
      Value composed = affine::makeComposedAffineApply(builder, loc, apply.getAffineMap(), operands);
      mapping.map(value, composed);
      return composed;
    }
    return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  };
  SmallVector<Value> indices = llvm::map_to_vector(load.getIndices(), copy);
  auto type = VectorType::get({matrices, layout.pack}, element);
  Value loaded = nvgpu::LdMatrixOp::create(builder, loc, type, load.getMemRef(), indices,
                                           builder.getBoolAttr(isTransposed), builder.getI32IntegerAttr(matrices));
  int64_t count = layout.getElements();
  Value flat = vector::ShapeCastOp::create(builder, loc, VectorType::get({matrices * layout.pack}, element), loaded);

  // To the places of the tiles.
  memref::StoreOp store = fill.store;
  SmallVector<AffineExpr> at = space.get(store.getIndices());
  AffineExpr rowDim = space.get(rowStep), colDim = space.get(colStep);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    SmallVector<Value> places;
    for (auto [d, expr] : llvm::enumerate(at)) {
      if (d == layout.rowDim)
        expr = (fill.row + (rowDim * tiles + tile) * layout.rowTile).floorDiv(layout.rowTile);
      if (d == layout.colDim)
        expr = (fill.col + colDim * layout.colTile).floorDiv(layout.colTile);
      places.push_back(space.materialize(builder, loc, space.simplify(expr)));
    }
    places.push_back(index(0));
    Value part = flat;
    if (tiles > 1)
      part = vector::ExtractStridedSliceOp::create(builder, loc, flat, ArrayRef<int64_t>{tile * count},
                                                   ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
    vector::StoreOp::create(builder, loc, part, buffer, places);
  }
  return nest;
}

} // namespace tilewright
