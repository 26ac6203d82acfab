//===- ConvertKernelsToNVVM.cpp - kernels in the LLVM and NVVM dialects ---===//
#include "dialects/Program/Program.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/AddressSpaces.h"
#include "passes/ArchitectureOption.h"
#include "passes/gpu-to-nvvm/KernelABI.h"
#include "passes/gpu-to-nvvm/MatrixPatterns.h"
#include "passes/gpu-to-nvvm/Passes.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"
#include "passes/narrow-types/IndexWidths.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTKERNELSTONVVM
#include "passes/gpu-to-nvvm/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

/// How far LLVM goes with a module. Where threads hold more than 64 sums each of a product of warpgroups, it numbers
/// all values once more at -O3, and kernels are as fast without; where they save them too, in stream-K, it looks for
/// other accesses of each at -O2, for a fifth of the time to compile. Of smaller tiles a step takes as long as its
/// copies to be begun; ptxas writes two steps of these out as -O3 leaves them, which is 3 % of 64 x 32 tiles.
static int getOptLevel(gpu::GPUModuleOp module) {
  bool isWide = false, saves = false;
  module.walk([&](Operation *op) {
    if (auto product = dyn_cast<tilewright::tile::WgmmaOp>(op))
      isWide |= product.getResult().getType().getColumns() > 128;
    saves |= isa<tilewright::tile::ArriveOp>(op); // for the others, that parts of sums are there
  });
  return !isWide ? 3 : saves ? 1 : 2;
}

/// Moves a thread's own buffers to the top of the kernel. LLVM promotes to registers only what the entry block
/// allocates, and takes any other for a stack that grows at run time.
static void hoistAllocas(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  kernel.walk([&](memref::AllocaOp alloca) {
    if (alloca->getBlock() != &entry && alloca.getDynamicSizes().empty())
      alloca->moveBefore(&entry, entry.begin());
  });
}

namespace tilewright {
namespace {

/// 2^x of f32 that may be approximate (`afn`): subnormal numbers may count as 0.
struct ConvertApproximateExp2 : ConvertOpToLLVMPattern<math::Exp2Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "not an approximate one of f32");
    Location loc = op.getLoc();
    auto exp2 = [&](Value x) -> Value {
      return LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getF32Type(),
                                           rewriter.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), x)
          .getResults();
    };
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOp(op, exp2(adaptor.getOperand()));
      return success();
    }
    if (vector.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "not of one dimension");
    Value result = LLVM::PoisonOp::create(rewriter, loc, vector);
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      Value lane = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(i));
      Value x = LLVM::ExtractElementOp::create(rewriter, loc, adaptor.getOperand(), lane);
      result = LLVM::InsertElementOp::create(rewriter, loc, result, exp2(x), lane);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// PTX's prefetch, to the cache of level 2: that of level 1 is an SM's own, and small.
struct ConvertPrefetch : ConvertOpToLLVMPattern<memref::PrefetchOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::PrefetchOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value address =
        getStridedElementPtr(rewriter, op.getLoc(), op.getMemRefType(), adaptor.getMemref(), adaptor.getIndices());
    auto level = NVVM::PrefetchCacheLevelAttr::get(rewriter.getContext(), NVVM::PrefetchCacheLevel::L2);
    rewriter.replaceOpWithNewOp<NVVM::PrefetchOp>(op, level, /*evictPriority=*/nullptr, address, /*predicate=*/Value(),
                                                  /*tensormap=*/nullptr, /*uniform=*/nullptr,
                                                  /*in_param_space=*/nullptr);
    return success();
  }
};

/// What a GPU without wgmma, or without TMA, has no other way for.
LogicalResult checkTileOp(Operation *op, const Architecture &architecture) {
  if (architecture.hasWgmma())
    return success();
  auto matmul = dyn_cast<tile::WgmmaOp>(op);
  Type element = matmul ? tile::getOperandElement(matmul.getA().getType()) : Type();
  bool isServed = !matmul || tile::areMultipliedByWarps(element, matmul.getResult().getType().getElementType());
  auto load = dyn_cast<tile::TMALoadOp>(op);
  bool isShared = load && load.getMulticast();
  if (!architecture.hasMmaSync() || !isServed || isShared || isa<tile::RolesOp>(op))
    return op->emitOpError("expected architecture ") << kWgmmaArchitecture << ", got " << architecture.name;
  if (!architecture.hasTMA() && isa<tile::TMAStoreOp, tile::StoreFragmentOp>(op))
    return op->emitOpError("expected architecture ") << Architecture::kHopper << " or later, got " << architecture.name;
  return success();
}

