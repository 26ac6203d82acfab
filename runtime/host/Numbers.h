//===- Numbers.h - numbers as arguments of tvm-ffi's ABI ------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_NUMBERS_H
#define TILEWRIGHT_RUNTIME_HOST_NUMBERS_H

#include "runtime/host/ABI.h"
#include "runtime/host/Text.h"

namespace tilewright::host {

/// What came of an argument that is to be a number.
enum class Reading { Number, OtherType, OutOfRange };

/// The number of that DLPack type that a value is; `bits` are those that it has in memory, as the low bytes of 64 and
/// above them zeros, of a signed integer its sign.
Reading readNumber(const TilewrightAny &value, int32_t dtype, int64_t &bits);

/// "-128 to 127", the integers that a type has; "at most 65504.0 in magnitude" of floats.
void addRange(Text &text, int32_t dtype);

/// The number that was given.
void addNumber(Text &text, const TilewrightAny &value);

/// Whether a value is a number of any kind.
inline bool isNumber(const TilewrightAny &value) {
  return (value.type >= TilewrightTypeInt && value.type <= TilewrightTypeFloat) || value.type == TilewrightTypeBigInt;
}

} // namespace tilewright::host

#endif
