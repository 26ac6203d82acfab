//===- MatmulLoops.h - loops that a matrix instruction does --------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_MATMULLOOPS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_MATMULLOOPS_H

#include "dialects/Schedule/MatrixNests.h"
#include "passes/loops-to-gpu/Fragments.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// By buffer: the layout that instructions want of it, and what a lane keeps of it.
using FragmentLayouts = llvm::MapVector<mlir::Value, FragmentLayout>;
using LaneBuffers = llvm::MapVector<mlir::Value, mlir::Value>;

/// Three loops that multiply a tile, one in the other.
struct MatmulLoops {
  mlir::scf::ForOp m, n, k;
  mlir::memref::LoadOp a, b;
  mlir::memref::StoreOp result;
};

/// The loops of `nest` as its marks say them: an error where it has none, or more than one loop over an axis.
mlir::FailureOr<MatmulLoops> readMatmulLoops(mlir::scf::ForOp nest);

/// Whether a value in a nest is computed from the variable of one of its loops.
bool isComputedFrom(mlir::Value value, mlir::scf::ForOp loop);

/// An operand that lies elsewhere is copied to a private buffer just before the matmul. `row` and `col` are the
/// variables of the loops along its tile.
void stageOperand(MatmulLoops &matmul, mlir::memref::LoadOp &load, mlir::Value row, mlir::Value col);

/// The instruction before the loops that it replaces, which are left for the caller to erase.
void emitMatmul(MatmulLoops matmul, FragmentLayouts &layouts, LaneBuffers &laneBuffers, index::IndexSpace &space);

/// An index of what a lane keeps. The loops that count along it are to be unrolled: registers have no addresses.
mlir::Value placeInLane(index::IndexSpace &space, mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr);

} // namespace tilewright

#endif
