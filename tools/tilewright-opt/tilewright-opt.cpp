//===- tilewright-opt.cpp - MLIR's opt driver with our dialects and passes ===//
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/TargetSelect.h"

#include "TestIndex.h"
#include "passes/Registration.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tilewrightRegisterPasses();
  tilewright::registerTestIndex();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  tilewright::registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilewright's opt driver\n", registry));
}
