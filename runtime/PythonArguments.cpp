//===- PythonArguments.cpp - Python's objects as arguments ----------------===//
//
// Tensors by the exchange API of DLPack, NumPy's arrays by the buffer protocol, Python's own numbers, and tuples, lists
// and objects of these. What else there is goes by way of Python.
//
//===----------------------------------------------------------------------===//
#include "runtime/PythonArguments.h"

using namespace tilewright;

namespace {

constexpr int stridedWithFormat = 0x10 | 0x08 | 0x04;

/// DLPack's code for a format of the buffer protocol in the machine's own order, or -1.
int codeOfFormat(const char *format) {
  if (!format)
    return 1; // bytes
  if (*format == '@' || *format == '=')
    ++format;
  if (!*format || format[1])
    return -1;
  switch (*format) {
  case '?':
    return 6;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return 0;
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return 1;
  case 'e':
  case 'f':
  case 'd':
    return 2;
  }
  return -1;
}

} // namespace

__attribute__((noinline)) bool Call::readBuffer(const TilewrightCaller &caller, int position, void *object) {
  if (!buffers)
    buffers = new Buffer[caller.items.size()];
  Buffer &buffer = buffers[numBuffers];
  if (python.getBuffer(object, &buffer.view, stridedWithFormat)) {
    python.clearError();
    return false;
  }
  ++numBuffers;
  const BufferView &view = buffer.view;
  int code = codeOfFormat(view.format);
  if (code < 0 || view.ndim > maxBufferRank || (view.readOnly && caller.items[position].kind == TilewrightCallerOutput))
    return false;
  for (int dim = 0; dim < view.ndim; ++dim) {
    if (view.strides[dim] % view.itemBytes)
      return false;
    buffer.shape[dim] = view.shape[dim];
    buffer.strides[dim] = view.strides[dim] / view.itemBytes;
  }
  tensors[position] = {view.data,    TilewrightDeviceCPU, 0, view.ndim, uint8_t(code), uint8_t(view.itemBytes * 8), 1,
                       buffer.shape, buffer.strides,      0};
  return true;
}

/// Python's own numbers; those of NumPy and ints of more than 64 bits go the slow way.
bool Call::readNumber(int position, void *object, void *type) {
  TilewrightAny &value = args[position];
  value = {};
  int overflow = 0;
  if (type == python.boolType) {
    value.type = TilewrightTypeBool;
    value.integer = object == python.isTrue;
  } else if (type == python.floatType) {
    value.type = TilewrightTypeFloat;
    value.real = python.floatAsDouble(object);
  } else if (type == python.longType) {
    value.type = TilewrightTypeInt;
    value.integer = python.longAsLongLong(object, &overflow);
  } else {
    return false;
  }
  return !overflow;
}

/// Python's own ints; what says its address in another way goes the slow way.
bool Call::readPointer(int position, void *object, void *type) {
  return type == python.longType && readNumber(position, object, type);
}

/// An element of which the caller is given a reference.
bool Call::readElement(const TilewrightCaller &caller, int position, void *element) {
  if (!element) {
    python.clearError();
    return false;
  }
  kept[numKept++] = element;
  return read(caller, position, element);
}

/// A tuple or a list or, where the elements have names, an object that has them as attributes.
__attribute__((noinline)) bool Call::readGroup(const TilewrightCaller &caller, int position, void *object, void *type) {
  const TilewrightCallerItem &group = caller.items[position];
  bool isNamed = caller.items[group.first].name;
  bool isTuple = type == python.tupleType || (!isNamed && python.typeIsSubtype(type, python.tupleType));
  bool isList = type == python.listType;
  if (isTuple || isList) {
    if ((isTuple ? python.tupleSize : python.sequenceSize)(object) != group.count)
      return false;
  } else if (!isNamed) {
    return false;
  }
  for (int32_t i = 0; i < group.count; ++i) {
    int32_t at = group.first + i;
    // Of a list another thread may take an element away.
    if (isTuple ? !read(caller, at, python.tupleGetItem(object, i))
                : !readElement(caller, at,
                               isList ? python.sequenceGetItem(object, i)
                                      : python.getAttribute(object, caller.items[at].name)))
      return false;
  }
  if (!groups)
    groups = new TilewrightArray[caller.items.size()];
  TilewrightArray &array = groups[position];
  array = {1, TilewrightTypeArray, 0, nullptr, &args[group.first], group.count, group.count, nullptr};
  args[position] = {};
  args[position].type = TilewrightTypeArray;
  args[position].pointer = &array;
  return true;
}

bool Call::read(const TilewrightCaller &caller, int position, void *object) {
  void *type = *reinterpret_cast<void **>(static_cast<char *>(object) + caller.typeOffset);
  objects[position] = object;
  int32_t kind = caller.items[position].kind;
  if (kind == TilewrightCallerNumber)
    return readNumber(position, object, type);
  if (kind == TilewrightCallerPointer)
    return readPointer(position, object, type);
  if (kind == TilewrightCallerGroup)
    return readGroup(caller, position, object, type);
  if (object == caller.none && kind == TilewrightCallerOptional) {
    args[position] = {};
    return true;
  }
  args[position].type = TilewrightTypeDLTensor;
  args[position].padding = 0;
  args[position].pointer = &tensors[position];
  if (type == caller.arrayType)
    return readBuffer(caller, position, object);
  const ExchangeType *known = findExchangeType(type);
  if (!known && !(known = learnExchangeType(python, type, object)))
    return python.typeIsSubtype(type, python.arrayType) && readBuffer(caller, position, object);
  if (!readTensor(*known, object, tensors[position]))
    return false;
  if (position == 0)
    firstType = known;
  if (!streamApi && tensors[position].deviceType == TilewrightDeviceCUDA && known->api->currentStream)
    streamApi = known->api;
  return true;
}
