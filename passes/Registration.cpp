//===- Registration.cpp - the plug-in's entry points ----------------------===//
#include "passes/Registration.h"

#include "dialects/Graph/Graph.h"
#include "dialects/Program/KernelInterfaces.h"
#include "dialects/Program/Program.h"
#include "dialects/Schedule/Schedule.h"
#include "dialects/TE/TE.h"
#include "dialects/Target/Architectures.h"
#include "dialects/Tile/Tile.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
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
  registerKernelInterfaces(registry);
}

extern "C" void tilewrightRegisterDialects(MlirDialectRegistry registry) {
  tilewright::registerDialects(*unwrap(registry));
}

/// Whether a kernel or a launch says a number of attributions that upstream's verifier must not see: it counts in
/// unsigned numbers of 32 bits, and reads what lies beyond the arguments of the region.
static bool hasWrongAttributions(Operation *op) {
  StringRef name;
  if (isa<gpu::GPUFuncOp>(op))
    name = gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName();
  else if (isa<gpu::LaunchOp>(op))
    name = gpu::LaunchOp::getNumWorkgroupAttributionsAttrName();
  else
    return false;
  auto count = op->getAttrOfType<IntegerAttr>(name);
  return count && (count.getValue().isNegative() || count.getValue().getActiveBits() > 31);
}

/// MLIR's reader, its printer and many passes call themselves for each level of nesting, until the stack ends.
static constexpr unsigned kMaxNesting = 1000;

/// Whether brackets, or signs, stand in each other deeper than that. Bytecode has its own reader.
static bool isNestedTooDeep(StringRef text) {
  if (text.starts_with("ML\xefR"))
    return false;
  unsigned depth = 0, signs = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"') { // up to its end, past what is escaped
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
    } else if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at).starts_with("->") || text.substr(at).starts_with(">=")) {
      ++at;
    } else if (StringRef("([{<").contains(c)) {
      ++depth;
    } else if (StringRef(")]}>").contains(c)) {
      depth -= depth > 0;
    }
    if (c != ' ' && c != '\n')
      signs = c == '-' ? signs + 1 : 0;
    if (std::max(depth, signs) > kMaxNesting)
      return true;
  }
  return false;
}

std::optional<std::string> tilewright::findGivenUp(const DialectRegistry &registry, llvm::StringRef text) {
  if (isNestedTooDeep(text))
    return "brackets or signs nested deeper than " + std::to_string(kMaxNesting);
  std::string message;
  bool wrong = false;
  auto read = [&] {
    // On the heap: where it is left halfway it is not to be touched again.
    auto *context = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    // Verified apart from reading: a verifier that reads beyond its op may do so unseen.
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context, /*verifyAfterParse=*/false));
    if (module)
      module->walk([&](Operation *op) {
        wrong |= hasWrongAttributions(op);
        return wrong ? WalkResult::interrupt() : WalkResult::advance();
      });
    if (module && !wrong)
      (void)verify(*module);
    module = {};
    delete context;
  };
  if (!runGuarded(read, message))
    return message;
  if (wrong)
    return "a number of workgroup attributions outside of 0 to 2^31 - 1";
  return std::nullopt;
}

extern "C" const char *tilewrightFindGivenUp(MlirDialectRegistry registry, const char *text, size_t size) {
  thread_local std::string why;
  auto found = tilewright::findGivenUp(*unwrap(registry), llvm::StringRef(text, size));
  if (!found)
    return nullptr;
  why = std::move(*found);
  return why.c_str();
}

/// The parameters of an attribute of the dialect schedule, of a reducer of te, or of a library's call in the dialect
/// graph, as a dictionary; null of another.
extern "C" MlirAttribute tilewrightAttributeParameters(MlirAttribute attribute) {
  Attribute given = unwrap(attribute);
  if (auto reducer = dyn_cast_or_null<tilewright::te::ReducerKindAttr>(given)) {
    Builder builder(reducer.getContext());
    auto kind = builder.getStringAttr(tilewright::te::stringifyReducerKind(reducer.getValue()));
    return wrap(static_cast<Attribute>(builder.getDictionaryAttr(builder.getNamedAttr("reducer", kind))));
  }
  if (auto call = dyn_cast_or_null<tilewright::graph::LibraryMatmulAttr>(given))
    return wrap(static_cast<Attribute>(tilewright::graph::getParameters(call)));
  return wrap(static_cast<Attribute>(tilewright::schedule::getParameters(given)));
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
