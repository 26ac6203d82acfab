//===- MatchCopies.cpp - which loops are copies of tiles by TMA -----------===//
#include "passes/ArgumentLayouts.h"
#include "passes/index/Extents.h"
#include "passes/index/JoinedIndices.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/Masks.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace tilewright {

/// Whether an index that compares so with `end` is one where the tensor begins or ends along a dimension.
static bool isBound(arith::CmpIPredicate predicate, index::LinearIndex end, Value tensor, unsigned dimension,
                    int64_t extent) {
  if (predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sgt)
    ++end.constant;
  if (predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle)
    return ShapedType::isDynamic(extent) ? index::isExtent(end, tensor, dimension)
                                         : end.terms.empty() && end.constant == extent;
  return (predicate == arith::CmpIPredicate::sge || predicate == arith::CmpIPredicate::sgt) && end.isZero();
}

/// Whether a condition says that `indices` are within the tensor's `shape`, and nothing else. Conjunctions are. Where
/// it says that a dimension ends earlier than the `whole` tensor, it does so for the copy: `shape` becomes less.
/// `guarded` learns of which dimensions something is said.
static bool isWithin(Value condition, const TileCopy &copy, ArrayRef<index::LinearIndex> indices,
                     MutableArrayRef<int64_t> shape, ArrayRef<int64_t> whole, llvm::BitVector &guarded) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return isWithin(both.getLhs(), copy, indices, shape, whole, guarded) &&
           isWithin(both.getRhs(), copy, indices, shape, whole, guarded);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  // A number that is read again is the one that the index has.
  auto getRead = [&](memref::LoadOp load) -> std::optional<index::LinearIndex> {
    for (Value value : copy.read) {
      auto known = value.getDefiningOp<arith::IndexCastOp>().getIn().getDefiningOp<memref::LoadOp>();
      if (known.getMemRef() != load.getMemRef() || known.getIndices() != load.getIndices())
        continue;
      index::LinearIndex sum;
      sum.terms[value] = 1;
      return sum;
    }
    return std::nullopt;
  };
  auto isBetween = [&](arith::CmpIPredicate predicate, const index::LinearIndex &left,
                       const index::LinearIndex &right) {
    for (auto [dimension, index] : llvm::enumerate(indices)) {
      index::LinearIndex distance = index.plus(left, -1);
      if (!distance.terms.empty())
        continue;
      guarded.set(dimension);
      // What the index is compared with, which may be so much more than what stands on the left.
      index::LinearIndex end = right.plus(distance);
      if (isBound(predicate, end, copy.tensor, dimension, shape[dimension]))
        return true;
      if (predicate != arith::CmpIPredicate::slt || !end.terms.empty() || end.constant < 1 || copy.gathered ||
          ShapedType::isDynamic(shape[dimension]) || end.constant > whole[dimension])
        continue;
      shape[dimension] = std::min(shape[dimension], end.constant);
      return true;
    }
    return false;
  };
  auto left = getSum(compare.getLhs(), getRead), right = getSum(compare.getRhs(), getRead);
  if (left && right && isBetween(compare.getPredicate(), *left, *right))
    return true;
  // A quotient is less than a number where the dividend is less than so many times the divisor.
  auto quotient = index::getQuotient(compare.getLhs());
  std::optional<int64_t> number = getConstantIntValue(compare.getRhs());
  if (!quotient || !number)
    return false;
  if (!llvm::is_contained({arith::CmpIPredicate::slt, arith::CmpIPredicate::sge}, compare.getPredicate()))
    return false;
  index::LinearIndex bound;
  bound.constant = *number * quotient->second;
  return isBetween(compare.getPredicate(), quotient->first, bound);
}

/// Whether indices have quotients or remainders of one of these loops.
static bool haveParts(ArrayRef<index::LinearIndex> indices, ArrayRef<scf::ForOp> loops) {
  return llvm::any_of(indices, [&](const index::LinearIndex &index) {
    index::LinearIndex inner = index.split(loops).first;
    return llvm::any_of(inner.terms, [](auto term) { return !isa<BlockArgument>(term.first); });
  });
}

