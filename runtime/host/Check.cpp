//===- Check.cpp - what is wrong with the arguments of a call -------------===//
//
// Every rule and every text of the checks. Compiled functions decide by a few compares of their own whether a call
// fits, and come here when it does not; Python's Signature comes here for arrays that it has read itself.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Layout.h"
#include "runtime/host/Numbers.h"
#include "runtime/host/Parameters.h"
#include "runtime/host/Text.h"

using namespace tilewright::host;

namespace {

struct DTypeName {
  int32_t code, bits;
  const char *name;
};

constexpr DTypeName dtypeNames[] = {
    {0, 8, "int8"},           {0, 16, "int16"},          {0, 32, "int32"},
    {0, 64, "int64"},         {1, 8, "uint8"},           {1, 16, "uint16"},
    {1, 32, "uint32"},        {1, 64, "uint64"},         {2, 16, "float16"},
    {2, 32, "float32"},       {2, 64, "float64"},        {4, 16, "bfloat16"},
    {5, 64, "complex64"},     {5, 128, "complex128"},    {6, 8, "bool"},
    {7, 8, "float8_e3m4"},    {8, 8, "float8_e4m3"},     {9, 8, "float8_e4m3b11fnuz"},
    {10, 8, "float8_e4m3fn"}, {11, 8, "float8_e4m3fnuz"}, {12, 8, "float8_e5m2"},
    {13, 8, "float8_e5m2fnuz"}, {14, 8, "float8_e8m0fnu"},
};

void addDType(Text &text, int32_t dtype) {
  int32_t code = dtype & 0xff, bits = dtype >> 8 & 0xff, lanes = dtype >> 16 & 0xffff;
  for (const DTypeName &known : dtypeNames)
    if (lanes == 1 && known.code == code && known.bits == bits) {
      text << known.name;
      return;
    }
  text << "DLPack type " << code << " with " << bits << " bits and " << lanes << " lanes";
}

/// The device's kind as the checks see it: pinned memory is the cpu's, managed memory a GPU's.
void addDevice(Text &text, int32_t type) {
  switch (type) {
  case TilewrightDeviceCPU:
  case TilewrightDeviceCUDAHost:
    text << "cpu";
    return;
  case TilewrightDeviceCUDA:
  case TilewrightDeviceManaged:
    text << "cuda";
    return;
  }
  struct {
    int32_t type;
    const char *name;
  } constexpr known[] = {{4, "opencl"},      {7, "vulkan"},  {8, "metal"},   {10, "rocm"},
                         {11, "pinned rocm"}, {14, "oneapi"}, {15, "webgpu"}, {16, "hexagon"}};
  for (const auto &device : known)
    if (device.type == type) {
      text << device.name;
      return;
    }
  text << "device " << type;
}

int32_t dtypeOf(const TilewrightDLTensor &tensor) { return tensor.code | tensor.bits << 8 | tensor.lanes << 16; }

/// Where a symbol has its value: a dimension of a tensor, the stride of one, or a number of its own.
struct Place {
  int32_t argument, dim;
  bool isStride;
  int64_t value;
};

/// One call that is checked.
struct Check {
  const TilewrightSignature &signature;
  const TilewrightAny *args;
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

