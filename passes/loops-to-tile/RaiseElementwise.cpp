//===- RaiseElementwise.cpp - elements that are computed of a fragment's ---===//
#include "passes/index/Bounds.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

bool TileRaiser::matchElements(Elements &elements) {
  std::optional<index::LinearIndex> row, column;
  auto agree = [](std::optional<index::LinearIndex> &known, const index::LinearIndex &index) {
    if (!known)
      known = index;
    return *known == index;
  };
  WalkResult walked = elements.nest->walk([&](memref::LoadOp load) -> WalkResult {
    Value buffer = load.getMemRef();
    if (isShared(buffer))
      return WalkResult::interrupt();
    if (!isPrivate(buffer) || buffer == elements.reduced)
      return WalkResult::advance();
    Value held = tiles.lookup(buffer);
    auto place = getRowAndColumn(buffer, load.getIndices());
    if (!held || !isa<tile::FragmentType>(held.getType()) || !place)
      return WalkResult::interrupt();
    auto type = cast<tile::FragmentType>(held.getType());
    if (!elements.like || elements.like.isColumn())
      elements.like = type;
    bool agrees = type.isColumn() ? agree(row, *getRow(buffer, load.getIndices()))
                                  : agree(row, place->first) && agree(column, place->second);
    return WalkResult(success(agrees));
  });
  if (walked.wasInterrupted() || !row)
    return false;
  elements.row = *row;
  elements.column = column.value_or(index::LinearIndex());
  return true;
}

/// The column of a fragment of 8-bit elements, where that of the fragment that it is computed of has these digits:
/// 16 q + 4 t + 2 m + e of 16 q + 8 m + 2 t + e (`tile.map`). Nothing where a digit is not one of these.
static std::optional<index::LinearIndex> getInterleaved(ArrayRef<index::Digit> digits) {
  index::LinearIndex place;
  for (const index::Digit &digit : digits) {
    scf::ForOp loop = digit.loop;
    int64_t stride = digit.stride % tile::kPackedColumns == 0 ? digit.stride
                     : digit.stride == 8 && digit.extent == 2 ? 2
                     : digit.stride == 2 && digit.extent == 4 ? 4
                     : digit.stride == 1 && digit.extent == 2 ? 1
                                                              : 0;
    if (stride == 0)
      return std::nullopt;
    place.terms[loop.getInductionVar()] = stride;
  }
  return place;
}

