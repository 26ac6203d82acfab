//===- RaiseStatements.cpp - loops and statements in a kernel of tiles ----===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/Repair.h"
#include "passes/index/KnownValues.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

SmallVector<scf::ForOp> getLoopsAround(Operation *op, Operation *nest) {
  SmallVector<scf::ForOp> loops;
  for (Operation *around = op; around; around = around->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(around); loop && around != op)
      loops.insert(loops.begin(), loop);
    if (around == nest)
      break;
  }
  return loops;
}

SmallVector<memref::StoreOp> getStores(Operation *nest) {
  SmallVector<memref::StoreOp> stores;
  nest->walk([&](memref::StoreOp store) { stores.push_back(store); });
  return stores;
}

std::string sayOtherPlace(Operation *nest, StringRef stage) {
  for (memref::StoreOp store : getStores(nest)) {
    auto load = store.getValue().getDefiningOp<memref::LoadOp>();
    if (load && isShared(store.getMemRef()) && isInGlobalMemory(load.getMemRef()))
      return ("leave out the cache_read of '" + getBufferName(load.getMemRef()) +
              "', which then comes from global memory");
  }
  return ("compute stage '" + stage + "' in a kernel of its own, in global memory, by s[" + stage + "].compute_root()")
      .str();
}

bool areOfLoops(ArrayRef<index::LinearIndex> indices, Operation *nest, ValueRange known) {
  return llvm::all_of(indices, [&](const index::LinearIndex &index) {
    return llvm::all_of(index.terms, [&](auto term) {
      Value root = term.first;
      while (auto part = root.getDefiningOp<affine::AffineApplyOp>())
        root = part.getMapOperands()[0];
      return isa<BlockArgument>(root) || !nest->isAncestor(root.getDefiningOp()) || llvm::is_contained(known, root);
    });
  });
}

