//===- Names.h - what types, devices and values are called ----------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_NAMES_H
#define TILEWRIGHT_RUNTIME_HOST_NAMES_H

#include "runtime/host/ABI.h"
#include "runtime/host/Text.h"

namespace tilewright::host {

/// NumPy's name of a type of DLPack's: code, bits << 8, lanes << 16.
void addDType(Text &text, int32_t dtype);

/// The device's kind as the checks see it: pinned memory is the cpu's, managed memory a GPU's.
void addDevice(Text &text, int32_t type);

/// What a value is, in Python's words, where it is not what was `expected`: "tensor", "number", "address", "tuple",
/// "shape".
const char *nameOfType(const TilewrightAny &value, const char *expected);

} // namespace tilewright::host

#endif
