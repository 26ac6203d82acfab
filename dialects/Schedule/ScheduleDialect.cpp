#include "dialects/Schedule/Schedule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::schedule;

/// m, n and k, and how products are made and summed where that is not as the instruction does it: "16x8x16",
/// "64x64x32, tf32x3, promote = 2".
static ParseResult parseProduct(AsmParser &parser, SmallVector<int64_t> &shape, int64_t &promote, bool &tf32x3) {
  promote = 0;
  tf32x3 = false;
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  bool isMore = succeeded(parser.parseOptionalComma());
  if (isMore && succeeded(parser.parseOptionalKeyword("tf32x3"))) {
    tf32x3 = true;
    isMore = succeeded(parser.parseOptionalComma());
  }
  return failure(isMore && (parser.parseKeyword("promote") || parser.parseEqual() || parser.parseInteger(promote)));
}
static void printProduct(AsmPrinter &printer, ArrayRef<int64_t> shape, int64_t promote, bool tf32x3) {
  llvm::interleave(shape, printer, "x");
  if (tf32x3)
    printer << ", tf32x3";
  if (promote)
    printer << ", promote = " << promote;
}

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
