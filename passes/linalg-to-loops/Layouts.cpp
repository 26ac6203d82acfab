//===- Layouts.cpp - where the elements of a stage's buffer lie -----------===//
//
// Elements have indices in the part of the tensor that a buffer holds. A layout gives each a place: by a map, around a
// circle along one dimension, or with the granules of a row exchanged.
//
//===----------------------------------------------------------------------===//
#include "passes/index/DigitExpr.h"
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

/// Buffers up to this many elements are looked at one by one.
static constexpr int64_t kMaxEnumerated = 1 << 20;

//===----------------------------------------------------------------------===//
// What may have a layout
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<AffineExpr>> LoopBounds::getPlacedShape(const ScheduledStage &stage) const {
  AffineMap map = stage.layout.map;
  ArrayRef<AffineExpr> shape = (*this)[stage].bufferExtents;
  if (!map)
    return SmallVector<AffineExpr>(shape);
  SmallVector<AffineExpr> extents;
  for (AffineExpr result : map.getResults()) {
    auto interval = getInterval(result, [](unsigned) { return true; }, [&](unsigned dim) { return shape[dim]; });
    if (!interval)
      return failure();
    auto first = dyn_cast<AffineConstantExpr>(interval->min);
    if (!first || first.getValue() < 0)
      return failure();
    extents.push_back(simplify(interval->min + interval->width + 1));
  }
  return extents;
}

/// True where each dimension follows from indices of the map that are digits of it.
static bool isSplitOfDims(AffineMap map) {
  SmallVector<SmallVector<index::DigitExpr>> digits(map.getNumDims());
  for (AffineExpr result : map.getResults())
    if (auto digit = index::getDigit(result))
      if (auto dim = dyn_cast<AffineDimExpr>(digit->first))
        digits[dim.getPosition()].push_back(digit->second);
  return llvm::all_of(digits, [](ArrayRef<index::DigitExpr> ofDim) { return index::areWhole(ofDim); });
}

/// Two elements with one place, where there are such; none too where they are too many to look at.
static std::optional<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>>
findCollision(AffineMap map, ArrayRef<int64_t> shape, ArrayRef<int64_t> placed) {
  int64_t elements = 1, places = 1;
  for (int64_t extent : shape)
    elements *= extent;
  for (int64_t extent : placed)
    places *= extent;
  SmallVector<int64_t> owner(places, -1), at(shape.size());
  auto indicesOf = [&](int64_t element) {
    for (size_t d = shape.size(); d-- > 0; element /= shape[d])
      at[d] = element % shape[d];
    return at;
  };
  for (int64_t element = 0; element < elements; ++element) {
    SmallVector<int64_t> indices = indicesOf(element);
    int64_t place = 0;
    for (auto [index, extent] : llvm::zip(map.compose(indices), placed))
      place = place * extent + index;
    if (owner[place] >= 0)
      return std::make_pair(SmallVector<int64_t>(indicesOf(owner[place])), indices);
    owner[place] = element;
  }
  return std::nullopt;
}

static std::optional<SmallVector<int64_t>> getConstants(ArrayRef<AffineExpr> exprs) {
  SmallVector<int64_t> values;
  for (AffineExpr expr : exprs) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant)
      return std::nullopt;
    values.push_back(constant.getValue());
  }
  return values;
}

