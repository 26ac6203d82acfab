//===- LoopPlan.h - which axes of a linalg op become vectors and tiles ----===//
#ifndef TILEWRIGHT_PASSES_LINALG_TO_CPU_LOOPPLAN_H
#define TILEWRIGHT_PASSES_LINALG_TO_CPU_LOOPPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// How the loops of a linalg op run on one core: `lanes` iterations of `vectorAxis` are the elements of a vector,
/// and a tile of `rows` iterations of `rowAxis` by `vectors` vectors is kept in registers. The rest is plain loops.
struct LoopPlan {
  std::optional<unsigned> vectorAxis;
  int64_t lanes = 1;
  int64_t vectors = 1;
  std::optional<unsigned> rowAxis;
  int64_t rows = 1;
  /// Whether it is worth waking other threads.
  bool isLong = false;
};

/// Plans the loops of `op`, on memrefs, for vectors of `vectorBits`.
LoopPlan planLoops(mlir::linalg::GenericOp op, int64_t vectorBits);

/// The op that combines the element with output `i`, where it is one op with a known identity: then a reduction may
/// run in any order.
mlir::Operation *getCombiner(mlir::linalg::GenericOp op, unsigned i);

} // namespace tilewright

#endif
