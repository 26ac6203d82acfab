//===- MatmulLoops.cpp - loops that a matrix instruction does ------------===//
#include "passes/loops-to-gpu/MatmulLoops.h"
#include "passes/AddressSpaces.h"
#include "passes/gpu-to-nvvm/MatrixPatterns.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {

FailureOr<MatmulLoops> readMatmulLoops(scf::ForOp nest) {
  FailureOr<schedule::MatrixNest> found = schedule::readMatrixNest(nest);
  if (failed(found))
    return failure();
  if (found->loops.size() != 3)
    return nest.emitError() << "expected one loop for each of m, n and k, got " << found->loops.size();
  auto loopOver = [&](schedule::MatrixAxis axis) { return found->getLoops(axis).front(); };
  return MatmulLoops{loopOver(schedule::MatrixAxis::M),
                     loopOver(schedule::MatrixAxis::N),
                     loopOver(schedule::MatrixAxis::K),
                     found->a,
                     found->b,
                     found->store};
}

bool isComputedFrom(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && loop->isAncestor(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return isComputedFrom(operand, loop); });
}

void stageOperand(MatmulLoops &matmul, memref::LoadOp &load, Value row, Value col) {
  OpBuilder builder(matmul.m);
  Location loc = load.getLoc();
  auto getLoop = [](Value variable) {
    return cast<scf::ForOp>(cast<BlockArgument>(variable).getOwner()->getParentOp());
  };
  SmallVector<int64_t> shape;
  for (Value variable : {row, col})
    shape.push_back(*getConstantIntValue(getLoop(variable).getUpperBound()));
  Value buffer =
      createPrivateBuffer(builder, loc, shape, load.getType(), builder.getStringAttr(getBufferName(load.getMemRef())));
  IRMapping mapping;
  SmallVector<Value> indices;
  for (Value variable : {row, col}) {
    scf::ForOp loop = getLoop(variable);
    auto copy = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    builder.setInsertionPoint(copy.getBody()->getTerminator());
    mapping.map(variable, copy.getInductionVar());
    indices.push_back(copy.getInductionVar());
  }
  std::function<void(Value)> copy = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || mapping.contains(value) || !matmul.m->isAncestor(op))
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    builder.clone(*op, mapping);
  };
  copy(load.getResult());
  memref::StoreOp::create(builder, loc, mapping.lookup(load.getResult()), buffer, indices);
  builder.setInsertionPoint(load);
  auto fetched = memref::LoadOp::create(builder, loc, buffer, ValueRange{row, col});
  fetched->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  load.getResult().replaceAllUsesWith(fetched);
  load.erase();
  load = fetched;
}

/// A float of 8 bits, which an nvgpu.mma.sync takes as a byte.
static bool isByteFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

Value placeInLane(index::IndexSpace &space, OpBuilder &builder, Location loc, AffineExpr expr) {
  expr = space.simplify(expr);
  for (Value value : space.getValues(expr))
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
        loop->setAttr(schedule::kUnrollAttr, builder.getUnitAttr());
  return space.materialize(builder, loc, expr);
}

void emitMatmul(MatmulLoops matmul, FragmentLayouts &layouts, LaneBuffers &laneBuffers, index::IndexSpace &space) {
  OpBuilder builder(matmul.m);
  Location loc = matmul.m.getLoc();
  index::IndexSpace::Substitution first;
  for (scf::ForOp loop : {matmul.m, matmul.n, matmul.k})
    first[loop.getInductionVar()] = builder.getAffineConstantExpr(0);
  auto indicesOf = [&](Value buffer, ValueRange indices) {
    const FragmentLayout &layout = layouts[buffer];
    SmallVector<Value> places;
    for (auto [d, index] : llvm::enumerate(indices)) {
      AffineExpr expr = space.get(index, first);
      if (d == layout.rowDim)
        expr = expr.floorDiv(layout.rowTile);
      if (d == layout.colDim)
        expr = expr.floorDiv(layout.colTile);
      places.push_back(placeInLane(space, builder, loc, expr));
    }
    places.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    return places;
  };
  auto load = [&](Value buffer, ValueRange indices) -> Value {
    const FragmentLayout &layout = layouts[buffer];
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    Value flat = vector::LoadOp::create(builder, loc, VectorType::get({layout.getElements()}, element),
                                        laneBuffers[buffer], indicesOf(buffer, indices));
    if (isByteFloat(element)) {
      element = builder.getI8Type();
      flat = arith::BitcastOp::create(builder, loc, VectorType::get({layout.getElements()}, element), flat);
    }
    auto type = VectorType::get({layout.getElements() / layout.pack, layout.pack}, element);
    return vector::ShapeCastOp::create(builder, loc, type, flat);
  };
  Value result = matmul.result.getMemRef();
  memref::LoadOp loadA = matmul.a, loadB = matmul.b;
  memref::StoreOp store = matmul.result;
  Value a = load(loadA.getMemRef(), loadA.getIndices()), b = load(loadB.getMemRef(), loadB.getIndices());
  Value c = load(result, store.getIndices());
  const FragmentLayout &layout = layouts[result];
  int64_t shape[] = {layout.rowTile, layout.colTile, layouts[loadA.getMemRef()].colTile};
  auto sum = nvgpu::MmaSyncOp::create(builder, loc, a, b, c, ArrayRef<int64_t>(shape),
                                      /*tf32Enabled=*/loadA.getType().isF32());
  if (isByteFloat(loadA.getType()))
    sum->setAttr(kOperandTypeAttr, TypeAttr::get(loadA.getType()));
  Value flat = vector::ShapeCastOp::create(
      builder, loc, VectorType::get({layout.getElements()}, cast<VectorType>(sum.getType()).getElementType()),
      sum.getResult());
  vector::StoreOp::create(builder, loc, flat, laneBuffers[result], indicesOf(result, store.getIndices()));
}

} // namespace tilewright
