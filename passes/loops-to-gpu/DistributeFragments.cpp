//===- DistributeFragments.cpp - a warp's tiles in its lanes' registers ---===//
//
// Loops that `tensorize` marked with a matrix instruction compute a tile that all lanes of a warp compute together.
// What the instruction reads and writes are private buffers; each lane keeps the elements that the hardware says are
// its own. The other loops on such a buffer are distributed accordingly: a lane runs them for its own elements. Copies
// from shared memory become ldmatrix where that can serve (LoadMatrices.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/ArchitectureOption.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/Passes.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-gpu/Warp.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DISTRIBUTEFRAGMENTS
#include "passes/loops-to-gpu/Passes.h.inc"

void Warp::distribute(scf::ForOp loop, SharedLoop &how) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value lane = launch.getThreadIds().x, variable = loop.getInductionVar();
  int64_t extent = *getConstantIntValue(loop.getUpperBound()), unit = how.isRows ? FragmentLayout::kRows : 4 * how.pack;
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
  loop.setUpperBound(index(extent / unit));
  loop->removeAttr(schedule::kVectorizeAttr);
  loop->setAttr(schedule::kUnrollAttr, builder.getUnitAttr());
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1), d2 = builder.getAffineDimExpr(2);
  Value zero = index(0), pack = index(how.pack), one = index(1);
  builder.setInsertionPointToStart(loop.getBody());
  Operation *made;
  if (how.isRows) {
    made = affine::AffineApplyOp::create(
        builder, loc, AffineMap::get(2, 0, d0 * FragmentLayout::kRows + d1.floorDiv(4)), ValueRange{variable, lane});
  } else if (how.pack == 1) {
    made =
        affine::AffineApplyOp::create(builder, loc, AffineMap::get(2, 0, d0 * 4 + d1 % 4), ValueRange{variable, lane});
  } else {
    how.elements = scf::ForOp::create(builder, loc, zero, pack, one);
    how.elements->setAttr(schedule::kVectorizeAttr, builder.getUnitAttr());
    Block *body = how.elements.getBody();
    auto &ops = loop.getBody()->getOperations();
    body->getOperations().splice(body->getTerminator()->getIterator(), ops, std::next(how.elements->getIterator()),
                                 loop.getBody()->getTerminator()->getIterator());
    builder.setInsertionPointToStart(body);
    AffineExpr first = d0 * (4 * how.pack) + (d1 % 4) * how.pack;
    made = affine::AffineApplyOp::create(builder, loc, AffineMap::get(3, 0, first + d2),
                                         ValueRange{variable, lane, how.elements.getInductionVar()});
  }
  variable.replaceAllUsesExcept(made->getResult(0), made);
}

void Warp::rewrite(FragmentAccess &access) {
  OpBuilder builder(access.op);
  Location loc = access.op->getLoc();
  const FragmentLayout &layout = access.layout;
  // The first of the elements that the loops share out among the lanes: it tells the tile, and the part of it.
  auto first = [&](unsigned dim, scf::ForOp loop, int64_t unit) {
    AffineExpr variable = space.get(loop.getInductionVar());
    return space.simplify(access.indices[dim].replace(variable, variable * unit));
  };
  int64_t columns = layout.getColumns();
  AffineExpr row = first(layout.rowDim, access.rowLoop, FragmentLayout::kRows),
             col = first(layout.colDim, access.colLoop, columns);
  SmallVector<Value> indices;
  for (auto [d, expr] : llvm::enumerate(access.indices)) {
    if (d == layout.rowDim)
      expr = row.floorDiv(layout.rowTile);
    if (d == layout.colDim)
      expr = col.floorDiv(layout.colTile);
    indices.push_back(placeInLane(space, builder, loc, expr));
  }
  AffineExpr part = (col.floorDiv(columns) % (layout.colTile / columns)) * layout.getRowParts() +
                    row.floorDiv(FragmentLayout::kRows) % layout.getRowParts();
  AffineExpr element = part * layout.pack;
  if (scf::ForOp elements = shared[access.colLoop].elements)
    element = element + space.get(elements.getInductionVar());
  indices.push_back(placeInLane(space, builder, loc, element));
  Value buffer = laneBuffers[access.buffer];
  if (auto load = dyn_cast<memref::LoadOp>(access.op))
    load.getResult().replaceAllUsesWith(memref::LoadOp::create(builder, loc, buffer, indices));
  else
    memref::StoreOp::create(builder, loc, cast<memref::StoreOp>(access.op).getValueToStore(), buffer, indices);
  access.op->erase();
}

