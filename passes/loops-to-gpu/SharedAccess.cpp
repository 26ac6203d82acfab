//===- SharedAccess.cpp - which elements of a buffer a thread touches -----===//
#include "passes/loops-to-gpu/SharedAccess.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

static int getThreadDim(Value value) {
  auto id = value.getDefiningOp<gpu::ThreadIdOp>();
  return id ? static_cast<int>(id.getDimension()) : -1;
}

/// The indices that a load or store names, and the number of elements from there on.
static std::optional<std::pair<OperandRange, int64_t>> getIndices(Operation *op) {
  if (auto access = index::getElementAccess(op)) {
    std::optional<int64_t> length = access->getLength();
    return length ? std::optional(std::pair(OperandRange(access->indices), *length)) : std::nullopt;
  }
  if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op))
    return std::pair(copy.getDstIndices(), copy.getDstElements().getSExtValue());
  // A row of a matrix.
  if (auto matrix = dyn_cast<nvgpu::LdMatrixOp>(op))
    return std::pair(matrix.getIndices(), 16 / getElementBytes(matrix.getSrcMemref().getType().getElementType()));
  return std::nullopt;
}

/// Conditions of the form "thread index == constant" that hold where `op` stands.
static void pinThreads(Value condition, std::array<std::optional<int64_t>, 3> &pinned) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    pinThreads(both.getLhs(), pinned);
    pinThreads(both.getRhs(), pinned);
  } else if (auto compare = condition.getDefiningOp<arith::CmpIOp>();
             compare && compare.getPredicate() == arith::CmpIPredicate::eq) {
    int dim = getThreadDim(compare.getLhs());
    if (std::optional<int64_t> index = getConstantIntValue(compare.getRhs()); dim >= 0 && index)
      pinned[dim] = index;
  }
}

/// Narrows the indices of threads for which a comparison of one with a number holds, or, with `holds` false, does not.
static void boundThreads(Value condition, bool holds, std::array<index::Range, 3> &bounds) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (both && holds) {
    boundThreads(both.getLhs(), holds, bounds);
    boundThreads(both.getRhs(), holds, bounds);
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  int dim = getThreadDim(compare.getLhs());
  std::optional<int64_t> number = getConstantIntValue(compare.getRhs());
  if (dim < 0 || !number)
    return;
  using arith::CmpIPredicate;
  CmpIPredicate predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  index::Range &range = bounds[dim];
  bool isLess = predicate == CmpIPredicate::slt || predicate == CmpIPredicate::ult;
  if (isLess || predicate == CmpIPredicate::sle || predicate == CmpIPredicate::ule)
    range.max = std::min(range.max.value_or(INT64_MAX), *number - isLess);
  bool isMore = predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::ugt;
  if (isMore || predicate == CmpIPredicate::sge || predicate == CmpIPredicate::uge)
    range.min = std::max(range.min.value_or(0), *number + isMore);
}

SharedAccess::SharedAccess(Operation *op, Value buffer, bool isWrite, std::array<int64_t, 3> blockSize)
    : op(op), buffer(buffer), isWrite(isWrite), blockSize(blockSize) {
  std::array<index::Range, 3> bounds;
  for (Operation *inner = op; !isa<gpu::GPUFuncOp>(inner); inner = inner->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(inner->getParentOp())) {
      bool holds = branch.getThenRegion().isAncestor(inner->getParentRegion());
      if (holds)
        pinThreads(branch.getCondition(), pinned);
      boundThreads(branch.getCondition(), holds, bounds);
    }
  if (!buffer)
    return;

  root = getRootBuffer(buffer);
  if (auto view = buffer.getDefiningOp<memref::ViewOp>()) {
    MemRefType type = view.getType();
    std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
    if (offset && type.hasStaticShape() && view.getSource() == root) {
      begin = *offset;
      end = begin + type.getNumElements() * getElementBytes(type.getElementType());
    }
  }
  auto named = getIndices(op);
  auto type = cast<MemRefType>(buffer.getType());
  // Of an argument with strides that is written no two elements are one: each call is checked for that.
  bool isRowMajor = type.getLayout().isIdentity() || isa<BlockArgument>(buffer);
  // A buffer of one element is touched as a whole.
  if (!named || !isRowMajor || named->first.empty())
    return;
  form.emplace(named->first, named->second,
               [](Value a, Value b) { return getThreadDim(a) >= 0 && getThreadDim(a) == getThreadDim(b); });
  for (auto [position, operand] : llvm::enumerate(form->getOperands()))
    if (int dim = getThreadDim(operand); dim >= 0)
      form->narrow(position, index::intersect({0, blockSize[dim] - 1}, bounds[dim]));
}

static int64_t getElementBytesOf(Value buffer) {
  return getElementBytes(cast<MemRefType>(buffer.getType()).getElementType());
}

