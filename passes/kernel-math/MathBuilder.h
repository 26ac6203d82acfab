//===- MathBuilder.h - formulas that build arithmetic ---------------------===//
//
// Expansions of functions read like the formulas that they are: a Float is a value of f32 or f64, or a vector of such,
// and its operators build ops of arith, math's fma and rounding, which all targets have. Nothing of it may be
// contracted or reordered, so no op has fast-math flags but those of `exp2OfNormal` and `polynomial`.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_KERNEL_MATH_MATHBUILDER_H
#define TILEWRIGHT_KERNEL_MATH_MATHBUILDER_H

#include "passes/PassSupport.h"
#include "passes/kernel-math/Coefficients.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace tilewright::kernelmath {

class MathBuilder;

/// A float that is computed: a scalar or all lanes of a vector.
struct Float {
  MathBuilder *m;
  mlir::Value value;
};

/// A signless integer as wide as the floats it stands beside.
struct Int {
  MathBuilder *m;
  mlir::Value value;
};

/// A condition, lane by lane.
struct Bool {
  MathBuilder *m;
  mlir::Value value;
};

/// An unevaluated sum of two floats: twice the precision. `low` is small beside `high`.
struct Pair {
  Float high, low;
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What all values of one expansion have in common: where they are built, their element type, their lanes.
class MathBuilder {
public:
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like, bool hasUnit = true)
      : b(loc, builder), like(like), element(mlir::getElementTypeOrSelf(like)), hasUnit(hasUnit) {}

  bool isDouble() const { return element.isF64(); }
  /// Whether 2^x of these floats is an instruction, as of f32 on a GPU.
  bool hasExp2() const { return hasUnit && !isDouble(); }
  /// Bits of the whole type, of its precision, and of its fraction; the exponent's bias.
  unsigned width() const { return isDouble() ? 64 : 32; }
  unsigned precision() const { return isDouble() ? 53 : 24; }
  unsigned fraction() const { return precision() - 1; }
  int64_t bias() const { return isDouble() ? 1023 : 127; }

  mlir::Type of(mlir::Type type) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(like);
    return vector ? vector.clone(type) : type;
  }
  mlir::Type floatType() const { return like; }
  mlir::Type intType() { return of(b.getIntegerType(width())); }

  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return mlir::arith::ConstantOp::create(
        b, vector ? mlir::cast<mlir::TypedAttr>(mlir::DenseElementsAttr::get(vector, value)) : value);
  }
  Float number(double value) { return {this, constant(like, b.getFloatAttr(element, value))}; }
  Int integer(int64_t value) {
    return {this,
            constant(intType(), b.getIntegerAttr(b.getIntegerType(width()), llvm::APInt(width(), value, true, true)))};
  }
  /// The part of a constant that the floats hold (0), and what they hold of what is left (1, 2).
  Float part(const Constant &constant, int index);
  Pair pair(const Constant &constant) { return {part(constant, 0), part(constant, 1)}; }
  /// Without a unit, for a processor, each step is a multiplication and an addition that may be contracted: not all
  /// processors have an instruction for both.
  Float polynomial(Float x, const Polynomial &polynomial);

  template <typename Op, typename... Values> mlir::Value make(Values... values) { return Op::create(b, values...); }

  mlir::ImplicitLocOpBuilder b;

private:
  mlir::Type like, element;
  bool hasUnit;
};

// Arithmetic, with numbers on either side.
template <typename Op> Float binary(Float x, Float y) { return {x.m, x.m->make<Op>(x.value, y.value)}; }
inline Float operator+(Float x, Float y) { return binary<mlir::arith::AddFOp>(x, y); }
inline Float operator-(Float x, Float y) { return binary<mlir::arith::SubFOp>(x, y); }
inline Float operator*(Float x, Float y) { return binary<mlir::arith::MulFOp>(x, y); }
inline Float operator/(Float x, Float y) { return binary<mlir::arith::DivFOp>(x, y); }
inline Float operator+(Float x, double y) { return x + x.m->number(y); }
inline Float operator-(Float x, double y) { return x - x.m->number(y); }
inline Float operator*(Float x, double y) { return x * x.m->number(y); }
inline Float operator+(double x, Float y) { return y.m->number(x) + y; }
inline Float operator-(double x, Float y) { return y.m->number(x) - y; }
inline Float operator/(double x, Float y) { return y.m->number(x) / y; }
inline Float operator-(Float x) { return {x.m, x.m->make<mlir::arith::NegFOp>(x.value)}; }
inline Float fma(Float x, Float y, Float z) { return {x.m, x.m->make<mlir::math::FmaOp>(x.value, y.value, z.value)}; }

