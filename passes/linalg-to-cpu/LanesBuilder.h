//===- LanesBuilder.h - the body of a linalg op, for several iterations ---===//
#ifndef TILEWRIGHT_PASSES_LINALG_TO_CPU_LANESBUILDER_H
#define TILEWRIGHT_PASSES_LINALG_TO_CPU_LANESBUILDER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

/// What a value of a linalg body is in neighbouring iterations of one axis: the same everywhere, an index that grows
/// by `stride` from one to the next, or a vector with one element an iteration.
struct Lanes {
  mlir::Value value;
  int64_t stride = 0;
  bool isVector = false;

  bool isUniform() const { return !isVector && stride == 0; }
};

/// Builds the body of a linalg op on memrefs for `lanes` iterations of one axis at once, at the builder's place.
/// With one lane that is the body itself, on scalars.
class LanesBuilder {
public:
  /// `mask` says which lanes run, where not all do; at least one does.
  LanesBuilder(mlir::OpBuilder &builder, int64_t lanes, mlir::Value mask = {})
      : builder(builder), lanes(lanes), laneMask(mask) {}

  /// The values that the body yields. `axes` has the iterators of the op, `outs` the elements of its outputs.
  llvm::SmallVector<Lanes> build(mlir::linalg::GenericOp op, llvm::ArrayRef<Lanes> axes, llvm::ArrayRef<Lanes> outs);

  /// The elements of `memref` at `indices`.
  Lanes load(mlir::Location loc, mlir::Value memref, llvm::ArrayRef<Lanes> indices);
  void store(mlir::Location loc, Lanes value, mlir::Value memref, llvm::ArrayRef<Lanes> indices);
  /// `map` of `axes`.
  llvm::SmallVector<Lanes> apply(mlir::Location loc, mlir::AffineMap map, llvm::ArrayRef<Lanes> axes);
  /// Builds `op`, which has no regions, on other operands: on scalars where all are uniform, otherwise on vectors.
  llvm::SmallVector<Lanes> buildOp(mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
  /// As one vector, or as the scalar that it is where there is one lane.
  mlir::Value materialize(mlir::Location loc, Lanes value);

private:
  void buildBlock(mlir::Block &block);
  void buildIf(mlir::Operation &op);
  Lanes evaluate(mlir::Location loc, mlir::AffineExpr expr, llvm::ArrayRef<Lanes> dims, llvm::ArrayRef<Lanes> symbols);
  /// Sums and multiples of indices stay strided; anything else becomes vectors.
  std::optional<Lanes> foldStrided(mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
  Lanes lookup(mlir::Value value);
  mlir::Value step(mlir::Location loc, int64_t stride);
  /// Elements by their offsets from one of a memref.
  struct Elements {
    mlir::Value memref;
    llvm::SmallVector<mlir::Value> origin;
    mlir::Value offsets;
  };
  Elements linearize(mlir::Location loc, mlir::Value memref, llvm::ArrayRef<Lanes> indices);
  mlir::Value getMask(mlir::Location loc);
  mlir::Value conjoin(mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::VectorType vectorOf(mlir::Type type) { return mlir::VectorType::get({lanes}, type); }

  mlir::OpBuilder &builder;
  int64_t lanes;
  mlir::Value laneMask;
  /// The lanes for which the conditions around hold; perhaps none.
  mlir::Value condition;
  llvm::DenseMap<mlir::Value, Lanes> values;
};

/// Whether LanesBuilder can build the body of `op` for more than one lane at once, of which some may not run.
bool canVectorize(mlir::linalg::GenericOp op);

} // namespace tilewright

#endif
