//===- EmitHostObject.cpp - object files of host functions ----------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/GuardedRun.h"
#include "passes/NativeBackEnd.h"
#include "passes/Pipelines.h"
#include "passes/host-to-ffi/FusedMultiplyAdd.h"
#include "passes/host-to-ffi/Passes.h"

#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EMITHOSTOBJECT
#include "passes/host-to-ffi/Passes.h.inc"

namespace {

/// Upstream's way from a module to LLVM IR through LLVM's pipeline, with position-independent code at its end.
struct ModuleToHostObject : LLVM::ModuleToObject {
  using ModuleToObject::ModuleToObject;

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override {
    FailureOr<llvm::TargetMachine *> fixed = getOrCreateTargetMachine();
    if (failed(fixed))
      return failure(); // which it has explained
    // The same, but for code that may stand anywhere.
    std::unique_ptr<llvm::TargetMachine> machine((*fixed)->getTarget().createTargetMachine(
        module.getTargetTriple(), chip, features, llvm::TargetOptions(), llvm::Reloc::PIC_));
    if (machine->getTargetTriple().isX86())
      for (llvm::Function &function : module)
        if (!function.isDeclaration() && !machine->getSubtargetImpl(function)->checkFeatures("+fma"))
          computeFMAInDouble(function);
    SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    std::string message;
    collectErrors(module.getContext(), message);
    if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
      return failure(); // no processor that this runs on is without object files
    passes.run(module);
    if (!message.empty()) {
      getOperation().emitError("LLVM's back end gave up: ") << message;
      return failure();
    }
    return bytes;
  }
};

/// Whether LLVM has a processor of this name. It would take another's instructions without an error.
bool knowsProcessor(StringRef tripleName, StringRef chip) {
  llvm::Triple triple(tripleName);
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (chip.empty() || !target) // of an unknown target the emission tells
    return true;
  std::unique_ptr<llvm::MCSubtargetInfo> none(target->createMCSubtargetInfo(triple, "", ""));
  return none->isCPUStringValid(chip);
}

struct EmitHostObject : impl::EmitHostObjectBase<EmitHostObject> {
  using EmitHostObjectBase::EmitHostObjectBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    initializeNativeBackEnd();
    std::string chip = mcpu, features;
    if (mcpu == "native") {
      chip = llvm::sys::getHostCPUName().str();
      for (const auto &feature : llvm::sys::getHostCPUFeatures())
        features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
    }
    std::string triple = llvm::sys::getDefaultTargetTriple();
    if (!knowsProcessor(triple, chip)) {
      getOperation()->emitError("mcpu: expected a processor that LLVM knows for ")
          << llvm::Triple(triple).getArchName() << ", got '" << chip << "'";
      return signalPassFailure();
    }
    std::optional<SmallVector<char, 0>> object;
    std::string message;
    auto emit = [&] { object = ModuleToHostObject(*getOperation(), triple, chip, features, optLevel).run(); };
    if (!runGuarded(emit, message)) {
      getOperation()->emitError("LLVM's back end gave up") << (message.empty() ? "" : ": ") << message;
      return signalPassFailure();
    }
    if (!object)
      return signalPassFailure();
    getOperation()->setAttr(kObjectAttr, StringAttr::get(&getContext(), StringRef(object->data(), object->size())));
  }
};

} // namespace
} // namespace tilewright
