//===- PythonCallable.h - what calls and the objects that make them share -===//
#ifndef TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H
#define TILEWRIGHT_RUNTIME_PYTHONCALLABLE_H

#include "runtime/ExchangeTypes.h"

#include <deque>
#include <string>
#include <vector>

struct alignas(64) TilewrightCaller {
  static constexpr int maxArguments = 64;
  /// Functions of more arguments go the longer way.
  static constexpr int maxShort = 12;
  using Entry = int32_t (*)(void *const *stream, const TilewrightAny *args, int32_t count);

  // What a call needs, in one line of the cache.
  std::atomic<Entry> entry{nullptr};
  /// What the first argument was when all were tensors of the exchange API: probably what the next call's are.
  std::atomic<const tilewright::ExchangeType *> usual{nullptr};
  int32_t count = 0, device = 0;
  void *(*saveThread)();
  void (*restoreThread)(void *);
  void *none;
  /// Where the interpreter counts references to None, or null where it does not.
  intptr_t *noneReferences;
  ptrdiff_t typeOffset;

  void *arrayType, *slow, *streamHandle, *raise;
  /// The first item that is a tensor in every call, or -1.
  int32_t firstTensor = -1;
  /// Fewer arguments than that no call gives.
  int32_t required = 0;
  /// Whether all that calls give are tensors.
  bool isOfTensors = true;
  /// The arguments and, behind them, the elements of those that are groups.
  std::vector<TilewrightCallerItem> items;
  /// PyMethodDef.
  struct {
    const char *name;
    void *(*function)(void *self, void *const *args, ptrdiff_t count, void *names);
    int flags;
    const char *documentation;
  } definition;
  std::string name, documentation;
  std::deque<std::string> names;
};

namespace tilewright {

/// The interpreter that this process runs.
TILEWRIGHT_HIDDEN extern TilewrightInterpreter python;
/// How many streams all threads have pushed. While there are none, which is most of the time, no thread looks for its
/// own.
TILEWRIGHT_HIDDEN extern std::atomic<int64_t> numPushedStreams;
void setInterpreter(const TilewrightInterpreter &interpreter);

/// What a function of tilewrightCallerNew calls; null for any other object.
TilewrightCaller *callerBehind(void *function);

/// A call of any object, with `count` arguments by position and those that `names` names after them.
void *callByTuple(void *target, void *const *args, ptrdiff_t count, void *names);

/// The same of a compiled function. `holdsLock`: the interpreter's lock is not released for the launch.
TILEWRIGHT_HIDDEN __attribute__((noinline, cold)) void *callAny(TilewrightCaller &caller, void *const *args,
                                                                ptrdiff_t count, void *names, bool holdsLock);

/// Raises what the compiled function has raised. Returns null.
TILEWRIGHT_HIDDEN __attribute__((noinline, cold)) void *raiseError(const TilewrightCaller &caller);

/// Calls the compiled function with arguments that have been read. Kernels may have to be loaded, and a full queue
/// makes a launch wait: meanwhile other threads of Python's go on.
inline void *run(const TilewrightCaller &caller, TilewrightCaller::Entry entry, void *const *stream,
                 const TilewrightAny *args, bool holdsLock) {
  void *state = holdsLock ? nullptr : caller.saveThread();
  int32_t failed = entry(stream, args, caller.count);
  if (state)
    caller.restoreThread(state);
  if (__builtin_expect(failed, 0))
    return raiseError(caller);
  if (caller.noneReferences)
    ++*caller.noneReferences;
  return caller.none;
}

/// The call of a compiled function. What stands here is the call with tensors of the exchange API by position, on their
/// library's stream; all else is callAny's. Between two calls the driver takes the caches for itself, so that the time
/// of a call goes by how many lines of code and data it needs, and there is nothing here that such a call does not.
inline __attribute__((always_inline)) void *call(TilewrightCaller &caller, void *const *args, ptrdiff_t count,
                                                 void *names, bool holdsLock) {
  const ExchangeType *usual = caller.usual.load(std::memory_order_acquire);
  if (__builtin_expect(!usual || names || count != caller.count, 0))
    return callAny(caller, args, count, names, holdsLock);
  TilewrightAny values[TilewrightCaller::maxShort];
  TilewrightDLTensor tensors[TilewrightCaller::maxShort];
  const ptrdiff_t typeOffset = caller.typeOffset;
  TilewrightAny *value = values;
  TilewrightDLTensor *tensor = tensors;
  for (void *const *arg = args, *const *end = args + count; arg != end; ++arg, ++value, ++tensor) {
    void *object = *arg, *type = *reinterpret_cast<void **>(static_cast<char *>(object) + typeOffset);
    const ExchangeType *known = usual;
    // Such as a parameter of torch's beside its tensors.
    if (__builtin_expect(type != known->type, 0) && (arg == args || !(known = findExchangeType(type))))
      return callAny(caller, args, count, names, holdsLock);
    value->type = TilewrightTypeDLTensor;
    value->padding = 0;
    value->pointer = tensor;
    if (__builtin_expect(!readTensor(*known, object, *tensor), 0))
      return callAny(caller, args, count, names, holdsLock);
  }
  void *stream;
  void *const *given = nullptr;
  if (caller.device == TilewrightDeviceCUDA) {
    auto currentStream = usual->api->currentStream;
    if (__builtin_expect(tensors[0].deviceType != TilewrightDeviceCUDA || !currentStream ||
                             numPushedStreams.load(std::memory_order_relaxed),
                         0))
      return callAny(caller, args, count, names, holdsLock);
    if (__builtin_expect(currentStream(TilewrightDeviceCUDA, tensors[0].deviceId, &stream), 0))
      return nullptr;
    given = &stream;
  }
  return run(caller, caller.entry.load(std::memory_order_relaxed), given, values, holdsLock);
}

} // namespace tilewright

#endif
