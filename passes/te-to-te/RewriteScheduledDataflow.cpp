//===- RewriteScheduledDataflow.cpp - caches and inlining on te -----------===//
//
// cache_read, cache_write, rfactor and compute_inline change which stages there are, not how one of them is looped
// over. They are therefore rewrites of tensor expressions, done first; what remains of the schedule speaks of loops
// alone.
//
//===----------------------------------------------------------------------===//
#include "passes/Externs.h"
#include "passes/te-to-te/Dataflow.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_REWRITESCHEDULEDDATAFLOW
#include "passes/te-to-te/Passes.h.inc"

namespace {
struct RewriteScheduledDataflow : impl::RewriteScheduledDataflowBase<RewriteScheduledDataflow> {
  void runOnOperation() override;
};
} // namespace

te::ComputeOp Dataflow::getStage(StringRef name) {
  for (auto compute : function.getOps<te::ComputeOp>())
    if (compute.getName() == name)
      return compute;
  return nullptr;
}

FailureOr<te::ComputeOp> Dataflow::findStage(Operation *op, Value handle) {
  StringRef name = schedule::stageName(handle);
  if (te::ComputeOp stage = getStage(name))
    return stage;
  return op->emitOpError() << "expected the name of a stage, got '" << name << "'";
}

te::ExternOp Dataflow::getExtern(StringRef name) {
  for (auto op : function.getOps<te::ExternOp>())
    if (op.getName() == name)
      return op;
  return nullptr;
}

Value Dataflow::getTensor(StringRef name) {
  if (te::ComputeOp stage = getStage(name))
    return stage.getResult(0);
  if (te::ExternOp op = getExtern(name))
    return op.getResult(0);
  for (auto state : function.getOps<te::StateOp>())
    if (state.getName() == name)
      return state;
  for (BlockArgument arg : function.getArguments()) {
    auto argName = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), te::kNameAttr);
    if (argName && argName.getValue() == name && !function.getArgAttr(arg.getArgNumber(), te::kOutputAttr))
      return arg;
  }
  return nullptr;
}

/// The reads of `tensor` in `stage`.
static SmallVector<te::ReadOp> getReads(te::ComputeOp stage, Value tensor) {
  SmallVector<te::ReadOp> reads;
  stage.getBody().walk([&](te::ReadOp read) {
    if (read.getTensor() == tensor)
      reads.push_back(read);
  });
  return reads;
}

te::ComputeOp createCopy(OpBuilder &builder, Location loc, StringRef name, ValueRange sources, ArrayAttr axisNames) {
  auto type = cast<RankedTensorType>(sources[0].getType());
  SmallVector<Attribute> names;
  if (axisNames)
    llvm::append_range(names, axisNames);
  else
    for (int64_t i = 0; i < type.getRank(); ++i)
      names.push_back(builder.getStringAttr("ax" + Twine(i)));
  SmallVector<Value> extents;
  auto made = sources[0].getDefiningOp<te::ComputeOp>();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i)) // That of a stage is where the stage has it from: the stage may be inlined.
      extents.push_back(made ? cast<Value>(made.getMixedExtents()[i])
                             : tensor::DimOp::create(builder, loc, sources[0], i).getResult());
  auto copy =
      te::ComputeOp::create(builder, loc, sources.getTypes(), builder.getStringAttr(name), builder.getArrayAttr(names),
                            builder.getArrayAttr({}), builder.getDenseI64ArrayAttr(type.getShape()), extents,
                            /*reducer=*/nullptr, /*identity=*/nullptr, /*is_unsigned=*/nullptr, /*scan=*/UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&copy.getBody());
  for (int64_t i = 0; i < type.getRank(); ++i)
    block->addArgument(builder.getIndexType(), loc);
  auto identity = AffineMapAttr::get(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<Value> elements;
  for (Value source : sources)
    elements.push_back(te::ReadOp::create(builder, loc, cast<RankedTensorType>(source.getType()).getElementType(),
                                          source, block->getArguments(), identity));
  te::YieldOp::create(builder, loc, elements);
  return copy;
}

void replaceByStage(Operation *op, StringRef name, schedule::ScopeAttr scope) {
  OpBuilder builder(op);
  auto stage = schedule::StageOp::create(builder, op->getLoc(), builder.getStringAttr(name));
  schedule::SetScopeOp::create(builder, op->getLoc(), stage, scope);
  op->getResult(0).replaceAllUsesWith(stage);
  op->erase();
}

