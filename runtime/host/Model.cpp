//===- Model.cpp - calls of a whole model ---------------------------------===//
#include "runtime/host/Failure.h"
#include "runtime/host/ModelCall.h"
#include "runtime/host/Outputs.h"
#include "runtime/host/Parameters.h"
#include "runtime/host/Weights.h"

#include <type_traits>

using namespace tilewright::host;

namespace {

/// A number of two others. Returns false where it is beyond 64 bits or there is none.
bool compute(int64_t operation, int64_t a, int64_t b, int64_t &result) {
  switch (operation) {
  case TilewrightNumberAdd:
    return !__builtin_add_overflow(a, b, &result);
  case TilewrightNumberSubtract:
    return !__builtin_sub_overflow(a, b, &result);
  case TilewrightNumberMultiply:
    return !__builtin_mul_overflow(a, b, &result);
  case TilewrightNumberFloorDivide:
  case TilewrightNumberFloorModulo: {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return false;
    bool isBelow = a % b != 0 && (a % b < 0) != (b < 0);
    result = operation == TilewrightNumberFloorDivide ? a / b - isBelow : a % b + (isBelow ? b : 0);
    return true;
  }
  case TilewrightNumberMinimum:
    result = a < b ? a : b;
    return true;
  default:
    result = a > b ? a : b;
    return true;
  }
}

} // namespace

int32_t ModelCall::allocateTables() {
  int64_t numShapes = 0, numArguments = 1, numOfValues = model.valueCount;
  for (int64_t i = 0; i < numOfValues; ++i)
    numShapes += model.values[i].rank;
  for (int64_t i = 0; i < model.groupCount; ++i)
    numArguments = std::max(numArguments, model.begins[i + 1] - model.begins[i]);
  size_t used = 0;
  auto reserve = [&](auto *&table, int64_t count) {
    using Table = std::remove_reference_t<decltype(table)>;
    // At first their places, for the memory is not there yet.
    table = reinterpret_cast<Table>(used);
    used += (sizeof(*table) * count + 15) / 16 * 16;
  };
  auto settle = [&](auto *&table) {
    using Table = std::remove_reference_t<decltype(table)>;
    table = reinterpret_cast<Table>(static_cast<char *>(memory) + reinterpret_cast<size_t>(table));
  };
  reserve(all, signature.argumentCount);
  reserve(outputs, signature.argumentCount);
  reserve(numbers, model.numberCount);
  reserve(tensors, numOfValues);
  reserve(shapes, 2 * numShapes); // and strides
  reserve(arguments, numArguments);
  reserve(buffers, numOfValues);
  reserve(order, 2 * numOfValues);
  reserve(arenas, model.phaseCount);
  reserve(key, keySize());
  memory = std::calloc(used + 16, 1);
  if (!memory)
    return fail("MemoryError", "no memory for the tables of a call of a model");
  settle(all);
  settle(outputs);
  settle(numbers);
  settle(tensors);
  settle(shapes);
  settle(arguments);
  settle(buffers);
  settle(order);
  settle(arenas);
  settle(key);
  return 0;
}

int32_t ModelCall::check(const TilewrightAny *given, int32_t count, bool inputsAlone) {
  char message[4096];
  int32_t partial = inputsAlone ? TilewrightInputs : TilewrightWhole;
  int32_t found = tilewrightHostArrange(&signature, given, count, partial, all, message, sizeof(message));
  if (!found)
    found = tilewrightHostCheck(&signature, all, signature.argumentCount, nullptr, partial, message, sizeof(message));
  if (found)
    return raiseCheck(found, message);
  deviceType = signature.device;
  for (int32_t i = signature.argumentCount; i-- > 0;)
    if (const TilewrightDLTensor *tensor = tensorOf(all[i])) {
      deviceType = tensor->deviceType;
      deviceId = tensor->deviceId;
    }
  return 0;
}

int32_t ModelCall::readNumbers() {
  if (loaded)
    return readOnDevice();
  for (int64_t i = 0; i < model.numberCount; ++i)
    if (isRead(i)) {
      const TilewrightDLTensor &from = tensorOfValue(model.numbers[i].a);
      std::memcpy(&numbers[i], static_cast<const char *>(from.data) + from.byteOffset, sizeof(int64_t));
    }
  return 0;
}

int32_t ModelCall::computeNumbers() {
  if (phase && readNumbers())
    return -1;
  for (int64_t i = 0; i < model.numberCount; ++i) {
    const TilewrightModelNumber &number = model.numbers[i];
    if (number.phase != phase || isRead(i))
      continue;
    if (number.operation == TilewrightNumberConstant)
      numbers[i] = number.a;
    else if (number.operation == TilewrightNumberExtent)
      numbers[i] = tensorOf(all[number.a])->shape[number.b];
    else if (!compute(number.operation, numbers[number.a], numbers[number.b], numbers[i])) {
      char message[2048];
      Text(message, sizeof(message)) << signature.text
                                     << ": expected inputs from whose extents those of all tensors follow, got ones "
                                        "that lead to a number beyond 63 bits or a division by zero";
      return fail("ValueError", message);
    }
  }
  return 0;
}

