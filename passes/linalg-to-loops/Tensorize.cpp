//===- Tensorize.cpp - matches tiles of stages with intrinsics ------------===//
//
// A tile is what the loops from the tensorized one on compute while those around stand still. It is matched with what
// the intrinsic describes, op by op from the results back to the elements read: so nothing is replaced by something
// else.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/TileMatcher.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace tilewright {

LogicalResult TileMatcher::differ(Operation *mine, Operation *theirs, const Twine &wanted, const Twine &got) {
  InFlightDiagnostic diag = error() << "expected " << wanted << ", as the intrinsic describes, got " << got;
  diag.attachNote(theirs->getLoc()) << "the intrinsic computes this";
  diag.attachNote(mine->getLoc()) << "the stage computes this";
  return diag;
}

LogicalResult TileMatcher::readIntrinsic() {
  for (auto function : primitive.getIntrinsic().getOps<func::FuncOp>()) {
    if (function.getName() == "describe")
      describe = function;
    else if (function.getName() == "body")
      result.body = function;
    else if (function.getName() == "reset")
      result.reset = function;
    else if (function.getName() == "update")
      result.update = function;
  }
  auto generics = describe.getOps<linalg::GenericOp>();
  if (std::distance(generics.begin(), generics.end()) != 1)
    return error() << "expected a description that is one te.compute, got "
                   << std::distance(generics.begin(), generics.end());
  description = *generics.begin();
  // What a matrix instruction does is a matmul, and what is matched with the description then is one, too.
  for (func::FuncOp function : {result.body, result.reset, result.update}) {
    bool hasInstruction =
        function &&
        function.walk([](Operation *op) { return WalkResult(failure(op->hasAttr(schedule::kInstructionAttr))); })
            .wasInterrupted();
    if (hasInstruction && (!linalg::isaContractionOpInterface(description) || description.getNumDpsInits() != 1))
      return error() << "expected a description that is a matmul, as '" << function.getName()
                     << "' has loops that a matrix instruction does, got another";
  }
  result.arguments.resize(describe.getNumArguments());
  for (BlockArgument argument : describe.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.hasStaticShape())
      return error() << "expected tensors of constant extents in the description, got " << type;
    touched.push_back(SmallVector<std::pair<int64_t, int64_t>>(type.getRank(), {INT64_MAX, INT64_MIN}));
  }
  return success();
}

LogicalResult TileMatcher::checkLoops() {
  if (op->hasAttr(te::kScanAttr))
    return error() << "expected a stage whose elements are independent, got a scan";
  if (stage.decomposeAt)
    return error() << "expected the intrinsic to set its results to the identity, got decompose_reduction of the stage";
  unsigned position = llvm::find(bounds[stage].loops, stage.tensorizeAt) - bounds[stage].loops.begin();
  for (const Axis *loop : ArrayRef(bounds[stage].loops).take_front(position))
    if (loop->isReduce && loop->bind)
      return error() << "expected a reduction by one thread, got axis '" << loop->name << "' bound to "
                     << schedule::stringifyThreadTag(*loop->bind);
  for (const Axis *loop : ArrayRef(bounds[stage].loops).drop_front(position)) {
    inTile.insert(bounds[loop].dim);
    StringRef mark = loop->bind            ? schedule::stringifyThreadTag(*loop->bind)
                     : loop->vectorize     ? "vectorize"
                     : loop->unroll        ? "unroll"
                     : loop->parallel      ? "parallel"
                     : loop->partition     ? "loop_partition"
                     : loop->pipelineDepth ? "software_pipeline"
                                           : "";
    if (!mark.empty())
      return error() << "expected plain loops in the tile, which the intrinsic takes the place of, got '" << loop->name
                     << "' on " << mark;
    if (loop->origin == Axis::Origin::Fuse)
      return error() << "expected loops in the tile that are of one axis each, got the fused '" << loop->name << "'";
    for (const ScheduledStage *other : llvm::concat<const ScheduledStage *const>(stage.attached, stage.followers))
      if (other->attachAxis == loop)
        return error() << "expected no stage at a loop of the tile, got stage '" << other->name << "' at '"
                       << loop->name << "'";
  }
  return success();
}

