//===- UnrolledLoops.h - what loops say of being unrolled -----------------===//
#ifndef TILEWRIGHT_PASSES_GPUTONVVM_UNROLLEDLOOPS_H
#define TILEWRIGHT_PASSES_GPUTONVVM_UNROLLEDLOOPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright {

inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// What a loop says to LLVM: that it is to be unrolled, or that it is to stay one.
inline mlir::LLVM::LoopAnnotationAttr getUnrollAnnotation(mlir::MLIRContext *context, bool isWrittenOut) {
  mlir::BoolAttr yes = mlir::BoolAttr::get(context, true), none;
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(context, /*disable=*/isWrittenOut ? none : yes, /*count=*/nullptr,
                                                /*runtimeDisable=*/nullptr, /*full=*/isWrittenOut ? yes : none,
                                                /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
                                                /*followupAll=*/nullptr);
  return mlir::LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// So many iterations of the loop are one.
inline mlir::LLVM::LoopAnnotationAttr getJoinedAnnotation(mlir::MLIRContext *context, int32_t count) {
  auto number = mlir::IntegerAttr::get(mlir::IntegerType::get(context, 32), count);
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(context, nullptr, number, nullptr, nullptr, nullptr, nullptr, nullptr);
  return mlir::LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// Upstream carries what a loop says along as an attribute of its own, which LLVM is not told: it is one of the branch.
inline void attachLoopAnnotations(mlir::Operation *root) {
  root->walk([](mlir::LLVM::BrOp branch) {
    if (auto annotation =
            llvm::dyn_cast_or_null<mlir::LLVM::LoopAnnotationAttr>(branch->removeDiscardableAttr(kLoopAnnotationAttr)))
      branch.setLoopAnnotationAttr(annotation);
  });
}

/// Whether `annotate-unrolled-loops` has said that the loop is to be unrolled.
inline bool isToBeWrittenOut(mlir::scf::ForOp loop) {
  auto annotation = loop->getAttrOfType<mlir::LLVM::LoopAnnotationAttr>(kLoopAnnotationAttr);
  return annotation && annotation.getUnroll() && annotation.getUnroll().getFull();
}

} // namespace tilewright

#endif