SmallVector<int64_t> TileCopy::getBox() const {
  SmallVector<int64_t> box;
  for (const TileDimension &dimension : dimensions)
    box.push_back(dimension.box);
  return box;
}

std::string TileCopy::describeRows() const {
  std::string text;
  for (const TileDimension &dimension : ArrayRef(dimensions).drop_back())
    if (dimension.box != 1)
      text += (text.empty() ? "" : " x ") + std::to_string(dimension.box);
  return text;
}

bool TileCopy::hasTensorDimensions() const {
  auto shape = cast<MemRefType>(tensor.getType()).getShape();
  auto strides = cast<MemRefType>(tensor.getType()).getStridesAndOffset().first;
  if (dimensions.size() != shape.size())
    return false;
  for (auto [number, dimension] : llvm::enumerate(dimensions))
    if (dimension.extent != shape[number] || dimension.stride != strides[number] || dimension.step != 1)
      return false;
  return true;
}

/// A tensor with strides of its own is one whose rows TMA can step over.
static LogicalResult checkStrides(Value tensor, llvm::function_ref<InFlightDiagnostic()> refuse) {
  auto type = cast<MemRefType>(tensor.getType());
  if (type.getLayout().isIdentity())
    return success();
  if (!hasUnitRows(type))
    return refuse() << "expected a tensor whose last stride is 1, as TMA copies rows, got " << getBufferName(tensor)
                    << " as " << type;
  int64_t bytes = getElementBytes(type.getElementType());
  for (int64_t dimension = 0; dimension + 1 < type.getRank(); ++dimension) {
    int64_t known = type.getStridesAndOffset().first[dimension], divisor = getStrideDivisor(tensor, dimension);
    if (known != 0 && divisor * bytes % tile::kTensorStrideBytes == 0)
      continue;
    InFlightDiagnostic diag = refuse() << "expected strides of multiples of " << tile::kTensorStrideBytes << " bytes, "
                                       << tile::kTensorStrideBytes / bytes << " elements of " << type.getElementType()
                                       << ", which TMA can step over, got ";
    if (ShapedType::isDynamic(known))
      diag << "one that may be any multiple of " << divisor << " (te.var has divisible_by)";
    else
      diag << known;
    return diag << " in dimension " << dimension << " of " << getBufferName(tensor);
  }
  return success();
}

/// The elements of a row of the tensor, for messages. `known` is their number, or what divides it.
static std::string describeRow(const TileCopy &copy, int64_t known) {
  auto type = cast<MemRefType>(copy.tensor.getType());
  unsigned last = type.getRank() - 1;
  int64_t bytes = tile::getElementBytes(type.getElementType());
  std::string symbol = index::getSymbolName(copy.tensor, last), text;
  bool isDynamic = type.isDynamicDim(last);
  llvm::raw_string_ostream stream(text);
  stream << (!isDynamic       ? std::to_string(known)
             : symbol.empty() ? "any number of"
                              : symbol)
         << " elements of '" << type.getElementType() << "', ";
  if (!isDynamic)
    stream << known * bytes << " bytes, ";
  else if (known > 1)
    stream << "a multiple of " << known << ", ";
  stream << "of " << getBufferName(copy.tensor);
  if (llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; }) && !symbol.empty())
    stream << ": use te.var(\"" << symbol << "\", divisible_by=" << tile::kTensorStrideBytes / bytes << ")";
  return text;
}

/// Whether TMA can step over rows of so many elements, or of a multiple of so many, and over the boxes.
static LogicalResult checkBoxes(const TileCopy &copy, int64_t inRow, llvm::function_ref<InFlightDiagnostic()> refuse) {
  auto type = cast<MemRefType>(copy.tensor.getType());
  int64_t bytes = tile::getElementBytes(type.getElementType());
  if (type.getLayout().isIdentity() && inRow * bytes % tile::kTensorStrideBytes)
    return refuse() << "expected a tensor with rows of a multiple of " << tile::kTensorStrideBytes
                    << " bytes, which TMA can step over, got " << describeRow(copy, inRow);
  for (const TileDimension &dimension : ArrayRef(copy.dimensions).drop_back())
    if (!ShapedType::isDynamic(dimension.stride) && dimension.stride * bytes % tile::kTensorStrideBytes)
      return refuse() << "expected steps of multiples of " << tile::kTensorStrideBytes
                      << " bytes along a dimension, got " << dimension.stride * bytes;
  if (!copy.dimensions.back().first.isMultipleOf(tile::kTensorStrideBytes / bytes))
    return refuse() << "expected boxes that begin at multiples of " << tile::kTensorStrideBytes << " bytes of a row of "
                    << getBufferName(copy.tensor) << ", of " << tile::kTensorStrideBytes / bytes
                    << " elements, as TMA copies them";
  if (int64_t(copy.dimensions.size()) > tile::kMaxTensorRank)
    return refuse() << "expected at most " << tile::kMaxTensorRank << " dimensions, got " << copy.dimensions.size();
  return success();
}