  bool findSymbol(const char *symbol, int32_t position, int32_t at, Place &found);
  void addPlace(const Place &place, bool isStride);
  int32_t checkBounds(int32_t position, int32_t dim, const TilewrightExtent &wanted, bool isStride, int64_t value);
  int32_t checkExtent(int32_t position, int32_t dim, const TilewrightDLTensor &tensor);
  int32_t checkStride(int32_t position, int32_t dim, const TilewrightDLTensor &tensor);
  int32_t checkStrides(int32_t position, const TilewrightDLTensor &tensor);
  int64_t *unpackStrides(int32_t position, int64_t *to);
  int32_t checkNumber(int32_t position);
  int32_t checkTensor(int32_t position);
  int32_t checkPointer(int32_t position);
  int32_t checkArgument(int32_t position) {
    int32_t kind = signature.arguments[position].kind;
    return kind == TilewrightIsNumber ? checkNumber(position) : kind == TilewrightIsPointer ? checkPointer(position) : checkTensor(position);
  }
  bool findMemory(int32_t position, uint64_t &first, uint64_t &last);
  int32_t checkAddresses(int32_t count);
  int32_t checkOverlap(int32_t count);
  int64_t extentOf(const TilewrightExtent &extent);
};

/// The symbol's first place before that one, which says what it is. A tensor's extents come before its strides, of which
/// those of one element say nothing.
bool Check::findSymbol(const char *symbol, int32_t position, int32_t at, Place &found) {
  for (int32_t other = 0; other <= position; ++other) {
    const TilewrightArgument &argument = signature.arguments[other];
    bool isNumber = argument.kind == TilewrightIsNumber;
    const TilewrightDLTensor *tensor = tensorOf(args[other]);
    if (isNumber ? !argument.extents || (other == position && at == 0) : !tensor)
      continue; // a tensor: an output that is still to be allocated, or none given
    int32_t places = isNumber ? 1 : argument.strides ? 2 * argument.rank : argument.rank;
    for (int32_t place = 0; place < places && !(other == position && place >= at && !isNumber); ++place) {
      bool isStride = !isNumber && place >= argument.rank;
      int32_t dim = isStride ? place - argument.rank : place;
      const TilewrightExtent &wanted = isStride ? argument.strides[dim] : argument.extents[dim];
      if (wanted.number >= 0 || !sameText(wanted.symbol, symbol) || (isStride && (tensor->shape[dim] <= 1 || !countElements(*tensor))))
        continue;
      found = {other, dim, isStride, isNumber ? args[other].integer : isStride ? strideOf(*tensor, dim) : tensor->shape[dim]};
      return true;
    }
  }
  return false;
}

/// `isStride`: in words about a stride, to which another one is like it.
void Check::addPlace(const Place &place, bool isStride) {
  const TilewrightArgument &argument = signature.arguments[place.argument];
  if (argument.kind == TilewrightIsNumber) {
    text << ", as argument " << argument.place << " (" << argument.name << ") says, ";
    return;
  }
  text << ", as " << (place.isStride == isStride ? "" : place.isStride ? "the stride " : "the extent ") << "in dimension " << place.dim
       << " of " << argument.name << ", ";
}

int32_t Check::checkBounds(int32_t position, int32_t dim, const TilewrightExtent &wanted, bool isStride, int64_t value) {
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
  if (Place place; findSymbol(wanted.symbol, position, dim, place) && place.value != extent) {
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
  bool isNumber = wanted.number >= 0, isKnown = !isNumber && findSymbol(wanted.symbol, position, argument.rank + dim, place);
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

/// Writes the strides of a tensor that has its own, and returns the place behind them. Where it has none that counts, for
/// there is one element, or no tensor, they are such as the program may rely on.
int64_t *Check::unpackStrides(int32_t position, int64_t *to) {
  const TilewrightArgument &argument = signature.arguments[position];
  const TilewrightDLTensor *tensor = tensorOf(args[position]);
  for (int32_t dim = 0; argument.strides && dim < argument.rank; ++dim) {
    const TilewrightExtent &stride = argument.strides[dim];
    Place place;
    if (stride.number >= 0)
      *to++ = stride.number;
    else if (tensor && tensor->shape[dim] > 1 && countElements(*tensor))
      *to++ = strideOf(*tensor, dim);
    else if (findSymbol(stride.symbol, signature.argumentCount - 1, INT32_MAX, place))
      *to++ = place.value;
    else
      *to++ = stride.divisibleBy > stride.minimum ? stride.divisibleBy
                                                  : (stride.minimum + stride.divisibleBy - 1) / stride.divisibleBy * stride.divisibleBy;
  }
  return to;
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
  if (Place place; findSymbol(symbol, position, 0, place) && place.value != bits) {
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
    begin(position) << (argument.optional ? "expected a tensor or None, got " : "expected a tensor, got ") << nameOfType(args[position], "tensor");
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
  if (uint64_t past = addressOf(*tensor) % argument.alignment; past && countElements(*tensor)) {
    begin(position) << "expected memory aligned to " << argument.alignment << " bytes, got an address "
                    << past << " bytes past that";
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

/// An extent in a call whose tensors and numbers have been checked. 0 where nothing says it.
int64_t Check::extentOf(const TilewrightExtent &extent) {
  Place place;
  if (extent.number >= 0)
    return extent.number;
  return findSymbol(extent.symbol, signature.argumentCount - 1, INT32_MAX, place) ? place.value : 0;
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
    bytes *= extentOf(argument.extents[dim]);
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
      begin(position) << "expected memory aligned to " << argument.alignment << " bytes, got an address " << past << " bytes past that";
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
  Check check{*signature, args, readOnly, Text(message, capacity)};
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

int32_t tilewrightHostBind(const TilewrightSignature *signature, const TilewrightAny *given, int32_t count, int64_t *data,
                           int64_t *shape) {
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

int32_t tilewrightHostUnpack(const TilewrightSignature *signature, const TilewrightAny *args, int64_t *data, int64_t *shape) {
  int32_t device = TilewrightCurrentDevice;
  Check call{*signature, args, nullptr, Text(nullptr, 0)};
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
        *shape++ = call.extentOf(argument.extents[dim]);
      shape = call.unpackStrides(position, shape);
      continue;
    }
    device = device == TilewrightCurrentDevice ? tensor->deviceId : device;
    data[position] = addressOf(*tensor);
    for (int32_t dim = 0; dim < tensor->ndim; ++dim)
      *shape++ = tensor->shape[dim];
    shape = call.unpackStrides(position, shape);
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
