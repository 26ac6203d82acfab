#include "dialects/Schedule/Schedule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::schedule;

/// m, n and k, as in "16x8x16".
static ParseResult parseMatrixShape(AsmParser &parser, SmallVector<int64_t> &shape) {
  return parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false);
}
static void printMatrixShape(AsmPrinter &printer, ArrayRef<int64_t> shape) { llvm::interleave(shape, printer, "x"); }

#include "dialects/Schedule/ScheduleDialect.cpp.inc"
#include "dialects/Schedule/ScheduleEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Schedule/ScheduleAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Schedule/ScheduleTypes.cpp.inc"

void ScheduleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Schedule/ScheduleAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Schedule/ScheduleTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Schedule/ScheduleOps.cpp.inc"
      >();
}
