//===- Registration.cpp - the plug-in's entry points ----------------------===//
#include "passes/Registration.h"

#include "dialects/Graph/Graph.h"
#include "dialects/Tile/Tile.h"
#include "mlir/CAPI/IR.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "dialects/Target/Architectures.h"
#include "passes/gpu-to-sim/Pipeline.h"
#include "passes/linalg-to-cpu/BufferizeExterns.h"

using namespace mlir;

void tilewright::registerDialects(DialectRegistry &registry) {
  registry.insert<te::TEDialect, schedule::ScheduleDialect, tile::TileDialect, graph::GraphDialect>();
  registerExternBufferization(registry);
}

extern "C" void tilewrightRegisterDialects(MlirDialectRegistry registry) { tilewright::registerDialects(*unwrap(registry)); }

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
