//===- LibraryCall.cpp - matmuls by cuBLASLt ------------------------------===//
#include "runtime/host/LibraryCall.h"
#include "runtime/host/CublasLt.h"
#include "runtime/host/DeviceModel.h"
#include "runtime/host/LibraryProblem.h"
#include "runtime/host/Tensor.h"
#include "runtime/host/Text.h"

#include <cstdlib>
#include <initializer_list>

using namespace tilewright::host;

namespace {

// The numbers of cuBLASLt's documentation that a matmul takes.
enum : int32_t {
  // cudaDataType_t
  RealFloat = 0,
  RealHalf = 2,
  RealInt8 = 3,
  RealInt32 = 10,
  RealBfloat16 = 14,
  RealFloat8E4M3 = 28,
  // cublasComputeType_t: accumulators of float32, with operands as they are, and of int32
  ComputeFloat = 68,
  ComputeInt32 = 72,
  // cublasOperation_t
  NotTransposed = 0,
  Transposed = 1,
  // cublasLtMatmulDescAttributes_t
  DescTransA = 3,
  DescTransB = 4,
  DescEpilogue = 7,
  DescBiasPointer = 8,
  // cublasLtMatrixLayoutAttribute_t
  LayoutBatchCount = 5,
  LayoutBatchStride = 6,
  // cublasLtMatmulPreferenceAttributes_t
  PreferenceWorkspaceBytes = 1,
  PreferenceReductionSchemes = 3,
  PreferenceAlignmentA = 5,
  PreferenceAlignmentD = 8,
};
enum : uint32_t {
  // cublasLtEpilogue_t, whose bias is one bit
  EpilogueDefault = 1,
  EpilogueRelu = 2,
  EpilogueBias = 4,
  EpilogueGelu = 32,
  // cublasLtReductionScheme_t: parts of a reduction are added in the accumulator's type, as our kernels add them
  ReductionInComputeType = 2,
};
constexpr uint64_t mostWorkspace = 32 << 20;
constexpr uint32_t alignment = 16; // of tensors, as programs need it

/// Notes why the group's own kernel runs.
Text beginProblem(LibraryState &state) { return Text(state.problem, sizeof(state.problem)); }

int32_t typeOf(const TilewrightDLTensor &tensor) {
  switch (tensor.code << 8 | tensor.bits) {
  case 2 << 8 | 32:
    return RealFloat;
  case 2 << 8 | 16:
    return RealHalf;
  case 4 << 8 | 16:
    return RealBfloat16;
  case 10 << 8 | 8:
    return RealFloat8E4M3;
  case 8:
    return RealInt8;
  case 32:
    return RealInt32;
  }
  return -1;
}

uint32_t epilogueOf(const TilewrightLibraryCall &call) {
  uint32_t bias = call.bias >= 0 ? +EpilogueBias : 0;
  if (call.epilogue == TilewrightEpilogueNone)
    return bias ? bias : +EpilogueDefault;
  return bias | (call.epilogue == TilewrightEpilogueRelu ? EpilogueRelu : EpilogueGelu);
}

void *dataOf(const TilewrightAny &any) {
  const TilewrightDLTensor &tensor = *tensorOf(any);
  return static_cast<char *>(tensor.data) + tensor.byteOffset;
}

/// What the making of a plan calls, one after the other, until one of them fails.
struct Maker {
  LibraryState &state;
  LibraryPlan &plan;
  const TilewrightCublasLt &library;
  void *preference = nullptr;
  const char *failed = nullptr;
  int32_t status = 0;

  ~Maker() {
    if (preference)
      library.preferenceDestroy(preference);
  }

  bool did(const char *call, int32_t returned) {
    failed = call;
    status = returned;
    return returned == 0;
  }

  template <typename Value> bool setDesc(int32_t attribute, Value value) {
    return did("cublasLtMatmulDescSetAttribute", library.descSetAttribute(plan.desc, attribute, &value, sizeof(value)));
  }

  template <typename Value> bool prefer(int32_t attribute, Value value) {
    return did("cublasLtMatmulPreferenceSetAttribute",
               library.preferenceSetAttribute(preference, attribute, &value, sizeof(value)));
  }

  /// A layout of so many rows and columns in memory, of `batch` matrices.
  bool makeLayout(void *&layout, int32_t type, int64_t rows, int64_t columns, int64_t leadingDimension,
                  int64_t batchStride) {
    if (!did("cublasLtMatrixLayoutCreate", library.layoutCreate(&layout, type, rows, columns, leadingDimension)))
      return false;
    if (plan.problem.batch == 1)
      return true;
    int32_t count = int32_t(plan.problem.batch);
    return did("cublasLtMatrixLayoutSetAttribute",
               library.layoutSetAttribute(layout, LayoutBatchCount, &count, sizeof(count))) &&
           did("cublasLtMatrixLayoutSetAttribute",
               library.layoutSetAttribute(layout, LayoutBatchStride, &batchStride, sizeof(batchStride)));
  }

