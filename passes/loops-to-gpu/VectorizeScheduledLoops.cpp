//===- VectorizeScheduledLoops.cpp - marked loops become vectors ----------===//
//
// The loops of a schedule compute element by element, so the body of a vectorized loop is scalar code in one variable.
// Each op becomes its vector twin: a load along the last dimension a vector load, one that does not move a scalar, any
// other a gather of elements. Predicates on the lanes are hoisted first (LanePredicates.cpp). A loop whose iterations
// need each other's results stays a loop (LaneDependences.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/ArgumentAlignment.h"
#include "passes/ArgumentLayouts.h"
#include "passes/index/AccessForm.h"
#include "passes/index/Extents.h"
#include "passes/index/IndexSpace.h"
#include "passes/index/Stride.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/Lanes.h"
#include "passes/loops-to-gpu/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_VECTORIZESCHEDULEDLOOPS
#include "passes/loops-to-gpu/Passes.h.inc"

/// Whether an op loads or stores one element.
static bool accessesElement(Operation *op) {
  auto access = index::getElementAccess(op);
  return access && !isa<VectorType>(access->type);
}

namespace {
/// One loop on its way to vectors.
class LoopVectorizer {
public:
  LoopVectorizer(scf::ForOp loop, int64_t lanes, bool onProcessor = false)
      : loop(loop), lanes(lanes), onProcessor(onProcessor), builder(loop) {}

  /// Whether every op of the body has a vector twin, and the lanes compute what the iterations do. A loop of which that
  /// is not so stays a loop.
  bool canVectorize() {
    return loop.getNumResults() == 0 && canVectorize(*loop.getBody()) && areLanesIndependent(loop, lanes);
  }

