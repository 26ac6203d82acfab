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
    return floatType(type) + "(" + literal(op, FloatAttr::get(Float32Type::get(type.getContext()), wide), Float32Type::get(type.getContext())) + ")";
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

Expression CWriter::binary(Operation *op, StringRef symbol, Binding binding) {
  // The right side binds more tightly: all of these group from the left.
  Binding right = static_cast<Binding>(static_cast<int>(binding) + 1);
  auto side = [&](Value operand, Binding least) {
    Expression made = expression(operand);
    // What readers do not know by heart has parentheses: sums in shifts and bits, && in ||.
    bool isOfBits = binding == Binding::Shift || (binding >= Binding::BitOr && binding <= Binding::BitAnd);
    bool isUnclear = isOfBits ? made.binding != binding && made.binding < Binding::Unary
                              : binding == Binding::Or && made.binding == Binding::And;
    return made.binding < least || isUnclear ? "(" + made.text + ")" : made.text;
  };
  return {side(op->getOperand(0), binding) + " " + symbol.str() + " " + side(op->getOperand(1), right), binding};
}

Expression CWriter::call(Operation *op, const Twine &function) {
  std::string text = function.str() + "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + use(operand);
  return {text + ")"};
}

/// Integers wrap around in the IR. In C++ only unsigned ones do, and narrow ones are widened first.
Expression CWriter::wrapping(Operation *op, StringRef symbol, Binding binding) {
  Type type = scalarOf(op->getResult(0).getType());
  auto overflow = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  if (type.isIndex() || (overflow && overflow.hasNoSignedWrap() && type.getIntOrFloatBitWidth() >= 32))
    return binary(op, symbol, binding);
  if (type.isInteger(1)) // modulo 2
    return binary(op, symbol == "*" ? "&&" : "!=", symbol == "*" ? Binding::And : Binding::Equality);
  if (type.getIntOrFloatBitWidth() < 32)
    return {typeConstructor(type) + "(" + binary(op, symbol, binding).text + ")"};
  return asUnsigned(op, symbol, binding);
}

Expression CWriter::asUnsigned(Operation *op, StringRef symbol, Binding binding) {
  Type type = scalarOf(op->getResult(0).getType());
  std::string cast = unsignedName(type);
  return {typeConstructor(type) + "(" + cast + "(" + use(op->getOperand(0)) + ") " + symbol.str() + " " + cast + "(" +
          use(op->getOperand(1)) + "))"};
}

