//===- RaiseCopies.cpp - copies of tiles by TMA ---------------------------===//
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileBox.h"
#include "passes/loops-to-tile/TileRaiser.h"

using namespace mlir;

namespace tilewright {

tile::ClusterAxisAttr TileRaiser::getMulticast(const TileCopy &copy) {
  if (copy.gathered || !copy.read.empty())
    return nullptr;
  // A load goes to blocks along one axis. What all blocks of the cluster need each row of them brings for itself.
  for (unsigned axis = 0; axis < 2; ++axis)
    if (cluster[axis] > 1 && llvm::none_of(copy.dimensions, [&](const TileDimension &dimension) {
          return dimension.first.dependsOn(blocks[axis].getInductionVar());
        }))
      return tile::ClusterAxisAttr::get(builder.getContext(), axis == 0 ? tile::ClusterAxis::X : tile::ClusterAxis::Y);
  return nullptr;
}

SmallVector<Value> TileRaiser::getCoordinates(const TileCopy &copy) {
  SmallVector<Value> coordinates;
  IRMapping known = places;
  for (Value read : copy.read)
    known.map(read, remake(read, known));
  for (auto [number, dimension] : llvm::enumerate(copy.dimensions))
    if (copy.gathered && copy.gathered->inMap == number)
      coordinates.append(getGatheredCoordinates(copy));
    else
      coordinates.push_back(dimension.first.materialize(builder, copy.getLoc(), known));
  return coordinates;
}

namespace {
/// The dimensions of a copy's tensor map, null where they are the tensor's.
struct OwnDimensions {
  DenseI64ArrayAttr extents, strides, steps;
  OwnDimensions(OpBuilder &builder, const TileCopy &copy) {
    if (copy.hasTensorDimensions())
      return;
    SmallVector<int64_t> all[3];
    for (const TileDimension &dimension : copy.dimensions) {
      all[0].push_back(dimension.extent);
      all[1].push_back(dimension.stride);
      all[2].push_back(dimension.step);
    }
    extents = builder.getDenseI64ArrayAttr(all[0]);
    strides = builder.getDenseI64ArrayAttr(all[1]);
    steps = builder.getDenseI64ArrayAttr(all[2]);
  }
};
} // namespace

LogicalResult TileRaiser::raiseLoad(Operation *of, memref::StoreOp store) {
  Value buffer = store.getMemRef();
  // Each buffer is filled once, where it is made, before it is read.
  if (tiles.contains(buffer) || buffer.getParentBlock() != of->getBlock())
    return error("software_pipeline", of->getLoc())
           << "expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it";
  FailureOr<TileCopy> copy = matchCopy(of, store);
  if (failed(copy))
    return failure();
  loads.push_back(*copy);
  // The tensor cores read f32 as tf32, but for matmuls that warps split in such.
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (element.isF32() && !multipliesF32())
    element = FloatTF32Type::get(element.getContext());
  auto type =
      tile::BufferType::get(builder.getContext(), {copy->rows, copy->columns}, element, copy->swizzle, copy->rows);
  SmallVector<Value> coordinates = getCoordinates(*copy);
  OwnDimensions own(builder, *copy);
  auto load = tile::LoadOp::create(builder, copy->getLoc(), type, copy->tensor, coordinates,
                                   builder.getDenseI64ArrayAttr(copy->getBox()), own.extents, own.strides, own.steps,
                                   getMulticast(*copy),
                                   copy->gathered ? builder.getI64IntegerAttr(copy->gathered->inMap) : IntegerAttr());
  load->setAttr(te::kStageAttr, builder.getStringAttr(getBufferName(buffer)));
  tiles[buffer] = load;
  return success();
}

LogicalResult TileRaiser::raiseStore(Operation *of, memref::StoreOp store) {
  FailureOr<TileCopy> copy = matchCopy(of, store);
  if (failed(copy))
    return failure();
  Value fragment = tiles.lookup(copy->buffer);
  if (!fragment || !isa<tile::FragmentType>(fragment.getType()))
    return matmulError() << "expected a stage that reads the accumulator, got none in the kernel";
  bool isTransposed = transposed.contains(copy->buffer);
  SmallVector<Value> coordinates = getCoordinates(*copy);
  SmallVector<int64_t> box = copy->getBox();
  AffineExpr first = builder.getAffineDimExpr(0), number = builder.getAffineDimExpr(1);
  if (isTransposed) {
    // A part of it, so many columns of the accumulator, is one box.
    if (llvm::count_if(ArrayRef(box).drop_back(), [](int64_t extent) { return extent > 1; }) > 1)
      return matmulError()
             << "expected rows of the result along one dimension where they are columns of the accumulator, got "
             << copy->describeRows() << " rows";
    coordinates.back() = affine::makeComposedAffineApply(builder, copy->getLoc(), first + number * tile::kWgmmaRows,
                                                         {coordinates.back(), kernel.getWarpgroup()});
    box.back() = tile::kWgmmaRows;
  } else {
    SmallVector<int64_t> steps;
    for (const TileDimension &dimension : copy->dimensions)
      steps.push_back(dimension.step);
    TileBox whole{box, steps};
    std::optional<SmallVector<int64_t>> part = whole.getPart(tile::kWgmmaRows);
    if (!part)
      return matmulError() << "expected a result of which the " << tile::kWgmmaRows
                           << " rows of a warpgroup are a box, got " << copy->describeRows() << " rows";
    whole.moveToPart(builder, copy->getLoc(), tile::kWgmmaRows, kernel.getWarpgroup(), coordinates);
    box = *part;
  }
  OwnDimensions own(builder, *copy);
  auto made = tile::StoreOp::create(
      builder, copy->getLoc(), fragment, copy->tensor, coordinates, /*width=*/Value(),
      builder.getDenseI64ArrayAttr(box), own.extents, own.strides, own.steps, builder.getI64IntegerAttr(copy->atOnce),
      builder.getI64IntegerAttr(copy->swizzle), isTransposed ? builder.getUnitAttr() : UnitAttr(),
      copy->isDeferred ? builder.getUnitAttr() : UnitAttr(),
      store->hasAttr(schedule::kReduceAddAttr) ? builder.getUnitAttr() : UnitAttr(), /*parts=*/DenseI64ArrayAttr(),
      /*narrow=*/DenseI64ArrayAttr(), copy->byThreads ? builder.getUnitAttr() : UnitAttr());
  made->setAttr(te::kStageAttr, builder.getStringAttr(getBufferName(copy->buffer)));
  hasResult = true;
  return success();
}
} // namespace tilewright
