//===- Check.cpp - what is wrong with the arguments of a call -------------===//
//
// Every rule and every text of the checks. Compiled functions decide by a few compares of their own whether a call
// fits, and come here when it does not; Python's Signature comes here for arrays that it has read itself.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Layout.h"
#include "runtime/host/Names.h"
#include "runtime/host/Numbers.h"
#include "runtime/host/Parameters.h"
#include "runtime/host/Symbols.h"
#include "runtime/host/Text.h"

using namespace tilewright::host;

namespace {

int32_t dtypeOf(const TilewrightDLTensor &tensor) { return tensor.code | tensor.bits << 8 | tensor.lanes << 16; }

/// One call that is checked.
struct Check : Symbols {
  const uint8_t *readOnly;
  Text text;

  Text &begin(int32_t position) {
    const TilewrightArgument &argument = signature.arguments[position];
    return text << signature.text << ": argument " << argument.place << " (" << argument.name << "): ";
  }

  Text &addShape(const TilewrightDLTensor &tensor) {
    text << "got shape ";
    return text.addTuple(tensor.shape, tensor.ndim);
  }

  Text &addStrides(const TilewrightDLTensor &tensor) {
    constexpr int32_t mostShown = 32;
    int64_t strides[mostShown];
    int32_t count = tensor.ndim < mostShown ? tensor.ndim : mostShown;
    for (int32_t dim = 0; dim < count; ++dim)
      strides[dim] = strideOf(tensor, dim);
    (text << "got strides ").addTuple(strides, count) << " for shape ";
    return text.addTuple(tensor.shape, tensor.ndim);
  }

  void addPlace(const Place &place, bool isStride);
  int32_t checkBounds(int32_t position, int32_t dim, const TilewrightExtent &wanted, bool isStride, int64_t value);
  int32_t checkExtent(int32_t position, int32_t dim, const TilewrightDLTensor &tensor);
  int32_t checkStride(int32_t position, int32_t dim, const TilewrightDLTensor &tensor);
  int32_t checkStrides(int32_t position, const TilewrightDLTensor &tensor);
  int32_t checkNumber(int32_t position);
  int32_t checkTensor(int32_t position);
  int32_t checkPointer(int32_t position);
  int32_t checkArgument(int32_t position) {
    int32_t kind = signature.arguments[position].kind;
    return kind == TilewrightIsNumber    ? checkNumber(position)
           : kind == TilewrightIsPointer ? checkPointer(position)
                                         : checkTensor(position);
  }
  bool findMemory(int32_t position, uint64_t &first, uint64_t &last);
  int32_t checkAddresses(int32_t count);
  int32_t checkOverlap(int32_t count);
};

/// `isStride`: in words about a stride, to which another one is like it.
void Check::addPlace(const Place &place, bool isStride) {
  const TilewrightArgument &argument = signature.arguments[place.argument];
  if (argument.kind == TilewrightIsNumber) {
    text << ", as argument " << argument.place << " (" << argument.name << ") says, ";
    return;
  }
  text << ", as "
       << (place.isStride == isStride ? ""
           : place.isStride           ? "the stride "
                                      : "the extent ")
       << "in dimension " << place.dim << " of " << argument.name << ", ";
}

int32_t Check::checkBounds(int32_t position, int32_t dim, const TilewrightExtent &wanted, bool isStride,
                           int64_t value) {
  bool isNumber = signature.arguments[position].kind == TilewrightIsNumber;
  auto expect = [&](const char *what, int64_t bound) {
    begin(position) << "expected ";
    if (isNumber)
      text << wanted.symbol;
    else
      text << (isStride ? "stride " : "extent ") << wanted.symbol << " in dimension " << dim;
    text << " to be " << what << " " << bound << ", ";
    if (isNumber)
      text << "got " << value;
    else if (isStride)
      addStrides(*tensorOf(args[position]));
    else
      addShape(*tensorOf(args[position]));
    return TilewrightValueError;
  };
  if (value % wanted.divisibleBy)
    return expect("divisible by", wanted.divisibleBy);
  if (value < wanted.minimum)
    return expect("at least", wanted.minimum);
  if (value > wanted.maximum)
    return expect("at most", wanted.maximum);
  return TilewrightFits;
}

int32_t Check::checkExtent(int32_t position, int32_t dim, const TilewrightDLTensor &tensor) {
  const TilewrightExtent &wanted = signature.arguments[position].extents[dim];
  int64_t extent = tensor.shape[dim];
  if (wanted.number >= 0) {
    if (extent == wanted.number)
      return TilewrightFits;
    begin(position) << "expected extent " << wanted.number << " in dimension " << dim << ", ";
    addShape(tensor);
    return TilewrightValueError;
  }
  if (Place place; find(wanted.symbol, position, dim, place) && place.value != extent) {
    begin(position) << "expected extent " << wanted.symbol << " = " << place.value;
    addPlace(place, /*isStride=*/false);
    text << "in dimension " << dim << ", ";
    addShape(tensor);
    return TilewrightValueError;
  }
  return checkBounds(position, dim, wanted, /*isStride=*/false, extent);
}

int32_t Check::checkStride(int32_t position, int32_t dim, const TilewrightDLTensor &tensor) {
  const TilewrightArgument &argument = signature.arguments[position];
  const TilewrightExtent &wanted = argument.strides[dim];
  int64_t stride = strideOf(tensor, dim);
  if (stride < 0) {
    begin(position) << "expected strides of at least 0, ";
    addStrides(tensor);
    return TilewrightValueError;
  }
  Place place;
  bool isNumber = wanted.number >= 0, isKnown = !isNumber && find(wanted.symbol, position, argument.rank + dim, place);
  if (isNumber ? stride == wanted.number : !isKnown || place.value == stride)
    return isNumber ? +TilewrightFits : checkBounds(position, dim, wanted, /*isStride=*/true, stride);
  begin(position) << "expected stride ";
  if (isNumber)
    text << wanted.number << " ";
  else
    text << wanted.symbol << " = " << place.value;
  if (isKnown)
    addPlace(place, /*isStride=*/true);
  text << "in dimension " << dim << ", ";
  addStrides(tensor);
  return TilewrightValueError;
}

/// The strides of a tensor that has its own. A dimension of one element may have any, an array without elements too.
int32_t Check::checkStrides(int32_t position, const TilewrightDLTensor &tensor) {
  if (!countElements(tensor))
    return TilewrightFits;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim)
    if (tensor.shape[dim] > 1)
      if (int32_t found = checkStride(position, dim, tensor))
        return found;
  if (signature.arguments[position].output && !areElementsApart(tensor)) {
    begin(position) << "expected strides that keep the elements of an output apart, ";
    addStrides(tensor);
    return TilewrightValueError;
  }
  return TilewrightFits;
}

