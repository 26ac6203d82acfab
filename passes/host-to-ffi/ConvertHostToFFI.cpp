//===- ConvertHostToFFI.cpp - host programs as functions of tvm-ffi's ABI -===//
#include "dialects/Program/Program.h"
#include "passes/host-to-ffi/ArgumentChecks.h"
#include "passes/host-to-ffi/ConstantTables.h"
#include "passes/host-to-ffi/Passes.h"
#include "passes/host-to-ffi/ProgramTables.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTHOSTTOFFI
#include "passes/host-to-ffi/Passes.h.inc"

namespace {

struct ConvertHostToFFI : impl::ConvertHostToFFIBase<ConvertHostToFFI> {
  using ConvertHostToFFIBase::ConvertHostToFFIBase;

  void runOnOperation() override {
    if (managed && target != TargetKind::CUDA) {
      getOperation()->emitOpError(
          "expected target=cuda with managed=true: the arrays of other targets are this machine's anyway");
      return signalPassFailure();
    }
    SmallVector<LLVM::LLVMFuncOp> functions;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kArgumentsAttr) && !function.isExternal())
        functions.push_back(function);
    for (LLVM::LLVMFuncOp function : functions)
      if (failed(convert(function)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(LLVM::LLVMFuncOp function);
  LLVM::LLVMFuncOp createCall(ImplicitLocOpBuilder builder, const HostProgram &program, FlatSymbolRefAttr signature,
                              FlatSymbolRefAttr described);
  LLVM::LLVMFuncOp createSafeCall(ImplicitLocOpBuilder &builder, const Twine &name);
  void createEntry(ImplicitLocOpBuilder builder, const HostProgram &program, FlatSymbolRefAttr signature,
                   LLVM::LLVMFuncOp call);
  void createTextFunction(ImplicitLocOpBuilder builder, ConstantTables &tables, const Twine &name, StringRef text);
  void createLoad(ImplicitLocOpBuilder builder, const HostProgram &program, FlatSymbolRefAttr described);
  LogicalResult createModelEntry(ImplicitLocOpBuilder builder, const HostProgram &program, FlatSymbolRefAttr signature,
                                 FlatSymbolRefAttr described);
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> arguments);
  void needRunTime(ImplicitLocOpBuilder builder);

  /// Where the arguments are, as a target's are.
  TargetKind placeOfArguments() const { return managed ? TargetKind::CPU : target; }
  StringRef runner() const {
    return target == TargetKind::Sim ? "tilewrightSimRun"
           : managed                 ? "tilewrightHostRunManaged"
                                     : "tilewrightHostRunCuda";
  }

  Type i32() { return IntegerType::get(&getContext(), 32); }
  Type i64() { return IntegerType::get(&getContext(), 64); }
  Type pointer() { return LLVM::LLVMPointerType::get(&getContext()); }
};

Value addressOf(ImplicitLocOpBuilder &builder, FlatSymbolRefAttr symbol) {
  return LLVM::AddressOfOp::create(builder, LLVM::LLVMPointerType::get(builder.getContext()), symbol);
}

/// A function of the run time, declared once.
LLVM::LLVMFuncOp ConvertHostToFFI::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
  return LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, arguments));
}