  bool makeOperand(void *&layout, int32_t type, const MatmulProblem::Operand &operand, int64_t rows, int64_t columns) {
    return makeLayout(layout, type, operand.isTransposed ? columns : rows, operand.isTransposed ? rows : columns,
                      operand.leadingDimension, operand.batchStride);
  }

  bool describe(const TilewrightLibraryCall &call, const TilewrightAny *args) {
    const MatmulProblem &problem = plan.problem;
    int32_t type = typeOf(*tensorOf(args[call.a])), resultType = typeOf(*tensorOf(args[call.result]));
    bool isOfInts = type == RealInt8;
    int32_t computed = isOfInts ? ComputeInt32 : ComputeFloat, scaled = isOfInts ? RealInt32 : RealFloat;
    return did("cublasLtMatmulDescCreate", library.descCreate(&plan.desc, computed, scaled)) &&
           setDesc(DescTransA, int32_t(problem.a.isTransposed ? Transposed : NotTransposed)) &&
           setDesc(DescTransB, int32_t(problem.b.isTransposed ? Transposed : NotTransposed)) &&
           setDesc(DescEpilogue, epilogueOf(call)) &&
           // Each call sets its own; heuristics of some versions offer nothing without one.
           (call.bias < 0 || setDesc(DescBiasPointer, dataOf(args[call.bias]))) &&
           makeOperand(plan.aLayout, type, problem.a, problem.rows, problem.depth) &&
           makeOperand(plan.bLayout, type, problem.b, problem.depth, problem.columns) &&
           makeLayout(plan.resultLayout, resultType, problem.rows, problem.columns, problem.rows,
                      problem.rows * problem.columns);
  }

  bool choose(void *handle) {
    if (!did("cublasLtMatmulPreferenceCreate", library.preferenceCreate(&preference)) ||
        !prefer(PreferenceWorkspaceBytes, mostWorkspace) ||
        !prefer(PreferenceReductionSchemes, +ReductionInComputeType))
      return false;
    for (int32_t attribute = PreferenceAlignmentA; attribute <= PreferenceAlignmentD; ++attribute)
      if (!prefer(attribute, alignment))
        return false;
    TilewrightCublasLtHeuristic found = {};
    int32_t count = 0;
    if (!did("cublasLtMatmulAlgoGetHeuristic",
             library.getHeuristic(handle, plan.desc, plan.aLayout, plan.bLayout, plan.resultLayout, plan.resultLayout,
                                  preference, 1, &found, &count)))
      return false;
    if (count < 1 || found.status || found.workspaceBytes > mostWorkspace)
      return did("cublasLtMatmulAlgoGetHeuristic", 15);
    std::memcpy(plan.algorithm, found.algorithm, sizeof(found.algorithm));
    plan.workspaceBytes = int64_t(found.workspaceBytes);
    return true;
  }
};

void tellStatus(LibraryState &state, const LibraryPlan &plan, const char *call, int32_t status) {
  const MatmulProblem &problem = plan.problem;
  Text text = beginProblem(state);
  text << call << " returned " << nameOfCublasStatus(status) << " (" << status << ") for ";
  if (problem.batch > 1)
    text << problem.batch << " x ";
  text << problem.columns << " x " << problem.depth << " by " << problem.depth << " x " << problem.rows;
}

void closePlan(LibraryPlan &plan) {
  const TilewrightCublasLt &library = plan.library->functions;
  for (void *layout : {plan.aLayout, plan.bLayout, plan.resultLayout})
    if (layout)
      library.layoutDestroy(layout);
  if (plan.desc)
    library.descDestroy(plan.desc);
  plan = {};
}

LibraryPlan &makePlan(LibraryState &state, LibraryPlan &plan, CublasLt &library, const MatmulProblem &problem,
                      const TilewrightLibraryCall &call, const TilewrightAny *args, int32_t device) {
  if (plan.library)
    closePlan(plan);
  plan.problem = problem;
  plan.library = &library;
  Maker maker{state, plan, library.functions};
  int32_t status;
  void *handle = findHandle(library, device, status);
  if (maker.did("cublasLtCreate", status) && maker.describe(call, args) && maker.choose(handle))
    return plan;
  plan.isRefused = true;
  tellStatus(state, plan, maker.failed, maker.status);
  return plan;
}

bool isAligned(const TilewrightLibraryCall &call, const TilewrightAny *args) {
  for (int64_t place : {call.a, call.b, call.bias, call.residual, call.result})
    if (place >= 0 && reinterpret_cast<uintptr_t>(dataOf(args[place])) % alignment)
      return false;
  return true;
}

} // namespace

