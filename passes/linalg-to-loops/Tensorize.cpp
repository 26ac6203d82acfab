//===- Tensorize.cpp - matches tiles of stages with intrinsics ------------===//
//
// A tile is what the loops from the tensorized one on compute while those around stand still. It is matched with what
// the intrinsic describes, op by op from the results back to the elements read: so nothing is replaced by something
// else.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/Tensorize.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace tilewright {
namespace {

class TileMatcher {
public:
  TileMatcher(const StageModel &model, const LoopBounds &bounds, const ScheduledStage &stage)
      : model(model), bounds(bounds), stage(stage), op(stage.op), primitive(stage.tensorize), context(op.getContext()),
        zero(getAffineConstantExpr(0, context)) {}

  FailureOr<TensorizedTile> match();

private:
  InFlightDiagnostic error() {
    return emitError(primitive.getLoc()) << "tensorize of stage '" << stage.name << "' by '" << primitive.getName()
                                         << "': ";
  }
  /// An error about an op of the stage beside one of the intrinsic.
  LogicalResult differ(Operation *mine, Operation *theirs, const Twine &wanted, const Twine &got);

  LogicalResult readIntrinsic();
  LogicalResult checkLoops();
  /// Pairs the axes of the intrinsic with those of the stage that run in the tile.
  LogicalResult pairAxes();
  LogicalResult matchReduction();
  LogicalResult matchValue(Value mine, Value theirs);
  LogicalResult matchRead(Operation *at, const Access &mine, const Access &theirs);
  LogicalResult checkRegions();
  void addResults();

  /// The element that a value is, where it is one of a tensor.
  static std::optional<Access> getAccess(linalg::GenericOp op, Value value);
  /// An expression of the stage's axes as one of the loops around the tile, and what the tile's axes add to it.
  std::pair<AffineExpr, AffineExpr> getParts(AffineExpr expr);
  AffineExpr getLocal(unsigned root) { return getAffineDimExpr(bounds.getNumLoops() + root, context); }
  AffineExpr getExtent(unsigned dim) {
    unsigned loops = bounds.getNumLoops();
    return dim < loops ? bounds.getExtent(dim) : getAffineConstantExpr(tile[dim - loops], context);
  }
  AffineExpr simplified(AffineExpr expr) {
    return simplify(expr, [&](unsigned dim) { return getExtent(dim); });
  }

  const StageModel &model;
  const LoopBounds &bounds;
  const ScheduledStage &stage;
  linalg::GenericOp op;
  schedule::TensorizeOp primitive;
  MLIRContext *context;
  AffineExpr zero;

  func::FuncOp describe;
  linalg::GenericOp description;
  TensorizedTile result;
  llvm::DenseSet<unsigned> inTile;   // loops, by their number
  SmallVector<int64_t> tile;         // extent in the tile of each root axis
  SmallVector<AffineExpr> outside;   // each root axis with the tile's loops at 0, in the whole tensor
  SmallVector<AffineExpr> theirAxes; // for each axis of the description the tile's, as a local dim or 0
  SmallVector<SmallVector<std::pair<int64_t, int64_t>>>
      touched;                  // of each input and dimension, first and last element read
  DenseMap<Value, Value> known; // values of the description with those of the stage
};

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

std::pair<AffineExpr, AffineExpr> TileMatcher::getParts(AffineExpr expr) {
  SmallVector<AffineExpr> here;
  for (auto [i, start] : llvm::enumerate(outside))
    here.push_back(tile[i] == 1 ? start : start + getLocal(i));
  AffineExpr base = simplified(expr.replaceDims(outside));
  return {base, simplified(expr.replaceDims(here) - base)};
}

std::optional<Access> TileMatcher::getAccess(linalg::GenericOp op, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody() || argument.getArgNumber() >= op.getNumDpsInputs())
      return std::nullopt;
    OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
    return Access{operand->get(), SmallVector<AffineExpr>(op.getMatchingIndexingMap(operand).getResults())};
  }
  auto extract = value.getDefiningOp<tensor::ExtractOp>();
  if (!extract)
    return std::nullopt;
  Access access{extract.getTensor(), {}};
  for (Value index : extract.getIndices())
    access.indices.push_back(getIndexExpr(op, index));
  return access;
}

