//===- CExpressions.cpp - arithmetic on integers and indices as C++ -------===//
#include "passes/gpu-to-source/CWriter.h"

#include "llvm/ADT/SmallString.h"

#include <charconv>

using namespace mlir;

namespace tilewright::source {

std::string CWriter::literal(Operation *op, Attribute value, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (type.isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    llvm::APInt number = integer.getValue();
    // The literal of the smallest number would be an int that is too large, and then its negative.
    if (number.isMinSignedValue() && number.getBitWidth() >= 32 && !type.isIndex())
      return number.getBitWidth() == 32 ? "(-2147483647 - 1)" : "(-9223372036854775807LL - 1)";
    SmallString<24> digits;
    number.toStringSigned(digits);
    return (digits + (type.isInteger(64) || (type.isIndex() && indexType != "int") ? "LL" : "")).str();
  }
  auto number = dyn_cast<FloatAttr>(value);
  if (!number) {
    fail(op);
    return "0";
  }
  llvm::APFloat exact = number.getValue();
  if (!type.isF64() && !type.isF32()) {
    bool lost;
    llvm::APFloat wide = exact;
    wide.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
    Type single = Float32Type::get(type.getContext());
    return floatType(type) + "(" + literal(op, FloatAttr::get(single, wide), single) + ")";
  }
  if (exact.isInfinity()) {
    needs("INFINITY");
    return std::string(exact.isNegative() ? "-" : "") + (type.isF64() ? "double(INFINITY)" : "INFINITY");
  }
  if (exact.isNaN()) {
    std::string bits = llvm::toString(exact.bitcastToAPInt(), 16, /*Signed=*/false, /*formatAsCLiteral=*/true);
    needs("bit_cast");
    return type.isF64() ? "bit_cast<double>(" + bits + "ULL)" : "bit_cast<float>(" + bits + "u)";
  }
  // The fewest digits that are read as this number again.
  char digits[64];
  char *end = type.isF32() ? std::to_chars(digits, std::end(digits), exact.convertToFloat()).ptr
                           : std::to_chars(digits, std::end(digits), exact.convertToDouble()).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".eE") == std::string::npos)
    text += ".0";
  return text + (type.isF32() ? "f" : "");
}

Expression CWriter::binary(Operation *op, StringRef symbol) {
  return infix(expression(op->getOperand(0)), symbol, expression(op->getOperand(1)));
}

Expression CWriter::call(Operation *op, const Twine &function) {
  std::string text = function.str() + "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + use(operand);
  return {text + ")"};
}

/// Integers wrap around in the IR. In C++ only unsigned ones do, and narrow ones are widened first.
Expression CWriter::wrapping(Operation *op, StringRef symbol) {
  Type type = scalarOf(op->getResult(0).getType());
  auto overflow = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  if (type.isIndex() || (overflow && overflow.hasNoSignedWrap() && type.getIntOrFloatBitWidth() >= 32))
    return binary(op, symbol);
  if (type.isInteger(1)) // modulo 2
    return binary(op, symbol == "*" ? "&&" : "!=");
  return type.getIntOrFloatBitWidth() < 32 ? narrowed(type, binary(op, symbol)) : asUnsigned(op, symbol);
}

Expression CWriter::asUnsigned(Operation *op, StringRef symbol) {
  Type type = scalarOf(op->getResult(0).getType());
  auto side = [&](unsigned i) { return construct(unsignedName(type), expression(op->getOperand(i))); };
  return construct(typeName(type), infix(side(0), symbol, side(1)));
}

/// What C++ computes of integers of 8 and 16 bits is an int.
Expression CWriter::narrowed(Type type, const Expression &made) {
  bool isNarrow = type.isInteger() && !type.isInteger(1) && type.getIntOrFloatBitWidth() < 32;
  return isNarrow ? construct(typeName(type), made) : made;
}

std::optional<Expression> CWriter::pureExpression(Operation *op) {
  if (std::optional<Expression> own = ownExpression(op))
    return own;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Expression{element(op, load.getMemRef(), load.getIndices())};
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return affine(apply.getAffineMap().getResult(0), op->getOperands(), apply.getAffineMap().getNumDims());
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    return affineMinMax(least.getMap(), op->getOperands(), "min");
  if (auto most = dyn_cast<affine::AffineMaxOp>(op))
    return affineMinMax(most.getMap(), op->getOperands(), "max");
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return Expression{extent(op, dim.getSource(), *index)};
  if (std::optional<Expression> made = arithExpression(op))
    return made;
  return mathExpression(op);
}