int32_t Check::checkNumber(int32_t position) {
  const TilewrightArgument &argument = signature.arguments[position];
  const TilewrightAny &value = args[position];
  int64_t bits;
  Reading reading = readNumber(value, argument.dtype, bits);
  if (reading == Reading::OtherType) {
    begin(position) << "expected ";
    addDType(text, argument.dtype);
    text << ", got " << nameOfType(value, "number");
    return TilewrightTypeError;
  }
  if (reading == Reading::OutOfRange) {
    begin(position) << "expected ";
    addDType(text, argument.dtype);
    addRange(text << ", ", argument.dtype);
    addNumber(text << ", got ", value);
    return TilewrightValueError;
  }
  if (!argument.extents)
    return TilewrightFits;
  const char *symbol = argument.extents[0].symbol;
  if (Place place; find(symbol, position, 0, place) && place.value != bits) {
    begin(position) << "expected " << symbol << " = " << place.value;
    addPlace(place, /*isStride=*/false);
    text << "got " << bits;
    return TilewrightValueError;
  }
  return checkBounds(position, 0, argument.extents[0], /*isStride=*/false, bits);
}

int32_t Check::checkTensor(int32_t position) {
  const TilewrightArgument &argument = signature.arguments[position];
  const TilewrightDLTensor *tensor = tensorOf(args[position]);
  if (argument.optional && args[position].type == TilewrightTypeNone)
    return TilewrightFits;
  if (!tensor) {
    begin(position) << (argument.optional ? "expected a tensor or None, got " : "expected a tensor, got ")
                    << nameOfType(args[position], "tensor");
    return TilewrightTypeError;
  }
  if (dtypeOf(*tensor) != argument.dtype) {
    begin(position) << "expected dtype ";
    addDType(text, argument.dtype);
    text << ", got ";
    addDType(text, dtypeOf(*tensor));
    return TilewrightTypeError;
  }
  if (tensor->ndim != argument.rank) {
    begin(position) << "expected ";
    text.addCount(argument.rank, "dimension") << ", ";
    addShape(*tensor);
    return TilewrightValueError;
  }
  for (int32_t dim = 0; dim < argument.rank; ++dim)
    if (int32_t found = checkExtent(position, dim, *tensor))
      return found;
  if (kindOf(tensor->deviceType) != signature.device) {
    begin(position) << "expected an array on ";
    addDevice(text, signature.device);
    text << ", got one on ";
    addDevice(text, tensor->deviceType);
    return TilewrightValueError;
  }
  int32_t first = 0;
  while (!tensorOf(args[first]))
    ++first;
  if (int32_t wanted = tensorOf(args[first])->deviceId;
      signature.device == TilewrightDeviceCUDA && tensor->deviceId != wanted) {
    begin(position) << "expected an array on cuda:" << wanted << ", got one on cuda:" << tensor->deviceId;
    return TilewrightValueError;
  }
  if (argument.strides) {
    if (int32_t found = checkStrides(position, *tensor))
      return found;
  } else if (!isRowMajor(*tensor)) {
    begin(position) << "expected a row-major array, ";
    addStrides(*tensor);
    return TilewrightValueError;
  }
  if (addressOf(*tensor) < TilewrightLeastAddress && countElements(*tensor)) {
    begin(position) << "expected an array with memory, got the address " << int64_t(addressOf(*tensor));
    return TilewrightValueError;
  }
  if (uint64_t past = addressOf(*tensor) % argument.alignment; past && countElements(*tensor)) {
    begin(position) << "expected memory aligned to " << argument.alignment << " bytes, got an address " << past
                    << " bytes past that";
    return TilewrightValueError;
  }
  if (argument.output && readOnly && readOnly[position]) {
    begin(position) << "expected a writable array, for the function writes it, got a read-only one";
    return TilewrightValueError;
  }
  return TilewrightFits;
}