static std::string listed(ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

LogicalResult BoundInference::verifyMap(const ScheduledStage &stage) {
  auto error = [&] { return emitError(*stage.layout.mapLoc) << "transform_layout of stage '" << stage.name << "': "; };
  AffineMap map = stage.layout.map;
  if (map.getNumDims() != stage.numSpatial)
    return error() << "expected a layout of " << stage.numSpatial << " indices, one a dimension, got one of "
                   << map.getNumDims();
  auto extents = bounds.getPlacedShape(stage);
  if (failed(extents))
    return error() << "expected places from 0 on, got some that are less or not known to be";
  if (isSplitOfDims(map))
    return success();
  auto shape = getConstants(bounds[stage].bufferExtents), placed = getConstants(*extents);
  if (!shape || !placed)
    return error()
           << "expected a layout by axes and their quotients and remainders where an extent is symbolic, got another";
  int64_t places = 1;
  for (int64_t extent : *placed)
    places = std::min(places * extent, kMaxEnumerated + 1);
  if (places > kMaxEnumerated)
    return error() << "expected a layout by axes and their quotients and remainders, or at most " << kMaxEnumerated
                   << " places, got a buffer of more";
  if (auto pair = findCollision(map, *shape, *placed))
    return error() << "expected a place of its own for each element, got one for those at " << listed(pair->first)
                   << " and " << listed(pair->second);
  return success();
}

LogicalResult BoundInference::verifySwizzle(const ScheduledStage &stage) {
  auto error = [&] { return emitError(*stage.layout.swizzleLoc) << "swizzle of stage '" << stage.name << "': "; };
  auto extents = bounds.getPlacedShape(stage);
  if (extents->size() < 2)
    return error() << "expected a buffer with rows, of 2 dimensions or more, got " << extents->size();
  auto columns = dyn_cast<AffineConstantExpr>(extents->back());
  int64_t granule = stage.layout.granule;
  if (!columns)
    return error() << "expected rows of constant extent, got one that is symbolic";
  int64_t granules = columns.getValue() / granule;
  if (columns.getValue() % granule || !llvm::isPowerOf2_64(granules))
    return error() << "expected rows of a power of two granules of " << granule << " elements, got rows of "
                   << columns.getValue() << " elements";
  if (granules == 1)
    return error() << "expected rows of more than one granule, got rows of " << columns.getValue()
                   << " elements and a granule of " << granule;
  return success();
}

LogicalResult BoundInference::verifyLayout(const ScheduledStage &stage) {
  const ScheduledStage::Layout &layout = stage.layout;
  auto refuse = [&](std::optional<Location> loc, StringRef name) -> LogicalResult {
    if (!loc)
      return success();
    auto error = [&] { return emitError(*loc) << name << " of stage '" << stage.name << "': "; };
    if (stage.isOutput())
      return error()
             << "expected a tensor of the program's own, got an output, which lies in memory as the caller has it: "
                "cache_write it";
    if (stage.getOperation()->hasAttr(te::kScanAttr))
      return error() << "expected a stage that does not read its own tensor, got a scan";
    if (!stage.alignments.empty())
      return error() << "expected a stage without storage_align, which sets rows apart that this moves";
    return success();
  };
  if (failed(refuse(layout.mapLoc, "transform_layout")) || failed(refuse(layout.swizzleLoc, "swizzle")))
    return failure();
  if (layout.mapLoc && layout.rollingLoc)
    return emitError(*layout.mapLoc) << "transform_layout of stage '" << stage.name
                                     << "': expected a stage without a rolling buffer, whose rows lie in a circle";
  if (layout.mapLoc && failed(verifyMap(stage)))
    return failure();
  return layout.swizzleLoc ? verifySwizzle(stage) : success();
}

//===----------------------------------------------------------------------===//
// Rolling buffers
//===----------------------------------------------------------------------===//

LogicalResult BoundInference::roll(const ScheduledStage &stage) {
  auto error = [&] {
    return emitError(*stage.layout.rollingLoc) << "rolling_buffer of stage '" << stage.name << "': ";
  };
  if (!stage.attachStage || stage.follows)
    return error() << "expected a stage that is computed at a loop of another, got one that is computed "
                   << (stage.follows ? "after what it reads" : "at the root");
  const Axis *loop = stage.attachAxis;
  if (loop->bind)
    return error() << "expected a loop whose iterations come one after the other, got '" << loop->name << "' on "
                   << schedule::stringifyThreadTag(*loop->bind);
  if (loop->vectorize || loop->parallel || loop->pipelineDepth)
    return error() << "expected a loop whose iterations come one after the other, got '" << loop->name << "', which is "
                   << (loop->vectorize  ? "vectorized"
                       : loop->parallel ? "parallel"
                                        : "a software pipeline");
  MLIRContext *context = function.getContext();
  auto extent = dyn_cast<AffineConstantExpr>(bounds[loop].extent);
  if (extent && extent.getValue() == 1)
    return success(); // nothing comes after the first window
  AffineExpr index = getAffineDimExpr(bounds[loop].dim, context), zero = getAffineConstantExpr(0, context);
  for (unsigned d = 0; d < stage.numSpatial; ++d) {
    AffineExpr step = simplify(bounds[stage].mins[d].replace(index, index + 1) - bounds[stage].mins[d]);
    if (step == zero)
      continue;
    auto by = dyn_cast<AffineConstantExpr>(step);
    auto window = dyn_cast<AffineConstantExpr>(bounds[stage.roots[d]].extent);
    if (!by || by.getValue() < 0 || !window)
      return error() << "expected windows that move on by a constant with loop '" << loop->name << "', got axis '"
                     << stage.roots[d]->name << "', along which they do not";
    if (bounds[stage].rollingDim)
      return error() << "expected windows that move along one axis with loop '" << loop->name << "', got '"
                     << stage.roots[*bounds[stage].rollingDim]->name << "' and '" << stage.roots[d]->name << "'";
    if (by.getValue() >= window.getValue())
      return error() << "expected windows that overlap, got windows of " << window.getValue() << " along axis '"
                     << stage.roots[d]->name << "' that move by " << by.getValue() << " with loop '" << loop->name
                     << "'";
    bounds[stage].rollingDim = d;
    bounds[stage].rollingStep = by.getValue();
  }
  if (!bounds[stage].rollingDim)
    return error() << "expected windows that move with loop '" << loop->name
                   << "', got the same one in every iteration";
  AffineExpr &origin = bounds[stage].origin[*bounds[stage].rollingDim];
  origin = simplify(origin.replace(index, zero));
  return success();
}

Value LoopEmitter::emitIsNew(const ScheduledStage &stage) {
  if (!bounds[stage].rollingDim)
    return nullptr;
  Location loc = stage.getLoc();
  const Axis *root = stage.roots[*bounds[stage].rollingDim];
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      materialize(bounds[stage.attachAxis].index, loc), getConstant(0));
  Value isNew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, materialize(bounds[root].index, loc),
                                      materialize(bounds[root].extent - bounds[stage].rollingStep, loc));
  return arith::OrIOp::create(builder, loc, first, isNew);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The part of a buffer that those iterations have which run now, before the places in it.
