//===- LowerWarpBuffers.cpp - lanes of a warp exchange registers -----------===//
//
// A buffer of scope "warp" is filled by the threads of a block like a shared one. Where each lane of a warp stores
// elements of its own, these are its registers, and who reads another lane's element gets it by a shuffle.
//
//===----------------------------------------------------------------------===//
#include "passes/AddressSpaces.h"
#include "passes/index/AccessForm.h"
#include "passes/index/Bounds.h"
#include "passes/index/IndexSpace.h"
#include "passes/index/LinearForm.h"
#include "passes/loops-to-gpu/Fragments.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/ThreadReduction.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LOWERWARPBUFFERS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
/// Registers of a lane that a load which does not know which of them it reads chooses among.
constexpr int64_t kMostChoices = 8;

struct LowerWarpBuffers : impl::LowerWarpBuffersBase<LowerWarpBuffers> {
  void runOnOperation() override;
};

class WarpBuffer {
public:
  WarpBuffer(gpu::GPUFuncOp kernel, memref::AllocOp buffer)
      : kernel(kernel), buffer(buffer), space(kernel.getContext()), dependence(kernel), dominance(kernel) {}

  /// Whether the lanes can exchange the elements: then all accesses are understood, and nothing has changed yet.
  bool read();
  void lower();

private:
  /// The index of a thread as a digit of an element's number: (number floordiv unit) mod extent.
  struct Digit {
    AffineExpr thread;
    int64_t unit, extent;
    bool operator==(const Digit &other) const {
      return thread == other.thread && unit == other.unit && extent == other.extent;
    }
  };
  struct Store {
    memref::StoreOp op;
    AffineExpr place;
  };
  struct Load {
    memref::LoadOp op;
    Operation *point; // where all lanes come by
    AffineExpr owner, place;
  };
  bool readThreads();
  bool readStore(memref::StoreOp op);
  bool readLoad(memref::LoadOp op);
  /// Where all lanes of a warp come by, at the load or before the predicates around it; null where there is no such
  /// place.
  Operation *findPoint(memref::LoadOp op);
  /// The number of an element, of values from 0 on whose greatest is known; null where one is not.
  AffineExpr getNumber(ValueRange indices);
  AffineExpr simplified(AffineExpr expr) {
    return index::simplify(
        expr, [&](unsigned dim) { return getAffineConstantExpr(*ranges[dim].max + 1, kernel.getContext()); });
  }
  AffineExpr removed(AffineExpr number, const Digit &digit) {
    AffineExpr above = number.floorDiv(digit.unit * digit.extent) * digit.unit;
    return simplified(digit.unit == 1 ? above : above + number % digit.unit);
  }

  gpu::GPUFuncOp kernel;
  memref::AllocOp buffer;
  index::IndexSpace space;
  ThreadDependence dependence;
  DominanceInfo dominance;
  std::array<int64_t, 3> block;
  std::array<Value, 3> ids;
  int64_t width = 0;                // of a shuffle
  unsigned inWarp = 0;              // the thread indices that differ among the lanes of a warp
  SmallVector<index::Range> ranges; // of the values that indices are computed from
  SmallVector<Digit> digits;        // that of the lane first
  SmallVector<Store> stores;
  SmallVector<Load> loads;
  int64_t size = 0;
};
} // namespace

bool WarpBuffer::readThreads() {
  block = getBlockSize(kernel);
  int64_t threads = block[0] * block[1] * block[2];
  if (block[0] < 1 || block[0] > kWarpSize || !llvm::isPowerOf2_64(block[0]) || block[1] < 1 || block[2] < 1)
    return false;
  width = threads % kWarpSize == 0 ? kWarpSize : threads < kWarpSize && llvm::isPowerOf2_64(threads) ? threads : 0;
  inWarp = block[0] == kWarpSize ? 1 : ThreadDependence::kAll;
  bool isKnown = width != 0;
  kernel.walk([&](gpu::ThreadIdOp op) {
    Value &id = ids[static_cast<unsigned>(op.getDimension())];
    isKnown &= !id;
    id = op;
  });
  return isKnown && ids[0];
}

