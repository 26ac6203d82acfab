//===- Parallel.h - the loops of target cpu on several threads ------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_PARALLEL_H
#define TILEWRIGHT_RUNTIME_HOST_PARALLEL_H

#include <cstdint>

extern "C" {

/// Runs the iterations from 0 to `extent` on the threads of the processor, each a share of iterations that follow one
/// another, and waits for all. The caller's thread also runs those that no other thread has begun when its own is done.
/// Returns 0, or what one of them returned that is not 0. In an iteration of such a loop, and while another caller's
/// loop has the threads, all run on the caller's thread.
int32_t tilewrightHostParallel(int32_t (*task)(void *context, int64_t begin, int64_t end), void *context,
                               int64_t extent);

/// How many threads a loop gets, the caller's among them: what was set, else what TILEWRIGHT_NUM_THREADS,
/// TVM_NUM_THREADS or OMP_NUM_THREADS says, else the processors that this process may use.
int32_t tilewrightHostThreads();

/// Sets that; 0 is for what the environment says.
void tilewrightHostSetThreads(int32_t count);

/// How many shares the last loop of this thread's had.
int32_t tilewrightHostLastThreads();
}

#endif
