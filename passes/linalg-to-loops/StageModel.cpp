//===- StageModel.cpp - collects stages and applies loop primitives -------===//
#include "passes/linalg-to-loops/StageModel.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

bool ScheduledStage::isOutput() const {
  return llvm::any_of(getOperation()->getUsers(), llvm::IsaPred<func::ReturnOp>);
}

bool isThread(schedule::ThreadTag tag) { return tag >= schedule::ThreadTag::ThreadIdxX; }

SmallVector<std::pair<func::FuncOp, schedule::OfOp>> getScheduledFunctions(ModuleOp module, bool onProcessor) {
  SmallVector<std::pair<func::FuncOp, schedule::OfOp>> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    // Functions that hold no tensor expressions are not ours.
    if (llvm::none_of(function.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
      continue;
    schedule::OfOp schedule;
    for (auto of : module.getOps<schedule::OfOp>())
      if (of.getFunction() == function.getName())
        schedule = of;
    if (!onProcessor || schedule || hasScanOfStages(function))
      functions.push_back({function, schedule});
  }
  return functions;
}

Attribute getMemorySpace(MLIRContext *context, schedule::Scope scope) {
  switch (scope) {
  case schedule::Scope::Global:
    return nullptr;
  case schedule::Scope::Shared:
  case schedule::Scope::Warp:
    return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  case schedule::Scope::Local:
    return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Private);
  }
  llvm_unreachable("every scope has a memory space");
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

AffineExpr StageModel::getSymbol(const Symbol &symbol) {
  for (auto [i, known] : llvm::enumerate(symbols))
    if ((!symbol.name.empty() && known.name == symbol.name) ||
        (symbol.name.empty() && known.argument == symbol.argument && known.dimension == symbol.dimension &&
         known.value == symbol.value))
      return getAffineSymbolExpr(i, function.getContext());
  symbols.push_back(symbol);
  return getAffineSymbolExpr(symbols.size() - 1, function.getContext());
}

/// The dynamic extents of a tensor whose elements nothing has computed yet, or of a scan's state. Nothing for others.
static std::optional<ValueRange> getSizes(Operation *op) {
  using Found = std::optional<ValueRange>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case<tensor::EmptyOp, bufferization::AllocTensorOp>([](auto tensor) { return tensor.getDynamicSizes(); })
      .Case<te::StateOp>([](te::StateOp state) { return state.getSizes(); })
      .Default(Found());
}

/// Whether an extent is known by what defines the tensor. A dimension that the tensor has not is nobody's.
static bool hasExtent(Value tensor, int64_t dimension) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dimension < 0 || dimension >= type.getRank())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  if (tensor.getDefiningOp() && getSizes(tensor.getDefiningOp()))
    return true;
  auto op = tensor.getDefiningOp<DestinationStyleOpInterface>();
  return op && hasExtent(op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], dimension);
}

AffineExpr StageModel::getExpr(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), function.getContext());
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (auto position = dim.getConstantIndex(); position && hasExtent(dim.getSource(), *position))
      return findExtent(dim.getSource(), *position);
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>()) {
    SmallVector<AffineExpr> dims, syms;
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands()))
      (i < apply.getAffineMap().getNumDims() ? dims : syms).push_back(getExpr(operand));
    return simplify(apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, syms));
  }
  Symbol symbol;
  symbol.value = index;
  return getSymbol(symbol);
}

AffineExpr StageModel::findExtent(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return getAffineConstantExpr(type.getDimSize(dimension), function.getContext());
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    Symbol symbol;
    symbol.argument = argument;
    symbol.dimension = dimension;
    if (auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), te::kSymbolsAttr))
      if (auto name = dimension < int64_t(names.size()) ? dyn_cast<StringAttr>(names[dimension]) : nullptr)
        symbol.name = name.str();
    // An extent that is a multiple is one of a smaller symbol, so that quotients of it are exact.
    if (auto units = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), te::kDivisibleByAttr))
      symbol.unit = dimension < int64_t(units.size()) ? std::max<int64_t>(units[dimension], 1) : 1;
    // Where arguments say different things of one symbol, what the first says counts.
    AffineExpr known = getSymbol(symbol);
    return known * symbols[cast<AffineSymbolExpr>(known).getPosition()].unit;
  }
  if (auto sizes = getSizes(tensor.getDefiningOp()))
    return getExpr((*sizes)[type.getDynamicDimIndex(dimension)]);
  if (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    return findExtent(op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], dimension);
  llvm_unreachable("collect() has checked what defines tensors");
}

void StageModel::collectExtents() {
  auto add = [&](Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || extents.contains(tensor))
      return;
    SmallVector<AffineExpr> found;
    for (int64_t d = 0; d < type.getRank(); ++d)
      found.push_back(findExtent(tensor, d));
    extents.try_emplace(tensor, found);
  };
  llvm::for_each(function.getArguments(), add);
  for (auto &stage : stages) {
    for (const Access &access : getReads(*stage))
      add(access.tensor);
    for (Value init : cast<DestinationStyleOpInterface>(stage->getOperation()).getDpsInits())
      add(init);
  }
}

