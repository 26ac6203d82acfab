//===- TileMatcher.cpp - what a tile computes, op by op -------------------===//
#include "passes/linalg-to-loops/TileMatcher.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace tilewright {

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

} // namespace tilewright
