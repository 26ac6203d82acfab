//===- DistributePrivateBuffers.cpp - each thread keeps its part alone ----===//
//
// A private buffer around loops on thread indices holds, as the loops are run in sequence, what all the threads stored.
// Mapped to threads, each has a buffer of its own: that is right where a thread reads only what it stored itself. Then
// its index is a digit of the element's number, and the buffer needs no place for the other threads' elements.
//
//===----------------------------------------------------------------------===//
#include "passes/index/LinearForm.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DISTRIBUTEPRIVATEBUFFERS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
/// The index of a thread as a digit of an element's number: (number floordiv unit) mod extent.
struct ThreadDigit {
  schedule::ThreadTag tag;
  int64_t extent, unit;
  bool operator==(const ThreadDigit &other) const {
    return tag == other.tag && extent == other.extent && unit == other.unit;
  }
};

/// The element that an access touches along one dimension.
class PrivateIndex {
public:
  PrivateIndex(AffineMap map, ArrayRef<Value> operands, unsigned dimension, Operation *buffer);

  /// The digits that are thread indices, the largest unit first; none where a thread index is no digit.
  std::optional<SmallVector<ThreadDigit>> getDigits();
  /// The element's place among those of its thread. After getDigits.
  AffineExpr getPlace() const;
  /// Whether thread indices have a part in it.
  bool hasThreads() const { return isUnknown || !threads.empty(); }

private:
  AffineMap map;
  SmallVector<index::Range> ranges; // of the operands
  index::LinearForm form;
  SmallVector<std::pair<AffineExpr, scf::ForOp>> threads; // the terms that are thread indices
  bool isUnknown = false; // a thread index within a quotient, a remainder or another value
};

struct DistributePrivateBuffers : impl::DistributePrivateBuffersBase<DistributePrivateBuffers> {
  void runOnOperation() override {
    SmallVector<memref::AllocaOp> buffers;
    getOperation()->walk([&](memref::AllocaOp op) { buffers.push_back(op); });
    for (memref::AllocaOp buffer : buffers)
      if (failed(distribute(buffer)))
        return signalPassFailure();
  }

  LogicalResult distribute(memref::AllocaOp buffer);
};
} // namespace

/// The loop on a thread index within the scope of `buffer` whose variable is `value`.
static scf::ForOp getThreadLoopInScope(Value value, Operation *buffer) {
  scf::ForOp loop = scf::getForInductionVarOwner(value);
  if (!loop || !buffer->getParentRegion()->isAncestor(loop->getParentRegion()))
    return nullptr;
  auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
  bool isThread =
      bind && bind.getValue() >= schedule::ThreadTag::ThreadIdxX && bind.getValue() != schedule::ThreadTag::VThread;
  return isThread ? loop : nullptr;
}

/// Whether `value` is made of the index of a thread by what no affine map says: bits of a swizzle, or data.
static bool hidesThread(Value value, Operation *buffer) {
  SmallVector<Value> todo{value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (getThreadLoopInScope(next, buffer))
      return next != value; // which the map itself has
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(todo, op->getOperands());
  }
  return false;
}

PrivateIndex::PrivateIndex(AffineMap map, ArrayRef<Value> operands, unsigned dimension, Operation *buffer)
    : map(map), form(index::LinearForm::get(map.getResult(dimension))) {
  for (Value operand : operands)
    ranges.push_back(index::getRange(operand));
  auto getThread = [&](AffineExpr part) {
    auto dim = dyn_cast<AffineDimExpr>(part);
    return dim ? getThreadLoopInScope(operands[dim.getPosition()], buffer) : scf::ForOp();
  };
  map.getResult(dimension).walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      isUnknown |= hidesThread(operands[dim.getPosition()], buffer);
  });
  for (const index::LinearForm::Term &term : form.terms) {
    if (scf::ForOp thread = getThread(term.expr))
      threads.push_back({term.expr, thread});
    else
      term.expr.walk([&](AffineExpr part) { isUnknown |= bool(getThread(part)); });
  }
  llvm::stable_sort(threads,
                    [&](auto &a, auto &b) { return form.getCoefficient(a.first) > form.getCoefficient(b.first); });
}

std::optional<SmallVector<ThreadDigit>> PrivateIndex::getDigits() {
  if (isUnknown)
    return std::nullopt;
  SmallVector<ThreadDigit> digits;
  for (auto [expr, loop] : threads) {
    std::optional<int64_t> extent = getConstantIntValue(loop.getUpperBound());
    int64_t unit = form.getCoefficient(expr);
    auto rest = extent && unit > 0 ? index::removeDigit(form, expr, *extent, {map.getNumDims(), ranges}) : std::nullopt;
    if (!rest)
      return std::nullopt;
    form = *rest;
    digits.push_back({loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr).getValue(), *extent, unit});
  }
  return digits;
}

AffineExpr PrivateIndex::getPlace() const {
  index::LinearForm sorted = form;
  llvm::stable_sort(sorted.terms, [](auto &a, auto &b) { return a.coefficient > b.coefficient; });
  return sorted.getExpr(map.getContext());
}

