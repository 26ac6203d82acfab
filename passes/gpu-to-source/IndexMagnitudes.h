//===- IndexMagnitudes.h - how large indices get --------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_INDEXMAGNITUDES_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_INDEXMAGNITUDES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tilewright::source {

/// The largest magnitude that an index can have, or nothing where it is not known.
class Magnitudes {
public:
  std::optional<llvm::APInt> of(mlir::Value value);

private:
  std::optional<llvm::APInt> compute(mlir::Value value);
  std::optional<llvm::APInt> of(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims);

  llvm::DenseMap<mlir::Value, std::optional<llvm::APInt>> known;
};

} // namespace tilewright::source

#endif