LogicalResult TileMatcher::matchRead(Operation *at, const Access &mine, const Access &theirs) {
  auto argument = cast<BlockArgument>(theirs.tensor);
  TileArgument &given = result.arguments[argument.getArgNumber()];
  auto type = cast<RankedTensorType>(argument.getType());
  assert(getElementTypeOrSelf(mine.tensor.getType()) == type.getElementType() && "both values are of one type");
  std::string name = "its input";
  if (auto attr = describe.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr))
    name = "'" + attr.str() + "'";
  auto mismatch = [&]() {
    return differ(at, description, "a read at the indices of " + Twine(name),
                  "one at indices that change in another way within a tile");
  };
  TileArgument found{mine.tensor, SmallVector<AffineExpr>(mine.indices.size(), zero),
                     SmallVector<int>(mine.indices.size(), -1)};
  int next = type.getRank() - 1;
  for (int d = mine.indices.size(); d-- > 0;) {
    if (!mine.indices[d])
      return mismatch();
    auto [base, moved] = getParts(mine.indices[d]);
    // What moves in the tile is a sum of its axes alone.
    bool isLocal = true;
    moved.walk([&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      isLocal &= (!dim || dim.getPosition() >= bounds.getNumLoops()) && !isa<AffineSymbolExpr>(expr);
    });
    AffineExpr wanted =
        next < 0 || !theirs.indices[next] ? nullptr : simplified(theirs.indices[next].replaceDims(theirAxes));
    auto start =
        wanted ? simplified(theirs.indices[next].replaceDims(SmallVector<AffineExpr>(theirAxes.size(), zero))) : zero;
    if (wanted && isLocal && simplified(wanted - start) == moved && isa<AffineConstantExpr>(start)) {
      found.base[d] = simplified(base - start);
      found.moves[d] = next;
      auto span = getInterval(wanted, [](unsigned) { return true; }, [&](unsigned dim) { return getExtent(dim); });
      auto first = span ? dyn_cast<AffineConstantExpr>(span->min) : nullptr;
      auto width = span ? dyn_cast<AffineConstantExpr>(span->width) : nullptr;
      if (!first || !width)
        return mismatch();
      auto &[low, high] = touched[argument.getArgNumber()][next];
      low = std::min(low, first.getValue());
      high = std::max(high, first.getValue() + width.getValue());
      --next;
    } else if (moved == zero) {
      found.base[d] = base;
    } else {
      return mismatch();
    }
  }
  if (next >= 0)
    return mismatch();
  if (given.tensor && (given.tensor != found.tensor || given.base != found.base || given.moves != found.moves))
    return differ(at, description, "one tensor at one place for all reads of " + Twine(name),
                  "another for one of them");
  given = found;
  return success();
}

