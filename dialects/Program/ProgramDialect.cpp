//===- ProgramDialect.cpp - attributes on programs, kernels and launches --===//
#include "dialects/Program/Program.h"

#include "dialects/AttributeRules.h"
#include "dialects/Schedule/Schedule.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace tilewright;

#include "dialects/Program/ProgramDialect.cpp.inc"

void ProgramDialect::initialize() {}

static bool isLaunch(Attribute value) {
  auto entries = dyn_cast<DictionaryAttr>(value);
  return entries && llvm::all_of(entries, [](NamedAttribute entry) {
           if (entry.getName() != kCluster)
             return (entry.getName() == kDependent || entry.getName() == kCooperative) &&
                    isa<UnitAttr>(entry.getValue());
           auto sizes = dyn_cast<DenseI32ArrayAttr>(entry.getValue());
           return sizes && sizes.size() == 3 && llvm::all_of(sizes.asArrayRef(), [](int32_t size) { return size > 0; });
         });
}
static bool isOrigin(Attribute value) {
  auto entries = dyn_cast<DictionaryAttr>(value);
  return entries && llvm::all_of(entries, [](NamedAttribute entry) { return isa<StringAttr>(entry.getValue()); });
}
static bool isClusterSize(Attribute value) {
  auto sizes = dyn_cast<DenseI32ArrayAttr>(value);
  return sizes && sizes.size() == 3;
}
static bool hasBuffer(Operation *op) { return op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()); }

static constexpr StringLiteral kLaunchOp("a launch"), kFunction("a function"), kHostFunction("a host function"),
    kLauncherCall("a call of the launcher (llvm.call)");

static constexpr AttributeRule kRules[] = {
    {kLaunchAttr, "a schedule, a function or a kernel",
     "a dictionary of dependent and cooperative without a value and cluster of three numbers, array<i32: ...>",
     isOn<schedule::OfOp, func::FuncOp, gpu::GPUFuncOp, LLVM::LLVMFuncOp>, isLaunch},
    {kNonEmptyAttr, kLaunchOp, kUnit, isOn<gpu::LaunchOp, gpu::LaunchFuncOp, tile::KernelOp>, isOf<UnitAttr>},
    {kLaunchOriginAttr, kLaunchOp, "a dictionary of strings",
     isOn<gpu::LaunchOp, gpu::LaunchFuncOp, tile::KernelOp, LLVM::CallOp>, isOrigin},
    {kWorkspaceBytesAttr, kFunction, "an i64 of at least 0", isOn<func::FuncOp>, isNumber<0, INT64_MAX>},
    {kUniformAttr, "a shuffle", kUnit, isOn<gpu::ShuffleOp>, isOf<UnitAttr>},
    {kExchangedAttr, "a load (memref.load)", kUnit, isOn<memref::LoadOp>, isOf<UnitAttr>},
    {kOperandTypeAttr, "nvgpu.mma.sync", "a type", isOn<nvgpu::MmaSyncOp>, isOf<TypeAttr>},
    {kScheduledAttr, kFunction, kUnit, isOn<func::FuncOp>, isOf<UnitAttr>},
    {kArgumentsAttr, kHostFunction, "an array of dictionaries", isOn<func::FuncOp, LLVM::LLVMFuncOp>,
     isArrayOf<DictionaryAttr>},
    {kKernelsAttr, kHostFunction, "an array of strings", isOn<func::FuncOp, LLVM::LLVMFuncOp>, isArrayOf<StringAttr>},
    {kKernelAttr, kLauncherCall, kText, isOn<LLVM::CallOp>, isOf<StringAttr>},
    {kLaunchClusterAttr, kLauncherCall, "three numbers, array<i32: ...>", isOn<LLVM::CallOp>, isClusterSize},
    {kCubinsAttr, kHostFunction, "a dictionary of strings", isOn<LLVM::LLVMFuncOp>, isOrigin},
    {kPTXAttr, "a module of kernels", kText, isOn<gpu::GPUModuleOp>, isOf<StringAttr>},
    {kObjectAttr, "a module", kText, isOn<ModuleOp>, isOf<StringAttr>},
    {kCUDASourceAttr, "a module", kText, isOn<ModuleOp, gpu::GPUModuleOp>, isOf<StringAttr>},
    {kHostSourceAttr, kFunction, kText, isOn<func::FuncOp>, isOf<StringAttr>},
    {kCUDALinesAttr, "a module", "an array of locations", isOn<ModuleOp, gpu::GPUModuleOp>, isArrayOf<LocationAttr>},
    {kHostLinesAttr, kFunction, "an array of locations", isOn<func::FuncOp>, isArrayOf<LocationAttr>},
    {kSimKernelAttr, kFunction, kUnit, isOn<func::FuncOp, LLVM::LLVMFuncOp>, isOf<UnitAttr>},
    {kSimArgumentAttr, "a buffer", "an i64 of at least 0", hasBuffer, isNumber<0, INT64_MAX>},
    {kSimSitesAttr, "a module", "an i64 of at least 0", isOn<ModuleOp>, isNumber<0, INT64_MAX>},
    {kSimCopyAttr, "a store of vectors", kUnit, isOn<vector::StoreOp>, isOf<UnitAttr>},
};

LogicalResult ProgramDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyByRules(kRules, op, attribute);
}
