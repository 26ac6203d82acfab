//===- HostJIT.cpp - machine code of host functions, in this process -------===//
// Upstream's ExecutionEngine also compiles a wrapper of each function, and makes an object for a memory of any size.
// This takes twice the time.
#include "passes/NativeBackEnd.h"

#include "mlir/CAPI/IR.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Target/TargetMachine.h"

// Not TargetSelect.h: the library holds this machine's back end, but not every one that LLVM's configuration lists.
extern "C" {
void LLVM_NATIVE_TARGETINFO();
void LLVM_NATIVE_TARGET();
void LLVM_NATIVE_TARGETMC();
void LLVM_NATIVE_ASMPRINTER();
}

using namespace mlir;
using namespace llvm::orc;

void tilewright::initializeNativeBackEnd() {
  static const bool done = [] {
    LLVM_NATIVE_TARGETINFO();
    LLVM_NATIVE_TARGET();
    LLVM_NATIVE_TARGETMC();
    LLVM_NATIVE_ASMPRINTER();
    return true;
  }();
  (void)done;
}

namespace {
struct HostJIT {
  std::unique_ptr<llvm::TargetMachine> machine; // the compiler of `jit` uses it
  std::unique_ptr<LLJIT> jit;
};

/// A machine of this processor; what it is takes a while to find out.
JITTargetMachineBuilder thisMachine() {
  static const JITTargetMachineBuilder host = [] {
    tilewright::initializeNativeBackEnd();
    JITTargetMachineBuilder found = llvm::cantFail(JITTargetMachineBuilder::detectHost()); // which cannot
    found.setRelocationModel(llvm::Reloc::PIC_).setCodeModel(llvm::CodeModel::Small);
    return found;
  }();
  return host;
}

llvm::Error compile(HostJIT &made, Operation *module, int32_t level, bool isQuick, llvm::ArrayRef<const char *> names,
                    llvm::ArrayRef<uint64_t> addresses) {
  JITTargetMachineBuilder builder = thisMachine();
  if (isQuick)
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto machine = builder.createTargetMachine();
  if (!machine)
    return machine.takeError();
  made.machine = std::move(*machine);

  registerBuiltinDialectTranslation(*module->getContext());
  registerLLVMDialectTranslation(*module->getContext());
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, *context);
  if (!translated)
    return llvm::createStringError(""); // MLIR has said what is wrong
  translated->setTargetTriple(made.machine->getTargetTriple());
  translated->setDataLayout(made.machine->createDataLayout());

  auto compiler = [&](const JITTargetMachineBuilder &) -> llvm::Expected<std::unique_ptr<IRCompileLayer::IRCompiler>> {
    return std::make_unique<SimpleCompiler>(*made.machine);
  };
  auto jit = LLJITBuilder().setJITTargetMachineBuilder(builder).setCompileFunctionCreator(compiler).create();
  if (!jit)
    return jit.takeError();
  made.jit = std::move(*jit);
  // LLVM's passes run with its back end at the first look-up, which Ctrl-C ends.
  auto optimize = makeOptimizingTransformer(level, /*sizeLevel=*/0, made.machine.get());
  made.jit->getIRTransformLayer().setTransform(
      [optimize](ThreadSafeModule module, MaterializationResponsibility &) -> llvm::Expected<ThreadSafeModule> {
        if (llvm::Error error = module.withModuleDo([&](llvm::Module &inside) { return optimize(&inside); }))
          return error;
        return module;
      });

  SymbolMap symbols;
  for (auto [name, address] : llvm::zip_equal(names, addresses))
    symbols[made.jit->mangleAndIntern(name)] = {ExecutorAddr(address), llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = made.jit->getMainJITDylib().define(absoluteSymbols(std::move(symbols))))
    return error;
  return made.jit->addIRModule(ThreadSafeModule(std::move(translated), std::move(context)));
}
} // namespace

/// The machine code of a module of LLVM's dialect, after LLVM's passes of `level`. The code is made at the first
/// look-up, with `isQuick` in a third of the time and without optimization. Null where it cannot be: `say` has been
/// told why.
extern "C" void *tilewrightJITCreate(MlirOperation module, int32_t level, bool isQuick, const char *const *names,
                                     const uint64_t *addresses, int64_t count, void (*say)(const char *)) {
  auto made = std::make_unique<HostJIT>();
  llvm::Error error =
      compile(*made, unwrap(module), level, isQuick, {names, size_t(count)}, {addresses, size_t(count)});
  if (!error)
    return made.release();
  say(llvm::toString(std::move(error)).c_str());
  return nullptr;
}

/// The address of a function or a global, 0 if there is none.
extern "C" uint64_t tilewrightJITLookup(void *jit, const char *name) {
  llvm::Expected<ExecutorAddr> found = static_cast<HostJIT *>(jit)->jit->lookup(name);
  if (found)
    return found->getValue();
  llvm::consumeError(found.takeError());
  return 0;
}

extern "C" void tilewrightJITDestroy(void *jit) { delete static_cast<HostJIT *>(jit); }
