//===- Names.cpp - what types, devices and values are called --------------===//
#include "runtime/host/Names.h"

using namespace tilewright::host;

namespace {

struct DTypeName {
  int32_t code, bits;
  const char *name;
};

constexpr DTypeName dtypeNames[] = {
    {0, 8, "int8"},
    {0, 16, "int16"},
    {0, 32, "int32"},
    {0, 64, "int64"},
    {1, 8, "uint8"},
    {1, 16, "uint16"},
    {1, 32, "uint32"},
    {1, 64, "uint64"},
    {2, 16, "float16"},
    {2, 32, "float32"},
    {2, 64, "float64"},
    {4, 16, "bfloat16"},
    {5, 64, "complex64"},
    {5, 128, "complex128"},
    {6, 8, "bool"},
    {7, 8, "float8_e3m4"},
    {8, 8, "float8_e4m3"},
    {9, 8, "float8_e4m3b11fnuz"},
    {10, 8, "float8_e4m3fn"},
    {11, 8, "float8_e4m3fnuz"},
    {12, 8, "float8_e5m2"},
    {13, 8, "float8_e5m2fnuz"},
    {14, 8, "float8_e8m0fnu"},
};

} // namespace

void tilewright::host::addDType(Text &text, int32_t dtype) {
  int32_t code = dtype & 0xff, bits = dtype >> 8 & 0xff, lanes = dtype >> 16 & 0xffff;
  for (const DTypeName &known : dtypeNames)
    if (lanes == 1 && known.code == code && known.bits == bits) {
      text << known.name;
      return;
    }
  text << "DLPack type " << code << " with " << bits << " bits and " << lanes << " lanes";
}

void tilewright::host::addDevice(Text &text, int32_t type) {
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
  } constexpr known[] = {{4, "opencl"},       {7, "vulkan"},  {8, "metal"},   {10, "rocm"},
                         {11, "pinned rocm"}, {14, "oneapi"}, {15, "webgpu"}, {16, "hexagon"}};
  for (const auto &device : known)
    if (device.type == type) {
      text << device.name;
      return;
    }
  text << "device " << type;
}

const char *tilewright::host::nameOfType(const TilewrightAny &value, const char *expected) {
  struct {
    const char *expected, *object, *other;
  } constexpr unknown[] = {
      {"number", "a Python object that is no number", "an object that is no number"},
      {"address", "a Python object that is no address", "an object that is no address"},
      {"tuple", "a Python object that is no tuple", "an object that is no tuple"},
      {"shape", "a Python object that is no shape", "an object that is no shape"},
      {"tensor", "a Python object that is no tensor", "an object that is no tensor"},
  };
  auto *names = unknown;
  while (std::strcmp(names->expected, expected) && std::strcmp(names->expected, "tensor"))
    ++names;
  switch (value.type) {
  case TilewrightTypeNone:
    return "None";
  case TilewrightTypeInt:
  case TilewrightTypeBigInt:
    return "int";
  case TilewrightTypeBool:
    return "bool";
  case TilewrightTypeFloat:
    return "float";
  case TilewrightTypePointer:
    return "a pointer";
  case TilewrightTypeDLTensor:
  case TilewrightTypeTensor:
    return value.pointer ? "a tensor" : "a null pointer";
  case 5:
    return "a dtype";
  case 6:
    return "a device";
  case 8:
  case 11:
  case 65:
    return "str";
  case 9:
  case 12:
  case 66:
    return "bytes";
  case 67:
    return "an error";
  case 68:
    return "a function";
  case TilewrightTypeShape:
    return "a shape";
  case TilewrightTypeArray:
    return "a tuple or list";
  case 72:
  case 76:
    return "dict";
  case 73:
    return "a module";
  case 74:
    return names->object;
  case TilewrightTypeList:
    return "list";
  }
  return names->other;
}
