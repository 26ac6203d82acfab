//===- Parallel.cpp - the loops of target cpu on several threads ----------===//
//
// One pool of threads, which wait for work. Whoever runs a loop is one of its threads, and there is one loop at a time:
// a loop inside of another's iteration, and one of another caller meanwhile, run on the caller's thread alone.
//
// To be woken takes a thread as long as a short loop, and other programs have the processors, too. So who waits looks
// for a while before it sleeps: another loop often follows, and shares of one loop end at about the same time. And who
// runs a loop does the shares that no other thread has begun when its own is done.
//
//===----------------------------------------------------------------------===//
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/host/Parallel.h"

#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <pthread.h>
#include <sched.h>

namespace {

enum : int32_t {
  MaxThreads = 256,
  Looks = 2048 // before a thread sleeps: 30 to 100 microseconds
};

pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;     // whoever runs a loop on the pool
pthread_mutex_t poolLock = PTHREAD_MUTEX_INITIALIZER; // of all that follows
pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
pthread_t threads[MaxThreads];
int32_t threadCount = 0; // of the pool, without the caller
int32_t wanted = 0;      // 0: what the environment says
bool isStopping = false, isPrepared = false;

/// The loop that runs: a thread has `iterations` from its share on.
struct {
  int32_t (*task)(void *, int64_t, int64_t);
  void *context;
  int64_t extent;
  int32_t shares;      // the caller's is the first
  uint64_t generation; // counts loops
  int32_t running;     // shares that are not done, without the caller's
  int32_t code;        // the first that is not 0
} work;
bool isTaken[MaxThreads]; // the shares that a thread has begun

// Of `work`, for those who look without the lock: the lock decides.
uint64_t seenGeneration = 0;
int32_t seenRunning = 0;

/// Looks for a while whether `isReached`.
template <typename Condition> void look(Condition isReached) {
  for (int32_t turn = 0; turn < Looks && !isReached(); ++turn) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

thread_local bool isInLoop = false;
thread_local int32_t lastShares = 1;

/// The share of one of the threads, as even as may be: those of the first ones are longer.
void getShare(int64_t extent, int32_t shares, int32_t share, int64_t &begin, int64_t &end) {
  int64_t each = extent / shares, longer = extent % shares;
  begin = each * share + (share < longer ? share : longer);
  end = begin + each + (share < longer);
}

/// Runs a share of the loop; under `poolLock`, but for the iterations.
void runShare(int32_t share) {
  isTaken[share] = true;
  auto current = work;
  pthread_mutex_unlock(&poolLock);
  int64_t begin, end;
  getShare(current.extent, current.shares, share, begin, end);
  int32_t code = current.task(current.context, begin, end);
  pthread_mutex_lock(&poolLock);
  if (code && !work.code)
    work.code = code;
  __atomic_store_n(&seenRunning, --work.running, __ATOMIC_RELAXED);
  if (work.running == 0)
    pthread_cond_signal(&ended);
}

void *serve(void *argument) {
  int32_t index = static_cast<int32_t>(reinterpret_cast<intptr_t>(argument));
  isInLoop = true; // what it runs is always an iteration
  pthread_mutex_lock(&poolLock);
  uint64_t seen = 0;
  for (;;) {
    if (seen && work.generation == seen && !isStopping) {
      pthread_mutex_unlock(&poolLock);
      look([&] { return __atomic_load_n(&seenGeneration, __ATOMIC_RELAXED) != seen; });
      pthread_mutex_lock(&poolLock);
    }
    while (work.generation == seen && !isStopping)
      pthread_cond_wait(&begun, &poolLock);
    if (isStopping)
      break;
    seen = work.generation;
    if (index + 1 < work.shares && !isTaken[index + 1])
      runShare(index + 1);
  }
  pthread_mutex_unlock(&poolLock);
  return nullptr;
}

/// In a process that was forked off there are no threads but the one that did it.
void forget() {
  pthread_mutex_t freshMutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t freshCondition = PTHREAD_COND_INITIALIZER;
  busy = poolLock = freshMutex;
  begun = ended = freshCondition;
  threadCount = 0;
  work.generation = seenGeneration = 0;
}

int32_t readNumber(const char *name) {
  const char *text = getenv(name);
  int32_t number = 0;
  for (; text && *text >= '0' && *text <= '9' && number <= MaxThreads; ++text)
    number = number * 10 + (*text - '0');
  return text && *text ? 0 : number;
}

int32_t clampCount(int32_t count) { return count < 1 ? 1 : count > MaxThreads ? MaxThreads : count; }

/// The threads of the environment: as many as it says, or as there are processors for this process.
int32_t countByEnvironment() {
  for (const char *name : {"TILEWRIGHT_NUM_THREADS", "TVM_NUM_THREADS", "OMP_NUM_THREADS"})
    if (int32_t number = readNumber(name))
      return clampCount(number);
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
    return clampCount(CPU_COUNT(&processors));
  return 1;
}

/// Makes the pool's threads up to `count`; under `poolLock`. Where there can be no more, those that there are will do.
void makeThreads(int32_t count) {
  if (!isPrepared) {
    isPrepared = true;
    pthread_atfork(nullptr, nullptr, forget);
  }
  // Signals are for the threads of the program: Ctrl-C for Python's.
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (threadCount < count && pthread_create(&threads[threadCount], nullptr, serve,
                                               reinterpret_cast<void *>(static_cast<intptr_t>(threadCount))) == 0)
    ++threadCount;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The library may be unloaded: its threads must not wait in code that is gone.
__attribute__((destructor)) void stop() {
  if (pthread_mutex_trylock(&busy) != 0)
    return;
  pthread_mutex_lock(&poolLock);
  isStopping = true;
  pthread_cond_broadcast(&begun);
  int32_t count = threadCount;
  threadCount = 0;
  pthread_mutex_unlock(&poolLock);
  for (int32_t i = 0; i < count; ++i)
    pthread_join(threads[i], nullptr);
  isStopping = false;
  pthread_mutex_unlock(&busy);
}

} // namespace

extern "C" {

int32_t tilewrightHostThreads() {
  pthread_mutex_lock(&poolLock);
  int32_t count = wanted;
  pthread_mutex_unlock(&poolLock);
  return count ? count : countByEnvironment();
}

void tilewrightHostSetThreads(int32_t count) {
  pthread_mutex_lock(&poolLock);
  wanted = count < 1 ? 0 : clampCount(count);
  pthread_mutex_unlock(&poolLock);
}

int32_t tilewrightHostLastThreads() { return lastShares; }

int32_t tilewrightHostParallel(int32_t (*task)(void *context, int64_t begin, int64_t end), void *context,
                               int64_t extent) {
  if (extent <= 0)
    return 0;
  if (isInLoop)
    return task(context, 0, extent);
  int32_t count = tilewrightHostThreads();
  if (count > extent)
    count = static_cast<int32_t>(extent);
  lastShares = 1;
  if (count == 1 || pthread_mutex_trylock(&busy) != 0) {
    isInLoop = true;
    int32_t code = task(context, 0, extent);
    isInLoop = false;
    return code;
  }
  pthread_mutex_lock(&poolLock);
  makeThreads(count - 1);
  int32_t shares = count - 1 < threadCount ? count : threadCount + 1;
  work = {task, context, extent, shares, work.generation + 1, shares - 1, 0};
  for (int32_t share = 1; share < shares; ++share)
    isTaken[share] = false;
  __atomic_store_n(&seenRunning, work.running, __ATOMIC_RELAXED);
  __atomic_store_n(&seenGeneration, work.generation, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&begun);
  pthread_mutex_unlock(&poolLock);

  int64_t begin, end;
  getShare(extent, shares, 0, begin, end);
  isInLoop = true;
  int32_t code = task(context, begin, end);
  pthread_mutex_lock(&poolLock);
  for (int32_t share = shares; share-- > 1;)
    if (!isTaken[share])
      runShare(share);
  pthread_mutex_unlock(&poolLock);
  isInLoop = false;

  look([] { return __atomic_load_n(&seenRunning, __ATOMIC_RELAXED) == 0; });
  pthread_mutex_lock(&poolLock);
  while (work.running)
    pthread_cond_wait(&ended, &poolLock);
  if (!code)
    code = work.code;
  pthread_mutex_unlock(&poolLock);
  pthread_mutex_unlock(&busy);
  lastShares = shares;
  return code;
}
}
