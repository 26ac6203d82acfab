//===- EmitFunctions.cpp - what becomes of the sums -----------------------===//
#include "passes/loops-to-tile/TileEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

Value TileEmitter::remake(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto index = program.narrower ? LinearIndex::get(value) : std::nullopt;
      index && index->dependsOn(program.blocks[0].getInductionVar()))
    return getInUnits(*index).materialize(builder, value.getLoc(), mapping);
  Operation *op = value.getDefiningOp();
  if (!op || !program.nest->isAncestor(op))
    return value;
  // What it is computed from may stand anywhere in the nest.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && operand.getDefiningOp() != op)
        mapping.map(operand, remake(operand, mapping));
  });
  // In its regions too what is known stands for itself.
  SmallVector<std::pair<Value, Value>> known;
  op->walk([&](Operation *inner) {
    for (Value made : inner->getResults())
      if (Value found = inner == op ? Value() : mapping.lookupOrNull(made))
        known.push_back({made, found});
  });
  builder.clone(*op, mapping);
  for (auto [made, found] : known) {
    Operation *copied = mapping.lookup(made).getDefiningOp();
    copied->replaceAllUsesWith(ValueRange(found));
    copied->erase();
    mapping.map(made, found);
  }
  return mapping.lookup(value);
}

void TileEmitter::emitFunctions(Value fragment) {
  fragments.clear();
  fragments[program.sum] = fragment;
  for (TileFunction &function : program.functions) {
    Value buffer = function.store.getMemRef(), value = function.store.getValue();
    if (isInGlobalMemory(buffer)) {
      emitFunction(function, value, /*element=*/Type(), /*stores=*/true);
      continue;
    }
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    bool isResult = program.result && program.result->buffer == buffer;
    // What stores a fragment to shared memory rounds it; one that is held takes half as many registers rounded.
    if (auto rounded = value.getDefiningOp<arith::TruncFOp>(); isResult && !held && rounded && rounded.getIn().getType().isF32()) {
      value = rounded.getIn();
      element = value.getType();
    }
    auto load = value.getDefiningOp<memref::LoadOp>();
    Value known = load ? fragments.lookup(load.getMemRef()) : Value();
    fragments[buffer] = known ? known : emitFunction(function, value, element, /*stores=*/false);
    if (isResult && !held)
      emitResult(fragments[buffer], getResultCoordinates(), 0, countResultParts(), width);
  }
}

Value TileEmitter::emitFunction(TileFunction &function, Value value, Type element, bool stores) {
  // The fragments that are read, of buffers of the nest.
  SmallVector<Value> buffers, read;
  bool readsMemory = false;
  function.nest->walk([&](memref::LoadOp load) {
    if (isInGlobalMemory(load.getMemRef()))
      readsMemory = true;
    else if (!llvm::is_contained(buffers, load.getMemRef()))
      buffers.push_back(load.getMemRef());
  });
  for (Value buffer : buffers)
    read.push_back(fragments.lookup(buffer));
  Location at = function.store.getLoc();
  auto like = cast<tile::FragmentType>(read[0].getType());
  // What is only stored makes no other fragment.
  if (stores)
    element = like.getElementType();
  auto map = tile::MapOp::create(builder, at, tile::FragmentType::get(builder.getContext(), like.getShape(), element), read);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  IRMapping mapping = places;
  for (Value fragment : read)
    body->addArgument(cast<tile::FragmentType>(fragment.getType()).getElementType(), at);
  Value row = body->addArgument(builder.getIndexType(), at), column = body->addArgument(builder.getIndexType(), at);
  // Of one iteration is what no digit is.
  function.nest->walk([&](scf::ForOp loop) {
    if (getLoopExtent(loop.getInductionVar()) == 1)
      mapping.map(loop.getInductionVar(), constant(0));
  });
  for (auto [digits, number] : {std::pair(ArrayRef(function.rows), row), std::pair(ArrayRef(function.columns), column)})
    for (auto [position, digit] : llvm::enumerate(digits)) {
      AffineExpr expr = builder.getAffineDimExpr(0).floorDiv(digit.stride);
      if (position + 1 != digits.size())
        expr = expr % digit.extent;
      bool isWhole = digits.size() == 1 && digit.stride == 1;
      mapping.map(scf::ForOp(digit.loop).getInductionVar(), isWhole ? number : binary(expr, number));
    }
  function.nest->walk([&](memref::LoadOp load) {
    if (const auto *found = llvm::find(buffers, load.getMemRef()); found != buffers.end())
      mapping.map(load.getResult(), body->getArgument(found - buffers.begin()));
  });
  // The conditions under which there is an element.
  Value condition;
  for (Operation *around = function.store->getParentOp(); around != function.nest->getParentOp(); around = around->getParentOp())
    if (auto guarded = dyn_cast<scf::IfOp>(around); guarded && (stores || readsMemory)) {
      Value holds = remake(guarded.getCondition(), mapping);
      condition = condition ? arith::AndIOp::create(builder, at, holds, condition).getResult() : holds;
    }
  Value made;
  auto compute = [&] {
    made = remake(value, mapping);
    if (!stores)
      return;
    SmallVector<Value> indices;
    for (Value index : function.store.getIndices())
      indices.push_back(remake(index, mapping));
    memref::StoreOp::create(builder, at, made, function.store.getMemRef(), indices);
  };
  if (!condition) {
    compute();
  } else {
    bool gives = !stores;
    auto choice = scf::IfOp::create(builder, at, gives ? TypeRange(element) : TypeRange(), condition, /*withElseRegion=*/gives);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    compute();
    if (gives) {
      scf::YieldOp::create(builder, at, made);
      builder.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(builder, at, Value(arith::ConstantOp::create(builder, at, builder.getZeroAttr(element))));
      made = choice.getResult(0);
    }
  }
  builder.setInsertionPointToEnd(body);
  tile::YieldOp::create(builder, at, stores ? Value(body->getArgument(0)) : made);
  return map.getResult();
}