std::optional<Expression> CWriter::comparison(Operation *op) {
  Expression a = expression(op->getOperand(0)), b = expression(op->getOperand(1));
  auto is = [&](StringRef symbol) { return infix(a, symbol, b); };
  auto isNot = [&](StringRef symbol) { return prefix("!", is(symbol)); };
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    // Of what C++ compares, != alone holds for NaN.
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OEQ:
      return is("==");
    case arith::CmpFPredicate::OGT:
      return is(">");
    case arith::CmpFPredicate::OGE:
      return is(">=");
    case arith::CmpFPredicate::OLT:
      return is("<");
    case arith::CmpFPredicate::OLE:
      return is("<=");
    case arith::CmpFPredicate::UNE:
      return is("!=");
    case arith::CmpFPredicate::UGT:
      return isNot("<=");
    case arith::CmpFPredicate::UGE:
      return isNot("<");
    case arith::CmpFPredicate::ULT:
      return isNot(">=");
    case arith::CmpFPredicate::ULE:
      return isNot(">");
    case arith::CmpFPredicate::ONE:
      return infix(is("<"), "||", is(">"));
    case arith::CmpFPredicate::UEQ:
      return prefix("!", infix(is("<"), "||", is(">")));
    case arith::CmpFPredicate::ORD:
      return infix(infix(a, "==", a), "&&", infix(b, "==", b));
    case arith::CmpFPredicate::UNO:
      return infix(infix(a, "!=", a), "||", infix(b, "!=", b));
    case arith::CmpFPredicate::AlwaysFalse:
      return Expression{"false"};
    case arith::CmpFPredicate::AlwaysTrue:
      return Expression{"true"};
    }
  }
  auto compare = cast<arith::CmpIOp>(op);
  Type type = scalarOf(compare.getLhs().getType());
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool isOfSign = predicate >= arith::CmpIPredicate::slt && predicate <= arith::CmpIPredicate::sge;
  if (type.isInteger(1)) {
    // As a number with a sign, true is -1; in C++ it is 1.
    if (isOfSign)
      std::swap(a, b);
  } else if (predicate >= arith::CmpIPredicate::ult) {
    a = construct(unsignedName(type), a);
    b = construct(unsignedName(type), b);
  }
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return is("==");
  case arith::CmpIPredicate::ne:
    return is("!=");
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return is("<");
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return is("<=");
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return is(">");
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return is(">=");
  }
  return std::nullopt;
}

/// A call of a template of the prelude, whose type is said where C++ would deduce an int.
Expression CWriter::templateCall(Operation *op, StringRef function, Type type, bool isUnsigned) {
  needs(function);
  std::string name = isUnsigned ? unsignedName(type) : typeName(type);
  bool isNarrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 32;
  std::string text = function.str() + (isNarrow && !isUnsigned ? "<" + name + ">(" : "(");
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + (isUnsigned ? construct(name, expression(operand)).text : use(operand));
  return {text + ")"};
}

std::optional<Expression> CWriter::integerExpression(Operation *op) {
  if (isa<arith::AddIOp>(op))
    return wrapping(op, "+");
  if (isa<arith::SubIOp>(op))
    return wrapping(op, "-");
  if (isa<arith::MulIOp>(op))
    return wrapping(op, "*");
  Type type = scalarOf(op->getResult(0).getType());
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    StringRef symbol = isa<arith::DivUIOp>(op) ? "/" : "%";
    bool isPlain = type.isIndex() && llvm::all_of(op->getOperands(), [&](Value value) { return isNonNegative(value); });
    return isPlain ? binary(op, symbol) : asUnsigned(op, symbol);
  }
  if (isa<arith::ShLIOp>(op))
    return asUnsigned(op, "<<");
  if (isa<arith::ShRUIOp>(op))
    return asUnsigned(op, ">>");
  if (type.isInteger(1)) {
    // As a number with a sign, true is the smaller one.
    if (isa<arith::AndIOp, arith::MinUIOp, arith::MaxSIOp>(op))
      return binary(op, "&&");
    if (isa<arith::OrIOp, arith::MaxUIOp, arith::MinSIOp>(op))
      return binary(op, "||");
    if (!isa<arith::XOrIOp>(op))
      return std::nullopt;
    return matchPattern(op->getOperand(1), m_One()) ? prefix("!", expression(op->getOperand(0))) : binary(op, "!=");
  }
  if (isa<arith::AndIOp>(op))
    return binary(op, "&");
  if (isa<arith::OrIOp>(op))
    return binary(op, "|");
  if (isa<arith::XOrIOp>(op))
    return binary(op, "^");
  if (isa<arith::DivSIOp>(op))
    return narrowed(type, binary(op, "/"));
  if (isa<arith::RemSIOp>(op))
    return narrowed(type, binary(op, "%"));
  if (isa<arith::ShRSIOp>(op))
    return narrowed(type, binary(op, ">>"));
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return templateCall(op, isa<arith::FloorDivSIOp>(op) ? "floor_div" : "ceil_div", type, /*isUnsigned=*/false);
  if (isa<arith::CeilDivUIOp>(op))
    return construct(typeName(type), templateCall(op, "ceil_div_unsigned", type, /*isUnsigned=*/true));
  auto pick = [&](StringRef function, bool isUnsigned) {
    if (op->getOperand(0) == op->getOperand(1))
      return expression(op->getOperand(0));
    std::string cast = isUnsigned                                             ? unsignedName(type)
                       : type.isIndex() || type.getIntOrFloatBitWidth() >= 32 ? ""
                                                                              : "int";
    std::string text = functionName(function) + "(";
    for (unsigned i : {0, 1})
      text += (i ? ", " : "") +
              (cast.empty() ? use(op->getOperand(i)) : construct(cast, expression(op->getOperand(i))).text);
    text += ")";
    return cast.empty() ? Expression{text} : construct(typeName(type), {text});
  };
  if (isa<arith::MinSIOp>(op))
    return pick("min", false);
  if (isa<arith::MaxSIOp>(op))
    return pick("max", false);
  if (isa<arith::MinUIOp>(op))
    return pick("min", true);
  if (isa<arith::MaxUIOp>(op))
    return pick("max", true);
  return std::nullopt;
}

