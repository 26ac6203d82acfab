//===- COperators.h - how operators of C++ bind ---------------------------===//
//
// Every expression of more than a name, a number or a call is made by the functions here, from one table of operators,
// so that a parenthesis is never left out.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_COPERATORS_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_COPERATORS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilewright::source {

/// How tightly an expression binds; what binds less tightly than its place asks for gets parentheses.
enum class Binding { Select, Or, And, BitOr, BitXor, BitAnd, Equality, Relation, Shift, Sum, Product, Unary, Primary };

struct Expression {
  std::string text;
  Binding binding = Binding::Primary;
};

/// The text of an expression, in parentheses if it binds less tightly than `least`.
std::string within(Binding least, const Expression &expression);
/// `left symbol right`, of an operator with two operands.
Expression infix(const Expression &left, llvm::StringRef symbol, const Expression &right);
/// `-operand`, `!operand`, `~operand`.
Expression prefix(llvm::StringRef symbol, const Expression &operand);
/// `condition ? yes : no`.
Expression conditional(const Expression &condition, const Expression &yes, const Expression &no);
/// `type(operand)`; a type of more than one word is in parentheses.
Expression construct(llvm::StringRef type, const Expression &operand);

} // namespace tilewright::source

#endif