static SmallVector<AffineExpr> getInstance(const LoopBounds &bounds, const ScheduledStage *stage) {
  return stage ? llvm::map_to_vector(bounds[*stage].instances, [&](const Axis *loop) { return bounds[loop].index; })
               : SmallVector<AffineExpr>();
}

SmallVector<Value> LoopEmitter::place(const ScheduledStage *stage, ArrayRef<AffineExpr> indices, Location loc) {
  SmallVector<Value> places = materialize(getInstance(bounds, stage), loc);
  llvm::append_range(places, placeWithin(stage, indices, loc));
  return places;
}

SmallVector<Value> LoopEmitter::place(const ScheduledStage *stage, ArrayRef<Value> indices, Location loc) {
  SmallVector<Value> places = materialize(getInstance(bounds, stage), loc);
  llvm::append_range(places, placeWithin(stage, indices, loc));
  return places;
}

SmallVector<Value> LoopEmitter::placeWithin(const ScheduledStage *stage, ArrayRef<AffineExpr> indices, Location loc) {
  if (!stage)
    return materialize(indices, loc);
  const ScheduledStage::Layout &layout = stage->layout;
  SmallVector<AffineExpr> places(indices);
  if (bounds[*stage].rollingDim)
    places[*bounds[*stage].rollingDim] =
        simplify(places[*bounds[*stage].rollingDim]) % bounds[*stage].bufferExtents[*bounds[*stage].rollingDim];
  if (layout.map)
    places =
        llvm::map_to_vector(layout.map.getResults(), [&](AffineExpr result) { return result.replaceDims(places); });
  if (!layout.granule)
    return materialize(places, loc);
  int64_t granules = cast<AffineConstantExpr>(bounds.getPlacedShape(*stage)->back()).getValue() / layout.granule;
  AffineExpr row = places[places.size() - 2] % granules, column = places.back().floorDiv(layout.granule);
  Value swizzled = arith::XOrIOp::create(builder, loc, materialize(column, loc), materialize(row, loc));
  Value rest = materialize(places.back() % layout.granule, loc);
  SmallVector<Value> values = materialize(ArrayRef(places).drop_back(), loc);
  AffineExpr whole = builder.getAffineDimExpr(0) * layout.granule + builder.getAffineDimExpr(1);
  values.push_back(affine::makeComposedAffineApply(builder, loc, whole, {swizzled, rest}));
  return values;
}

SmallVector<Value> LoopEmitter::placeWithin(const ScheduledStage *stage, ArrayRef<Value> indices, Location loc) {
  if (!stage || (!bounds[*stage].rollingDim && !stage->layout.map && !stage->layout.granule))
    return SmallVector<Value>(indices);
  const ScheduledStage::Layout &layout = stage->layout;
  auto apply = [&](AffineExpr expr, ArrayRef<Value> operands) -> Value {
    return affine::makeComposedAffineApply(builder, loc, expr, getAsOpFoldResult(ValueRange(operands)));
  };
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  SmallVector<Value> places(indices);
  if (bounds[*stage].rollingDim)
    places[*bounds[*stage].rollingDim] =
        apply(d0 % cast<AffineConstantExpr>(bounds[*stage].bufferExtents[*bounds[*stage].rollingDim]).getValue(),
              places[*bounds[*stage].rollingDim]);
  if (layout.map) {
    SmallVector<Value> mapped;
    for (AffineExpr result : layout.map.getResults())
      mapped.push_back(apply(result, places));
    places = mapped;
  }
  if (!layout.granule)
    return places;
  int64_t granules = cast<AffineConstantExpr>(bounds.getPlacedShape(*stage)->back()).getValue() / layout.granule;
  Value swizzled = arith::XOrIOp::create(builder, loc, apply(d0.floorDiv(layout.granule), places.back()),
                                         apply(d0 % granules, places[places.size() - 2]));
  places.back() = apply(d0 * layout.granule + d1 % layout.granule, {swizzled, places.back()});
  return places;
}
} // namespace tilewright
