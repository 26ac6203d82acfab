//===- ProgramTables.h - what the run time knows of a program, as tables --===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_PROGRAMTABLES_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_PROGRAMTABLES_H

#include "passes/host-to-ffi/ConstantTables.h"
#include "passes/host-to-ffi/HostProgram.h"

namespace tilewright {

/// The table of a program's arguments, which are at `place`.
mlir::FlatSymbolRefAttr createSignature(ConstantTables &tables, const HostProgram &program, TargetKind place);
/// The table of a program's kernels, of their images, and of how they are launched.
mlir::FailureOr<mlir::FlatSymbolRefAttr> createProgram(ConstantTables &tables, const HostProgram &program,
                                                       mlir::FlatSymbolRefAttr signature,
                                                       mlir::LLVM::LLVMFuncOp workspaceBytes);

} // namespace tilewright

#endif
