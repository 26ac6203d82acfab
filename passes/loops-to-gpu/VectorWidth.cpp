//===- VectorWidth.cpp - how many elements an access takes at once --------===//
#include "passes/ArgumentAlignment.h"
#include "passes/ArgumentLayouts.h"
#include "passes/index/Extents.h"
#include "passes/index/IndexSpace.h"
#include "passes/index/Stride.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/Lanes.h"

using namespace mlir;

namespace tilewright {
/// The widest access of a GPU's thread, in bytes.
static constexpr int64_t kMaxBytes = 16;

bool isAlongRow(ValueRange indices, Value variable) {
  return llvm::all_of(llvm::enumerate(indices), [&](auto one) {
    return index::getStride(one.value(), variable) == (one.index() + 1 == indices.size());
  });
}

/// The largest power of two up to `width` that divides both.
static int64_t limit(int64_t width, int64_t divisor) { return divisor ? std::min(width, divisor & -divisor) : width; }

/// The width of lanes that lie together although they are of several rows, as those of an axis that was divided among
/// the indices: of a GPU's global memory in row-major order.
static int64_t getWidthAcrossRows(Value memref, ValueRange indices, scf::ForOp loop, int64_t lanes, int64_t width) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !isa<BlockArgument>(memref) ||
      llvm::any_of(indices, [&](Value index) { return !isComputed(index, loop); }))
    return 1;
  index::IndexSpace space(loop.getContext());
  auto getPlace = [&](int64_t lane) {
    index::IndexSpace::Substitution at;
    at[loop.getInductionVar()] = getAffineConstantExpr(lane, loop.getContext());
    return space.simplify(index::getRowMajorPlace(space.get(indices, at), type.getShape()));
  };
  AffineExpr first = getPlace(0);
  for (int64_t lane = 1; lane < lanes; ++lane)
    if (space.simplify(getPlace(lane) - first) != getAffineConstantExpr(lane, loop.getContext()))
      return 1;
  return limit(width, first.getLargestKnownDivisor());
}

int64_t getVectorWidth(Value memref, ValueRange indices, scf::ForOp loop, int64_t lanes, bool onProcessor) {
  auto type = cast<MemRefType>(memref.getType());
  if (indices.empty() || !hasUnitRows(type) || !type.getElementType().isIntOrFloat() ||
      type.getElementType().isInteger(1))
    return 1;
  Value variable = loop.getInductionVar();
  bool isAlong = isAlongRow(indices, variable);
  // A processor's vectors may begin at any element.
  if (onProcessor)
    return isAlong ? lanes : 1;
  int64_t bytes = std::min<int64_t>(kMaxBytes, getBufferAlignment(memref));
  int64_t width = std::min<int64_t>(lanes, bytes / getElementBytes(type.getElementType()));
  if (isAlong) {
    // Rows must be multiples of the width for an index to say anything of an address.
    width = std::min(width, index::getDivisor(indices.back(), variable));
    bool isRowMajor = type.getLayout().isIdentity();
    for (int64_t dimension = 0; dimension + 1 < type.getRank() && width > 1; ++dimension)
      width = limit(width, isRowMajor ? index::getKnownDivisor(memref, type.getRank() - 1)
                                      : getStrideDivisor(memref, dimension));
  } else {
    width = getWidthAcrossRows(memref, indices, loop, lanes, width);
  }
  while (width > 1 && lanes % width)
    width /= 2;
  return std::max<int64_t>(width, 1);
}
} // namespace tilewright
