//===- CpuLevel.h - which level of x86-64 this processor has --------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_CPULEVEL_H
#define TILEWRIGHT_RUNTIME_HOST_CPULEVEL_H

#include <cstdint>

/// 1 to 4: the highest level of the x86-64 psABI (x86-64-v2 is 2) whose code this processor runs.
extern "C" int32_t tilewrightHostCpuLevel();

#endif
