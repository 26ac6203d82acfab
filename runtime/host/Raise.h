//===- Raise.h - errors of tvm-ffi, without a backtrace -------------------===//
//
// TVMFFIErrorSetRaisedFromCStrParts adds the stack of C functions. For the first error of a process that reads the
// debug information of every library, which takes a second. The message names what a user can change, so no stack is
// made.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_RAISE_H
#define TILEWRIGHT_RUNTIME_HOST_RAISE_H

#include "runtime/host/ABI.h"

#include <cstdlib>
#include <cstring>

namespace tilewright::host {

/// TVMFFIByteArray.
struct TextBytes {
  const char *data;
  size_t size;
};

inline int (*createError)(const TextBytes *kind, const TextBytes *message, const TextBytes *backtrace,
                          void **error) = nullptr;
inline void (*setRaised)(void *error) = nullptr;

/// What TilewrightFFI has as `raise`. Parts may be null.
inline void raiseError(const char *kind, const char **parts, int32_t count) {
  size_t size = 0;
  for (int32_t i = 0; i < count; ++i)
    size += parts[i] ? std::strlen(parts[i]) : 0;
  char *text = static_cast<char *>(std::malloc(size + 1));
  if (!text)
    size = 0; // an error without a message is better than none
  size_t end = 0;
  for (int32_t i = 0; text && i < count; ++i) {
    size_t length = parts[i] ? std::strlen(parts[i]) : 0;
    std::memcpy(text + end, length ? parts[i] : "", length);
    end += length;
  }
  TextBytes kindBytes{kind, std::strlen(kind)}, message{text ? text : "", size}, backtrace{"", 0};
  void *error = nullptr;
  if (!createError(&kindBytes, &message, &backtrace, &error)) {
    setRaised(error);
    tilewrightFFI.decRef(error);
  }
  std::free(text);
}

} // namespace tilewright::host

#endif
