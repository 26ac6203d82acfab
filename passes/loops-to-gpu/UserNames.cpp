//===- UserNames.cpp - stages, axes and lines as the user knows them ------===//
#include "passes/loops-to-gpu/UserNames.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright {

std::string AxisName::quoted() const { return axis.empty() ? "a loop" : "axis '" + stage + "." + axis + "'"; }

AxisName getAxisName(scf::ForOp loop) {
  auto axis = loop->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr);
  return axis ? AxisName{axis.getStage().str(), axis.getAxis().str()} : AxisName();
}

std::string getFileAndLine(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  StringRef path = file.getFilename().getValue();
  if (file.getLine())
    return llvm::sys::path::filename(path).str() + ":" + std::to_string(file.getLine());
  // A node of a model has no line: "net.py:6 (aten.addmm.default)", or "node 'fc/MatMul' (MatMul)".
  size_t label = std::min(path.find(' '), path.size());
  return llvm::sys::path::filename(path.take_front(label)).str() + path.drop_front(label).str();
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
