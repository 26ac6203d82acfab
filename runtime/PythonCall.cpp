//===- PythonCall.cpp - compiled functions as Python's own builtins -------===//
#include "runtime/PythonCall.h"
#include "runtime/PythonArguments.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

using namespace tilewright;

TilewrightInterpreter tilewright::python;
std::atomic<int64_t> tilewright::numPushedStreams{0};

namespace {

// What object.h declares; it is part of a stable ABI.
constexpr int fastCallWithKeywords = 0x80 | 0x02;

constexpr char callerName[] = "tilewright.caller";
constexpr int maxArguments = TilewrightCaller::maxArguments;

// -------------------------------------------------------------------- streams of `with stream:`

struct StreamEntry {
  int32_t device;
  void *stream;
};
thread_local std::vector<StreamEntry> *streams = nullptr;

bool findStream(int32_t device, void *&stream) {
  if (numPushedStreams.load(std::memory_order_relaxed) == 0 || !streams)
    return false;
  for (auto it = streams->rbegin(); it != streams->rend(); ++it)
    if (it->device == device) {
      stream = it->stream;
      return true;
    }
  return false;
}

/// The call by way of Python.
void *callSlow(const TilewrightCaller &caller, void *const *args, ptrdiff_t count, void *names) {
  return callByTuple(caller.slow, args, count, names);
}

/// The handle of a stream that a caller gave. False with Python's error set.
bool handleOf(const TilewrightCaller &caller, void *given, void *first, void *&handle) {
  void *tuple = python.tupleNew(2);
  if (!tuple)
    return false;
  python.incRef(given);
  python.tupleSetItem(tuple, 0, given);
  python.incRef(first);
  python.tupleSetItem(tuple, 1, first);
  void *number = python.objectCall(caller.streamHandle, tuple, nullptr);
  python.decRef(tuple);
  if (!number)
    return false;
  handle = python.longAsPointer(number);
  python.decRef(number);
  return handle || !python.errorOccurred();
}

/// Puts arguments that came by their names where they belong, nulls for those that are left out. False where they are
/// not one for each argument that every call gives.
__attribute__((noinline)) bool arrange(const TilewrightCaller &caller, void *const *args, ptrdiff_t count, void *names,
                                       void **ordered, void *&stream) {
  if (count > caller.count)
    return false;
  std::fill_n(ordered, caller.count, nullptr);
  std::copy_n(args, count, ordered);
  for (ptrdiff_t i = 0, size = python.tupleSize(names); i < size; ++i) {
    void *name = python.tupleGetItem(names, i), *value = args[count + i];
    if (caller.device == TilewrightDeviceCUDA && python.unicodeIsEqual(name, "stream") == 0) {
      stream = value == python.none ? nullptr : value;
      continue;
    }
    int32_t at = 0;
    while (at < caller.count && python.unicodeIsEqual(name, caller.items[at].name))
      ++at;
    if (at == caller.count || ordered[at])
      return false;
    ordered[at] = value;
  }
  for (int32_t i = 0; i < caller.count; ++i)
    if (!ordered[i] && caller.items[i].otherwise.type == TilewrightTypeLeftOut)
      return false;
  return true;
}

} // namespace

void *tilewright::raiseError(const TilewrightCaller &caller) {
  void *empty = python.tupleNew(0);
  if (!empty)
    return nullptr;
  void *result = python.objectCall(caller.raise, empty, nullptr);
  python.decRef(empty);
  if (result) // which it never gives
    python.decRef(result);
  return nullptr;
}

void *tilewright::callAny(TilewrightCaller &caller, void *const *args, ptrdiff_t count, void *names, bool holdsLock) {
  auto entry = caller.entry.load(std::memory_order_acquire);
  if (!entry)
    return callSlow(caller, args, count, names);
  void *givenStream = nullptr;
  void *ordered[maxArguments];
  void *const *arrays = args;
  if (names && python.tupleSize(names)) {
    if (!arrange(caller, args, count, names, ordered, givenStream))
      return callSlow(caller, args, count, names);
    arrays = ordered;
  } else if (count < caller.required || count > caller.count) {
    return callSlow(caller, args, count, names);
  } else if (count < caller.count) {
    std::fill_n(std::copy_n(args, count, ordered), caller.count - count, nullptr);
    arrays = ordered;
  }
  // The device of one that gives addresses alone is Python's to find.
  if (caller.device == TilewrightDeviceCUDA && caller.firstTensor < 0)
    return callSlow(caller, args, count, names);
  Call call;
  for (int i = 0; i < caller.count; ++i) {
    if (!arrays[i])
      call.args[i] = caller.items[i].otherwise;
    else if (!call.read(caller, i, arrays[i]))
      return callSlow(caller, args, count, names);
  }
  if (!call.numBuffers && caller.isOfTensors && caller.count <= TilewrightCaller::maxShort && isKept(call.firstType))
    caller.usual.store(call.firstType, std::memory_order_release);

  void *stream = nullptr;
  bool known = false;
  if (caller.device == TilewrightDeviceCUDA) {
    const TilewrightDLTensor &first = call.tensors[caller.firstTensor];
    if (givenStream) {
      if (!handleOf(caller, givenStream, call.objects[caller.firstTensor], stream))
        return nullptr;
      known = true;
    } else if (findStream(first.deviceId, stream)) {
      known = true;
    } else if (call.streamApi) {
      if (call.streamApi->currentStream(TilewrightDeviceCUDA, first.deviceId, &stream))
        return nullptr;
      known = true;
    }
  }
  return run(caller, entry, known ? &stream : nullptr, call.args, holdsLock);
}