struct ConvertKernelsToNVVM : impl::ConvertKernelsToNVVMBase<ConvertKernelsToNVVM> {
  using ConvertKernelsToNVVMBase::ConvertKernelsToNVVMBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    const Architecture *architecture = findArchitectureOption(module, arch);
    if (!architecture)
      return signalPassFailure();

    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      for (auto [name, what, isThere] :
           {std::tuple(kDependent, "dependent launches", architecture->hasDependentLaunches()),
            std::tuple(kCluster, "clusters of blocks", architecture->hasClusters())})
        if (auto launch = kernel->getAttrOfType<DictionaryAttr>(kLaunchAttr);
            launch && launch.contains(name) && !isThere) {
          kernel.emitError("expected ") << Architecture::kHopper << " or later for " << what << ", got " << arch;
          return signalPassFailure();
        }

    WalkResult walked = module.walk([&](Operation *op) -> WalkResult {
      if (isa<tile::TileDialect>(op->getDialect()) && failed(checkTileOp(op, *architecture)))
        return WalkResult::interrupt();
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
        if (auto memref = dyn_cast<MemRefType>(type); memref && memref.getElementType().isInteger(1))
          return op->emitOpError("expected bools as bytes, got a buffer of type ")
                 << type << ": run store-bools-as-bytes before";
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();

    // Vectors of more than one dimension and lane shuffles that LLVM has no form for go first.
    {
      RewritePatternSet patterns(context);
      vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      vector::populateVectorShapeCastLoweringPatterns(patterns);
      vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
      if (failed(applyPatternsGreedily(module, std::move(patterns))))
        return signalPassFailure();
    }

    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      hoistAllocas(kernel);
    int optLevel = getOptLevel(module);

    unsigned indexBits = getIndexBits(module);
    if (indexBits != 32 && indexBits != 64) {
      module.emitError("expected an index of 32 or 64 bits in the data layout, got ") << indexBits;
      return signalPassFailure();
    }
    module->removeAttr(DLTIDialect::kDataLayoutAttrName); // no index is left
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(indexBits);
    LLVMTypeConverter converter(context, options);
    configureGpuToNVVMTypeConverter(converter);
    // Nothing is left of a token: groups are counted.
    converter.addConversion([](nvgpu::DeviceAsyncTokenType type) { return IntegerType::get(type.getContext(), 32); });
    addTileTypeConversions(converter);

    for (auto kernel : llvm::make_early_inc_range(module.getOps<gpu::GPUFuncOp>())) {
      markHeldTiles(kernel);
      FailureOr<LLVM::LLVMFuncOp> function = lowerKernelSignature(kernel, converter);
      if (failed(function) || failed(markMatmulsByWarps(*function, *architecture)))
        return signalPassFailure();
    }

    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    cf::populateAssertToLLVMConversionPattern(converter, patterns);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    populateGpuWMMAToNVVMConversionPatterns(converter, patterns);
    // Before upstream's patterns for GPUs, which call libdevice even for a square root.
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false, /*benefit=*/2);
    patterns.add<ConvertApproximateExp2>(converter, /*benefit=*/3);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    patterns.add<ConvertPrefetch>(converter, /*benefit=*/2);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    populateNVGPUToNVVMConversionPatterns(converter, patterns);
    populateMatrixPatterns(converter, patterns, /*benefit=*/2);
    populateTileMemoryPatterns(converter, patterns, *architecture);
    populateTileBarrierPatterns(converter, patterns);
    populateWgmmaPatterns(converter, patterns);
    populateMmaSyncPatterns(converter, patterns);
    populateTileMatrixPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    configureGpuToNVVMConversionLegality(target);
    // Upstream forbids these for the sake of libdevice.
    target.addLegalOp<LLVM::CopySignOp, LLVM::Exp2Op, LLVM::FAbsOp, LLVM::FCeilOp, LLVM::FFloorOp, LLVM::FMAOp,
                      LLVM::FTruncOp, LLVM::RoundEvenOp, LLVM::RoundOp, LLVM::SqrtOp>();
    target.addIllegalDialect<memref::MemRefDialect, arith::ArithDialect, math::MathDialect, vector::VectorDialect,
                             nvgpu::NVGPUDialect, tile::TileDialect>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      unmarkMatmulsByWarps(function);

    attachLoopAnnotations(module);

    // Upstream says that an address is its buffer's plus what is not negative. The bases of split-shared-addresses may
    // lie before their buffer or behind it, and what is added to them may be negative.
    module.walk([](LLVM::GEPOp element) {
      auto pointer = dyn_cast<LLVM::LLVMPointerType>(element.getType());
      if (pointer && pointer.getAddressSpace() == getLLVMSpace(NVVM::NVVMMemorySpace::Shared))
        element.setNoWrapFlags(LLVM::GEPNoWrapFlags::none);
    });

    module.setTargetsAttr(ArrayAttr::get(context, NVVM::NVVMTargetAttr::get(context, optLevel, "nvptx64-nvidia-cuda",
                                                                            architecture->name, architecture->ptx)));
  }
};

} // namespace
} // namespace tilewright