std::optional<std::pair<index::LinearIndex, index::LinearIndex>> getRowAndColumn(Value buffer, ValueRange indices) {
  std::optional<SmallVector<index::LinearIndex>> each = index::getLinearIndices(indices);
  if (!each || each->empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  index::LinearIndex row;
  for (auto [dimension, index] : llvm::enumerate(ArrayRef(*each).drop_back())) {
    index::LinearIndex above;
    row = above.plus(row, shape[dimension]).plus(index);
  }
  return std::pair{row, each->back()};
}

int64_t countRows(Value buffer) { return llvm::product_of(cast<MemRefType>(buffer.getType()).getShape().drop_back()); }

bool isColumn(Value buffer) { return cast<MemRefType>(buffer.getType()).getNumElements() == tile::kWgmmaRows; }

std::optional<index::LinearIndex> getRow(Value buffer, ValueRange indices) {
  auto place = getRowAndColumn(buffer, indices);
  if (!place)
    return std::nullopt;
  index::LinearIndex above;
  return above.plus(place->first, cast<MemRefType>(buffer.getType()).getShape().back()).plus(place->second);
}

tile::FragmentType getFragmentType(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (isColumn(buffer))
    return tile::FragmentType::get(type.getContext(), {tile::kWgmmaRows, 1}, type.getElementType());
  return tile::FragmentType::get(type.getContext(), {countRows(buffer), type.getShape().back()}, type.getElementType());
}

bool isOnlyComputed(Operation *op) {
  return (op->getNumRegions() == 0 && isMemoryEffectFree(op)) || isa<scf::YieldOp>(op);
}

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

/// An op that does something else than to load, compute and store, or null.
static Operation *findOther(Operation *statement) {
  Operation *other = nullptr;
  statement->walk([&](Operation *op) {
    bool isKnown =
        isa<scf::ForOp, scf::IfOp, memref::LoadOp, memref::StoreOp, memref::PrefetchOp>(op) || isOnlyComputed(op);
    other = isKnown ? other : op;
  });
  return other;
}

static bool hasMatmul(Operation *statement) {
  return statement->walk([](Operation *op) { return WalkResult(failure(isMatmul(op))); }).wasInterrupted();
}

LogicalResult TileRaiser::raiseBlock(Block &block, scf::ForOp around) {
  for (Operation &op : block)
    if (!isOnlyComputed(&op) && !allocatesBuffer(&op) && !isa<memref::LoadOp>(op) &&
        failed(raiseStatement(&op, around)))
      return failure();
  return success();
}

LogicalResult TileRaiser::raiseStatement(Operation *statement, scf::ForOp around) {
  auto loop = dyn_cast<scf::ForOp>(statement);
  if (loop && loop == warpgroups)
    return raiseBlock(*loop.getBody(), around);
  if (auto bind = loop ? loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr) : schedule::ThreadTagAttr();
      bind && around && bind.getValue() > schedule::ThreadTag::ThreadIdxX) {
    if (getConstantIntValue(loop.getUpperBound()) != numWarpgroups)
      return matmulError() << "expected " << numWarpgroups << " warpgroups along threadIdx.y, got "
                           << getAxisName(loop).quoted();
    places.map(loop.getInductionVar(), kernel.getWarpgroup());
    return raiseBlock(*loop.getBody(), around);
  }
  if (hasMatmul(statement)) {
    if (isMatmul(statement) && !around)
      return error("wgmma of stage '" + getAxisName(loop).stage + "'", loop.getLoc())
             << "expected a loop around it that is a software_pipeline, which fetches the tiles";
    if (isMatmul(statement))
      return raiseMatmul(loop, {});
    if (!loop)
      return around
                 ? LogicalResult(matmulError()
                                 << "expected nothing but loops of constant extents between it and the pipelined loop, "
                                    "got a condition")
                 : LogicalResult(
                       error("software_pipeline", pipeline.getLoc())
                       << "expected the pipelined loop right inside the loops on blocks and warpgroups, got it inside "
                          "a condition");
    return around && !loop->hasAttr(schedule::kPipelineAttr) ? raiseUnrolled(loop) : raiseLoop(loop, around);
  }
  if (Operation *other = findOther(statement)) {
    if (around)
      return error("software_pipeline", other->getLoc())
             << "expected a loop with wgmma to fill shared buffers and to multiply, got '" << other->getName()
             << "' in it";
    if (auto stage = other->getAttrOfType<StringAttr>(te::kStageAttr))
      return error("wgmma", other->getLoc())
             << "expected stages that read the accumulator beside the matmul, got the reduction of stage '"
             << stage.getValue() << "': " << sayOtherPlace(statement, stage.getValue());
    return error("wgmma", other->getLoc())
           << "expected loops that load, compute and store beside those of the matmul, got '" << other->getName()
           << "'";
  }
  SmallVector<memref::StoreOp> stores = getStores(statement);
  if (std::optional<LogicalResult> raised = raiseRowReduction(statement, stores))
    return *raised;
  // Results of one stage go to memory one after the other.
  bool areResults = !around && stores.size() > 1 && llvm::all_of(stores, [&](memref::StoreOp one) {
    return isInGlobalMemory(one.getMemRef()) && !one->hasAttr(schedule::kCopyAttr) &&
           llvm::count_if(stores, [&](memref::StoreOp other) { return other.getMemRef() == one.getMemRef(); }) == 1;
  });
  if (areResults)
    return success(
        llvm::all_of(stores, [&](memref::StoreOp one) { return succeeded(raiseElementwise(statement, one)); }));
  if (stores.size() != 1)
    return error("wgmma", statement->getLoc())
           << "expected loops that store to one buffer beside those of the matmul, got " << stores.size() << " stores";
  memref::StoreOp store = stores[0];
  Value buffer = store.getMemRef();
  if (store->hasAttr(schedule::kCopyAttr))
    return isShared(buffer) ? raiseLoad(statement, store) : raiseStore(statement, store);
  bool readsTiles = false;
  statement->walk(
      [&](memref::LoadOp load) { readsTiles |= tiles.contains(load.getMemRef()) && isPrivate(load.getMemRef()); });
  if (!readsTiles && isPrivate(buffer) && matchPattern(store.getValue(), m_Constant()))
    return raiseFill(store, statement);
  // What a matmul adds to elsewhere than in registers is refused there.
  if (!isPrivate(buffer) &&
      llvm::any_of(getStores(matmul), [&](memref::StoreOp one) { return one.getMemRef() == buffer; }))
    return success();
  if (around && !readsTiles) {
    bool isTile = isShared(buffer) && buffer.getParentBlock() == around.getBody() && !tiles.contains(buffer);
    if (isTile && !store.getValue().getDefiningOp<memref::LoadOp>())
      return error("software_pipeline", around.getLoc())
             << "expected shared buffers that TMA fills for wgmma, got stage '" << getBufferName(buffer)
             << "', which computes its elements: compute it in global memory, and copy that with cache_read and "
                "copy_by(\"tma\")";
    if (isTile)
      return error("software_pipeline", around.getLoc())
             << "expected shared buffers that TMA fills for wgmma, got stage '" << getBufferName(buffer) << "': use s["
             << getBufferName(buffer) << "].copy_by(\"tma\")";
    return error("software_pipeline", statement->getLoc())
           << "expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it";
  }
  if (!hasResult && tiles.empty() && statement->getBlock() == warpgroupBody)
    return error("wgmma", statement->getLoc())
           << "expected stages that are computed before the matmul to be its operands, got stage '"
           << getBufferName(buffer) << "'";
  if (statement->getBlock() == blockBody && statement->getBlock() != warpgroupBody) {
    InFlightDiagnostic diag = error("wgmma", statement->getLoc());
    diag << "expected stage '" << getBufferName(buffer)
         << "' to be computed by each warpgroup of its own rows, got it outside of them";
    if (isShared(buffer))
      diag << ": " << sayOtherPlace(statement, getBufferName(buffer));
    return diag;
  }
  return raiseElementwise(statement, store);
}

