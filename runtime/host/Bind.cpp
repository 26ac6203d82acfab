//===- Bind.cpp - calls taken apart for programs --------------------------===//
#include "runtime/host/Layout.h"
#include "runtime/host/Numbers.h"
#include "runtime/host/Symbols.h"

using namespace tilewright::host;

namespace {

/// Writes the strides of a tensor that has its own, and returns the place behind them. Where it has none that counts,
/// for there is one element, or no tensor, they are such as the program may rely on.
int64_t *unpackStrides(const Symbols &symbols, int32_t position, int64_t *to) {
  const TilewrightArgument &argument = symbols.signature.arguments[position];
  const TilewrightDLTensor *tensor = tensorOf(symbols.args[position]);
  for (int32_t dim = 0; argument.strides && dim < argument.rank; ++dim) {
    const TilewrightExtent &stride = argument.strides[dim];
    Place place;
    if (stride.number >= 0)
      *to++ = stride.number;
    else if (tensor && tensor->shape[dim] > 1 && countElements(*tensor))
      *to++ = strideOf(*tensor, dim);
    else if (symbols.find(stride.symbol, place))
      *to++ = place.value;
    else
      *to++ = stride.divisibleBy > stride.minimum
                  ? stride.divisibleBy
                  : (stride.minimum + stride.divisibleBy - 1) / stride.divisibleBy * stride.divisibleBy;
  }
  return to;
}

} // namespace

int32_t tilewrightHostBind(const TilewrightSignature *signature, const TilewrightAny *given, int32_t count,
                           int64_t *data, int64_t *shape) {
  char message[4096];
  int32_t arguments = signature->argumentCount;
  auto *args = static_cast<TilewrightAny *>(__builtin_alloca(sizeof(TilewrightAny) * (arguments + 1)));
  int32_t found = tilewrightHostArrange(signature, given, count, TilewrightWhole, args, message, sizeof(message));
  if (!found)
    found = tilewrightHostCheck(signature, args, arguments, nullptr, TilewrightWhole, message, sizeof(message));
  if (!found)
    return tilewrightHostUnpack(signature, args, data, shape);
  const char *parts[] = {message};
  tilewrightFFI.raise(found == TilewrightTypeError ? "TypeError" : "ValueError", parts, 1);
  return -1;
}

int32_t tilewrightHostUnpack(const TilewrightSignature *signature, const TilewrightAny *args, int64_t *data,
                             int64_t *shape) {
  int32_t device = TilewrightCurrentDevice;
  Symbols symbols{*signature, args};
  for (int32_t position = 0; position < signature->argumentCount; ++position) {
    const TilewrightArgument &argument = signature->arguments[position];
    data[position] = 0;
    if (argument.kind == TilewrightIsNumber) {
      (void)readNumber(args[position], argument.dtype, *shape++);
      continue;
    }
    if (argument.kind == TilewrightIsPointer)
      data[position] = args[position].integer;
    const TilewrightDLTensor *tensor = tensorOf(args[position]);
    if (!tensor) {
      // Programs take the extents of any argument that has them.
      for (int32_t dim = 0; dim < argument.rank; ++dim)
        *shape++ = symbols.extentOf(argument.extents[dim], 0);
      shape = unpackStrides(symbols, position, shape);
      continue;
    }
    device = device == TilewrightCurrentDevice ? tensor->deviceId : device;
    data[position] = addressOf(*tensor);
    for (int32_t dim = 0; dim < tensor->ndim; ++dim)
      *shape++ = tensor->shape[dim];
    shape = unpackStrides(symbols, position, shape);
  }
  data += signature->argumentCount;
  for (int32_t position = 0; position < signature->argumentCount; ++position)
    if (signature->arguments[position].optional) {
      *data++ = 0;
      *shape++ = tensorOf(args[position]) != nullptr;
    }
  return device;
}

int64_t tilewrightHostShareMemory(const TilewrightSignature *signature, const int64_t *begins, const int64_t *ends) {
  int64_t share = 0;
  for (int32_t output = 0; output < signature->argumentCount; ++output)
    for (int32_t other = 0; signature->arguments[output].output && other < signature->argumentCount; ++other)
      share |= other != output && begins[output] < ends[other] && begins[other] < ends[output];
  return share;
}

int32_t tilewrightHostReturnText(const char *text, int64_t length, TilewrightAny *result) {
  struct {
    const char *data;
    size_t size;
  } bytes = {text, static_cast<size_t>(length)};
  return tilewrightFFI.makeString(&bytes, result);
}
