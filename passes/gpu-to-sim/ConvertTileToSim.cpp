//===- ConvertTileToSim.cpp - tiles as calls of the simulator -------------===//
#include "passes/PassSupport.h"

#include "dialects/Tile/Instructions.h"
#include "passes/gpu-to-sim/AsynchronousOps.h"
#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/tile-to-nvvm/TilePatterns.h"
#include "runtime/sim/ABI.h"

#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTILETOSIM
#include "passes/gpu-to-sim/Passes.h.inc"

namespace {

static_assert(
    int(tile::Element::F16) == int(sim::Element::F16) && int(tile::Element::BF16) == int(sim::Element::BF16) &&
        int(tile::Element::TF32) == int(sim::Element::TF32) && int(tile::Element::E4M3) == int(sim::Element::E4M3) &&
        int(tile::Element::E5M2) == int(sim::Element::E5M2) && int(tile::Element::S8) == int(sim::Element::S8) &&
        int(tile::Element::F32) == int(sim::Element::F32) && int(tile::Element::S32) == int(sim::Element::S32),
    "the run time numbers the types of matmuls as the dialect does");

/// A matmul with the descriptors that its instructions have on a GPU. Its sums stay with the run time.
struct SimulateWgmma : ConvertOpToLLVMPattern<tile::WgmmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    tile::AccumulatorType result = op.getResult().getType();
    auto [instruction, left, right, extent] = WgmmaOperands(rewriter, op, adaptor);
    sim::RuntimeCalls calls(rewriter, op->getParentOfType<LLVM::LLVMFuncOp>(), loc);
    SmallVector<Value> descriptors;
    for (int64_t k = 0; k < extent; k += instruction->k)
      descriptors.append({left ? left->at(k) : calls.i64(0), right->at(k)});
    SmallVector<Value> words(sim::NumMatmulWords);
    words[sim::MatmulA] = calls.i32(int64_t(instruction->a));
    words[sim::MatmulB] = calls.i32(int64_t(instruction->b));
    words[sim::MatmulAccumulator] = calls.i32(int64_t(instruction->accumulator));
    words[sim::MatmulColumns] = calls.i32(op.countColumns());
    words[sim::MatmulAccumulatorColumns] = calls.i32(result.getColumns());
    words[sim::MatmulMajors] = calls.i32(op.getMnMajorA() | op.getMnMajorB() << 1);
    words[sim::MatmulInstructions] = calls.i32(descriptors.size() / 2);
    Value accumulator = adaptor.getAccumulator() ? adaptor.getAccumulator() : calls.i64(0);
    SmallVector<Value> operands = {calls.state(), calls.site("wgmma"), accumulator, calls.spill(words),
                                   calls.spill(descriptors)};
    if (!left)
      operands.push_back(calls.spill(adaptor.getA()));
    rewriter.replaceOp(op, calls.create(left ? sim::beginMatmulFunction : sim::beginRegisterMatmulFunction, operands,
                                        rewriter.getI64Type()));
    return success();
  }
};

/// The run time gets what all threads hold.
struct SimulateToAccumulator : ConvertOpToLLVMPattern<tile::ToAccumulatorOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ToAccumulatorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    sim::RuntimeCalls calls(rewriter, op->getParentOfType<LLVM::LLVMFuncOp>(), op.getLoc());
    tile::AccumulatorType result = op.getAccumulator().getType();
    SmallVector<Value> words(sim::NumMatmulWords, calls.i32(0));
    words[sim::MatmulAccumulator] = calls.i32(int64_t(*tile::findElement(result.getElementType())));
    words[sim::MatmulColumns] = words[sim::MatmulAccumulatorColumns] = calls.i32(result.getColumns());
    rewriter.replaceOp(op, calls.create(sim::beginAccumulatorFunction,
                                        {calls.state(), calls.site("to_accumulator"), calls.spill(words),
                                         calls.spill(adaptor.getFragment())},
                                        rewriter.getI64Type()));
    return success();
  }
};