std::string CWriter::typeConstructor(Type type) {
  std::string name = typeName(type);
  return name.find(' ') == std::string::npos ? name : "(" + name + ")";
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
  std::string a = use(op->getOperand(0), Binding::Shift), b = use(op->getOperand(1), Binding::Shift);
  auto is = [&](StringRef symbol) {
    Binding binding = symbol == "==" || symbol == "!=" ? Binding::Equality : Binding::Relation;
    return Expression{a + " " + symbol.str() + " " + b, binding};
  };
  auto isNot = [&](StringRef symbol) { return Expression{"!(" + is(symbol).text + ")", Binding::Unary}; };
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
      return Expression{is("<").text + " || " + is(">").text, Binding::Or};
    case arith::CmpFPredicate::UEQ:
      return Expression{"!(" + is("<").text + " || " + is(">").text + ")", Binding::Unary};
    case arith::CmpFPredicate::ORD:
      return Expression{a + " == " + a + " && " + b + " == " + b, Binding::And};
    case arith::CmpFPredicate::UNO:
      return Expression{a + " != " + a + " || " + b + " != " + b, Binding::Or};
    case arith::CmpFPredicate::AlwaysFalse:
      return Expression{"false"};
    case arith::CmpFPredicate::AlwaysTrue:
      return Expression{"true"};
    }
  }
  auto compare = cast<arith::CmpIOp>(op);
  if (Type type = scalarOf(compare.getLhs().getType());
      !type.isInteger(1) && static_cast<int>(compare.getPredicate()) >= static_cast<int>(arith::CmpIPredicate::ult)) {
    a = unsignedName(type) + "(" + use(compare.getLhs()) + ")";
    b = unsignedName(type) + "(" + use(compare.getRhs()) + ")";
  } else if (type.isInteger(1) && compare.getPredicate() != arith::CmpIPredicate::eq &&
             compare.getPredicate() != arith::CmpIPredicate::ne) {
    return std::nullopt; // where true is -1
  }
  switch (compare.getPredicate()) {
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

std::optional<Expression> CWriter::integerExpression(Operation *op) {
  if (isa<arith::AddIOp>(op))
    return wrapping(op, "+", Binding::Sum);
  if (isa<arith::SubIOp>(op))
    return wrapping(op, "-", Binding::Sum);
  if (isa<arith::MulIOp>(op))
    return wrapping(op, "*", Binding::Product);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    StringRef symbol = isa<arith::DivUIOp>(op) ? "/" : "%";
    bool isPlain = op->getResult(0).getType().isIndex() && llvm::all_of(op->getOperands(), [&](Value value) { return isNonNegative(value); });
    return isPlain ? binary(op, symbol, Binding::Product) : asUnsigned(op, symbol, Binding::Product);
  }
  if (isa<arith::ShLIOp>(op))
    return asUnsigned(op, "<<", Binding::Shift);
  if (isa<arith::ShRUIOp>(op))
    return asUnsigned(op, ">>", Binding::Shift);
  Type type = scalarOf(op->getResult(0).getType());
  if (isa<arith::AndIOp>(op))
    return type.isInteger(1) ? binary(op, "&&", Binding::And) : binary(op, "&", Binding::BitAnd);
  if (isa<arith::OrIOp>(op))
    return type.isInteger(1) ? binary(op, "||", Binding::Or) : binary(op, "|", Binding::BitOr);
  if (isa<arith::XOrIOp>(op)) {
    if (!type.isInteger(1))
      return binary(op, "^", Binding::BitXor);
    if (matchPattern(op->getOperand(1), m_One()))
      return Expression{"!" + use(op->getOperand(0), Binding::Unary), Binding::Unary};
    return binary(op, "!=", Binding::Equality);
  }
  if (type.isInteger(1))
    return std::nullopt;
  auto narrowed = [&](Expression made) {
    return type.isIndex() || type.getIntOrFloatBitWidth() >= 32 ? made : Expression{typeConstructor(type) + "(" + made.text + ")"};
  };
  if (isa<arith::DivSIOp>(op))
    return narrowed(binary(op, "/", Binding::Product));
  if (isa<arith::RemSIOp>(op))
    return narrowed(binary(op, "%", Binding::Product));
  if (isa<arith::ShRSIOp>(op))
    return narrowed(binary(op, ">>", Binding::Shift));
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op)) {
    StringRef function = isa<arith::FloorDivSIOp>(op) ? "floor_div" : "ceil_div";
    needs(function);
    return narrowed(call(op, function));
  }
  auto pick = [&](StringRef function, bool isUnsigned) {
    if (op->getOperand(0) == op->getOperand(1))
      return expression(op->getOperand(0));
    std::string cast = isUnsigned ? unsignedName(type) : type.isIndex() || type.getIntOrFloatBitWidth() >= 32 ? "" : "int";
    std::string text = functionName(function) + "(";
    for (unsigned i : {0, 1})
      text += (i ? ", " : "") + (cast.empty() ? use(op->getOperand(i)) : cast + "(" + use(op->getOperand(i)) + ")");
    text += ")";
    return cast.empty() ? Expression{text} : Expression{typeConstructor(type) + "(" + text + ")"};
  };
  if (isa<arith::MinSIOp>(op))
    return pick("min", false);
  if (isa<arith::MaxSIOp>(op))
    return pick("max", false);
  if (isa<arith::MinUIOp>(op))
    return pick("min", true);
  if (isa<arith::MaxUIOp>(op))
    return pick("max", true);
  if (isa<arith::CeilDivUIOp>(op)) {
    needs("ceil_div_unsigned");
    return Expression{typeConstructor(type) + "(ceil_div_unsigned(" + unsignedName(type) + "(" + use(op->getOperand(0)) + "), " +
                      unsignedName(type) + "(" + use(op->getOperand(1)) + ")))"};
  }
  return std::nullopt;
}

std::optional<Expression> CWriter::arithExpression(Operation *op) {
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return comparison(op);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return Expression{use(select.getCondition(), Binding::Or) + " ? " + use(select.getTrueValue(), Binding::Or) + " : " +
                          use(select.getFalseValue()),
                      Binding::Select};
  if (isa<arith::AddFOp>(op))
    return binary(op, "+", Binding::Sum);
  if (isa<arith::SubFOp>(op))
    return binary(op, "-", Binding::Sum);
  if (isa<arith::MulFOp>(op))
    return binary(op, "*", Binding::Product);
  if (isa<arith::DivFOp>(op))
    return binary(op, "/", Binding::Product);
  if (isa<arith::NegFOp>(op)) {
    std::string operand = use(op->getOperand(0), Binding::Unary);
    return Expression{(operand[0] == '-' ? "-(" + operand + ")" : "-" + operand), Binding::Unary};
  }
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
  Type from = scalarOf(operand.getType()), to = scalarOf(op->getResult(0).getType());
  auto construct = [&](Type type, const std::string &text) { return typeConstructor(type) + "(" + text + ")"; };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp, arith::ExtUIOp>(op)) {
    if (to.isInteger(1))
      return Expression{"(" + use(operand, Binding::BitAnd) + " & 1) != 0", Binding::Equality};
    if (from.isInteger(1) && !isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
      return Expression{"-" + construct(to, use(operand)), Binding::Unary};
    if (typeName(from) == typeName(to))
      return expression(operand);
    if (!from.isInteger(1) && isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && !isa<arith::TruncIOp>(op))
      return Expression{construct(to, unsignedName(from) + "(" + use(operand) + ")")};
    return Expression{construct(to, use(operand))};
  }
  if (isa<arith::SIToFPOp, arith::ExtFOp>(op))
    return Expression{convertFloat(op, from, to, isa<arith::SIToFPOp>(op) && from.isInteger(1) ? "-int(" + use(operand) + ")" : use(operand))};
  if (isa<arith::UIToFPOp>(op))
    return Expression{convertFloat(op, from, to, from.isInteger(1) ? "int(" + use(operand) + ")" : unsignedName(from) + "(" + use(operand) + ")")};
  if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
    if (truncate.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) != arith::RoundingMode::to_nearest_even)
      return std::nullopt;
    return Expression{convertFloat(op, from, to, use(operand))};
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    std::string number = from.isF32() || from.isF64() ? use(operand) : "float(" + use(operand) + ")";
    if (to.isInteger(1))
      return std::nullopt;
    if (isa<arith::FPToUIOp>(op))
      number = unsignedName(to) + "(" + number + ")";
    return Expression{construct(to, number)};
  }
  if (isa<arith::BitcastOp>(op)) {
    needs("bit_cast");
    // What is computed of narrow integers is an int.
    bool isNarrow = from.isInteger() && from.getIntOrFloatBitWidth() < 32;
    return Expression{"bit_cast<" + typeName(to) + ">(" + (isNarrow ? construct(from, use(operand)) : use(operand)) + ")"};
  }
  return std::nullopt;
}

