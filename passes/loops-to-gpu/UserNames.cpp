//===- UserNames.cpp - stages, axes and lines as the user knows them ------===//
#include "passes/loops-to-gpu/UserNames.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright {

std::string AxisName::quoted() const { return axis.empty() ? "a loop" : "axis '" + stage + "." + axis + "'"; }

/// The stage in "C.local.k.outer", given the names of stages and tensors of the function.
static StringRef getStagePrefix(StringRef name, func::FuncOp function) {
  StringRef longest;
  auto consider = [&](StringRef stage) {
    if (stage.size() > longest.size() && name.starts_with(stage) && name.drop_front(stage.size()).starts_with("."))
      longest = stage;
  };
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (auto tensor = function.getArgAttrOfType<StringAttr>(i, te::kNameAttr))
      consider(tensor.getValue());
  function.walk([&](Operation *op) {
    if (auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr))
      consider(stage.getValue());
  });
  if (!longest.empty())
    return longest;
  return name.take_front(name.find('.'));
}

AxisName getAxisName(scf::ForOp loop, func::FuncOp function) {
  auto attr = loop->getAttrOfType<StringAttr>(schedule::kAxisAttr);
  if (!attr)
    return {};
  StringRef name = attr.getValue();
  // The location's name is the axis alone.
  if (auto named = loop.getLoc()->findInstanceOf<NameLoc>()) {
    StringRef axis = named.getName().getValue();
    if (name.size() > axis.size() + 1 && name.ends_with(axis) && name.drop_back(axis.size()).ends_with("."))
      return {name.drop_back(axis.size() + 1).str(), axis.str()};
  }
  StringRef stage = getStagePrefix(name, function);
  return {stage.str(), name.drop_front(std::min(stage.size() + 1, name.size())).str()};
}

std::string getFileAndLine(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return llvm::sys::path::filename(file.getFilename().getValue()).str() + ":" + std::to_string(file.getLine());
  return "";
}

std::string describeOrigin(const AxisName &name, Location loc) {
  std::string text = name.axis.empty() ? "a loop" : name.axis + " of stage " + name.stage;
  std::string line = getFileAndLine(loc);
  return line.empty() ? text : text + ", " + line;
}

std::string getBufferName(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr))
      return stage.str();
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      break;
    buffer = view.getViewSource();
  }
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr))
        return name.str();
  std::string type;
  llvm::raw_string_ostream(type) << "a " << buffer.getType();
  return type;
}

StringRef getTagName(schedule::ThreadTag tag) { return schedule::stringifyThreadTag(tag); }

} // namespace tilewright
