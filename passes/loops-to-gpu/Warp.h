//===- Warp.h - a warp's tiles, and the loops that its lanes share out ----===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_WARP_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_WARP_H

#include "dialects/Target/Architectures.h"
#include "passes/loops-to-gpu/MatmulLoops.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// How the lanes share out a loop.
struct SharedLoop {
  bool isRows = false;
  int64_t pack = 0;
  mlir::Value buffer;        // the first for which it is so
  mlir::scf::ForOp elements; // of columns: the loop over a lane's neighbours, where there is more than one
  bool operator==(const SharedLoop &other) const { return isRows == other.isRows && (isRows || pack == other.pack); }
};

/// The tiles that a warp of a launch computes together.
class Warp {
public:
  Warp(mlir::gpu::LaunchOp launch, mlir::func::FuncOp function, const Architecture &architecture)
      : launch(launch), function(function), architecture(architecture), space(launch.getContext()) {}

  mlir::LogicalResult run(llvm::ArrayRef<mlir::scf::ForOp> nests);

private:
  mlir::InFlightDiagnostic error(mlir::Operation *at) {
    return at->emitError() << "mma_sync of stage '" << stage << "': ";
  }
  mlir::LogicalResult checkLanes(mlir::scf::ForOp nest);
  mlir::LogicalResult readProduct(mlir::scf::ForOp nest);
  mlir::LogicalResult addLayout(MatmulLoops &matmul, mlir::Value buffer, mlir::ValueRange indices, mlir::Value row,
                                mlir::Value col, FragmentLayout layout, llvm::StringRef what);
  mlir::LogicalResult checkRegisters(mlir::scf::ForOp nest);
  mlir::LogicalResult collectAccess(mlir::Operation *op, mlir::Value buffer, mlir::ValueRange indices,
                                    const FragmentLayout &layout);
  mlir::scf::ForOp findLoop(mlir::Operation *op, mlir::Value buffer, mlir::AffineExpr index, int64_t unit,
                            mlir::AffineExpr &rest);
  mlir::LogicalResult share(mlir::scf::ForOp loop, SharedLoop how, mlir::Operation *at);
  mlir::LogicalResult checkUses(mlir::scf::ForOp loop);
  mlir::LogicalResult checkIsUniform(mlir::Operation *at, llvm::ArrayRef<mlir::Value> values);
  bool dependsOnLane(mlir::Value value);
  void distribute(mlir::scf::ForOp loop, SharedLoop &how);
  void rewrite(FragmentAccess &access);

  mlir::gpu::LaunchOp launch;
  mlir::func::FuncOp function;
  const Architecture &architecture;
  index::IndexSpace space;
  std::string stage;
  llvm::SmallVector<MatmulLoops> matmuls;
  FragmentLayouts layouts;
  LaneBuffers laneBuffers;
  llvm::SmallVector<FragmentAccess> accesses;
  llvm::MapVector<mlir::scf::ForOp, SharedLoop> shared;
  llvm::DenseMap<mlir::Value, bool> laneDependence;
};

} // namespace tilewright

#endif