LogicalResult TileMatcher::matchValue(Value mine, Value theirs) {
  auto [entry, isNew] = known.try_emplace(theirs, mine);
  if (!isNew && entry->second == mine)
    return success();
  Operation *at = mine.getDefiningOp() ? mine.getDefiningOp() : op.getOperation();
  Operation *other = theirs.getDefiningOp() ? theirs.getDefiningOp() : description.getOperation();
  auto element = getAccess(op, mine), wanted = getAccess(description, theirs);
  auto describeValue = [&](Value value, bool isRead) -> std::string {
    Operation *made = value.getDefiningOp();
    return isRead  ? "an element read"
           : !made ? "what is reduced so far"
                   : "'" + made->getName().getStringRef().str() + "'";
  };
  auto mismatch = [&] {
    return differ(at, other, describeValue(theirs, wanted.has_value()), describeValue(mine, element.has_value()));
  };
  if (mine.getType() != theirs.getType())
    return differ(at, other, "a value of type " + debugString(theirs.getType()), debugString(mine.getType()));
  if (element && wanted)
    return matchRead(at, *element, *wanted);
  auto argument = dyn_cast<BlockArgument>(mine), theirArgument = dyn_cast<BlockArgument>(theirs);
  if (element || wanted || !argument != !theirArgument)
    return mismatch();
  if (argument) {
    unsigned number = argument.getArgNumber() - op.getNumDpsInputs();
    return number == theirArgument.getArgNumber() - description.getNumDpsInputs() ? success() : mismatch();
  }
  if (isa<IndexType>(mine.getType())) {
    AffineExpr expr = getIndexExpr(op, mine), theirExpr = getIndexExpr(description, theirs);
    if (expr && theirExpr) {
      auto [base, moved] = getParts(expr);
      if (simplified(base + moved) == simplified(theirExpr.replaceDims(theirAxes)))
        return success();
      return differ(at, other, "an index that is that of the tile", "one that depends on where the tile is");
    }
  }
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrDictionary());
    list.erase(te::kCombineAttr);
    return list.getDictionary(op->getContext());
  };
  if (at->getName() != other->getName() || at->getNumOperands() != other->getNumOperands() ||
      cast<OpResult>(mine).getResultNumber() != cast<OpResult>(theirs).getResultNumber() ||
      at->getNumRegions() != other->getNumRegions())
    return mismatch();
  if (attributes(at) != attributes(other)) {
    Attribute number, theirNumber;
    if (matchPattern(at, m_Constant(&number)) && matchPattern(other, m_Constant(&theirNumber)))
      return differ(at, other, "the constant " + debugString(theirNumber), debugString(number));
    return differ(at, other, "the same " + describeValue(theirs, false), "one with other attributes");
  }
  for (auto [a, b] : llvm::zip(at->getOperands(), other->getOperands()))
    if (failed(matchValue(a, b)))
      return failure();
  for (auto [a, b] : llvm::zip(at->getRegions(), other->getRegions())) {
    if (a.empty() != b.empty())
      return mismatch();
    if (!a.empty())
      for (auto [x, y] :
           llvm::zip_equal(a.front().getTerminator()->getOperands(), b.front().getTerminator()->getOperands()))
        if (failed(matchValue(x, y)))
          return failure();
  }
  return success();
}

LogicalResult TileMatcher::matchReduction() {
  bool reduces = stage.numSpatial != stage.roots.size(), theyReduce = description.getNumReductionLoops() != 0;
  if (reduces != theyReduce)
    return differ(op, description, theyReduce ? "a reduction" : "no reduction", reduces ? "one" : "none");
  if (!reduces)
    return success();
  for (auto [mine, theirs] : llvm::zip(op.getDpsInits(), description.getDpsInits())) {
    auto fill = mine.getDefiningOp<linalg::FillOp>(), theirFill = theirs.getDefiningOp<linalg::FillOp>();
    Attribute identity, theirIdentity;
    if (!fill || !theirFill || !matchPattern(fill.getInputs()[0], m_Constant(&identity)) ||
        !matchPattern(theirFill.getInputs()[0], m_Constant(&theirIdentity)) || identity != theirIdentity)
      return differ(op, description, "a reduction that starts from the same", "another");
  }
  for (unsigned root = stage.numSpatial; root < stage.roots.size(); ++root)
    result.isWholeReduction &= outside[root] == zero && tile[root] != 0 &&
                               bounds[stage.roots[root]].extent == getAffineConstantExpr(tile[root], context);
  if (result.isWholeReduction ? !result.body && !(result.reset && result.update)
                              : !result.update || (!result.reset && !result.body))
    return error() << (result.isWholeReduction
                           ? "expected an intrinsic with a body, or with reset and update, got one with neither"
                           : "expected an intrinsic with an update, and a reset or a body for what comes first, as a "
                             "tile has a "
                             "part of the reduction, got one without");
  return success();
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
} // namespace

FailureOr<TensorizedTile> matchTile(const StageModel &model, const LoopBounds &bounds, const ScheduledStage &stage) {
  return TileMatcher(model, bounds, stage).match();
}
} // namespace tilewright
