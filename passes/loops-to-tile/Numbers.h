//===- Numbers.h - numbers of type index, as a kernel computes them -------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_NUMBERS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_NUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

/// None is below zero. What is known here is computed here.
struct Numbers {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  using Value = mlir::Value;

  Value constant(int64_t value) const { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) const { return make<mlir::arith::AddIOp>(a, b); }
  Value add(Value a, int64_t b) const { return b ? add(a, constant(b)) : a; }
  Value subtract(Value a, Value b) const { return make<mlir::arith::SubIOp>(a, b); }
  Value subtract(Value a, int64_t b) const { return b ? subtract(a, constant(b)) : a; }
  Value multiply(Value a, Value b) const { return make<mlir::arith::MulIOp>(a, b); }
  Value multiply(Value a, int64_t b) const { return b == 1 ? a : multiply(a, constant(b)); }
  Value divide(Value a, Value b) const { return makeQuotient<mlir::arith::DivUIOp>(a, b); }
  Value divide(Value a, int64_t b) const { return b == 1 ? a : divide(a, constant(b)); }
  Value divideUp(Value a, int64_t b) const { return divide(add(a, b - 1), b); }
  Value remainder(Value a, Value b) const { return makeQuotient<mlir::arith::RemUIOp>(a, b); }
  Value remainder(Value a, int64_t b) const { return remainder(a, constant(b)); }
  Value exclusiveOr(Value a, Value b) const { return make<mlir::arith::XOrIOp>(a, b); }
  Value least(Value a, Value b) const { return make<mlir::arith::MinUIOp>(a, b); }
  Value most(Value a, Value b) const { return make<mlir::arith::MaxUIOp>(a, b); }
  Value choose(Value condition, Value a, Value b) const {
    return builder.createOrFold<mlir::arith::SelectOp>(loc, condition, a, b);
  }
  Value isLess(Value a, Value b) const { return compare(mlir::arith::CmpIPredicate::ult, a, b); }
  Value isLess(Value a, int64_t b) const { return isLess(a, constant(b)); }
  Value isEqual(Value a, Value b) const { return compare(mlir::arith::CmpIPredicate::eq, a, b); }
  Value isEqual(Value a, int64_t b) const { return isEqual(a, constant(b)); }
  Value both(Value a, Value b) const { return make<mlir::arith::AndIOp>(a, b); }

private:
  template <typename Op> Value make(Value a, Value b) const { return builder.createOrFold<Op>(loc, a, b); }
  /// By a number that is known only when the kernel runs, a division of 64 bits is a subroutine: what is divided are
  /// numbers of tiles and of steps, for which 32 bits do.
  template <typename Op> Value makeQuotient(Value a, Value b) const {
    if (mlir::getConstantIntValue(b))
      return make<Op>(a, b);
    auto cast = [&](mlir::Type type, Value value) -> Value {
      return mlir::arith::IndexCastUIOp::create(builder, loc, type, value);
    };
    mlir::Type narrow = builder.getI32Type();
    return cast(builder.getIndexType(), make<Op>(cast(narrow, a), cast(narrow, b)));
  }
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b) const {
    return builder.createOrFold<mlir::arith::CmpIOp>(loc, predicate, a, b);
  }
};

} // namespace tilewright

#endif
