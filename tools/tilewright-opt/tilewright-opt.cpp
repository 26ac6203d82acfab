//===- tilewright-opt.cpp - MLIR's opt driver with our dialects and passes ===//
#include "mlir-c/RegisterEverything.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include "TestIndex.h"
#include "passes/Registration.h"

int main(int argc, char **argv) {
  // By C names: the C++ that they stand for includes the headers of all dialects.
  mlirRegisterAllPasses();
  tilewrightRegisterPasses();
  tilewright::registerTestIndex();
  mlir::DialectRegistry registry;
  mlirRegisterAllDialects(wrap(&registry));
  mlir::registerAllToLLVMIRTranslations(registry);
  tilewright::registerDialects(registry);
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "tilewright's opt driver\n", registry);
  // What MLIR's reader cannot stand ends the tool with an error. Files in several parts are tests.
  bool isFile = input != "-" && !mlir::MlirOptMainConfig::createFromCLOptions().inputSplitMarker().size();
  if (auto file = isFile ? llvm::MemoryBuffer::getFile(input) : std::error_code(); isFile && file)
    if (auto why = tilewright::findGivenUp(registry, (*file)->getBuffer())) {
      llvm::errs() << input << ": error: expected IR that MLIR can read, got what its reader gives up on"
                   << (why->empty() ? "" : ": ") << *why << "\n";
      return 1;
    }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
