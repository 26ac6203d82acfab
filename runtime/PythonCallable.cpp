//===- PythonCallable.cpp - objects of Python's whose call is short -------===//
//
// Calling an object of a class of Python's looks `__call__` up and makes a tuple of the arguments. Objects of the type
// here take them as they lie on the interpreter's stack (vectorcall).
//
//===----------------------------------------------------------------------===//
#include "runtime/PythonCallable.h"

#include <atomic>
#include <initializer_list>
#include <mutex>

using namespace tilewright;

namespace {

/// What follows the header of such an object.
struct Callable {
  void *(*vectorcall)(void *self, void *const *args, size_t count, void *names);
  std::atomic<void *> target;
  /// What it called before. It is kept, for another thread may be about to call it.
  void *before;
  /// Of the target, where it is a function of tilewrightCallerNew.
  std::atomic<TilewrightCaller *> caller;
  std::atomic<bool> holdsLock;
};

ptrdiff_t headerBytes() { return python.typeOffset + ptrdiff_t(sizeof(void *)); }

Callable &callableOf(void *object) {
  return *reinterpret_cast<Callable *>(static_cast<char *>(object) + headerBytes());
}

TILEWRIGHT_HOT void *callObject(void *self, void *const *args, size_t count, void *names) {
  // PY_VECTORCALL_ARGUMENTS_OFFSET
  constexpr size_t mayWriteBefore = size_t(1) << (8 * sizeof(size_t) - 1);
  Callable &callable = callableOf(self);
  auto positional = ptrdiff_t(count & ~mayWriteBefore);
  if (TilewrightCaller *caller = callable.caller.load(std::memory_order_acquire))
    return call(*caller, args, positional, names, callable.holdsLock.load(std::memory_order_relaxed));
  return callByTuple(callable.target.load(std::memory_order_acquire), args, positional, names);
}

void destroyCallable(void *object) {
  constexpr int tpFree = 74;
  void *type = *reinterpret_cast<void **>(static_cast<char *>(object) + python.typeOffset);
  Callable &callable = callableOf(object);
  for (void *target : {callable.target.load(), callable.before})
    if (target)
      python.decRef(target);
  auto free = reinterpret_cast<void (*)(void *)>(python.typeGetSlot(type, tpFree));
  free(object);
  python.decRef(type);
}

} // namespace

void *tilewrightCallableType(const TilewrightInterpreter *interpreter, const char *name) {
  setInterpreter(*interpreter);
  // PyMemberDef, PyType_Slot and PyType_Spec of the stable ABI.
  struct Member {
    const char *name;
    int type;
    ptrdiff_t offset;
    int flags;
    const char *documentation;
  };
  struct Slot {
    int slot;
    void *function;
  };
  struct {
    const char *name;
    int basicSize, itemSize;
    unsigned flags;
    Slot *slots;
  } spec;
  constexpr int pySsizeT = 19, readOnly = 1, tpCall = 50, tpDealloc = 52, tpMembers = 72;
  constexpr unsigned isBase = 1u << 10, hasVectorcall = 1u << 11, hasVersion = 1u << 18;
  static Member members[2];
  members[0] = {"__vectorcalloffset__", pySsizeT, headerBytes(), readOnly, nullptr};
  Slot slots[] = {{tpCall, reinterpret_cast<void *>(python.callByVector)},
                  {tpDealloc, reinterpret_cast<void *>(destroyCallable)},
                  {tpMembers, members},
                  {0, nullptr}};
  spec = {name, int(headerBytes() + ptrdiff_t(sizeof(Callable))), 0, isBase | hasVectorcall | hasVersion, slots};
  return python.typeFromSpec(&spec);
}

void tilewrightCallableShorten(void *type, uint64_t flags) {
  constexpr unsigned long hasVectorcall = 1u << 11;
  // tp_flags of PyTypeObject, whose fields up to there have stayed where they are.
  auto *place = reinterpret_cast<unsigned long *>(static_cast<char *>(type) + headerBytes() + 19 * sizeof(void *));
  if (*place == flags)
    *place |= hasVectorcall;
}

void tilewrightCallableHold(void *object, int32_t holdsLock) { callableOf(object).holdsLock.store(holdsLock != 0); }

int32_t tilewrightCallableHolds(void *object) { return callableOf(object).holdsLock.load(); }

void tilewrightCallableSet(void *object, void *target) {
  TilewrightCaller *caller = callerBehind(target);
  void *unused = target;
  python.incRef(target);
  // On an interpreter without lock several threads may make an object's first call. No code of Python's runs within.
  static std::mutex mutex;
  {
    std::lock_guard<std::mutex> guard(mutex);
    Callable &callable = callableOf(object);
    if (!callable.caller.load(std::memory_order_relaxed)) {
      unused = callable.before;
      callable.before = callable.target.exchange(target, std::memory_order_acq_rel);
      if (!callable.vectorcall)
        callable.vectorcall = callObject;
      callable.caller.store(caller, std::memory_order_release);
    }
  }
  if (unused)
    python.decRef(unused);
}
