//===- Allocate.cpp - calls that are given their inputs alone -------------===//
#include "runtime/host/Outputs.h"
#include "runtime/host/Parameters.h"
#include "runtime/host/Symbols.h"
#include "runtime/host/Tensor.h"
#include "runtime/host/Text.h"

#include <cstdlib>

using namespace tilewright::host;

namespace {

/// Several outputs are returned as an ffi.Array.
int32_t returnArray(const TilewrightAny *outputs, int32_t count, TilewrightAny *result) {
  static constexpr char name[] = "ffi.Array";
  struct {
    const char *data;
    size_t size;
  } bytes = {name, sizeof(name) - 1};
  void *make = nullptr;
  if (tilewrightFFI.findGlobal(&bytes, &make))
    return -1;
  int32_t failed = tilewrightFFI.callFunction(make, outputs, count, result);
  tilewrightFFI.decRef(make);
  return failed;
}

constexpr int32_t mostArguments = 64;

} // namespace

int32_t tilewright::host::raiseCheck(int32_t found, const char *message) {
  const char *parts[] = {message};
  tilewrightFFI.raise(found == TilewrightTypeError ? "TypeError" : "ValueError", parts, 1);
  return -1;
}

int32_t tilewright::host::allocateOutput(const TilewrightSignature &signature, const TilewrightArgument &argument,
                                         int64_t *shape, int32_t deviceType, int32_t deviceId, TilewrightAny &made) {
  char message[4096];
  Text text(message, sizeof(message));
  const char *parts[] = {message};
  if (!tilewrightFFI.getAllocator()) {
    text << signature.text << ": argument " << argument.place << " (" << argument.name
         << "): expected an array, for the environment of tvm-ffi has nothing to allocate one by: import torch, set "
            "an allocator, or pass one";
    tilewrightFFI.raise("RuntimeError", parts, 1);
    return -1;
  }
  int64_t strides[mostRank], stride = 1;
  for (int32_t dim = argument.rank; dim-- > 0;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  TilewrightDLTensor prototype = {};
  prototype.deviceType = deviceType;
  prototype.deviceId = deviceId;
  prototype.ndim = argument.rank;
  prototype.code = argument.dtype & 0xff;
  prototype.bits = argument.dtype >> 8 & 0xff;
  prototype.lanes = 1;
  prototype.shape = shape;
  prototype.strides = strides;
  if (int32_t failed = tilewrightFFI.allocateTensor(&prototype, &made.pointer))
    return failed;
  made.type = TilewrightTypeTensor;
  return 0;
}

int32_t tilewright::host::returnOutputs(const TilewrightAny *outputs, int32_t count, TilewrightAny *result) {
  if (count == 1) {
    *result = outputs[0];
    return 0;
  }
  int32_t failed = returnArray(outputs, count, result);
  for (int32_t i = 0; i < count; ++i)
    tilewrightFFI.decRef(outputs[i].pointer);
  return failed;
}

void *tilewrightHostAllocate(const char *program, int64_t bytes) {
  void *made = nullptr;
  // The vectors of every processor are aligned so.
  if (bytes >= 0 && posix_memalign(&made, 64, bytes ? bytes : 1) == 0)
    return made;
  char message[512];
  Text text(message, sizeof(message));
  text << program << ": no memory for ";
  if (bytes < 0)
    text << "temporaries of 2^63 bytes or more";
  else
    text << bytes << " bytes of temporaries";
  const char *parts[] = {message};
  tilewrightFFI.raise("MemoryError", parts, 1);
  return nullptr;
}

int32_t tilewrightHostCallAllocating(const TilewrightSignature *signature,
                                     int32_t (*call)(void *const *stream, const TilewrightAny *args, int32_t count),
                                     const TilewrightAny *given, int32_t numGiven, TilewrightAny *result) {
  if (!tilewrightHostLeavesOutputs(signature, numGiven))
    return call(nullptr, given, numGiven);
  char message[4096];
  TilewrightAny values[mostArguments] = {}, all[mostArguments] = {}, outputs[mostArguments] = {};
  Text text(message, sizeof(message));
  int32_t count = signature->argumentCount, numOutputs = 0;
  int32_t deviceType = signature->device, deviceId = 0;
  bool fits = count <= mostArguments && signature->parameterCount <= mostArguments;
  for (int32_t i = 0; fits && i < count; ++i)
    fits = signature->arguments[i].rank <= mostRank;
  if (!fits) {
    text << signature->text << ": expected " << count << " arguments, for there are too many to allocate some";
    return raiseCheck(TilewrightTypeError, message);
  }
  place(*signature, given, numGiven, /*inputsAlone=*/true, values);
  if (int32_t found = expand(*signature, values, all, text))
    return raiseCheck(found, message);
  for (int32_t i = count; i-- > 0;)
    if (const TilewrightDLTensor *tensor = tensorOf(all[i])) {
      deviceType = tensor->deviceType;
      deviceId = tensor->deviceId;
    }
  if (int32_t found = tilewrightHostCheck(signature, all, count, nullptr, TilewrightInputs, message, sizeof(message)))
    return raiseCheck(found, message);

  Symbols symbols{*signature, all};
  int32_t failed = 0;
  for (int32_t parameter = 0; !failed && parameter < signature->parameterCount; ++parameter) {
    int32_t i = argumentOf(*signature, parameter);
    if (i < 0 || !isAllocated(signature->arguments[i]))
      continue;
    const TilewrightArgument &argument = signature->arguments[i];
    int64_t shape[mostRank];
    for (int32_t dim = argument.rank; !failed && dim-- > 0;) {
      const TilewrightExtent &extent = argument.extents[dim];
      shape[dim] = symbols.extentOf(extent, -1);
      if (shape[dim] < 0) {
        text << signature->text << ": argument " << argument.place << " (" << argument.name
             << "): expected an array, for no input says what its extent " << extent.symbol << " is";
        failed = raiseCheck(TilewrightTypeError, message);
      }
    }
    if (!failed)
      failed = allocateOutput(*signature, argument, shape, deviceType, deviceId, values[parameter]);
    if (failed)
      break;
    outputs[numOutputs++] = values[parameter];
  }
  if (!failed)
    failed = call(nullptr, values, signature->parameterCount);
  if (!failed)
    return returnOutputs(outputs, numOutputs, result);
  for (int32_t i = 0; i < numOutputs; ++i)
    tilewrightFFI.decRef(outputs[i].pointer);
  return failed;
}
