//===- ConvertGPUToHost.cpp - gpu.launch_func through a launcher ----------===//
//
// The host function of the gpu stage becomes a function of the host ABI (docs/stages.md): pointers and extents come in
// as two arrays, each launch goes out through a function pointer. What computes the extents (arith, cf) is left in
// place; upstream's conversions take it to the LLVM dialect afterwards.
//
//===----------------------------------------------------------------------===//
#include "dialects/Program/Program.h"
#include "passes/gpu-to-host/Launches.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTGPUTOHOST
#include "passes/gpu-to-host/Passes.h.inc"

namespace {
struct ConvertGPUToHost : impl::ConvertGPUToHostBase<ConvertGPUToHost> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      FailureOr<KernelNumbers> kernels = numberKernels(function, symbols);
      if (failed(kernels) || failed(convert(function, *kernels)))
        return signalPassFailure();
    }
    for (auto gpuModule : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
      gpuModule.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  LogicalResult convert(func::FuncOp function, const KernelNumbers &kernels);
  LLVM::LLVMFuncOp createWorkspaceBytes(OpBuilder builder, func::FuncOp function, const HostSignature &signature);
};

/// What a reader of the host stage, and Python, want to know of the arguments that the ABI has made into arrays.
ArrayAttr describeArguments(func::FuncOp function, unsigned count) {
  SmallVector<Attribute> described;
  Builder builder(function.getContext());
  for (unsigned i = 0; i < count; ++i) {
    NamedAttrList entry(function.getArgAttrDict(i));
    entry.set("type", TypeAttr::get(function.getArgumentTypes()[i]));
    described.push_back(entry.getDictionary(function.getContext()));
  }
  return builder.getArrayAttr(described);
}

/// The end of the furthest view into the workspace; -1 where it is beyond 64 bits.
LLVM::LLVMFuncOp ConvertGPUToHost::createWorkspaceBytes(OpBuilder builder, func::FuncOp function,
                                                        const HostSignature &signature) {
  Location loc = function.getLoc();
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(i64, {LLVM::LLVMPointerType::get(builder.getContext())});
  auto result = LLVM::LLVMFuncOp::create(builder, loc, (function.getSymName() + "_workspace_bytes").str(), type);
  builder.setInsertionPointToStart(result.addEntryBlock(builder));
  if (auto bytes = function->getAttrOfType<IntegerAttr>(kWorkspaceBytesAttr); bytes || !signature.workspace) {
    Value value = LLVM::ConstantOp::create(builder, loc, i64, bytes ? bytes.getInt() : 0);
    LLVM::ReturnOp::create(builder, loc, value);
    return result;
  }

  SetVector<Operation *> slice;
  SmallVector<memref::ViewOp> views;
  for (Operation *user : signature.workspace.getUsers())
    if (auto view = dyn_cast<memref::ViewOp>(user))
      views.push_back(view);
  // The users of a value come last first.
  std::reverse(views.begin(), views.end());
  BackwardSliceOptions options;
  options.inclusive = true;
  for (memref::ViewOp view : views)
    for (Value operand : view->getOperands().drop_front())
      (void)getBackwardSlice(operand, &slice, options);
  IRMapping mapping;
  Block &entry = function.getBody().front();
  auto mapNumber = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &entry && !isa<MemRefType>(argument.getType()) && !mapping.contains(value))
      mapping.map(value,
                  signature.createNumber(builder, value.getLoc(), result.getArgument(0), argument.getArgNumber()));
  };
  for (Operation *op : topologicalSort(slice)) {
    if (op->getBlock() != &entry) {
      op->emitOpError("expected what the workspace's size depends on to stand at the top of @")
          << function.getSymName();
      result.erase();
      return nullptr;
    }
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!argument || argument == signature.workspace || !dimension ||
          uint64_t(*dimension) >= uint64_t(cast<MemRefType>(argument.getType()).getRank())) {
        op->emitOpError("expected an extent of an argument");
        result.erase();
        return nullptr;
      }
      mapping.map(dim.getResult(), signature.createExtent(builder, dim.getLoc(), result.getArgument(0),
                                                          argument.getArgNumber(), *dimension));
      continue;
    }
    for (Value operand : op->getOperands())
      mapNumber(operand);
    builder.clone(*op, mapping);
  }
  auto number = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, loc, i64, value); };
  Value zero = number(0), most = zero;
  // Views follow each other, so the first one that is too far begins below 0 if it does not end there.
  Value isBeyond = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(), 0);
  auto checkNegative = [&](Value value) {
    Value isNegative = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, value, zero);
    isBeyond = LLVM::OrOp::create(builder, loc, isBeyond, isNegative);
  };
  Type checked = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i64, builder.getI1Type()});
  for (memref::ViewOp view : views) {
    MemRefType viewed = view.getType();
    Value size = number(getElementBytes(viewed.getElementType()));
    unsigned dynamic = 0;
    for (int64_t extent : viewed.getShape()) {
      Value factor = ShapedType::isDynamic(extent)
                         ? asI64(builder, view.getLoc(), mapping.lookupOrDefault(view.getSizes()[dynamic++]))
                         : number(extent);
      Value product = LLVM::SMulWithOverflowOp::create(builder, view.getLoc(), checked, size, factor);
      size = LLVM::ExtractValueOp::create(builder, view.getLoc(), product, 0);
      Value overflows = LLVM::ExtractValueOp::create(builder, view.getLoc(), product, 1);
      isBeyond = LLVM::OrOp::create(builder, view.getLoc(), isBeyond, overflows);
    }
    Value begin = asI64(builder, view.getLoc(), mapping.lookupOrDefault(view.getByteShift()));
    Value end = LLVM::AddOp::create(builder, view.getLoc(), begin, size);
    checkNegative(begin);
    checkNegative(end);
    most = LLVM::SMaxOp::create(builder, view.getLoc(), most, end);
  }
  LLVM::ReturnOp::create(builder, loc, LLVM::SelectOp::create(builder, loc, isBeyond, number(-1), most).getResult());
  return result;
}

