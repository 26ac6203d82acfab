//===- Handles.h - what handles of stages and axes stand for --------------===//
#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_HANDLES_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_HANDLES_H

#include "dialects/Schedule/Schedule.h"

namespace tilewright::schedule {

/// Handles of one stage can come from several `schedule.stage`; the name is what they share.
inline bool isSameStage(mlir::Value a, mlir::Value b) { return a == b || stageName(a) == stageName(b); }

} // namespace tilewright::schedule

#endif
