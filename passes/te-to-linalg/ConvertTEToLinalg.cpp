//===- ConvertTEToLinalg.cpp - each te.compute becomes a linalg.generic ---===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTETOLINALG
#include "passes/te-to-linalg/Passes.h.inc"

namespace {

/// An extent in a form in which equal extents compare equal as far as can be told: a number, the symbol that a
/// dimension of an argument is declared with, a dimension of an argument without a declared symbol, or a value.
struct Extent {
  std::optional<int64_t> number;
  StringAttr symbol;
  std::pair<Value, int64_t> dimension;

  bool operator==(const Extent &other) const {
    return number == other.number && symbol == other.symbol && dimension == other.dimension;
  }
};

Extent getExtentOfDim(Value tensor, int64_t dim);

Extent getExtent(OpFoldResult extent) {
  if (std::optional<int64_t> number = getConstantIntValue(extent))
    return {number, nullptr, {}};
  auto value = cast<Value>(extent);
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && *index >= 0 && *index < cast<TensorType>(dim.getSource().getType()).getRank())
      return getExtentOfDim(dim.getSource(), *index);
  return {std::nullopt, nullptr, {value, 0}};
}

Extent getExtentOfDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return {type.getDimSize(dim), nullptr, {}};
  // The tensors of other computes are linalg ops by now, whose outputs have the extents, as those of te.extern do.
  if (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    return getExtentOfDim(op.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get(), dim);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return getExtent(empty.getMixedSizes()[dim]);
  if (auto state = tensor.getDefiningOp<bufferization::AllocTensorOp>())
    return getExtent(OpFoldResult(state.getDynamicSizes()[state.getIndexOfDynamicSize(dim)]));
  if (auto arg = dyn_cast<BlockArgument>(tensor))
    if (auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()))
      if (auto symbols = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), te::kSymbolsAttr))
        if (dim < int64_t(symbols.size()))
          if (auto symbol = dyn_cast<StringAttr>(symbols[dim]); symbol && !symbol.empty())
            return {std::nullopt, symbol, {}};
  return {std::nullopt, nullptr, {tensor, dim}};
}

/// Converts one te.compute.
class Converter {
public:
  Converter(IRRewriter &rewriter, te::ComputeOp compute) : rewriter(rewriter), compute(compute) {
    for (OpFoldResult extent : compute.getMixedExtents())
      extents.push_back(getExtent(extent));
  }

  /// `outputs` has, for each result, what it is written to, an argument or the state of a scan, or none.
  void convert(ArrayRef<Value> outputs);

private:
  /// The map of `read` from the axes to its indices, where it is affine in the axes alone.
  AffineMap getMapFromAxes(te::ReadOp read);
  /// Whether a linalg op over the axes may have `tensor` as an operand with `map`.
  bool isLegalOperand(Value tensor, AffineMap map);
  /// Makes operands of the reads that can be some, and dummy operands for reduction axes that none has alone.
  void collectOperands();
  SmallVector<Value> createInits(ArrayRef<Value> outputs);
  void buildBody(OpBuilder &builder, Location loc, ValueRange args);
  /// The reducer of `reduced` and `elements`, its ops marked, so that later it can be applied to other values.
  SmallVector<Value> buildCombine(OpBuilder &builder, Location loc, ValueRange reduced, ArrayRef<Value> elements);
  /// The reads that are no operands become tensor.extract.
  void extractReads(linalg::GenericOp generic);
  /// The earlier elements of a scan become tensor.extract from its inits.
  void extractPrevious(linalg::GenericOp generic);

  IRRewriter &rewriter;
  te::ComputeOp compute;
  SmallVector<Extent> extents;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  DenseMap<Operation *, unsigned> operandOfRead;
};

AffineMap Converter::getMapFromAxes(te::ReadOp read) {
  AffineMap map = read.getMap();
  SmallVector<AffineExpr> replacements;
  for (Value index : read.getIndices()) {
    auto arg = dyn_cast<BlockArgument>(index);
    APInt constant;
    if (arg && arg.getOwner() == &compute.getBody().front())
      replacements.push_back(rewriter.getAffineDimExpr(arg.getArgNumber()));
    else if (matchPattern(index, m_ConstantInt(&constant)))
      replacements.push_back(rewriter.getAffineConstantExpr(constant.getSExtValue()));
    else
      return {};
  }
  ArrayRef<AffineExpr> all(replacements);
  return simplifyAffineMap(map.replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()),
                                                     compute.getNumAxes(), 0));
}