LLVM::LLVMFuncOp ConvertHostToFFI::createCall(ImplicitLocOpBuilder builder, const HostProgram &program,
                                              FlatSymbolRefAttr signature, FlatSymbolRefAttr described) {
  auto type = LLVM::LLVMFunctionType::get(i32(), {pointer(), pointer(), i32()});
  auto call = LLVM::LLVMFuncOp::create(builder, (program.name() + "_call").str(), type);
  Block *entry = call.addEntryBlock(builder);
  Value stream = entry->getArgument(0), args = entry->getArgument(1), count = entry->getArgument(2);

  int64_t numExtents = 0;
  for (const HostArgument &argument : program.arguments)
    numExtents += argument.numExtents();
  numExtents += program.numOptional;
  builder.setInsertionPointToStart(entry);
  auto allocate = [&](int64_t count) -> Value {
    Value size = LLVM::ConstantOp::create(builder, i32(), std::max<int64_t>(count, 1));
    return LLVM::AllocaOp::create(builder, pointer(), i64(), size, /*alignment=*/8);
  };
  ArgumentSlots slots;
  slots.data = allocate(program.arguments.size() + program.numOptional);
  slots.shape = allocate(numExtents);
  Block *bind = builder.createBlock(&call.getBody(), call.getBody().end());
  Block *refuse = builder.createBlock(&call.getBody(), call.getBody().end());
  Block *run = builder.createBlock(&call.getBody(), call.getBody().end(), {i32()}, {builder.getLoc()});

  builder.setInsertionPointToEnd(entry);
  ArgumentChecks checks(builder, program, placeOfArguments(), slots, bind);
  if (Value device = checks.emit(args, count))
    LLVM::BrOp::create(builder, ValueRange{device}, run);

  // What is no plain call: the run time finds out whether it is one at all, and takes it apart.
  builder.setInsertionPointToEnd(bind);
  LLVM::LLVMFuncOp binds = declare("tilewrightHostBind", i32(), {pointer(), pointer(), i32(), pointer(), pointer()});
  auto bound = LLVM::CallOp::create(builder, binds,
                                    ValueRange{addressOf(builder, signature), args, count, slots.data, slots.shape});
  Value zero = LLVM::ConstantOp::create(builder, i32(), 0);
  Value failed = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::slt, bound.getResult(), zero);
  LLVM::CondBrOp::create(builder, failed, refuse, ValueRange(), run, bound.getResult());
  builder.setInsertionPointToEnd(refuse);
  LLVM::ReturnOp::create(builder, bound.getResult());

  builder.setInsertionPointToEnd(run);
  LLVM::CallOp status;
  if (target == TargetKind::CPU) {
    Value null = LLVM::ZeroOp::create(builder, pointer());
    status = LLVM::CallOp::create(builder, program.function, ValueRange{slots.data, slots.shape, null, null});
  } else {
    LLVM::LLVMFuncOp runs = declare(runner(), i32(), {pointer(), pointer(), i32(), pointer(), pointer()});
    status = LLVM::CallOp::create(
        builder, runs, ValueRange{addressOf(builder, described), stream, run->getArgument(0), slots.data, slots.shape});
  }
  LLVM::ReturnOp::create(builder, status.getResult());
  return call;
}

