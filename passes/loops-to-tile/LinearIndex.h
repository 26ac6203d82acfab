//===- LinearIndex.h - indices as sums of multiples of loops --------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_LINEARINDEX_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_LINEARINDEX_H

#include "passes/index/LinearIndex.h"

namespace tilewright {

using index::Digit;
using index::getDigits;
using index::getLinearIndices;
using index::getLoopExtent;
using index::LinearIndex;

} // namespace tilewright

#endif
