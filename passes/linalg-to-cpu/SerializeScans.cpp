//===- SerializeScans.cpp - scans as loops over rows ----------------------===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SERIALIZESCANS
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

/// Serializes one scan.
class Serializer {
public:
  Serializer(IRRewriter &rewriter, linalg::GenericOp scan) : rewriter(rewriter), loc(scan.getLoc()), scan(scan) {}

  void serialize();

private:
  /// The sizes of a row of a result: one step of the first axis.
  SmallVector<OpFoldResult> getRowSizes(Value state);
  /// The op for one step, on the rows of `states`; `step` is the value of the first axis.
  linalg::GenericOp createStep(ValueRange rows, ValueRange states, Value step);
  Value index(OpBuilder &builder, unsigned axis, Value step);
  Value createCopy(Value source, Value destination);

  IRRewriter &rewriter;
  Location loc;
  linalg::GenericOp scan;
};

SmallVector<OpFoldResult> Serializer::getRowSizes(Value state) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, state);
  sizes[0] = rewriter.getIndexAttr(1);
  return sizes;
}

Value Serializer::index(OpBuilder &builder, unsigned axis, Value step) {
  return axis == 0 ? step : linalg::IndexOp::create(builder, loc, axis).getResult();
}

linalg::GenericOp Serializer::createStep(ValueRange rows, ValueRange states, Value step) {
  unsigned numAxes = scan.getNumLoops();
  SmallVector<AffineMap> maps(rows.size(), rewriter.getMultiDimIdentityMap(numAxes));
  SmallVector<utils::IteratorType> iterators(numAxes, utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      rewriter, loc, rows.getTypes(), ValueRange(), rows, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange) {
        IRMapping mapping;
        // What was read by maps is read at the indices that they give.
        for (OpOperand *operand : scan.getDpsInputOperands()) {
          BlockArgument element = scan.getMatchingBlockArgument(operand);
          if (element.use_empty())
            continue;
          SmallVector<OpFoldResult> axes;
          for (unsigned axis = 0; axis < numAxes; ++axis)
            axes.push_back(index(builder, axis, step));
          AffineMap map = scan.getMatchingIndexingMap(operand);
          SmallVector<Value> indices;
          for (unsigned i = 0; i < map.getNumResults(); ++i)
            indices.push_back(getValueOrCreateConstantIndexOp(
                builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, map.getSubMap({i}), axes)));
          mapping.map(element, tensor::ExtractOp::create(builder, loc, operand->get(), indices));
        }
        for (auto [init, state] : llvm::zip(scan.getDpsInits(), states))
          mapping.map(init, state);
        for (Operation &op : scan.getBody()->without_terminator())
          builder.clone(op, mapping);
        SmallVector<Value> yielded;
        for (Value value : scan.getBody()->getTerminator()->getOperands())
          yielded.push_back(mapping.lookupOrDefault(value));
        linalg::YieldOp::create(builder, loc, yielded);
      });
  // A row has one iteration of the first axis, which stands for `step`.
  SmallVector<linalg::IndexOp> first;
  made.walk([&](linalg::IndexOp op) {
    if (op.getDim() == 0)
      first.push_back(op);
  });
  for (linalg::IndexOp op : first)
    rewriter.replaceOp(op, step);
  return made;
}

Value Serializer::createCopy(Value source, Value destination) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      rewriter, loc, destination.getType(), source, destination, maps, iterators,
      [](OpBuilder &builder, Location loc, ValueRange args) { linalg::YieldOp::create(builder, loc, args[0]); });
  return copy.getResult(0);
}

void Serializer::serialize() {
  rewriter.setInsertionPoint(scan);
  SmallVector<Value> carried(scan.getDpsInits());
  size_t numStates = carried.size();
  // A row is computed beside the state that it reads, so that the state is changed in place when it becomes a buffer.
  for (size_t i = 0; i < numStates; ++i)
    carried.push_back(tensor::EmptyOp::create(rewriter, loc, getRowSizes(carried[i]),
                                              cast<RankedTensorType>(carried[i].getType()).getElementType()));
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0), one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value extent = getValueOrCreateConstantIndexOp(rewriter, loc, tensor::getMixedSize(rewriter, loc, carried[0], 0));
  auto loop = scf::ForOp::create(rewriter, loc, zero, extent, one, carried);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  ValueRange states = ValueRange(loop.getRegionIterArgs()).take_front(numStates);
  linalg::GenericOp made = createStep(ValueRange(loop.getRegionIterArgs()).drop_front(numStates), states, step);
  SmallVector<Value> next;
  for (auto [row, state] : llvm::zip(made.getResults(), states)) {
    SmallVector<OpFoldResult> sizes = getRowSizes(state);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
        strides(sizes.size(), rewriter.getIndexAttr(1));
    offsets[0] = step;
    auto place = tensor::ExtractSliceOp::create(rewriter, loc, cast<RankedTensorType>(row.getType()), state, offsets,
                                                sizes, strides);
    next.push_back(
        tensor::InsertSliceOp::create(rewriter, loc, createCopy(row, place), state, offsets, sizes, strides));
  }
  llvm::append_range(next, made.getResults());
  scf::YieldOp::create(rewriter, loc, next);
  rewriter.replaceOp(scan, loop.getResults().take_front(numStates));
}

struct SerializeScans : impl::SerializeScansBase<SerializeScans> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> scans;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op->hasAttr(te::kScanAttr))
        scans.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp scan : scans)
      Serializer(rewriter, scan).serialize();
  }
};

} // namespace
} // namespace tilewright
