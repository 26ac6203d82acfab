//===- SimSupport.cpp - what the passes to the simulator share ------------===//
#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/AddressSpaces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

static std::string findFileLine(Location location) {
  if (auto file = dyn_cast<FileLineColRange>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getStartLine())).str();
  if (auto name = dyn_cast<NameLoc>(location))
    return findFileLine(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    std::string callee = findFileLine(call.getCallee());
    return callee.empty() ? findFileLine(call.getCaller()) : callee;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (std::string found = findFileLine(inner); !found.empty())
        return found;
  return {};
}

std::string tilewright::sim::describeLocation(Location location) {
  std::string found = findFileLine(location);
  return found.empty() ? "an unknown line" : found;
}

Value tilewright::sim::traceViews(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (view.getViewSource() == memref)
      break;
    memref = view.getViewSource();
  }
  return memref;
}

std::string tilewright::sim::nameBuffer(Value memref) {
  // The view nearest to the access knows best: all shared buffers are views of one symbol.
  for (Value value = memref; value;) {
    Operation *op = value.getDefiningOp();
    if (op)
      for (StringRef attribute : {StringRef(te::kNameAttr), StringRef(te::kStageAttr)})
        if (auto name = op->getAttrOfType<StringAttr>(attribute))
          return name.str();
    if (auto name = value.getLoc()->findInstanceOf<NameLoc>())
      return name.getName().str();
    auto view = dyn_cast_or_null<ViewLikeOpInterface>(op);
    value = view ? view.getViewSource() : Value();
  }
  auto type = cast<BaseMemRefType>(memref.getType());
  return isShared(type) ? "shared memory" : isPrivate(type) ? "a local array" : "a buffer";
}

std::string tilewright::sim::nameTile(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(te::kStageAttr))
    return name.str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return (op->getName().stripDialect() + " of " + describeLocation(op->getLoc())).str();
}

bool tilewright::sim::isShared(BaseMemRefType type) { return isSharedMemory(type); }

bool tilewright::sim::isPrivate(BaseMemRefType type) { return isPrivateMemory(type); }

func::CallOp tilewright::sim::callRuntime(OpBuilder &builder, Location location, StringRef callee, TypeRange results,
                                          ValueRange operands) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(callee)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = builder.getFunctionType(operands.getTypes(), results);
    func::FuncOp::create(builder, module.getLoc(), callee, type).setPrivate();
  }
  return func::CallOp::create(builder, location, callee, results, operands);
}

Value tilewright::sim::createSite(OpBuilder &builder, Location location, StringRef name) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string text = name.str() + '\0' + describeLocation(location) + '\0';
  auto made = module->getAttrOfType<IntegerAttr>(kSimSitesAttr);
  int64_t number = made ? made.getInt() : 0;
  module->setAttr(kSimSitesAttr, builder.getI64IntegerAttr(number + 1));
  std::string symbol = ("site" + Twine(number)).str();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    LLVM::GlobalOp::create(builder, location, LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal, symbol, builder.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()), symbol);
}
