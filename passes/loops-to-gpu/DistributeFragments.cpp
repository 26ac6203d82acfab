//===- DistributeFragments.cpp - a warp's tiles in its lanes' registers ---===//
//
// Loops that `tensorize` marked with a matrix instruction compute a tile that all lanes of a warp compute together.
// What the instruction reads and writes are private buffers; each lane keeps the elements that the hardware says are
// its own. The other loops on such a buffer are shared out accordingly: a lane runs them for its own elements. Copies
// from shared memory become ldmatrix where that can serve (LoadMatrices.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/ArchitectureOption.h"
#include "passes/index/Bounds.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/MatrixProducts.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "dialects/Tile/Instructions.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_DISTRIBUTEFRAGMENTS
#define GEN_PASS_DEF_DISTRIBUTEFRAGMENTS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
/// Registers of a thread, less those for addresses and the like.
constexpr int64_t kFragmentRegisters = 232;

/// How the lanes share out a loop.
struct SharedLoop {
  bool isRows = false;
  int64_t pack = 0;
  Value buffer;        // the first for which it is so
  scf::ForOp elements; // of columns: the loop over a lane's neighbours, where there is more than one
  bool operator==(const SharedLoop &other) const { return isRows == other.isRows && (isRows || pack == other.pack); }
};

class Warp {
public:
  Warp(gpu::LaunchOp launch, func::FuncOp function, const Architecture &architecture)
      : launch(launch), function(function), architecture(architecture), space(launch.getContext()) {}

  LogicalResult run(ArrayRef<scf::ForOp> nests);

private:
  InFlightDiagnostic error(Operation *at) { return at->emitError() << "mma_sync of stage '" << stage << "': "; }
  LogicalResult checkLanes(scf::ForOp nest);
  LogicalResult readProduct(scf::ForOp nest);
  LogicalResult addLayout(MatrixProduct &product, Value buffer, ValueRange indices, Value row, Value col,
                          FragmentLayout layout, StringRef what);
  LogicalResult checkRegisters(scf::ForOp nest);
  LogicalResult collectAccess(Operation *op, Value buffer, ValueRange indices, const FragmentLayout &layout);
  scf::ForOp findLoop(Operation *op, Value buffer, AffineExpr index, int64_t unit, AffineExpr &rest);
  LogicalResult share(scf::ForOp loop, SharedLoop how, Operation *at);
  LogicalResult checkUses(scf::ForOp loop);
  LogicalResult checkIsUniform(Operation *at, ArrayRef<Value> values);
  bool dependsOnLane(Value value);
  void distribute(scf::ForOp loop, SharedLoop &how);
  void rewrite(FragmentAccess &access);

  gpu::LaunchOp launch;
  func::FuncOp function;
  const Architecture &architecture;
  index::IndexSpace space;
  std::string stage;
  SmallVector<MatrixProduct> products;
  FragmentLayouts layouts;
  LaneBuffers laneBuffers;
  SmallVector<FragmentAccess> accesses;
  llvm::MapVector<scf::ForOp, SharedLoop> shared;
  llvm::DenseMap<Value, bool> laneDependence;
};

LogicalResult Warp::checkLanes(scf::ForOp nest) {
  std::optional<int64_t> lanes = getConstantIntValue(launch.getBlockSizeX());
  if (lanes != kWarpSize)
    return error(nest) << "expected the 32 lanes of a warp along threadIdx.x, got "
                       << (lanes == 1 ? std::string("none") : std::to_string(lanes.value_or(0)))
                       << ": bind a loop of 32 iterations of what fills shared memory to it, or use env_threads";
  return success();
}

LogicalResult Warp::readProduct(scf::ForOp nest) {
  FailureOr<MatrixProduct> found = readProductLoops(nest);
  if (failed(found))
    return failure();
  MatrixProduct product = *found;
  Value result = product.result.getMemRef();
  Type type = product.a.getType(), resultType = cast<MemRefType>(result.getType()).getElementType();
  if (product.b.getType() != type)
    return error(nest) << "expected operands of one type, got " << type << " and " << product.b.getType();
  Type known = type.isF32() ? FloatTF32Type::get(type.getContext()) : type;
  const tile::MmaSyncInstruction *instruction = tile::findMmaSync(known, known, resultType, architecture.capability);
  int64_t extents[3];
  scf::ForOp loops[] = {product.m, product.n, product.k};
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
    return error(nest) << "expected sums in registers, got '" << getBufferName(result)
                       << "' in other memory: cache_write it in scope local and tensorize that";

  int64_t pack = 32 / type.getIntOrFloatBitWidth();
  Value m = product.m.getInductionVar(), n = product.n.getInductionVar(), k = product.k.getInductionVar();
  for (memref::LoadOp *load : {&product.a, &product.b})
    if (!load->getMemRef().getDefiningOp<memref::AllocaOp>())
      stageFactor(product, *load, load == &product.a ? m : n, k);
  FragmentLayout a{0, 0, extents[0], extents[2], pack}, b{0, 0, extents[1], extents[2], pack},
      c{0, 0, extents[0], extents[1], 2};
  products.push_back(product);
  return success(
      succeeded(addLayout(product, product.a.getMemRef(), product.a.getIndices(), m, k, a, "a first factor")) &&
      succeeded(addLayout(product, product.b.getMemRef(), product.b.getIndices(), n, k, b, "a second factor")) &&
      succeeded(addLayout(product, result, product.result.getIndices(), m, n, c, "sums")));
}

LogicalResult Warp::addLayout(MatrixProduct &product, Value buffer, ValueRange indices, Value row, Value col,
                              FragmentLayout layout, StringRef what) {
  auto type = cast<MemRefType>(buffer.getType());
  auto refuse = [&]() -> LogicalResult {
    return error(product.m) << "expected '" << getBufferName(buffer) << "' to hold whole tiles of " << layout.rowTile
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
    return error(product.m) << "expected '" << getBufferName(buffer) << "' to be " << what
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
    return llvm::any_of(products, [&](MatrixProduct &product) { return product.m->isProperAncestor(op); });
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
  for (MatrixProduct &product : products) {
    SmallVector<Value> used(product.a.getIndices());
    llvm::append_range(used, product.b.getIndices());
    llvm::append_range(used, product.result.getIndices());
    if (failed(checkIsUniform(product.m, used)))
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
  for (MatrixProduct &product : products) {
    emitProduct(product, layouts, laneBuffers, space);
    replaced.push_back(product.m);
  }
  for (scf::ForOp nest : replaced)
    nest.erase();
  for (auto &[buffer, own] : laneBuffers)
    buffer.getDefiningOp()->erase();
  return success();
}

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
