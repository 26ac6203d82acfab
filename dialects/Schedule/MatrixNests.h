//===- MatrixNests.h - loops that a matrix instruction takes the place of --===//
//
// `schedule.instruction` names the instruction. `schedule.matrix_axis` on the loops and `schedule.operand` on the loads
// and the store say what the loops multiply. `apply-schedule` leaves these with what it has proven of a tensorized
// tile; the dialect's verifier holds the loops to them, so that a pass which makes the instruction only reads them.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_MATRIXNESTS_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_MATRIXNESTS_H

#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::schedule {

/// Loops one in the other around `accumulator[m, n] = accumulator[m, n] + a[m, k] * b[n, k]`. A and B may be extended
/// to the accumulator's type. An axis may be several loops.
struct MatrixNest {
  llvm::SmallVector<mlir::scf::ForOp> loops; // outermost first, of constant extents from 0 by 1
  mlir::memref::LoadOp accumulator, a, b;
  mlir::memref::StoreOp store;

  /// The loops over an axis, outermost first.
  llvm::SmallVector<mlir::scf::ForOp> getLoops(MatrixAxis axis) const;
};

/// What the marks of a nest with `schedule.instruction` say. An error where the nest has no marks; marks that the nest
/// does not follow are errors of the verifier.
mlir::FailureOr<MatrixNest> readMatrixNest(mlir::scf::ForOp nest);

/// Marks the loops and accesses of a nest whose accumulator is `accumulator`: of other buffers, that which the
/// outermost loop moves along is A.
void markMatrixNest(mlir::scf::ForOp nest, mlir::Value accumulator);

/// Verifies that a nest has no marks, or is what its marks and `instruction` say.
mlir::LogicalResult verifyMatrixNest(mlir::scf::ForOp nest, InstructionAttr instruction);

} // namespace tilewright::schedule

#endif
