#ifndef TILEWRIGHT_DIALECTS_GRAPH_GRAPH_H
#define TILEWRIGHT_DIALECTS_GRAPH_GRAPH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Graph/GraphDialect.h.inc"
#include "dialects/Graph/GraphTraits.h"
#include "dialects/Graph/Libraries.h"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphOps.h.inc"

namespace tilewright::graph {
/// On an argument or a result of a model's function: its name in the model.
inline constexpr llvm::StringLiteral kNameAttr = "graph.name";
/// On a result of a model's function, a number: it is an extent that data decide. Its name is the extent's symbol.
inline constexpr llvm::StringLiteral kCountAttr = "graph.count";
/// On a result of a model's function: the permutation by which the caller transposes it.
inline constexpr llvm::StringLiteral kOrderAttr = "graph.order";
/// On an op: the function of te that defines it, which stands beside the model's function.
inline constexpr llvm::StringLiteral kDefinitionAttr = "graph.definition";
/// On a matmul or a convolution: the largest magnitude that its first operand had when the model was calibrated.
inline constexpr llvm::StringLiteral kMagnitudeAttr = "graph.magnitude";
/// On a weight: the weight that it is made of, by its name.
inline constexpr llvm::StringLiteral kQuantizedFromAttr = "graph.quantized_from";
/// On such a weight: the axis along which each place has a scale of its own; -1 where all places have one scale.
inline constexpr llvm::StringLiteral kScaleAxisAttr = "graph.scale_axis";
/// Of a weight in four bits, or its scales: how many elements along the axis have a scale together.
inline constexpr llvm::StringLiteral kGroupAttr = "graph.group";
/// On a weight: the weights that are one behind the other in it, by their names, and along which axis.
inline constexpr llvm::StringLiteral kJoinedAttr = "graph.joined";
inline constexpr llvm::StringLiteral kJoinedAxisAttr = "graph.joined_axis";
/// On a weight: the function that computes it from other weights.
inline constexpr llvm::StringLiteral kFoldedAttr = "graph.folded";
/// On a model's function: the bytes of the arena that the offsets of its groups lie in.
inline constexpr llvm::StringLiteral kArenaBytesAttr = "graph.arena_bytes";
/// On a model's function: the launches of a call form a CUDA graph.
inline constexpr llvm::StringLiteral kCudaGraphAttr = "graph.cuda_graph";

/// Whether a library has a matmul of these types, which accumulates in float32 or int32; and a bias beside it.
bool canMultiply(Library library, mlir::Type a, mlir::Type b, mlir::Type result);
bool canAddBias(Library library, mlir::Type a, mlir::Type result);

/// The type of a tensor that has some dimensions of another, in this order, with the names of their extents.
mlir::RankedTensorType getTypeOfDimensions(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dimensions);

/// Whether `order` is a permutation of `rank` dimensions that keeps the last one among the last two.
bool isOrderOfMatrix(llvm::ArrayRef<int64_t> order, int64_t rank);

/// Checks a group as one call of a library.
mlir::LogicalResult verifyLibrary(GroupOp group);

/// The parameters of the attribute, by name.
mlir::DictionaryAttr getParameters(LibraryMatmulAttr call);
} // namespace tilewright::graph

#endif
