//===- GraphTraits.h - what operators do with elements --------------------===//
#ifndef TILEWRIGHT_DIALECTS_GRAPH_GRAPHTRAITS_H
#define TILEWRIGHT_DIALECTS_GRAPH_GRAPHTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tilewright::graph {

/// A function of te defines the op.
template <typename Op> class Operator : public mlir::OpTrait::TraitBase<Op, Operator> {};

/// An element of the result is a function of the elements at the same place of the operands, once they are broadcast to
/// one shape.
template <typename Op> class BroadcastElementwise : public mlir::OpTrait::TraitBase<Op, BroadcastElementwise> {};

/// Combines the elements along `axes`, which stay with extent 1 where `keepdims` is true.
template <typename Op> class Reduction : public mlir::OpTrait::TraitBase<Op, Reduction> {};

/// The elements are those of the operands at other places, in another type, or numbers of places: to read them where
/// they are takes no more time than to read them from the result.
template <typename Op> class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// Each element of the operand is one of the result, at a place that does not depend on elements. The result may be the
/// operand's memory, seen with other extents and strides.
template <typename Op> class PermutesElements : public mlir::OpTrait::TraitBase<Op, PermutesElements> {};

/// Attention, or its gradients: the kernels read operands whose dimensions lie in any order.
template <typename Op> class Attends : public mlir::OpTrait::TraitBase<Op, Attends> {};

} // namespace tilewright::graph

#endif
