//===- Dispatch.cpp - one function for several kinds of calls -------------===//
//
// Which of several compiled functions a call is for: the first whose types, ranks, devices and extents are those of the
// arguments. Whatever else is wrong with a call (strides, alignment, overlaps) is for that function to say.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Tensor.h"
#include "runtime/host/Text.h"

using namespace tilewright::host;

namespace {

/// Of a call that is explained without its outputs.
constexpr int32_t mostExplained = 64;

/// The arguments that a function takes, of a call of some of them.
struct Arguments {
  const TilewrightSignature &signature;
  const TilewrightAny *args;
  /// Without its outputs.
  bool inputsAlone;

  /// The tensor of that argument, or null: an output that is to be allocated, or what is no tensor.
  const TilewrightDLTensor *operator[](int32_t position) const {
    int32_t given = position;
    for (int32_t i = 0; inputsAlone && i <= position; ++i)
      given -= signature.arguments[i].output ? 1 : 0;
    return inputsAlone && signature.arguments[position].output ? nullptr : tensorOf(args[given]);
  }

  /// The extent of the symbol's first place before that one, or -1.
  int64_t extentOf(const char *symbol, int32_t position, int32_t dim) const {
    for (int32_t other = 0; other <= position; ++other) {
      const TilewrightDLTensor *tensor = (*this)[other];
      const TilewrightArgument &argument = signature.arguments[other];
      for (int32_t at = 0; tensor && at < (other == position ? dim : argument.rank); ++at)
        if (argument.extents[at].number < 0 && sameText(argument.extents[at].symbol, symbol))
          return tensor->shape[at];
    }
    return -1;
  }

  bool accepts(int32_t position) const {
    const TilewrightArgument &argument = signature.arguments[position];
    const TilewrightDLTensor *tensor = (*this)[position];
    if (!tensor)
      return inputsAlone && argument.output;
    if ((tensor->code | tensor->bits << 8 | tensor->lanes << 16) != argument.dtype || tensor->ndim != argument.rank ||
        kindOf(tensor->deviceType) != signature.device)
      return false;
    for (int32_t dim = 0; dim < argument.rank; ++dim) {
      const TilewrightExtent &wanted = argument.extents[dim];
      int64_t extent = tensor->shape[dim];
      if (wanted.number >= 0 ? extent != wanted.number : extent % wanted.divisibleBy != 0 || extent < wanted.minimum || extent > wanted.maximum)
        return false;
      if (int64_t first = wanted.number >= 0 ? -1 : extentOf(wanted.symbol, position, dim); first >= 0 && first != extent)
        return false;
    }
    return true;
  }
};

/// Whether a call of `count` arguments is one of the inputs alone.
bool isOfInputs(const TilewrightSignature &signature, int32_t count) {
  int32_t inputs = 0;
  for (int32_t i = 0; i < signature.argumentCount; ++i)
    inputs += !signature.arguments[i].output;
  return count == inputs && count != signature.argumentCount;
}

} // namespace

int32_t tilewrightHostDispatch(const TilewrightDispatch *dispatch, void *const *stream, const TilewrightAny *args,
                               int32_t count, TilewrightAny *result) {
  for (int32_t i = 0; i < dispatch->count; ++i) {
    const TilewrightVariant &variant = dispatch->variants[i];
    const TilewrightSignature &signature = *variant.signature;
    Arguments arguments{signature, args, result && isOfInputs(signature, count)};
    bool accepts = arguments.inputsAlone || count == signature.argumentCount;
    for (int32_t position = 0; accepts && position < signature.argumentCount; ++position)
      accepts = arguments.accepts(position);
    if (accepts)
      return arguments.inputsAlone ? tilewrightHostCallAllocating(&signature, variant.call, args, result)
                                   : variant.call(stream, args, count);
  }

  // What each of them says to the call.
  char message[8192], reason[2048];
  bool isOfType = true;
  Text text(message, sizeof(message));
  text << dispatch->name << ": expected a call that one of these takes";
  for (int32_t i = 0; i < dispatch->count; ++i) {
    const TilewrightSignature &signature = *dispatch->variants[i].signature;
    TilewrightAny all[mostExplained] = {};
    bool inputsAlone = result && isOfInputs(signature, count) && signature.argumentCount <= mostExplained;
    for (int32_t position = 0, given = 0; inputsAlone && position < signature.argumentCount; ++position)
      if (!signature.arguments[position].output)
        all[position] = args[given++];
    int32_t found = tilewrightHostCheck(&signature, inputsAlone ? all : args, inputsAlone ? signature.argumentCount : count,
                                        nullptr, inputsAlone ? TilewrightInputs : TilewrightWhole, reason, sizeof(reason));
    isOfType &= found == TilewrightTypeError;
    text << "\n  " << reason;
  }
  const char *parts[] = {message};
  tilewrightFFI.raise(isOfType ? "TypeError" : "ValueError", parts, 1);
  return -1;
}
