//===- Model.h - a whole model as one function ----------------------------===//
//
// What an exported library has of a model, and the process that compiled it: tables that say which groups run, on which
// tensors, and how the extents of these come from the inputs'. tilewright.graph.export_tables writes the tables.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_MODEL_H
#define TILEWRIGHT_RUNTIME_HOST_MODEL_H

#include "runtime/host/ABI.h"

extern "C" {

/// How a number of a call is made: of `a` and `b`, which are numbers before it where nothing else is said.
enum : int64_t {
  TilewrightNumberConstant = 0, ///< a
  TilewrightNumberExtent = 1,   ///< the extent of argument a in dimension b
  TilewrightNumberAdd = 2,
  TilewrightNumberSubtract = 3,
  TilewrightNumberMultiply = 4,
  TilewrightNumberFloorDivide = 5,
  TilewrightNumberFloorModulo = 6,
  TilewrightNumberMinimum = 7,
  TilewrightNumberMaximum = 8,
  TilewrightNumberRead = 9, ///< the element of value a, an int64 of no dimension, which groups of earlier phases make
};

struct TilewrightModelNumber {
  int64_t operation, a, b;
  /// The phase of a call that begins with it.
  int64_t phase;
};

/// Where a tensor lies: it is the argument `place`, or lies `place` bytes behind the weights' begin or in the arena,
/// where -1 is for the call to plan. In the process that compiled the model a weight lies at the address `place`.
enum : int64_t {
  TilewrightInArguments = 0,
  TilewrightInWeights = 1,
  TilewrightInArena = 2,
  TilewrightAtAddress = 3,
  /// It is part of another value, whose number is `place`, and which comes before it.
  TilewrightInValue = 4,
};

struct TilewrightModelValue {
  /// The group that makes it, for messages: where its name begins among the texts.
  int64_t name;
  /// Where the numbers begin that its extents are.
  int64_t extents;
  int64_t rank, dtype, memory, place;
  /// Of one in the arena: the first and the last group of its life.
  int64_t first, last;
  /// Where its strides begin among the extents, in elements; -1 of one that is row-major.
  int64_t strides;
  /// Of one in another value: the number, in bytes, that it begins behind that.
  int64_t offset;
  /// The phase of a call from which on it has a shape and a place.
  int64_t phase;
};

struct TilewrightModelGroup {
  int32_t (*call)(void *const *stream, const TilewrightAny *args, int32_t count);
  /// Loads the kernels into a GPU. Null for target cpu.
  int32_t (*load)(void *handle, const TilewrightAny *args, int32_t count, TilewrightAny *result);
};

enum : int64_t { TilewrightLibraryCublasLt = 0 };
enum : int64_t { TilewrightLibraryMatmul = 0 };
enum : int64_t { TilewrightEpilogueNone = 0, TilewrightEpilogueRelu = 1, TilewrightEpilogueGeluTanh = 2 };

/// A group that a library computes: epilogue(a b + residual + bias). Operands are numbers of the group's arguments, -1
/// where there is none. An order has four bits for each dimension that the matmul reads, the first one lowest: which
/// one of the tensor it is.
struct TilewrightLibraryCall {
  int64_t group, library, operation;
  int64_t a, b, bias, residual, result;
  int64_t aOrder, bOrder;
  int64_t epilogue;
};

/// An output that is another value.
struct TilewrightModelCopy {
  int64_t from, to;
};

/// The weights' file: its name, its bytes, and those that it begins with, behind which the weights are.
struct TilewrightWeightFile {
  const char *name;
  const char *header;
  int64_t headerBytes, bytes;
};

struct TilewrightModel {
  const char *texts;
  const TilewrightModelNumber *numbers;
  /// Of all values, one behind the other.
  const int64_t *extents;
  const TilewrightModelValue *values;
  const TilewrightModelGroup *groups;
  /// The values that the groups take, those of one together; of a number n, -1 - n.
  const int64_t *arguments;
  /// Where each group's arguments begin, and where the last's end.
  const int64_t *begins;
  const TilewrightModelCopy *copies;
  /// The group that each phase begins with. All phases but the first begin with numbers that groups before have made.
  const int64_t *phases;
  /// Groups that a library computes, in their order.
  const TilewrightLibraryCall *libraryCalls;
  /// Null where there are no weights.
  const TilewrightWeightFile *weights;
  int64_t numberCount, valueCount, groupCount, copyCount;
  /// What the values with a planned place take; one without any is planned by each call.
  int64_t arenaBytes;
  /// Whether the launches of a call form a CUDA graph.
  int64_t cudaGraph;
  int64_t phaseCount;
  int64_t libraryCallCount;
  /// Null at first; they belong to the run time: the weights, and what it keeps for each GPU.
  void *state, *devices;
};

/// Finds the weights' file beside the library that has the model, and maps it. A library calls this when it is loaded.
/// What is wrong is told by the first call.
void tilewrightHostOpenModel(TilewrightModel *model);

/// Destroys what the run time keeps on GPUs of a model that is not called any more, all but its weights.
void tilewrightHostCloseModel(TilewrightModel *model);

/// A call of a model with all its arguments, or with its inputs alone: then the outputs are allocated and returned.
/// `program` has no kernels; it is null for target cpu.
int32_t tilewrightHostCallModel(TilewrightModel *model, const TilewrightSignature *signature,
                                TilewrightProgram *program, const TilewrightAny *given, int32_t count,
                                TilewrightAny *result);

/// Outputs that the caller allocates, each when its shape is known.
struct TilewrightOutputs {
  /// Allocates the argument with that number: `tensor` has all of it but where its elements begin. What is not 0 ends
  /// the call, whose result it is then: the caller knows what went wrong.
  int32_t (*allocate)(void *context, int32_t argument, TilewrightDLTensor *tensor);
  void *context;
  /// Where a call that ends well writes the model's numbers. May be null.
  int64_t *numbers;
};

/// A call with the inputs alone, whose outputs the caller allocates.
int32_t tilewrightHostCallModelInto(TilewrightModel *model, const TilewrightSignature *signature,
                                    TilewrightProgram *program, const TilewrightAny *inputs, int32_t count,
                                    const TilewrightOutputs *outputs);

/// Makes all that the first call on a GPU makes otherwise, as a function of tvm-ffi's ABI: of the GPU whose number is
/// the one argument, 0 where there is none.
int32_t tilewrightHostLoadModel(TilewrightModel *model, TilewrightProgram *program, const TilewrightAny *args,
                                int32_t count);
}

#endif