Axis *StageModel::createAxis(std::string name, ScheduledStage *stage, Location loc, bool isReduce) {
  axes.push_back(std::make_unique<Axis>(std::move(name), stage, loc, isReduce));
  return axes.back().get();
}

FailureOr<StageModel> StageModel::resolve(func::FuncOp function, schedule::OfOp of) {
  StageModel model(function);
  if (failed(model.collect()) || failed(model.apply(of)))
    return failure();
  model.collectExtents();
  return std::move(model);
}

LogicalResult StageModel::collect() {
  for (Operation &op : function.getBody().front()) {
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      auto type = cast<ShapedType>(dim.getSource().getType());
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!type.hasRank() || !dimension || *dimension < 0 || *dimension >= type.getRank())
        return op.emitOpError() << "expected a constant dimension that the tensor has, got that of " << type;
      continue;
    }
    if (isa<linalg::FillOp>(op) || getSizes(&op) || llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      continue;
    if (auto externOp = dyn_cast<te::ExternOp>(op)) {
      stages.push_back(std::make_unique<ScheduledStage>());
      stages.back()->name = externOp.getName().str();
      stages.back()->externOp = externOp;
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto name = op.getAttrOfType<StringAttr>(te::kStageAttr);
    auto axisNames = op.getAttrOfType<ArrayAttr>(te::kAxesAttr);
    if (!generic || !name || !axisNames)
      return op.emitError() << "expected te.extern, or linalg.generic with '" << te::kStageAttr << "' and '"
                            << te::kAxesAttr << "', the names of its axes, got " << op.getName();
    stages.push_back(std::make_unique<ScheduledStage>());
    ScheduledStage &stage = *stages.back();
    stage.name = name.str();
    stage.op = generic;
    for (auto [i, type] : llvm::enumerate(generic.getIteratorTypesArray())) {
      bool isOrdered = i == 0 && op.hasAttr(te::kScanAttr);
      bool isReduce = type == utils::IteratorType::reduction && !isOrdered;
      if (!isReduce && stage.numSpatial != i)
        return op.emitError() << "stage '" << stage.name << "': expected spatial axes before reduction axes";
      stage.numSpatial += !isReduce;
      Axis *axis = createAxis(cast<StringAttr>(axisNames[i]).str(), &stage, generic.getLoc(), isReduce);
      axis->isOrdered = isOrdered;
      for (OpOperand &operand : generic->getOpOperands()) {
        auto results = generic.getMatchingIndexingMap(&operand).getResults();
        auto found = llvm::find(results, getAffineDimExpr(i, op.getContext()));
        if (found != results.end() && !axis->wholeExtent)
          axis->wholeExtent = findExtent(operand.get(), found - results.begin());
      }
      if (!isReduce && axis->wholeExtent == getAffineConstantExpr(0, op.getContext())) {
        stage.isEmpty = true;
        axis->wholeExtent = getAffineConstantExpr(1, op.getContext());
      }
      stage.roots.push_back(axis);
      stage.loops.push_back(axis);
    }
  }
  return success();
}

/// The stage of a list for which a condition holds, or null.
template <typename Stages, typename Condition> static auto *findStage(Stages &stages, Condition holds) {
  auto found = llvm::find_if(stages, [&](auto &stage) { return holds(*stage); });
  return found == stages.end() ? nullptr : found->get();
}

const ScheduledStage *StageModel::getStage(StringRef name) const {
  return findStage(stages, [&](const ScheduledStage &stage) { return stage.name == name; });
}
ScheduledStage *StageModel::getStage(StringRef name) {
  return findStage(stages, [&](const ScheduledStage &stage) { return stage.name == name; });
}

const ScheduledStage *StageModel::getProducer(Value tensor) const {
  return findStage(stages, [&](const ScheduledStage &stage) { return stage.getOperation() == tensor.getDefiningOp(); });
}
ScheduledStage *StageModel::getProducer(Value tensor) {
  return findStage(stages, [&](const ScheduledStage &stage) { return stage.getOperation() == tensor.getDefiningOp(); });
}

static bool isScanInto(const ScheduledStage &stage, Value tensor) {
  auto op = dyn_cast_or_null<linalg::GenericOp>(stage.getOperation());
  return op && stage.getOrdered() && llvm::is_contained(op.getDpsInits(), tensor);
}

const ScheduledStage *StageModel::getScanInto(Value tensor) const {
  return findStage(stages, [&](const ScheduledStage &stage) { return isScanInto(stage, tensor); });
}
ScheduledStage *StageModel::getScanInto(Value tensor) {
  return findStage(stages, [&](const ScheduledStage &stage) { return isScanInto(stage, tensor); });
}
} // namespace tilewright