LogicalResult TileRaiser::raiseElementwise(Operation *of, memref::StoreOp store) {
  auto refuse = [&] {
    return error("wgmma", store.getLoc())
           << "stage '" << getBufferName(store.getMemRef()) << "' of the accumulator of '" << getStage() << "': ";
  };
  for (Operation *around = store->getParentOp(); around != of->getParentOp(); around = around->getParentOp()) {
    auto guard = dyn_cast<scf::IfOp>(around);
    if (!guard)
      continue;
    if (isInElse(store, guard))
      return refuse() << "expected elements that are stored where a condition holds, got a store where one does not";
    // In registers there is no element that is left as it was.
    size_t stores = llvm::count_if(store.getMemRef().getUsers(), llvm::IsaPred<memref::StoreOp>);
    if (!isInGlobalMemory(store.getMemRef()) && stores > 1)
      return refuse() << "expected elements that are stored anew everywhere, got a condition under which they stay as "
                         "they were: "
                         "compute both by te.if_then_else";
  }
  Elements elements{of, store, {}, {}, {}, {}};
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  if (!matchElements(elements))
    return refuse() << "expected elements that are computed each of the accumulator's element at its own place, and of "
                       "what is in global memory";
  int64_t columns = elements.like.getColumns();
  auto rowDigits = index::getDigits(elements.row, tile::kWgmmaRows),
       columnDigits = index::getDigits(elements.column, columns);
  size_t numLoops =
      llvm::count_if(loops, [](scf::ForOp loop) { return getConstantIntValue(loop.getUpperBound()) != 1; });
  if (!rowDigits || !columnDigits || rowDigits->size() + columnDigits->size() != numLoops)
    return refuse() << "expected loops that go through all " << tile::kWgmmaRows << " rows and " << columns
                    << " columns of a warpgroup's accumulator";
  elements.rows = *rowDigits;
  elements.columns = *columnDigits;
  Type element = store.getValue().getType();
  bool is8Bits = isShared(store.getMemRef()) && element.getIntOrFloatBitWidth() == 8;
  if (!isInGlobalMemory(store.getMemRef())) {
    bool isPacked = !is8Bits && isa<Float8E4M3FNType>(element);
    if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isSignlessInteger(32) && !is8Bits &&
        !isPacked)
      return refuse() << "expected elements of f32, f16, bf16 or i32, of f8E4M3FN in registers, or of 8 bits in shared "
                         "memory, got "
                      << element;
    auto rounded = store.getValue().getDefiningOp<arith::TruncFOp>();
    if (isPacked && (!rounded || !rounded.getIn().getType().isF32()))
      return refuse() << "expected elements of f8E4M3FN in registers that are rounded from f32";
    std::optional<index::LinearIndex> column = isPacked ? getInterleaved(*columnDigits) : elements.column;
    if (!column)
      return refuse() << "expected elements of f8E4M3FN each in column 16 q + 4 t + 2 m + e, computed of column 16 q + "
                         "8 m + 2 t + e, as wgmma reads them in registers";
    auto place = getRowAndColumn(store.getMemRef(), store.getIndices());
    if (elements.like.isColumn() && place) {
      auto row = getRow(store.getMemRef(), store.getIndices());
      if (!isPrivate(store.getMemRef()) || !isColumn(store.getMemRef()))
        return refuse() << "expected one element a row to stay in registers or to go to global memory";
      place = std::pair(*row, index::LinearIndex());
    }
    // Of a buffer that they share each warpgroup has its rows, or columns where these are rows of the sums.
    auto isAt = [&](const index::LinearIndex &acrossWarpgroups, const index::LinearIndex &other) {
      auto [inner, first] = acrossWarpgroups.split(loops);
      index::LinearIndex wanted;
      if (isShared(store.getMemRef()) && numWarpgroups > 1)
        if (scf::ForOp own = getWarpgroupsAround(store))
          wanted.terms[own.getInductionVar()] = tile::kWgmmaRows;
      return inner == elements.row && first == wanted && other == *column;
    };
    if (place && isShared(store.getMemRef()) && isAt(place->second, place->first)) {
      if (is8Bits)
        return refuse() << "expected transposed elements of 16 or 32 bits, got " << element;
      transposed.insert(store.getMemRef());
    } else if (!place || !isAt(place->first, place->second))
      return refuse()
             << "expected elements that are stored at the place of the accumulator's element that they are computed of";
  }
  Value value = store.getValue();
  if (isInGlobalMemory(store.getMemRef())) {
    makeMap(elements, value, /*element=*/Type(), /*stores=*/true);
    hasResult = true;
    return success();
  }
  auto load = value.getDefiningOp<memref::LoadOp>();
  Value known = load && isPrivate(load.getMemRef()) ? tiles.lookup(load.getMemRef()) : Value();
  // What has 8 bits is packed in fragments of floats, which are an operand's, and goes to shared memory as integers.
  if (is8Bits)
    element = builder.getI8Type();
  if (known && cast<tile::FragmentType>(known.getType()).getElementType() != element)
    known = nullptr;
  tiles[store.getMemRef()] = known ? known : makeMap(elements, value, element, /*stores=*/false);
  return success();
}

Value TileRaiser::remake(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !nest->isAncestor(op))
    return value;
  // What it is computed from may stand anywhere in the nest.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && operand.getDefiningOp() != op)
        mapping.map(operand, remake(operand, mapping));
  });
  // In its regions too what is known stands for itself.
  SmallVector<std::pair<Value, Value>> known;
  op->walk([&](Operation *inner) {
    for (Value made : inner->getResults())
      if (Value found = inner == op ? Value() : mapping.lookupOrNull(made))
        known.push_back({made, found});
  });
  builder.clone(*op, mapping);
  for (auto [made, found] : known) {
    Operation *copied = mapping.lookup(made).getDefiningOp();
    copied->replaceAllUsesWith(ValueRange(found));
    copied->erase();
    mapping.map(made, found);
  }
  return mapping.lookup(value);
}

