//===- TileBox.cpp - parts of the boxes that TMA copies -------------------===//
#include "passes/loops-to-tile/TileBox.h"

#include "dialects/Target/ElementBytes.h"

using namespace mlir;

namespace tilewright {

std::optional<SmallVector<int64_t>> TileBox::getPart(int64_t partRows) const {
  SmallVector<int64_t> part(box);
  for (int64_t &extent : llvm::reverse(MutableArrayRef(part).drop_back())) {
    if (partRows % extent == 0) {
      partRows /= extent;
    } else if (extent % partRows == 0) {
      extent = partRows;
      partRows = 1;
    } else {
      return std::nullopt;
    }
  }
  return partRows == 1 ? std::optional(part) : std::nullopt;
}

void TileBox::moveToPart(OpBuilder &builder, Location loc, int64_t partRows, Value number,
                         MutableArrayRef<Value> coordinates) const {
  SmallVector<int64_t> part = *getPart(partRows);
  AffineExpr first = builder.getAffineDimExpr(0), rest = builder.getAffineDimExpr(1);
  int64_t left = getRows() / partRows;
  for (size_t i = part.size() - 1; i-- > 0 && left > 1;) {
    int64_t parts = box[i] / part[i];
    if (parts == 1)
      continue;
    AffineExpr digit = left == parts ? rest : rest % parts;
    coordinates[i] =
        affine::makeComposedAffineApply(builder, loc, first + digit * (part[i] * steps[i]), {coordinates[i], number});
    rest = rest.floorDiv(parts);
    left /= parts;
  }
}

std::optional<tile::BufferType> getCopiedPart(tile::BufferType tile, int64_t blocks) {
  int64_t rows = tile.getRows(), columns = tile.getColumns(), span = tile.getSwizzle();
  if (span && columns * getElementBytes(tile.getElementType()) % (span * blocks) == 0)
    columns /= blocks;
  else if (rows % (8 * blocks) == 0)
    rows /= blocks;
  else
    return std::nullopt;
  return tile::BufferType::get(tile.getContext(), {rows, columns}, tile.getElementType(), span,
                               columns > tile.getPanelColumns() ? tile.getPanelRows() : rows);
}
} // namespace tilewright
