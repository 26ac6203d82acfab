//===- Dispatch.cpp - one function for several kinds of calls -------------===//
//
// Which of several compiled functions a call is for: the first whose types, ranks, devices and extents are those of the
// arguments. Whatever else is wrong with a call (strides, alignment, overlaps) is for that function to say.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Numbers.h"
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

  /// That argument, or null: an output that is to be allocated.
  const TilewrightAny *given(int32_t position) const {
    int32_t at = position;
    for (int32_t i = 0; inputsAlone && i <= position; ++i)
      at -= signature.arguments[i].output ? 1 : 0;
    return inputsAlone && signature.arguments[position].output ? nullptr : &args[at];
  }

  /// The tensor of that argument, or null: what is no tensor, too.
  const TilewrightDLTensor *operator[](int32_t position) const {
    const TilewrightAny *value = given(position);
    return value ? tensorOf(*value) : nullptr;
  }

  /// The value of the symbol's first place before that one. False where there is none.
  bool findSymbol(const char *symbol, int32_t position, int32_t dim, int64_t &value) const {
    for (int32_t other = 0; other <= position; ++other) {
      const TilewrightArgument &argument = signature.arguments[other];
      bool isNumber = argument.kind == TilewrightIsNumber;
      const TilewrightDLTensor *tensor = (*this)[other];
      if (isNumber ? !argument.extents || other == position : !tensor)
        continue;
      for (int32_t at = 0, end = isNumber ? 1 : other == position ? dim : argument.rank; at < end; ++at)
        if (argument.extents[at].number < 0 && sameText(argument.extents[at].symbol, symbol)) {
          value = isNumber ? given(other)->integer : tensor->shape[at];
          return true;
        }
    }
    return false;
  }

  /// Whether a place of a symbol takes that value.
  bool accepts(int32_t position, int32_t dim, int64_t value) const {
    const TilewrightExtent &wanted = signature.arguments[position].extents[dim];
    int64_t first;
    return value % wanted.divisibleBy == 0 && value >= wanted.minimum && value <= wanted.maximum &&
           (!findSymbol(wanted.symbol, position, dim, first) || first == value);
  }

  bool accepts(int32_t position) const {
    const TilewrightArgument &argument = signature.arguments[position];
    if (argument.kind == TilewrightIsNumber) {
      int64_t bits;
      return readNumber(*given(position), argument.dtype, bits) == Reading::Number &&
             (!argument.extents || accepts(position, 0, bits));
    }
    const TilewrightDLTensor *tensor = (*this)[position];
    if (!tensor)
      return (inputsAlone && argument.output) || (argument.optional && given(position)->type == TilewrightTypeNone);
    if ((tensor->code | tensor->bits << 8 | tensor->lanes << 16) != argument.dtype || tensor->ndim != argument.rank ||
        kindOf(tensor->deviceType) != signature.device)
      return false;
    for (int32_t dim = 0; dim < argument.rank; ++dim)
      if (int64_t number = argument.extents[dim].number, extent = tensor->shape[dim];
          number >= 0 ? extent != number : !accepts(position, dim, extent))
        return false;
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
