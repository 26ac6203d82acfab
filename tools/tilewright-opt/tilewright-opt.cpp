//===- tilewright-opt.cpp - MLIR's opt driver with our dialects and passes ===//
#include "mlir-c/RegisterEverything.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include "TestIndex.h"
#include "passes/Registration.h"

/// Loads a plug-in before MLIR does, which aborts on one that cannot be loaded. Says why it cannot be.
template <typename Plugin> static bool canLoad(llvm::StringRef path) {
  auto plugin = Plugin::load(path.str());
  if (plugin)
    return true;
  llvm::errs() << "tilewright-opt: error: expected a plug-in of MLIR's, got '" << path
               << "': " << llvm::toString(plugin.takeError()) << "\n";
  return false;
}

/// Whether the plug-ins that the arguments name can be loaded.
static bool canLoadPlugins(llvm::ArrayRef<char *> args) {
  for (auto [i, arg] : llvm::enumerate(args)) {
    auto [name, path] = llvm::StringRef(arg).split('=');
    if (!name.starts_with("-"))
      continue;
    if (path.empty() && i + 1 < args.size())
      path = args[i + 1];
    name = name.ltrim('-');
    if ((name == "load-pass-plugin" && !canLoad<mlir::PassPlugin>(path)) ||
        (name == "load-dialect-plugin" && !canLoad<mlir::DialectPlugin>(path)))
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  if (!canLoadPlugins({argv, size_t(argc)}))
    return 1;
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
