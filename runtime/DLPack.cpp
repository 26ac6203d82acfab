//===- DLPack.cpp - arrays handed out by DLPack ---------------------------===//
#include "runtime/DLPack.h"

#include <vector>

namespace {

struct ManagedTensor {
  TilewrightDLTensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

struct ManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(ManagedTensorVersioned *);
  uint64_t flags;
  TilewrightDLTensor tensor;
};

constexpr char capsuleName[] = "dltensor";
constexpr char versionedName[] = "dltensor_versioned";

/// What was handed out, with all that it points to.
template <typename Managed> struct Holder {
  Managed managed = {};
  TilewrightPython python;
  void *owner;
  std::vector<int64_t> extents;

  Holder(const TilewrightPython &python, const TilewrightDLTensor &tensor, void *owner)
      : python(python), owner(owner), extents(tensor.shape, tensor.shape + tensor.ndim) {
    extents.insert(extents.end(), tensor.strides, tensor.strides + tensor.ndim);
    managed.tensor = tensor;
    managed.tensor.shape = extents.data();
    managed.tensor.strides = extents.data() + tensor.ndim;
    managed.context = this;
    managed.deleter = [](Managed *managed) { delete static_cast<Holder *>(managed->context); };
    python.incRef(owner);
  }

  ~Holder() {
    // Once the interpreter has gone, so has the array.
    if (!python.isInitialized())
      return;
    int state = python.gilEnsure();
    python.decRef(owner);
    python.gilRelease(state);
  }
};

// A capsule's destructor gets nothing but the capsule, so this is the one place for the functions it calls; they are
// the interpreter's, and so the same each time.
TilewrightPython interpreter;

/// A capsule that nobody consumed is deleted with its tensor.
template <typename Managed, const char *name> void destroyCapsule(void *capsule) {
  if (!interpreter.capsuleIsValid(capsule, name))
    return;
  auto *managed = static_cast<Managed *>(interpreter.capsuleGetPointer(capsule, name));
  managed->deleter(managed);
}

} // namespace

void *tilewrightDLPackCapsule(const TilewrightPython *python, const TilewrightDLTensor *tensor, void *owner,
                              int32_t versioned, uint64_t flags) {
  static const bool known = (interpreter = *python, true);
  (void)known;
  if (!versioned) {
    auto *holder = new Holder<ManagedTensor>(*python, *tensor, owner);
    return python->capsuleNew(&holder->managed, capsuleName, destroyCapsule<ManagedTensor, capsuleName>);
  }
  auto *holder = new Holder<ManagedTensorVersioned>(*python, *tensor, owner);
  holder->managed.major = 1;
  holder->managed.flags = flags;
  return python->capsuleNew(&holder->managed, versionedName, destroyCapsule<ManagedTensorVersioned, versionedName>);
}
