//===- Libraries.h - libraries that compute groups, by name ---------------===//
#ifndef TILEWRIGHT_DIALECTS_GRAPH_LIBRARIES_H
#define TILEWRIGHT_DIALECTS_GRAPH_LIBRARIES_H

#include "mlir/IR/OpImplementation.h"

#include "dialects/Graph/GraphEnums.h.inc"

#endif
