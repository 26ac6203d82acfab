//===- Prefetches.cpp - requests for what later iterations read -----------===//
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

/// Bytes that one request brings into the cache.
static constexpr int64_t kLineBytes = 128;

static std::string getTensorName(const StageModel &model, Value tensor) {
  if (const ScheduledStage *producer = model.getProducer(tensor))
    return producer->name;
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument)
    return ""; // what a reduction starts from
  auto name = func::FuncOp(model.function).getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr);
  return name ? name.str() : "";
}

Value StageModel::getReadTensor(const ScheduledStage &stage, StringRef name) const {
  for (Access &access : getReads(stage))
    if (getTensorName(*this, access.tensor) == name)
      return access.tensor;
  return nullptr;
}

LogicalResult BoundInference::verifyPrefetches(const ScheduledStage &stage) {
  for (const ScheduledStage::Prefetch &prefetch : stage.prefetches) {
    auto error = [&] { return emitError(prefetch.loc) << "prefetch of '" << prefetch.tensor << "': "; };
    if (!bounds[prefetch.axis].isLoop())
      return error() << "expected a loop of stage '" << stage.name << "', got axis '" << prefetch.axis->name
                     << "', which " << bounds.whyNoLoop(prefetch.axis);
    if (prefetch.axis->bind || prefetch.axis->vectorize)
      return error() << "expected a loop whose iterations come one after the other, got '" << prefetch.axis->name
                     << "', which is "
                     << (prefetch.axis->bind ? "bound to " + schedule::stringifyThreadTag(*prefetch.axis->bind).str()
                                             : "vectorized");
    if (stage.tensorizeAt &&
        llvm::is_contained(ArrayRef(llvm::find(bounds[stage].loops, stage.tensorizeAt), bounds[stage].loops.end()),
                           prefetch.axis))
      return error() << "expected a loop around what an intrinsic computes, got '" << prefetch.axis->name << "' in it";
    Value tensor = model.getReadTensor(stage, prefetch.tensor);
    if (!tensor)
      return error() << "expected a tensor that stage '" << stage.name << "' reads, got another";
    if (const ScheduledStage *producer = model.getProducer(tensor);
        producer && bounds[*producer].scope != schedule::Scope::Global)
      return error() << "expected a tensor in global memory, which caches lie before, got one in "
                     << schedule::stringifyScope(*bounds[*producer].scope) << " memory";
    for (unsigned d = 0; d < cast<RankedTensorType>(tensor.getType()).getRank(); ++d)
      if (auto region = bounds.getPrefetchRegion(stage, prefetch, tensor, d);
          !region || !isa<AffineConstantExpr>(region->width))
        return error()
               << "expected an iteration of loop '" << prefetch.axis->name
               << "' to read a constant number of elements of it, got a number that is not known along dimension " << d;
  }
  return success();
}

std::optional<Interval> LoopBounds::getPrefetchRegion(const ScheduledStage &stage,
                                                      const ScheduledStage::Prefetch &prefetch, Value tensor,
                                                      unsigned dimension) const {
  SmallVector<const Axis *> around = getLoopsAround(stage);
  for (const Axis *loop : (*this)[stage].loops) {
    around.push_back(loop);
    if (loop == prefetch.axis)
      break;
  }
  return getRegion(
      [&](const ScheduledStage &reader, const Access &access) { return &reader == &stage && access.tensor == tensor; },
      dimension, [&](unsigned dim) { return !llvm::is_contained(around, loops[dim]); });
}

void LoopEmitter::emitPrefetches(const Axis *axis) {
  for (const ScheduledStage::Prefetch &prefetch : axis->stage->prefetches) {
    auto constant = dyn_cast<AffineConstantExpr>(bounds[axis].extent);
    if (prefetch.axis != axis || (constant && constant.getValue() <= prefetch.offset))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    Location loc = prefetch.loc;
    Value tensor = model.getReadTensor(*axis->stage, prefetch.tensor);
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t line = std::max<int64_t>(kLineBytes / getElementBytes(type.getElementType()), 1);
    AffineExpr index = bounds[axis].index, later = index + prefetch.offset;
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, materialize(later, loc),
                                         materialize(bounds[axis].extent, loc));
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false).thenBlock());
    SmallVector<Value> indices;
    Value isInside;
    for (unsigned d = 0; d < type.getRank(); ++d) {
      Interval region = *bounds.getPrefetchRegion(*axis->stage, prefetch, tensor, d);
      int64_t elements = cast<AffineConstantExpr>(region.width).getValue() + 1,
              step = d + 1 == type.getRank() ? line : 1;
      AffineExpr first = simplify(region.min.replace(index, later));
      Value place = materialize(first, loc);
      if (elements > step) {
        auto loop = scf::ForOp::create(builder, loc, getConstant(0), getConstant(llvm::divideCeil(elements, step)),
                                       getConstant(1));
        loop->setAttr(schedule::kAxisAttr,
                      schedule::AxisAttr::get(builder.getContext(), "prefetch" + std::to_string(d), axis->stage->name));
        builder.setInsertionPoint(loop.getBody()->getTerminator());
        place = affine::makeComposedAffineApply(builder, loc,
                                                builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * step,
                                                {place, loop.getInductionVar()});
      }
      indices.push_back(place);
      // Reads may be predicated: what they then would read is not asked for.
      AffineExpr bound = model.getExtents(tensor)[d];
      auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
      auto everywhere = region.min + (elements - 1); // of the loop's iterations those are left that have a later one
      if (isProvablyLess(everywhere, bound, extent) && isProvablyNonNegative(region.min, extent))
        continue;
      Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, materialize(bound, loc));
      isInside = isInside ? arith::AndIOp::create(builder, loc, isInside, inside).getResult() : inside;
    }
    if (isInside)
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isInside, /*withElseRegion=*/false).thenBlock());
    memref::PrefetchOp::create(builder, loc, getBuffer(tensor), indices, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
}
} // namespace tilewright
