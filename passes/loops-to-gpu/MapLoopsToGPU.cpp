//===- MapLoopsToGPU.cpp - nests with bound loops become launches ---------===//
#include "dialects/Program/Program.h"
#include "dialects/Schedule/BoundIndices.h"
#include "dialects/TE/BufferAllocation.h"
#include "passes/HoistValue.h"
#include "passes/index/KnownValues.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/NestedThreads.h"
#include "passes/loops-to-gpu/ThreadReduction.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_MAPLOOPSTOGPU
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
constexpr unsigned kNumTags = 6;
constexpr unsigned kFirstThreadTag = 3;
constexpr int64_t kMaxGrid[3] = {kMaxGridX, kMaxGridYZ, kMaxGridYZ};

struct MapLoopsToGPU : impl::MapLoopsToGPUBase<MapLoopsToGPU> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](func::FuncOp function) {
      if (function.isExternal())
        return WalkResult::advance();
      return WalkResult(mapFunction(function));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult mapFunction(func::FuncOp function);
};

/// One top-level nest with bound loops, on its way to become a launch.
class Kernel {
public:
  Kernel(Operation *nest, func::FuncOp function, ArrayRef<scf::ForOp> bound) : nest(nest), function(function) {
    for (scf::ForOp loop : bound)
      loops[static_cast<unsigned>(getTag(loop))].push_back(loop);
  }

  static schedule::ThreadTag getTag(scf::ForOp loop) {
    return loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr).getValue();
  }

  LogicalResult map();

private:
  LogicalResult checkLoops();
  LogicalResult checkThreads();
  LogicalResult checkGrid();
  void combineParts(scf::ForOp loop, unsigned tag, ArrayRef<Value> ids, std::array<int64_t, 3> block);
  FailureOr<Value> hoistExtent(OpBuilder &builder, scf::ForOp loop);
  std::string quoted(scf::ForOp loop) const { return getAxisName(loop).quoted(); }
  /// The extent of an index, if it is known now. An index without a loop has extent 1.
  std::optional<int64_t> getStaticExtent(unsigned tag) {
    return loops[tag].empty() ? 1 : getConstantIntValue(loops[tag].front().getUpperBound());
  }

  Operation *nest;
  func::FuncOp function;
  /// By index, outermost first: the first one gives the extent.
  SmallVector<scf::ForOp> loops[kNumTags];
};
} // namespace

/// True where both values are one number: the same value or computed alike from the same values.
static bool isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(a))
    return getConstantIntValue(b) == constant;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  if (!first || !second || first.getResultNumber() != second.getResultNumber())
    return false;
  Operation *op = first.getOwner(), *other = second.getOwner();
  return op->getName() == other->getName() && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         op->getAttrDictionary() == other->getAttrDictionary() && op->getNumOperands() == other->getNumOperands() &&
         llvm::all_of(llvm::zip(op->getOperands(), other->getOperands()),
                      [](auto pair) { return isSameValue(std::get<0>(pair), std::get<1>(pair)); });
}

/// The ops of the loop's body that combine a part with what is reduced so far, those of the part alone among them.
static SmallVector<Operation *> getReducer(scf::ForOp loop) {
  size_t half = loop.getNumResults() / 2;
  auto parts = loop.getYieldedValues().drop_front(half);
  llvm::SmallDenseSet<Value> reduced(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  llvm::SmallDenseSet<Value> given(parts.begin(), parts.end());
  given.insert(reduced.begin(), reduced.end());
  // What follows from the parts and from what is reduced so far; a part may follow from another.
  llvm::SmallDenseSet<Operation *> follows;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!llvm::any_of(op.getOperands(), [&](Value operand) { return given.contains(operand); }))
      continue;
    given.insert(op.result_begin(), op.result_end());
    follows.insert(&op);
  }
  // Of that, what the results need.
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<Value> todo(loop.getYieldedValues().take_front(half));
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || llvm::is_contained(parts, value) || !follows.contains(op) || !needed.insert(op).second)
      continue;
    llvm::append_range(todo, op->getOperands());
  }
  SmallVector<Operation *> reducer;
  for (Operation &op : loop.getBody()->without_terminator())
    if (needed.contains(&op))
      reducer.push_back(&op);
  return reducer;
}

