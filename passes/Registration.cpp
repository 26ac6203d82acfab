//===- Registration.cpp - the plug-in's entry points ----------------------===//
#include "passes/Registration.h"

#include "dialects/Graph/Graph.h"
#include "dialects/Program/Program.h"
#include "dialects/Schedule/Schedule.h"
#include "dialects/TE/TE.h"
#include "dialects/Target/Architectures.h"
#include "dialects/Tile/Tile.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Parser/Parser.h"
#include "passes/GuardedRun.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/gpu-to-sim/Pipeline.h"
#include "passes/linalg-to-cpu/BufferizeExterns.h"

using namespace mlir;

void tilewright::registerDialects(DialectRegistry &registry) {
  registry.insert<te::TEDialect, schedule::ScheduleDialect, tile::TileDialect, graph::GraphDialect, ProgramDialect>();
  registerExternBufferization(registry);
}

extern "C" void tilewrightRegisterDialects(MlirDialectRegistry registry) {
  tilewright::registerDialects(*unwrap(registry));
}

std::optional<std::string> tilewright::findGivenUp(const DialectRegistry &registry, llvm::StringRef text) {
  std::string message;
  auto read = [&] {
    // On the heap: where it is left halfway it is not to be touched again.
    auto *context = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context));
    module = {};
    delete context;
  };
  if (runGuarded(read, message))
    return std::nullopt;
  return message;
}

extern "C" const char *tilewrightFindGivenUp(MlirDialectRegistry registry, const char *text, size_t size) {
  thread_local std::string why;
  auto found = tilewright::findGivenUp(*unwrap(registry), llvm::StringRef(text, size));
  if (!found)
    return nullptr;
  why = std::move(*found);
  return why.c_str();
}

/// The parameters of an attribute of the schedule dialect as a dictionary; null of another.
extern "C" MlirAttribute tilewrightAttributeParameters(MlirAttribute attribute) {
  return wrap(static_cast<Attribute>(tilewright::schedule::getParameters(unwrap(attribute))));
}

extern "C" void tilewrightRegisterPasses() {
  tilewright::registerTilewrightPasses();
  tilewright::registerTilewrightPipelines();
  tilewright::registerLinalgToCPUPipeline();
  tilewright::registerSimPipeline();
}

/// The architectures that can be compiled for, separated by ", ".
extern "C" const char *tilewrightArchitectures() {
  static const std::string names = tilewright::knownArchitectures();
  return names.c_str();
}