/// NaN if either is.
inline Float minimum(Float x, double y) { return binary<mlir::arith::MinimumFOp>(x, x.m->number(y)); }
inline Float maximum(Float x, double y) { return binary<mlir::arith::MaximumFOp>(x, x.m->number(y)); }
inline Float abs(Float x) { return {x.m, x.m->make<mlir::math::AbsFOp>(x.value)}; }
inline Float sqrt(Float x) { return {x.m, x.m->make<mlir::math::SqrtOp>(x.value)}; }
inline Float trunc(Float x) { return {x.m, x.m->make<mlir::math::TruncOp>(x.value)}; }
inline Float roundToEven(Float x) { return {x.m, x.m->make<mlir::math::RoundEvenOp>(x.value)}; }
inline Float floor(Float x) { return {x.m, x.m->make<mlir::math::FloorOp>(x.value)}; }
inline Float copySign(Float x, Float sign) { return binary<mlir::math::CopySignOp>(x, sign); }
/// Two to the power of `x`, which is f32: an instruction of the unit for special functions.
inline Float exp2OfUnit(Float x) { return {x.m, x.m->make<mlir::math::Exp2Op>(x.value)}; }

// Comparisons: ordered, so false where a NaN takes part, but for `!=`.
inline Bool compare(mlir::arith::CmpFPredicate predicate, Float x, Float y) {
  return {x.m, x.m->make<mlir::arith::CmpFOp>(predicate, x.value, y.value)};
}
inline Bool operator<(Float x, Float y) { return compare(mlir::arith::CmpFPredicate::OLT, x, y); }
inline Bool operator<=(Float x, Float y) { return compare(mlir::arith::CmpFPredicate::OLE, x, y); }
inline Bool operator==(Float x, Float y) { return compare(mlir::arith::CmpFPredicate::OEQ, x, y); }
inline Bool operator!=(Float x, Float y) { return compare(mlir::arith::CmpFPredicate::UNE, x, y); }
inline Bool operator<(Float x, double y) { return x < x.m->number(y); }
inline Bool operator<=(Float x, double y) { return x <= x.m->number(y); }
inline Bool operator==(Float x, double y) { return x == x.m->number(y); }
inline Bool operator!=(Float x, double y) { return x != x.m->number(y); }
inline Bool operator>(Float x, double y) { return x.m->number(y) < x; }
inline Bool operator>=(Float x, double y) { return x.m->number(y) <= x; }
inline Bool isNaN(Float x) { return compare(mlir::arith::CmpFPredicate::UNO, x, x); }
inline Bool operator&(Bool x, Bool y) { return {x.m, x.m->make<mlir::arith::AndIOp>(x.value, y.value)}; }
inline Bool operator|(Bool x, Bool y) { return {x.m, x.m->make<mlir::arith::OrIOp>(x.value, y.value)}; }
inline Float select(Bool condition, Float x, Float y) {
  return {x.m, x.m->make<mlir::arith::SelectOp>(condition.value, x.value, y.value)};
}
inline Float select(Bool condition, Float x, double y) { return select(condition, x, x.m->number(y)); }
inline Float select(Bool condition, double x, Float y) { return select(condition, y.m->number(x), y); }

