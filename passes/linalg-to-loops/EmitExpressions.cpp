//===- EmitExpressions.cpp - index expressions, constants and symbols -----===//
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

Value LoopEmitter::getConstant(int64_t value) {
  // A map of numbers keeps its largest and least for itself.
  if (value >= INT64_MAX - 1 || value == INT64_MIN)
    return arith::ConstantIndexOp::create(builder, target.getLoc(), value);
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&target.getBody().front());
    constant = arith::ConstantIndexOp::create(builder, target.getLoc(), value);
    if (!lastAtTop)
      lastAtTop = constant.getDefiningOp();
  }
  return constant;
}

/// An `index` value of the function on tensors, computed on its memrefs, or a number that is its argument.
Value LoopEmitter::onBuffers(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index))
    return target.getArgument(argument.getArgNumber());
  if (auto constant = getConstantIntValue(index))
    return getConstant(*constant);
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (auto argument = dyn_cast<BlockArgument>(dim.getSource()))
      return memref::DimOp::create(builder, op->getLoc(), target.getArgument(argument.getArgNumber()),
                                   onBuffers(dim.getIndex()));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, onBuffers(operand));
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(index).getResultNumber());
}

Value LoopEmitter::getCaptured(Value value) {
  Value &known = capturedValues[value];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  auto dim = value.getDefiningOp<tensor::DimOp>();
  std::optional<uint64_t> dimension = dim ? dim.getConstantIndex() : std::nullopt;
  if (dimension && isa<BlockArgument>(dim.getSource()) && *dimension < model.getExtents(dim.getSource()).size()) {
    // As predicates have it: of one that is a multiple, a multiple of a symbol.
    AffineExpr extent = model.getExtents(dim.getSource())[*dimension];
    extent.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        getSymbol(symbol.getPosition());
    });
    builder.setInsertionPointAfter(lastAtTop);
    known = materialize(extent, dim.getLoc());
  } else if (lastAtTop) {
    builder.setInsertionPointAfter(lastAtTop);
    known = onBuffers(value);
  } else {
    builder.setInsertionPointToStart(&target.getBody().front());
    known = onBuffers(value);
  }
  // A constant stands before them, an argument before everything.
  if (Operation *op = known.getDefiningOp(); op && (!lastAtTop || lastAtTop->isBeforeInBlock(op)))
    lastAtTop = op;
  return known;
}

Value LoopEmitter::getSymbol(unsigned position) {
  Value &value = symbolValues[position];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(builder);
  const Symbol &symbol = model.getSymbols()[position];
  Value zero = getConstant(symbol.argument ? symbol.dimension : 0), unit = getConstant(symbol.unit);
  builder.setInsertionPointAfter(lastAtTop);
  if (symbol.argument)
    value = memref::DimOp::create(builder, target.getLoc(), target.getArgument(symbol.argument.getArgNumber()), zero);
  else
    value = onBuffers(symbol.value);
  if (symbol.unit != 1)
    value = arith::DivUIOp::create(builder, target.getLoc(), value, unit);
  lastAtTop = value.getDefiningOp();
  return value;
}

/// Whether an expression is known to be at least 0, as loops and extents are; a user's index need not be.
static bool isNotNegative(AffineExpr expr, const StageModel &model) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue() >= 0;
  case AffineExprKind::DimId:
  case AffineExprKind::Mod:
    return true;
  case AffineExprKind::SymbolId:
    // A number that a call gives may be negative.
    return model.getSymbols()[cast<AffineSymbolExpr>(expr).getPosition()].argument != nullptr;
  default: {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    return isNotNegative(binary.getLHS(), model) && isNotNegative(binary.getRHS(), model);
  }
  }
}

/// Expressions that affine.apply does not lower: products and quotients of symbols.
Value LoopEmitter::expand(AffineExpr expr, Location loc) {
  if (expr.isPureAffine())
    return materialize(expr, loc);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), loc), rhs = expand(binary.getRHS(), loc);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return isNotNegative(binary.getLHS(), model) ? arith::DivUIOp::create(builder, loc, lhs, rhs).getResult()
                                                 : arith::FloorDivSIOp::create(builder, loc, lhs, rhs).getResult();
  case AffineExprKind::CeilDiv:
    return isNotNegative(binary.getLHS(), model) ? arith::CeilDivUIOp::create(builder, loc, lhs, rhs).getResult()
                                                 : arith::CeilDivSIOp::create(builder, loc, lhs, rhs).getResult();
  case AffineExprKind::Mod: {
    if (isNotNegative(binary.getLHS(), model))
      return arith::RemUIOp::create(builder, loc, lhs, rhs);
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
  }
  default:
    llvm_unreachable("dims, symbols and constants are pure");
  }
}

Value LoopEmitter::materialize(AffineExpr expr, Location loc) {
  expr = simplify(expr, [&](unsigned dim) { return bounds.getExtent(dim); });
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getConstant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loopValues.lookup(dim.getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getSymbol(symbol.getPosition());
  if (!expr.isPureAffine())
    return expand(expr, loc);
  // Number the dims and symbols that occur from 0.
  DenseMap<AffineExpr, AffineExpr> renumbered;
  SmallVector<Value> dims, symbols;
  expr.walk([&](AffineExpr e) {
    if (renumbered.contains(e))
      return;
    if (auto dim = dyn_cast<AffineDimExpr>(e)) {
      renumbered[e] = builder.getAffineDimExpr(dims.size());
      dims.push_back(loopValues.lookup(dim.getPosition()));
    } else if (auto symbol = dyn_cast<AffineSymbolExpr>(e)) {
      renumbered[e] = builder.getAffineSymbolExpr(symbols.size());
      symbols.push_back(getSymbol(symbol.getPosition()));
    }
  });
  AffineMap map = AffineMap::get(dims.size(), symbols.size(), expr.replace(renumbered));
  llvm::append_range(dims, symbols);
  return affine::AffineApplyOp::create(builder, loc, map, dims);
}

SmallVector<Value> LoopEmitter::materialize(ArrayRef<AffineExpr> exprs, Location loc) {
  return llvm::map_to_vector(exprs, [&](AffineExpr expr) { return materialize(expr, loc); });
}
} // namespace tilewright
