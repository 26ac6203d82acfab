//===- Warp.cpp - what a warp's tiles need, and which loops they share out ===//
#include "passes/loops-to-gpu/Warp.h"

#include "dialects/Tile/Instructions.h"
#include "passes/index/Bounds.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// Registers of a thread, less those for addresses and the like.
static constexpr int64_t kFragmentRegisters = 232;

LogicalResult Warp::checkLanes(scf::ForOp nest) {
  std::optional<int64_t> lanes = getConstantIntValue(launch.getBlockSizeX());
  if (lanes != kWarpSize)
    return error(nest) << "expected the 32 lanes of a warp along threadIdx.x, got "
                       << (lanes == 1 ? std::string("none") : std::to_string(lanes.value_or(0)))
                       << ": bind a loop of 32 iterations of what fills shared memory to it, or use env_threads";
  return success();
}

LogicalResult Warp::readProduct(scf::ForOp nest) {
  FailureOr<MatmulLoops> found = readMatmulLoops(nest);
  if (failed(found))
    return failure();
  MatmulLoops matmul = *found;
  Value result = matmul.result.getMemRef();
  Type type = matmul.a.getType(), resultType = cast<MemRefType>(result.getType()).getElementType();
  if (matmul.b.getType() != type)
    return error(nest) << "expected operands of one type, got " << type << " and " << matmul.b.getType();
  Type known = type.isF32() ? FloatTF32Type::get(type.getContext()) : type;
  const tile::MmaSyncInstruction *instruction = tile::findMmaSync(known, known, resultType, architecture.capability);
  int64_t extents[3];
  scf::ForOp loops[] = {matmul.m, matmul.n, matmul.k};
  for (auto [extent, loop] : llvm::zip_equal(extents, loops))
    extent = getConstantIntValue(loop.getUpperBound()).value_or(0);
  if (!architecture.hasMmaSync())
    return error(nest) << "expected a target of " << Architecture::kAmpere << " or later, got " << architecture.name;
  if (!instruction)
    return error(nest) << "expected types that mma.sync multiplies, got " << type << " to " << resultType;
  if (extents[0] != instruction->m || extents[1] != instruction->n || extents[2] != instruction->k)
    return error(nest) << "expected tiles of " << instruction->m << " x " << instruction->n << " x " << instruction->k
                       << ", got " << extents[0] << " x " << extents[1] << " x " << extents[2];
  if (!result.getDefiningOp<memref::AllocaOp>())
    return error(nest) << "expected an accumulator in registers, got '" << getBufferName(result)
                       << "' in other memory: cache_write it in scope local and tensorize that";

  int64_t pack = 32 / type.getIntOrFloatBitWidth();
  Value m = matmul.m.getInductionVar(), n = matmul.n.getInductionVar(), k = matmul.k.getInductionVar();
  for (memref::LoadOp *load : {&matmul.a, &matmul.b})
    if (!load->getMemRef().getDefiningOp<memref::AllocaOp>())
      stageOperand(matmul, *load, load == &matmul.a ? m : n, k);
  FragmentLayout a{0, 0, extents[0], extents[2], pack}, b{0, 0, extents[1], extents[2], pack},
      c{0, 0, extents[0], extents[1], 2};
  matmuls.push_back(matmul);
  return success(succeeded(addLayout(matmul, matmul.a.getMemRef(), matmul.a.getIndices(), m, k, a, "operand A")) &&
                 succeeded(addLayout(matmul, matmul.b.getMemRef(), matmul.b.getIndices(), n, k, b, "operand B")) &&
                 succeeded(addLayout(matmul, result, matmul.result.getIndices(), m, n, c, "the accumulator")));
}

