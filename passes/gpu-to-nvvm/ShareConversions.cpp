//===- ShareConversions.cpp - one conversion of numbers a constant apart --===//
#include "passes/PassSupport.h"
#include "passes/index/IndexRanges.h"
#include "passes/index/Range.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SHARECONVERSIONS
#include "passes/gpu-to-nvvm/Passes.h.inc"

namespace {
/// Up to here f32 has all integers, so that their sums are exact.
constexpr int64_t kExact = 1 << 24;
/// Of two conversions, a sum in place of one saves nothing beside the conversion of what they share.
constexpr size_t kLeast = 3;

/// A conversion to f32 of `map` of `operands`, and of a constant.
struct Converted {
  arith::SIToFPOp op;
  AffineMap map;
  SmallVector<Value> operands;
  int64_t constant;

  bool hasSameBase(Converted &other) {
    return op->getBlock() == other.op->getBlock() && op.getIn().getType() == other.op.getIn().getType() &&
           map == other.map && operands == other.operands;
  }
};

/// What `op` converts, where that is an index up to 2^24.
std::optional<Converted> read(arith::SIToFPOp op, const index::IndexRanges &known) {
  auto cast = op.getIn().getDefiningOp<arith::IndexCastOp>();
  auto apply = cast ? cast.getIn().getDefiningOp<affine::AffineApplyOp>() : affine::AffineApplyOp();
  if (!apply || !op.getType().isF32())
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  SmallVector<Value> operands(apply.getMapOperands());
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  map = simplifyAffineMap(map);
  affine::canonicalizeMapAndOperands(&map, &operands);
  int64_t constant = 0;
  AffineExpr expr = map.getResult(0);
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add)
    if (auto right = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      constant = right.getValue();
      expr = sum.getLHS();
    }
  auto ranges = llvm::map_to_vector(operands, [&](Value operand) { return index::fromUpstream(known.of(operand)); });
  index::Range range = index::getRange(expr, {map.getNumDims(), ranges});
  auto isExact = [](int64_t number) { return std::abs(number) <= kExact; };
  if (!range.min || !range.max || !isExact(*range.min) || !isExact(*range.max) || !isExact(*range.min + constant) ||
      !isExact(*range.max + constant))
    return std::nullopt;
  return Converted{op, AffineMap::get(map.getNumDims(), map.getNumSymbols(), expr), operands, constant};
}

struct ShareConversions : impl::ShareConversionsBase<ShareConversions> {
  void runOnOperation() override {
    SmallVector<SmallVector<Converted>> groups;
    index::IndexRanges known(getOperation());
    getOperation().walk([&](arith::SIToFPOp op) {
      std::optional<Converted> one = read(op, known);
      if (!one)
        return;
      auto *group = llvm::find_if(groups, [&](auto &group) { return group.front().hasSameBase(*one); });
      if (group == groups.end())
        group = &groups.emplace_back();
      group->push_back(*one);
    });
    for (ArrayRef<Converted> group : groups)
      if (group.size() >= kLeast)
        share(group);
  }

  static void share(ArrayRef<Converted> group) {
    arith::SIToFPOp first = group.front().op;
    OpBuilder builder(first);
    Value base =
        affine::AffineApplyOp::create(builder, first.getLoc(), group.front().map, group.front().operands).getResult();
    base = arith::IndexCastOp::create(builder, first.getLoc(), first.getIn().getType(), base);
    base = arith::SIToFPOp::create(builder, first.getLoc(), first.getType(), base);
    for (Converted one : group) {
      builder.setInsertionPoint(one.op);
      Value constant =
          arith::ConstantOp::create(builder, one.op.getLoc(), builder.getF32FloatAttr(float(one.constant)));
      one.op.replaceAllUsesWith(arith::AddFOp::create(builder, one.op.getLoc(), base, constant).getResult());
      one.op.erase();
    }
  }
};

} // namespace
} // namespace tilewright
