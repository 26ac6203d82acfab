//===- JoinedIndices.cpp - dimensions that an access counts as one --------===//
#include "passes/index/JoinedIndices.h"
#include "passes/index/LinearForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::index {
namespace {
/// Indices as expressions of values that no affine.apply computes, one symbol each.
class Composer {
public:
  explicit Composer(MLIRContext *context) : context(context) {}

  AffineExpr get(Value value) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return getAffineConstantExpr(*constant, context);
    if (getLoopExtent(value) == 1)
      return getAffineConstantExpr(0, context);
    if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
      auto parts = llvm::map_to_vector(apply.getMapOperands(), [&](Value one) { return get(one); });
      AffineMap map = apply.getAffineMap();
      ArrayRef<AffineExpr> all(parts);
      return simplify(
          map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
    }
    const auto *known = llvm::find(operands, value);
    unsigned number = known - operands.begin();
    if (known == operands.end())
      operands.push_back(value);
    return getAffineSymbolExpr(number, context);
  }

  AffineExpr getZero() const { return getAffineConstantExpr(0, context); }
  AffineExpr simplify(AffineExpr expr) const { return simplifyAffineExpr(expr, 0, operands.size()); }

  /// Whether an expression changes with one of these loops.
  bool changesWith(AffineExpr expr, ArrayRef<scf::ForOp> loops) const {
    return llvm::any_of(loops, [&](scf::ForOp loop) {
      const auto *found = llvm::find(operands, loop.getInductionVar());
      return found != operands.end() && expr.isFunctionOfSymbol(found - operands.begin());
    });
  }

  SmallVector<Value> operands;

private:
  MLIRContext *context;
};

/// The dividend of a remainder, and the divisor.
std::optional<std::pair<AffineExpr, int64_t>> getRemainder(AffineExpr expr) {
  if (expr.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor ? std::optional(std::pair(binary.getLHS(), divisor.getValue())) : std::nullopt;
}

/// Quotients of sums that have a quotient in them, as quotients of one sum each.
AffineExpr joinQuotients(AffineExpr expr) {
  if (expr.getKind() == AffineExprKind::Add) {
    LinearForm parts = LinearForm::get(expr);
    AffineExpr joined = getAffineConstantExpr(parts.constant, expr.getContext());
    for (const LinearForm::Term &part : parts.terms)
      joined = joined + joinQuotients(part.expr) * part.coefficient;
    return joined;
  }
  auto outer = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!outer || outer.getKind() != AffineExprKind::FloorDiv)
    return expr;
  LinearForm sum = LinearForm::get(outer.getLHS());
  for (const LinearForm::Term &term : sum.terms) {
    if (term.coefficient != 1 || term.expr.getKind() != AffineExprKind::FloorDiv)
      continue;
    auto inner = cast<AffineBinaryOpExpr>(term.expr);
    AffineExpr rest = outer.getLHS() - inner;
    return joinQuotients((rest * inner.getRHS() + inner.getLHS()).floorDiv(inner.getRHS() * outer.getRHS()));
  }
  return expr;
}

/// Whether there is a quotient or a remainder in `expr` of what `number` is of.
bool hasDivision(AffineExpr expr, AffineExpr number) {
  llvm::SmallDenseSet<AffineExpr> symbols;
  number.walk([&](AffineExpr part) {
    if (isa<AffineSymbolExpr>(part))
      symbols.insert(part);
  });
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::Mod)
      part.walk([&](AffineExpr inner) { found |= symbols.contains(inner); });
  });
  return found;
}
} // namespace

std::optional<JoinedIndices> JoinedIndices::get(ValueRange indices, MemRefType type, ArrayRef<scf::ForOp> loops) {
  auto [strides, offset] = type.getStridesAndOffset();
  if (!type.hasStaticShape() || llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  Composer composer(type.getContext());
  struct Dimension {
    AffineExpr index;
    int64_t extent, stride;
  };
  SmallVector<Dimension> found; // the last one first
  for (int64_t number = type.getRank() - 1; number >= 0; --number) {
    Dimension own{composer.get(indices[number]), type.getDimSize(number), strides[number]};
    if (own.extent == 1 && own.index == composer.getZero() && !found.empty() && getRemainder(found.back().index))
      continue;
    if (!found.empty() && own.stride == found.back().stride * found.back().extent) {
      Dimension &inner = found.back();
      // Behind one element lies the next of the dimension around.
      if (inner.extent == 1 && inner.index == composer.getZero()) {
        inner = own;
        continue;
      }
      auto rest = getRemainder(inner.index);
      if (rest && rest->second == inner.extent && composer.changesWith(rest->first, loops)) {
        // All of the number, or what is left of it by the extents of both.
        auto outer = getRemainder(own.index);
        bool isPart = outer && outer->second == own.extent;
        AffineExpr quotient = composer.simplify(joinQuotients(isPart ? outer->first : own.index));
        AffineExpr more = composer.simplify(quotient - rest->first.floorDiv(inner.extent));
        if (!hasDivision(more, rest->first)) {
          inner.extent *= own.extent;
          inner.index = composer.simplify(more * rest->second + rest->first);
          if (isPart)
            inner.index = inner.index % inner.extent;
          continue;
        }
      }
    }
    found.push_back(own);
  }
  if (int64_t(found.size()) == type.getRank())
    return std::nullopt;
  JoinedIndices joined;
  for (const Dimension &dimension : llvm::reverse(found)) {
    auto index = LinearIndex::get(AffineMap::get(0, composer.operands.size(), dimension.index), composer.operands);
    if (!index)
      return std::nullopt;
    joined.indices.push_back(*index);
    joined.shape.push_back(dimension.extent);
    joined.strides.push_back(dimension.stride);
  }
  return joined;
}

std::optional<std::pair<LinearIndex, int64_t>> getQuotient(Value value) {
  Composer composer(value.getContext());
  AffineExpr expr = composer.simplify(joinQuotients(composer.get(value)));
  LinearForm sum = LinearForm::get(expr);
  for (const LinearForm::Term &term : sum.terms) {
    if (term.coefficient != 1 || term.expr.getKind() != AffineExprKind::FloorDiv)
      continue;
    auto quotient = cast<AffineBinaryOpExpr>(term.expr);
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!divisor)
      continue;
    AffineExpr dividend = composer.simplify((expr - term.expr) * divisor + quotient.getLHS());
    if (auto index = LinearIndex::get(AffineMap::get(0, composer.operands.size(), dividend), composer.operands))
      return std::pair(*index, divisor.getValue());
  }
  return std::nullopt;
}
} // namespace tilewright::index
