//===- CublasLt.cpp - cuBLASLt, opened when it is needed ------------------===//
#include "runtime/host/CublasLt.h"
#include "runtime/host/LibraryCall.h"
#include "runtime/host/LoadedProgram.h"
#include "runtime/host/Text.h"

#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>

using namespace tilewright::host;

namespace {

constexpr const char *names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

/// The file that is to be the library; null: found by its names.
char *usedPath = nullptr;
CublasLt *opened = nullptr;
/// Where there is no memory for another one.
CublasLt noMemory = {{}, 0, "no memory for what is kept of cuBLASLt", nullptr};

/// One that is loaded already before one that is not, so that a process has one.
void *openByName() {
  for (int32_t mode : {RTLD_NOLOAD, 0})
    for (const char *name : names)
      if (void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | mode))
        return handle;
  return nullptr;
}

void openLibrary(CublasLt &library) {
  Text problem(library.problem, sizeof(library.problem));
  void *handle = usedPath ? dlopen(usedPath, RTLD_NOW | RTLD_LOCAL) : openByName();
  if (!handle) {
    if (usedPath)
      problem << dlerror();
    else
      problem << names[0] << " and " << names[1] << " were not found; pip install nvidia-cublas brings one";
    return;
  }
  TilewrightCublasLt &functions = library.functions;
  struct Function {
    void *slot;
    const char *name;
  };
  Function wanted[] = {
      {&functions.getVersion, "cublasLtGetVersion"},
      {&functions.create, "cublasLtCreate"},
      {&functions.descCreate, "cublasLtMatmulDescCreate"},
      {&functions.descDestroy, "cublasLtMatmulDescDestroy"},
      {&functions.descSetAttribute, "cublasLtMatmulDescSetAttribute"},
      {&functions.layoutCreate, "cublasLtMatrixLayoutCreate"},
      {&functions.layoutDestroy, "cublasLtMatrixLayoutDestroy"},
      {&functions.layoutSetAttribute, "cublasLtMatrixLayoutSetAttribute"},
      {&functions.preferenceCreate, "cublasLtMatmulPreferenceCreate"},
      {&functions.preferenceDestroy, "cublasLtMatmulPreferenceDestroy"},
      {&functions.preferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute"},
      {&functions.getHeuristic, "cublasLtMatmulAlgoGetHeuristic"},
      {&functions.matmul, "cublasLtMatmul"},
  };
  for (const Function &function : wanted) {
    void *found = dlsym(handle, function.name);
    if (!found) {
      problem << (usedPath ? usedPath : "libcublasLt") << " has no " << function.name;
      return;
    }
    std::memcpy(function.slot, &found, sizeof(found));
  }
  library.version = functions.getVersion();
}

} // namespace

CublasLt &tilewright::host::findCublasLt() {
  if (CublasLt *library = __atomic_load_n(&opened, __ATOMIC_ACQUIRE))
    return *library;
  LoadGuard guard;
  if (opened)
    return *opened;
  auto *library = static_cast<CublasLt *>(std::calloc(1, sizeof(CublasLt) + maxDevices * sizeof(void *)));
  if (!library)
    return noMemory;
  library->handles = reinterpret_cast<void **>(library + 1);
  openLibrary(*library);
  __atomic_store_n(&opened, library, __ATOMIC_RELEASE);
  return *library;
}

void *tilewright::host::findHandle(CublasLt &library, int32_t device, int32_t &status) {
  status = 0;
  if (void *handle = __atomic_load_n(&library.handles[device], __ATOMIC_ACQUIRE))
    return handle;
  LoadGuard guard;
  if (library.handles[device])
    return library.handles[device];
  void *handle = nullptr;
  if ((status = library.functions.create(&handle)))
    return nullptr;
  __atomic_store_n(&library.handles[device], handle, __ATOMIC_RELEASE);
  return handle;
}

const char *tilewright::host::nameOfCublasStatus(int32_t status) {
  switch (status) {
  case 1:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case 3:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case 7:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case 8:
    return "CUBLAS_STATUS_ARCH_MISMATCH";
  case 11:
    return "CUBLAS_STATUS_MAPPING_ERROR";
  case 13:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case 14:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  case 15:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  case 16:
    return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "an unknown status";
}

void tilewrightHostUseLibrary(int64_t, const char *path) {
  LoadGuard guard;
  bool isSame = usedPath && path ? !std::strcmp(usedPath, path) : usedPath == path;
  if (isSame && opened && !*opened->problem)
    return;
  std::free(usedPath);
  usedPath = path ? strdup(path) : nullptr;
  // What is opened stays: plans may be of it.
  __atomic_store_n(&opened, static_cast<CublasLt *>(nullptr), __ATOMIC_RELEASE);
}

const char *tilewrightHostOpenLibrary(int64_t, uint64_t *version) {
  CublasLt &library = findCublasLt();
  *version = library.version;
  return *library.problem ? library.problem : nullptr;
}