/// The stage that an access belongs to: that of the loop around it.
static std::string getStageAround(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop ? getAxisName(loop).stage : "";
}

/// The threads that store to `buffer` keep parts of it, `access` touches another thread's or they are no parts.
static LogicalResult refuse(Operation *store, Operation *access, memref::AllocaOp buffer) {
  scf::ForOp thread;
  for (auto loop = store->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (getThreadLoopInScope(loop.getInductionVar(), buffer))
      thread = loop;
  InFlightDiagnostic diagnostic = thread.emitError();
  std::string stage = getBufferName(buffer);
  if (store == access)
    return diagnostic << "bind: expected the index of a thread to be a digit of an element's place in stage '" << stage
                      << "', of which each thread keeps its part in local memory, got " << getAxisName(thread).quoted()
                      << " on "
                      << schedule::stringifyThreadTag(
                             thread->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr).getValue());
  diagnostic << "bind: expected each thread to read what it stored itself of stage '" << stage
             << "', of which it keeps its part in local memory, got other elements in stage '" << getStageAround(access)
             << "'";
  diagnostic.attachNote(access->getLoc()) << "stage '" << getStageAround(access) << "' is computed here";
  return diagnostic;
}

LogicalResult DistributePrivateBuffers::distribute(memref::AllocaOp buffer) {
  MemRefType type = buffer.getType();
  if (!type.hasStaticShape() || !llvm::all_of(buffer->getUsers(), llvm::IsaPred<memref::LoadOp, memref::StoreOp>))
    return success();
  struct PrivateAccess {
    Operation *op;
    AffineMap map;
    SmallVector<Value> operands;
  };
  SmallVector<PrivateAccess> accesses;
  for (Operation *user : buffer->getUsers()) {
    auto store = dyn_cast<memref::StoreOp>(user);
    ValueRange indices = store ? store.getIndices() : cast<memref::LoadOp>(user).getIndices();
    PrivateAccess access{user, AffineMap::getMultiDimIdentityMap(indices.size(), &getContext()),
                         SmallVector<Value>(indices)};
    affine::fullyComposeAffineMapAndOperands(&access.map, &access.operands);
    affine::canonicalizeMapAndOperands(&access.map, &access.operands);
    accesses.push_back(std::move(access));
  }
  auto isShared = [&](const PrivateAccess &access) {
    if (!isa<memref::StoreOp>(access.op))
      return false;
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (PrivateIndex(access.map, access.operands, d, buffer).hasThreads())
        return true;
    return false;
  };
  auto first = llvm::find_if(accesses, isShared);
  if (first == accesses.end())
    return success();

  SmallVector<SmallVector<ThreadDigit>> wanted;
  SmallVector<SmallVector<AffineExpr>> places;
  // The store that has shown that the threads share it goes first: it says who has which part.
  std::rotate(accesses.begin(), first, std::next(first));
  for (PrivateAccess &access : accesses) {
    SmallVector<SmallVector<ThreadDigit>> all;
    places.emplace_back();
    for (unsigned d = 0; d < type.getRank(); ++d) {
      PrivateIndex index(access.map, access.operands, d, buffer);
      auto digits = index.getDigits();
      if (!digits || (!wanted.empty() && *digits != wanted[d]))
        return refuse(accesses.front().op, access.op, buffer);
      all.push_back(*digits);
      places.back().push_back(index.getPlace());
    }
    if (wanted.empty())
      wanted = std::move(all);
  }

  SmallVector<int64_t> shape(type.getShape());
  for (auto [extent, digits] : llvm::zip(shape, wanted))
    for (const ThreadDigit &digit : digits)
      extent = llvm::divideCeil(extent, digit.extent * digit.unit) * digit.unit;
  OpBuilder builder(buffer);
  auto part = memref::AllocaOp::create(
      builder, buffer.getLoc(), MemRefType::get(shape, type.getElementType(), type.getLayout(), type.getMemorySpace()),
      buffer.getAlignmentAttr());
  part->setDiscardableAttrs(buffer->getDiscardableAttrDictionary());
  for (auto [access, place] : llvm::zip(accesses, places)) {
    builder.setInsertionPoint(access.op);
    SmallVector<Value> indices;
    for (AffineExpr expr : place) {
      AffineMap map = AffineMap::get(access.map.getNumDims(), access.map.getNumSymbols(), expr);
      SmallVector<Value> operands(access.operands);
      affine::canonicalizeMapAndOperands(&map, &operands);
      indices.push_back(affine::AffineApplyOp::create(builder, access.op->getLoc(), map, operands));
    }
    Operation *made;
    if (auto store = dyn_cast<memref::StoreOp>(access.op))
      made = memref::StoreOp::create(builder, store.getLoc(), store.getValueToStore(), part, indices);
    else
      made = memref::LoadOp::create(builder, access.op->getLoc(), part, indices);
    made->setDiscardableAttrs(access.op->getDiscardableAttrDictionary());
    access.op->replaceAllUsesWith(made);
    access.op->erase();
  }
  buffer.erase();
  return success();
}
} // namespace tilewright