LogicalResult TileMatcher::pairAxes() {
  auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
  auto runs = [&](unsigned dim) { return inTile.contains(dim); };
  for (auto [i, root] : llvm::enumerate(stage.roots)) {
    auto interval = getInterval(bounds[root].index, runs, extent);
    auto width = interval ? dyn_cast<AffineConstantExpr>(interval->width) : nullptr;
    int64_t iterations = 1;
    bounds[root].index.walk([&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto known = dim && runs(dim.getPosition()) ? dyn_cast<AffineConstantExpr>(extent(dim.getPosition())) : nullptr;
      iterations *= known ? known.getValue() : 1;
    });
    // As many iterations as elements from the first to the last: each is reached once.
    if (!width || width.getValue() + 1 != iterations)
      return error() << "expected tiles that are blocks, got axis '" << root->name
                     << "', of which a tile has elements that lie apart or a number that is not known";
    tile.push_back(iterations);
    SmallVector<AffineExpr> first;
    for (unsigned dim = 0; dim < bounds.getNumLoops(); ++dim)
      first.push_back(runs(dim) ? zero : getAffineDimExpr(dim, context));
    AffineExpr start = bounds[root].index.replaceDims(first);
    outside.push_back(simplify(i < stage.numSpatial ? bounds[stage].mins[i] + start : start, extent));
  }
  // Axes of one element may be left out of a description; the rest are the same in order.
  SmallVector<int64_t> theirs = description.getStaticLoopRanges();
  unsigned theirSpatial = description.getNumParallelLoops();
  theirAxes.assign(theirs.size(), zero);
  auto pair = [&](unsigned from, unsigned to, int theirFrom, int theirTo) {
    int next = theirTo - 1;
    for (unsigned root = to; root-- > from;) {
      if (next >= theirFrom && theirs[next] == tile[root]) {
        if (tile[root] != 1)
          theirAxes[next] = getLocal(root);
        --next;
      } else if (tile[root] != 1) {
        return false;
      }
    }
    return next < theirFrom;
  };
  if (pair(0, stage.numSpatial, 0, theirSpatial) &&
      pair(stage.numSpatial, stage.roots.size(), theirSpatial, theirs.size()))
    return success();
  auto describeExtents = [](ArrayRef<int64_t> extents, size_t spatial) {
    std::string text;
    for (auto [i, value] : llvm::enumerate(extents))
      text += (i == 0 && spatial ? ""
               : i == spatial    ? (i ? ", reduced over " : "reduced over ")
                                 : ", ") +
              std::to_string(value);
    return text;
  };
  return error() << "expected tiles of extents " << describeExtents(theirs, theirSpatial)
                 << ", as the intrinsic describes, got " << describeExtents(tile, stage.numSpatial);
}

LogicalResult TileMatcher::checkRegions() {
  for (BlockArgument argument : describe.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (describe.getArgAttr(number, te::kOutputAttr))
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.getType()).getShape();
    for (auto [d, extent] : llvm::enumerate(shape))
      if (auto [low, high] = touched[number][d]; low != 0 || high != extent - 1)
        return error() << "expected a description that reads the whole of each input, got input " << number
                       << ", of extent " << extent << " along dimension " << d
                       << (low > high ? std::string(", which it does not read")
                                      : ", which it reads from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return success();
}

void TileMatcher::addResults() {
  unsigned next = 0;
  for (unsigned number = 0; number < describe.getNumArguments(); ++number) {
    if (!describe.getArgAttr(number, te::kOutputAttr))
      continue;
    TileArgument &argument = result.arguments[number];
    argument.tensor = op.getResult(next++);
    for (unsigned root = 0; root < stage.numSpatial; ++root) {
      argument.base.push_back(simplified(outside[root] - bounds[stage].origin[root]));
      auto found = tile[root] == 1 ? theirAxes.end() : llvm::find(theirAxes, getLocal(root));
      argument.moves.push_back(found == theirAxes.end() ? -1 : found - theirAxes.begin());
    }
  }
}

FailureOr<TensorizedTile> TileMatcher::match() {
  if (failed(readIntrinsic()) || failed(checkLoops()) || failed(pairAxes()) || failed(matchReduction()))
    return failure();
  if (op.getNumResults() != description.getNumResults())
    return error() << "expected " << description.getNumResults() << " results, as the intrinsic describes, got "
                   << op.getNumResults();
  for (auto [mine, theirs] : llvm::zip_equal(op.getBody()->getTerminator()->getOperands(),
                                             description.getBody()->getTerminator()->getOperands()))
    if (failed(matchValue(mine, theirs)))
      return failure();
  if (stage.numSpatial == stage.roots.size() && !result.body)
    return error() << "expected an intrinsic with a body, got one without";
  if (failed(checkRegions()))
    return failure();
  addResults();
  return result;
}

FailureOr<TensorizedTile> matchTile(const StageModel &model, const LoopBounds &bounds, const ScheduledStage &stage) {
  return TileMatcher(model, bounds, stage).match();
}
} // namespace tilewright