PlanIs tilewright::host::findPlan(LibraryState &state, const TilewrightLibraryCall &call, const TilewrightAny *args,
                                  int32_t device, bool mayMake, LibraryPlan *&plan) {
  CublasLt &library = findCublasLt();
  if (*library.problem) {
    beginProblem(state) << library.problem;
    return PlanIs::Refused;
  }
  MatmulProblem problem = {};
  if (const char *why = findProblem(call, args, problem)) {
    beginProblem(state) << why;
    return PlanIs::Refused;
  }
  if (!isAligned(call, args)) {
    beginProblem(state) << "a tensor is not aligned to " << alignment << " bytes";
    return PlanIs::Refused;
  }
  plan = state.plans;
  for (LibraryPlan &other : state.plans) {
    if (other.library == &library && other.problem == problem) {
      plan = &other;
      break;
    }
    if (other.lastUse < plan->lastUse)
      plan = &other;
  }
  bool isKnown = plan->library == &library && plan->problem == problem;
  if (!isKnown && !mayMake)
    return PlanIs::Missing;
  if (!isKnown)
    makePlan(state, *plan, library, problem, call, args, device);
  plan->lastUse = ++state.numUses;
  return plan->isRefused ? PlanIs::Refused : isKnown ? PlanIs::Known : PlanIs::Made;
}

bool tilewright::host::runPlan(LibraryState &state, LibraryPlan &plan, const TilewrightLibraryCall &call,
                               const TilewrightAny *args, int32_t device, void *stream, void *workspace) {
  const TilewrightCublasLt &library = plan.library->functions;
  const char *name = "cublasLtMatmulDescSetAttribute";
  int32_t status = 0;
  if (call.bias >= 0) {
    void *bias = dataOf(args[call.bias]);
    status = library.descSetAttribute(plan.desc, DescBiasPointer, &bias, sizeof(bias));
  }
  if (!status) {
    name = "cublasLtMatmul";
    void *handle = findHandle(*plan.library, device, status), *result = dataOf(args[call.result]);
    // Host scalars of the scale's type: zeros are the same bits in both.
    bool isOfInts = typeOf(*tensorOf(args[call.a])) == RealInt8;
    float one = 1;
    int32_t oneOfInts = 1, zero = 0;
    const void *alpha = isOfInts ? static_cast<const void *>(&oneOfInts) : &one;
    const void *beta = call.residual >= 0 ? alpha : &zero,
               *c = call.residual >= 0 ? dataOf(args[call.residual]) : result;
    if (handle)
      status = library.matmul(handle, plan.desc, alpha, dataOf(args[call.b]), plan.aLayout, dataOf(args[call.a]),
                              plan.bLayout, beta, c, plan.resultLayout, result, plan.resultLayout, plan.algorithm,
                              workspace, size_t(plan.workspaceBytes), stream);
  }
  if (status) {
    plan.isRefused = true;
    tellStatus(state, plan, name, status);
    return false;
  }
  return true;
}

void tilewright::host::closeState(LibraryState &state) {
  for (LibraryPlan &plan : state.plans)
    if (plan.library)
      closePlan(plan);
  pthread_mutex_destroy(&state.lock);
}

int32_t tilewrightHostRunLibraryCall(void **state, const TilewrightLibraryCall *call, const TilewrightAny *args,
                                     int32_t device, void *stream, void *workspace, int64_t *bytes,
                                     const char **problem) {
  if (!*state && (*state = std::calloc(1, sizeof(LibraryState))))
    pthread_mutex_init(&static_cast<LibraryState *>(*state)->lock, nullptr);
  if (!*state) {
    *problem = "no memory for what is kept of a call";
    return TilewrightLibraryCannot;
  }
  auto &kept = *static_cast<LibraryState *>(*state);
  LibraryGuard guard(kept);
  *problem = kept.problem;
  LibraryPlan *plan = nullptr;
  if (findPlan(kept, *call, args, device, /*mayMake=*/true, plan) == PlanIs::Refused)
    return TilewrightLibraryCannot;
  int64_t given = *bytes;
  *bytes = plan->workspaceBytes;
  if (plan->workspaceBytes > given)
    return TilewrightLibraryNeedsWorkspace;
  return runPlan(kept, *plan, *call, args, device, stream, workspace) ? TilewrightLibraryRan : TilewrightLibraryCannot;
}

void tilewrightHostCloseLibraryCall(void *state) {
  if (!state)
    return;
  closeState(*static_cast<LibraryState *>(state));
  std::free(state);
}

const char *tilewrightHostLibraryProblem(const TilewrightModel *model, int32_t device, int64_t call) {
  auto **byDevice = static_cast<DeviceModel **>(__atomic_load_n(&model->devices, __ATOMIC_ACQUIRE));
  DeviceModel *found = byDevice ? __atomic_load_n(&byDevice[device], __ATOMIC_ACQUIRE) : nullptr;
  if (!found || !found->libraries)
    return nullptr;
  LibraryState &state = found->libraries[call];
  LibraryGuard guard(state);
  return *state.problem ? state.problem : nullptr;
}
