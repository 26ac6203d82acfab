//===- MatrixNests.cpp - loops that a matrix instruction takes the place of ===//
#include "dialects/Schedule/MatrixNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright::schedule;

static std::optional<MatrixAxis> getAxis(scf::ForOp loop) {
  auto axis = loop->getAttrOfType<MatrixAxisAttr>(kMatrixAxisAttr);
  return axis ? std::optional(axis.getValue()) : std::nullopt;
}

static std::optional<MatrixOperand> getOperand(Operation *access) {
  auto operand = access->getAttrOfType<MatrixOperandAttr>(kOperandAttr);
  return operand ? std::optional(operand.getValue()) : std::nullopt;
}

SmallVector<scf::ForOp> MatrixNest::getLoops(MatrixAxis axis) const {
  SmallVector<scf::ForOp> found;
  llvm::copy_if(loops, std::back_inserter(found), [&](scf::ForOp loop) { return getAxis(loop) == axis; });
  return found;
}

/// The loops and accesses of a nest by their marks alone.
static MatrixNest collect(scf::ForOp nest) {
  MatrixNest found;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && getAxis(loop))
      found.loops.push_back(loop);
    std::optional<MatrixOperand> operand = getOperand(op);
    if (!operand)
      return;
    if (auto store = dyn_cast<memref::StoreOp>(op))
      found.store = store;
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      (*operand == MatrixOperand::A ? found.a : *operand == MatrixOperand::B ? found.b : found.accumulator) = load;
  });
  return found;
}

FailureOr<MatrixNest> tilewright::schedule::readMatrixNest(scf::ForOp nest) {
  MatrixNest found = collect(nest);
  if (found.loops.empty())
    return nest.emitError() << "expected loops and accesses that say what they multiply (" << kMatrixAxisAttr << ", "
                            << kOperandAttr << "), as apply-schedule leaves them, got none";
  return found;
}

namespace {
/// Which of a nest's loops the values in it are computed from: a bit for each loop.
class LoopUses {
public:
  explicit LoopUses(ArrayRef<scf::ForOp> loops) {
    for (size_t number = 0; number < loops.size(); ++number) {
      scf::ForOp loop = loops[number];
      uses[loop.getInductionVar()] = bit(number);
      for (Operation &op : *loop.getBody())
        for (Value result : op.getResults())
          uses[result] = get(op.getOperands());
    }
  }
  uint64_t get(ValueRange values) const {
    uint64_t all = 0;
    for (Value value : values)
      all |= uses.lookup(value);
    return all;
  }
  static uint64_t bit(size_t number) { return uint64_t(1) << std::min<size_t>(number, 63); }

private:
  DenseMap<Value, uint64_t> uses;
};
} // namespace

void tilewright::schedule::markMatrixNest(scf::ForOp nest, Value accumulator) {
  SmallVector<scf::ForOp> loops;
  SmallVector<memref::LoadOp> others;
  MLIRContext *context = nest.getContext();
  auto mark = [&](Operation *access, MatrixOperand operand) {
    access->setAttr(kOperandAttr, MatrixOperandAttr::get(context, operand));
  };
  uint64_t inResult = 0, inA = 0;
  nest->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
  LoopUses uses(loops);
  nest->walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    if ((store && store.getMemRef() == accumulator) || (load && load.getMemRef() == accumulator))
      mark(op, MatrixOperand::Accumulator);
    if (store)
      inResult = uses.get(store.getIndices());
    else if (load && load.getMemRef() != accumulator)
      others.push_back(load);
  });
  for (memref::LoadOp load : others) {
    uint64_t indices = uses.get(load.getIndices());
    bool isA = indices & LoopUses::bit(0);
    mark(load, isA ? MatrixOperand::A : MatrixOperand::B);
    inA |= isA ? indices : 0;
  }
  for (auto [number, loop] : llvm::enumerate(loops)) {
    uint64_t bit = LoopUses::bit(number);
    MatrixAxis axis = number == 0 || (inResult & inA & bit) ? MatrixAxis::M
                      : inResult & bit                      ? MatrixAxis::N
                                                            : MatrixAxis::K;
    loop->setAttr(kMatrixAxisAttr, MatrixAxisAttr::get(context, axis));
  }
}

/// Whether the parts of an op that are looked at are there: the ops in a loop are verified after it.
static bool isComplete(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return op.getNumOperands() >= 3 && llvm::hasSingleElement(op.getRegion(0)) && !op.getRegion(0).front().empty() &&
           op.getRegion(0).getNumArguments() >= 1;
  return (!isa<memref::LoadOp>(op) || op.getNumOperands() >= 1) &&
         (!isa<memref::StoreOp>(op) || op.getNumOperands() >= 2);
}

/// Reads a value through an extension to the accumulator's type.
static memref::LoadOp getElement(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::ExtFOp, arith::ExtSIOp>(op) && op->getNumOperands() == 1)
    value = op->getOperand(0);
  return value.getDefiningOp<memref::LoadOp>();
}

/// Whether two values are the same computation of the same values.
static bool isSame(Value one, Value other) {
  Operation *made = one.getDefiningOp(), *otherMade = other.getDefiningOp();
  return one == other || (made && otherMade && made->getName() == otherMade->getName() && !made->getNumRegions() &&
                          isMemoryEffectFree(made) && made->getNumOperands() == otherMade->getNumOperands() &&
                          made->getAttrDictionary() == otherMade->getAttrDictionary() && made != otherMade &&
                          cast<OpResult>(one).getResultNumber() == cast<OpResult>(other).getResultNumber() &&
                          llvm::all_of_zip(made->getOperands(), otherMade->getOperands(), isSame));
}

