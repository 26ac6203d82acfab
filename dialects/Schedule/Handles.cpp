//===- Handles.cpp - the names of stages and axes -------------------------===//
#include "dialects/Schedule/Handles.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::schedule {

/// Invalid IR is printed, too, for its error to show: names are asked for where ops come in no order, or have too few
/// of them.
static constexpr int kDeepest = 1000;

static std::string nameAt(ArrayAttr names, unsigned i) {
  auto name = i < names.size() ? dyn_cast<StringAttr>(names[i]) : StringAttr();
  return name ? name.str() : "?";
}

StringRef stageName(Value stage) {
  Operation *op = stage.getDefiningOp();
  if (!op)
    return "?";
  if (auto stageOp = dyn_cast<StageOp>(op))
    return stageOp.getName();
  if (auto cache = dyn_cast<CacheReadOp>(op))
    return cache.getName();
  if (auto rfactor = dyn_cast<RfactorOp>(op))
    return rfactor.getName();
  if (auto padded = dyn_cast<PadEinsumOp>(op))
    if (unsigned i = cast<OpResult>(stage).getResultNumber(); i < padded.getNames().size())
      if (auto name = dyn_cast<StringAttr>(padded.getNames()[i]))
        return name.getValue();
  auto write = dyn_cast<CacheWriteOp>(op);
  return write ? write.getName() : "?";
}

static std::string axisNameWithin(Value axis, int depth) {
  Operation *op = axis.getDefiningOp();
  if (!op || depth > kDeepest)
    return "?";
  unsigned i = cast<OpResult>(axis).getResultNumber();
  if (auto axes = dyn_cast<AxesOp>(op))
    return nameAt(axes.getNames(), i);
  if (auto axes = dyn_cast<ReduceAxesOp>(op))
    return nameAt(axes.getNames(), i);
  if (auto split = dyn_cast<SplitOp>(op))
    return axisNameWithin(split.getAxis(), depth + 1) + (i == 0 ? ".outer" : ".inner");
  if (auto tile = dyn_cast<TileOp>(op))
    return axisNameWithin(i % 2 == 0 ? tile.getX() : tile.getY(), depth + 1) + (i < 2 ? ".outer" : ".inner");
  if (isa<SingletonOp>(op))
    return "singleton";
  auto fuse = dyn_cast<FuseOp>(op);
  if (!fuse || llvm::is_contained(fuse.getAxes(), axis))
    return "?";
  std::string name;
  for (Value part : fuse.getAxes())
    name += axisNameWithin(part, depth + 1) + ".";
  return name + "fused";
}

std::string axisName(Value axis) { return axisNameWithin(axis, 0); }

/// The axis that an axis was made of, back to the axes of the stage; null where there is none.
static Value rootAxis(Value axis) {
  for (int depth = 0; depth <= kDeepest; ++depth) {
    Operation *op = axis.getDefiningOp();
    if (!op || op->getNumOperands() == 0 || !(op->hasTrait<RootAxes>() || op->hasTrait<AxisTransform>()))
      return Value();
    if (op->hasTrait<RootAxes>())
      return axis;
    bool isSecond = isa<TileOp>(op) && cast<OpResult>(axis).getResultNumber() % 2;
    axis = op->getOperand(isSecond ? 1 : 0);
  }
  return Value();
}

Value axisStage(Value axis) {
  Value root = rootAxis(axis);
  return root ? root.getDefiningOp()->getOperand(0) : axis;
}

bool isReduceAxis(Value axis) {
  Value root = rootAxis(axis);
  return root && isa<ReduceAxesOp>(root.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

static std::string ssaName(std::string name) {
  for (char &c : name)
    if (c == '.')
      c = '_';
  return name;
}
static void setAxisNames(Operation *op, OpAsmSetValueNameFn setName) {
  for (Value result : op->getResults())
    setName(result, ssaName(axisName(result)));
}

void StageOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getStage(), ssaName(getName().str())); }
void AxesOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNames().size() == getNumResults())
    setAxisNames(*this, setName);
}
void ReduceAxesOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNames().size() == getNumResults())
    setAxisNames(*this, setName);
}
void SplitOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setAxisNames(*this, setName); }
void TileOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setAxisNames(*this, setName); }
void SingletonOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setAxisNames(*this, setName); }
void FuseOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setAxisNames(*this, setName); }
void CacheReadOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getStage(), ssaName(getName().str())); }
void CacheWriteOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getStage(), ssaName(getName().str())); }
void RfactorOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getStage(), ssaName(getName().str())); }

void PadEinsumOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNames().size() != getNumResults())
    return;
  for (Value result : getResults())
    setName(result, ssaName(stageName(result).str()));
}

} // namespace tilewright::schedule