static LogicalResult applyCacheRead(schedule::CacheReadOp op, Dataflow &dataflow) {
  if (failed(checkIsFree(op, dataflow)))
    return failure();
  Value tensor = dataflow.getTensor(op.getTensor());
  if (!tensor)
    return op.emitOpError() << "expected the name of a stage or an input, got '" << op.getTensor() << "'";
  SmallVector<te::ReadOp> reads;
  te::ComputeOp first;
  for (Value handle : op.getReaders()) {
    FailureOr<te::ComputeOp> found = dataflow.findStage(op, handle);
    if (failed(found))
      return failure();
    te::ComputeOp reader = *found;
    SmallVector<te::ReadOp> readsOfTensor = getReads(reader, tensor);
    if (readsOfTensor.empty())
      return op.emitOpError() << "expected readers of '" << op.getTensor() << "', got stage '" << reader.getName()
                              << "', which does not read it";
    llvm::append_range(reads, readsOfTensor);
    if (!first || reader->isBeforeInBlock(first))
      first = reader;
  }
  OpBuilder builder(first);
  te::ComputeOp copy = createCopy(builder, op.getLoc(), op.getName(), tensor, nullptr);
  for (te::ReadOp read : reads)
    read.getTensorMutable().assign(copy.getResult(0));
  replaceByStage(op, op.getName(), op.getScopeAttr());
  return success();
}

/// Rewrites `inner`, cloned from a stage's body, whose axes the values `axes` stand for, to where `places` has them.
static void composeRead(te::ReadOp inner, const AxisPlaces &places, ArrayRef<Value> axes) {
  AffineMap map = inner.getMap(), at = places.map;
  // Dims and symbols of the composed map: those of `places`, then those of `inner`.
  SmallVector<AffineExpr> dims, symbols;
  ArrayRef<Value> given(places.operands);
  SmallVector<Value> dimOperands(given.take_front(at.getNumDims()));
  SmallVector<Value> symbolOperands(given.drop_front(at.getNumDims()));
  MLIRContext *context = inner.getContext();
  auto replacement = [&](Value operand, bool isDim) {
    if (const Value *axis = llvm::find(axes, operand); axis != axes.end())
      return at.getResult(axis - axes.begin());
    SmallVector<Value> &operands = isDim ? dimOperands : symbolOperands;
    operands.push_back(operand);
    unsigned position = operands.size() - 1;
    return isDim ? getAffineDimExpr(position, context) : getAffineSymbolExpr(position, context);
  };
  for (auto [i, operand] : llvm::enumerate(inner.getIndices()))
    (i < map.getNumDims() ? dims : symbols).push_back(replacement(operand, i < map.getNumDims()));
  AffineMap composed = map.replaceDimsAndSymbols(dims, symbols, dimOperands.size(), symbolOperands.size());
  composed = simplifyAffineMap(composed);
  SmallVector<Value> operands(dimOperands);
  llvm::append_range(operands, symbolOperands);
  inner.getIndicesMutable().assign(operands);
  inner.setMap(composed);
}

SmallVector<Value> cloneBodyAt(OpBuilder &builder, Location loc, te::ComputeOp stage, const AxisPlaces &places) {
  IRMapping mapping;
  // The clones refer to stand-ins for the axes first; reads compose with them, other users get their value.
  SmallVector<Value> standIns;
  for (BlockArgument axis : stage.getBody().getArguments()) {
    standIns.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    mapping.map(axis, standIns.back());
  }
  SmallVector<Operation *> clones;
  for (Operation &op : stage.getBody().front().without_terminator())
    clones.push_back(builder.clone(op, mapping));
  for (Operation *clone : clones)
    clone->walk([&](te::ReadOp inner) { composeRead(inner, places, standIns); });
  SmallVector<Value> elements;
  for (Value value : cast<te::YieldOp>(stage.getBody().front().getTerminator()).getValues())
    elements.push_back(mapping.lookupOrDefault(value));
  OpBuilder::InsertionGuard guard(builder);
  if (!standIns.empty())
    builder.setInsertionPointAfter(standIns.back().getDefiningOp());
  for (auto [position, standIn] : llvm::enumerate(standIns)) {
    if (!standIn.use_empty() || llvm::is_contained(elements, standIn)) {
      SmallVector<OpFoldResult> operands(places.operands.begin(), places.operands.end());
      AffineMap at = places.map.getSubMap(position);
      Value value = getValueOrCreateConstantIndexOp(builder, loc,
                                                    affine::makeComposedFoldedAffineApply(builder, loc, at, operands));
      std::replace(elements.begin(), elements.end(), standIn, value);
      standIn.replaceAllUsesWith(value);
    }
    standIn.getDefiningOp()->erase();
  }
  return elements;
}

