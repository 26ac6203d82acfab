//===- EmitPTX.cpp - PTX by LLVM's NVPTX back end, in process -------------===//
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/GuardedRun.h"
#include "passes/PassSupport.h"
#include "passes/gpu-to-nvvm/CarriedRegisters.h"
#include "passes/gpu-to-nvvm/FunctionAnalyses.h"
#include "passes/gpu-to-nvvm/LocalMemory.h"
#include "passes/gpu-to-nvvm/Negations.h"
#include "passes/gpu-to-nvvm/PackedHalves.h"
#include "passes/gpu-to-nvvm/Selects.h"
#include "passes/gpu-to-nvvm/ShortIntegers.h"
#include "passes/gpu-to-nvvm/WideProducts.h"

#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

// Not TargetSelect.h: the library holds the back end, but not every one that LLVM's configuration lists.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tilewright {
#define GEN_PASS_DEF_EMITPTX
#include "passes/gpu-to-nvvm/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

/// LLVM narrows divisions of small numbers to 16 bits. ptxas makes calls of those, and a call serialises the matmuls
/// of warpgroups around it; of 32 bits they are a few instructions.
static void widenDivisions(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *division = dyn_cast<llvm::BinaryOperator>(&instruction);
      if (!division || !division->isIntDivRem() || !division->getType()->isIntegerTy() ||
          division->getType()->getIntegerBitWidth() >= 32)
        continue;
      llvm::IRBuilder<> builder(division);
      bool isSigned =
          division->getOpcode() == llvm::Instruction::SDiv || division->getOpcode() == llvm::Instruction::SRem;
      auto widen = [&](llvm::Value *value) { return builder.CreateIntCast(value, builder.getInt32Ty(), isSigned); };
      llvm::Value *wide =
          builder.CreateBinOp(division->getOpcode(), widen(division->getOperand(0)), widen(division->getOperand(1)));
      division->replaceAllUsesWith(builder.CreateTrunc(wide, division->getType()));
      division->eraseFromParent();
    }
}

/// Of conversions to 16 bits (`cvt.rzi.s16.f32`) ptxas loses track of the upper half of the register: at -O3 it
/// compares such numbers in 32 bits, with what another number left there. Those to 32 bits it gets right.
static void widenConversions(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *conversion = dyn_cast<llvm::CastInst>(&instruction);
      if (!conversion || !isa<llvm::FPToSIInst, llvm::FPToUIInst>(conversion) ||
          conversion->getType()->getScalarSizeInBits() >= 32)
        continue;
      llvm::IRBuilder<> builder(conversion);
      llvm::Value *wide = builder.CreateCast(conversion->getOpcode(), conversion->getOperand(0),
                                             conversion->getType()->getWithNewBitWidth(32));
      conversion->replaceAllUsesWith(builder.CreateTrunc(wide, conversion->getType()));
      conversion->eraseFromParent();
    }
}

/// LLVM narrows indices of small arrays to 8 and 16 bits. LoadStoreVectorizer multiplies the difference of two by an
/// element's bytes in that width. Where the product wraps, it may take two addresses for one. In 32 bits it is right.
static void widenIndices(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *extension = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (!extension || !isa<llvm::SExtInst, llvm::ZExtInst>(extension) || !extension->getType()->isIntegerTy(64) ||
          extension->getSrcTy()->getIntegerBitWidth() >= 32 ||
          llvm::none_of(extension->users(), llvm::IsaPred<llvm::GetElementPtrInst>))
        continue;
      llvm::IRBuilder<> builder(extension);
      llvm::Value *index = extension->getOperand(0);
      extension->setOperand(0, builder.CreateCast(extension->getOpcode(), index, builder.getInt32Ty()));
    }
}

/// ptxas unrolls loops whose number of iterations it knows. It takes minutes for a function with hundreds of them,
/// which is what an unrolled loop around others becomes. In functions of more than this many loops, ptxas leaves them
/// as they are.
static constexpr size_t kMostLoopsForPtxas = 64;