LogicalResult TileRaiser::raiseFill(memref::StoreOp store, Operation *of) {
  Value buffer = store.getMemRef();
  auto type = cast<MemRefType>(buffer.getType());
  // A private buffer that is no tile of a warpgroup is refused where it is used.
  bool isOneAColumn = isColumn(buffer);
  if (!isOneAColumn &&
      (type.getRank() < 2 || countRows(buffer) != tile::kWgmmaRows || type.getShape().back() > tile::kWgmmaMaxColumns ||
       type.getShape().back() % tile::kWgmmaColumnStep))
    return success();
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  bool isWhole = !loops.empty() && store->getParentOp() == loops.back();
  if (isOneAColumn) {
    auto row = getRow(buffer, store.getIndices());
    isWhole &= row && index::getDigits(*row, tile::kWgmmaRows);
  } else {
    auto place = getRowAndColumn(buffer, store.getIndices());
    isWhole &= place && index::getDigits(place->first, tile::kWgmmaRows) &&
               index::getDigits(place->second, type.getShape().back());
  }
  if (!isWhole)
    return error("wgmma", store.getLoc()) << "expected loops that set all of stage '" << getBufferName(buffer) << "'";
  Value value = builder.clone(*store.getValue().getDefiningOp())->getResult(0);
  tiles[buffer] = tile::FillOp::create(builder, store.getLoc(), getFragmentType(buffer), value);
  return success();
}

LogicalResult TileRaiser::checkIterations(scf::ForOp loop) {
  int64_t promoted = 0;
  loop->walk([&](scf::ForOp inner) {
    if (isMatmul(inner))
      promoted = std::max(promoted, getPromoted(inner));
  });
  if (promoted && !kernel.getRegisters()) {
    return error("software_pipeline", loop.getLoc())
           << "expected roles for a promoted accumulator, a producer warp beside consumer warpgroups: use s["
           << getAxisName(loop).stage << "].specialize(" << getAxisName(loop).axis << ")";
  }
  if (std::optional<int64_t> extent = getConstantIntValue(loop.getUpperBound())) {
    if (*extent < 1)
      return error("software_pipeline", loop.getLoc()) << "expected at least 1 iteration with wgmma, got " << *extent;
    return success();
  }
  auto got = [&] { return "got a symbolic extent of " + getAxisName(loop).quoted(); };
  if (numSets > 1)
    return error("specialize", loop.getLoc())
           << "expected a constant number of iterations for " << numSets
           << " consumer warpgroups, each of which passes over the slots of the others' tiles, " << got();
  if (promoted > 1)
    return error("wgmma of stage '" + getStage() + "'", loop.getLoc())
           << "expected a constant number of iterations, of each " << promoted
           << " of which the accumulator is promoted together, " << got() << ": promote after each";
  return success();
}

