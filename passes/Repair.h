//===- Repair.h - how a reduction follows another one's result ------------===//
//
// T = (+)_j g(x, c_j) reads the result x of another reduction over j. A repair is a function h for which
// h(g(x, c), x, x') = g(x', c) and h(a (+) b, x, x') = h(a, x, x') (+) h(b, x, x').
//
// The repairs that are proven here: with a sum, g(x, c) = c * exp(a(x)) gives h(r, x, x') = r * exp(a(x') - a(x)); with
// a maximum or minimum, g(x, c) = c + a(x) gives h(r, x, x') = r + (a(x') - a(x)). They hold over the reals.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_REPAIR_H
#define TILEWRIGHT_PASSES_REPAIR_H

#include "passes/PassSupport.h"

namespace tilewright {

/// The repair of one reduction, read off the value of its element, which is computed in the regions of `scope`.
class Repair {
public:
  /// `isX` says which values of `scope` are x. The names are those of the stages, for messages.
  Repair(mlir::Operation *scope, llvm::StringRef name, llvm::StringRef followed, std::function<bool(mlir::Value)> isX)
      : scope(scope), name(name.str()), followed(followed.str()), isX(std::move(isX)) {}

  /// Finds the repair. Fails with `reason` set, and `culprit` where an operation is in the way.
  mlir::LogicalResult findOfSum(mlir::Value element) { return findFactors(element); }
  mlir::LogicalResult findOfExtremum(mlir::Value element);
  /// Builds h(value, from, to).
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value from, mlir::Value to);

  std::string reason;
  mlir::Operation *culprit = nullptr;

private:
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
  /// Whether a value depends on x.
  bool depends(mlir::Value value);
  /// Whether a value depends on axes or on what is read other than x.
  bool dependsOnRest(mlir::Value value);
  /// Whether a value is a constant or from outside of the scope, so that a combiner can have it.
  bool isUniform(mlir::Value value);
  mlir::LogicalResult findFactors(mlir::Value value);
  mlir::LogicalResult checkTerms(mlir::Value value);
  mlir::LogicalResult checkFunction(mlir::Value value);
  /// The terms of `value` that depend on x, at x = `at`; null where none does.
  mlir::Value buildTerms(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value at);
  mlir::Value convert(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);

  mlir::Operation *scope;
  std::string name, followed;
  std::function<bool(mlir::Value)> isX;
  struct Exponent {
    mlir::Value value;
    bool isNegative, isBaseTwo;
  };
  llvm::SmallVector<Exponent> exponents;
  mlir::Value additive; // of a maximum or minimum
  llvm::DenseMap<mlir::Value, bool> known, knownRest;
};

} // namespace tilewright

#endif