LogicalResult Warp::addLayout(MatmulLoops &matmul, Value buffer, ValueRange indices, Value row, Value col,
                              FragmentLayout layout, StringRef what) {
  auto type = cast<MemRefType>(buffer.getType());
  auto refuse = [&]() -> LogicalResult {
    return error(matmul.m) << "expected '" << getBufferName(buffer) << "' to hold whole tiles of " << layout.rowTile
                           << " x " << layout.colTile << ", one beside the other, got " << type;
  };
  unsigned rows = 0, cols = 0;
  for (auto [d, index] : llvm::enumerate(indices)) {
    AffineExpr expr = space.get(index);
    // What an index is computed from by other ops than affine ones.
    for (Value variable : {row, col})
      if (isComputedFrom(index, scf::getForInductionVarOwner(variable)) && !space.dependsOn(expr, variable))
        return refuse();
    if (space.dependsOn(expr, row)) {
      layout.rowDim = d;
      AffineExpr rest = space.without(expr, row);
      rows += rest && index::isMultipleOf(rest, layout.rowTile) ? 1 : 2;
    }
    if (space.dependsOn(expr, col)) {
      layout.colDim = d;
      AffineExpr rest = space.without(expr, col);
      cols += rest && index::isMultipleOf(rest, layout.colTile) ? 1 : 2;
    }
  }
  if (rows != 1 || cols != 1 || layout.rowDim == layout.colDim || type.getShape()[layout.rowDim] % layout.rowTile ||
      type.getShape()[layout.colDim] % layout.colTile)
    return refuse();
  auto [entry, isNew] = layouts.insert({buffer, layout});
  if (!isNew && !(entry->second == layout))
    return error(matmul.m) << "expected '" << getBufferName(buffer) << "' to be " << what
                           << " wherever an instruction takes it, got one that takes it in another place";
  return success();
}

LogicalResult Warp::checkRegisters(scf::ForOp nest) {
  int64_t threads = 1;
  for (Value extent : {launch.getBlockSizeX(), launch.getBlockSizeY(), launch.getBlockSizeZ()})
    threads *= std::max<int64_t>(getConstantIntValue(extent).value_or(1), 1);
  int64_t limit = std::min(kFragmentRegisters, tile::kBlockRegisters / threads);
  int64_t registers = 0;
  std::string list;
  for (auto &[buffer, layout] : layouts) {
    auto type = layout.getLaneType(cast<MemRefType>(buffer.getType()));
    int64_t own = llvm::divideCeil(type.getNumElements() * getElementBytes(type.getElementType()), 4);
    registers += own;
    list += (list.empty() ? "" : ", ") + std::to_string(own) + " of '" + getBufferName(buffer) + "'";
  }
  if (registers > limit)
    return error(nest) << "expected tiles that fit " << limit << " registers of each of the block's " << threads
                       << " threads, got " << registers << ": " << list
                       << ": give a warp a smaller tile, or a block fewer warps";
  return success();
}

/// The loop around `op`, within the buffer's life, that counts along an index in whole units.
scf::ForOp Warp::findLoop(Operation *op, Value buffer, AffineExpr index, int64_t unit, AffineExpr &rest) {
  for (Operation *parent = op->getParentOp(); parent != buffer.getDefiningOp()->getParentOp();
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    bool isFromZero =
        loop && getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1;
    std::optional<int64_t> extent = isFromZero ? getConstantIntValue(loop.getUpperBound()) : std::nullopt;
    if (!extent || *extent % unit || !space.dependsOn(index, loop.getInductionVar()))
      continue;
    rest = space.without(index, loop.getInductionVar());
    if (rest && index::isMultipleOf(rest, unit))
      return loop;
  }
  return nullptr;
}

LogicalResult Warp::share(scf::ForOp loop, SharedLoop how, Operation *at) {
  auto [entry, isNew] = shared.insert({loop, how});
  if (isNew || entry->second == how)
    return success();
  return error(at) << "expected " << getAxisName(loop).quoted() << " to go along the same side of all tiles, got '"
                   << getBufferName(how.buffer) << "' and '" << getBufferName(entry->second.buffer)
                   << "', whose lanes differ";
}

