//===- MultiversionHostFunctions.cpp - several processors in one object ---===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/host-to-ffi/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_MULTIVERSIONHOSTFUNCTIONS
#include "passes/host-to-ffi/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// The levels of the x86-64 psABI, whose number tilewrightHostCpuLevel returns.
static int64_t levelOf(StringRef cpu) {
  return llvm::StringSwitch<int64_t>(cpu).Case("x86-64-v2", 2).Case("x86-64-v3", 3).Case("x86-64-v4", 4).Default(0);
}

/// `function` and every function with a body that it reaches through calls and addresses.
static SetVector<LLVM::LLVMFuncOp> reachableFrom(LLVM::LLVMFuncOp function, SymbolTable &symbols) {
  SetVector<LLVM::LLVMFuncOp> reached;
  reached.insert(function);
  for (size_t i = 0; i < reached.size(); ++i)
    LLVM::LLVMFuncOp(reached[i]).walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        attribute.getValue().walk([&](FlatSymbolRefAttr symbol) {
          auto callee = symbols.lookup<LLVM::LLVMFuncOp>(symbol.getAttr());
          if (callee && !callee.isExternal())
            reached.insert(callee);
        });
    });
  return reached;
}

/// Makes `function` a choice between `versions`, the highest level first, the last of which runs everywhere.
static void emitChoice(LLVM::LLVMFuncOp function, ArrayRef<std::pair<int64_t, LLVM::LLVMFuncOp>> versions,
                       LLVM::LLVMFuncOp findLevel) {
  ImplicitLocOpBuilder builder(function.getLoc(), function.getContext());
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  ValueRange arguments = function.getArguments();
  Value here = LLVM::CallOp::create(builder, findLevel, ValueRange()).getResult();
  for (auto [level, version] : versions) {
    Block *next = nullptr;
    if (version != versions.back().second) {
      Value wanted = LLVM::ConstantOp::create(builder, builder.getI32Type(), level);
      Value suits = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::sge, here, wanted);
      Block *from = builder.getInsertionBlock(), *call = function.addBlock();
      next = function.addBlock();
      builder.setInsertionPointToEnd(from);
      LLVM::CondBrOp::create(builder, suits, call, next);
      builder.setInsertionPointToStart(call);
    }
    auto result = LLVM::CallOp::create(builder, version, arguments);
    LLVM::ReturnOp::create(builder, result->getResults());
    if (next)
      builder.setInsertionPointToStart(next);
  }
}

namespace tilewright {
namespace {

struct MultiversionHostFunctions : impl::MultiversionHostFunctionsBase<MultiversionHostFunctions> {
  using MultiversionHostFunctionsBase::MultiversionHostFunctionsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<StringRef> cpus(levels.begin(), levels.end());
    for (StringRef cpu : cpus)
      if (levelOf(cpu) == 0) {
        module.emitError("expected levels x86-64-v2, x86-64-v3 or x86-64-v4, got '") << cpu << "'";
        return signalPassFailure();
      }
    llvm::sort(cpus, [](StringRef a, StringRef b) { return levelOf(a) > levelOf(b); });
    cpus.erase(llvm::unique(cpus), cpus.end());
    if (cpus.empty())
      return;
    SmallVector<LLVM::LLVMFuncOp> programs;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kArgumentsAttr) && !function.isExternal())
        programs.push_back(function);
    if (programs.empty())
      return;

    SymbolTable symbols(module);
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(module.getBody());
    auto findLevel = symbols.lookup<LLVM::LLVMFuncOp>("tilewrightHostCpuLevel");
    if (!findLevel)
      findLevel = LLVM::LLVMFuncOp::create(builder, module.getLoc(), "tilewrightHostCpuLevel",
                                           LLVM::LLVMFunctionType::get(builder.getI32Type(), {}));
    for (LLVM::LLVMFuncOp program : programs)
      multiversion(program, cpus, symbols, findLevel);
  }

  /// Copies `program` with what it reaches for each of `cpus`; it then calls the copy that the processor at hand runs.
  void multiversion(LLVM::LLVMFuncOp program, ArrayRef<StringRef> cpus, SymbolTable &symbols,
                    LLVM::LLVMFuncOp findLevel) {
    SetVector<LLVM::LLVMFuncOp> reached = reachableFrom(program, symbols);
    SmallVector<std::pair<int64_t, LLVM::LLVMFuncOp>> versions;
    for (StringRef cpu : cpus) {
      SmallVector<LLVM::LLVMFuncOp> copies;
      DenseMap<StringAttr, StringAttr> renamed;
      for (LLVM::LLVMFuncOp function : reached) {
        LLVM::LLVMFuncOp copy = function.clone();
        copy.setSymName((function.getSymName() + "." + cpu).str());
        copy.setLinkage(LLVM::Linkage::Internal);
        copy.setTargetCpu(cpu);
        copy->removeAttr(kArgumentsAttr);
        symbols.insert(copy, Block::iterator(program));
        renamed[function.getSymNameAttr()] = copy.getSymNameAttr();
        copies.push_back(copy);
      }
      AttrTypeReplacer replacer;
      replacer.addReplacement([&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
        StringAttr name = renamed.lookup(symbol.getAttr());
        return name ? std::optional<Attribute>(FlatSymbolRefAttr::get(name)) : std::nullopt;
      });
      for (LLVM::LLVMFuncOp copy : copies)
        replacer.recursivelyReplaceElementsIn(copy);
      versions.push_back({levelOf(cpu), copies.front()});
    }
    // What every processor runs that the object is made for: the function as it came.
    LLVM::LLVMFuncOp base = program.clone();
    base.setSymName((program.getSymName() + ".base").str());
    base.setLinkage(LLVM::Linkage::Internal);
    base->removeAttr(kArgumentsAttr);
    symbols.insert(base, Block::iterator(program));
    versions.push_back({0, base});
    program.getBody().dropAllReferences();
    program.getBody().getBlocks().clear();
    emitChoice(program, versions, findLevel);
  }
};

} // namespace
} // namespace tilewright
