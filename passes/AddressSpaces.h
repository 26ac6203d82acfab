//===- AddressSpaces.h - shared and private memory ------------------------===//
#ifndef TILEWRIGHT_PASSES_ADDRESSSPACES_H
#define TILEWRIGHT_PASSES_ADDRESSSPACES_H

#include "passes/PassSupport.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tilewright {

inline bool isInAddressSpace(mlir::Type buffer, mlir::gpu::AddressSpace wanted) {
  auto type = mlir::dyn_cast<mlir::BaseMemRefType>(buffer);
  auto space = type ? mlir::dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(type.getMemorySpace()) : nullptr;
  return space && space.getValue() == wanted;
}

/// Memory that a block shares.
inline bool isSharedMemory(mlir::Type buffer) { return isInAddressSpace(buffer, mlir::gpu::AddressSpace::Workgroup); }

/// Memory of a thread's own.
inline bool isPrivateMemory(mlir::Type buffer) { return isInAddressSpace(buffer, mlir::gpu::AddressSpace::Private); }

/// The number that LLVM has for an address space of PTX.
inline unsigned getLLVMSpace(mlir::NVVM::NVVMMemorySpace space) { return static_cast<unsigned>(space); }

/// A buffer of a thread's own, for elements of the stage of this name, which may be null.
inline mlir::memref::AllocaOp createPrivateBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                                                  llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                                  mlir::Attribute stage) {
  auto space = mlir::gpu::AddressSpaceAttr::get(builder.getContext(), mlir::gpu::AddressSpace::Private);
  auto type = mlir::MemRefType::get(shape, element, mlir::MemRefLayoutAttrInterface(), space);
  auto buffer = mlir::memref::AllocaOp::create(builder, loc, type);
  if (stage)
    buffer->setAttr(te::kStageAttr, stage);
  return buffer;
}

} // namespace tilewright

#endif