AffineExpr WarpBuffer::getNumber(ValueRange indices) {
  AffineExpr number = getAffineConstantExpr(0, kernel.getContext());
  for (auto [index, extent] : llvm::zip(indices, buffer.getType().getShape()))
    number = number * extent + space.compose(index);
  for (unsigned dim = ranges.size(); dim < space.getNumDims(); ++dim)
    ranges.push_back(index::getRange(space.getValue(dim)));
  for (auto [dim, range] : llvm::enumerate(ranges))
    if (number.isFunctionOfDim(dim) && (!range.min || !range.max || *range.min < 0))
      return nullptr;
  return number;
}

bool WarpBuffer::readStore(memref::StoreOp op) {
  AffineExpr number = op.getMemRef() == buffer ? getNumber(op.getIndices()) : AffineExpr();
  if (!number)
    return false;
  index::LinearForm form = index::LinearForm::get(simplified(number));
  SmallVector<Digit> own;
  for (auto [id, extent] : llvm::zip(ids, block)) {
    AffineExpr thread = id ? space.get(id) : AffineExpr();
    int64_t unit = thread ? form.getCoefficient(thread) : 0;
    if (unit == 0 && id != ids[0])
      continue;
    auto rest = unit > 0 ? index::removeDigit(form, thread, extent, {space.getNumDims(), ranges}) : std::nullopt;
    if (!rest)
      return false;
    form = *rest;
    own.push_back({thread, unit, extent});
  }
  AffineExpr place = form.getExpr(kernel.getContext());
  for (Value value : space.getValues(place))
    if (dependence.of(value) & inWarp)
      return false;
  if (!digits.empty() && own != digits)
    return false;
  digits = own;
  index::Range range = form.getRange({space.getNumDims(), ranges});
  if (!range.min || *range.min < 0 || !range.max)
    return false;
  size = std::max(size, *range.max + 1);
  stores.push_back({op, place});
  return true;
}

Operation *WarpBuffer::findPoint(memref::LoadOp op) {
  Operation *point = op;
  while (dependence.ofControl(point->getBlock()) & inWarp) {
    auto choice = dyn_cast<scf::IfOp>(point->getParentOp());
    if (!choice)
      return nullptr;
    point = choice;
  }
  // What is stored on the way from there to the load would be missed.
  if (point != op && llvm::any_of(buffer->getUsers(), [&](Operation *user) {
        return isa<memref::StoreOp>(user) && point->isProperAncestor(user);
      }))
    return nullptr;
  return point;
}

bool WarpBuffer::readLoad(memref::LoadOp op) {
  AffineExpr number = getNumber(op.getIndices());
  Operation *point = findPoint(op);
  if (!number || !point)
    return false;
  for (Value value : space.getValues(number))
    if (!dominance.properlyDominates(value, point))
      return false;
  const Digit &lane = digits.front();
  AffineExpr owner = simplified(number.floorDiv(lane.unit) % lane.extent);
  AffineExpr place = removed(number, lane);
  // Of the other indices it is what it is in this thread.
  for (const Digit &digit : ArrayRef(digits).drop_front()) {
    if (simplified(place.floorDiv(digit.unit) % digit.extent) != digit.thread)
      return false;
    place = removed(place, digit);
  }
  loads.push_back({op, point, owner, place});
  bool isOfLane = llvm::any_of(space.getValues(place), [&](Value value) { return dependence.of(value) & inWarp; });
  return !isOfLane || size <= kMostChoices;
}

bool WarpBuffer::read() {
  if (!buffer.getType().hasStaticShape() || !readThreads())
    return false;
  for (Operation *user : buffer->getUsers())
    if (!isa<memref::LoadOp>(user) && (!isa<memref::StoreOp>(user) || !readStore(cast<memref::StoreOp>(user))))
      return false;
  if (stores.empty())
    return false;
  return llvm::all_of(buffer->getUsers(), [&](Operation *user) {
    auto load = dyn_cast<memref::LoadOp>(user);
    return !load || readLoad(load);
  });
}

