//===- UnrolledLoops.h - what loops say of being written out --------------===//
#ifndef TILEWRIGHT_PASSES_GPUTONVVM_UNROLLEDLOOPS_H
#define TILEWRIGHT_PASSES_GPUTONVVM_UNROLLEDLOOPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright {

inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// What a loop says to LLVM: that it is to be written out, or that it is to stay one.
inline mlir::LLVM::LoopAnnotationAttr getUnrollAnnotation(mlir::MLIRContext *context, bool isWrittenOut) {
  mlir::BoolAttr yes = mlir::BoolAttr::get(context, true), none;
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(context, /*disable=*/isWrittenOut ? none : yes, /*count=*/nullptr,
                                                /*runtimeDisable=*/nullptr, /*full=*/isWrittenOut ? yes : none,
                                                /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
                                                /*followupAll=*/nullptr);
  return mlir::LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// Whether `annotate-unrolled-loops` has said that the loop is to be written out.
inline bool isToBeWrittenOut(mlir::scf::ForOp loop) {
  auto annotation = loop->getAttrOfType<mlir::LLVM::LoopAnnotationAttr>(kLoopAnnotationAttr);
  return annotation && annotation.getUnroll() && annotation.getUnroll().getFull();
}

} // namespace tilewright

#endif
