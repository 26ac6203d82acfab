//===- Symbols.cpp - what the symbols of a call are -----------------------===//
#include "runtime/host/Symbols.h"
#include "runtime/host/Layout.h"

using namespace tilewright::host;

bool Symbols::find(const char *symbol, int32_t position, int32_t at, Place &found) const {
  for (int32_t other = 0; other <= position; ++other) {
    const TilewrightArgument &argument = signature.arguments[other];
    bool isNumber = argument.kind == TilewrightIsNumber;
    const TilewrightDLTensor *tensor = tensorOf(args[other]);
    if (isNumber ? !argument.extents || (other == position && at == 0) : !tensor)
      continue; // a tensor: an output that is still to be allocated, or none given
    int32_t places = isNumber ? 1 : argument.strides ? 2 * argument.rank : argument.rank;
    for (int32_t place = 0; place < places && !(other == position && place >= at && !isNumber); ++place) {
      bool isStride = !isNumber && place >= argument.rank;
      int32_t dim = isStride ? place - argument.rank : place;
      const TilewrightExtent &wanted = isStride ? argument.strides[dim] : argument.extents[dim];
      if (wanted.number >= 0 || !sameText(wanted.symbol, symbol) ||
          (isStride && (tensor->shape[dim] <= 1 || !countElements(*tensor))))
        continue;
      found = {other, dim, isStride,
               isNumber   ? args[other].integer
               : isStride ? strideOf(*tensor, dim)
                          : tensor->shape[dim]};
      return true;
    }
  }
  return false;
}

int64_t Symbols::extentOf(const TilewrightExtent &extent, int64_t otherwise) const {
  Place place;
  if (extent.number >= 0)
    return extent.number;
  return find(extent.symbol, place) ? place.value : otherwise;
}
