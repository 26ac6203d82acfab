//===- OrderGroups.cpp - few waits for numbers that data decide ------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ORDERGROUPS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// The symbols that stand for numbers which the model computes, each with the number.
using Counts = llvm::StringMap<Value>;

/// The symbols in an expression.
SmallVector<StringRef> getSymbols(StringRef text) {
  SmallVector<StringRef> symbols;
  auto isInName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!(text = text.drop_until(isInName)).empty()) {
    symbols.push_back(text.take_while(isInName));
    text = text.drop_while(isInName);
  }
  return symbols;
}

/// Of the texts in the types and attributes of an operator, each symbol.
void walkSymbols(Operation *op, llvm::function_ref<void(StringRef)> callback) {
  auto ofText = [&](StringAttr text) {
    for (StringRef symbol : getSymbols(text.getValue()))
      callback(symbol);
  };
  if (!isa<graph::GroupOp>(op)) // whose attributes are its name, and what ends it
    op->getAttrDictionary().walk(ofText);
  for (Type type : op->getOperandTypes())
    type.walk(ofText);
  for (Type type : op->getResultTypes())
    type.walk(ofText);
}

Counts findCounts(func::FuncOp function, func::ReturnOp returned) {
  Counts counts;
  for (auto [i, value] : llvm::enumerate(returned.getOperands()))
    if (function.getResultAttr(i, graph::kCountAttr))
      counts[function.getResultAttrOfType<StringAttr>(i, graph::kNameAttr).getValue()] = value;
  return counts;
}

/// How many times a call has to wait before each op of a function.
struct Waits {
  explicit Waits(const Counts &counts) : counts(counts) {}

  const Counts &counts;
  DenseMap<Operation *, unsigned> waits;

  unsigned of(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? waits.lookup(op) : 0;
  }

  /// False where the op reads a number that is made behind it.
  bool add(Operation *op) {
    unsigned found = 0;
    bool isMade = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        found = std::max(found, of(operand));
      walkSymbols(inner, [&](StringRef symbol) {
        auto count = counts.find(symbol);
        if (count == counts.end())
          return;
        Operation *maker = count->second.getDefiningOp();
        isMade &= !maker || waits.contains(maker);
        found = std::max(found, of(count->second) + 1);
      });
    });
    waits[op] = found;
    return isMade;
  }
};

void orderFunction(func::FuncOp function) {
  auto returned = dyn_cast<func::ReturnOp>(function.front().getTerminator());
  Counts counts;
  if (!returned || (counts = findCounts(function, returned)).empty())
    return;
  Waits waits(counts);
  SmallVector<SmallVector<Operation *>> ops;
  for (Operation &op : function.front().without_terminator()) {
    if (!waits.add(&op))
      return;
    unsigned found = waits.waits[&op];
    ops.resize(std::max<size_t>(ops.size(), found + 1));
    ops[found].push_back(&op);
  }
  for (ArrayRef<Operation *> ofPhase : ops)
    for (Operation *op : ofPhase)
      op->moveBefore(returned);
}

struct OrderGroups : impl::OrderGroupsBase<OrderGroups> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.getOps<graph::GroupOp>().empty())
        orderFunction(function);
  }
};

} // namespace
} // namespace tilewright