bool Converter::isLegalOperand(Value tensor, AffineMap map) {
  // linalg takes the extent of a loop from any operand that has it alone as an index, so there the extents must be the
  // same; elsewhere it checks the indices at the corners of the space.
  SmallVector<int64_t> first(compute.getNumAxes(), 0), last;
  for (const Extent &extent : extents)
    last.push_back(extent.number.value_or(1) - 1);
  // At a corner an index may be nothing, as where it divides by zero.
  auto at = [&](ArrayRef<int64_t> corner) -> std::optional<SmallVector<int64_t>> {
    SmallVector<Attribute> operands, results;
    for (int64_t place : corner)
      operands.push_back(IntegerAttr::get(IndexType::get(map.getContext()), place));
    if (failed(map.constantFold(operands, results)) || !llvm::all_of(results, llvm::IsaPred<IntegerAttr>))
      return std::nullopt;
    return llvm::map_to_vector(results, [](Attribute result) { return cast<IntegerAttr>(result).getInt(); });
  };
  std::optional<SmallVector<int64_t>> low = at(first), high = at(last);
  if (!low || !high)
    return false;
  auto type = cast<RankedTensorType>(tensor.getType());
  bool isStatic = llvm::all_of(extents, [](const Extent &extent) { return extent.number.has_value(); });
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (!(extents[dim.getPosition()] == getExtentOfDim(tensor, i)))
        return false;
      continue;
    }
    if (!isStatic || type.isDynamicDim(i))
      continue;
    if (std::min((*low)[i], (*high)[i]) < 0 || std::max((*low)[i], (*high)[i]) >= type.getDimSize(i))
      return false;
  }
  return true;
}

void Converter::collectOperands() {
  for (auto read : compute.getBody().getOps<te::ReadOp>()) {
    AffineMap map = getMapFromAxes(read);
    if (!map || !isLegalOperand(read.getTensor(), map))
      continue;
    unsigned operand = 0;
    while (operand < inputs.size() && (inputs[operand] != read.getTensor() || maps[operand] != map))
      ++operand;
    if (operand == inputs.size()) {
      inputs.push_back(read.getTensor());
      maps.push_back(map);
    }
    operandOfRead[read] = operand;
  }
  Type type = cast<RankedTensorType>(compute.getResult(0).getType()).getElementType();
  SmallVector<OpFoldResult> mixed = compute.getMixedExtents();
  for (unsigned axis = compute.getNumSpatial(); axis < compute.getNumAxes(); ++axis) {
    AffineExpr dim = rewriter.getAffineDimExpr(axis);
    if (llvm::any_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), dim); }))
      continue;
    inputs.push_back(tensor::EmptyOp::create(rewriter, compute.getLoc(), {mixed[axis]}, type));
    maps.push_back(AffineMap::get(compute.getNumAxes(), 0, dim));
  }
}

SmallVector<Value> Converter::createInits(ArrayRef<Value> outputs) {
  Location loc = compute.getLoc();
  SmallVector<OpFoldResult> sizes = compute.getMixedExtents();
  sizes.resize(compute.getNumSpatial());
  SmallVector<Value> inits(outputs);
  for (auto [init, type] : llvm::zip(inits, compute.getResultTypes())) {
    if (init)
      continue;
    // The steps of a scan read its states by these values. CSE would make one of two empty tensors, also of two scans.
    if (compute.getScan())
      init = bufferization::AllocTensorOp::create(rewriter, loc, cast<RankedTensorType>(type),
                                                  decomposeMixedValues(sizes).second);
    else
      init = tensor::EmptyOp::create(rewriter, loc, sizes, getElementTypeOrSelf(type));
  }
  if (!compute.getReducer())
    return inits;
  for (auto [init, identity] : llvm::zip(inits, compute.getIdentities())) {
    Value constant = arith::ConstantOp::create(rewriter, loc, identity);
    init = linalg::FillOp::create(rewriter, loc, constant, init).getResult(0);
  }
  return inits;
}

void Converter::buildBody(OpBuilder &builder, Location loc, ValueRange args) {
  IRMapping mapping;
  for (BlockArgument axis : compute.getBody().getArguments())
    mapping.map(axis, linalg::IndexOp::create(builder, axis.getLoc(), axis.getArgNumber()));
  for (Operation &op : compute.getBody().front().without_terminator()) {
    auto operand = operandOfRead.find(&op);
    if (operand != operandOfRead.end())
      mapping.map(op.getResult(0), args[operand->second]);
    else
      builder.clone(op, mapping);
  }
  auto yield = cast<te::YieldOp>(compute.getBody().front().getTerminator());
  SmallVector<Value> elements;
  for (Value value : yield.getValues())
    elements.push_back(mapping.lookupOrDefault(value));
  if (compute.getReducer())
    elements = buildCombine(builder, loc, args.drop_front(inputs.size()), elements);
  linalg::YieldOp::create(builder, yield.getLoc(), elements);
}

