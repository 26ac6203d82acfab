//===- MathBuilder.cpp - formulas that build arithmetic -------------------===//
#include "passes/kernel-math/MathBuilder.h"

using namespace mlir;
using namespace tilewright::kernelmath;

Float MathBuilder::part(const Constant &constant, int index) {
  if (isDouble())
    return number(constant.parts[index]);
  // 24 bits at a time: three of these are in the first two parts.
  double rest = constant.parts[0], below = constant.parts[1];
  float taken = 0;
  for (int i = 0; i <= index; ++i) {
    taken = static_cast<float>(rest + below);
    rest -= taken;
  }
  return number(taken);
}

Float MathBuilder::polynomial(Float x, const Polynomial &polynomial) {
  ArrayRef<double> coefficients = isDouble() ? polynomial.f64 : polynomial.f32;
  Float sum = number(coefficients.front());
  auto contract = arith::FastMathFlags::contract;
  for (double coefficient : coefficients.drop_front()) {
    Float next = number(coefficient);
    if (hasUnit)
      sum = fma(sum, x, next);
    else
      sum.value = make<arith::AddFOp>(make<arith::MulFOp>(sum.value, x.value, contract), next.value, contract);
  }
  return sum;
}
