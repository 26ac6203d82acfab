//===- PythonCallable.h - what calls and the objects that make them share -===//
#ifndef TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H
#define TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H

#include "runtime/PythonCall.h"

namespace tilewright {

/// What every call runs, put together; and what none but this library sees, so that it is not looked up by name.
#define TILEWRIGHT_HOT __attribute__((hot, visibility("hidden")))
#define TILEWRIGHT_HIDDEN __attribute__((visibility("hidden")))

/// The interpreter that this process runs.
TILEWRIGHT_HIDDEN extern TilewrightInterpreter python;
void setInterpreter(const TilewrightInterpreter &interpreter);

/// What a function of tilewrightCallerNew calls; null for any other object.
TilewrightCaller *callerBehind(void *function);

/// A call of any object, with `count` arguments by position and those that `names` names after them.
void *callByTuple(void *target, void *const *args, ptrdiff_t count, void *names);

/// The same of a compiled function. `holdsLock`: the interpreter's lock is not released for the launch.
TILEWRIGHT_HOT void *callFast(const TilewrightCaller &caller, void *const *args, ptrdiff_t count, void *names,
                              bool holdsLock);

} // namespace tilewright

#endif