  /// The same of a loop of which a part is to become vectors: predicates may differ between parts.
  bool canVectorizeParts() {
    auto result = loop.getBody()->walk([](Operation *op) {
      return op->getNumRegions() == 0 || isa<scf::IfOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  bool canVectorize(Block &block) {
    return llvm::all_of(block.without_terminator(), [&](Operation &op) {
      if (accessesElement(&op) || isa<affine::AffineApplyOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
        return true;
      // What stands in place of elements that are not there, for all lanes or for none. A predicate around nothing of
      // the kind is hoisted instead.
      if (auto choice = dyn_cast<scf::IfOp>(op))
        return loadsFirstLanes(choice) || isSameInAllLanes(choice.getCondition(), loop, lanes) &&
                                              canVectorize(*choice.thenBlock()) &&
                                              (choice.elseBlock() ? canVectorize(*choice.elseBlock())
                                                                  : !choice.thenBlock()->getOps<scf::IfOp>().empty());
      return op.getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(&op) &&
             llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
    });
  }

  /// Whether an asynchronous copy takes what a choice yields: elements that lie together, in the first lanes, and
  /// zeros. The copy reads as many elements as there are.
  bool loadsFirstLanes(scf::IfOp choice) {
    if (onProcessor || choice.getNumResults() != 1 || !choice.getResult(0).hasOneUse() ||
        isSameInAllLanes(choice.getCondition(), loop, lanes) || !holdsInFirstLanes(choice.getCondition(), loop, lanes))
      return false;
    Value result = choice.getResult(0), other = choice.elseYield().getOperand(0);
    auto store = dyn_cast<memref::StoreOp>(*result.getUsers().begin());
    auto load = choice.thenYield().getOperand(0).getDefiningOp<memref::LoadOp>();
    Attribute zero;
    return store && store->hasAttr(schedule::kAsyncAttr) && load && load->getBlock() == choice.thenBlock() &&
           matchPattern(other, m_Constant(&zero)) && zero == builder.getZeroAttr(other.getType()) &&
           getWidth(load.getMemRef(), load.getIndices()) == lanes &&
           getWidth(store.getMemRef(), store.getIndices()) == lanes &&
           llvm::all_of(choice.thenBlock()->without_terminator(),
                        [&](Operation &op) { return &op == load || isa<affine::AffineApplyOp>(op); });
  }

  /// Whether some access gets wider by it. What a GPU's thread keeps for itself is in registers anyway.
  bool isWorthwhile() {
    auto isWider = [&](Value memref, ValueRange indices) {
      return (onProcessor || !isPrivate(memref)) && getWidth(memref, indices) > 1;
    };
    auto result = loop.getBody()->walk([&](Operation *op) {
      auto load = dyn_cast<memref::LoadOp>(op);
      auto store = dyn_cast<memref::StoreOp>(op);
      bool isWide = (load && isWider(load.getMemRef(), load.getIndices())) ||
                    (store && isWider(store.getMemRef(), store.getIndices()));
      return isWide ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  void run() {
    Value zero = arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
    first.map(loop.getInductionVar(), zero);
    visit(*loop.getBody(), /*yields=*/false);
    loop.erase();
  }

private:
  bool varies(Value value) { return value == loop.getInductionVar() || lane.contains(value); }
  /// The value in lane `i` of something that varies.
  Value extract(Value value, int64_t i, Location loc) {
    if (!varies(value))
      return first.lookupOrDefault(value);
    return vector::ExtractOp::create(builder, loc, asVector(value), i);
  }
  Value asVector(Value value) {
    if (value == loop.getInductionVar() && !lane.contains(value)) {
      SmallVector<Attribute> steps;
      for (int64_t i = 0; i < lanes; ++i)
        steps.push_back(builder.getIndexAttr(i));
      auto type = VectorType::get({lanes}, builder.getIndexType());
      lane.map(value,
               arith::ConstantOp::create(builder, loop.getLoc(), DenseElementsAttr::get(type, steps)).getResult());
    }
    if (lane.contains(value))
      return lane.lookup(value);
    Value scalar = first.lookupOrDefault(value);
    return vector::BroadcastOp::create(builder, loop.getLoc(), VectorType::get({lanes}, value.getType()), scalar);
  }

  SmallVector<Value> indicesOfLane(ValueRange indices, int64_t i, Location loc) {
    return llvm::map_to_vector(indices, [&](Value index) { return indexOfLane(index, i, loc); });
  }
  Value indexOfLane(Value index, int64_t i, Location loc) {
    if (index == loop.getInductionVar())
      return arith::ConstantIndexOp::create(builder, loc, i);
    auto apply = index.getDefiningOp<affine::AffineApplyOp>();
    if (apply && loop->isAncestor(apply)) {
      SmallVector<Value> operands = indicesOfLane(apply.getMapOperands(), i, loc);
      return affine::AffineApplyOp::create(builder, loc, apply.getAffineMap(), operands);
    }
    return extract(index, i, loc);
  }

  int64_t getWidth(Value memref, ValueRange indices) {
    return getVectorWidth(memref, indices, loop, lanes, onProcessor);
  }

  /// The buffer and the indices of a vector from lane `i` on. Lanes of several rows are elements of one that has all.
  std::pair<Value, SmallVector<Value>> getVectorPlace(Value memref, ValueRange indices, int64_t i, Location loc) {
    SmallVector<Value> places = indicesOfLane(indices, i, loc);
    if (isAlongRow(indices, loop.getInductionVar()))
      return {memref, places};
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<AffineExpr> dims;
    for (size_t d = 0; d < places.size(); ++d)
      dims.push_back(builder.getAffineDimExpr(d));
    AffineMap map = AffineMap::get(dims.size(), 0, index::getRowMajorPlace(dims, type.getShape()));
    ReassociationIndices all = llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
    Value flat = memref::CollapseShapeOp::create(builder, loc, memref, ArrayRef<ReassociationIndices>(all));
    return {flat, {affine::AffineApplyOp::create(builder, loc, map, places).getResult()}};
  }

  /// What is asked of the address of an access of `width` elements. A thread's own buffers are aligned as needed.
  llvm::MaybeAlign getAlignment(Value memref, int64_t width) {
    if (onProcessor)
      return std::nullopt;
    uint64_t bytes = width * getElementBytes(cast<MemRefType>(memref.getType()).getElementType());
    if (auto alloca = memref.getDefiningOp<memref::AllocaOp>())
      alloca.setAlignment(std::max<uint64_t>(bytes, alloca.getAlignment().value_or(1)));
    return llvm::MaybeAlign(bytes);
  }

  void visitLoad(memref::LoadOp load) {
    Location loc = load.getLoc();
    MemRefType type = load.getMemRefType();
    bool moves = llvm::any_of(load.getIndices(),
                              [&](Value index) { return index::getStride(index, loop.getInductionVar()) != 0; });
    if (!moves) {
      first.map(
          load.getResult(),
          memref::LoadOp::create(builder, loc, load.getMemRef(), indicesOfLane(load.getIndices(), 0, loc)).getResult());
      return;
    }
    int64_t width = getWidth(load.getMemRef(), load.getIndices());
    auto vectorType = VectorType::get({lanes}, type.getElementType());
    if (width == 1) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < lanes; ++i)
        elements.push_back(
            memref::LoadOp::create(builder, loc, load.getMemRef(), indicesOfLane(load.getIndices(), i, loc)));
      lane.map(load.getResult(), vector::FromElementsOp::create(builder, loc, vectorType, elements).getResult());
      return;
    }
    auto partType = VectorType::get({width}, type.getElementType());
    llvm::MaybeAlign align = getAlignment(load.getMemRef(), width);
    Value whole;
    for (int64_t i = 0; i < lanes; i += width) {
      auto [buffer, indices] = getVectorPlace(load.getMemRef(), load.getIndices(), i, loc);
      Value part = vector::LoadOp::create(builder, loc, partType, buffer, indices, /*nontemporal=*/false, align);
      if (width == lanes)
        whole = part;
      else {
        if (!whole)
          whole = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vectorType));
        whole =
            vector::InsertStridedSliceOp::create(builder, loc, part, whole, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
      }
    }
    lane.map(load.getResult(), whole);
  }

  void visitStore(memref::StoreOp store) {
    Location loc = store.getLoc();
    int64_t width = getWidth(store.getMemRef(), store.getIndices());
    if (width == 1) {
      for (int64_t i = 0; i < lanes; ++i)
        memref::StoreOp::create(builder, loc, extract(store.getValueToStore(), i, loc), store.getMemRef(),
                                indicesOfLane(store.getIndices(), i, loc))
            ->setDiscardableAttrs(store->getDiscardableAttrDictionary());
      return;
    }
    llvm::MaybeAlign align = getAlignment(store.getMemRef(), width);
    Value whole = asVector(store.getValueToStore());
    for (int64_t i = 0; i < lanes; i += width) {
      Value part = width == lanes
                       ? whole
                       : vector::ExtractStridedSliceOp::create(builder, loc, whole, ArrayRef<int64_t>{i},
                                                               ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1})
                             .getResult();
      auto [buffer, indices] = getVectorPlace(store.getMemRef(), store.getIndices(), i, loc);
      vector::StoreOp::create(builder, loc, part, buffer, indices, /*nontemporal=*/false, align)
          ->setDiscardableAttrs(store->getDiscardableAttrDictionary());
    }
  }

  /// Makes the vector twins of a block's ops, and of what it yields in each lane.
  void visit(Block &block, bool yields) {
    SmallVector<Operation *> twins;
    for (Operation &op : block.without_terminator())
      if (Operation *twin = visit(op))
        twins.push_back(twin);
    if (yields) {
      auto values =
          llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return asVector(value); });
      scf::YieldOp::create(builder, block.getTerminator()->getLoc(), values);
    }
    // Conditions are decided in the first lane alone.
    for (Operation *twin : llvm::reverse(twins))
      if (isOpTriviallyDead(twin))
        twin->erase();
  }

  /// The value in the first lane of what is computed in the loop.
  Value inFirstLane(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op) || !varies(value) || isa<affine::AffineApplyOp>(op))
      return indexOfLane(value, 0, loop.getLoc());
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, inFirstLane(operand));
    return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// In how many lanes a condition holds that does so in the first ones.
  Value countFirstLanes(Value condition, Location loc) {
    Value all = arith::ConstantIndexOp::create(builder, loc, lanes),
          none = arith::ConstantIndexOp::create(builder, loc, 0);
    if (isSameInAllLanes(condition, loop, lanes))
      return arith::SelectOp::create(builder, loc, inFirstLane(condition), all, none);
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      Value left = countFirstLanes(both.getLhs(), loc), right = countFirstLanes(both.getRhs(), loc);
      return arith::MinSIOp::create(builder, loc, left, right);
    }
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    Value place = inFirstLane(compare.getLhs()), bound = inFirstLane(compare.getRhs());
    Value there = arith::SubIOp::create(builder, loc, bound, place);
    return arith::MaxSIOp::create(builder, loc, none, arith::MinSIOp::create(builder, loc, all, there));
  }

  /// The vector twin of a choice that loads the elements of the first lanes.
  void visitFirstLanes(scf::IfOp choice) {
    Location loc = choice.getLoc();
    auto load = choice.thenYield().getOperand(0).getDefiningOp<memref::LoadOp>();
    auto type = VectorType::get({lanes}, load.getMemRefType().getElementType());
    Value mask = vector::CreateMaskOp::create(builder, loc, VectorType::get({lanes}, builder.getI1Type()),
                                              countFirstLanes(choice.getCondition(), loc));
    Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    auto [buffer, indices] = getVectorPlace(load.getMemRef(), load.getIndices(), 0, loc);
    lane.map(choice.getResult(0), vector::MaskedLoadOp::create(builder, loc, type, buffer, indices, mask, zeros,
                                                               getAlignment(load.getMemRef(), lanes))
                                      .getResult());
  }

  void visitChoice(scf::IfOp choice) {
    if (loadsFirstLanes(choice))
      return visitFirstLanes(choice);
    SmallVector<Type> types =
        llvm::map_to_vector(choice.getResultTypes(), [&](Type type) -> Type { return VectorType::get({lanes}, type); });
    bool hasElse = choice.elseBlock();
    auto made = scf::IfOp::create(builder, choice.getLoc(), types, inFirstLane(choice.getCondition()), hasElse);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [from, to] :
         {std::pair(choice.thenBlock(), made.thenBlock()), std::pair(choice.elseBlock(), made.elseBlock())}) {
      if (!from)
        continue;
      if (!to->empty())
        to->back().erase(); // the yield without values
      builder.setInsertionPointToStart(to);
      visit(*from, /*yields=*/true);
    }
    for (auto [old, result] : llvm::zip(choice.getResults(), made.getResults()))
      lane.map(old, result);
  }

  /// Makes the vector twin of an op; returns it where it may prove to be of no use.
  Operation *visit(Operation &op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return visitLoad(load), nullptr;
    if (auto choice = dyn_cast<scf::IfOp>(op))
      return visitChoice(choice), nullptr;
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return visitStore(store), nullptr;
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      // Only for uses as a value; addresses are computed where they are used.
      if (index::getStride(apply, loop.getInductionVar()) == 0) {
        first.map(apply.getResult(), indexOfLane(apply, 0, op.getLoc()));
        return nullptr;
      }
      bool isValue = llvm::any_of(
          op.getUsers(), [](Operation *user) { return !accessesElement(user) && !isa<affine::AffineApplyOp>(user); });
      if (isValue) {
        SmallVector<Value> elements;
        for (int64_t i = 0; i < lanes; ++i)
          elements.push_back(indexOfLane(apply, i, op.getLoc()));
        auto made = vector::FromElementsOp::create(builder, op.getLoc(),
                                                   VectorType::get({lanes}, builder.getIndexType()), elements);
        lane.map(apply.getResult(), made.getResult());
        return made;
      }
      return nullptr;
    }
    if (llvm::none_of(op.getOperands(), [&](Value operand) { return varies(operand); }))
      return builder.clone(op, first);
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(asVector(operand));
    for (Type type : op.getResultTypes())
      state.addTypes(VectorType::get({lanes}, type));
    state.addAttributes(op.getAttrs());
    Operation *made = builder.create(state);
    for (auto [old, result] : llvm::zip(op.getResults(), made->getResults()))
      lane.map(old, result);
    return made;
  }

  scf::ForOp loop;
  int64_t lanes;
  bool onProcessor;
  OpBuilder builder;
  IRMapping first; // what is the same in all lanes
  IRMapping lane;  // what is not, as vectors
};

