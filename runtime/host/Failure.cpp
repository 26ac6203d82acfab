//===- Failure.cpp - what went wrong with a driver ------------------------===//
#include "runtime/host/Failure.h"

namespace tilewright::host {
namespace {

__thread TilewrightFailure lastFailure;
__thread bool hasFailure;

} // namespace

Text beginFailure() {
  hasFailure = true;
  lastFailure.call = nullptr;
  lastFailure.code = 0;
  lastFailure.name = "";
  return Text(lastFailure.detail, sizeof(lastFailure.detail));
}

Text beginFailure(const TilewrightCudaDriver &driver, const char *call, int32_t code) {
  Text text = beginFailure();
  lastFailure.call = call;
  lastFailure.code = code;
  if (driver.getErrorName(code, &lastFailure.name) || !lastFailure.name)
    lastFailure.name = "an unknown code";
  return text;
}

int32_t failDriver(const TilewrightCudaDriver &driver, const char *call, int32_t code) {
  beginFailure(driver, call, code);
  return -1;
}

const char *adviceFor(int32_t code) {
  switch (code) {
  case OutOfMemory:
    return "; free memory on the GPU, or let fewer programs share it";
  case IllegalAddress:
  case LaunchFailed:
    return "; an earlier kernel of this process did that, and the GPU's context is lost with it: target \"sim\" names "
           "such an access of a kernel of Tilewright's, compute-sanitizer of any";
  case CaptureUnsupported:
    return "; a stream is being captured, and this call is on another one: capture on a stream of the GPU that the "
           "arrays "
           "are on";
  case CooperativeTooLarge:
    return "; the schedule asks for all blocks at once: launch fewer, or smaller ones";
  case LaunchOutOfResources:
    return "; the block's threads need more registers than an SM has: make the block smaller";
  }
  return "";
}

int32_t raiseFailure() {
  const TilewrightFailure &failure = lastFailure;
  char head[256];
  Text text(head, sizeof(head));
  if (failure.call)
    text << failure.call << " failed with " << failure.name << " (" << failure.code << ")"
         << (*failure.detail ? ": " : "");
  const char *parts[] = {head, failure.detail};
  tilewrightFFI.raise("RuntimeError", parts, 2);
  return -1;
}

} // namespace tilewright::host

const TilewrightFailure *tilewrightHostTakeFailure() {
  using namespace tilewright::host;
  if (!hasFailure)
    return nullptr;
  hasFailure = false;
  return &lastFailure;
}
