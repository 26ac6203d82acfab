//===- CMath.cpp - functions of mathematics as C++ ------------------------===//
#include "passes/gpu-to-source/CWriter.h"

using namespace mlir;

namespace tilewright::source {

/// The function of <math.h> that a math op on f64 is; that on f32 has an `f` at its end.
static const llvm::StringMap<StringRef> &functionNames() {
  static const llvm::StringMap<StringRef> names = {
      {"math.absf", "fabs"},    {"math.acos", "acos"},   {"math.acosh", "acosh"},       {"math.asin", "asin"},
      {"math.asinh", "asinh"},  {"math.atan", "atan"},   {"math.atan2", "atan2"},       {"math.atanh", "atanh"},
      {"math.cbrt", "cbrt"},    {"math.ceil", "ceil"},   {"math.copysign", "copysign"}, {"math.cos", "cos"},
      {"math.cosh", "cosh"},    {"math.erf", "erf"},     {"math.erfc", "erfc"},         {"math.exp", "exp"},
      {"math.exp2", "exp2"},    {"math.expm1", "expm1"}, {"math.floor", "floor"},       {"math.fma", "fma"},
      {"math.log", "log"},      {"math.log10", "log10"}, {"math.log1p", "log1p"},       {"math.log2", "log2"},
      {"math.powf", "pow"},     {"math.round", "round"}, {"math.roundeven", "rint"},    {"math.rsqrt", "rsqrt"},
      {"math.sin", "sin"},      {"math.sinh", "sinh"},   {"math.sqrt", "sqrt"},         {"math.tan", "tan"},
      {"math.tanh", "tanh"},    {"math.trunc", "trunc"}, {"arith.remf", "fmod"},        {"arith.maxnumf", "fmax"},
      {"arith.minnumf", "fmin"}};
  return names;
}

SmallVector<StringRef> mathFunctions() {
  return llvm::map_to_vector(functionNames(), [](const auto &entry) { return entry.second; });
}

std::optional<Expression> CWriter::mathExpression(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  Type type = scalarOf(op->getOperand(0).getType());
  StringRef name = op->getName().getStringRef();
  if (StringRef function = functionNames().lookup(name); !function.empty()) {
    if (type.isF64())
      return call(op, function);
    if (type.isF32())
      return call(op, function + "f");
    // Of narrower floats in f32, as Tilewright's own functions do.
    std::string text = function.str() + "f(";
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      text += (i ? ", float(" : "float(") + use(operand) + ")";
    return Expression{convertFloat(op, Float32Type::get(op->getContext()), type, text + ")")};
  }
  if (isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>(op)) {
    StringRef function = isa<math::IsNaNOp>(op) ? "isnan" : isa<math::IsInfOp>(op) ? "isinf" : "isfinite";
    std::string number =
        type.isF32() || type.isF64() ? use(op->getOperand(0)) : "float(" + use(op->getOperand(0)) + ")";
    return Expression{"bool(" + function.str() + "(" + number + "))"};
  }
  if (!type.isInteger() || type.isInteger(1))
    return std::nullopt;
  if (isa<math::AbsIOp>(op)) {
    needs("absolute");
    return construct(typeName(type), {"absolute(" + use(op->getOperand(0)) + ")"});
  }
  if (isa<math::CtPopOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op)) {
    StringRef function = name == "math.ctpop" ? "count_ones" : name == "math.ctlz" ? "leading_zeros" : "trailing_zeros";
    return construct(typeName(type), templateCall(op, function, type, /*isUnsigned=*/true));
  }
  if (isa<math::IPowIOp>(op))
    return templateCall(op, "integer_power", type, /*isUnsigned=*/false);
  return std::nullopt;
}

} // namespace tilewright::source
