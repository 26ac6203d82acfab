//===- LibraryCall.h - groups that a library computes ---------------------===//
//
// A group of a model may be a call of a library, which is opened at run time. A plan, the descriptors and the algorithm
// of a call with certain extents, is made once and kept. Where the library is missing, or one of its functions returns
// an error, the group's own kernel is to run.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_LIBRARYCALL_H
#define TILEWRIGHT_RUNTIME_HOST_LIBRARYCALL_H

#include "runtime/host/Model.h"

#include <cstring>
#include <pthread.h>

extern "C" {

/// From here on that file is the library; null: it is found by its names. `library` is its number in a
/// TilewrightLibraryCall.
void tilewrightHostUseLibrary(int64_t library, const char *path);

/// Opens the library. Returns what is missing, or null, with its version.
const char *tilewrightHostOpenLibrary(int64_t library, uint64_t *version);

enum : int32_t {
  TilewrightLibraryRan = 0,
  /// More bytes of workspace are needed.
  TilewrightLibraryNeedsWorkspace = 1,
  /// The library cannot do it.
  TilewrightLibraryCannot = 2,
};

/// Runs a call alone, on a GPU whose context is current. `state` is null at first. `bytes` are those of the workspace,
/// and afterwards those that are needed. The text of `problem` lives as long as the state.
int32_t tilewrightHostRunLibraryCall(void **state, const TilewrightLibraryCall *call, const TilewrightAny *args,
                                     int32_t device, void *stream, void *workspace, int64_t *bytes,
                                     const char **problem);
void tilewrightHostCloseLibraryCall(void *state);

/// Why a model's call of that number ran the group's own kernel on a GPU the last time that it did; null where none
/// did.
const char *tilewrightHostLibraryProblem(const TilewrightModel *model, int32_t device, int64_t call);
}

namespace tilewright::host {

struct CublasLt;

/// A matmul as cuBLASLt sees it: in columns, so that its first operand is our second one.
struct MatmulProblem {
  struct Operand {
    int64_t isTransposed, leadingDimension, batchStride;
  };
  int64_t rows, columns, depth, batch;
  Operand a, b;

  bool operator==(const MatmulProblem &other) const { return std::memcmp(this, &other, sizeof(other)) == 0; }
};

struct LibraryPlan {
  MatmulProblem problem;
  CublasLt *library;
  void *desc, *aLayout, *bLayout, *resultLayout;
  uint64_t algorithm[8];
  int64_t workspaceBytes;
  int64_t lastUse;
  /// Whether a function of the library has returned an error.
  bool isRefused;
};

constexpr int32_t maxLibraryPlans = 16;

/// What is kept of a call for a GPU. The lock is held while the library is called: the descriptors change.
struct LibraryState {
  pthread_mutex_t lock;
  LibraryPlan plans[maxLibraryPlans];
  int64_t numUses;
  /// Why the group's own kernel ran the last time that it did.
  char problem[512];
};

struct LibraryGuard {
  LibraryState &state;
  explicit LibraryGuard(LibraryState &state) : state(state) { pthread_mutex_lock(&state.lock); }
  ~LibraryGuard() { pthread_mutex_unlock(&state.lock); }
};

/// What became of a plan: it was there, it has been made, it was neither, or the library cannot do the call.
enum class PlanIs { Known, Made, Missing, Refused };

/// The plan of a call with these arguments. While a stream is captured no plan is made (`mayMake`): heuristics of some
/// versions fail then, and the library loads its kernels when a plan runs first. If the plan is refused, the state has
/// the problem.
PlanIs findPlan(LibraryState &state, const TilewrightLibraryCall &call, const TilewrightAny *args, int32_t device,
                bool mayMake, LibraryPlan *&plan);

/// Runs a plan. Returns false, with the problem, where the library does not.
bool runPlan(LibraryState &state, LibraryPlan &plan, const TilewrightLibraryCall &call, const TilewrightAny *args,
             int32_t device, void *stream, void *workspace);

/// Destroys the plans.
void closeState(LibraryState &state);

} // namespace tilewright::host

#endif
