//===- BigInt.h - ints that no 64 bits with a sign have -------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_BIGINT_H
#define TILEWRIGHT_RUNTIME_HOST_BIGINT_H

#include "runtime/host/ABI.h"

#include <cstring>

namespace tilewright::host {

/// TVMFFIByteArray, here of 64-bit words, the least significant first, the last with the sign.
struct WordBytes {
  const char *data;
  size_t size;
};

inline WordBytes (*bigIntContent)(const TilewrightAny *value) = nullptr;

/// What TilewrightFFI has of this name.
inline int32_t readBigInt(const TilewrightAny *value, uint64_t *bits) {
  WordBytes content = bigIntContent(value);
  uint64_t words[2];
  if (content.size != sizeof(words))
    return 0;
  std::memcpy(words, content.data, sizeof(words));
  *bits = words[0];
  return words[1] == 0;
}

} // namespace tilewright::host

#endif