SmallVector<int64_t> SharedAccess::getStrides() const {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

std::optional<index::LinearForm> SharedAccess::getAddress() const {
  int64_t bytes = getElementBytesOf(buffer);
  if (end == INT64_MAX || begin % bytes != 0 || !form)
    return std::nullopt;
  index::LinearForm address = form->getForm(getStrides());
  address.constant += begin / bytes;
  return address;
}

bool SharedAccess::overlaps(const SharedAccess &other) const {
  if (!buffer || !other.buffer)
    return true;
  // Arguments are buffers apart from each other.
  if (root != other.root && (isa<BlockArgument>(root) || isa<BlockArgument>(other.root)))
    return false;
  if (root != other.root)
    return !root.getDefiningOp<memref::AllocOp>() || !other.root.getDefiningOp<memref::AllocOp>();
  if (end <= other.begin || other.end <= begin)
    return false;
  if (buffer != other.buffer || !form || !other.form)
    return true;
  for (size_t dimension = 0; dimension < form->getRank(); ++dimension)
    if (form->isNeverEqual(*other.form, dimension))
      return false;
  return true;
}

unsigned SharedAccess::getOpenThreads(const SharedAccess &other) const {
  unsigned open = 0;
  for (unsigned d = 0; d < 3; ++d)
    if (blockSize[d] > 1 && !(pinned[d] && pinned[d] == other.pinned[d]))
      open |= 1u << d;
  return open;
}

std::optional<int64_t> SharedAccess::getThreadPlace(const index::LinearForm &number, unsigned dim) const {
  const auto *thread =
      llvm::find_if(form->getOperands(), [&](Value operand) { return getThreadDim(operand) == static_cast<int>(dim); });
  if (thread == form->getOperands().end())
    return std::nullopt;
  AffineExpr digit = form->getExpr(thread - form->getOperands().begin());
  if (!index::removeDigit(number, digit, blockSize[dim], form->getRanges()))
    return std::nullopt;
  return number.getCoefficient(digit);
}

void SharedAccess::closeThreads(unsigned &open, const index::LinearForm &here, const SharedAccess &other,
                                const index::LinearForm &there) const {
  for (unsigned d = 0; d < 3; ++d)
    if (open & (1u << d)) {
      std::optional<int64_t> place = getThreadPlace(here, d);
      if (place && place == other.getThreadPlace(there, d))
        open &= ~(1u << d);
    }
}

bool SharedAccess::isBySameThread(const SharedAccess &other) const {
  unsigned open = getOpenThreads(other);
  if (!open)
    return true;
  // What a lane reads of a matrix is in the rows of others.
  if (!form || !other.form || isa<nvgpu::LdMatrixOp>(op) || isa<nvgpu::LdMatrixOp>(other.op))
    return false;
  if (buffer != other.buffer) {
    // Elements of one size that share a byte are at one address.
    std::optional<index::LinearForm> here = getAddress(), there = other.getAddress();
    if (here && there && root == other.root && getElementBytesOf(buffer) == getElementBytesOf(other.buffer))
      closeThreads(open, *here, other, *there);
    return !open;
  }

  // Two accesses to one element agree in any combination of their indices. Worth trying are each index alone, the
  // element's number in memory, and its number in the part of the buffer that is touched, where indices are the
  // quotients and remainders of one number.
  for (size_t dimension = 0; dimension < form->getRank(); ++dimension)
    closeThreads(open, form->getForm(dimension), other, other.form->getForm(dimension));
  SmallVector<SmallVector<int64_t>> combinations;
  if (cast<MemRefType>(buffer.getType()).hasStaticShape())
    combinations.push_back(getStrides());
  if (SmallVector<int64_t> tight = form->getTightWeights(*other.form); !tight.empty())
    combinations.push_back(tight);
  for (ArrayRef<int64_t> weights : combinations)
    closeThreads(open, form->getForm(weights), other, other.form->getForm(weights));
  return !open;
}

bool SharedAccess::takesOtherPlace(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  return buffer == other.buffer && form && other.form && form->differsFrom(*other.form, isSame);
}

bool SharedAccess::isApartInIteration(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  if (buffer != other.buffer || !form || !other.form)
    return false;
  unsigned open = getOpenThreads(other);
  for (size_t dimension = 0; dimension < form->getRank(); ++dimension) {
    auto forms = form->getFormsApart(*other.form, dimension, isSame);
    if (!forms)
      continue;
    if (index::areNeverEqual(forms->first, form->getRanges(), forms->second, other.form->getRanges()))
      return true;
    closeThreads(open, forms->first, other, forms->second);
  }
  return !open;
}

bool SharedAccess::conflictsWith(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  return (isWrite || other.isWrite) && overlaps(other) && !isBySameThread(other) &&
         !(isSame && (takesOtherPlace(other, isSame) || isApartInIteration(other, isSame)));
}

} // namespace tilewright
