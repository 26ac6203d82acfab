//===- AttributeRules.h - attributes of a dialect on ops of others --------===//
//
// What one pass leaves for another are attributes of a dialect, on ops of any. A dialect has a table of them; its
// verifier refuses one that it does not know, that stands on another op, or that is of another type.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_DIALECTS_ATTRIBUTERULES_H
#define TILEWRIGHT_DIALECTS_ATTRIBUTERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace tilewright {

/// Where an attribute may stand and what it is, as a text for errors and as a test. Strings are those of a program's
/// life.
struct AttributeRule {
  llvm::StringLiteral name, where, what;
  bool (*isOn)(mlir::Operation *op);
  bool (*isOf)(mlir::Attribute value);
};

inline constexpr llvm::StringLiteral kUnit("no value"), kText("a string");

template <typename... Ops> bool isOn(mlir::Operation *op) { return mlir::isa<Ops...>(op); }
template <typename Attr> bool isOf(mlir::Attribute value) { return mlir::isa<Attr>(value); }

/// An i64 from `least` to `most`.
template <int64_t least, int64_t most> bool isNumber(mlir::Attribute value) {
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= least && number.getInt() <= most;
}
template <typename Attr> bool isArrayOf(mlir::Attribute value) {
  auto array = mlir::dyn_cast<mlir::ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<Attr>);
}

inline mlir::LogicalResult verifyByRules(llvm::ArrayRef<AttributeRule> rules, mlir::Operation *op,
                                         mlir::NamedAttribute attribute) {
  const AttributeRule *rule =
      llvm::find_if(rules, [&](const AttributeRule &known) { return known.name == attribute.getName().getValue(); });
  if (rule == rules.end())
    return op->emitOpError() << "expected an attribute that the dialect "
                             << attribute.getName().getValue().split('.').first << " has for other dialects' ops, got "
                             << attribute.getName();
  if (!rule->isOn(op))
    return op->emitOpError() << "expected " << attribute.getName() << " on " << rule->where;
  if (!rule->isOf(attribute.getValue()))
    return op->emitOpError() << "expected " << attribute.getName() << " to be " << rule->what << ", got "
                             << attribute.getValue();
  return mlir::success();
}

} // namespace tilewright

#endif