void inlineRead(te::ReadOp read, te::ComputeOp stage) {
  OpBuilder builder(read);
  AxisPlaces places{read.getMap(), SmallVector<Value>(read.getIndices())};
  SmallVector<Value> elements = cloneBodyAt(builder, read.getLoc(), stage, places);
  read.replaceAllUsesWith(elements[cast<OpResult>(read.getTensor()).getResultNumber()]);
  read.erase();
}

/// So many operations of a stage may be copies of others.
static constexpr int64_t mergedFrom = 64;

/// A stage that is read at several places has as many copies. They are merged before the reader itself is copied: in a
/// chain of stages that each read two others, there would be twice as many with each.
static void mergeCopies(Operation *reader) {
  int64_t size = 0;
  reader->walk([&](Operation *) { ++size; });
  if (size < mergedFrom)
    return;
  IRRewriter rewriter(reader->getContext());
  DominanceInfo dominance(reader);
  eliminateCommonSubExpressions(rewriter, dominance, reader);
}

LogicalResult eraseHandle(Operation *handle, StringRef what) {
  for (Operation *user : llvm::make_early_inc_range(handle->getUsers()))
    if (isa<schedule::AxesOp, schedule::ReduceAxesOp>(user) && user->use_empty())
      user->erase();
  for (Operation *user : handle->getUsers()) {
    // Of axes, the primitive that uses them.
    if (isa<schedule::AxesOp, schedule::ReduceAxesOp>(user))
      user = *user->user_begin();
    return user->emitOpError() << "expected a stage with loops of its own, got '"
                               << schedule::stageName(handle->getResult(0)) << "', which " << what;
  }
  handle->erase();
  return success();
}

static LogicalResult applyInline(schedule::ComputeInlineOp op, Dataflow &dataflow) {
  FailureOr<te::ComputeOp> found = dataflow.findStage(op, op.getStage());
  if (failed(found))
    return failure();
  te::ComputeOp stage = *found;
  StringRef name = stage.getName();
  if (stage.getNumReduce())
    return op.emitOpError() << "expected a stage without a reduction, got stage '" << name
                            << "': its reduction would be computed again at every read";
  if (stage.getScan())
    return op.emitOpError() << "expected a stage whose elements can be computed alone, got the scan '" << name << "'";
  SmallVector<te::ReadOp> reads;
  for (Operation *user : stage->getUsers()) {
    auto read = dyn_cast<te::ReadOp>(user);
    if (auto reader = dyn_cast<te::ExternOp>(user))
      return op.emitOpError() << "expected a stage whose elements are read at indices, got stage '" << name
                              << "', whose tensor the extern '" << reader.getName() << "' reads";
    if (!read)
      return op.emitOpError() << "expected a stage that only other stages read, got the output '" << name << "'";
    reads.push_back(read);
  }
  llvm::SetVector<Operation *> readers;
  for (te::ReadOp read : reads) {
    readers.insert(read->getParentOp());
    inlineRead(read, stage);
  }
  for (Operation *reader : readers)
    mergeCopies(reader);
  stage.erase();
  Operation *handle = op.getStage().getDefiningOp();
  op.erase();
  return eraseHandle(handle, "is inlined");
}

/// Why `stage` cannot be computed where `producer` is; empty where it can.
static std::string whyNotInto(te::ComputeOp stage, te::ComputeOp producer) {
  std::string name = producer.getName().str();
  if (producer.getNumReduce())
    return "an elementwise producer, got stage '" + name + "', which reduces: use reverse_compute_at";
  if (stage.getNumReduce())
    return "an elementwise stage, got '" + stage.getName().str() + "', which reduces: use compute_inline of stage '" +
           name + "'";
  for (te::ComputeOp each : {producer, stage})
    if (each.getScan())
      return "elementwise stages, got the scan '" + each.getName().str() + "'";
  if (producer->use_empty())
    return "a producer that the stage reads, got stage '" + name + "'";
  for (Operation *user : producer->getUsers()) {
    auto read = dyn_cast<te::ReadOp>(user);
    auto reader = user->getParentOfType<te::ComputeOp>();
    if (auto other = dyn_cast<te::ExternOp>(user))
      return "the only reader of stage '" + name + "', got another, the extern '" + other.getName().str() + "'";
    if (!read || reader != stage)
      return "the only reader of stage '" + name + "', got " +
             (read ? "another, stage '" + reader.getName().str() + "'" : "an output of the program");
    if (!read.getMap().isIdentity() || !llvm::equal(read.getIndices(), stage.getBody().getArguments()))
      return "reads of stage '" + name +
             "' at the stage's own axes in their order, got other indices: use compute_inline of "
             "stage '" +
             name + "'";
  }
  return "";
}

