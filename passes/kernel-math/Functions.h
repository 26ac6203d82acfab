//===- Functions.h - the functions of math, as formulas -------------------===//
//
// Each is of f32 and f64. test/python/driver/test_math_accuracy.py measures how far they are off, in units of the last
// place.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_KERNEL_MATH_FUNCTIONS_H
#define TILEWRIGHT_KERNEL_MATH_FUNCTIONS_H

#include "passes/kernel-math/MathBuilder.h"

namespace tilewright::kernelmath {

// Exponential.cpp
Float exp(Float x);
Float exp2(Float x);
/// Of f32, where neither x nor the result matters once it is subnormal, which spares the unit's way around such, and
/// where x is below 127.5.
Float exp2OfNormal(Float x);
Float expm1(Float x);
Float sinh(Float x);
Float cosh(Float x);
Float tanh(Float x);
Float erf(Float x);
/// Of f32, within 1.5e-7: enough where it is added to a number of at least 1, as in gelu, and half the work.
Float erfOfTerm(Float x);
/// factor x (1 + erf z) of z = slope x, within 2e-7 of the product with 2 and of 1. Both numbers are positive.
Float productWithErf(Float x, double factor, Float z, double slope);
/// e to the power of a sum, of which `high` is between the bounds beyond which the result is 0 or infinity, or not far
/// outside; times 2^exponent.
Float expOfPair(Pair x, int exponent = 0);
/// p times 2^n, of an integral n.
Float scale(Float p, Float n);

// Logarithm.cpp
Float log(Float x);
Float log2(Float x);
Float log10(Float x);
Float log1p(Float x);
Float asinh(Float x);
Float acosh(Float x);
Float atanh(Float x);
/// The natural logarithm of a positive, finite number in twice the precision.
Pair logAsPair(Float x);

// Power.cpp
Float pow(Float x, Float y);

// Trigonometry.cpp
Float sin(Float x);
Float cos(Float x);
Float tan(Float x);

// InverseTrigonometry.cpp
Float asin(Float x);
Float acos(Float x);
Float atan(Float x);
Float atan2(Float y, Float x);

// Remainder.cpp, of scalars
Float fmod(Float x, Float y);

// Quantization.cpp
/// What quantisation does: quotients by constants without a division, and integers of few bits without a conversion.
void populateQuantization(mlir::RewritePatternSet &patterns);

} // namespace tilewright::kernelmath

#endif
