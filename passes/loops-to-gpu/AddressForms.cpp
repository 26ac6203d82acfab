//===- AddressForms.cpp - which elements of a buffer a thread touches -----===//
#include "passes/loops-to-gpu/AddressForms.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

static Range operator+(Range a, Range b) {
  Range sum;
  if (a.min && b.min)
    sum.min = *a.min + *b.min;
  if (a.max && b.max)
    sum.max = *a.max + *b.max;
  return sum;
}

static Range operator*(Range range, int64_t factor) {
  if (factor < 0)
    std::swap(range.min, range.max);
  if (range.min)
    *range.min *= factor;
  if (range.max)
    *range.max *= factor;
  return range;
}

Range LinearForm::getRange() const {
  Range range{constant, constant};
  for (const Term &term : terms)
    range = range + term.range * term.coefficient;
  return range;
}

std::optional<int64_t> LinearForm::getThreadPlace(unsigned dim, int64_t extent) const {
  auto digit = llvm::find_if(terms, [&](const Term &term) { return term.thread == static_cast<int>(dim); });
  if (digit == terms.end() || digit->coefficient == 0)
    return std::nullopt;
  // Every other term is either a multiple of the digit's span, or part of what stands below the digit. A thread that is
  // counted backwards has the digit extent - 1 - index.
  int64_t place = std::abs(digit->coefficient), span = place * extent;
  int64_t offset = llvm::mod(digit->coefficient < 0 ? constant - place * (extent - 1) : constant, span);
  Range below{offset, offset};
  for (const Term &term : terms)
    if (&term != &*digit && term.coefficient % span != 0)
      below = below + term.range * term.coefficient;
  if (!below.min || !below.max || *below.min < 0 || *below.max >= place)
    return std::nullopt;
  return digit->coefficient;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static Range getRangeOfValue(Value value, ArrayRef<int64_t> blockSize) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {constant, constant};
  if (auto id = value.getDefiningOp<gpu::ThreadIdOp>())
    return {0, blockSize[static_cast<unsigned>(id.getDimension())] - 1};
  if (value.getDefiningOp<gpu::BlockIdOp>())
    return {0, std::nullopt};
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()); loop && loop.getInductionVar() == value) {
      std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
      std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
      return {lower, upper ? std::optional<int64_t>(*upper - 1) : std::nullopt};
    }
  return {};
}

static int getThreadDim(Value value) {
  auto id = value.getDefiningOp<gpu::ThreadIdOp>();
  return id ? static_cast<int>(id.getDimension()) : -1;
}

/// The linear form of an expression; what is not linear in it stays a value with a range. Parts of the sum that `isApart`
/// takes are left out.
static LinearForm linearize(AffineExpr expr, ArrayRef<Value> operands, ArrayRef<Range> ranges, unsigned numDims,
                            llvm::function_ref<bool(AffineExpr, int64_t)> isApart = nullptr) {
  LinearForm form;
  auto addTerm = [&](LinearForm::Term added) {
    // Different values may be of one thread index: their terms are one.
    for (LinearForm::Term &term : form.terms)
      if (added.thread >= 0 && term.thread == added.thread) {
        term.coefficient += added.coefficient;
        return;
      }
    form.terms.push_back(added);
  };
  std::function<void(AffineExpr, int64_t)> add = [&](AffineExpr expr, int64_t factor) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      form.constant += factor * constant.getValue();
      return;
    }
    if (isApart && isApart(expr, factor))
      return;
    if (isa<AffineDimExpr, AffineSymbolExpr>(expr)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      unsigned position = dim ? dim.getPosition() : numDims + cast<AffineSymbolExpr>(expr).getPosition();
      return addTerm({factor, getThreadDim(operands[position]), ranges[position]});
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto right = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Add) {
      add(binary.getLHS(), factor);
      add(binary.getRHS(), factor);
    } else if (expr.getKind() == AffineExprKind::Mul && right) {
      add(binary.getLHS(), factor * right.getValue());
    } else {
      LinearForm::Term term{factor, -1, {}};
      if (right && right.getValue() > 0) {
        Range inner = linearize(binary.getLHS(), operands, ranges, numDims).getRange();
        int64_t divisor = right.getValue();
        if (expr.getKind() == AffineExprKind::Mod) {
          term.range = {0, divisor - 1};
        } else {
          bool isUp = expr.getKind() == AffineExprKind::CeilDiv;
          auto divide = [&](int64_t n) { return isUp ? llvm::divideCeilSigned(n, divisor) : llvm::divideFloorSigned(n, divisor); };
          if (inner.min)
            term.range.min = divide(*inner.min);
          if (inner.max)
            term.range.max = divide(*inner.max);
        }
      }
      form.terms.push_back(term);
    }
  };
  add(expr, 1);
  llvm::erase_if(form.terms, [](const LinearForm::Term &term) { return term.coefficient == 0; });
  return form;
}