std::optional<Expression> CWriter::arithExpression(Operation *op) {
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return comparison(op);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return narrowed(scalarOf(select.getType()),
                    conditional(expression(select.getCondition()), expression(select.getTrueValue()),
                                expression(select.getFalseValue())));
  if (isa<arith::AddFOp>(op))
    return binary(op, "+");
  if (isa<arith::SubFOp>(op))
    return binary(op, "-");
  if (isa<arith::MulFOp>(op))
    return binary(op, "*");
  if (isa<arith::DivFOp>(op))
    return binary(op, "/");
  if (isa<arith::NegFOp>(op))
    return prefix("-", expression(op->getOperand(0)));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op)) {
    StringRef function = isa<arith::MaximumFOp>(op) ? "maximum" : "minimum";
    needs(function);
    return call(op, function);
  }
  if (std::optional<Expression> made = castExpression(op))
    return made;
  return op->getNumOperands() == 2 && isa<arith::ArithDialect>(op->getDialect()) ? integerExpression(op) : std::nullopt;
}

std::optional<Expression> CWriter::castExpression(Operation *op) {
  if (op->getNumOperands() != 1 || !isa<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  Value operand = op->getOperand(0);
  Expression given = expression(operand);
  Type from = scalarOf(operand.getType()), to = scalarOf(op->getResult(0).getType());
  auto asUnsignedNumber = [&] { return construct(from.isInteger(1) ? "int" : unsignedName(from), given); };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp, arith::ExtUIOp>(op)) {
    bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
    if (to.isInteger(1))
      return infix(infix(given, "&", {"1"}), "!=", {"0"});
    if (from.isInteger(1))
      return isUnsigned ? construct(typeName(to), given) : prefix("-", construct(typeName(to), given));
    if (typeName(from) == typeName(to))
      return given;
    return construct(typeName(to), isUnsigned ? asUnsignedNumber() : given);
  }
  if (isa<arith::SIToFPOp, arith::ExtFOp>(op)) {
    bool isOfBool = isa<arith::SIToFPOp>(op) && from.isInteger(1);
    return Expression{convertFloat(op, from, to, isOfBool ? prefix("-", asUnsignedNumber()).text : given.text)};
  }
  if (isa<arith::UIToFPOp>(op))
    return Expression{convertFloat(op, from, to, asUnsignedNumber().text)};
  if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
    if (truncate.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return std::nullopt;
    return Expression{convertFloat(op, from, to, given.text)};
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    Expression number = from.isF32() || from.isF64() ? given : construct("float", given);
    if (to.isInteger(1))
      return std::nullopt;
    return construct(typeName(to), isa<arith::FPToUIOp>(op) ? construct(unsignedName(to), number) : number);
  }
  if (isa<arith::BitcastOp>(op)) {
    needs("bit_cast");
    return Expression{"bit_cast<" + typeName(to) + ">(" + narrowed(from, given).text + ")"};
  }
  return std::nullopt;
}

} // namespace tilewright::source
