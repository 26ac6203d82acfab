//===- PythonCallable.h - what calls and the objects that make them share -===//
#ifndef TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H
#define TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H

#include "runtime/PythonCall.h"

namespace tilewright {

/// The interpreter that this process runs.
extern TilewrightInterpreter python;
void setInterpreter(const TilewrightInterpreter &interpreter);

/// What a function of tilewrightCallerNew calls; null for any other object.
TilewrightCaller *callerBehind(void *function);

/// A call with `count` arguments by position, and those that `names` names after them.
void *callFast(const TilewrightCaller &caller, void *const *args, ptrdiff_t count, void *names);

} // namespace tilewright

#endif
