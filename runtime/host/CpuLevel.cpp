//===- CpuLevel.cpp - which level of x86-64 this processor has ------------===//
#include "runtime/host/CpuLevel.h"

/// By the features that the levels of the x86-64 psABI add and that compilers have names for. A processor with AVX2,
/// BMI2 and FMA has the rest of level 3 too.
static int32_t findLevel() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3") || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
    return 1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("fma"))
    return 2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return 3;
  return 4;
}

extern "C" int32_t tilewrightHostCpuLevel() {
  // Threads that come here at once all write the same.
  static int32_t level = 0;
  int32_t known = __atomic_load_n(&level, __ATOMIC_RELAXED);
  if (known == 0)
    __atomic_store_n(&level, known = findLevel(), __ATOMIC_RELAXED);
  return known;
}