namespace {

/// Whether a capsule's pointer follows the header of the object, as in every version so far.
std::atomic<bool> pointerFollowsHeader{true};

void *&pointerBehindHeader(void *capsule) {
  return *reinterpret_cast<void **>(static_cast<char *>(capsule) + python.typeOffset + sizeof(void *));
}

TilewrightCaller &callerOf(void *capsule) {
  bool direct = __builtin_expect(pointerFollowsHeader.load(std::memory_order_relaxed), 1);
  return *static_cast<TilewrightCaller *>(direct ? pointerBehindHeader(capsule)
                                                 : python.capsuleGetPointer(capsule, callerName));
}

void *callBuiltin(void *self, void *const *args, ptrdiff_t count, void *names) {
  return call(callerOf(self), args, count, names, /*holdsLock=*/false);
}

void destroyCaller(void *capsule) {
  auto *caller = static_cast<TilewrightCaller *>(python.capsuleGetPointer(capsule, callerName));
  for (void *object : {caller->slow, caller->streamHandle, caller->raise})
    python.decRef(object);
  delete caller;
}

} // namespace

__attribute__((noinline)) void *tilewright::callByTuple(void *target, void *const *args, ptrdiff_t count, void *names) {
  void *tuple = python.tupleNew(count);
  if (!tuple)
    return nullptr;
  for (ptrdiff_t i = 0; i < count; ++i) {
    python.incRef(args[i]);
    python.tupleSetItem(tuple, i, args[i]);
  }
  void *keywords = nullptr;
  if (names) {
    keywords = python.dictNew();
    for (ptrdiff_t i = 0, size = python.tupleSize(names); keywords && i < size; ++i)
      python.dictSetItem(keywords, python.tupleGetItem(names, i), args[count + i]);
  }
  void *result = python.objectCall(target, tuple, keywords);
  python.decRef(tuple);
  if (keywords)
    python.decRef(keywords);
  return result;
}

void tilewright::setInterpreter(const TilewrightInterpreter &interpreter) {
  static const bool set = (python = interpreter, true);
  (void)set;
}

TilewrightCaller *tilewright::callerBehind(void *function) {
  void *self = python.getAttribute(function, "__self__");
  void *caller = self ? python.capsuleGetPointer(self, callerName) : nullptr;
  if (!caller)
    python.clearError();
  if (self)
    python.decRef(self);
  return static_cast<TilewrightCaller *>(caller);
}

void *tilewrightCallerNew(const TilewrightInterpreter *interpreter, const char *name, const char *documentation,
                          void *slow, void *streamHandle, void *raise) {
  setInterpreter(*interpreter);
  auto *caller = new TilewrightCaller;
  caller->name = name;
  caller->documentation = documentation;
  caller->definition = {caller->name.c_str(), callBuiltin, fastCallWithKeywords, caller->documentation.c_str()};
  caller->saveThread = python.saveThread;
  caller->restoreThread = python.restoreThread;
  caller->arrayType = python.arrayType;
  caller->none = python.none;
  caller->noneReferences = python.noneReferences;
  caller->typeOffset = python.typeOffset;
  caller->slow = slow;
  caller->streamHandle = streamHandle;
  caller->raise = raise;
  for (void *object : {slow, streamHandle, raise})
    python.incRef(object);
  void *capsule = python.capsuleNew(caller, callerName, destroyCaller);
  if (!capsule) {
    delete caller;
    return nullptr;
  }
  if (pointerBehindHeader(capsule) != caller)
    pointerFollowsHeader.store(false, std::memory_order_relaxed);
  void *function = python.functionNew(&caller->definition, capsule, nullptr);
  python.decRef(capsule);
  return function;
}

/// The first tensor that every call gives, of some items and the elements of groups among them, or -1.
static int32_t findFirstTensor(const std::vector<TilewrightCallerItem> &items, int32_t first, int32_t count) {
  for (int32_t i = first; i < first + count; ++i) {
    if (items[i].kind == TilewrightCallerInput || items[i].kind == TilewrightCallerOutput)
      return i;
    if (int32_t found =
            items[i].kind == TilewrightCallerGroup ? findFirstTensor(items, items[i].first, items[i].count) : -1;
        found >= 0)
      return found;
  }
  return -1;
}

void tilewrightCallerSet(void *function, int32_t (*entry)(void *const *, const TilewrightAny *, int32_t),
                         int32_t device, int32_t count, int32_t itemCount, const TilewrightCallerItem *items) {
  TilewrightCaller *caller = callerBehind(function);
  if (itemCount > maxArguments || caller->entry.load())
    return; // too many go by way of Python
  caller->count = count;
  caller->device = device;
  caller->items.assign(items, items + itemCount);
  for (TilewrightCallerItem &item : caller->items) {
    caller->isOfTensors &= item.kind == TilewrightCallerInput || item.kind == TilewrightCallerOutput ||
                           item.kind == TilewrightCallerOptional;
    if (item.name)
      item.name = caller->names.emplace_back(item.name).c_str();
  }
  caller->required = count;
  while (caller->required > 0 && items[caller->required - 1].otherwise.type != TilewrightTypeLeftOut)
    --caller->required;
  caller->firstTensor = findFirstTensor(caller->items, 0, count);
  caller->entry.store(entry, std::memory_order_release);
}

void tilewrightPushStream(int32_t device, void *stream) {
  if (!streams)
    streams = new std::vector<StreamEntry>;
  streams->push_back({device, stream});
  numPushedStreams.fetch_add(1, std::memory_order_relaxed);
}

void tilewrightPopStream() {
  if (!streams)
    return;
  streams->pop_back();
  numPushedStreams.fetch_sub(1, std::memory_order_relaxed);
  if (streams->empty()) {
    delete streams;
    streams = nullptr;
  }
}