/// Whether what is in a shared buffer is stored while the next tile is computed.
static bool isHeld(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return isa<memref::LoadOp>(user) && llvm::any_of(user->getUsers(), [](Operation *one) {
             auto copy = one->getAttrOfType<schedule::CopyAttr>(schedule::kCopyAttr);
             return copy && copy.getDeferred();
           });
  });
}

/// Whether quotients or remainders in an index change with the row or the column.
static bool hasChangingDivisions(AffineExpr index) {
  bool found = false;
  index.walk([&](AffineExpr part) {
    bool divides =
        llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv}, part.getKind());
    found |= divides && (part.isFunctionOfDim(0) || part.isFunctionOfDim(1));
  });
  return found;
}

/// Simplifies the indices in a map whose quotients and remainders turn out to be the same for all rows and columns. A
/// register for each would hold them otherwise.
static void simplifyIndices(tile::MapOp map) {
  Block &body = map.getBody().front();
  unsigned numFragments = map.getFragments().size();
  // The first dimensions are the row and the column; all else is a symbol.
  SmallVector<Value> places = {body.getArgument(numFragments), body.getArgument(numFragments + 1)};
  MLIRContext *context = map.getContext();
  auto getExtent = [&](unsigned dim) -> AffineExpr {
    return getAffineConstantExpr(dim == 0 ? tile::kWgmmaRows : map.getResult().getType().getColumns(), context);
  };
  map.walk([&](affine::AffineApplyOp apply) {
    AffineMap known = apply.getAffineMap();
    SmallVector<Value> operands(apply.getMapOperands());
    affine::fullyComposeAffineMapAndOperands(&known, &operands);
    SmallVector<OpFoldResult> all(places.begin(), places.end());
    SmallVector<AffineExpr> terms, dims;
    for (Value operand : operands) {
      auto *found = llvm::find(places, operand);
      terms.push_back(found != places.end() ? getAffineDimExpr(found - places.begin(), context)
                                            : getAffineSymbolExpr(dims.size(), context));
      if (found != places.end())
        continue;
      // What the kernel reads is no symbol of the op.
      dims.push_back(getAffineDimExpr(places.size() + dims.size(), context));
      all.push_back(operand);
    }
    ArrayRef<AffineExpr> of = terms;
    AffineExpr expr =
        known.getResult(0).replaceDimsAndSymbols(of.take_front(known.getNumDims()), of.drop_front(known.getNumDims()));
    AffineExpr simple = index::simplify(expr, getExtent);
    if (!hasChangingDivisions(expr) || hasChangingDivisions(simple))
      return;
    OpBuilder builder(apply);
    apply.replaceAllUsesWith(
        affine::makeComposedAffineApply(builder, apply.getLoc(), simple.replaceSymbols(dims), all).getResult());
    apply.erase();
  });
}

