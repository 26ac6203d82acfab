//===- TilePatterns.h - ops on tiles as NVVM ------------------------------===//
#ifndef TILEWRIGHT_PASSES_TILETONVVM_TILEPATTERNS_H
#define TILEWRIGHT_PASSES_TILETONVVM_TILEPATTERNS_H

#include "dialects/Target/Architectures.h"
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilewright {

/// A buffer and a ring are pointers to shared memory, a tensor map a pointer to a parameter, a tile in registers a
/// struct of what one thread holds.
void addTileTypeConversions(mlir::LLVMTypeConverter &converter);

/// Rings, their barriers and copies of tiles, in kernels that are functions of the LLVM dialect already.
void populateTileMemoryPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
                                const Architecture &architecture);
/// Barriers of warpgroups, their turns, and arrivals at a counter.
void populateTileBarrierPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Matmuls of a warpgroup, by its own instruction.
void populateWgmmaPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Groups of them, and waits for these.
void populateWgmmaGroupPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Says to the patterns that a kernel's matmuls are by its warps: those of f32 are, and all on a GPU without wgmma.
/// Fails where some of them have to be those of warpgroups.
mlir::LogicalResult markMatmulsByWarps(mlir::LLVM::LLVMFuncOp kernel, const Architecture &architecture);
void unmarkMatmulsByWarps(mlir::LLVM::LLVMFuncOp kernel);
/// Whether the kernel of an op is marked so.
bool areMatmulsByWarps(mlir::Operation *op);
/// Matmuls of a warpgroup, by those of its warps.
void populateMmaSyncPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Of a kernel in which many descriptors are of tiles that stay: marks the matmuls that add them up from one for each.
void markHeldTiles(mlir::Operation *kernel);
/// Accumulators, and fragments on their way to shared memory.
void populateTileMatrixPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Values of i32 and addresses in shared memory, folded as they are made.
class SharedAddress {
public:
  SharedAddress(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value constant(int64_t value);
  mlir::Value multiply(mlir::Value value, int64_t by);
  mlir::Value add(mlir::Value left, mlir::Value right);
  /// `value` of an index type, which may be wider.
  mlir::Value narrow(mlir::Value value);
  /// The thread's number in the block, which is one of whole warps along x.
  mlir::Value thread();

  /// The start of the block's shared memory.
  mlir::Value start();
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value offset(mlir::Value pointer, int64_t bytes);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The addresses in a buffer that are one lane's. `row` is a row of the tile, and `half` which of two neighbouring
/// chunks of 16 bytes is the lane's, or any of those in the row's first panel; only these two differ between lanes.
class LaneAddress {
public:
  LaneAddress(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer, tile::BufferType type, mlir::Value row,
              mlir::Value half);

  /// So many rows further down, after which the swizzle is the same again.
  mlir::Value down(int64_t rows);
  /// Of the pair of chunks that begins at an even chunk of the row.
  mlir::Value at(int64_t chunk);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  tile::BufferType type;
  mlir::Value start, permuted;
};

/// Where an element of a buffer is: the address of its chunk of 16 bytes.
LaneAddress getChunk(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer, tile::BufferType buffer,
                     mlir::Value row, mlir::Value column);

/// What tells the tensor cores where an operand lies (PTX ISA, "matrix descriptor"): its address, and two distances,
/// all in units of 16 bytes. From one group of 8 rows to the next it is that of 8 rows of a panel. Only where a panel's
/// columns are not what is summed over does an instruction take several panels; the distance between them is the other.
class WgmmaOperand {
public:
  WgmmaOperand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer, tile::BufferType type,
               bool isMNMajor);

  /// The descriptor of what an instruction takes that begins `k` elements on.
  mlir::Value at(int64_t k);

private:
  mlir::Value i32(int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  tile::BufferType type;
  bool isMNMajor;
  mlir::Value first, upper;
};

/// The operands of a matmul in shared memory, and the instruction that multiplies them.
struct WgmmaOperands {
  WgmmaOperands(mlir::OpBuilder &builder, tile::WgmmaOp op, tile::WgmmaOp::Adaptor adaptor);

  const tile::WgmmaInstruction *instruction;
  std::optional<WgmmaOperand> a; // none of one in registers
  std::optional<WgmmaOperand> b;
  int64_t extent; // along k
};

} // namespace tilewright

#endif