static void keepManyLoops(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::SmallVector<llvm::Loop *, 4> all = loops.getLoopsInPreorder();
    if (all.size() <= kMostLoopsForPtxas)
      continue;
    for (llvm::Loop *loop : all)
      loop->setLoopAlreadyUnrolled(); // NVPTX prints it as a pragma
  }
}

/// SLPVectorizer takes minutes for a function of 20,000 instructions, which is what an unrolled nest of loops becomes.
/// Functions of more than this many instructions are left as they are.
static constexpr unsigned kMostForSLP = 10000;

/// Unrolling multiplies: loops in loops that a schedule unrolls become 40,000 instructions, and LLVM and ptxas take
/// minutes for them. Loops in functions of more than this many instructions stay loops.
static constexpr unsigned kMostForUnrolling = 8000;

/// SimplifyCFG threads a chain of branches on one condition link by link, each in an iteration of its own over the
/// whole function, and takes 1000 iterations for an error. Such chains are what unrolled loops make of a guard in them:
/// those with more than this many branches on one condition are left as they are.
static constexpr unsigned kMostBranchesOnOneCondition = 500;

static bool hasLongChainOfBranches(const llvm::Function &function) {
  if (function.size() <= kMostBranchesOnOneCondition)
    return false;
  llvm::SmallDenseMap<const llvm::Value *, unsigned> branches;
  return llvm::any_of(function, [&](const llvm::BasicBlock &block) {
    const auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
    return branch && branch->isConditional() && ++branches[branch->getCondition()] > kMostBranchesOnOneCondition;
  });
}

/// Whether LLVM runs `pass` on `unit`, a loop or a function.
static bool isWorthwhile(llvm::StringRef pass, llvm::Any unit) {
  if (const auto *loop = llvm::any_cast<const llvm::Loop *>(&unit))
    return !pass.contains("LoopFullUnroll") ||
           (*loop)->getHeader()->getParent()->getInstructionCount() <= kMostForUnrolling;
  const auto *function = llvm::any_cast<const llvm::Function *>(&unit);
  if (!function)
    return true;
  if (pass.contains("SimplifyCFG"))
    return !hasLongChainOfBranches(**function);
  unsigned most = pass.contains("SLPVectorizer")    ? kMostForSLP
                  : pass.contains("LoopUnrollPass") ? kMostForUnrolling
                                                    : ~0u;
  return most == ~0u || (*function)->getInstructionCount() <= most;
}

/// LoopStrengthReduce keeps a register for each address that a loop moves along. Where a kernel gathers the operands of
/// `mma.sync` element by element, hundreds of addresses take the registers of the accumulators, and the pass takes most
/// of the back end's time. Functions of tensor cores with more than this many loads of global memory go without it.
static constexpr unsigned kMostLoadsForStrengthReduction = 32;

static bool gathersForTensorCores(const llvm::Function &function) {
  unsigned loads = 0;
  bool usesTensorCores = false;
  for (const llvm::Instruction &instruction : llvm::instructions(function)) {
    if (const auto *load = dyn_cast<llvm::LoadInst>(&instruction))
      loads += load->getPointerAddressSpace() == 0 || load->getPointerAddressSpace() == 1;
    else if (const auto *intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction))
      usesTensorCores |= llvm::Intrinsic::getBaseName(intrinsic->getIntrinsicID()).starts_with("llvm.nvvm.mma.");
  }
  return usesTensorCores && loads > kMostLoadsForStrengthReduction;
}

namespace {
/// Keeps LoopStrengthReduce from modules with a function for which it does harm.
class BackEndGate final : public llvm::OptPassGate {
public:
  explicit BackEndGate(llvm::Module &module)
      : context(module.getContext()), before(context.getOptPassGate()),
        gathers(llvm::any_of(module, gathersForTensorCores)) {
    context.setOptPassGate(*this);
  }
  ~BackEndGate() override { context.setOptPassGate(before); }

  bool isEnabled() const override { return gathers; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return !pass.contains("Loop Strength Reduction");
  }

private:
  llvm::LLVMContext &context;
  llvm::OptPassGate &before;
  bool gathers;
};
} // namespace