/// A loop that carries n values that it reduces and n that are the parts of the latest iteration, which nobody reads.
static bool isReduction(scf::ForOp loop) {
  if (loop.getNumResults() % 2)
    return false;
  size_t half = loop.getNumResults() / 2;
  auto isUnused = [](Value value) { return value.use_empty(); };
  SmallVector<Operation *> reducer = getReducer(loop);
  auto isInReducer = [&](Value value) { return llvm::is_contained(reducer, value.getDefiningOp()); };
  return llvm::all_of(loop.getResults().drop_front(half), isUnused) &&
         llvm::all_of(loop.getRegionIterArgs().drop_front(half), isUnused) &&
         llvm::all_of(reducer, [](Operation *op) { return op->getNumRegions() == 0 && isMemoryEffectFree(op); }) &&
         llvm::none_of(loop.getYieldedValues().drop_front(half), isInReducer);
}

LogicalResult Kernel::checkLoops() {
  for (auto [index, sameIndex] : llvm::enumerate(loops)) {
    StringRef tag = getTagName(static_cast<schedule::ThreadTag>(index));
    for (scf::ForOp loop : sameIndex) {
      if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1)
        return loop.emitError() << "expected " << quoted(loop) << ", bound to " << tag << ", to run from 0 by 1";
      if (loop.getNumResults() != 0 && index < kFirstThreadTag)
        return loop.emitError() << "expected " << quoted(loop) << ", bound to " << tag << ", to carry no values";
      if (!isReduction(loop))
        return loop.emitError() << "expected " << quoted(loop) << ", bound to " << tag
                                << ", to carry what it reduces and then the parts of the latest iteration";
      std::optional<int64_t> extent = getConstantIntValue(loop.getUpperBound());
      // How threads combine their parts follows from how many there are.
      bool combines = llvm::any_of(loops, [](ArrayRef<scf::ForOp> others) {
        return llvm::any_of(others, [](scf::ForOp other) { return other.getNumResults() != 0; });
      });
      if (index >= kFirstThreadTag && !extent && combines)
        return loop.emitError() << "expected a constant extent of " << tag
                                << " in a kernel whose threads reduce together, got a symbolic one of " << quoted(loop);
      if (extent && *extent < 1)
        return loop.emitError() << "expected an extent of " << tag << " of at least 1, got " << *extent << " of "
                                << quoted(loop);
      scf::ForOp first = sameIndex.front();
      if (isSameValue(first.getUpperBound(), loop.getUpperBound()))
        continue;
      std::optional<int64_t> wanted = getConstantIntValue(first.getUpperBound());
      std::string expected = wanted ? "extent " + std::to_string(*wanted) : "a symbolic extent";
      std::string got = extent ? std::to_string(*extent) : wanted ? "a symbolic one" : "another";
      InFlightDiagnostic diagnostic = loop.emitError() << "expected " << expected << " of " << tag << ", as for "
                                                       << quoted(first) << ", got " << got << " of " << quoted(loop);
      diagnostic.attachNote(first.getLoc()) << quoted(first) << " is bound here";
      return diagnostic;
    }
  }
  if (failed(checkNestedThreads(nest, function)))
    return failure();
  return checkThreadRaces(nest, function);
}

LogicalResult Kernel::checkThreads() {
  int64_t threads = 1;
  scf::ForOp at;
  std::string product;
  for (unsigned tag = kFirstThreadTag; tag < kNumTags; ++tag) {
    if (loops[tag].empty())
      continue;
    scf::ForOp loop = loops[tag].front();
    // Of a symbolic one the launch is refused where it is too large.
    int64_t extent = getStaticExtent(tag).value_or(1);
    if (tag == kFirstThreadTag + 2 && extent > kMaxBlockThreadsZ)
      return loop.emitError() << "expected at most " << kMaxBlockThreadsZ << " threads along threadIdx.z, got "
                              << extent << " of " << quoted(loop);
    at = at ? at : loop;
    // Each factor may be as large as an index: the product must not wrap around.
    threads = std::min(threads, kMaxBlockThreads + 1) * std::min(extent, kMaxBlockThreads + 1);
    if (!product.empty())
      product += " and ";
    product += std::to_string(extent) + " along " + getTagName(static_cast<schedule::ThreadTag>(tag)).str() + " of " +
               quoted(loop);
  }
  if (threads > kMaxBlockThreads)
    return at.emitError() << "expected at most " << kMaxBlockThreads << " threads a block, got " << product;
  return success();
}

LogicalResult Kernel::checkGrid() {
  for (unsigned tag = 0; tag < kFirstThreadTag; ++tag) {
    std::optional<int64_t> extent = getStaticExtent(tag);
    if (extent && *extent > kMaxGrid[tag])
      return loops[tag].front().emitError() << "expected at most " << kMaxGrid[tag] << " blocks along "
                                            << getTagName(static_cast<schedule::ThreadTag>(tag)) << ", got " << *extent
                                            << " of " << quoted(loops[tag].front());
  }
  return success();
}