LogicalResult Warp::run(ArrayRef<scf::ForOp> nests) {
  for (scf::ForOp nest : nests) {
    stage = getAxisName(nest).stage;
    if (failed(checkLanes(nest)) || failed(readProduct(nest)))
      return failure();
  }
  if (failed(checkRegisters(nests.front())))
    return failure();
  auto isOfProduct = [&](Operation *op) {
    return llvm::any_of(matmuls, [&](MatmulLoops &matmul) { return matmul.m->isProperAncestor(op); });
  };
  for (auto &[buffer, layout] : layouts)
    for (Operation *user : buffer.getUsers()) {
      if (isOfProduct(user))
        continue;
      auto load = dyn_cast<memref::LoadOp>(user);
      auto store = dyn_cast<memref::StoreOp>(user);
      if (!load && !store)
        return error(user) << "expected loads and stores of '" << getBufferName(buffer) << "', got '" << user->getName()
                           << "'";
      if (failed(collectAccess(user, buffer, load ? load.getIndices() : store.getIndices(), layout)))
        return failure();
    }
  for (auto &[loop, how] : shared) {
    SmallVector<Value> used;
    loop->walk([&](Operation *op) { llvm::append_range(used, op->getOperands()); });
    if (failed(checkUses(loop)) || failed(checkIsUniform(loop, used)))
      return failure();
  }
  for (MatmulLoops &matmul : matmuls) {
    SmallVector<Value> used(matmul.a.getIndices());
    llvm::append_range(used, matmul.b.getIndices());
    llvm::append_range(used, matmul.result.getIndices());
    if (failed(checkIsUniform(matmul.m, used)))
      return failure();
  }

  for (auto &[buffer, layout] : layouts) {
    auto alloca = buffer.getDefiningOp<memref::AllocaOp>();
    OpBuilder builder(alloca);
    MemRefType type = layout.getLaneType(alloca.getType());
    auto own = memref::AllocaOp::create(builder, alloca.getLoc(), type);
    own->setDiscardableAttrs(alloca->getDiscardableAttrDictionary());
    own.setAlignment(std::min<int64_t>(16, layout.getElements() * getElementBytes(type.getElementType())));
    laneBuffers[buffer] = own;
  }
  SmallVector<scf::ForOp> replaced; // erased when nothing asks `space` any more
  llvm::erase_if(accesses, [&](FragmentAccess &access) {
    scf::ForOp nest = loadMatrices(access, laneBuffers[access.buffer], launch.getThreadIds().x, space);
    if (!nest)
      return false;
    shared.erase(access.rowLoop);
    shared.erase(access.colLoop);
    replaced.push_back(nest);
    return true;
  });
  for (auto &[loop, how] : shared)
    distribute(loop, how);
  for (FragmentAccess &access : accesses)
    rewrite(access);
  for (MatmulLoops &matmul : matmuls) {
    emitMatmul(matmul, layouts, laneBuffers, space);
    replaced.push_back(matmul.m);
  }
  for (scf::ForOp nest : replaced)
    nest.erase();
  for (auto &[buffer, own] : laneBuffers)
    buffer.getDefiningOp()->erase();
  return success();
}

namespace {
struct DistributeFragments : impl::DistributeFragmentsBase<DistributeFragments> {
  using Base::Base;

  void runOnOperation() override {
    const Architecture *architecture = findArchitectureOption(getOperation(), arch);
    if (!architecture)
      return signalPassFailure();
    SmallVector<gpu::LaunchOp> launches;
    getOperation()->walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
    for (gpu::LaunchOp launch : launches) {
      SmallVector<scf::ForOp> nests;
      WalkResult walked = launch->walk([&](scf::ForOp loop) -> WalkResult {
        auto instruction = loop->getAttrOfType<schedule::InstructionAttr>(schedule::kInstructionAttr);
        if (instruction && instruction.getKind() != schedule::MatrixInstruction::MmaSync)
          return loop.emitError() << "expected no loops of "
                                  << schedule::stringifyMatrixInstruction(instruction.getKind())
                                  << " in a launch: run raise-to-tile-ops before loops are mapped";
        if (instruction)
          nests.push_back(loop);
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
      if (!nests.empty() && failed(Warp(launch, getOperation(), *architecture).run(nests)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tilewright
