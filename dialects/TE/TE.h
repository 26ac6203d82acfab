#ifndef TILEWRIGHT_DIALECTS_TE_TE_H
#define TILEWRIGHT_DIALECTS_TE_TE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/TE/TEDialect.h.inc"
#include "dialects/TE/TEEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/TE/TEAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/TE/TEOps.h.inc"

namespace tilewright::te {
/// Marks the arguments of a te function that are its outputs, in the order in which they are returned.
inline constexpr llvm::StringLiteral kOutputAttr = "te.output";
/// On a function argument: the name of the tensor, as the user wrote it.
inline constexpr llvm::StringLiteral kNameAttr = "te.name";
/// On a function argument: the element type with its sign, as a type ("ui8"; of bools in bytes i1). See Dtype.h.
inline constexpr llvm::StringLiteral kDtypeAttr = "te.dtype";
/// On a function argument with symbolic extents: the symbol of each dimension, "" where the extent is a number.
inline constexpr llvm::StringLiteral kSymbolsAttr = "te.symbols";
/// On a function argument with symbolic extents: for each dimension a number that divides its extent, 1 where none is
/// known.
inline constexpr llvm::StringLiteral kDivisibleByAttr = "te.divisible_by";
/// The least and the largest that an extent with a symbol is, or a number that stands for one.
inline constexpr llvm::StringLiteral kMinimumAttr = "te.minimum";
inline constexpr llvm::StringLiteral kMaximumAttr = "te.maximum";
/// On a function argument that is not row-major: the stride of each dimension in elements, -1 where each call has its
/// own.
inline constexpr llvm::StringLiteral kStridesAttr = "te.strides";
/// Beside kStridesAttr: the symbol of each stride, "" where it is a number.
inline constexpr llvm::StringLiteral kStrideSymbolsAttr = "te.stride_symbols";
/// Beside kStridesAttr: for each stride a number that divides it, 1 where none is known.
inline constexpr llvm::StringLiteral kStrideDivisibleByAttr = "te.stride_divisible_by";
inline constexpr llvm::StringLiteral kStrideMinimumAttr = "te.stride_minimum";
inline constexpr llvm::StringLiteral kStrideMaximumAttr = "te.stride_maximum";
/// On a function argument that a call may leave out (UnitAttr), and on the one that says whether a call gives that: its
/// position (i64).
inline constexpr llvm::StringLiteral kOptionalAttr = "te.optional";
inline constexpr llvm::StringLiteral kGivenAttr = "te.given";
/// On a number among the arguments: what it is in calls that leave it out (an f64 or an i64).
inline constexpr llvm::StringLiteral kDefaultAttr = "te.default";
/// On a function argument: a call gives the tensor by its address (UnitAttr).
inline constexpr llvm::StringLiteral kPointerAttr = "te.pointer";
/// On a function argument: what divides the address of its memory, in bytes, where that is not 16 (i64).
inline constexpr llvm::StringLiteral kAlignAttr = "te.align";
/// On the first of arguments that a call gives as one: the groups that begin there, the outermost first (an array of
/// dictionaries).
inline constexpr llvm::StringLiteral kGroupsAttr = "te.groups";
/// On an op of the linalg stage: the name of the stage that it computes. On what makes a buffer: the stage that the
/// buffer is of.
inline constexpr llvm::StringLiteral kStageAttr = "te.stage";
/// Beside kStageAttr: the names of the op's iterators, in their order.
inline constexpr llvm::StringLiteral kAxesAttr = "te.axes";
/// Beside kStageAttr: the iterations of the first iterator come in order, and an extract from an init sees what they
/// wrote.
inline constexpr llvm::StringLiteral kScanAttr = "te.scan";
/// On an op of a reducer in the body of a linalg.generic: for each operand the number of the element that it is, or -1.
inline constexpr llvm::StringLiteral kCombineAttr = "te.combine";
/// On the top-level ops that a te.extern became, and on their kernels: its name. Their threads exchange values as they
/// like.
inline constexpr llvm::StringLiteral kExternAttr = "te.extern";
} // namespace tilewright::te

#endif
