//===- LanesBuilder.cpp - the body of a linalg op, for several iterations -===//
#include "passes/linalg-to-cpu/LanesBuilder.h"
#include "passes/ArgumentLayouts.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

bool tilewright::canVectorize(linalg::GenericOp op) {
  WalkResult result = op.getBody()->walk([&](Operation *inner) {
    if (isa<linalg::IndexOp, affine::AffineApplyOp, memref::LoadOp, linalg::YieldOp, scf::YieldOp, scf::IfOp>(inner) ||
        inner->hasTrait<OpTrait::ConstantLike>())
      return WalkResult::advance();
    // Not isPure: a division could trap, but `guard-integer-ops` gives it a result in every lane.
    bool isMappable = OpTrait::hasElementwiseMappableTraits(inner) && isMemoryEffectFree(inner);
    return isMappable ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

Value LanesBuilder::step(Location loc, int64_t stride) {
  SmallVector<Attribute> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(builder.getIndexAttr(lane * stride));
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vectorOf(builder.getIndexType()), elements));
}

Value LanesBuilder::materialize(Location loc, Lanes value) {
  if (value.isVector || lanes == 1)
    return value.value;
  Value broadcast = vector::BroadcastOp::create(builder, loc, vectorOf(value.value.getType()), value.value);
  if (value.isUniform())
    return broadcast;
  return arith::AddIOp::create(builder, loc, broadcast, step(loc, value.stride));
}

Lanes LanesBuilder::lookup(Value value) {
  auto it = values.find(value);
  return it == values.end() ? Lanes{value} : it->second;
}

Value LanesBuilder::conjoin(Location loc, Value a, Value b) {
  return a && b ? arith::AndIOp::create(builder, loc, a, b).getResult() : a ? a : b;
}

Value LanesBuilder::getMask(Location loc) { return conjoin(loc, laneMask, condition); }

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<Lanes> LanesBuilder::foldStrided(Operation *op, ArrayRef<Lanes> operands) {
  if (operands.size() != 2 || operands[0].isVector || operands[1].isVector || !operands[0].value.getType().isIndex())
    return std::nullopt;
  int64_t a = operands[0].stride, b = operands[1].stride;
  std::optional<int64_t> stride;
  APInt factor;
  if (isa<arith::AddIOp>(op))
    stride = a + b;
  else if (isa<arith::SubIOp>(op))
    stride = a - b;
  else if (isa<arith::MulIOp>(op) && b == 0 && matchPattern(operands[1].value, m_ConstantInt(&factor)))
    stride = a * factor.getSExtValue();
  if (!stride)
    return std::nullopt;
  Operation *built = op->clone();
  built->setOperands({operands[0].value, operands[1].value});
  builder.insert(built);
  return Lanes{built->getResult(0), *stride};
}

Lanes LanesBuilder::evaluate(Location loc, AffineExpr expr, ArrayRef<Lanes> dims, ArrayRef<Lanes> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {arith::ConstantIndexOp::create(builder, loc, constant.getValue())};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Lanes lhs = evaluate(loc, binary.getLHS(), dims, symbols), rhs = evaluate(loc, binary.getRHS(), dims, symbols);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool isVector = lhs.isVector || rhs.isVector;
  if (expr.getKind() == AffineExprKind::Add && !isVector)
    return {builder.createOrFold<arith::AddIOp>(loc, lhs.value, rhs.value), lhs.stride + rhs.stride};
  if (expr.getKind() == AffineExprKind::Mul && !isVector && constant)
    return {builder.createOrFold<arith::MulIOp>(loc, lhs.value, rhs.value), lhs.stride * constant.getValue()};
  isVector |= lhs.stride != 0 || rhs.stride != 0;
  Value a = isVector ? materialize(loc, lhs) : lhs.value, b = isVector ? materialize(loc, rhs) : rhs.value;
  auto mod = [&](Value value) -> Value {
    // affine's mod is never negative, arith's takes the sign of the dividend.
    Value rem = arith::RemSIOp::create(builder, loc, value, b);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(a.getType()));
    Value isNegative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, rem, zero);
    Value corrected = arith::AddIOp::create(builder, loc, rem, b);
    return arith::SelectOp::create(builder, loc, isNegative, corrected, rem);
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {arith::AddIOp::create(builder, loc, a, b), 0, isVector};
  case AffineExprKind::Mul:
    return {arith::MulIOp::create(builder, loc, a, b), 0, isVector};
  case AffineExprKind::Mod:
    return {mod(a), 0, isVector};
  case AffineExprKind::FloorDiv:
    return {arith::FloorDivSIOp::create(builder, loc, a, b), 0, isVector};
  case AffineExprKind::CeilDiv:
    return {arith::CeilDivSIOp::create(builder, loc, a, b), 0, isVector};
  default:
    llvm_unreachable("every other kind is a leaf");
  }
}