//===----------------------------------------------------------------------===//
// SharedAccess
//===----------------------------------------------------------------------===//

/// The indices that a load or store names, and the number of elements from there on.
static std::optional<std::pair<OperandRange, int64_t>> getIndices(Operation *op) {
  auto minor = [](VectorType type) { return type.getRank() == 1 ? type.getNumElements() : 0; };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return std::pair(load.getIndices(), int64_t(1));
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return std::pair(store.getIndices(), int64_t(1));
  if (auto load = dyn_cast<vector::LoadOp>(op); load && minor(load.getVectorType()))
    return std::pair(load.getIndices(), minor(load.getVectorType()));
  if (auto store = dyn_cast<vector::StoreOp>(op); store && minor(store.getVectorType()))
    return std::pair(store.getIndices(), minor(store.getVectorType()));
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
static void boundThreads(Value condition, bool holds, std::array<Range, 3> &bounds) {
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
  Range &range = bounds[dim];
  bool isLess = predicate == CmpIPredicate::slt || predicate == CmpIPredicate::ult;
  if (isLess || predicate == CmpIPredicate::sle || predicate == CmpIPredicate::ule)
    range.max = std::min(range.max.value_or(INT64_MAX), *number - isLess);
  bool isMore = predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::ugt;
  if (isMore || predicate == CmpIPredicate::sge || predicate == CmpIPredicate::uge)
    range.min = std::max(range.min.value_or(0), *number + isMore);
}

SharedAccess::SharedAccess(Operation *op, Value buffer, bool isWrite, std::array<int64_t, 3> blockSize)
    : op(op), buffer(buffer), isWrite(isWrite), blockSize(blockSize) {
  std::array<Range, 3> bounds;
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
  if (!named || (!type.getLayout().isIdentity() && !isa<BlockArgument>(buffer)))
    return;
  length = named->second;
  hasIndices = true;
  operands.assign(named->first.begin(), named->first.end());
  indices = AffineMap::getMultiDimIdentityMap(operands.size(), op->getContext());
  affine::fullyComposeAffineMapAndOperands(&indices, &operands);
  for (Value operand : operands) {
    Range &range = ranges.emplace_back(getRangeOfValue(operand, blockSize));
    if (int dim = getThreadDim(operand); dim >= 0) {
      range.min = std::max(*range.min, bounds[dim].min.value_or(0));
      range.max = std::min(*range.max, bounds[dim].max.value_or(INT64_MAX));
    }
  }
}

LinearForm SharedAccess::getForm(ArrayRef<int64_t> weights, llvm::function_ref<bool(AffineExpr, int64_t)> isApart) const {
  AffineExpr sum = getAffineConstantExpr(0, op->getContext());
  for (auto [weight, index] : llvm::zip_equal(weights, indices.getResults()))
    sum = sum + index * weight;
  sum = simplifyAffineExpr(sum, indices.getNumDims(), indices.getNumSymbols());
  LinearForm form = linearize(sum, operands, ranges, indices.getNumDims(), isApart);
  if (length > 1 && weights.back() != 0)
    form.terms.push_back({weights.back(), -1, {0, length - 1}});
  return form;
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

std::optional<LinearForm> SharedAccess::getAddress() const {
  int64_t bytes = getElementBytesOf(buffer);
  if (end == INT64_MAX || begin % bytes != 0 || indices.getNumResults() == 0)
    return std::nullopt;
  LinearForm form = getForm(getStrides());
  form.constant += begin / bytes;
  return form;
}

/// All weights zero but one.
static SmallVector<int64_t> getUnit(size_t size, size_t position) {
  SmallVector<int64_t> weights(size, 0);
  weights[position] = 1;
  return weights;
}

bool LinearForm::isNever(const LinearForm &other) const {
  Range here = getRange(), there = other.getRange();
  if ((here.max && there.min && *here.max < *there.min) || (there.max && here.min && *there.max < *here.min))
    return true;
  int64_t divisor = 0;
  for (const LinearForm *form : {this, &other})
    for (const Term &term : form->terms)
      divisor = std::gcd(divisor, term.coefficient);
  return divisor > 1 && (constant - other.constant) % divisor != 0;
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
  if (buffer != other.buffer || !hasIndices || !other.hasIndices)
    return true;
  for (size_t i = 0, rank = indices.getNumResults(); i < rank; ++i)
    if (getForm(getUnit(rank, i)).isNever(other.getForm(getUnit(rank, i))))
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

void SharedAccess::closeThreads(unsigned &open, const LinearForm &here, const LinearForm &there) const {
  for (unsigned d = 0; d < 3; ++d)
    if (open & (1u << d)) {
      std::optional<int64_t> place = here.getThreadPlace(d, blockSize[d]);
      if (place && place == there.getThreadPlace(d, blockSize[d]))
        open &= ~(1u << d);
    }
}

bool SharedAccess::isBySameThread(const SharedAccess &other) const {
  unsigned open = getOpenThreads(other);
  if (!open)
    return true;
  // What a lane reads of a matrix is in the rows of others.
  if (!hasIndices || !other.hasIndices || isa<nvgpu::LdMatrixOp>(op) || isa<nvgpu::LdMatrixOp>(other.op))
    return false;
  if (buffer != other.buffer) {
    // Elements of one size that share a byte are at one address.
    std::optional<LinearForm> here = getAddress(), there = other.getAddress();
    if (here && there && root == other.root && getElementBytesOf(buffer) == getElementBytesOf(other.buffer))
      closeThreads(open, *here, *there);
    return !open;
  }

  // Two accesses to one element agree in any combination of their indices. Worth trying are each index alone, the
  // element's number in memory, and its number in the part of the buffer that is touched, where indices are the
  // quotients and remainders of one number.
  size_t rank = indices.getNumResults();
  if (rank == 0)
    return false;
  SmallVector<SmallVector<int64_t>> combinations;
  for (size_t i = 0; i < rank; ++i)
    combinations.push_back(getUnit(rank, i));
  SmallVector<int64_t> tight(rank, 1);
  bool hasTight = true;
  for (size_t i = rank - 1; i > 0; --i) {
    Range here = getForm(getUnit(rank, i)).getRange(), there = other.getForm(getUnit(rank, i)).getRange();
    hasTight &= here.max && there.max;
    tight[i - 1] = hasTight ? tight[i] * (std::max(*here.max, *there.max) + 1) : 1;
  }
  if (cast<MemRefType>(buffer.getType()).hasStaticShape())
    combinations.push_back(getStrides());
  if (hasTight && tight != combinations.back())
    combinations.push_back(tight);

  for (ArrayRef<int64_t> weights : combinations)
    closeThreads(open, getForm(weights), other.getForm(weights));
  return !open;
}

bool SharedAccess::conflictsWith(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  return (isWrite || other.isWrite) && overlaps(other) && !isBySameThread(other) &&
         !(isSame && (takesOtherPlace(other, isSame) || isApartInIteration(other, isSame)));
}

} // namespace tilewright
