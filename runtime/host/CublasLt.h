//===- CublasLt.h - cuBLASLt, as the run time sees it ---------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_CUBLASLT_H
#define TILEWRIGHT_RUNTIME_HOST_CUBLASLT_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// An algorithm that cuBLASLt's heuristics offer, with the ABI that its documentation has.
struct TilewrightCublasLtHeuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int32_t status;
  float waves;
  int32_t reserved[4];
};
static_assert(sizeof(TilewrightCublasLtHeuristic) == 96, "cublasLtMatmulHeuristicResult_t of cuBLASLt's ABI");

/// The functions of cuBLASLt that a matmul takes; no header of it is needed to build. Each but the first returns a
/// cublasStatus_t.
struct TilewrightCublasLt {
  size_t (*getVersion)();
  int32_t (*create)(void **handle);
  int32_t (*descCreate)(void **desc, int32_t computeType, int32_t scaleType);
  int32_t (*descDestroy)(void *desc);
  int32_t (*descSetAttribute)(void *desc, int32_t attribute, const void *value, size_t bytes);
  int32_t (*layoutCreate)(void **layout, int32_t type, uint64_t rows, uint64_t columns, int64_t leadingDimension);
  int32_t (*layoutDestroy)(void *layout);
  int32_t (*layoutSetAttribute)(void *layout, int32_t attribute, const void *value, size_t bytes);
  int32_t (*preferenceCreate)(void **preference);
  int32_t (*preferenceDestroy)(void *preference);
  int32_t (*preferenceSetAttribute)(void *preference, int32_t attribute, const void *value, size_t bytes);
  int32_t (*getHeuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int32_t most,
                          TilewrightCublasLtHeuristic *found, int32_t *count);
  int32_t (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *aLayout, const void *b,
                    void *bLayout, const void *beta, const void *c, void *cLayout, void *d, void *dLayout,
                    const uint64_t *algorithm, void *workspace, size_t workspaceBytes, void *stream);
};
}

namespace tilewright::host {

/// The library once it is opened, with a handle for each GPU. It stays for the process's life.
struct CublasLt {
  TilewrightCublasLt functions;
  uint64_t version;
  /// What is wrong, where it could not be opened.
  char problem[512];
  void **handles;
};

/// cuBLASLt, opened at the first call. Where it is not there `problem` says so.
CublasLt &findCublasLt();

/// Its handle for a GPU, whose context is current; null with the status where there is none.
void *findHandle(CublasLt &library, int32_t device, int32_t &status);

/// "CUBLAS_STATUS_NOT_SUPPORTED", or "an unknown status".
const char *nameOfCublasStatus(int32_t status);

} // namespace tilewright::host

#endif