// Integers.
template <typename Op> Int binary(Int x, Int y) { return {x.m, x.m->make<Op>(x.value, y.value)}; }
inline Int operator+(Int x, Int y) { return binary<mlir::arith::AddIOp>(x, y); }
inline Int operator-(Int x, Int y) { return binary<mlir::arith::SubIOp>(x, y); }
inline Int operator*(Int x, Int y) { return binary<mlir::arith::MulIOp>(x, y); }
inline Int operator&(Int x, Int y) { return binary<mlir::arith::AndIOp>(x, y); }
inline Int operator|(Int x, Int y) { return binary<mlir::arith::OrIOp>(x, y); }
inline Int operator<<(Int x, Int y) { return binary<mlir::arith::ShLIOp>(x, y); }
/// Zeros come in from the left.
inline Int operator>>(Int x, Int y) { return binary<mlir::arith::ShRUIOp>(x, y); }
inline Int operator+(Int x, int64_t y) { return x + x.m->integer(y); }
inline Int operator-(Int x, int64_t y) { return x - x.m->integer(y); }
inline Int operator-(int64_t x, Int y) { return y.m->integer(x) - y; }
inline Int operator&(Int x, int64_t y) { return x & x.m->integer(y); }
inline Int operator|(Int x, int64_t y) { return x | x.m->integer(y); }
inline Int operator<<(Int x, int64_t y) { return x << x.m->integer(y); }
inline Int operator>>(Int x, int64_t y) { return x >> x.m->integer(y); }
inline Int shiftSigned(Int x, int64_t y) { return binary<mlir::arith::ShRSIOp>(x, x.m->integer(y)); }
inline Bool compare(mlir::arith::CmpIPredicate predicate, Int x, Int y) {
  return {x.m, x.m->make<mlir::arith::CmpIOp>(predicate, x.value, y.value)};
}
inline Bool operator==(Int x, int64_t y) { return compare(mlir::arith::CmpIPredicate::eq, x, x.m->integer(y)); }
inline Bool operator!=(Int x, int64_t y) { return compare(mlir::arith::CmpIPredicate::ne, x, x.m->integer(y)); }
inline Bool isBelowUnsigned(Int x, Int y) { return compare(mlir::arith::CmpIPredicate::ult, x, y); }
inline Bool isNegative(Int x) { return compare(mlir::arith::CmpIPredicate::slt, x, x.m->integer(0)); }
inline Int select(Bool condition, Int x, Int y) {
  return {x.m, x.m->make<mlir::arith::SelectOp>(condition.value, x.value, y.value)};
}
inline Int fromBool(Bool x) { return {x.m, x.m->make<mlir::arith::ExtUIOp>(x.m->intType(), x.value)}; }

// Between the two.
inline Int bitsOf(Float x) { return {x.m, x.m->make<mlir::arith::BitcastOp>(x.m->intType(), x.value)}; }
inline Float fromBits(Int x) { return {x.m, x.m->make<mlir::arith::BitcastOp>(x.m->floatType(), x.value)}; }
/// An integral float below 2^(precision - 2) as an integer. Not a conversion: that of NaN would be poison.
inline Int toInt(Float x) {
  double shift = x.m->isDouble() ? 0x1.8p52 : 0x1.8p23;
  return bitsOf(x + shift) - bitsOf(x.m->number(shift));
}
inline Float toFloat(Int x) { return {x.m, x.m->make<mlir::arith::SIToFPOp>(x.m->floatType(), x.value)}; }
inline Float toFloatUnsigned(Int x) { return {x.m, x.m->make<mlir::arith::UIToFPOp>(x.m->floatType(), x.value)}; }

// Twice the precision.
/// x + y exactly, of which `x` is the larger, or 0.
inline Pair addToLarger(Float x, Float y) {
  Float sum = x + y;
  return {sum, y - (sum - x)};
}
/// x + y exactly.
inline Pair addExactly(Float x, Float y) {
  Float sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
/// x y exactly.
inline Pair multiplyExactly(Float x, Float y) {
  Float product = x * y;
  return {product, fma(x, y, -product)};
}
inline Pair operator*(Pair x, Pair y) {
  Pair product = multiplyExactly(x.high, y.high);
  return addToLarger(product.high, product.low + fma(x.high, y.low, x.low * y.high));
}

} // namespace tilewright::kernelmath

#endif