LogicalResult Warp::collectAccess(Operation *op, Value buffer, ValueRange indices, const FragmentLayout &layout) {
  FragmentAccess access{op, buffer, layout, {}, {}, space.get(indices)};
  AffineExpr row, col;
  access.rowLoop = findLoop(op, buffer, access.indices[layout.rowDim], FragmentLayout::kRows, row);
  access.colLoop = findLoop(op, buffer, access.indices[layout.colDim], layout.getColumns(), col);
  if (!access.rowLoop || !access.colLoop || access.rowLoop == access.colLoop)
    return error(op) << "expected a loop over multiples of "
                     << (access.rowLoop ? layout.getColumns() : FragmentLayout::kRows) << " along "
                     << (access.rowLoop ? "the columns" : "the rows") << " of '" << getBufferName(buffer)
                     << "', which the lanes of a warp share out, got none around this access: leave its loops whole";
  if (failed(share(access.rowLoop, {true, 0, buffer, {}}, op)) ||
      failed(share(access.colLoop, {false, layout.pack, buffer, {}}, op)))
    return failure();
  accesses.push_back(access);
  return success();
}

/// What is computed within a loop that the lanes share out is computed once an element.
LogicalResult Warp::checkUses(scf::ForOp loop) {
  const SharedLoop &how = shared[loop];
  auto refuse = [&](Operation *op, const Twine &got) {
    return error(op) << "expected loops on '" << getBufferName(how.buffer)
                     << "', which the lanes of a warp share out, that compute one element from one element, got "
                     << got;
  };
  if (loop.getNumResults())
    return refuse(loop, "a loop that carries values");
  LogicalResult valid = success();
  loop->walk([&](Operation *op) {
    if (failed(valid))
      return;
    for (MemoryAccess access : getMemoryAccesses(op)) {
      if (!access.isWrite)
        continue;
      auto store = dyn_cast<memref::StoreOp>(op);
      if (!store) {
        valid = refuse(op, "'" + op->getName().getStringRef() + "'");
        return;
      }
      if (layouts.contains(store.getMemRef()))
        continue;
      scf::ForOp row, col;
      for (auto &[other, how] : shared)
        if (other->isProperAncestor(op))
          (how.isRows ? row : col) = other;
      Operation *alloca = store.getMemRef().getDefiningOp<memref::AllocaOp>();
      if (alloca && row && col && row->isProperAncestor(alloca) && col->isProperAncestor(alloca))
        continue;
      auto moves = [&](scf::ForOp by) {
        return by && llvm::any_of(space.get(store.getIndices()),
                                  [&](AffineExpr expr) { return space.dependsOn(expr, by.getInductionVar()); });
      };
      if (alloca || !moves(row) || !moves(col)) {
        valid = refuse(op, "a store to '" + getBufferName(store.getMemRef()) + "' that is for several");
        return;
      }
    }
  });
  return valid;
}

bool Warp::dependsOnLane(Value value) {
  if (value == launch.getThreadIds().x)
    return true;
  auto [entry, isNew] = laneDependence.try_emplace(value, false);
  if (!isNew)
    return entry->second;
  bool depends = false;
  if (Operation *op = value.getDefiningOp())
    depends = llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnLane(operand); });
  else if (auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(value).getOwner()->getParentOp()))
    depends = llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                           [&](Value bound) { return dependsOnLane(bound); });
  return laneDependence[value] = depends;
}

/// All lanes compute a tile together, so nothing of it may be one lane's own.
LogicalResult Warp::checkIsUniform(Operation *at, ArrayRef<Value> values) {
  for (Operation *parent = at->getParentOp(); parent != launch; parent = parent->getParentOp())
    for (Value operand : parent->getOperands())
      if (dependsOnLane(operand))
        return error(at)
               << "expected a tile that the lanes of a warp compute together, got one in a loop or predicate that "
                  "depends on threadIdx.x";
  for (Value value : values)
    if (dependsOnLane(value))
      return error(at)
             << "expected a tile that the lanes of a warp compute together, got one that depends on threadIdx.x: "
                "bind no loop around it to that";
  return success();
}

} // namespace tilewright