/// A function of tvm-ffi's ABI, `builder` in its body.
LLVM::LLVMFuncOp ConvertHostToFFI::createSafeCall(ImplicitLocOpBuilder &builder, const Twine &name) {
  auto type = LLVM::LLVMFunctionType::get(i32(), {pointer(), pointer(), i32(), pointer()});
  auto function = LLVM::LLVMFuncOp::create(builder, name.str(), type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

/// Stores None where a function of tvm-ffi's ABI returns its result.
void storeNone(ImplicitLocOpBuilder &builder, Value result) {
  Value zero = LLVM::ConstantOp::create(builder, builder.getI64Type(), 0);
  Value second =
      LLVM::GEPOp::create(builder, result.getType(), builder.getI64Type(), result, ArrayRef<LLVM::GEPArg>{1});
  LLVM::StoreOp::create(builder, zero, result);
  LLVM::StoreOp::create(builder, zero, second);
}

void ConvertHostToFFI::createTextFunction(ImplicitLocOpBuilder builder, ConstantTables &tables, const Twine &name,
                                          StringRef text) {
  FlatSymbolRefAttr symbol = tables.text(text).symbol;
  LLVM::LLVMFuncOp function = createSafeCall(builder, name);
  LLVM::LLVMFuncOp give = declare("tilewrightHostReturnText", i32(), {pointer(), i64(), pointer()});
  Value length = LLVM::ConstantOp::create(builder, i64(), text.size());
  auto status =
      LLVM::CallOp::create(builder, give, ValueRange{addressOf(builder, symbol), length, function.getArgument(3)});
  LLVM::ReturnOp::create(builder, status.getResult());
}

void ConvertHostToFFI::createLoad(ImplicitLocOpBuilder builder, const HostProgram &program,
                                  FlatSymbolRefAttr described) {
  LLVM::LLVMFuncOp function = createSafeCall(builder, "__tvm_ffi_" + program.name() + "_load");
  storeNone(builder, function.getArgument(3));
  LLVM::LLVMFuncOp load = declare("tilewrightHostLoad", i32(), {pointer(), pointer(), i32()});
  auto status = LLVM::CallOp::create(
      builder, load, ValueRange{addressOf(builder, described), function.getArgument(1), function.getArgument(2)});
  LLVM::ReturnOp::create(builder, status.getResult());
}

/// The function that tvm-ffi calls. Where it is given the inputs alone, the outputs are allocated and returned.
void ConvertHostToFFI::createEntry(ImplicitLocOpBuilder builder, const HostProgram &program,
                                   FlatSymbolRefAttr signature, LLVM::LLVMFuncOp call) {
  LLVM::LLVMFuncOp entry = createSafeCall(builder, "__tvm_ffi_" + program.name());
  Value args = entry.getArgument(1), count = entry.getArgument(2), result = entry.getArgument(3);
  storeNone(builder, result);
  if (llvm::any_of(program.arguments, [](const HostArgument &argument) { return argument.isAllocated(); })) {
    Block *before = builder.getInsertionBlock();
    Block *allocating = builder.createBlock(&entry.getBody(), entry.getBody().end());
    LLVM::LLVMFuncOp allocate =
        declare("tilewrightHostCallAllocating", i32(), {pointer(), pointer(), pointer(), i32(), pointer()});
    Value callee = addressOf(builder, FlatSymbolRefAttr::get(call));
    auto status =
        LLVM::CallOp::create(builder, allocate, ValueRange{addressOf(builder, signature), callee, args, count, result});
    LLVM::ReturnOp::create(builder, status.getResult());
    Block *plain = builder.createBlock(allocating);
    builder.setInsertionPointToEnd(before);
    Value number = LLVM::ConstantOp::create(builder, i32(), program.parameters.size());
    Value all = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, count, number);
    LLVM::CondBrOp::create(builder, all, plain, ValueRange(), allocating, ValueRange(),
                           std::pair<uint32_t, uint32_t>(100, 1));
    builder.setInsertionPointToStart(plain);
  }
  Value stream = LLVM::ZeroOp::create(builder, pointer());
  auto status = LLVM::CallOp::create(builder, call, ValueRange{stream, args, count});
  LLVM::ReturnOp::create(builder, status.getResult());
}

/// The functions of a model that tvm-ffi calls: all of it is the run time's, by what `@f_model` says.
LogicalResult ConvertHostToFFI::createModelEntry(ImplicitLocOpBuilder builder, const HostProgram &program,
                                                 FlatSymbolRefAttr signature, FlatSymbolRefAttr described) {
  auto name = StringAttr::get(&getContext(), program.name() + "_model");
  if (!getOperation().lookupSymbol<LLVM::GlobalOp>(name))
    return LLVM::LLVMFuncOp(program.function).emitOpError("expected @") << name.getValue() << " beside it";
  auto table = FlatSymbolRefAttr::get(name);
  auto begin = [&](const Twine &suffix, StringRef callee, ArrayRef<Type> types) {
    LLVM::LLVMFuncOp function = createSafeCall(builder, "__tvm_ffi_" + program.name() + suffix);
    storeNone(builder, function.getArgument(3));
    return std::pair(function, declare(callee, i32(), types));
  };
  auto end = [&](LLVM::LLVMFuncOp callee, ValueRange operands) {
    LLVM::ReturnOp::create(builder, LLVM::CallOp::create(builder, callee, operands).getResult());
  };
  auto programOrNull = [&]() -> Value {
    return described ? addressOf(builder, described) : LLVM::ZeroOp::create(builder, pointer());
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    auto [function, callee] =
        begin("", "tilewrightHostCallModel", {pointer(), pointer(), pointer(), pointer(), i32(), pointer()});
    end(callee, {addressOf(builder, table), addressOf(builder, signature), programOrNull(), function.getArgument(1),
                 function.getArgument(2), function.getArgument(3)});
  }
  if (described) {
    auto [function, callee] = begin("_load", "tilewrightHostLoadModel", {pointer(), pointer(), pointer(), i32()});
    end(callee, {addressOf(builder, table), programOrNull(), function.getArgument(1), function.getArgument(2)});
  }
  return success();
}

/// An address of the run time as a constant, which the linker or the loader has to fill in: a library that was linked
/// without the run time is refused then, and not at the first call that needs it.
void ConvertHostToFFI::needRunTime(ImplicitLocOpBuilder builder) {
  ModuleOp module = getOperation();
  if (module.lookupSymbol("llvm.used"))
    return;
  builder.setInsertionPointToEnd(module.getBody());
  auto addressGlobal = [&](StringRef name, Type type, LLVM::Linkage linkage, StringRef symbol, bool isArray) {
    auto global = LLVM::GlobalOp::create(builder, type, /*isConstant=*/false, linkage, name, Attribute());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&global.getInitializerRegion());
    Value value = LLVM::AddressOfOp::create(builder, pointer(), symbol);
    if (isArray) {
      Value array = LLVM::PoisonOp::create(builder, type);
      value = LLVM::InsertValueOp::create(builder, array, value, ArrayRef<int64_t>{0});
    }
    LLVM::ReturnOp::create(builder, value);
    return global;
  };
  addressGlobal("tilewright_run_time", pointer(), LLVM::Linkage::Internal, "tilewrightHostBind", /*isArray=*/false);
  addressGlobal("llvm.used", LLVM::LLVMArrayType::get(pointer(), 1), LLVM::Linkage::Appending, "tilewright_run_time",
                /*isArray=*/true)
      .setSection("llvm.metadata");
}