void WarpBuffer::lower() {
  OpBuilder builder(buffer);
  Value own = createPrivateBuffer(builder, buffer.getLoc(), {size}, buffer.getType().getElementType(),
                                  buffer->getAttr(te::kStageAttr));
  for (Store &store : stores) {
    builder.setInsertionPoint(store.op);
    Value place = space.materialize(builder, store.op.getLoc(), store.place);
    memref::StoreOp::create(builder, store.op.getLoc(), store.op.getValueToStore(), own, place);
  }
  for (Load &load : loads) {
    builder.setInsertionPoint(load.point);
    Location loc = load.op.getLoc();
    // The first lane of those that differ along x alone.
    AffineExpr row = builder.getAffineConstantExpr(0);
    for (unsigned d : {2u, 1u})
      if (ids[d] && block[d] > 1)
        row = row + space.get(ids[d]) * (d == 2 ? block[1] : 1);
    AffineExpr lane = block[0] < width ? load.owner + (row * block[0]) % width : load.owner;
    Value from = space.materialize(builder, loc, lane);
    ThreadReduction threads(builder, loc, block, ids, "");
    auto fetch = [&](Value place) {
      auto given = memref::LoadOp::create(builder, loc, own, place);
      given->setAttr(kExchangedAttr, builder.getUnitAttr());
      return threads.fetch(given, from, width);
    };
    bool isOfLane =
        llvm::any_of(space.getValues(load.place), [&](Value value) { return dependence.of(value) & inWarp; });
    Value value, place = space.materialize(builder, loc, load.place);
    if (isOfLane) {
      for (int64_t number = 0; number < size; ++number) {
        Value known = arith::ConstantIndexOp::create(builder, loc, number);
        Value there = fetch(known);
        Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place, known);
        value = value ? arith::SelectOp::create(builder, loc, isThere, there, value).getResult() : there;
      }
    } else {
      // Before a predicate it may reach over the end.
      auto last = arith::ConstantIndexOp::create(builder, loc, size - 1);
      std::optional<int64_t> most = index::getRange(load.place, {space.getNumDims(), ranges}).max;
      if (!most || *most >= size)
        place = arith::MinSIOp::create(builder, loc, place, last);
      value = fetch(place);
    }
    load.op.getResult().replaceAllUsesWith(value);
  }
  for (Load &load : loads)
    load.op.erase();
  for (Store &store : stores)
    store.op.erase();
  buffer.erase();
}

/// Stays in shared memory, where each of the threads along some indices has a buffer of its own.
static LogicalResult giveRows(gpu::GPUFuncOp kernel, memref::AllocOp buffer, int64_t rows) {
  SmallVector<Operation *> users(buffer->getUsers());
  for (Operation *user : users)
    if (!index::getElementAccess(user))
      return user->emitError() << "expected loads and stores of what a warp exchanges, got '" << user->getName() << "'";
  if (!buffer.getType().hasStaticShape() || !buffer.getType().getLayout().isIdentity() ||
      llvm::any_of(getBlockSize(kernel), [](int64_t n) { return n < 1; }))
    return buffer.emitError() << "expected a buffer of constant extents in a block of constant extents, got "
                              << buffer.getType();
  SmallVector<int64_t> shape;
  SmallVector<Value> own;
  OpBuilder builder(&kernel.getBody().front(), kernel.getBody().front().begin());
  for (auto [dimension, extent] : llvm::enumerate(getBlockSize(kernel)))
    if (dimension > 0 && (rows >> dimension & 1) && extent != 1) {
      shape.push_back(extent);
      own.push_back(gpu::ThreadIdOp::create(builder, buffer.getLoc(), static_cast<gpu::Dimension>(dimension)));
    }
  if (own.empty())
    return success();
  llvm::append_range(shape, buffer.getType().getShape());
  builder.setInsertionPoint(buffer);
  auto whole = memref::AllocOp::create(builder, buffer.getLoc(),
                                       MemRefType::get(shape, buffer.getType().getElementType(),
                                                       MemRefLayoutAttrInterface(), buffer.getType().getMemorySpace()));
  whole->setDiscardableAttrs(buffer->getDiscardableAttrDictionary());
  for (Operation *user : users) {
    OpOperand *operand = index::getElementAccess(user)->buffer;
    operand->set(whole);
    // The indices stand behind the buffer.
    user->insertOperands(operand->getOperandNumber() + 1, own);
  }
  buffer.erase();
  return success();
}

void LowerWarpBuffers::runOnOperation() {
  SmallVector<memref::AllocOp> buffers;
  getOperation().walk([&](memref::AllocOp op) {
    if (op->hasAttr(schedule::kWarpAttr))
      buffers.push_back(op);
  });
  for (memref::AllocOp op : buffers) {
    int64_t rows = cast<IntegerAttr>(op->removeAttr(schedule::kWarpAttr)).getInt();
    if (WarpBuffer buffer(getOperation(), op); buffer.read())
      buffer.lower();
    else if (failed(giveRows(getOperation(), op, rows)))
      return signalPassFailure();
  }
}
} // namespace tilewright
