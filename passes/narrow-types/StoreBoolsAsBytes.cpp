//===- StoreBoolsAsBytes.cpp - memrefs of i1 become memrefs of i8 ---------===//
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_STOREBOOLSASBYTES
#include "passes/narrow-types/Passes.h.inc"

namespace {

struct StoreBoolsAsBytes : impl::StoreBoolsAsBytesBase<StoreBoolsAsBytes> {
  void runOnOperation() override;
};

Type getByteMemRef(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.getElementType().isInteger(1))
    return type;
  return MemRefType::Builder(memref).setElementType(IntegerType::get(type.getContext(), 8));
}

void toByte(OpBuilder &builder, OpOperand &operand) {
  Value byte = arith::ExtUIOp::create(builder, operand.getOwner()->getLoc(), builder.getI8Type(), operand.get());
  operand.set(byte);
}

/// `value` is a byte from now on; its users see the bool.
void fromByte(OpBuilder &builder, Value value) {
  value.setType(builder.getI8Type());
  Value zero = arith::ConstantIntOp::create(builder, value.getLoc(), 0, 8);
  auto isTrue = arith::CmpIOp::create(builder, value.getLoc(), arith::CmpIPredicate::ne, value, zero);
  value.replaceAllUsesExcept(isTrue, isTrue);
}

void StoreBoolsAsBytes::runOnOperation() {
  OpBuilder builder(&getContext());
  auto isBool = [](Type type) { return type.isInteger(1); };
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      FunctionType type = func.getFunctionType();
      auto inputs = llvm::map_to_vector(type.getInputs(), getByteMemRef);
      auto results = llvm::map_to_vector(type.getResults(), getByteMemRef);
      func.setFunctionType(FunctionType::get(&getContext(), inputs, results));
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      Block &body = op->getRegion(0).front();
      Operation *yield = body.getTerminator();
      builder.setInsertionPoint(yield);
      for (auto [operand, out] : llvm::zip(yield->getOpOperands(), linalgOp.getRegionOutputArgs()))
        if (isBool(out.getType()))
          toByte(builder, operand);
      for (OpOperand &operand : op->getOpOperands()) {
        BlockArgument element = linalgOp.getMatchingBlockArgument(&operand);
        if (!isBool(element.getType()))
          continue;
        // A scalar operand, which linalg.fill stores as it is, must be of the type of its memref.
        if (isBool(operand.get().getType())) {
          builder.setInsertionPoint(op);
          toByte(builder, operand);
        }
        builder.setInsertionPointToStart(&body);
        fromByte(builder, element);
      }
    }
    if (auto load = dyn_cast<memref::LoadOp>(op); load && isBool(load.getType())) {
      builder.setInsertionPointAfter(load);
      fromByte(builder, load.getResult());
    }
    if (auto store = dyn_cast<memref::StoreOp>(op); store && isBool(store.getValue().getType())) {
      builder.setInsertionPoint(store);
      toByte(builder, store.getValueMutable());
    }
    for (Value result : op->getResults())
      result.setType(getByteMemRef(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          arg.setType(getByteMemRef(arg.getType()));
  });
}

} // namespace
} // namespace tilewright
