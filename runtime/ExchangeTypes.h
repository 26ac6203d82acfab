//===- ExchangeTypes.h - types of Python's with DLPack's exchange API -----===//
//
// What a call needs of a tensor's type, asked of the type once: how its objects are read without taking hold of them,
// and which stream its library works on.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_EXCHANGETYPES_H
#define TILEWRIGHT_RUNTIME_EXCHANGETYPES_H

#include "runtime/PythonCall.h"

#include <atomic>

/// What every call runs, put together; and what none but this library sees, so that it is not looked up by name.
#define TILEWRIGHT_HOT __attribute__((hot, visibility("hidden")))
#define TILEWRIGHT_HIDDEN __attribute__((visibility("hidden")))

namespace tilewright {

/// DLPackExchangeAPI of dlpack.h; its layout is part of a stable ABI.
struct ExchangeAPI {
  uint32_t major, minor;
  ExchangeAPI *previous;
  void *allocate, *fromObject, *toObject;
  int (*tensorFromObject)(void *object, TilewrightDLTensor *tensor);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

/// A type whose objects are tensors. It is kept for good, so that no other type gets its address.
struct ExchangeType {
  void *type;
  const ExchangeAPI *api;
  /// torch's own conversion, without the Python binding around it, and where in an object it finds the tensor. Null
  /// where it is not known to give what the API gives.
  void (*convert)(const void *tensor, TilewrightDLTensor *result);
  /// Whether torch negates the elements where it reads them, of which DLPack says nothing. Null where convert is null.
  bool (*isNegative)(const void *tensor);
  ptrdiff_t tensorOffset;
};

/// The types that are known.
struct ExchangeTypes {
  static constexpr int capacity = 16;
  std::atomic<int> count{0};
  ExchangeType known[capacity];
};
TILEWRIGHT_HIDDEN extern ExchangeTypes exchangeTypes;

/// The type as it is known, or null where it has not been asked yet.
TILEWRIGHT_HIDDEN const ExchangeType *findExchangeType(const void *type);

/// Whether that is one of the types that are known, which stay.
inline bool isKept(const ExchangeType *type) {
  return type >= exchangeTypes.known && type < exchangeTypes.known + ExchangeTypes::capacity;
}

/// Asks the type of `object` for the exchange API. Null, without an error of Python's, where it has none that can be
/// used. What is returned may be this thread's next answer too. Called with the interpreter's lock held.
const ExchangeType *learnExchangeType(const TilewrightInterpreter &python, void *type, void *object);

/// Clears the error of Python's that the exchange API has set. Returns false.
TILEWRIGHT_HIDDEN __attribute__((noinline, cold)) bool cannotRead();

/// Reads a tensor. False, without an error of Python's, where that cannot be.
inline bool readTensor(const ExchangeType &type, void *object, TilewrightDLTensor &tensor) {
  if (__builtin_expect(!type.convert, 0))
    return __builtin_expect(!type.api->tensorFromObject(object, &tensor), 1) || cannotRead();
  const void *place = static_cast<char *>(object) + type.tensorOffset;
  try {
    type.convert(place, &tensor);
    return !type.isNegative(place);
  } catch (...) { // one without memory, or of a type that DLPack has not
    return false;
  }
}

} // namespace tilewright

#endif
