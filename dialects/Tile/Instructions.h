//===- Instructions.h - what the hardware's instructions take -------------===//
//
// The one place that knows the shapes and types of the tensor cores' instructions and the limits of the bulk copy
// engine. Verifiers, lowerings and the simulator ask here.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_DIALECTS_TILE_INSTRUCTIONS_H
#define TILEWRIGHT_DIALECTS_TILE_INSTRUCTIONS_H

#include "dialects/Target/ElementBytes.h"
#include "dialects/Target/Limits.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::tile {

/// Element types that instructions know. Signless i8 is signed; tf32 is stored as 32 bits.
enum class Element { F16, BF16, TF32, E4M3, E5M2, S8, F32, S32, F64 };

std::optional<Element> findElement(mlir::Type type);
/// What PTX calls a type.
llvm::StringRef getPTXName(Element element);

using tilewright::getElementBytes;
/// Whether tiles may have elements of a type: numbers of whole bytes.
bool isTileElement(mlir::Type type);

/// Whether elements of a fragment can be stored where there are those: as they are, rounded from f32 to 16 bits, or i8
/// where there are any of 8 bits.
bool areStoredAs(mlir::Type fragment, mlir::Type memory);

/// On a TMA load: the dimension, outermost first, whose coordinate the program read.
/// The number of the barrier of all warpgroups of a role: it is the last of the block's sixteen.
inline constexpr int64_t kRoleBarrier = 15;
inline constexpr llvm::StringLiteral kGatheredAttr = "tile.gathered";
inline constexpr int64_t kWgmmaRows = 64, kWgmmaColumnStep = 8, kWgmmaMaxColumns = 256;
/// wgmma (sm_90a): m64 nN kK with N a multiple of 8 up to 256; K is 32 bytes of the operands' elements.
struct WgmmaInstruction {
  Element a, b, accumulator;
  int64_t k;
  /// Whether the operands may have the dimension that is not summed over in their rows.
  bool takesMNMajor;
  /// Beyond 32 N is a multiple of so many.
  int64_t columnStep = kWgmmaColumnStep;
  /// Whether no warpgroup has such an instruction: on any GPU its warps multiply. f32 is three products of tf32.
  bool isByWarps() const { return a == Element::F32; }
  /// Whether operand A of shared memory may: the instruction takes such rows, or threads load tf32 to registers.
  bool takesMNMajorA() const { return takesMNMajor || a == Element::TF32; }
  /// Whether threads load an operand A of shared memory to registers.
  bool loadsA(bool isMNMajor) const { return isMNMajor && !takesMNMajor; }
  bool takesColumns(int64_t n) const { return n % (n > 32 ? columnStep : kWgmmaColumnStep) == 0; }
};
/// Whether operand A may be of such elements in registers.
inline bool isOperandInRegisters(mlir::Type element) {
  return element.isF32() || element.getIntOrFloatBitWidth() <= 16;
}
/// A part of a fragment that is stored by itself begins at a multiple of so many columns.
inline constexpr int64_t kStoredColumns = 16;
/// A thread holds elements of 8 bits four at a time, of so many columns.
inline constexpr int64_t kPackedColumns = 16;
const WgmmaInstruction *findWgmma(mlir::Type a, mlir::Type b, mlir::Type accumulator);
/// Whether warps multiply such operands where there is no wgmma, by mma.sync.
bool areMultipliedByWarps(mlir::Type operands, mlir::Type accumulator);

/// mma.sync: one warp, operands in registers.
struct MmaSyncInstruction {
  Element a, b, accumulator;
  int64_t m, n, k;
  /// The least compute capability, times ten.
  unsigned capability;
};
/// The widest one of these types that `capability` has, or null.
const MmaSyncInstruction *findMmaSync(mlir::Type a, mlir::Type b, mlir::Type accumulator, unsigned capability);

/// The driver's number of a tensor map's element type (CUtensorMapDataType).
int64_t getTensorMapElement(mlir::Type type);
/// Limits of bulk copies by tensor maps.
inline constexpr int64_t kMaxBoxExtent = 256, kMaxTensorRank = 5, kTensorStrideBytes = 16, kMaxTensorStep = 8;
/// A register of the block's file belongs to one thread; setmaxnreg hands them out in these steps.
using tilewright::kBlockRegisters;
inline constexpr int64_t kMinRegisters = 24, kMaxRegisters = 240, kRegisterStep = 8;
/// The registers of a thread of a block of `threads` when it is launched. The roles share the block's: where they ask
/// for more, setmaxnreg waits forever.
inline int64_t getRegistersAtLaunch(int64_t threads) {
  return std::min<int64_t>(256, kBlockRegisters / threads / kRegisterStep * kRegisterStep);
}
using tilewright::kWarpgroupSize, tilewright::kWarpgroupWarps, tilewright::kWarpSize;

} // namespace tilewright::tile

#endif
