//===- WgmmaDescriptor.h - where an operand of wgmma lies -----------------===//
//
// The numbers of the matrix descriptor (PTX ISA, "matrix descriptor"), for the lowering and for the printed CUDA C++.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_TILETONVVM_WGMMADESCRIPTOR_H
#define TILEWRIGHT_PASSES_TILETONVVM_WGMMADESCRIPTOR_H

#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"

namespace tilewright {

/// Of a tile in shared memory, in units of 16 bytes. From one group of 8 rows to the next the stride is that of 8 rows
/// of a panel. An instruction takes several panels only where a panel's columns are not what is summed over; the
/// leading dimension is then the distance between the panels.
struct WgmmaDescriptor {
  int64_t layout, stride, leading;

  WgmmaDescriptor(tile::BufferType type, bool isMNMajor)
      : layout(type.getSwizzle() == 128  ? 1
               : type.getSwizzle() == 64 ? 2
                                         : 3),
        stride(8 * type.getSwizzle() / 16), leading(isMNMajor ? type.getPanelBytes() / 16 : 1) {}

  /// The distance to what an instruction takes that begins `k` elements on.
  static int64_t getOffset(tile::BufferType type, bool isMNMajor, int64_t k) {
    if (isMNMajor)
      return k * type.getPanelRowBytes() / 16;
    return (k / type.getPanelColumns() * type.getPanelBytes() +
            k % type.getPanelColumns() * tile::getElementBytes(type.getElementType())) /
           16;
  }
};

} // namespace tilewright

#endif