/// SLPVectorizer of LLVM 22 may leave shuffles of a reduction before what they read, in one block. Moves them behind
/// it.
static void orderShuffles(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      bool isOrdered = false;
      while (!isOrdered) {
        isOrdered = true;
        for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
          llvm::Instruction *last = nullptr;
          for (llvm::Value *operand : instruction.operands())
            if (auto *read = dyn_cast<llvm::Instruction>(operand); read && read->getParent() == &block &&
                                                                   instruction.comesBefore(read) &&
                                                                   (!last || last->comesBefore(read)))
              last = read;
          if (!last || isa<llvm::PHINode>(instruction) || instruction.isTerminator() ||
              instruction.mayReadOrWriteMemory())
            continue;
          instruction.moveAfter(last);
          isOrdered = false;
        }
      }
    }
}

namespace {
/// Upstream's way from a module to LLVM IR through LLVM's pipeline, with PTX at its end.
struct ModuleToPTX : LLVM::ModuleToObject {
  using ModuleToObject::ModuleToObject;

  /// As upstream's, with limits to what unrolling, SLPVectorizer and SimplifyCFG take up.
  LogicalResult optimizeModule(llvm::Module &module, int level) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure(); // which it has explained
    const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                              llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
    assert(level >= 0 && level <= 3);
    (*machine)->setOptLevel(static_cast<llvm::CodeGenOptLevel>(level));
    llvm::PassInstrumentationCallbacks callbacks;
    callbacks.registerShouldRunOptionalPassCallback(isWorthwhile);
    llvm::PipelineTuningOptions tuning;
    tuning.LoopUnrolling = tuning.LoopInterleaving = tuning.LoopVectorization = tuning.SLPVectorization = true;
    llvm::PassBuilder builder(*machine, tuning, std::nullopt, &callbacks);
    tilewright::FunctionAnalyses analyses(builder);
    llvm::ModulePassManager passes = level == 0 ? builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0)
                                                : builder.buildPerModuleDefaultPipeline(levels[level]);
    passes.run(module, analyses.modules);
    orderShuffles(module);
    return success();
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure(); // which it has explained
    widenDivisions(module);
    widenConversions(module);
    tilewright::widenShortIntegers(module);
    tilewright::makeHighProductsWide(module);
    tilewright::unpackSignedHalves(module);
    tilewright::completeNegations(module);
    tilewright::selectHalvesByMasks(module);
    tilewright::compareBitsAsPredicates(module);
    tilewright::initializeCarriedRegisters(module);
    widenIndices(module);
    tilewright::keepOrderBesideLocalMemory(module);
    tilewright::keepOrderBehindWaits(module);
    keepManyLoops(module);
    BackEndGate gate(module);
    FailureOr<SmallString<0>> text =
        translateModuleToISA(module, **machine, [&] { return getOperation().emitError(); });
    if (failed(text))
      return failure();
    return SmallVector<char, 0>(text->begin(), text->end());
  }
};
} // namespace

namespace tilewright {
namespace {

struct EmitPTX : impl::EmitPTXBase<EmitPTX> {
  using EmitPTXBase::EmitPTXBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    auto target = module.getTargetsAttr() && module.getTargetsAttr().size() == 1
                      ? dyn_cast<NVVM::NVVMTargetAttr>(module.getTargetsAttr()[0])
                      : nullptr;
    if (!target) {
      module.emitError("expected a gpu.module with one #nvvm.target");
      return signalPassFailure();
    }
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
    std::optional<SmallVector<char, 0>> text;
    std::string message;
    auto handleErrors = [&](llvm::Module &llvmModule) { collectErrors(llvmModule.getContext(), message); };
    auto emit = [&] {
      text =
          ModuleToPTX(*module, target.getTriple(), target.getChip(), target.getFeatures(), target.getO(), handleErrors)
              .run();
    };
    if (!runGuarded(emit, message) || !message.empty()) {
      module.emitError("LLVM's NVPTX back end gave up for ")
          << target.getChip() << (message.empty() ? "" : ": ") << message;
      return signalPassFailure();
    }
    if (!text)
      return signalPassFailure();
    module->setAttr(kPTXAttr, StringAttr::get(&getContext(), StringRef(text->data(), text->size())));
  }
};

} // namespace
} // namespace tilewright