struct VectorizeScheduledLoops : impl::VectorizeScheduledLoopsBase<VectorizeScheduledLoops> {
  using Base::Base;

  void runOnOperation() override {
    if (onProcessor && !getOperation()->hasAttr(kScheduledAttr))
      return;
    SmallVector<scf::ForOp> marked, loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kVectorizeAttr))
        marked.push_back(loop);
    });
    for (scf::ForOp loop : marked) {
      auto extent = getConstantIntValue(loop.getUpperBound());
      if (onProcessor) {
        if (!loop.getInitArgs().empty() || getConstantIntValue(loop.getLowerBound()) != 0 ||
            getConstantIntValue(loop.getStep()) != 1)
          loop->removeAttr(schedule::kVectorizeAttr);
        else if (extent && *extent <= kMaxProcessorLanes)
          loops.push_back(loop);
        else if (LoopVectorizer(loop, kMaxProcessorLanes, true).canVectorizeParts())
          splitIntoLanes(loop, loops);
        else
          loop->removeAttr(schedule::kVectorizeAttr);
        continue;
      }
      if (!extent || !llvm::isPowerOf2_64(*extent) || *extent > 16) {
        InFlightDiagnostic diag = loop.emitError() << "vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got ";
        if (extent)
          diag << *extent;
        else
          diag << "one that is symbolic";
        return signalPassFailure();
      }
      if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1) {
        loop.emitError("vectorize: expected a loop from 0 by 1");
        return signalPassFailure();
      }
      loops.push_back(loop);
    }
    for (scf::ForOp loop : loops)
      vectorize(loop, *getConstantIntValue(loop.getUpperBound()));
  }

  void vectorize(scf::ForOp loop, int64_t extent) {
    LoopVectorizer vectorizer(loop, extent, onProcessor);
    // LLVM looks at the loops of a processor again: what has no wide access is left to it.
    if (extent > 1 && vectorizer.canVectorize() && (!onProcessor || vectorizer.isWorthwhile())) {
      vectorizer.run();
      return;
    }
    loop->removeAttr(schedule::kVectorizeAttr);
    LanePredicates predicates(loop, extent);
    if (extent <= 1 || !predicates.canHoist())
      return;
    // The loop as it is when all its predicates hold.
    scf::ForOp unguarded = predicates.createUnguarded();
    LoopVectorizer lanes(unguarded, extent, onProcessor);
    if (lanes.canVectorize() && lanes.isWorthwhile())
      LoopVectorizer(predicates.hoist(unguarded), extent, onProcessor).run();
    else
      unguarded.erase();
  }
};
} // namespace
} // namespace tilewright
