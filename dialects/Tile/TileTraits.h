//===- TileTraits.h - who does an op together, and when it is done --------===//
#ifndef TILEWRIGHT_DIALECTS_TILE_TILETRAITS_H
#define TILEWRIGHT_DIALECTS_TILE_TILETRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace tilewright::tile {

/// All threads of a warpgroup do the op together, as the PTX ISA's `.sync.aligned` says of wgmma.
template <typename Op> class WarpgroupCollective : public mlir::OpTrait::TraitBase<Op, WarpgroupCollective> {};

/// One thread does the op, within `tile.elect`.
template <typename Op> class SingleThread : public mlir::OpTrait::TraitBase<Op, SingleThread> {};

/// The op is done when it is passed: barriers have still to be placed for it. `place-tile-barriers` replaces it.
template <typename Op> class BeforeBarriers : public mlir::OpTrait::TraitBase<Op, BeforeBarriers> {};

/// All that run a role come to the op: barriers cannot be placed for it where a condition stands around it.
template <typename Op> class Unconditional : public mlir::OpTrait::TraitBase<Op, Unconditional> {};

/// The op begins when no matmul is under way: it uses shared memory and registers of its own.
template <typename Op> class AfterMatmuls : public mlir::OpTrait::TraitBase<Op, AfterMatmuls> {};

/// The op stands at the top of a kernel.
template <typename Op> class TopOfKernel : public mlir::OpTrait::TraitBase<Op, TopOfKernel> {};

} // namespace tilewright::tile

#endif
