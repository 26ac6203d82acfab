//===- GuardedRun.cpp - what ends a process elsewhere ends a function here -===//
#include "passes/GuardedRun.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <mutex>

bool tilewright::runGuarded(llvm::function_ref<void()> function, std::string &message) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex); // both handlers are the process's own
  llvm::ScopedFatalErrorHandler handler(
      [](void *text, const char *reason, bool) {
        // Another thread's LLVM is not ours to rescue.
        if (auto *recovery = llvm::CrashRecoveryContext::GetCurrent()) {
          *static_cast<std::string *>(text) = reason;
          recovery->HandleExit(1);
        }
      },
      &message);
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  // LLVM notes on its stack what it is doing; those notes go with the stack.
  const void *notes = llvm::SavePrettyStackState();
  bool done = recovery.RunSafely(function);
  if (!done)
    llvm::RestorePrettyStackState(notes);
  llvm::CrashRecoveryContext::Disable();
  return done;
}

void tilewright::collectErrors(llvm::LLVMContext &context, std::string &message) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *text) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(text));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &message);
}
