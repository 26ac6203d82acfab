//===- ScheduleMarks.cpp - what passes leave on loops, buffers and stores -===//
//
// The verifier of the dialect's attributes on ops of other dialects: on which op each may stand, and what it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/AttributeRules.h"
#include "dialects/Schedule/BoundIndices.h"
#include "dialects/Schedule/MatrixNests.h"
#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::schedule;

static bool isOutermost(Operation *op) { return isa<scf::ForOp>(op) && !op->getParentOfType<scf::ForOp>(); }
static bool isOfKernel(Operation *op) { return isOutermost(op) || isa<gpu::LaunchOp, gpu::GPUFuncOp>(op); }
static bool isOnBlockIndex(Operation *op) {
  auto bind = op->getAttrOfType<ThreadTagAttr>(kBindAttr);
  return isa<scf::ForOp>(op) && bind && bind.getValue() <= ThreadTag::BlockIdxY;
}
static bool isPipelined(Operation *op) { return isa<scf::ForOp>(op) && op->hasAttr(kPipelineAttr); }
static bool isSharedBuffer(Operation *op) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  auto space =
      alloc ? dyn_cast_or_null<gpu::AddressSpaceAttr>(alloc.getType().getMemorySpace()) : gpu::AddressSpaceAttr();
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}
static bool isOfMaps(Attribute value) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  return dictionary &&
         llvm::all_of(dictionary, [](NamedAttribute entry) { return isa<AffineMapAttr>(entry.getValue()); });
}
static bool isWarpRows(Attribute value) { return isNumber<0, 6>(value) && cast<IntegerAttr>(value).getInt() % 2 == 0; }
static constexpr StringLiteral kLoop("a loop (scf.for)");

static constexpr AttributeRule kMarkRules[] = {
    {kAxisAttr, kLoop, "#schedule.axis<...>", isOn<scf::ForOp>, isOf<AxisAttr>},
    {kBindAttr, kLoop, "#schedule.thread<...>", isOn<scf::ForOp>, isOf<ThreadTagAttr>},
    {kVectorizeAttr, kLoop, kUnit, isOn<scf::ForOp>, isOf<UnitAttr>},
    {kUnrollAttr, kLoop, kUnit, isOn<scf::ForOp>, isOf<UnitAttr>},
    {kParallelAttr, kLoop, kUnit, isOn<scf::ForOp>, isOf<UnitAttr>},
    {kPartitionAttr, kLoop, kUnit, isOn<scf::ForOp>, isOf<UnitAttr>},
    {kMinBlocksAttr, "a kernel or its outermost loop", "an i64 from 1 to 2147483647", isOfKernel,
     isNumber<1, INT32_MAX>},
    {kPipelineAttr, kLoop, "#schedule.pipeline<...>", isOn<scf::ForOp>, isOf<PipelineAttr>},
    {kPipelinedAttr, "the allocation of a buffer in shared memory", kUnit, isSharedBuffer, isOf<UnitAttr>},
    {kWarpAttr, "the allocation of a buffer in shared memory", "an i64 of 0, 2, 4 or 6", isSharedBuffer, isWarpRows},
    {kInputLayoutsAttr, "a schedule (schedule.of)", "a dictionary of affine maps", isOn<OfOp>, isOfMaps},
    {kFragmentAttr, "a primitive that says a scope", "#schedule.fragment<...>",
     isOn<CacheReadOp, CacheWriteOp, SetScopeOp>, isOf<FragmentAttr>},
    {kAsyncAttr, "a store", kUnit, isOn<memref::StoreOp, vector::StoreOp>, isOf<UnitAttr>},
    {kInstructionAttr, kLoop, "#schedule.instruction<...>", isOn<scf::ForOp>, isOf<InstructionAttr>},
    {kMatrixAxisAttr, kLoop, "#schedule.matrix_axis<...>", isOn<scf::ForOp>, isOf<MatrixAxisAttr>},
    {kOperandAttr, "a load or a store of an element (memref.load, memref.store)", "#schedule.operand<...>",
     isOn<memref::LoadOp, memref::StoreOp>, isOf<MatrixOperandAttr>},
    {kCopyAttr, "a store of an element (memref.store)", "#schedule.copy<...>", isOn<memref::StoreOp>, isOf<CopyAttr>},
    {kReduceAddAttr, "a store of an element (memref.store)", kUnit, isOn<memref::StoreOp>, isOf<UnitAttr>},
    {kSpecializeAttr, "a loop with schedule.pipeline", "#schedule.specialize<...>", isPipelined, isOf<SpecializeAttr>},
    {kRollingAttr, "a loop with schedule.pipeline", "#schedule.rolling<...>", isPipelined, isOf<RollingAttr>},
    {kClusterAttr, "a loop bound to blockIdx.x or blockIdx.y", "an i64 from 1 to 8", isOnBlockIndex, isNumber<1, 8>},
    {kBoundAttr, "a function", "an array of #schedule.thread<...>", isOn<func::FuncOp>, isArrayOf<ThreadTagAttr>},
    {kPersistentAttr, "the outermost loop of a kernel", "#schedule.persistent<...>", isOutermost, isOf<PersistentAttr>},
};

LogicalResult ScheduleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyByRules(kMarkRules, op, attribute)))
    return failure();
  if (auto instruction = dyn_cast<InstructionAttr>(attribute.getValue()))
    return verifyMatrixNest(cast<scf::ForOp>(op), instruction);
  return success();
}