Value TileRaiser::makeMap(const Elements &elements, Value value, Type element, bool stores) {
  // The fragments that are read, of buffers of the nest.
  memref::StoreOp store = elements.store;
  SmallVector<Value> buffers, read;
  bool readsMemory = false;
  elements.nest->walk([&](memref::LoadOp load) {
    if (isInGlobalMemory(load.getMemRef()))
      readsMemory = true;
    else if (load.getMemRef() != elements.reduced && !llvm::is_contained(buffers, load.getMemRef()))
      buffers.push_back(load.getMemRef());
  });
  for (Value buffer : buffers)
    read.push_back(tiles.lookup(buffer));
  Location at = store.getLoc();
  tile::FragmentType like = elements.like;
  // What is only stored makes no other fragment.
  if (stores)
    element = cast<tile::FragmentType>(read[0].getType()).getElementType();
  Type kept = element;
  auto map =
      tile::MapOp::create(builder, at, tile::FragmentType::get(builder.getContext(), like.getShape(), element), read);
  map.setInterleaved(element && isa<Float8E4M3FNType>(element));
  map->setAttr(te::kStageAttr, builder.getStringAttr(getBufferName(store.getMemRef())));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  IRMapping mapping = places;
  for (Value fragment : read)
    body->addArgument(cast<tile::FragmentType>(fragment.getType()).getElementType(), at);
  Value row = body->addArgument(builder.getIndexType(), at), column = body->addArgument(builder.getIndexType(), at);
  // Of one iteration is what no digit is.
  elements.nest->walk([&](scf::ForOp loop) {
    if (index::getLoopExtent(loop.getInductionVar()) == 1)
      mapping.map(loop.getInductionVar(), arith::ConstantIndexOp::create(builder, at, 0));
  });
  for (auto [digits, number] : {std::pair(ArrayRef(elements.rows), row), std::pair(ArrayRef(elements.columns), column)})
    for (auto [position, digit] : llvm::enumerate(digits)) {
      AffineExpr expr = builder.getAffineDimExpr(0).floorDiv(digit.stride);
      if (position + 1 != digits.size())
        expr = expr % digit.extent;
      bool isWhole = digits.size() == 1 && digit.stride == 1;
      mapping.map(scf::ForOp(digit.loop).getInductionVar(),
                  isWhole ? number : affine::makeComposedAffineApply(builder, at, expr, {OpFoldResult(number)}));
    }
  elements.nest->walk([&](memref::LoadOp load) {
    if (const auto *found = llvm::find(buffers, load.getMemRef()); found != buffers.end())
      mapping.map(load.getResult(), body->getArgument(found - buffers.begin()));
  });
  // The conditions under which there is an element.
  Value condition;
  for (Operation *around = store->getParentOp(); around != elements.nest->getParentOp(); around = around->getParentOp())
    if (auto guarded = dyn_cast<scf::IfOp>(around); guarded && (stores || readsMemory)) {
      Value holds = remake(guarded.getCondition(), mapping);
      condition = condition ? arith::AndIOp::create(builder, at, holds, condition).getResult() : holds;
    }
  // A store rounds by itself, so that rounding is the last of all; what is held is rounded where it is computed.
  auto rounded = stores || isHeld(store.getMemRef()) ? arith::TruncFOp() : value.getDefiningOp<arith::TruncFOp>();
  if (rounded && !rounded.getIn().getType().isF32())
    rounded = nullptr;
  if (rounded)
    value = rounded.getIn();
  if (!stores)
    element = value.getType();
  Value made;
  auto compute = [&] {
    made = remake(value, mapping);
    if (!stores)
      return;
    SmallVector<Value> indices;
    for (Value index : store.getIndices())
      indices.push_back(remake(index, mapping));
    auto stored = memref::StoreOp::create(builder, at, made, store.getMemRef(), indices);
    if (Attribute adds = store->getAttr(schedule::kReduceAddAttr))
      stored->setAttr(schedule::kReduceAddAttr, adds);
  };
  if (!condition) {
    compute();
  } else {
    bool gives = !stores;
    auto choice =
        scf::IfOp::create(builder, at, gives ? TypeRange(element) : TypeRange(), condition, /*withElseRegion=*/gives);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    compute();
    if (gives) {
      scf::YieldOp::create(builder, at, made);
      builder.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(builder, at, Value(arith::ConstantOp::create(builder, at, builder.getZeroAttr(element))));
      made = choice.getResult(0);
    }
  }
  builder.setInsertionPointToEnd(body);
  if (rounded) {
    IRMapping ofValue;
    ofValue.map(rounded.getIn(), made);
    made = builder.clone(*rounded, ofValue)->getResult(0);
  }
  if (!stores && made.getType() != kept)
    made = arith::BitcastOp::create(builder, at, kept, made);
  tile::YieldOp::create(builder, at, stores ? Value(body->getArgument(0)) : made);
  simplifyIndices(map);
  return map.getResult();
}
} // namespace tilewright
