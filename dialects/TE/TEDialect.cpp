#include "dialects/TE/TE.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::te;

#include "dialects/TE/TEDialect.cpp.inc"
#include "dialects/TE/TEEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/TE/TEAttrs.cpp.inc"

void TEDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/TE/TEAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/TE/TEOps.cpp.inc"
      >();
}