LogicalResult tilewright::schedule::verifyMatrixNest(scf::ForOp nest, InstructionAttr instruction) {
  auto refuse = [&](Operation *at, const Twine &got) -> LogicalResult {
    InFlightDiagnostic diag = nest.emitOpError() << "expected the loops of one matmul, got " << got;
    if (at != nest)
      diag.attachNote(at->getLoc()) << "this is in them";
    return diag;
  };
  if (!isComplete(*nest) || !getAxis(nest))
    return success();
  MatrixNest found;
  memref::StoreOp store;
  SmallVector<memref::LoadOp> loads;
  int64_t extents[3] = {1, 1, 1};
  uint64_t ofAxis[3] = {}, single = 0; // by axis its loops; the loops of one iteration
  for (scf::ForOp loop = nest, inner; loop; loop = std::exchange(inner, scf::ForOp())) {
    std::optional<int64_t> extent = getConstantIntValue(loop.getUpperBound());
    if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1 || !extent)
      return refuse(loop, "one that does not run from 0 by 1 to a constant");
    if (loop->getNumResults())
      return refuse(loop, "one that carries values");
    std::optional<MatrixAxis> axis = getAxis(loop);
    if (!axis)
      return refuse(loop, Twine("one without ") + kMatrixAxisAttr);
    uint64_t bit = LoopUses::bit(found.loops.size());
    found.loops.push_back(loop);
    ofAxis[static_cast<unsigned>(*axis)] |= bit;
    single |= *extent == 1 ? bit : 0;
    if (llvm::MulOverflow(extents[static_cast<unsigned>(*axis)], *extent, extents[static_cast<unsigned>(*axis)]))
      return refuse(loop, "more iterations than 63 bits count");
    for (Operation &op : *loop.getBody()) {
      if (!isComplete(op))
        return success();
      auto stores = dyn_cast<memref::StoreOp>(op);
      auto next = dyn_cast<scf::ForOp>(op);
      if ((stores || next) && (store || inner))
        return refuse(&op, "more than one statement");
      if (stores)
        store = stores;
      else if (next)
        inner = next;
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        loads.push_back(load);
      else if (!op.hasTrait<OpTrait::IsTerminator>() && (op.getNumRegions() || !isMemoryEffectFree(&op)))
        return refuse(&op, isa<scf::IfOp>(op) ? Twine("a condition") : "'" + op.getName().getStringRef() + "'");
    }
  }
  if (!store)
    return refuse(nest, "none that store");
  if (getOperand(store) != MatrixOperand::Accumulator)
    return refuse(store, Twine("a store without ") + kOperandAttr + " of the accumulator");
  for (memref::LoadOp load : loads) {
    std::optional<MatrixOperand> operand = getOperand(load);
    if (!operand)
      return refuse(load, Twine("a load without ") + kOperandAttr);
    memref::LoadOp &of = *operand == MatrixOperand::A   ? found.a
                         : *operand == MatrixOperand::B ? found.b
                                                        : found.accumulator;
    if (of)
      return refuse(load, "two loads of operand " + stringifyMatrixOperand(*operand));
    of = load;
  }
  if (!found.a || !found.b || !found.accumulator)
    return refuse(nest, "none that load A, B and the accumulator");

  Operation *add = store.getValue().getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add) || add->getNumOperands() != 2)
    return refuse(store, "a store of something else than a sum");
  bool isFirst = add->getOperand(0) == found.accumulator.getResult();
  Operation *multiply = add->getOperand(isFirst ? 1 : 0).getDefiningOp();
  if (add->getOperand(isFirst ? 0 : 1) != found.accumulator.getResult())
    return refuse(add, "a sum without the accumulator");
  if (!multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply) || multiply->getNumOperands() != 2)
    return refuse(add, "a sum with something else than A times B");
  memref::LoadOp left = getElement(multiply->getOperand(0)), right = getElement(multiply->getOperand(1));
  if (!(left == found.a && right == found.b) && !(left == found.b && right == found.a))
    return refuse(multiply, "a multiplication of something else than A and B");
  // The element is that before the store, of the same iteration.
  if (found.accumulator.getMemRef() != store.getMemRef() || found.accumulator->getBlock() != store->getBlock() ||
      !llvm::all_of_zip(found.accumulator.getIndices(), store.getIndices(), isSame))
    return refuse(store, "an accumulator that is stored elsewhere than where it is loaded from");
  if (found.a.getMemRef() == store.getMemRef() || found.b.getMemRef() == store.getMemRef())
    return refuse(multiply, "a multiplication of the accumulator's elements");

  LoopUses uses(found.loops);
  struct {
    ValueRange indices;
    MatrixAxis without;
    StringRef what;
  } parts[] = {{found.a.getIndices(), MatrixAxis::N, "operand A"},
               {found.b.getIndices(), MatrixAxis::M, "operand B"},
               {store.getIndices(), MatrixAxis::K, "the accumulator"}};
  for (auto [indices, without, what] : parts)
    for (MatrixAxis axis : {MatrixAxis::M, MatrixAxis::N, MatrixAxis::K}) {
      uint64_t loops = ofAxis[static_cast<unsigned>(axis)], used = uses.get(indices) & loops;
      if (axis == without ? used : loops & ~used & ~single)
        return refuse(nest, what + (axis == without ? " that changes" : " that does not change") +
                                " with the loop over " + stringifyMatrixAxis(axis));
    }
  if (ArrayRef<int64_t>(extents) != instruction.getShape())
    return nest.emitOpError() << "expected loops of m, n and k iterations as " << instruction << " has, got "
                              << extents[0] << ", " << extents[1] << " and " << extents[2];
  return success();
}
