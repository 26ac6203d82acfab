//===- PythonCall.h - compiled functions as Python's own builtins ---------===//
//
// A call from Python that costs little beside the launch: a builtin function reads torch's tensors through the
// exchange API of DLPack without taking hold of them, NumPy's arrays through the buffer protocol, and calls the
// compiled function. Everything else goes to a function written in Python.
//
// The interpreter's functions come as pointers, so that one library serves every version of it, with and without GIL.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_PYTHONCALL_H
#define TILEWRIGHT_RUNTIME_PYTHONCALL_H

#include "runtime/host/ABI.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// The functions of Python's C API that a call takes. `typeOffset` is where an object has its type.
struct TilewrightInterpreter {
  void (*incRef)(void *);
  void (*decRef)(void *);
  void *(*saveThread)();
  void (*restoreThread)(void *);
  void *(*objectCall)(void *callable, void *args, void *kwargs);
  void *(*tupleNew)(ptrdiff_t size);
  int (*tupleSetItem)(void *tuple, ptrdiff_t index, void *item);
  void *(*tupleGetItem)(void *tuple, ptrdiff_t index);
  ptrdiff_t (*tupleSize)(void *tuple);
  void *(*dictNew)();
  int (*dictSetItem)(void *dict, void *key, void *value);
  void *(*capsuleNew)(void *pointer, const char *name, void (*destructor)(void *));
  void *(*capsuleGetPointer)(void *capsule, const char *name);
  void *(*functionNew)(void *definition, void *self, void *module);
  void *(*getAttribute)(void *object, const char *name);
  void (*clearError)();
  int (*typeIsSubtype)(void *type, void *base);
  int (*getBuffer)(void *object, void *view, int flags);
  void (*releaseBuffer)(void *view);
  int (*unicodeIsEqual)(void *text, const char *ascii);
  void *(*longAsPointer)(void *number);
  void *(*errorOccurred)();
  void *(*typeFromSpec)(void *spec);
  void *(*typeGetSlot)(void *type, int slot);
  void *(*callByVector)(void *callable, void *args, void *kwargs);
  void *none;
  /// numpy.ndarray.
  void *arrayType;
  ptrdiff_t typeOffset;
  /// Where references to None are counted, or null where None is immortal.
  intptr_t *noneReferences;
  long long (*longAsLongLong)(void *number, int *overflow);
  double (*floatAsDouble)(void *number);
  /// int, float, bool and True.
  void *longType, *floatType, *boolType, *isTrue;
  ptrdiff_t (*sequenceSize)(void *sequence);
  void *(*sequenceGetItem)(void *sequence, ptrdiff_t index);
  void *tupleType, *listType;
};

/// A function that can be called from Python. `entry` is null until the program is compiled.
struct TilewrightCaller;

/// A new builtin function, or null with Python's error set. `entry` is the compiled `i32 (stream, args, count)`. `slow`
/// takes the call where this cannot: the same arguments, the stream by keyword. `streamHandle` takes what a caller gave
/// as stream and the device's number, and gives the handle. `raise` raises what the compiled function has raised.
/// Called with the interpreter's lock held.
void *tilewrightCallerNew(const TilewrightInterpreter *interpreter, const char *name, const char *documentation,
                          void *slow, void *streamHandle, void *raise);

enum : int32_t {
  TilewrightCallerInput = 0,
  TilewrightCallerOutput = 1,
  TilewrightCallerNumber = 2,
  TilewrightCallerOptional = 3,
  TilewrightCallerPointer = 4,
  TilewrightCallerGroup = 5,
};

/// What a call gives, or an element of a group.
struct TilewrightCallerItem {
  /// Its name in a call; of an element the attribute that an object has it as, or null where but tuples and lists are
  /// taken.
  const char *name;
  int32_t kind;
  /// Of a group: where its elements are among the items, and how many.
  int32_t first, count;
  int32_t padding;
  /// What it is in a call that leaves it out.
  TilewrightAny otherwise;
};

/// Gives the function what it calls, once that is compiled. The first `count` items are what a call gives, the others
/// are elements of groups.
void tilewrightCallerSet(void *function, int32_t (*entry)(void *const *, const TilewrightAny *, int32_t),
                         int32_t device, int32_t count, int32_t itemCount, const TilewrightCallerItem *items);

/// A new type, or null with Python's error set, whose objects call what tilewrightCallableSet gives them. A call of an
/// object of a class of Python's otherwise looks `__call__` up and makes a tuple. Called with the interpreter's lock
/// held.
void *tilewrightCallableType(const TilewrightInterpreter *interpreter, const char *name);

/// Lets calls of a class derived from such a type, which overrides no call, go the short way. Later versions of Python
/// do so by themselves, earlier ones leave it to the class. `flags` is `__flags__` of the class.
void tilewrightCallableShorten(void *type, uint64_t flags);

/// Gives the object what it calls. A function of tilewrightCallerNew stays for good: a call that is under way in
/// another thread may still need it.
void tilewrightCallableSet(void *object, void *target);

/// Whether calls of the object keep the interpreter's lock while they launch.
void tilewrightCallableHold(void *object, int32_t holdsLock);
int32_t tilewrightCallableHolds(void *object);

/// The streams that this thread's calls run on inside of `with stream:`, the innermost last.
void tilewrightPushStream(int32_t device, void *stream);
void tilewrightPopStream();
}

#endif