LogicalResult TileRaiser::raiseLoop(scf::ForOp loop, scf::ForOp around) {
  bool isPipeline = loop->hasAttr(schedule::kPipelineAttr);
  FailureOr<Value> extent = hoistExtent("software_pipeline", loop);
  if (failed(extent) || (isPipeline && failed(checkIterations(loop))))
    return failure();
  Location loc = loop.getLoc();
  Value first = arith::ConstantIndexOp::create(builder, loc, 0), end = *extent;
  if (index::KnownValues known(function.getContext()); !known.isPositive(end)) {
    // Where there is no iteration the one behind the last is done, whose tiles are outside of the tensors: zeros.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(kernel);
    Numbers numbers{builder, loc};
    first = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), numbers.isEqual(end, 0));
    end = numbers.add(end, numbers.multiply(first, 2));
  }
  // What is in registers before the loop and is stored to in it goes from one iteration to the next.
  SmallVector<Value> buffers, carried;
  for (auto [buffer, held] : tiles) {
    bool isStored = llvm::any_of(getStores(loop),
                                 [&, buffer = buffer](memref::StoreOp store) { return store.getMemRef() == buffer; });
    if (isStored && isa<tile::FragmentType>(held.getType())) {
      buffers.push_back(buffer);
      carried.push_back(held);
    }
  }
  auto made = scf::ForOp::create(builder, loc, first, end, arith::ConstantIndexOp::create(builder, loc, 1), carried);
  for (StringRef name : {schedule::kAxisAttr, schedule::kPipelineAttr, schedule::kRollingAttr})
    if (Attribute mark = loop->getAttr(name))
      made->setAttr(name, mark);
  auto before = tiles;
  places.map(loop.getInductionVar(), made.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    for (auto [buffer, value] : llvm::zip(buffers, made.getRegionIterArgs()))
      tiles[buffer] = value;
    if (failed(raiseBlock(*loop.getBody(), isPipeline ? loop : around)))
      return failure();
    carried.clear();
    for (Value buffer : buffers)
      carried.push_back(tiles[buffer]);
    if (carried.empty())
      builder.setInsertionPoint(made.getBody()->getTerminator());
    else
      scf::YieldOp::create(builder, loc, carried);
  }
  tiles = before;
  for (auto [buffer, value] : llvm::zip(buffers, made.getResults()))
    tiles[buffer] = value;
  return success();
}

LogicalResult TileRaiser::raiseUnrolled(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops;
  for (scf::ForOp loop = outermost; loop && !isMatmul(loop);) {
    if (!getConstantIntValue(loop.getUpperBound()))
      return matmulError() << "expected nothing but loops of constant extents between it and the pipelined loop, got a "
                              "symbolic extent";
    loops.push_back(loop);
    Operation *inner = nullptr;
    for (Operation &op : *loop.getBody()) {
      if (isOnlyComputed(&op))
        continue;
      if (inner || !hasMatmul(&op))
        return error("software_pipeline", op.getLoc())
               << "expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it";
      inner = &op;
    }
    loop = dyn_cast<scf::ForOp>(inner);
    if (!loop)
      return matmulError()
             << "expected nothing but loops of constant extents between it and the pipelined loop, got a condition";
    if (isMatmul(loop))
      return raiseMatmul(loop, loops);
  }
  return failure();
}
} // namespace tilewright
