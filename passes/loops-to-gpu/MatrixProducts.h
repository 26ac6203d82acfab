//===- MatrixProducts.h - loops that a matrix instruction does ------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_MATRIXPRODUCTS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_MATRIXPRODUCTS_H

#include "passes/loops-to-gpu/Fragments.h"
#include "passes/loops-to-gpu/InstructionMarks.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// By buffer: the layout that instructions want of it, and what a lane keeps of it.
using FragmentLayouts = llvm::MapVector<mlir::Value, FragmentLayout>;
using LaneBuffers = llvm::MapVector<mlir::Value, mlir::Value>;

/// Three loops that multiply a tile, one in the other.
struct MatrixProduct {
  mlir::scf::ForOp m, n, k;
  mlir::memref::LoadOp a, b;
  mlir::memref::StoreOp result;
};

/// The loops of `nest`, which are proven to be such: an error says what else they do.
mlir::FailureOr<MatrixProduct> readProductLoops(mlir::scf::ForOp nest);

/// A factor that lies elsewhere is copied to a private buffer just before the product. `row` and `col` are the
/// variables of the loops along its tile.
void stageFactor(MatrixProduct &product, mlir::memref::LoadOp &load, mlir::Value row, mlir::Value col);

/// The instruction before the loops that it replaces, which are left for the caller to erase.
void emitProduct(MatrixProduct product, FragmentLayouts &layouts, LaneBuffers &laneBuffers, index::IndexSpace &space);

/// An index of what a lane keeps. The loops that count along it are to be written out: registers have no addresses.
mlir::Value placeInLane(index::IndexSpace &space, mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr);

} // namespace tilewright

#endif