LogicalResult ConvertGPUToHost::convert(func::FuncOp function, const KernelNumbers &kernels) {
  FailureOr<HostSignature> signature = HostSignature::of(function);
  if (failed(signature))
    return failure();
  Location loc = function.getLoc();
  OpBuilder builder(function);
  LLVM::LLVMFuncOp bytes = createWorkspaceBytes(builder, function, *signature);
  if (!bytes)
    return failure();

  Type i32 = builder.getI32Type();
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, pointer});
  SmallVector<NamedAttribute> attributes;
  SmallVector<StringRef> names(kernels.names);
  attributes.emplace_back(kArgumentsAttr, describeArguments(function, signature->argumentCount()));
  attributes.emplace_back(kKernelsAttr, builder.getStrArrayAttr(names));
  if (Attribute launch = function->getAttr(kLaunchAttr))
    attributes.emplace_back(kLaunchAttr, launch);
  builder.setInsertionPoint(bytes);
  // Both functions have one name until the old one goes, which nothing refers to.
  auto host = LLVM::LLVMFuncOp::create(builder, loc, function.getSymName(), type, LLVM::Linkage::External,
                                       /*dsoLocal=*/false, LLVM::CConv::C, /*comdat=*/{}, attributes);
  host.getBody().takeBody(function.getBody());
  Block &entry = host.getBody().front();
  SmallVector<Value> abi;
  for (unsigned i = 0; i < 4; ++i)
    abi.push_back(entry.insertArgument(i, pointer, loc));
  builder.setInsertionPointToStart(&entry);
  HostBuffers buffers(*signature, builder, /*data=*/abi[0], /*shape=*/abi[1], /*workspace=*/abi[2]);
  SmallVector<tile::EncodeOp> encodes;
  host.walk([&](tile::EncodeOp encode) { encodes.push_back(encode); });
  LaunchFrame frame = createFrame(builder, loc, /*launcher=*/abi[3], kernels, !encodes.empty());
  if (failed(buffers.convertUses(host)))
    return failure();

  Block *stop = builder.createBlock(&host.getBody(), host.getBody().end(), {i32}, {loc});
  LLVM::ReturnOp::create(builder, loc, stop->getArgument(0));
  for (tile::EncodeOp encode : encodes)
    convertEncode(encode, buffers, frame, stop);
  SmallVector<gpu::LaunchFuncOp> launches;
  host.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  for (gpu::LaunchFuncOp launch : launches)
    convertLaunch(launch, buffers, frame, kernels, stop);
  host.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    Value ok = LLVM::ConstantOp::create(builder, op.getLoc(), i32, 0);
    LLVM::ReturnOp::create(builder, op.getLoc(), ok);
    op.erase();
  });
  for (tile::EncodeOp encode : encodes)
    encode.erase();
  buffers.erase();
  entry.eraseArguments(4, entry.getNumArguments() - 4);
  if (launches.empty() && encodes.empty())
    stop->erase();
  function.erase();
  return success();
}
} // namespace
} // namespace tilewright
