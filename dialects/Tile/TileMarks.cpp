//===- TileMarks.cpp - what passes leave on loops and copies --------------===//
//
// The verifier of the dialect's attributes on ops of other dialects: on which op each may stand, and what it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/AttributeRules.h"
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

static constexpr tilewright::AttributeRule kRules[] = {
    {kLeastIterationsAttr, "a loop (scf.for)", "an i64 of at least 1", tilewright::isOn<scf::ForOp>,
     tilewright::isNumber<1, INT64_MAX>},
    {kGatheredAttr, "a TMA load (nvvm.cp.async.bulk.tensor.shared.cluster.global)", "an i64 from 0 to 4",
     tilewright::isOn<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>, tilewright::isNumber<0, 4>},
};

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tilewright::verifyByRules(kRules, op, attribute);
}