struct SimulatePack : ConvertOpToLLVMPattern<tile::PackOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::PackOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    sim::RuntimeCalls calls(rewriter, op->getParentOfType<LLVM::LLVMFuncOp>(), op.getLoc());
    auto registers = cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(op.getResult().getType()));
    Value slot = calls.slot(4 * registers.getBody().size());
    calls.create(sim::packFunction, {calls.spill(adaptor.getFragment()), slot, calls.i32(registers.getBody().size())});
    rewriter.replaceOp(op, LLVM::LoadOp::create(rewriter, op.getLoc(), registers, slot));
    return success();
  }
};

/// The run time has none for what is not begun.
struct SimulateZero : ConvertOpToLLVMPattern<tile::ZeroOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ZeroOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, rewriter.getI64Type(), 0);
    return success();
  }
};

struct SimulateWgmmaWait : ConvertOpToLLVMPattern<tile::WgmmaWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    sim::RuntimeCalls calls(rewriter, op->getParentOfType<LLVM::LLVMFuncOp>(), op.getLoc());
    calls.create(sim::waitMatmulsFunction, {calls.state(), calls.i32(op.getPending())});
    if (!op.getFragment()) {
      rewriter.eraseOp(op);
      return success();
    }
    Type registers = getTypeConverter()->convertType(op.getFragment().getType());
    Value slot = calls.slot(DataLayout::closest(op).getTypeSize(registers));
    calls.create(sim::readAccumulatorFunction,
                 {calls.state(), calls.site("wgmma_wait"), adaptor.getAccumulator(), slot});
    rewriter.replaceOp(op, LLVM::LoadOp::create(rewriter, op.getLoc(), registers, slot));
    return success();
  }
};

/// The run time counts, in the counter's place.
struct SimulateArrive : ConvertOpToLLVMPattern<tile::ArriveOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ArriveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    sim::RuntimeCalls calls(rewriter, op->getParentOfType<LLVM::LLVMFuncOp>(), loc);
    Value place =
        getStridedElementPtr(rewriter, loc, op.getCounters().getType(), adaptor.getCounters(), adaptor.getIndex());
    Value address = LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI64Type(), place);
    Value parts = LLVM::TruncOp::create(rewriter, loc, rewriter.getI32Type(), adaptor.getParts());
    Value last = calls.create(sim::countArrivalFunction,
                              {calls.state(), calls.site("arrive"), address, parts, calls.i32(op.getIfLast())},
                              rewriter.getI32Type());
    rewriter.replaceOp(op, LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::ne, last, calls.i32(0)));
    return success();
  }
};

struct ConvertTileToSim : impl::ConvertTileToSimBase<ConvertTileToSim> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    // The run time is handed the state that a kernel is called with.
    WalkResult outside = module.walk([](Operation *op) {
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (!isa_and_present<tile::TileDialect>(op->getDialect()) ||
          (function && function->hasAttr(kSimKernelAttr) && function.getNumArguments() && !function.isExternal()))
        return WalkResult::advance();
      op->emitOpError() << "expected to be in a kernel as convert-gpu-to-sim makes it, got it elsewhere";
      return WalkResult::interrupt();
    });
    if (outside.wasInterrupted())
      return signalPassFailure();
    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    addTileTypeConversions(converter);
    converter.addConversion([](tile::AccumulatorType type) { return IntegerType::get(type.getContext(), 64); });

    RewritePatternSet patterns(context);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    cf::populateAssertToLLVMConversionPattern(converter, patterns);
    // Whatever the architecture, tiles are copied by maps and multiplied by warpgroups here.
    populateTileMemoryPatterns(converter, patterns, *findArchitecture(kWgmmaArchitecture));
    populateWgmmaGroupPatterns(converter, patterns);
    populateTileBarrierPatterns(converter, patterns);
    populateTileMatrixPatterns(converter, patterns);
    patterns.add<SimulateWgmma, SimulateZero, SimulateToAccumulator, SimulatePack, SimulateWgmmaWait, SimulateArrive>(
        converter, /*benefit=*/2);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<ModuleOp>();
    target.addIllegalDialect<tile::TileDialect, cf::ControlFlowDialect, func::FuncDialect>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();

    for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
      if (function->hasAttr(kSimKernelAttr) && failed(sim::convertAsynchronousOps(function)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