SmallVector<Value> TileEmitter::getResultCoordinates() {
  SmallVector<Value> coordinates = getCoordinates(*program.result);
  if (program.isTransposed)
    coordinates.back() = binary(builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * tile::kWgmmaRows, {coordinates.back(), warpgroup});
  else
    moveToPart(*program.result, tile::kWgmmaRows, warpgroup, coordinates);
  return coordinates;
}

/// With less than all columns in the buffer the engine reads one half of it while the other is written to. What is deferred
/// goes by panels, each of which takes less time than a step.
int64_t TileEmitter::getPartColumns() const {
  const TileCopy &copy = *program.result;
  int64_t columns = copy.atOnce, panel = copy.swizzle / tile::getElementBytes(getElement(copy)), part = columns;
  if (defersResult() && columns % panel == 0)
    part = panel;
  else if (columns < program.getResultColumns() && columns % (2 * panel) == 0)
    part = columns / 2;
  return part % tile::kStoredColumns ? columns : part;
}

/// Each set of warpgroups has its own rows: one writes to them while the engine reads another's.
tile::BufferType TileEmitter::getResultType() const {
  const TileCopy &copy = *program.result;
  auto [rows, columns] = program.getResultShape(copy.atOnce, program.isTransposed ? copy.columns : copy.rows);
  rows *= program.numConsumers;
  return tile::BufferType::get(program.nest->getContext(), {rows, columns}, getElement(copy), copy.swizzle, rows);
}

tile::BufferType TileEmitter::getResultPartType() const {
  auto [rows, columns] = program.getResultShape(getPartColumns(), tile::kWgmmaRows);
  return getPartType(getResultType(), rows, columns);
}

/// By way of the warpgroup's part of the buffer, which must have been read before it is written to again.
void TileEmitter::emitResult(Value fragment, ValueRange begins, int64_t firstPart, int64_t parts, Value width) {
  Location at = program.result->getLoc();
  int64_t columns = getPartColumns(), places = program.result->atOnce / columns;
  SmallVector<Value> buffers(places, myResult);
  if (places > 1)
    for (int64_t number = 0; number < places; ++number) {
      auto [row, column] = program.getResultShape(number, 0);
      buffers[number] = tile::PartOp::create(builder, at, getResultPartType(), myResult, constant(row), constant(column));
    }
  AffineExpr first = builder.getAffineDimExpr(0);
  for (int64_t part = firstPart; part < firstPart + parts; ++part) {
    Value buffer = buffers[part % places];
    tile::WaitStoresOp::create(builder, at, places - 1, /*read=*/true);
    tile::SyncWarpgroupOp::create(builder, at);
    tile::StoreFragmentOp::create(builder, at, fragment, part * columns, program.isTransposed, buffer);
    tile::FenceAsyncOp::create(builder, at);
    tile::SyncWarpgroupOp::create(builder, at);
    SmallVector<Value> coordinates(begins);
    if (part && program.isTransposed)
      moveToPart(*program.result, columns, constant(part), coordinates);
    else if (part)
      coordinates.back() = binary(first + part * columns, begins.back());
    auto elect = tile::ElectOp::create(builder, at, tile::ElectScope::Warpgroup);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&elect.getBody());
    emitStore(buffer, coordinates, part * columns, width);
    tile::CommitStoresOp::create(builder, at);
  }
}
} // namespace tilewright