SmallVector<Value> Converter::buildCombine(OpBuilder &builder, Location loc, ValueRange reduced,
                                           ArrayRef<Value> elements) {
  // Stand-ins for the elements, so that two results that reduce the same element are told apart.
  SmallVector<Operation *> standIns;
  SmallVector<Value> values;
  for (Value element : elements) {
    standIns.push_back(UnrealizedConversionCastOp::create(builder, loc, element.getType(), element));
    values.push_back(standIns.back()->getResult(0));
  }
  SmallVector<Value> combined = compute.buildCombine(builder, loc, reduced, values);
  Block *block = builder.getInsertionBlock();
  for (auto it = std::next(standIns.back()->getIterator()); it != block->end(); ++it) {
    SmallVector<int64_t> numbers;
    for (Value operand : it->getOperands())
      numbers.push_back(llvm::find(values, operand) == values.end() ? -1
                                                                    : llvm::find(values, operand) - values.begin());
    it->setAttr(te::kCombineAttr, builder.getDenseI64ArrayAttr(numbers));
  }
  for (auto [standIn, element] : llvm::zip(standIns, elements)) {
    for (Value &value : combined)
      if (value == standIn->getResult(0))
        value = element;
    standIn->getResult(0).replaceAllUsesWith(element);
    rewriter.eraseOp(standIn);
  }
  return combined;
}

void Converter::extractReads(linalg::GenericOp generic) {
  generic.walk([&](te::ReadOp read) {
    rewriter.setInsertionPoint(read);
    SmallVector<OpFoldResult> operands(read.getIndices().begin(), read.getIndices().end());
    SmallVector<Value> indices;
    for (unsigned i = 0, e = read.getMap().getNumResults(); i < e; ++i)
      indices.push_back(getValueOrCreateConstantIndexOp(
          rewriter, read.getLoc(),
          affine::makeComposedFoldedAffineApply(rewriter, read.getLoc(), read.getMap().getSubMap({i}), operands)));
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(read, read.getTensor(), indices);
  });
}

void Converter::extractPrevious(linalg::GenericOp generic) {
  generic.walk([&](te::PreviousOp previous) {
    // An index stands in the body itself, whatever condition the element is read under.
    rewriter.setInsertionPointToStart(generic.getBody());
    SmallVector<Value> indices;
    for (unsigned axis = 0; axis < compute.getNumAxes(); ++axis)
      indices.push_back(linalg::IndexOp::create(rewriter, previous.getLoc(), axis));
    rewriter.setInsertionPoint(previous);
    AffineExpr earlier = rewriter.getAffineDimExpr(0) - previous.getLag();
    indices[0] = affine::makeComposedAffineApply(rewriter, previous.getLoc(), earlier, {indices[0]});
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(previous, generic.getDpsInits()[previous.getOf()], indices);
  });
}

void Converter::convert(ArrayRef<Value> outputs) {
  rewriter.setInsertionPoint(compute);
  collectOperands();
  SmallVector<Value> inits = createInits(outputs);
  AffineMap allAxes = rewriter.getMultiDimIdentityMap(compute.getNumAxes());
  AffineMap resultMap = AffineMap::get(compute.getNumAxes(), 0,
                                       allAxes.getResults().take_front(compute.getNumSpatial()), rewriter.getContext());
  maps.append(inits.size(), resultMap);
  SmallVector<utils::IteratorType> iterators(compute.getNumSpatial(), utils::IteratorType::parallel);
  iterators.append(compute.getNumReduce(), utils::IteratorType::reduction);
  if (compute.getScan())
    iterators[0] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      rewriter, compute.getLoc(), compute.getResultTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) { buildBody(builder, loc, args); });
  extractReads(generic);
  extractPrevious(generic);
  for (linalg::IndexOp axis : llvm::make_early_inc_range(generic.getBody()->getOps<linalg::IndexOp>()))
    if (axis->use_empty())
      rewriter.eraseOp(axis);
  if (compute.getScan())
    generic->setAttr(te::kScanAttr, rewriter.getUnitAttr());
  SmallVector<Attribute> axes(compute.getAxes().begin(), compute.getAxes().end());
  llvm::append_range(axes, compute.getReduceAxes());
  generic->setAttr(te::kStageAttr, compute.getNameAttr());
  generic->setAttr(te::kAxesAttr, rewriter.getArrayAttr(axes));
  rewriter.replaceOp(compute, generic);
}

