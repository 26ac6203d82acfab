//===- Fragments.cpp - tiles of matrices in the registers of a warp -------===//
#include "passes/loops-to-gpu/Fragments.h"

using namespace mlir;

namespace tilewright {

MemRefType FragmentLayout::getLaneType(MemRefType type) const {
  SmallVector<int64_t> shape(type.getShape());
  shape[rowDim] /= rowTile;
  shape[colDim] /= colTile;
  shape.push_back(getElements());
  return MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
}

} // namespace tilewright
