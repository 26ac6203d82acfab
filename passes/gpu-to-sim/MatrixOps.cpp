//===- MatrixOps.cpp - what the lanes of a simulated warp do with matrices -===//
#include "passes/PassSupport.h"
#include "passes/gpu-to-nvvm/MatrixPatterns.h"

#include "passes/gpu-to-sim/SimSupport.h"
#include "runtime/sim/ABI.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace tilewright {

static VectorType getFlat(Type type) {
  auto vector = cast<VectorType>(type);
  return VectorType::get({vector.getNumElements()}, vector.getElementType());
}

/// The same with bytes in place of floats of 8 bits, which LLVM has none of.
static VectorType getStored(VectorType type) {
  bool isByte = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() == 8;
  return isByte ? type.clone(IntegerType::get(type.getContext(), 8)) : type;
}

static Value flatten(OpBuilder &builder, Location loc, Value value) {
  return vector::ShapeCastOp::create(builder, loc, getFlat(value.getType()), value);
}

static std::optional<sim::MatrixTypes> getTypes(nvgpu::MmaSyncOp op) {
  Type a = cast<VectorType>(op.getMatrixA().getType()).getElementType();
  Type sum = cast<VectorType>(op.getType()).getElementType();
  if (a.isF16() && sum.isF32())
    return sim::MatrixTypes::F16ToF32;
  if (a.isF16() && sum.isF16())
    return sim::MatrixTypes::F16ToF16;
  if (a.isBF16() && sum.isF32())
    return sim::MatrixTypes::BF16ToF32;
  if (a.isF32() && sum.isF32() && op.getTf32Enabled())
    return sim::MatrixTypes::TF32ToF32;
  if (auto factor = op->getAttrOfType<TypeAttr>(kOperandTypeAttr))
    return isa<Float8E4M3FNType>(factor.getValue()) ? sim::MatrixTypes::E4M3ToF32 : sim::MatrixTypes::E5M2ToF32;
  if (a.isInteger(8) && sum.isInteger(32))
    return sim::MatrixTypes::S8ToS32;
  return std::nullopt;
}

FailureOr<vector::LoadOp> sim::convertMatrixOp(Operation *op, Value state,
                                               llvm::function_ref<Value(int64_t)> createSlot) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto spill = [&](Value value) {
    auto type = cast<VectorType>(value.getType());
    Value slot = createSlot(getElementBytes(type));
    if (VectorType stored = getStored(type); stored != type)
      value = arith::BitcastOp::create(builder, loc, stored, value);
    LLVM::StoreOp::create(builder, loc, value, slot, /*alignment=*/1);
    return slot;
  };
  auto finish = [&](Value slot) {
    VectorType flatType = getFlat(op->getResult(0).getType()), stored = getStored(flatType);
    Value flat = LLVM::LoadOp::create(builder, loc, stored, slot, /*alignment=*/1);
    if (stored != flatType)
      flat = arith::BitcastOp::create(builder, loc, flatType, flat);
    op->getResult(0).replaceAllUsesWith(vector::ShapeCastOp::create(builder, loc, op->getResult(0).getType(), flat));
    op->erase();
  };
  auto i32 = [&](int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32).getResult(); };
  if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op)) {
    // Each lane reads the row that it names; then the rows are dealt out.
    Type element = cast<VectorType>(load.getType()).getElementType();
    auto type = VectorType::get({16 * 8 / element.getIntOrFloatBitWidth()}, element);
    auto row = vector::LoadOp::create(builder, loc, type, load.getSrcMemref(), load.getIndices());
    Value slot = spill(row), result = createSlot(16);
    sim::callRuntime(builder, loc, sim::loadMatricesFunction, {},
                     {state, sim::createSite(builder, loc, "ldmatrix"), i32(load.getNumTiles()),
                      i32(load.getTranspose()), slot, result});
    finish(result);
    return row;
  }
  auto mma = cast<nvgpu::MmaSyncOp>(op);
  std::optional<sim::MatrixTypes> types = getTypes(mma);
  auto [m, n, k] = mma.getMmaShapeAsArray();
  if (!types || m != 16 || n != 8)
    return op->emitError("expected an mma that the simulator computes, got ")
           << mma.getMatrixA().getType() << " to " << mma.getType();
  Value a = spill(flatten(builder, loc, mma.getMatrixA())), b = spill(flatten(builder, loc, mma.getMatrixB()));
  Value c = spill(flatten(builder, loc, mma.getMatrixC()));
  sim::callRuntime(
      builder, loc, sim::multiplyFunction, {},
      {state, sim::createSite(builder, loc, "mma.sync"), i32(static_cast<int32_t>(*types)), i32(k), a, b, c});
  finish(c);
  return vector::LoadOp();
}

} // namespace tilewright
