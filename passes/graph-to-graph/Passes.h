#ifndef TILEWRIGHT_PASSES_GRAPH_TO_GRAPH_PASSES_H
#define TILEWRIGHT_PASSES_GRAPH_TO_GRAPH_PASSES_H

#include "dialects/Graph/Libraries.h"
#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/graph-to-graph/Passes.h.inc"
} // namespace tilewright

#endif