/// The shape and the bytes of a value. Returns false where there are none.
bool ModelCall::shapeOf(const TilewrightModelValue &value, int64_t *shape, int64_t &bytes) const {
  bytes = (value.dtype >> 8 & 0xff) / 8;
  bool isEmpty = false, fits = true;
  for (int64_t dim = 0; dim < value.rank; ++dim) {
    shape[dim] = numbers[model.extents[value.extents + dim]];
    if (shape[dim] < 0)
      return false;
    isEmpty |= shape[dim] == 0;
    fits = fits && !__builtin_mul_overflow(bytes, shape[dim], &bytes);
  }
  if (isEmpty)
    bytes = 0;
  return isEmpty || fits;
}

int32_t ModelCall::failShape(const TilewrightModelValue &value, const int64_t *shape) const {
  char message[2048];
  Text text(message, sizeof(message));
  text << signature.text << ": expected extents that are not negative, of tensors whose bytes 63 bits count, got ";
  text.addTuple(shape, value.rank) << " for " << model.texts + value.name;
  return fail("ValueError", message);
}

/// Checks the extents of an argument that are expressions of others.
int32_t ModelCall::checkShape(const TilewrightModelValue &value, const TilewrightDLTensor &given,
                              const int64_t *shape) const {
  const TilewrightArgument &argument = signature.arguments[value.place];
  for (int64_t dim = 0; dim < value.rank; ++dim) {
    if (given.shape[dim] == shape[dim])
      continue;
    char message[4096];
    Text text(message, sizeof(message));
    text << signature.text << ": argument " << argument.place << " (" << argument.name << "): expected extent "
         << argument.extents[dim].symbol << " = " << shape[dim] << " in dimension " << int32_t(dim) << ", got shape ";
    text.addTuple(given.shape, given.ndim);
    return fail("ValueError", message);
  }
  return 0;
}

int32_t ModelCall::describeTensors() {
  int64_t numBuffers = 0;
  // What a phase adds lies in an arena of its own.
  bool isPlanned = model.phaseCount == 1;
  int64_t *shape = shapes;
  for (int64_t i = 0; i < model.valueCount; ++i, shape += 2 * model.values[i - 1].rank) {
    const TilewrightModelValue &value = model.values[i];
    if (value.phase != phase)
      continue;
    int64_t bytes, *strides = value.strides < 0 ? nullptr : shape + value.rank;
    for (int64_t dim = 0; strides && dim < value.rank; ++dim)
      strides[dim] = numbers[model.extents[value.strides + dim]];
    if (!shapeOf(value, shape, bytes))
      return failShape(value, shape);
    if (const TilewrightDLTensor *given = argumentOf(value); given && checkShape(value, *given, shape))
      return -1;
    tensors[i] = {
        nullptr, deviceType, deviceId, int32_t(value.rank), uint8_t(value.dtype), uint8_t(value.dtype >> 8), 1,
        shape,   strides,    0};
    if (value.memory == TilewrightInArena) {
      isPlanned &= value.place >= 0;
      buffers[numBuffers++] = {bytes, value.first, value.last, value.place};
    }
  }
  arenaBytes = isPlanned ? model.arenaBytes : placeInArena(buffers, numBuffers, order, order + numBuffers);
  if (arenaBytes >= 0)
    return 0;
  char message[2048];
  Text(message, sizeof(message)) << signature.text << ": expected results of groups whose bytes 63 bits count";
  return fail("ValueError", message);
}

int32_t ModelCall::allocateOutputs() {
  for (int64_t i = 0; i < model.valueCount; ++i) {
    const TilewrightModelValue &value = model.values[i];
    if (value.phase != phase || value.memory != TilewrightInArguments || argumentOf(value))
      continue;
    const TilewrightArgument &argument = signature.arguments[value.place];
    if (caller) {
      if (int32_t failed = caller->allocate(caller->context, int32_t(value.place), &tensors[i]))
        return failed;
      all[value.place] = {};
      all[value.place].type = TilewrightTypeDLTensor;
      all[value.place].pointer = &tensors[i];
      continue;
    }
    bool isHere = deviceType == TilewrightDeviceCPU && tilewrightFFI.adoptTensor && !tilewrightFFI.getAllocator();
    TilewrightAny &made = all[value.place];
    if (isHere ? allocateOnHost(signature, argument, tensors[i].shape, made)
               : allocateOutput(signature, argument, tensors[i].shape, deviceType, deviceId, made))
      return -1;
    outputs[numOutputs++] = made;
  }
  return 0;
}

void ModelCall::placeTensors() {
  const ArenaBuffer *buffer = buffers;
  for (int64_t i = 0; i < model.valueCount; ++i) {
    if (model.values[i].phase != phase)
      continue;
    if (model.values[i].memory == TilewrightInWeights)
      tensors[i].data = weights + model.values[i].place;
    else if (model.values[i].memory == TilewrightAtAddress)
      tensors[i].data = reinterpret_cast<void *>(model.values[i].place);
    else if (model.values[i].memory == TilewrightInValue) {
      const TilewrightDLTensor &base = tensorOfValue(model.values[i].place);
      tensors[i].data = static_cast<char *>(base.data) + base.byteOffset + model.values[i].offset;
    } else if (model.values[i].memory == TilewrightInArena)
      tensors[i].data = arena + buffer++->offset;
  }
}