SmallVector<Lanes> LanesBuilder::apply(Location loc, AffineMap map, ArrayRef<Lanes> axes) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) { return evaluate(loc, expr, axes, {}); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether the lanes are neighbours in memory.
static bool areContiguous(Value memref, ArrayRef<Lanes> indices) {
  return !indices.empty() && hasUnitRows(cast<MemRefType>(memref.getType())) && !indices.back().isVector &&
         indices.back().stride == 1 &&
         llvm::all_of(indices.drop_back(), [](const Lanes &index) { return index.isUniform(); });
}

static SmallVector<Value> getBases(ArrayRef<Lanes> indices) {
  return llvm::map_to_vector(indices, [](const Lanes &index) { return index.value; });
}

LanesBuilder::Elements LanesBuilder::linearize(Location loc, Value memref, ArrayRef<Lanes> indices) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), offset = step(loc, 0);
  auto type = cast<MemRefType>(memref.getType());
  bool isRowMajor = type.getLayout().isIdentity();
  memref::ExtractStridedMetadataOp metadata;
  if (!isRowMajor)
    metadata = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value at = materialize(loc, index);
    if (isRowMajor && i > 0) {
      Value size = builder.createOrFold<memref::DimOp>(loc, memref, i);
      offset = arith::MulIOp::create(builder, loc, offset, materialize(loc, {size}));
    } else if (!isRowMajor) {
      at = arith::MulIOp::create(builder, loc, at, materialize(loc, {metadata.getStrides()[i]}));
    }
    offset = arith::AddIOp::create(builder, loc, offset, at);
  }
  if (isRowMajor)
    return {memref, SmallVector<Value>(indices.size(), zero), offset};
  // Offsets count elements that lie side by side, of which nobody looks at the number.
  auto layout = StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1});
  auto flat = MemRefType::get({1}, type.getElementType(), layout, type.getMemorySpace());
  Value all = memref::ReinterpretCastOp::create(builder, loc, flat, metadata.getBaseBuffer(), metadata.getOffset(),
                                                ValueRange(), ValueRange(), {ShapedType::kDynamic}, {1}, {1});
  return {all, {zero}, offset};
}

Lanes LanesBuilder::load(Location loc, Value memref, ArrayRef<Lanes> indices) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  // One lane runs for certain, unless there are conditions.
  if (llvm::all_of(indices, [](const Lanes &index) { return index.isUniform(); }) && !condition)
    return {memref::LoadOp::create(builder, loc, memref, getBases(indices))};
  VectorType type = vectorOf(element);
  Value mask = getMask(loc);
  if (areContiguous(memref, indices) && !mask)
    return {vector::LoadOp::create(builder, loc, type, memref, getBases(indices)), 0, true};
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (areContiguous(memref, indices))
    return {vector::MaskedLoadOp::create(builder, loc, type, memref, getBases(indices), mask, zero), 0, true};
  if (!mask)
    mask = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vectorOf(builder.getI1Type()), true));
  Elements all = linearize(loc, memref, indices);
  return {vector::GatherOp::create(builder, loc, type, all.memref, all.origin, all.offsets, mask, zero), 0, true};
}

void LanesBuilder::store(Location loc, Lanes value, Value memref, ArrayRef<Lanes> indices) {
  Value mask = getMask(loc);
  if (lanes == 1 || llvm::all_of(indices, [](const Lanes &index) { return index.isUniform(); })) {
    memref::StoreOp::create(builder, loc, value.value, memref, getBases(indices));
    return;
  }
  Value vector = materialize(loc, value);
  if (areContiguous(memref, indices) && !mask) {
    vector::StoreOp::create(builder, loc, vector, memref, getBases(indices));
    return;
  }
  auto lanesOf = mask ? mask.getDefiningOp<vector::CreateMaskOp>() : nullptr;
  if (areContiguous(memref, indices) && lanesOf && getConstantIntValue(lanesOf.getOperand(0)) == 1) {
    // LLVM 22 stores eight bytes or more where one lane of a truncated vector is to be stored, and so writes past the
    // end.
    Value element = vector::ExtractOp::create(builder, loc, vector, 0);
    memref::StoreOp::create(builder, loc, element, memref, getBases(indices));
    return;
  }
  if (areContiguous(memref, indices)) {
    vector::MaskedStoreOp::create(builder, loc, memref, getBases(indices), mask, vector);
    return;
  }
  if (!mask)
    mask = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vectorOf(builder.getI1Type()), true));
  Elements all = linearize(loc, memref, indices);
  vector::ScatterOp::create(builder, loc, /*resultType=*/Type(), all.memref, all.origin, all.offsets, mask, vector);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