/// The extent as a value before the nest.
FailureOr<Value> Kernel::hoistExtent(OpBuilder &builder, scf::ForOp loop) {
  FailureOr<Value> extent = hoistValue(builder, nest, loop.getUpperBound());
  if (failed(extent))
    return loop.emitError() << "expected the extent of " << quoted(loop) << ", bound to " << getTagName(getTag(loop))
                            << ", to be known when the kernel is launched";
  return extent;
}

/// Each thread has computed the part of one iteration: what the loop returns is combined across the threads. The code
/// goes to the end of the loop's body.
void Kernel::combineParts(scf::ForOp loop, unsigned tag, ArrayRef<Value> ids, std::array<int64_t, 3> block) {
  size_t half = loop.getNumResults() / 2;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> parts(yield.getOperands().drop_front(half));
  SmallVector<Operation *> reducer = getReducer(loop);
  OpBuilder builder(yield);
  auto combine = [&](ValueRange reduced, ValueRange others) {
    IRMapping mapping;
    mapping.map(loop.getRegionIterArgs().take_front(half), reduced);
    mapping.map(ValueRange(parts), others);
    for (Operation *op : reducer)
      builder.clone(*op, mapping);
    return llvm::map_to_vector(yield.getOperands().take_front(half),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  ThreadReduction reduction(builder, loop.getLoc(), block, {ids[3], ids[4], ids[5]}, getAxisName(loop).stage);
  SmallVector<Value> total = reduction.reduce(tag - kFirstThreadTag, parts, combine);
  total = combine(loop.getInitArgs(), total);
  for (auto [result, value] : llvm::zip(loop.getResults(), total))
    result.replaceAllUsesWith(value);
  yield->setOperands(loop.getInitArgs());
  for (Operation *op : llvm::reverse(reducer))
    if (op->use_empty())
      op->erase();
}

LogicalResult Kernel::map() {
  if (failed(checkLoops()) || failed(checkThreads()) || failed(checkGrid()))
    return failure();

  OpBuilder builder(nest);
  Value extents[kNumTags];
  SmallVector<NamedAttribute> origin;
  for (unsigned tag = 0; tag < kNumTags; ++tag) {
    if (loops[tag].empty()) {
      extents[tag] = arith::ConstantIndexOp::create(builder, nest->getLoc(), 1);
      continue;
    }
    scf::ForOp loop = loops[tag].front();
    FailureOr<Value> extent = hoistExtent(builder, loop);
    if (failed(extent))
      return failure();
    extents[tag] = *extent;
    static constexpr StringLiteral kNames[] = {"grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z"};
    // The stages in the kernel's own share its threads, many of them without a `bind` of their own.
    std::string stage = getAxisName(cast<scf::ForOp>(nest)).stage;
    auto own = llvm::find_if(loops[tag], [&](scf::ForOp one) { return getAxisName(one).stage == stage; });
    scf::ForOp said = own == loops[tag].end() ? loop : *own;
    origin.push_back(
        builder.getNamedAttr(kNames[tag], builder.getStringAttr(describeOrigin(getAxisName(said), said.getLoc()))));
  }
  index::KnownValues known(function.getContext());
  bool isNonEmpty = llvm::all_of(extents, [&](Value extent) { return known.isPositive(extent); });
  bool isConstant = llvm::all_of(extents, [](Value extent) { return bool(getConstantIntValue(extent)); });
  auto launch = gpu::LaunchOp::create(builder, nest->getLoc(), extents[0], extents[1], extents[2], extents[3],
                                      extents[4], extents[5]);
  launch->setAttr(kLaunchOriginAttr, builder.getDictionaryAttr(origin));
  if (isNonEmpty && !isConstant)
    launch->setAttr(kNonEmptyAttr, builder.getUnitAttr());
  if (Attribute minBlocks = nest->getAttr(schedule::kMinBlocksAttr))
    launch->setAttr(schedule::kMinBlocksAttr, minBlocks);
  if (Attribute isExtern = nest->getAttr(te::kExternAttr))
    launch->setAttr(te::kExternAttr, isExtern);
  Block &body = launch.getBody().front();
  builder.setInsertionPointToEnd(&body);
  auto terminator = gpu::TerminatorOp::create(builder, nest->getLoc());
  nest->moveBefore(terminator);

  // A buffer that a block or thread keeps from one iteration of the nest's outermost loop to the next stands before it.
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    bool isBuffer = allocatesBuffer(&op) && cast<MemRefType>(op.getResult(0).getType()).getMemorySpace();
    if (isBuffer && llvm::all_of(op.getUsers(), [&](Operation *user) { return launch->isAncestor(user); }))
      op.moveBefore(&body, body.begin());
  }

  gpu::KernelDim3 blockIds = launch.getBlockIds(), threadIds = launch.getThreadIds();
  Value ids[kNumTags] = {blockIds.x, blockIds.y, blockIds.z, threadIds.x, threadIds.y, threadIds.z};
  // Before any of the loops is gone.
  std::array<int64_t, 3> block;
  for (unsigned dim = 0; dim < 3; ++dim)
    block[dim] = getStaticExtent(kFirstThreadTag + dim).value_or(ShapedType::kDynamic);
  for (auto [index, sameIndex] : llvm::enumerate(loops))
    for (scf::ForOp loop : sameIndex) {
      Block *inner = loop.getBody();
      inner->getArgument(0).replaceAllUsesWith(ids[index]);
      if (loop.getNumResults())
        combineParts(loop, index, ids, block);
      inner->getTerminator()->erase();
      loop->getBlock()->getOperations().splice(loop->getIterator(), inner->getOperations());
      loop.erase();
    }
  return success();
}

/// An op at the top of a function computes something, but no loop around or in it is bound.
static LogicalResult refuseUnbound(Operation *op, func::FuncOp function) {
  if (auto name = op->getAttrOfType<StringAttr>(te::kExternAttr))
    return op->emitError()
           << "stage '" << name.getValue()
           << "' is not bound to any block or thread: let all of its statements stand in thread axes, such as "
              "ib.scope_attr(te.thread_axis(\"blockIdx.x\"), \"thread_extent\", 1)";
  // A scan's iterations come in order, so another loop is to be bound.
  scf::ForOp outermost, ordered;
  op->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    (loop->hasAttr(te::kScanAttr) ? ordered : outermost) = loop;
    return outermost ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (ordered && !outermost)
    return ordered.emitError()
           << "stage '" << getAxisName(ordered).stage
           << "' is not bound to any block or thread: it is a scan without another axis, so give its "
              "tensors one, for which extent 1 is enough, and bind that";
  AxisName name = outermost ? getAxisName(outermost) : AxisName();
  if (!name.axis.empty())
    return outermost.emitError() << "stage '" << name.stage
                                 << "' is not bound to any block or thread: bind an axis, such as s[" << name.stage
                                 << "].bind(" << name.axis << ", te.thread_axis(\"blockIdx.x\"))";
  // Without a loop: what is computed is stored here or in an op after it.
  memref::StoreOp store;
  for (Operation *at = op; at && !store; at = at->getNextNode())
    at->walk([&](memref::StoreOp inner) {
      if (!store && !isPrivate(inner.getMemRef()))
        store = inner;
    });
  if (store)
    return store.emitError()
           << "stage '" << getBufferName(store.getMemRef())
           << "' is not bound to any block or thread: bind an axis of it, for which extent 1 is "
              "enough and which fuse() without axes makes, or compute it at a bound axis of its consumer";
  return op->emitError("expected all work to stand in loops bound to blocks or threads");
}

LogicalResult MapLoopsToGPU::mapFunction(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator())) {
    SmallVector<scf::ForOp> bound;
    scf::ForOp parallel;
    op.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kParallelAttr) && !parallel)
        parallel = loop;
      if (loop->hasAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr))
        bound.push_back(loop);
    });
    if (parallel) {
      AxisName name = getAxisName(parallel);
      return parallel.emitError()
             << "parallel: expected a loop bound to a block or thread index, for a GPU has no threads of "
             << "a CPU: use s[" << name.stage << "].bind(" << name.axis << ", te.thread_axis(\"blockIdx.x\"))";
    }
    for (scf::ForOp loop : bound)
      if (Kernel::getTag(loop) == schedule::ThreadTag::VThread)
        return loop.emitError("expected no loop on vthread: run inject-virtual-threads first");
    if (!bound.empty() && !isa<scf::ForOp>(op))
      return op.emitOpError() << "expected no loop bound to a block or thread index inside, got that of "
                              << getAxisName(bound.front()).quoted() << ": run apply-schedule before";
    if (!bound.empty()) {
      if (failed(Kernel(&op, function, bound).map()))
        return failure();
    } else if (!isMemoryEffectFree(&op) && !allocatesBuffer(&op) && !isa<memref::DeallocOp, gpu::LaunchOp>(op)) {
      return refuseUnbound(&op, function);
    }
  }
  function->removeDiscardableAttr(schedule::kBoundAttr);
  return success();
}
} // namespace tilewright