FailureOr<TileCopy> TileRaiser::matchCopy(Operation *of, memref::StoreOp store) {
  TileCopy copy;
  copy.store = store;
  auto refuse = [&] {
    return error("copy_by", store.getLoc()) << "stage '" << getBufferName(store.getMemRef()) << "': ";
  };
  bool isLoad = isShared(store.getMemRef());
  // The element, or zero where the tensor has none.
  Value value = store.getValue();
  SmallVector<Value> conditions;
  auto choice = value.getDefiningOp<scf::IfOp>();
  unsigned number = choice ? cast<OpResult>(value).getResultNumber() : 0;
  if (choice && choice.elseBlock() && isZero(choice.elseYield().getOperand(number))) {
    conditions.push_back(choice.getCondition());
    value = choice.thenYield().getOperand(number);
  } else if (auto select = value.getDefiningOp<arith::SelectOp>(); select && isZero(select.getFalseValue())) {
    conditions.push_back(select.getCondition());
    value = select.getTrueValue();
  }
  // What is not copied nobody reads: it may be zero too.
  for (Operation *around = store->getParentOp(); around != of->getParentOp(); around = around->getParentOp())
    if (auto guard = dyn_cast<scf::IfOp>(around)) {
      if (isInElse(store, guard))
        return refuse() << "expected a copy where a condition holds, got one where it does not";
      conditions.push_back(guard.getCondition());
    }
  copy.load = value.getDefiningOp<memref::LoadOp>();
  if (!copy.load || (isLoad ? !isInGlobalMemory(copy.load.getMemRef())
                            : !isShared(copy.load.getMemRef()) || !isInGlobalMemory(store.getMemRef())))
    return refuse() << (isLoad ? "expected a copy of a tensor in global memory, zero at most where that ends"
                               : "expected a copy of a stage in shared memory");
  copy.tensor = isLoad ? copy.load.getMemRef() : store.getMemRef();
  copy.buffer = isLoad ? store.getMemRef() : copy.load.getMemRef();
  auto how = store->getAttrOfType<schedule::CopyAttr>(schedule::kCopyAttr);
  copy.swizzle = how.getSwizzle();
  copy.isDeferred = how.getDeferred();
  copy.byThreads = how.getBy() == schedule::Copier::Threads;
  if (copy.byThreads && isLoad)
    return refuse() << "expected TMA to copy to shared memory, got threads";
  if (copy.isDeferred && isLoad)
    return refuse() << "expected a result to be deferred, got a copy to shared memory";
  auto type = cast<MemRefType>(copy.tensor.getType()), bufferType = cast<MemRefType>(copy.buffer.getType());
  if (!tile::isTileElement(type.getElementType()))
    return refuse() << "expected elements of whole bytes, got " << type.getElementType();
  if (!copy.byThreads && failed(checkStrides(copy.tensor, refuse)))
    return failure();
  ValueRange places = isLoad ? ValueRange(copy.load.getIndices()) : ValueRange(store.getIndices());
  auto inTensor = index::getLinearIndices(places);
  SmallVector<int64_t> shape(type.getShape()), strides = type.getStridesAndOffset().first;
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  // Dimensions are joined where they are no box as they are, and where rows of one element are none of TMA's.
  std::optional<index::JoinedIndices> joined;
  if (!inTensor || (!shape.empty() && shape.back() == 1) || haveParts(*inTensor, loops))
    joined = index::JoinedIndices::get(places, type, loops);
  if (joined) {
    inTensor = joined->indices;
    shape = joined->shape;
    strides = joined->strides;
  }
  unsigned rank = shape.size();
  auto inBuffer = index::getLinearIndices(isLoad ? store.getIndices() : copy.load.getIndices());
  if (isLoad && inTensor && !joined && failed(matchGathered(of, copy, *inTensor)))
    return failure();
  if (isLoad && inTensor && !copy.gathered)
    findRead(of, copy, *inTensor);
  if (!inTensor || !inBuffer || !areOfLoops(*inTensor, of, copy.read) || !areOfLoops(*inBuffer, of))
    return refuse() << "expected a copy of boxes, at indices that are sums of multiples of loops";
  llvm::BitVector guarded(rank);
  SmallVector<int64_t> whole(shape);
  for (Value condition : conditions)
    if (!isWithin(condition, copy, *inTensor, shape, whole, guarded))
      return refuse() << "expected zeros where the tensor ends and nowhere else, as TMA fills them in";

  // Each dimension of the buffer runs along one of the tensor. Where several do along one, that is so many of the
  // map's.
  SmallVector<index::LinearIndex> inner, outer;
  for (const index::LinearIndex &index : *inTensor) {
    auto [moved, first] = index.split(loops);
    inner.push_back(moved);
    outer.push_back(first);
  }
  auto refuseSymbolic = [&] {
    return refuse() << "expected constant extents of " << getBufferName(copy.tensor)
                    << ", along whose dimensions the tile does not go one by one, got " << type;
  };
  struct Movement {
    unsigned dimension;
    int64_t box, step;
  };
  SmallVector<Movement> movements;
  for (auto [dimension, index] : llvm::enumerate(*inBuffer)) {
    int64_t extent = bufferType.getDimSize(dimension);
    if (extent == 1)
      continue;
    auto [along, first] = index.split(loops);
    if (!first.isZero() || !index::getDigits(along, extent))
      return refuse() << "expected loops that go through all of the buffer";
    auto [loop, factor] = *along.terms.begin();
    const auto *found =
        llvm::find_if(inner, [&, loop = loop](const index::LinearIndex &one) { return one.terms.contains(loop); });
    int64_t step = found == inner.end() ? 0 : found->terms.lookup(loop) / factor;
    if (step < 1)
      return refuse() << "expected each dimension of the buffer to go along one of the tensor";
    unsigned of = found - inner.begin();
    movements.push_back({of, extent, step});
    inner[of] = inner[of].plus(along, -step);
  }
  if (llvm::any_of(inner, [](const index::LinearIndex &rest) { return !rest.terms.empty(); }))
    return refuse() << "expected each dimension of the buffer to go along one of the tensor";
  if (movements.size() < 2 || movements.back().dimension + 1 != rank || movements.back().step != 1)
    return refuse()
           << "expected a tile of rows and columns, whose columns are elements of the tensor that lie together";
  SmallVector<unsigned> numbers; // of the map's dimensions among the tensor's
  for (unsigned of = 0; of < rank; ++of)
    if (llvm::none_of(movements, [&](const Movement &one) { return one.dimension == of; })) {
      numbers.push_back(of);
      bool isGathered = copy.gathered && copy.gathered->number == of;
      if (isGathered)
        copy.gathered->inMap = copy.dimensions.size();
      copy.dimensions.push_back({shape[of], strides[of], isGathered ? copy.gathered->count : 1, 1, outer[of]});
    }
  for (auto [dimension, box, step] : movements) {
    numbers.push_back(dimension);
    bool isAlone =
        llvm::count_if(movements, [&, of = dimension](const Movement &one) { return one.dimension == of; }) == 1;
    if (isAlone && step > tile::kMaxTensorStep)
      return refuse() << "expected every element of a dimension, or one in up to " << tile::kMaxTensorStep
                      << ", got one in " << step;
    if (copy.gathered && copy.gathered->rows && copy.gathered->inner == dimension)
      box = copy.gathered->each;
    if (isAlone) {
      copy.dimensions.push_back({shape[dimension], strides[dimension], box, step, outer[dimension]});
      continue;
    }
    if (!type.hasStaticShape())
      return refuseSymbolic();
    // The multiples of larger steps are counted along their dimensions, those of this step along the first that has it.
    index::LinearIndex &first = outer[dimension];
    SmallVector<int64_t> larger;
    bool isLeast = true;
    for (const Movement &other : movements) {
      if (other.dimension == dimension && other.step > step)
        larger.push_back(other.step);
      isLeast &= other.dimension != dimension || other.step >= step;
    }
    llvm::sort(larger, std::greater<>());
    index::LinearIndex left = first;
    for (int64_t by : larger)
      left = left.splitMultiples(by).second;
    auto [multiples, rest] = left.splitMultiples(step);
    first = first.plus(multiples, -1);
    std::optional<int64_t> last = multiples.getMaximum();
    if (guarded[dimension] || !last || (isLeast && !rest.isZero()))
      return refuse() << "expected elements that are all inside of dimension " << dimension << " of "
                      << getBufferName(copy.tensor) << ", along which several loops of the copy go";
    bool isKnown = !ShapedType::isDynamic(strides[dimension]);
    copy.dimensions.push_back({*last / step + box, isKnown ? strides[dimension] * step : ShapedType::kDynamic, box, 1,
                               multiples.dividedBy(step)});
  }
  // What only a call knows of a tensor is read from the tensor itself, whose dimensions have its order.
  bool isKnown = type.hasStaticShape() && !llvm::is_contained(strides, ShapedType::kDynamic);
  auto ofMovements = llvm::map_range(movements, [](const Movement &one) { return one.dimension; });
  if (!isKnown && !copy.gathered && llvm::is_sorted(ofMovements, std::less_equal<>())) {
    SmallVector<TileDimension, 0> inOrder;
    for (unsigned of = 0; of < rank; ++of)
      inOrder.push_back(copy.dimensions[llvm::find(numbers, of) - numbers.begin()]);
    copy.dimensions = std::move(inOrder);
  }
  if (!type.hasStaticShape() && !copy.hasTensorDimensions())
    return refuseSymbolic();
  copy.columns = movements.back().box;
  copy.rows = 1;
  for (const TileDimension &dimension : ArrayRef(copy.dimensions).drop_back()) {
    copy.rows *= dimension.box;
    if (int64_t across = dimension.box * dimension.step;
        across > tile::kMaxBoxExtent && (movements.size() > 2 || dimension.step > 1))
      return refuse() << "expected a box across at most " << tile::kMaxBoxExtent << " elements of a dimension, got "
                      << across;
  }
  if (copy.rows % 8)
    return refuse() << "expected a multiple of 8 rows, after which the swizzle is the same again, got " << copy.rows;

  int64_t bytes = tile::getElementBytes(type.getElementType());
  int64_t inRow = joined ? shape.back() : index::getKnownDivisor(copy.tensor, rank - 1);
  if (!type.getLayout().isIdentity() && !copy.hasTensorDimensions() &&
      (copy.byThreads || llvm::is_contained(strides, ShapedType::kDynamic)))
    return refuse() << "expected a copy of boxes of " << getBufferName(copy.tensor)
                    << " as it is, for it has strides that only a call knows";
  if (!copy.byThreads && failed(checkBoxes(copy, inRow, refuse)))
    return failure();
  bool isByRows = !isLoad && transposed.contains(copy.buffer);
  int64_t all = isByRows ? copy.rows : copy.columns;
  copy.atOnce = how.getColumns() ? how.getColumns() : all;
  StringRef what = isByRows ? "rows" : "columns";
  if (all % copy.atOnce)
    return refuse() << "expected " << what << " at once that divide the tile's " << all << ", got " << copy.atOnce;
  if (copy.atOnce < all && copy.atOnce % tile::kStoredColumns)
    return refuse() << "expected " << what << " at once that are a multiple of " << tile::kStoredColumns << ", got "
                    << copy.atOnce;
  int64_t columns = isByRows ? copy.columns : copy.atOnce;
  if (columns * bytes % copy.swizzle)
    return refuse() << "expected a tile with rows of whole swizzle spans of " << copy.swizzle << " bytes, got "
                    << columns << " elements of " << type.getElementType() << ", " << columns * bytes << " bytes";
  return copy;
}

} // namespace tilewright
