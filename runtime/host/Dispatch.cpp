//===- Dispatch.cpp - one function for several kinds of calls -------------===//
//
// Which of several compiled functions a call is for: the first whose types, ranks, devices, extents and alignments are
// those of the arguments. Whatever else is wrong with a call (strides, overlaps) is for that function to say, but where
// some of them take arrays that are not row-major: then it is the first that takes the call.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Layout.h"
#include "runtime/host/Numbers.h"
#include "runtime/host/Parameters.h"
#include "runtime/host/Symbols.h"
#include "runtime/host/Tensor.h"
#include "runtime/host/Text.h"

using namespace tilewright::host;

namespace {

/// The arguments that a function would be called with, of TilewrightTypeLeftOut those that are to be allocated.
struct Arguments : Symbols {
  /// Whether a place of a symbol takes that value.
  bool accepts(int32_t position, int32_t dim, int64_t value) const {
    const TilewrightExtent &wanted = signature.arguments[position].extents[dim];
    Place first;
    return value % wanted.divisibleBy == 0 && value >= wanted.minimum && value <= wanted.maximum &&
           (!find(wanted.symbol, position, dim, first) || first.value == value);
  }

  bool accepts(int32_t position) const {
    const TilewrightArgument &argument = signature.arguments[position];
    const TilewrightAny &given = args[position];
    if (argument.kind == TilewrightIsNumber) {
      int64_t bits;
      return readNumber(given, argument.dtype, bits) == Reading::Number &&
             (!argument.extents || accepts(position, 0, bits));
    }
    if (argument.kind == TilewrightIsPointer)
      return (given.type == TilewrightTypeInt || given.type == TilewrightTypePointer) &&
             given.integer % argument.alignment == 0;
    const TilewrightDLTensor *tensor = tensorOf(given);
    if (!tensor)
      return (argument.output && given.type == TilewrightTypeLeftOut) ||
             (argument.optional && given.type == TilewrightTypeNone);
    if ((tensor->code | tensor->bits << 8 | tensor->lanes << 16) != argument.dtype || tensor->ndim != argument.rank ||
        kindOf(tensor->deviceType) != signature.device)
      return false;
    for (int32_t dim = 0; dim < argument.rank; ++dim)
      if (int64_t number = argument.extents[dim].number, extent = tensor->shape[dim];
          number >= 0 ? extent != number : !accepts(position, dim, extent))
        return false;
    return addressOf(*tensor) % argument.alignment == 0 || !countElements(*tensor);
  }
};

/// Whether a function takes a call.
bool accepts(const TilewrightSignature &signature, const TilewrightAny *given, int32_t count, bool inputsAlone) {
  bool isWhole = count == signature.parameterCount;
  const TilewrightAny *args = given;
  if (!isWhole || inputsAlone || signature.parameters) {
    size_t size = sizeof(TilewrightAny) * (signature.argumentCount + 1);
    auto *arranged = static_cast<TilewrightAny *>(__builtin_alloca(size));
    int32_t partial = inputsAlone ? TilewrightInputs : TilewrightWhole;
    if (tilewrightHostArrange(&signature, given, count, partial, arranged, nullptr, 0))
      return false;
    args = arranged;
  }
  Arguments arguments{{signature, args}};
  for (int32_t position = 0; position < signature.argumentCount; ++position)
    if (!arguments.accepts(position))
      return false;
  return true;
}

/// What is wrong with a call of a function.
int32_t explain(const TilewrightSignature &signature, const TilewrightAny *given, int32_t count, bool inputsAlone,
                char *reason, size_t capacity) {
  auto *args = static_cast<TilewrightAny *>(__builtin_alloca(sizeof(TilewrightAny) * (signature.argumentCount + 1)));
  int32_t partial = inputsAlone ? TilewrightInputs : TilewrightWhole;
  if (int32_t found = tilewrightHostArrange(&signature, given, count, partial, args, reason, capacity))
    return found;
  return tilewrightHostCheck(&signature, args, signature.argumentCount, nullptr, partial, reason, capacity);
}

/// Whether some of the functions take arrays that are not row-major.
bool haveStrides(const TilewrightDispatch &dispatch) {
  for (int32_t i = 0; i < dispatch.count; ++i)
    for (int32_t position = 0; position < dispatch.variants[i].signature->argumentCount; ++position)
      if (dispatch.variants[i].signature->arguments[position].strides)
        return true;
  return false;
}

} // namespace

int32_t tilewrightHostDispatch(const TilewrightDispatch *dispatch, void *const *stream, const TilewrightAny *args,
                               int32_t count, TilewrightAny *result) {
  bool countStrides = haveStrides(*dispatch);
  for (int32_t i = 0; i < dispatch->count; ++i) {
    const TilewrightVariant &variant = dispatch->variants[i];
    bool inputsAlone = result && tilewrightHostLeavesOutputs(variant.signature, count);
    if (accepts(*variant.signature, args, count, inputsAlone) &&
        !(countStrides && explain(*variant.signature, args, count, inputsAlone, nullptr, 0)))
      return inputsAlone ? tilewrightHostCallAllocating(variant.signature, variant.call, args, count, result)
                         : variant.call(stream, args, count);
  }

  // What each of them says to the call.
  char message[8192], reason[2048];
  bool isOfType = true;
  Text text(message, sizeof(message));
  text << dispatch->name << ": expected a call that one of these takes";
  for (int32_t i = 0; i < dispatch->count; ++i) {
    const TilewrightSignature &signature = *dispatch->variants[i].signature;
    bool inputsAlone = result && tilewrightHostLeavesOutputs(&signature, count);
    int32_t found = explain(signature, args, count, inputsAlone, reason, sizeof(reason));
    isOfType &= found == TilewrightTypeError;
    text << "\n  " << reason;
  }
  const char *parts[] = {message};
  tilewrightFFI.raise(isOfType ? "TypeError" : "ValueError", parts, 1);
  return -1;
}
