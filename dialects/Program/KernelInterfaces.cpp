//===- KernelInterfaces.cpp - what ops of a kernel do that upstream leaves unsaid ===//
#include "dialects/Program/KernelInterfaces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

#include "dialects/Program/KernelInterfaces.cpp.inc"

namespace tilewright {
namespace {

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

template <typename Op> struct WarpCollectiveModel : KernelOpInterface::ExternalModel<WarpCollectiveModel<Op>, Op> {
  bool isWarpCollective(Operation *) const { return true; }
};

/// Has an effect, but none on memory that the kernel sees.
struct PrintModel : KernelOpInterface::ExternalModel<PrintModel, gpu::PrintfOp> {
  void getKernelEffects(Operation *, Effects &) const {}
};

struct PrefetchModel : KernelOpInterface::ExternalModel<PrefetchModel, memref::PrefetchOp> {
  void getKernelEffects(Operation *, Effects &) const {}
  bool picksElements(Operation *) const { return true; }
};

struct LdMatrixModel : KernelOpInterface::ExternalModel<LdMatrixModel, nvgpu::LdMatrixOp> {
  /// Upstream also says that it reads memory that is not known.
  void getKernelEffects(Operation *op, Effects &effects) const {
    effects.emplace_back(MemoryEffects::Read::get(), &cast<nvgpu::LdMatrixOp>(op).getSrcMemrefMutable());
  }
  bool isWarpCollective(Operation *) const { return true; }
  bool picksElements(Operation *) const { return true; }
};

template <typename Op> struct ElementsModel : KernelOpInterface::ExternalModel<ElementsModel<Op>, Op> {
  bool picksElements(Operation *) const { return true; }
};

template <typename Op> struct TileOrderModel : KernelOpInterface::ExternalModel<TileOrderModel<Op>, Op> {
  bool ordersTiles(Operation *) const { return true; }
};

template <template <typename> typename Model, typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void registerKernelInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    attach<WarpCollectiveModel, gpu::ShuffleOp, gpu::SubgroupReduceOp>(*context);
    gpu::PrintfOp::attachInterface<PrintModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::PrefetchOp::attachInterface<PrefetchModel>(*context);
    attach<ElementsModel, memref::AtomicRMWOp>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *) {
    attach<WarpCollectiveModel, nvgpu::MmaSyncOp>(*context);
    nvgpu::LdMatrixOp::attachInterface<LdMatrixModel>(*context);
    attach<ElementsModel, nvgpu::DeviceAsyncCopyOp>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    attach<TileOrderModel, NVVM::ElectSyncOp, NVVM::BarrierOp, NVVM::BarrierArriveOp, NVVM::ClusterArriveOp,
           NVVM::ClusterArriveRelaxedOp, NVVM::ClusterWaitOp, NVVM::SetMaxRegisterOp, NVVM::FenceMbarrierInitOp,
           NVVM::FenceProxyOp, NVVM::PrefetchOp>(*context);
  });
}

} // namespace tilewright