SmallVector<Lanes> LanesBuilder::buildOp(Operation *op, ArrayRef<Lanes> operands) {
  bool isUniform = llvm::all_of(operands, [](const Lanes &operand) { return operand.isUniform(); });
  if (!isUniform)
    if (std::optional<Lanes> strided = foldStrided(op, operands))
      return {*strided};
  SmallVector<Value> values;
  for (const Lanes &operand : operands)
    values.push_back(isUniform ? operand.value : materialize(op->getLoc(), operand));
  Operation *built = op->clone();
  built->setOperands(values);
  allowContraction(built);
  if (!isUniform)
    for (Value result : built->getResults())
      result.setType(vectorOf(result.getType()));
  builder.insert(built);
  return llvm::map_to_vector(built->getResults(), [&](Value result) { return Lanes{result, 0, !isUniform}; });
}

void LanesBuilder::buildIf(Operation &op) {
  auto ifOp = cast<scf::IfOp>(op);
  Location loc = op.getLoc();
  Lanes test = lookup(ifOp.getCondition());
  auto yields = [&](Block &block) {
    return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return lookup(value); });
  };
  if (test.isUniform()) {
    // Both sides must agree on what is a vector: with several lanes, everything is.
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(lanes == 1 ? type : vectorOf(type));
    auto built = scf::IfOp::create(builder, loc, types, test.value, /*withElseRegion=*/true);
    for (auto [from, to] : llvm::zip(ifOp->getRegions(), built->getRegions())) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&to.front());
      buildBlock(from.front());
      SmallVector<Value> results;
      for (Lanes result : yields(from.front()))
        results.push_back(materialize(loc, result));
      scf::YieldOp::create(builder, loc, results);
    }
    for (auto [from, to] : llvm::zip(op.getResults(), built.getResults()))
      values[from] = {to, 0, lanes != 1};
    return;
  }
  Value outer = condition, mask = materialize(loc, test);
  auto ones = DenseElementsAttr::get(vectorOf(builder.getI1Type()), true);
  Value isFalse = arith::XOrIOp::create(builder, loc, mask, arith::ConstantOp::create(builder, loc, ones));
  condition = conjoin(loc, outer, mask);
  buildBlock(*ifOp.thenBlock());
  condition = conjoin(loc, outer, isFalse);
  buildBlock(*ifOp.elseBlock());
  condition = outer;
  for (auto [result, a, b] : llvm::zip(op.getResults(), yields(*ifOp.thenBlock()), yields(*ifOp.elseBlock())))
    values[result] = {arith::SelectOp::create(builder, loc, mask, materialize(loc, a), materialize(loc, b)), 0, true};
}

void LanesBuilder::buildBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    Location loc = op.getLoc();
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return lookup(operand); });
    if (auto applyOp = dyn_cast<affine::AffineApplyOp>(op)) {
      AffineMap map = applyOp.getAffineMap();
      values[applyOp] = evaluate(loc, map.getResult(0), ArrayRef(operands).take_front(map.getNumDims()),
                                 ArrayRef(operands).drop_front(map.getNumDims()));
    } else if (auto loadOp = dyn_cast<memref::LoadOp>(op)) {
      values[loadOp] = load(loc, loadOp.getMemref(), ArrayRef(operands).drop_front());
    } else if (isa<linalg::IndexOp>(op)) {
      continue;
    } else if (isa<scf::IfOp>(op) && op.getNumResults() > 0) {
      buildIf(op);
    } else if (op.getNumRegions() > 0) {
      // Only with one lane.
      IRMapping mapping;
      for (auto [from, to] : values)
        mapping.map(from, to.value);
      Operation *built = builder.clone(op, mapping);
      for (auto [from, to] : llvm::zip(op.getResults(), built->getResults()))
        values[from] = {to};
    } else {
      for (auto [result, built] : llvm::zip(op.getResults(), buildOp(&op, operands)))
        values[result] = built;
    }
  }
}

SmallVector<Lanes> LanesBuilder::build(linalg::GenericOp op, ArrayRef<Lanes> axes, ArrayRef<Lanes> outs) {
  values.clear();
  op.getBody()->walk([&](linalg::IndexOp index) { values[index] = axes[index.getDim()]; });
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(operand);
    if (element.use_empty())
      continue;
    if (!isa<MemRefType>(operand->get().getType())) {
      values[element] = {operand->get()};
      continue;
    }
    SmallVector<Lanes> indices = apply(op.getLoc(), op.getMatchingIndexingMap(operand), axes);
    values[element] = load(op.getLoc(), operand->get(), indices);
  }
  for (auto [element, out] : llvm::zip(op.getRegionOutputArgs(), outs))
    values[element] = out;
  buildBlock(*op.getBody());
  return llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(), [&](Value value) { return lookup(value); });
}
