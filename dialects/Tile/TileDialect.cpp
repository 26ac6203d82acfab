#include "dialects/Tile/Tile.h"

#include "dialects/AttributeRules.h"
#include "dialects/Tile/Instructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

#include "dialects/Tile/TileDialect.cpp.inc"
#include "dialects/Tile/TileEnums.cpp.inc"
#include "dialects/Tile/TileInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
}

static constexpr tilewright::AttributeRule kRules[] = {
    {kLeastIterationsAttr, "a loop (scf.for)", "an i64 of at least 1", tilewright::isOn<scf::ForOp>,
     tilewright::isNumber<1, INT64_MAX>},
    {kGatheredAttr, "a TMA load (nvvm.cp.async.bulk.tensor.shared.cluster.global)", "an i64 from 0 to 4",
     tilewright::isOn<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>, tilewright::isNumber<0, 4>},
};

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tilewright::verifyByRules(kRules, op, attribute);
}
