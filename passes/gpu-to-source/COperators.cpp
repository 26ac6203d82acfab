//===- COperators.cpp - how operators of C++ bind -------------------------===//
#include "passes/gpu-to-source/COperators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilewright::source {
namespace {

struct Operator {
  llvm::StringLiteral symbol;
  Binding binding;
};

/// The operators with two operands that are printed, all of which group from the left.
constexpr Operator operators[] = {
    {"||", Binding::Or},       {"&&", Binding::And},      {"|", Binding::BitOr},     {"^", Binding::BitXor},
    {"&", Binding::BitAnd},    {"==", Binding::Equality}, {"!=", Binding::Equality}, {"<", Binding::Relation},
    {"<=", Binding::Relation}, {">", Binding::Relation},  {">=", Binding::Relation}, {"<<", Binding::Shift},
    {">>", Binding::Shift},    {"+", Binding::Sum},       {"-", Binding::Sum},       {"*", Binding::Product},
    {"/", Binding::Product},   {"%", Binding::Product},
};

Binding bindingOf(llvm::StringRef symbol) {
  for (const Operator &known : operators)
    if (known.symbol == symbol)
      return known.binding;
  llvm_unreachable("every operator that is printed stands in the table");
}

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

} // namespace

std::string within(Binding least, const Expression &expression) {
  return expression.binding < least ? "(" + expression.text + ")" : expression.text;
}

Expression infix(const Expression &left, llvm::StringRef symbol, const Expression &right) {
  Binding binding = bindingOf(symbol);
  auto side = [&](const Expression &operand, Binding least) {
    // What readers do not know by heart has parentheses: sums in shifts and bits, && in ||, one comparison in another.
    bool isOfBits = binding == Binding::Shift || (binding >= Binding::BitOr && binding <= Binding::BitAnd);
    bool isUnclear = isOfBits                                                       ? operand.binding != binding
                     : binding == Binding::Or                                       ? operand.binding == Binding::And
                     : binding == Binding::Equality || binding == Binding::Relation ? operand.binding < Binding::Shift
                                                                                    : false;
    return within(isUnclear ? Binding::Unary : least, operand);
  };
  return {side(left, binding) + " " + symbol.str() + " " + side(right, tighter(binding)), binding};
}

Expression prefix(llvm::StringRef symbol, const Expression &operand) {
  std::string text = within(Binding::Unary, operand);
  // `--x` is another operator.
  return {symbol.str() + (symbol == text.substr(0, 1) ? "(" + text + ")" : text), Binding::Unary};
}

Expression conditional(const Expression &condition, const Expression &yes, const Expression &no) {
  return {within(Binding::Or, condition) + " ? " + within(Binding::Or, yes) + " : " + within(Binding::Select, no),
          Binding::Select};
}

Expression construct(llvm::StringRef type, const Expression &operand) {
  // The parentheses around a type make a cast, which binds as an operator with one operand.
  bool isCast = type.contains(' ') && !type.contains('<');
  // In parentheses of its own, `unsigned(int(x))` is the type of a function.
  llvm::StringRef begin = llvm::StringRef(operand.text).split('(').first;
  bool isConstructed = operand.binding == Binding::Primary && operand.text.size() > begin.size() &&
                       llvm::is_contained({"bool", "double", "float", "int", "short", "unsigned"}, begin);
  if (isCast && isConstructed)
    return {"(" + type.str() + ")" + operand.text, Binding::Unary};
  return {(isCast ? "(" + type + ")" : type).str() + "(" + operand.text + ")",
          isCast ? Binding::Unary : Binding::Primary};
}

} // namespace tilewright::source
