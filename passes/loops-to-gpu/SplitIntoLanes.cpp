//===- SplitIntoLanes.cpp - long loops as loops over vectors of lanes -----===//
#include "passes/loops-to-gpu/Lanes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
namespace {
/// A marked loop as loops over lanes, each of them marked, and a loop for what is left.
class LaneSplitter {
public:
  explicit LaneSplitter(scf::ForOp loop) : loop(loop), loc(loop.getLoc()), builder(loop) {}

  /// Appends the loops over lanes.
  void run(SmallVectorImpl<scf::ForOp> &loops);

private:
  scf::ForOp createLoop(Value extent) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
    return scf::ForOp::create(builder, loc, zero, extent, one);
  }
  scf::ForOp createLoop(int64_t extent) { return createLoop(arith::ConstantIndexOp::create(builder, loc, extent)); }
  Value apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return getValueOrCreateConstantIndexOp(builder, loc,
                                           affine::makeComposedFoldedAffineApply(builder, loc, expr, operands));
  }
  /// Puts the body into `into`, with `iteration` as its variable.
  void cloneBody(scf::ForOp into, Value iteration) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iteration);
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, mapping);
    into->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  }

  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
};

void LaneSplitter::run(SmallVectorImpl<scf::ForOp> &loops) {
  auto extent = getConstantIntValue(loop.getUpperBound());
  int64_t lanes = 16;
  if (extent)
    lanes = *llvm::find_if(ArrayRef<int64_t>{64, 48, 32, 16, 0}, [&](int64_t n) { return n == 0 || *extent % n == 0; });
  if (lanes == 0)
    lanes = kMaxProcessorLanes;
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  OpFoldResult upper = getAsOpFoldResult(loop.getUpperBound());
  scf::ForOp outer = createLoop(apply(d0.floorDiv(lanes), upper));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(outer.getBody()->getTerminator());
    scf::ForOp inner = createLoop(lanes);
    builder.setInsertionPointToStart(inner.getBody());
    cloneBody(inner,
              apply(d0 * lanes + d1, {OpFoldResult(outer.getInductionVar()), OpFoldResult(inner.getInductionVar())}));
    loops.push_back(inner);
  }
  if (!extent || *extent % lanes) {
    scf::ForOp rest = createLoop(apply(d0 % lanes, upper));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(rest.getBody());
    cloneBody(rest, apply(d0.floorDiv(lanes) * lanes + d1, {upper, OpFoldResult(rest.getInductionVar())}));
    if (extent)
      loops.push_back(rest);
    else
      rest->removeAttr(schedule::kVectorizeAttr);
  }
  loop.erase();
}
} // namespace

void splitIntoLanes(scf::ForOp loop, SmallVectorImpl<scf::ForOp> &loops) { LaneSplitter(loop).run(loops); }

} // namespace tilewright
