//===- Parameters.cpp - what a call gives, as a value for each argument ---===//
//
// Tuples and shapes are taken apart, and what a call leaves out gets its default: from then on all checks and programs
// see but arguments.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Parameters.h"
#include "runtime/host/Names.h"

using namespace tilewright::host;

int32_t tilewright::host::countRequired(const TilewrightSignature &signature) {
  int32_t required = signature.parameterCount;
  for (int32_t argument; required > 0; --required)
    if ((argument = argumentOf(signature, required - 1)) < 0 ||
        signature.arguments[argument].otherwise.type == TilewrightTypeLeftOut)
      break;
  return required;
}

int32_t tilewrightHostLeavesOutputs(const TilewrightSignature *signature, int32_t count) {
  if (count >= countRequired(*signature))
    return false;
  int32_t inputs = 0, required = 0;
  for (int32_t i = 0; i < signature->parameterCount; ++i) {
    int32_t argument = argumentOf(*signature, i);
    if (argument >= 0 && isAllocated(signature->arguments[argument]))
      continue;
    ++inputs;
    if (argument < 0 || signature->arguments[argument].otherwise.type == TilewrightTypeLeftOut)
      required = inputs;
  }
  return inputs != signature->parameterCount && required <= count && count <= inputs;
}

void tilewright::host::place(const TilewrightSignature &signature, const TilewrightAny *given, int32_t count,
                             bool inputsAlone, TilewrightAny *values) {
  TilewrightAny leftOut = {};
  leftOut.type = TilewrightTypeLeftOut;
  const TilewrightAny *end = given + count;
  for (int32_t i = 0; i < signature.parameterCount; ++i) {
    int32_t argument = argumentOf(signature, i);
    if (inputsAlone && argument >= 0 && isAllocated(signature.arguments[argument]))
      values[i] = leftOut;
    else
      values[i] = given != end ? *given++ : argument >= 0 ? signature.arguments[argument].otherwise : leftOut;
  }
}

namespace {

/// Takes the groups of one call apart.
struct Expansion {
  const TilewrightSignature &signature;
  TilewrightAny *args;
  Text &text;

  int32_t expand(const TilewrightParameter &parameter, const TilewrightAny &value) {
    if (parameter.kind == TilewrightIsArgument) {
      args[parameter.first] = value;
      return TilewrightFits;
    }
    bool isShape = parameter.kind == TilewrightIsShape;
    const TilewrightArray *array = arrayOf(value);
    auto *shape =
        isShape && value.type == TilewrightTypeShape ? static_cast<const TilewrightShape *>(value.pointer) : nullptr;
    if (!array && !shape) {
      addExpected(parameter) << "got " << nameOfType(value, isShape ? "shape" : "tuple");
      return TilewrightTypeError;
    }
    if (int64_t count = array ? array->count : shape->count; count != parameter.count) {
      addExpected(parameter) << "got one of " << count;
      return TilewrightTypeError;
    }
    for (int32_t i = 0; i < parameter.count; ++i) {
      TilewrightAny element = {};
      if (array)
        element = array->elements[i];
      else
        element.type = TilewrightTypeInt, element.integer = shape->extents[i];
      if (int32_t found = expand(signature.parameters[parameter.first + i], element))
        return found;
    }
    return TilewrightFits;
  }

  /// "expected a tuple of 2 (B, C), "
  Text &addExpected(const TilewrightParameter &parameter) {
    text << signature.text << ": argument " << parameter.place << " (" << parameter.name << "): expected a "
         << (parameter.kind == TilewrightIsShape ? "shape" : "tuple") << " of " << parameter.count << " (";
    for (int32_t i = 0; i < parameter.count; ++i)
      text << (i ? ", " : "") << signature.parameters[parameter.first + i].name;
    return text << "), ";
  }
};

} // namespace

int32_t tilewright::host::expand(const TilewrightSignature &signature, const TilewrightAny *values, TilewrightAny *args,
                                 Text &text) {
  Expansion expansion{signature, args, text};
  for (int32_t i = 0; i < signature.parameterCount; ++i)
    if (!signature.parameters)
      args[i] = values[i];
    else if (int32_t found = expansion.expand(signature.parameters[i], values[i]))
      return found;
  return TilewrightFits;
}

int32_t tilewrightHostArrange(const TilewrightSignature *signature, const TilewrightAny *given, int32_t count,
                              int32_t partial, TilewrightAny *args, char *message, size_t capacity) {
  Text text(message, capacity);
  bool inputsAlone = partial == TilewrightInputs;
  int32_t required = countRequired(*signature);
  if (!inputsAlone && (count < required || count > signature->parameterCount)) {
    text << signature->text << ": expected ";
    if (required < signature->parameterCount)
      text << required << " to ";
    text.addCount(signature->parameterCount, "argument") << ", got " << count;
    return TilewrightTypeError;
  }
  auto *values =
      static_cast<TilewrightAny *>(__builtin_alloca(sizeof(TilewrightAny) * (signature->parameterCount + 1)));
  place(*signature, given, count, inputsAlone, values);
  return expand(*signature, values, args, text);
}
