//===- ScheduleTraits.h - what primitives do to axes ----------------------===//
#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULETRAITS_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULETRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tilewright::schedule {

/// Gives the axes that a stage begins with.
template <typename Op> class RootAxes : public mlir::OpTrait::TraitBase<Op, RootAxes> {};

/// Makes other axes of its operands, which are no loops from here on.
template <typename Op> class AxisTransform : public mlir::OpTrait::TraitBase<Op, AxisTransform> {};

/// Says how the iterations of a loop run. What is said of a loop is not split or fused any more.
template <typename Op> class AxisAnnotation : public mlir::OpTrait::TraitBase<Op, AxisAnnotation> {};

/// Runs the iterations of its axes at once or in another order, so that none may need what an earlier one made.
template <typename Op> class IndependentIterations : public mlir::OpTrait::TraitBase<Op, IndependentIterations> {};

/// The stage of its first operand has other axes from here on.
template <typename Op> class ReplacesAxes : public mlir::OpTrait::TraitBase<Op, ReplacesAxes> {};

/// Only a GPU can follow the primitive.
template <typename Op> class GPUOnly : public mlir::OpTrait::TraitBase<Op, GPUOnly> {};

} // namespace tilewright::schedule

#endif
