#ifndef TILEWRIGHT_VERIFY_STAGE_PASSES
#define TILEWRIGHT_VERIFY_STAGE_PASSES

include "mlir/Pass/PassBase.td"

def VerifyStage : Pass<"verify-stage", "mlir::ModuleOp"> {
  let summary = "The program is at a stage: what an earlier stage has is gone, what the next one needs is there";
  let description = [{
    The verifiers of ops and attributes say what each of them may be; this pass says what may stand together, as
    docs/stages.md has it. It changes nothing. The pipelines run it at their edges. It refuses IR of passes that ran in
    another order, or edited IR, where the stage is left. The error names the pass that was to run.

    A loop of one iteration that is bound is gone where loops were simplified before `map-loops-to-gpu`. The function says what
    `apply-schedule` bound:

    ```mlir
    func.func @f(%A: memref<1xf32>) attributes {schedule.bound = [#schedule.thread<blockIdx.x>]} {
      memref.store %x, %A[%c0] : memref<1xf32>
      return
    }
    ```
    is refused at stage `loops`.
  }];
  let options = [Option<"stage", "stage", "tilewright::Stage", "tilewright::Stage::Loops", "the stage that the program is at",
                        [{::llvm::cl::values(clEnumValN(tilewright::Stage::TE, "te", "tensor expressions and their schedule"),
                             clEnumValN(tilewright::Stage::Linalg, "linalg", "linalg on tensors, the schedule beside it"),
                             clEnumValN(tilewright::Stage::Loops, "loops", "scheduled loops on memrefs"),
                             clEnumValN(tilewright::Stage::GPU, "gpu", "kernels and their launches"),
                             clEnumValN(tilewright::Stage::NVVM, "nvvm", "kernels in the LLVM and NVVM dialects"))}]>];
}

#endif // TILEWRIGHT_VERIFY_STAGE_PASSES
