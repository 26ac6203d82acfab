//===- PythonCall.cpp - compiled functions as Python's own builtins -------===//
#include "runtime/PythonCall.h"
#include "runtime/ExchangeTypes.h"
#include "runtime/PythonCallable.h"

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

// What Python.h, object.h and dlpack.h declare; their layouts are part of stable ABIs.
constexpr int fastCallWithKeywords = 0x80 | 0x02;

struct BufferView {
  void *data, *object;
  ptrdiff_t bytes, itemBytes;
  int readOnly, ndim;
  char *format;
  ptrdiff_t *shape, *strides, *suboffsets;
  void *internal;
};
constexpr int stridedWithFormat = 0x10 | 0x08 | 0x04;

constexpr char callerName[] = "tilewright.caller";
constexpr int maxArguments = TilewrightCaller::maxArguments, maxBufferRank = 8;

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

} // namespace

namespace {

/// The arguments of one call.
struct Call {
  TilewrightAny args[maxArguments];
  TilewrightDLTensor tensors[maxArguments];
  /// Of the first tensor on a GPU.
  const ExchangeAPI *streamApi = nullptr;
  /// Of the first argument, where that has one.
  const ExchangeType *firstType = nullptr;
  int numBuffers = 0;
  struct Buffer {
    BufferView view;
    int64_t shape[maxBufferRank], strides[maxBufferRank];
  };
  // Made where an argument is NumPy's, for torch's have no use for them.
  Buffer *buffers = nullptr;

  ~Call() {
    for (int i = 0; i < numBuffers; ++i)
      python.releaseBuffer(&buffers[i].view);
    delete[] buffers;
  }

  bool read(const TilewrightCaller &caller, int position, void *object);
  bool readNumber(int position, void *object, void *type);
  bool readBuffer(const TilewrightCaller &caller, int position, void *object);
};

/// DLPack's code for a format of the buffer protocol in the machine's own order, or -1.
int codeOfFormat(const char *format) {
  if (!format)
    return 1; // bytes
  if (*format == '@' || *format == '=')
    ++format;
  if (!*format || format[1])
    return -1;
  switch (*format) {
  case '?':
    return 6;
  case 'b': case 'h': case 'i': case 'l': case 'q':
    return 0;
  case 'B': case 'H': case 'I': case 'L': case 'Q':
    return 1;
  case 'e': case 'f': case 'd':
    return 2;
  }
  return -1;
}

__attribute__((noinline)) bool Call::readBuffer(const TilewrightCaller &caller, int position, void *object) {
  if (!buffers)
    buffers = new Buffer[caller.count];
  Buffer &buffer = buffers[numBuffers];
  if (python.getBuffer(object, &buffer.view, stridedWithFormat)) {
    python.clearError();
    return false;
  }
  ++numBuffers;
  const BufferView &view = buffer.view;
  int code = codeOfFormat(view.format);
  if (code < 0 || view.ndim > maxBufferRank || (view.readOnly && caller.kinds[position] == TilewrightCallerOutput))
    return false;
  for (int dim = 0; dim < view.ndim; ++dim) {
    if (view.strides[dim] % view.itemBytes)
      return false;
    buffer.shape[dim] = view.shape[dim];
    buffer.strides[dim] = view.strides[dim] / view.itemBytes;
  }
  tensors[position] = {view.data, TilewrightDeviceCPU, 0, view.ndim, uint8_t(code), uint8_t(view.itemBytes * 8), 1,
                       buffer.shape, buffer.strides, 0};
  return true;
}

/// Python's own numbers; those of NumPy and ints of more than 64 bits go the slow way.
bool Call::readNumber(int position, void *object, void *type) {
  TilewrightAny &value = args[position];
  value = {};
  int overflow = 0;
  if (type == python.boolType) {
    value.type = TilewrightTypeBool;
    value.integer = object == python.isTrue;
  } else if (type == python.floatType) {
    value.type = TilewrightTypeFloat;
    value.real = python.floatAsDouble(object);
  } else if (type == python.longType) {
    value.type = TilewrightTypeInt;
    value.integer = python.longAsLongLong(object, &overflow);
  } else {
    return false;
  }
  return !overflow;
}

bool Call::read(const TilewrightCaller &caller, int position, void *object) {
  void *type = *reinterpret_cast<void **>(static_cast<char *>(object) + caller.typeOffset);
  if (caller.kinds[position] == TilewrightCallerNumber)
    return readNumber(position, object, type);
  if (object == caller.none && caller.kinds[position] == TilewrightCallerOptional) {
    args[position] = {};
    return true;
  }
  args[position].type = TilewrightTypeDLTensor;
  args[position].padding = 0;
  args[position].pointer = &tensors[position];
  if (type == caller.arrayType)
    return readBuffer(caller, position, object);
  const ExchangeType *known = findExchangeType(type);
  if (!known && !(known = learnExchangeType(python, type, object)))
    return python.typeIsSubtype(type, python.arrayType) && readBuffer(caller, position, object);
  if (!readTensor(*known, object, tensors[position]))
    return false;
  if (position == 0)
    firstType = known;
  if (!streamApi && tensors[position].deviceType == TilewrightDeviceCUDA && known->api->currentStream)
    streamApi = known->api;
  return true;
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

/// Puts arguments that came by their names where they belong. False where they are not one for each argument.
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
    while (at < caller.count && python.unicodeIsEqual(name, caller.names[at].c_str()))
      ++at;
    if (at == caller.count || ordered[at])
      return false;
    ordered[at] = value;
  }
  return std::find(ordered, ordered + caller.count, nullptr) == ordered + caller.count;
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
  } else if (count != caller.count) {
    return callSlow(caller, args, count, names);
  }
  Call call;
  for (int i = 0; i < caller.count; ++i)
    if (!call.read(caller, i, arrays[i]))
      return callSlow(caller, args, count, names);
  if (!call.numBuffers && !caller.hasNumbers && caller.count <= TilewrightCaller::maxShort && isKept(call.firstType))
    caller.usual.store(call.firstType, std::memory_order_release);

  void *stream = nullptr;
  bool known = false;
  if (caller.device == TilewrightDeviceCUDA && caller.firstTensor >= 0) {
    const TilewrightDLTensor &first = call.tensors[caller.firstTensor];
    if (givenStream) {
      if (!handleOf(caller, givenStream, arrays[caller.firstTensor], stream))
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

void tilewrightCallerSet(void *function, int32_t (*entry)(void *const *, const TilewrightAny *, int32_t),
                         int32_t count, int32_t device, const uint8_t *kinds, const char *names) {
  TilewrightCaller *caller = callerBehind(function);
  if (count > maxArguments)
    return; // such a call goes by way of Python
  caller->count = count;
  caller->device = device;
  std::memcpy(caller->kinds, kinds, count);
  for (int32_t i = count; i-- > 0;) {
    if (kinds[i] == TilewrightCallerNumber)
      caller->hasNumbers = true;
    else if (kinds[i] != TilewrightCallerOptional)
      caller->firstTensor = i;
  }
  for (int32_t i = 0; i < count; ++i) {
    caller->names.emplace_back(names);
    names += caller->names.back().size() + 1;
  }
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
