#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_THREADREDUCTION_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_THREADREDUCTION_H

#include "passes/PassSupport.h"

namespace tilewright {

/// Combines a value of each thread along one thread index, so that all of these threads have the result: by shuffles
/// where they lie in one warp, through shared memory where they do not.
class ThreadReduction {
public:
  /// The reducer: what is reduced so far, and more of it.
  using Combine = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::ValueRange)>;

  ThreadReduction(mlir::OpBuilder &builder, mlir::Location loc, std::array<int64_t, 3> block,
                  std::array<mlir::Value, 3> ids, std::string name)
      : builder(builder), loc(loc), block(block), ids(ids), name(std::move(name)) {}

  /// `parts` of all threads along dimension `dim` of the block.
  llvm::SmallVector<mlir::Value> reduce(unsigned dim, mlir::ValueRange parts, Combine combine);

  /// The value of another lane of those `width` lanes, which all take part.
  mlir::Value fetch(mlir::Value value, mlir::Value lane, int64_t width) {
    this->width = width;
    return shuffle(value, mlir::gpu::ShuffleMode::IDX, lane, false);
  }

private:
  llvm::SmallVector<mlir::Value> reduceInWarp(mlir::ValueRange parts, int64_t lanes, Combine combine);
  llvm::SmallVector<mlir::Value> reduceInShared(unsigned dim, mlir::ValueRange parts, int64_t places, mlir::Value place,
                                                mlir::Value isWriter, Combine combine);
  mlir::Value shuffle(mlir::Value value, mlir::gpu::ShuffleMode mode, mlir::Value lane, bool isUniform);
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::array<int64_t, 3> block;
  std::array<mlir::Value, 3> ids;
  std::string name;
  int64_t width = 0; // of a shuffle
};

} // namespace tilewright

#endif