struct ConvertTEToLinalg : impl::ConvertTEToLinalgBase<ConvertTEToLinalg> {
  void runOnOperation() override {
    getOperation().walk([&](func::FuncOp func) {
      if (!func.isExternal() && failed(convert(func)))
        signalPassFailure();
    });
  }

  LogicalResult convert(func::FuncOp func);
  /// For each tensor that is computed the argument that it is written to.
  FailureOr<DenseMap<Value, Value>> matchOutputs(func::FuncOp func);
  /// Adds the states that scans are written to. One of an output becomes the output's argument.
  LogicalResult matchStates(func::FuncOp func, DenseMap<Value, Value> &outputs);
};

FailureOr<DenseMap<Value, Value>> ConvertTEToLinalg::matchOutputs(func::FuncOp func) {
  SmallVector<BlockArgument> arguments;
  for (BlockArgument arg : func.getArguments()) {
    if (!func.getArgAttr(arg.getArgNumber(), te::kOutputAttr))
      continue;
    arguments.push_back(arg);
    for (Operation *user : arg.getUsers())
      if (isa<te::ReadOp, te::ExternOp>(user))
        return user->emitOpError() << "expected to read a computed tensor or an input, got output argument "
                                   << arg.getArgNumber();
  }
  Operation *ret = func.getBody().front().getTerminator();
  if (ret->getNumOperands() != arguments.size())
    return ret->emitOpError() << "expected one value an output argument, " << arguments.size() << ", got "
                              << ret->getNumOperands();
  DenseMap<Value, Value> outputs;
  for (auto [i, value, arg] : llvm::enumerate(ret->getOperands(), arguments)) {
    if (!value.getDefiningOp() || !isa<te::ComputeOp, te::ExternOp>(value.getDefiningOp()))
      return ret->emitOpError() << "output " << i
                                << ": expected the result of a te.compute or te.extern, got another value";
    if (value.getType() != arg.getType())
      return ret->emitOpError() << "output " << i << ": expected the type of its argument, " << arg.getType()
                                << ", got " << value.getType();
    if (!outputs.try_emplace(value, arg).second)
      return ret->emitOpError() << "output " << i << ": expected outputs that differ, got one tensor twice";
  }
  return outputs;
}

LogicalResult ConvertTEToLinalg::matchStates(func::FuncOp func, DenseMap<Value, Value> &outputs) {
  for (te::StateOp state : llvm::make_early_inc_range(func.getOps<te::StateOp>())) {
    te::ComputeOp scan;
    for (auto compute : func.getOps<te::ComputeOp>())
      if (compute.getName() == state.getOf())
        scan = compute;
    if (!scan || !scan.getScan() || scan.getNumResults() != 1)
      return state.emitOpError() << "expected the name of a te.compute with 'scan' and one result, got '"
                                 << state.getOf() << "'";
    if (scan->getResultTypes()[0] != state.getType())
      return state.emitOpError() << "expected the type of what '" << state.getOf() << "' computes, "
                                 << scan->getResultTypes()[0] << ", got " << state.getType();
    Value &place = outputs[scan.getResult(0)];
    if (place && place.getDefiningOp<te::StateOp>())
      return state.emitOpError() << "expected one state of '" << state.getOf() << "', got several";
    if (!place) {
      place = state;
      continue;
    }
    state.replaceAllUsesWith(place);
    state.erase();
  }
  return success();
}

LogicalResult ConvertTEToLinalg::convert(func::FuncOp func) {
  SmallVector<te::ComputeOp> computes(func.getOps<te::ComputeOp>());
  SmallVector<te::ExternOp> externs(func.getOps<te::ExternOp>());
  if (computes.empty() && externs.empty())
    return success();
  FailureOr<DenseMap<Value, Value>> outputs = matchOutputs(func);
  if (failed(outputs) || failed(matchStates(func, *outputs)))
    return failure();
  IRRewriter rewriter(func.getContext());
  for (te::ExternOp op : externs)
    for (auto [init, result] : llvm::zip(op.getDpsInitsMutable(), op.getResults())) {
      Value output = outputs->lookup(result);
      Operation *empty = init.get().getDefiningOp<tensor::EmptyOp>();
      if (!output)
        continue;
      init.set(output);
      if (empty && empty->use_empty())
        rewriter.eraseOp(empty);
    }
  for (te::ComputeOp compute : computes) {
    auto destinations =
        llvm::map_to_vector(compute.getResults(), [&](Value result) { return outputs->lookup(result); });
    Converter(rewriter, compute).convert(destinations);
  }
  return success();
}

} // namespace
} // namespace tilewright