TilewrightAny ModelCall::valueOf(int64_t i) {
  const TilewrightModelValue &value = model.values[i];
  if (value.memory == TilewrightInArguments)
    return all[value.place];
  TilewrightAny any = {};
  any.type = TilewrightTypeDLTensor;
  any.pointer = &tensors[i];
  return any;
}

int32_t ModelCall::copy(const TilewrightModelCopy &copied, void *onStream) {
  const TilewrightDLTensor &source = tensorOfValue(copied.from), &target = tensorOfValue(copied.to);
  int64_t bytes = source.bits / 8;
  for (int32_t dim = 0; dim < source.ndim; ++dim)
    bytes *= source.shape[dim];
  if (loaded)
    return bytes ? copyOnDevice(source, target, bytes, onStream) : 0;
  std::memcpy(static_cast<char *>(target.data) + target.byteOffset,
              static_cast<const char *>(source.data) + source.byteOffset, bytes);
  return 0;
}

int32_t ModelCall::runGroups(void *onStream) {
  bool isLast = phase + 1 == model.phaseCount;
  int64_t libraryCall = 0;
  for (int64_t i = model.phases[phase]; i < (isLast ? model.groupCount : model.phases[phase + 1]); ++i) {
    int64_t begin = model.begins[i], groupCount = model.begins[i + 1] - begin;
    for (int64_t j = 0; j < groupCount; ++j) {
      int64_t argument = model.arguments[begin + j];
      if (argument >= 0) {
        arguments[j] = valueOf(argument);
        continue;
      }
      arguments[j] = {};
      arguments[j].type = TilewrightTypeInt;
      arguments[j].integer = numbers[-1 - argument];
    }
    while (libraryCall < model.libraryCallCount && model.libraryCalls[libraryCall].group < i)
      ++libraryCall;
    if (loaded && libraryCall < model.libraryCallCount && model.libraryCalls[libraryCall].group == i) {
      int32_t code = runByLibrary(libraryCall, onStream);
      if (code < 0)
        return code;
      if (code == 0)
        continue;
    }
    if (int32_t failed = model.groups[i].call(loaded ? &onStream : nullptr, arguments, int32_t(groupCount)))
      return failed;
  }
  for (int64_t i = 0; isLast && i < model.copyCount; ++i)
    if (int32_t failed = copy(model.copies[i], onStream))
      return failed;
  return 0;
}

int32_t ModelCall::runOnHost() {
  if (model.weights && !(weights = const_cast<char *>(findWeights(model, signature.name))))
    return -1;
  int32_t failed = 0;
  for (; !failed && phase < model.phaseCount; ++phase) {
    if ((failed = phase ? beginPhase() : 0))
      break;
    if (arenaBytes && !(arenas[phase] = tilewrightHostAllocate(signature.name, arenaBytes))) {
      failed = -1;
      break;
    }
    arena = static_cast<char *>(arenas[phase]);
    placeTensors();
    failed = runGroups(nullptr);
  }
  for (int64_t i = 0; i < model.phaseCount; ++i)
    std::free(arenas[i]);
  return failed;
}

int32_t ModelCall::runWith(const TilewrightAny *given, int32_t count, bool inputsAlone) {
  if (allocateTables() || check(given, count, inputsAlone) || beginPhase())
    return -1;
  return (program ? runOnDevice() : runOnHost()) ? -1 : 0;
}

int32_t ModelCall::run(const TilewrightAny *given, int32_t count, TilewrightAny *result) {
  if (runWith(given, count, tilewrightHostLeavesOutputs(&signature, count)))
    return -1;
  if (!numOutputs)
    return 0;
  // In the order of the arguments: what has extents that data decide was allocated later.
  int32_t made = 0;
  for (int32_t i = 0; i < signature.argumentCount; ++i)
    if (isAllocated(signature.arguments[i]))
      outputs[made++] = all[i];
  numOutputs = 0; // given away
  return returnOutputs(outputs, made, result);
}

int32_t tilewrightHostCallModel(TilewrightModel *model, const TilewrightSignature *signature,
                                TilewrightProgram *program, const TilewrightAny *given, int32_t count,
                                TilewrightAny *result) {
  return ModelCall{*model, *signature, program}.run(given, count, result);
}

int32_t tilewrightHostCallModelInto(TilewrightModel *model, const TilewrightSignature *signature,
                                    TilewrightProgram *program, const TilewrightAny *inputs, int32_t count,
                                    const TilewrightOutputs *outputs) {
  ModelCall call{*model, *signature, program, outputs};
  if (call.runWith(inputs, count, /*inputsAlone=*/true))
    return -1;
  if (outputs->numbers)
    std::copy(call.numbers, call.numbers + model->numberCount, outputs->numbers);
  return 0;
}
