#ifndef TILEWRIGHT_DIALECTS_TILE_TILE_H
#define TILEWRIGHT_DIALECTS_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Tile/TileTraits.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"
#include "dialects/Tile/TileInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"

namespace tilewright::tile {
/// On a loop whose bounds are no constants: the least number of its iterations (i64).
inline constexpr llvm::StringLiteral kLeastIterationsAttr = "tile.least_iterations";

/// Whether wgmma multiplies such operands, where those that are `mnMajor` have the dimension that is summed over as
/// rows.
llvm::LogicalResult verifyWgmmaOperands(mlir::Operation *op, mlir::Type a, bool mnMajorA, BufferType b, bool mnMajorB,
                                        AccumulatorType result);
/// The elements of an operand, a buffer or a fragment.
mlir::Type getOperandElement(mlir::Type operand);
} // namespace tilewright::tile

#endif
