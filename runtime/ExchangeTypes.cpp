//===- ExchangeTypes.cpp - types of Python's with DLPack's exchange API ---===//
#include "runtime/PythonCallable.h"

#include <dlfcn.h>

#include <mutex>

using namespace tilewright;

ExchangeTypes tilewright::exchangeTypes;

namespace {

bool isSame(const TilewrightDLTensor &a, const TilewrightDLTensor &b) {
  return a.data == b.data && a.deviceType == b.deviceType && a.deviceId == b.deviceId && a.ndim == b.ndim &&
         a.code == b.code && a.bits == b.bits && a.lanes == b.lanes && a.shape == b.shape && a.strides == b.strides &&
         a.byteOffset == b.byteOffset;
}

/// The address of the tensor in C++ that an object of torch's says it has, or null.
void *addressInTorch(const TilewrightInterpreter &python, void *object) {
  void *number = python.getAttribute(object, "_cdata");
  void *address = number ? python.longAsPointer(number) : nullptr;
  if (number)
    python.decRef(number);
  if (!address)
    python.clearError();
  return address;
}

/// torch's exchange API takes the lock of the interpreter, which the caller has, and counts references of a tensor that
/// the caller keeps; that is most of what it costs. The function that it calls (ATen/DLConvertor.h) is public, and
/// takes the at::Tensor that stands in the object. It is called directly where it is there, where `_cdata` shows the
/// place of the tensor, and where it gives for this object what the API gives. False where this object cannot show
/// that. Another function of torch's says whether the tensor has the negative bit.
bool findTorchConversion(const TilewrightInterpreter &python, ExchangeType &known, void *object) {
  void *address = addressInTorch(python, object);
  void *library = address ? dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (!library)
    return true;
  auto convert =
      reinterpret_cast<decltype(known.convert)>(dlsym(library, "_ZN2at17toDLPackNonOwningERKNS_6TensorEP8DLTensor"));
  auto isNegative = reinterpret_cast<decltype(known.isNegative)>(dlsym(library, "_ZN2at6native6is_negERKNS_6TensorE"));
  dlclose(library); // a library of Python's modules stays
  // The object's header ends with its type; what follows may be a flag, and then the tensor.
  ptrdiff_t first = python.typeOffset + ptrdiff_t(sizeof(void *)), last = first + ptrdiff_t(sizeof(void *));
  for (ptrdiff_t offset = first; convert && isNegative && offset <= last; offset += sizeof(void *)) {
    const void *place = static_cast<char *>(object) + offset;
    if (*static_cast<void *const *>(place) != address)
      continue;
    TilewrightDLTensor theirs = {}, ours = {};
    if (known.api->tensorFromObject(object, &theirs)) {
      python.clearError();
      return false;
    }
    try {
      convert(place, &ours);
    } catch (...) {
      return true;
    }
    if (isSame(theirs, ours)) {
      known.convert = convert;
      known.isNegative = isNegative;
      known.tensorOffset = offset;
    }
    return true;
  }
  return true;
}

} // namespace

const ExchangeType *tilewright::learnExchangeType(const TilewrightInterpreter &python, void *type, void *object) {
  void *capsule = python.getAttribute(type, "__dlpack_c_exchange_api__");
  if (!capsule) {
    python.clearError();
    return nullptr;
  }
  auto *api = static_cast<const ExchangeAPI *>(python.capsuleGetPointer(capsule, "dlpack_exchange_api"));
  if (!api)
    python.clearError();
  python.decRef(capsule);
  // A later major version keeps the header, by which an earlier one is found.
  while (api && api->major != 1)
    api = api->previous;
  if (!api || !api->tensorFromObject)
    return nullptr;
  ExchangeType known = {type, api, nullptr, nullptr, 0};
  static thread_local ExchangeType unkept;
  if (!findTorchConversion(python, known, object))
    return &(unkept = known);
  // Asking runs code of Python's, in which another thread may have learned the same.
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  if (const ExchangeType *found = findExchangeType(type))
    return found;
  int count = exchangeTypes.count.load(std::memory_order_relaxed);
  if (count == ExchangeTypes::capacity)
    return &(unkept = known);
  python.incRef(type);
  exchangeTypes.known[count] = known;
  exchangeTypes.count.store(count + 1, std::memory_order_release);
  return &exchangeTypes.known[count];
}

const ExchangeType *tilewright::findExchangeType(const void *type) {
  int count = exchangeTypes.count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i)
    if (exchangeTypes.known[i].type == type)
      return &exchangeTypes.known[i];
  return nullptr;
}

bool tilewright::cannotRead() {
  python.clearError();
  return false;
}