LogicalResult ConvertHostToFFI::convert(LLVM::LLVMFuncOp function) {
  FailureOr<HostProgram> program = HostProgram::of(function);
  if (failed(program))
    return failure();
  // They are copied to the GPU as one piece, and back.
  for (const HostArgument &argument : program->arguments)
    if (managed && !argument.strides.empty())
      return function.emitError("expected row-major arguments with host=\"managed\", got ") << argument.text();
  auto workspaceBytes =
      getOperation().lookupSymbol<LLVM::LLVMFuncOp>((function.getSymName() + "_workspace_bytes").str());
  if (!workspaceBytes)
    return function.emitOpError("expected @") << function.getSymName() << "_workspace_bytes beside it";
  ImplicitLocOpBuilder builder(function.getLoc(), function);
  builder.setInsertionPointAfter(workspaceBytes);
  ConstantTables tables(builder, function.getLoc(), function.getSymName());
  FlatSymbolRefAttr signature = createSignature(tables, *program, placeOfArguments()), described;
  if (target != TargetKind::CPU) {
    FailureOr<FlatSymbolRefAttr> made = createProgram(tables, *program, signature, workspaceBytes);
    if (failed(made))
      return failure();
    described = *made;
  }
  LLVM::LLVMFuncOp call = model ? nullptr : createCall(builder, *program, signature, described);
  createTextFunction(builder, tables, "__tvm_ffi__metadata_" + program->name(), program->metadata(target));
  createTextFunction(builder, tables, "__tvm_ffi__doc_" + program->name(),
                     program->documentation(placeOfArguments(), managed));
  if (target == TargetKind::CUDA && !model)
    createLoad(builder, *program, described);

  if (!model)
    createEntry(builder, *program, signature, call);
  else if (failed(createModelEntry(builder, *program, signature, described)))
    return failure();

  // What several functions as one are made of.
  auto table = getOperation().lookupSymbol<LLVM::GlobalOp>(signature);
  table.setLinkage(LLVM::Linkage::External);
  if (!exported)
    return success();
  if (!model) // which calls it when it is loaded
    needRunTime(builder);
  table.setVisibility_(LLVM::Visibility::Hidden);
  if (call)
    call.setVisibility_(LLVM::Visibility::Hidden);
  for (LLVM::LLVMFuncOp hidden : {function, workspaceBytes})
    hidden.setLinkage(LLVM::Linkage::Internal);
  if (described)
    getOperation().lookupSymbol<LLVM::GlobalOp>(described).setLinkage(LLVM::Linkage::Internal);
  return success();
}

} // namespace
} // namespace tilewright
