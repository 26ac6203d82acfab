//===- UserNames.h - stages, axes and lines as the user knows them --------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_USERNAMES_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_USERNAMES_H

#include "passes/PassSupport.h"

#include <string>

namespace tilewright {

/// A loop's axis, from `schedule.axis`: stage `C`, axis `i.outer`.
struct AxisName {
  std::string stage, axis;
  /// "axis 'C.i.outer'", or "a loop" for one without a name.
  std::string quoted() const;
};

/// The name of a loop's axis, empty where it has none.
AxisName getAxisName(mlir::scf::ForOp loop);

/// "mmult.py:14", the node of a model, or nothing where the location has no file.
std::string getFileAndLine(mlir::Location loc);

/// "i.outer of stage C, mmult.py:14".
std::string describeOrigin(const AxisName &name, mlir::Location loc);

/// The name of a buffer: the stage that it holds, the argument's name, or else its type.
std::string getBufferName(mlir::Value buffer);

/// "threadIdx.x".
llvm::StringRef getTagName(schedule::ThreadTag tag);

} // namespace tilewright

#endif
