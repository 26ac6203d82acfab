//===- WatchPasses.cpp - an end between two passes, where one is asked for -===//
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <vector>

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

/// From here on `isOver` is read before each pass that runs in `context`: once it holds another number than 0, no pass
/// runs any more, and what runs them ends with a module that is not what it should be. Null ends that.
extern "C" void tilewrightWatchPasses(MlirContext context, const std::atomic<int32_t> *isOver) {
  if (!isOver)
    return unwrap(context)->registerActionHandler({});
  unwrap(context)->registerActionHandler([isOver](function_ref<void()> run, const tracing::Action &action) {
    if (action.getTag() == PassExecutionAction::tag && isOver->load(std::memory_order_relaxed))
      return;
    run();
  });
}

static std::atomic<int32_t> abandonedThreads{0};

/// Counts threads that nobody waits for any more, `change` more than before. A process that exits while there are some
/// ends without destructors of globals, which such a thread may still use.
extern "C" void tilewrightCountAbandoned(int32_t change) {
  abandonedThreads += change;
#ifdef __GLIBC__
  static const int registered = on_exit(
      [](int status, void *) {
        if (abandonedThreads > 0) {
          std::fflush(nullptr);
          _exit(status);
        }
      },
      nullptr);
  (void)registered;
#endif
}

namespace {
/// What was said while passes ran on a thread where nobody can listen.
struct Said {
  std::vector<Diagnostic> diagnostics;
  MLIRContext *context;
};
} // namespace

/// Runs passes as `mlirPassManagerRunOnOp` does, and keeps what they say in `*said`. Nothing of Python is called, so no
/// lock of its interpreter is needed. With `verifiesEnd` the operation is verified after the last pass.
extern "C" bool tilewrightRunPasses(MlirPassManager manager, MlirOperation operation, bool verifiesEnd, void **said) {
  auto *kept = new Said{{}, unwrap(operation)->getContext()};
  *said = kept;
  ScopedDiagnosticHandler handler(kept->context, [kept](Diagnostic &diagnostic) {
    kept->diagnostics.push_back(std::move(diagnostic));
    return success();
  });
  return succeeded(unwrap(manager)->run(unwrap(operation))) && (!verifiesEnd || succeeded(verify(unwrap(operation))));
}

/// Says what was kept, to whoever listens now, and frees it.
extern "C" void tilewrightSayAgain(void *said) {
  std::unique_ptr<Said> kept(static_cast<Said *>(said));
  for (Diagnostic &diagnostic : kept->diagnostics)
    kept->context->getDiagEngine().emit(std::move(diagnostic));
}