// ------------------------------------------------------------------ affine

bool CWriter::isNonNegative(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isNonNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (llvm::APInt number; matchPattern(value, m_ConstantInt(&number)))
    return number.isNonNegative();
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, memref::DimOp>(op))
    return true;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return isNonNegative(apply.getAffineMap().getResult(0), op->getOperands(), apply.getAffineMap().getNumDims());
  return false;
}

bool CWriter::isNonNegative(AffineExpr expr, ValueRange operands, unsigned numDims) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue() >= 0;
  case AffineExprKind::DimId:
    return isNonNegative(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return isNonNegative(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  case AffineExprKind::Mod:
    return true;
  default: {
    auto both = cast<AffineBinaryOpExpr>(expr);
    return isNonNegative(both.getLHS(), operands, numDims) && isNonNegative(both.getRHS(), operands, numDims);
  }
  }
}

Expression CWriter::affine(AffineExpr expr, ValueRange operands, unsigned numDims) {
  auto number = [&](int64_t value) { return std::to_string(value) + (indexType == "int" ? "" : "LL"); };
  auto wrap = [](const Expression &made, Binding least) {
    return made.binding < least ? "(" + made.text + ")" : made.text;
  };
  switch (expr.getKind()) {
  case AffineExprKind::Constant: {
    int64_t value = cast<AffineConstantExpr>(expr).getValue();
    return {number(value), value < 0 ? Binding::Unary : Binding::Primary};
  }
  case AffineExprKind::DimId:
    return expression(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return expression(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  Expression left = affine(both.getLHS(), operands, numDims);
  auto constant = dyn_cast<AffineConstantExpr>(both.getRHS());
  if (expr.getKind() == AffineExprKind::Add) {
    if (constant && constant.getValue() < 0)
      return {left.text + " - " + number(-constant.getValue()), Binding::Sum};
    // x * -1 and x * -4 are subtracted.
    auto product = dyn_cast<AffineBinaryOpExpr>(both.getRHS());
    auto factor = product && product.getKind() == AffineExprKind::Mul ? dyn_cast<AffineConstantExpr>(product.getRHS()) : AffineConstantExpr();
    if (factor && factor.getValue() < 0) {
      AffineExpr positive = product.getLHS() * -factor.getValue();
      return {left.text + " - " + wrap(affine(positive, operands, numDims), Binding::Product), Binding::Sum};
    }
    return {left.text + " + " + wrap(affine(both.getRHS(), operands, numDims), Binding::Product), Binding::Sum};
  }
  Expression right = affine(both.getRHS(), operands, numDims);
  if (expr.getKind() == AffineExprKind::Mul)
    return {wrap(left, Binding::Product) + " * " + wrap(right, Binding::Unary), Binding::Product};
  bool isPlain = isNonNegative(both.getLHS(), operands, numDims);
  StringRef symbol = expr.getKind() == AffineExprKind::Mod ? "%" : "/";
  if (isPlain && expr.getKind() != AffineExprKind::CeilDiv)
    return {wrap(left, Binding::Product) + " " + symbol.str() + " " + wrap(right, Binding::Unary), Binding::Product};
  StringRef function = expr.getKind() == AffineExprKind::Mod        ? "floor_mod"
                       : expr.getKind() == AffineExprKind::FloorDiv ? "floor_div"
                                                                    : "ceil_div";
  needs(function);
  return {function.str() + "(" + left.text + ", " + right.text + ")"};
}

Expression CWriter::affineMinMax(AffineMap map, ValueRange operands, StringRef function) {
  Expression made = affine(map.getResult(0), operands, map.getNumDims());
  // Both sides have the index's type, literals too.
  for (AffineExpr expr : map.getResults().drop_front())
    made = {functionName(function) + "(" + made.text + ", " + affine(expr, operands, map.getNumDims()).text + ")"};
  return made;
}

} // namespace tilewright::source