/// That it is an address. Whether that may be one is asked when all extents are known.
int32_t Check::checkPointer(int32_t position) {
  const TilewrightAny &value = args[position];
  bool isInt = value.type == TilewrightTypeInt || value.type == TilewrightTypeBigInt;
  if (!isInt && value.type != TilewrightTypePointer) {
    begin(position) << "expected an address, got " << nameOfType(value, "address");
    return TilewrightTypeError;
  }
  if (isInt && (value.type == TilewrightTypeBigInt || value.integer < 0)) {
    addNumber(begin(position) << "expected an address, got ", value);
    return TilewrightValueError;
  }
  return TilewrightFits;
}

/// From where to where the memory of a tensor goes. False where there is no tensor.
bool Check::findMemory(int32_t position, uint64_t &first, uint64_t &last) {
  const TilewrightArgument &argument = signature.arguments[position];
  if (const TilewrightDLTensor *tensor = tensorOf(args[position])) {
    first = addressOf(*tensor);
    last = first + countSpanBytes(*tensor);
    return true;
  }
  if (argument.kind != TilewrightIsPointer)
    return false;
  int64_t bytes = (argument.dtype >> 8 & 0xff) / 8;
  for (int32_t dim = 0; dim < argument.rank; ++dim)
    bytes *= extentOf(argument.extents[dim], 0);
  first = static_cast<uint64_t>(args[position].integer);
  last = first + bytes;
  return true;
}

/// Of pointers, once all extents are known: memory of no bytes may be anywhere.
int32_t Check::checkAddresses(int32_t count) {
  uint64_t first, last;
  for (int32_t position = 0; position < count; ++position) {
    const TilewrightArgument &argument = signature.arguments[position];
    if (argument.kind != TilewrightIsPointer || !findMemory(position, first, last) || first == last)
      continue;
    if (!first) {
      begin(position) << "expected the address of ";
      text.addCount(last - first, "byte") << ", got NULL";
      return TilewrightValueError;
    }
    if (uint64_t past = first % argument.alignment) {
      begin(position) << "expected memory aligned to " << argument.alignment << " bytes, got an address " << past
                      << " bytes past that";
      return TilewrightValueError;
    }
  }
  return TilewrightFits;
}

int32_t Check::checkOverlap(int32_t count) {
  for (int32_t output = 0; output < count; ++output) {
    if (!signature.arguments[output].output)
      continue;
    for (int32_t other = 0; other < count; ++other) {
      uint64_t low, high, first, last;
      if (other == output || !findMemory(output, low, high) || !findMemory(other, first, last))
        continue;
      uint64_t begins = low > first ? low : first, ends = high < last ? high : last;
      const TilewrightDLTensor *one = tensorOf(args[output]), *two = tensorOf(args[other]);
      if (begins >= ends || (one && two && areBesideEachOther(*one, *two)))
        continue;
      begin(output > other ? output : other)
          << "expected memory of its own beside " << signature.arguments[output < other ? output : other].name
          << ", for the function writes " << signature.arguments[output].name << ", got ";
      text.addCount(ends - begins, "byte") << " shared";
      return TilewrightValueError;
    }
  }
  return TilewrightFits;
}

} // namespace

int32_t tilewrightHostCheck(const TilewrightSignature *signature, const TilewrightAny *args, int32_t count,
                            const uint8_t *readOnly, int32_t partial, char *message, size_t capacity) {
  Check check{{*signature, args}, readOnly, Text(message, capacity)};
  for (int32_t position = 0; position < count; ++position) {
    bool mayBeLeftOut = partial == TilewrightInputs && isAllocated(signature->arguments[position]);
    if (mayBeLeftOut && args[position].type == TilewrightTypeLeftOut)
      continue;
    if (int32_t found = check.checkArgument(position))
      return found;
  }
  if (partial == TilewrightFirst)
    return TilewrightFits;
  if (int32_t found = check.checkAddresses(count))
    return found;
  return partial == TilewrightWhole ? check.checkOverlap(count) : +TilewrightFits;
}
