//===- ConvertCopiesToAsync.cpp - marked copies become cp.async -----------===//
#include "dialects/Target/Architectures.h"
#include "passes/ArgumentLayouts.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/Passes.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTCOPIESTOASYNC
#include "passes/loops-to-gpu/Passes.h.inc"

/// The buffer with strides of its own that the elements of a vector were loaded from by parts; null if there is none.
static Value getStridedSource(Value value) {
  if (auto choice = value.getDefiningOp<scf::IfOp>())
    value = choice.thenYield().getOperand(cast<OpResult>(value).getResultNumber());
  Value source;
  if (auto elements = value.getDefiningOp<vector::FromElementsOp>()) {
    auto load = elements.getElements().front().getDefiningOp<memref::LoadOp>();
    source = load ? load.getMemRef() : Value();
  } else if (auto insert = value.getDefiningOp<vector::InsertStridedSliceOp>()) {
    auto load = insert.getValueToStore().getDefiningOp<vector::LoadOp>();
    source = load ? load.getBase() : Value();
  }
  return source && !cast<MemRefType>(source.getType()).getLayout().isIdentity() ? source : Value();
}

namespace {
struct ConvertCopiesToAsync : impl::ConvertCopiesToAsyncBase<ConvertCopiesToAsync> {
  using ConvertCopiesToAsyncBase::ConvertCopiesToAsyncBase;

  void runOnOperation() override {
    SmallVector<Operation *> stores;
    getOperation()->walk([&](Operation *op) {
      if (isa<memref::StoreOp, vector::StoreOp>(op) && op->hasAttr(schedule::kAsyncAttr))
        stores.push_back(op);
    });
    for (Operation *op : stores)
      if (failed(convert(op)))
        return signalPassFailure();
  }

  LogicalResult convert(Operation *op) {
    const Architecture *architecture = findArchitecture(arch);
    if (!architecture || !architecture->hasAsyncCopies())
      return op->emitError() << "software_pipeline: expected an architecture from " << Architecture::kAmpere
                             << " on for asynchronous copies, got " << arch.getValue();
    auto store = dyn_cast<memref::StoreOp>(op);
    auto wide = dyn_cast<vector::StoreOp>(op);
    Value value = store ? store.getValue() : wide.getValueToStore();
    Value target = store ? store.getMemRef() : wide.getBase();
    ValueRange to = store ? store.getIndices() : wide.getIndices();
    CopiedElements copied = getCopied(value);
    auto load = dyn_cast_or_null<memref::LoadOp>(copied.load);
    auto wideLoad = dyn_cast_or_null<vector::LoadOp>(copied.load);
    // A load of the first elements, as made by vectorizing what is there of a row.
    auto partLoad = value.getDefiningOp<vector::MaskedLoadOp>();
    auto part = partLoad ? partLoad.getMask().getDefiningOp<vector::CreateMaskOp>() : vector::CreateMaskOp();
    auto vector = dyn_cast<VectorType>(value.getType());
    int64_t elements = vector ? vector.getNumElements() : 1;
    int64_t bytes = elements * getElementBytes(getElementTypeOrSelf(value.getType()));
    bool isLoad = load || wideLoad || part;
    if (!isLoad || (bytes != 4 && bytes != 8 && bytes != 16)) {
      InFlightDiagnostic diag = op->emitError()
                                << "software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only "
                                   "these can be asynchronous, got ";
      if (Value strided = isLoad ? Value() : getStridedSource(value))
        return diag << "elements of several loads of " << getBufferName(strided)
                    << ", of whose strides it is not known that elements lie together and aligned: the last must be 1, "
                       "and te.var has "
                       "divisible_by";
      if (!isLoad)
        return diag
               << "elements of several loads: vectorize an axis along which they lie together, by at most 16 bytes";
      return diag << bytes << ": vectorize the stage that copies";
    }
    Value source = load ? load.getMemRef() : wideLoad ? wideLoad.getBase() : partLoad.getBase();
    ValueRange from = load ? load.getIndices() : wideLoad ? wideLoad.getIndices() : partLoad.getIndices();
    if (!hasUnitRows(cast<MemRefType>(source.getType())))
      return op->emitError() << "software_pipeline: expected to copy from rows of elements that lie side by side, got "
                             << getBufferName(source) << ", whose last stride is not 1";
    OpBuilder builder(op);
    // What is read once does not belong into the first cache; only whole lines of 16 bytes can pass it by.
    UnitAttr bypass = bytes == 16 ? builder.getUnitAttr() : nullptr;
    Value copiedElements = part ? part.getOperands().front() : Value();
    if (copied.choice) {
      // Of what is not there nothing is read, and zeros are written. The address is computed all the same.
      for (Operation &inner : llvm::make_early_inc_range(copied.choice.thenBlock()->without_terminator()))
        if (&inner != copied.load && isPure(&inner))
          inner.moveBefore(copied.choice);
      Value all = arith::ConstantIndexOp::create(builder, op->getLoc(), elements);
      Value none = arith::ConstantIndexOp::create(builder, op->getLoc(), 0);
      copiedElements = arith::SelectOp::create(builder, op->getLoc(), copied.choice.getCondition(), all, none);
    }
    nvgpu::DeviceAsyncCopyOp::create(builder, op->getLoc(), nvgpu::DeviceAsyncTokenType::get(&getContext()), target, to,
                                     source, from, builder.getIndexAttr(elements), copiedElements, bypass);
    op->erase();
    Operation *choice = copied.choice ? copied.choice.getOperation() : part ? partLoad : copied.load;
    if (choice->use_empty())
      choice->erase();
    return success();
  }
};
} // namespace
} // namespace tilewright
