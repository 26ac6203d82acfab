#include "dialects/TE/TE.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::te;

#define GET_OP_CLASSES
#include "dialects/TE/TEOps.cpp.inc"
