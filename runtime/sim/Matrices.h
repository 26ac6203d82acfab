//===- Matrices.h - what a warp does with matrices ------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_MATRICES_H
#define TILEWRIGHT_RUNTIME_SIM_MATRICES_H

#include "runtime/sim/ABI.h"

#include <cstddef>

namespace tilewright::sim {

/// One lane's part of what its warp does together: pointers to its own memory.
struct MatrixPart {
  bool isMatmul = false, isStore = false;
  // ldmatrix: the row of 16 bytes that the lane names, and its part of each matrix. stmatrix: the lane's part of each
  // matrix, and the row of 16 bytes that it stores.
  int32_t matrices = 0;
  bool isTransposed = false;
  const char *row = nullptr;
  char *result = nullptr;
  // mma.sync: its elements of the operands and of the accumulator, which stay where they are.
  MatrixTypes types = MatrixTypes::F16ToF32;
  int32_t k = 0;
  const char *a = nullptr, *b = nullptr;
  char *c = nullptr;
};

/// Does it for all lanes of a warp.
void exchangeMatrices(const MatrixPart *const (&lanes)[warpSize]);

} // namespace tilewright::sim

#endif
