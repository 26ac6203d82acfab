//===- Failure.h - what went wrong with a driver --------------------------===//
//
// A failure is begun where it is found, with text added to it, and raised where the call of the program ends: until
// then the thread keeps it, so that Python can make its own error of it.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_FAILURE_H
#define TILEWRIGHT_RUNTIME_HOST_FAILURE_H

#include "runtime/host/ABI.h"
#include "runtime/host/Cuda.h"
#include "runtime/host/Text.h"

namespace tilewright::host {

/// What the driver's functions return (CUDA_ERROR_*), as far as there is something to say of it.
enum : int32_t {
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  NoBinaryForGPU = 209,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchFailed = 719,
  CooperativeTooLarge = 720,
  CaptureUnsupported = 900,
  InvalidClusterSize = 912,
};

/// Begins a failure that is not the driver's.
Text beginFailure();

/// Begins that of a call of the driver's.
Text beginFailure(const TilewrightCudaDriver &driver, const char *call, int32_t code);

/// The same where the call says all. Returns -1.
int32_t failDriver(const TilewrightCudaDriver &driver, const char *call, int32_t code);

/// What to do about a code: "; ..." or nothing.
const char *adviceFor(int32_t code);

/// Raises the failure that was begun. Returns -1.
int32_t raiseFailure();

} // namespace tilewright::host

#endif
