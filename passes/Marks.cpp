//===- Marks.cpp - what a schedule left on loops is of the type that it is ===//
#include "passes/Marks.h"
#include "passes/Repair.h"

#include "dialects/Schedule/Schedule.h"
#include "dialects/TE/TE.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilewright;

namespace {
enum class Kind { None, Unit, Number, Text, Numbers, Thread };
} // namespace

static Kind getKind(StringRef name) {
  using namespace schedule;
  return llvm::StringSwitch<Kind>(name)
      .Cases({kVectorizeAttr, kUnrollAttr, kParallelAttr, kAsyncAttr, kDeferredAttr, kStreamKAttr, kSerpentineKAttr}, Kind::Unit)
      .Cases({kMinBlocksAttr, kSwizzleAttr, kColumnsAttr, kClusterAttr, kPersistentAttr, kGroupAttr, kNarrowerAttr, kWarpAttr}, Kind::Number)
      .Cases({kAxisAttr, kInstructionAttr, te::kStageAttr, te::kExternAttr, kRollingAttr}, Kind::Text)
      .Case(kSpecializeAttr, Kind::Numbers)
      .Case(kBindAttr, Kind::Thread)
      .Default(Kind::None);
}

static bool isNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessIntOrIndex() && number.getValue().isSignedIntN(32);
}

static StringRef describe(Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return "no value";
  case Kind::Number:
    return "a number of 32 bits";
  case Kind::Text:
    return "a string";
  case Kind::Numbers:
    return "two or three numbers, array<i64: ...>";
  case Kind::Thread:
    return "#schedule.thread<...>";
  case Kind::None:
    break;
  }
  llvm_unreachable("of what is no mark nothing is expected");
}

static bool isOf(Kind kind, Attribute value) {
  switch (kind) {
  case Kind::Unit:
    return isa<UnitAttr>(value);
  case Kind::Number:
    return isNumber(value);
  case Kind::Text:
    return isa<StringAttr>(value);
  case Kind::Numbers: {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
    return numbers && numbers.size() >= 2 && numbers.size() <= 3;
  }
  case Kind::Thread:
    return isa<schedule::ThreadTagAttr>(value);
  case Kind::None:
    return true;
  }
  llvm_unreachable("all kinds are there");
}

LogicalResult tilewright::checkMarks(Operation *root) {
  WalkResult found = root->walk([](Operation *op) {
    for (NamedAttribute mark : op->getDiscardableAttrs()) {
      Kind kind = getKind(mark.getName());
      // A pipelined loop has a depth, a buffer that takes part has none.
      if (mark.getName() == schedule::kPipelineAttr)
        kind = isa<scf::ForOp>(op) ? Kind::Number : Kind::Unit;
      if (isOf(kind, mark.getValue()))
        continue;
      op->emitError() << "expected '" << mark.getName().getValue() << "' to be " << describe(kind) << ", got " << mark.getValue();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}
