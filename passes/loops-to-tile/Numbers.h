//===- Numbers.h - numbers of type index, as a kernel computes them -------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_NUMBERS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_NUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

/// None is below zero.
struct Numbers {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  using Value = mlir::Value;

  Value constant(int64_t value) const { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) const { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value add(Value a, int64_t b) const { return b ? add(a, constant(b)) : a; }
  Value subtract(Value a, Value b) const { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value subtract(Value a, int64_t b) const { return b ? subtract(a, constant(b)) : a; }
  Value multiply(Value a, int64_t b) const { return b == 1 ? a : mlir::arith::MulIOp::create(builder, loc, a, constant(b)).getResult(); }
  Value divide(Value a, Value b) const { return mlir::arith::DivUIOp::create(builder, loc, a, b); }
  Value divide(Value a, int64_t b) const { return b == 1 ? a : divide(a, constant(b)); }
  Value remainder(Value a, Value b) const { return mlir::arith::RemUIOp::create(builder, loc, a, b); }
  Value remainder(Value a, int64_t b) const { return remainder(a, constant(b)); }
  Value exclusiveOr(Value a, Value b) const { return mlir::arith::XOrIOp::create(builder, loc, a, b); }
  Value least(Value a, Value b) const { return mlir::arith::MinUIOp::create(builder, loc, a, b); }
  Value most(Value a, Value b) const { return mlir::arith::MaxUIOp::create(builder, loc, a, b); }
  Value choose(Value condition, Value a, Value b) const { return mlir::arith::SelectOp::create(builder, loc, condition, a, b); }
  Value isLess(Value a, Value b) const { return compare(mlir::arith::CmpIPredicate::ult, a, b); }
  Value isLess(Value a, int64_t b) const { return isLess(a, constant(b)); }
  Value isEqual(Value a, Value b) const { return compare(mlir::arith::CmpIPredicate::eq, a, b); }
  Value isEqual(Value a, int64_t b) const { return isEqual(a, constant(b)); }
  Value both(Value a, Value b) const { return mlir::arith::AndIOp::create(builder, loc, a, b); }

private:
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
};

} // namespace tilewright

#endif