static LogicalResult applyReverseInline(schedule::ReverseComputeInlineOp op, Dataflow &dataflow) {
  FailureOr<te::ComputeOp> found = dataflow.findStage(op, op.getStage());
  FailureOr<te::ComputeOp> read = dataflow.findStage(op, op.getProducer());
  if (failed(found) || failed(read))
    return failure();
  te::ComputeOp stage = *found, producer = *read;
  if (std::string reason = whyNotInto(stage, producer); !reason.empty())
    return op.emitOpError() << "expected " << reason;
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers()))
    inlineRead(cast<te::ReadOp>(user), producer);
  // What is left is the producer's stage, with its axes and so with its loops.
  stage.setName(producer.getName());
  stage.setAxesAttr(producer.getAxesAttr());
  producer.erase();
  Operation *handle = op.getStage().getDefiningOp();
  op.erase();
  return eraseHandle(handle, "is inlined");
}

/// Of the primitives that say where a stage is computed the last counts: those before it go, where it or they inline.
static void keepLastPlaces(schedule::OfOp of) {
  llvm::StringMap<Operation *> last;
  auto isPlace = llvm::IsaPred<schedule::ComputeInlineOp, schedule::ComputeRootOp, schedule::ComputeAtOp,
                               schedule::ReverseComputeAtOp>;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(of.getBody().front()))) {
    if (!isPlace(&op))
      continue;
    Operation *&later = last[schedule::stageName(op.getOperand(0))];
    if (!later)
      later = &op;
    else if (isa<schedule::ComputeInlineOp>(op) || isa<schedule::ComputeInlineOp>(later))
      op.erase();
  }
}

void RewriteScheduledDataflow::runOnOperation() {
  SymbolTableCollection tables;
  for (auto of : llvm::make_early_inc_range(getOperation().getOps<schedule::OfOp>())) {
    auto function = tables.lookupNearestSymbolFrom<func::FuncOp>(of, of.getFunctionAttr());
    if (!function)
      continue;
    Dataflow dataflow(function);
    keepLastPlaces(of);
    // Last: until then a stage that is inlined can be cached, and is then computed in the copy.
    SmallVector<schedule::ComputeInlineOp> inlined;
    for (Operation &op : llvm::make_early_inc_range(of.getBody().front())) {
      LogicalResult applied = checkHasLoops(&op, [&](StringRef name) { return bool(dataflow.getExtern(name)); });
      if (failed(applied))
        return signalPassFailure();
      if (auto cacheRead = dyn_cast<schedule::CacheReadOp>(op))
        applied = applyCacheRead(cacheRead, dataflow);
      else if (auto cacheWrite = dyn_cast<schedule::CacheWriteOp>(op))
        applied = applyCacheWrite(cacheWrite, dataflow);
      else if (auto rfactor = dyn_cast<schedule::RfactorOp>(op))
        applied = applyRfactor(rfactor, dataflow);
      else if (auto padded = dyn_cast<schedule::PadEinsumOp>(op))
        applied = applyPadEinsum(padded, dataflow);
      else if (auto rolling = dyn_cast<schedule::RollingUpdateOp>(op))
        applied = applyRollingUpdate(rolling, dataflow);
      else if (auto reverse = dyn_cast<schedule::ReverseComputeInlineOp>(op))
        applied = applyReverseInline(reverse, dataflow);
      else if (auto computeInline = dyn_cast<schedule::ComputeInlineOp>(op))
        inlined.push_back(computeInline);
      if (failed(applied))
        return signalPassFailure();
    }
    for (schedule::ComputeInlineOp op : inlined)
      if (failed(applyInline(op, dataflow)))
        return signalPassFailure();
  }
}
} // namespace tilewright
