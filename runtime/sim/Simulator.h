//===- Simulator.h - the simulator's C interface --------------------------===//
//
// A simulator holds the compiled kernels of one program. Its launch function is a launcher's (runtime/Launcher.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_SIMULATOR_H
#define TILEWRIGHT_RUNTIME_SIM_SIMULATOR_H

#include <cstdint>

extern "C" {

struct TilewrightSimulator;

/// Something that a warp did, or waited for: from step `begin` to step `end`. Of a barrier in shared memory `offset` is
/// its place there and `phase` the one that is meant.
struct TilewrightSimEvent {
  int32_t launch, cluster, block, warp, kind, reserved;
  int64_t begin, end, offset, phase;
  const char *name, *line, *what;
};

/// Kinds of events.
enum {
  TilewrightSimWaits,
  TilewrightSimArrives,
  TilewrightSimLoads,
  TilewrightSimStores,
  TilewrightSimMultiplies,
  TilewrightSimRuns
};

/// Keeps up to so many events of the calls from here on, each call's own; 0 turns that off.
void tilewrightSimRecord(TilewrightSimulator *simulator, uint64_t most);

/// The events of the last call, as many as `count` says, and how many there was no room for.
const TilewrightSimEvent *tilewrightSimEvents(TilewrightSimulator *simulator, uint64_t *count, uint64_t *dropped);

/// How many blocks of the launch at hand are done, and how many there are, for whoever checks for interrupts.
void tilewrightSimProgress(uint64_t *done, uint64_t *count);

/// Makes a simulator without kernels. With `checked` its kernels are those that the pass insert-sim-checks went over.
TilewrightSimulator *tilewrightSimCreate(int32_t checked);
void tilewrightSimDestroy(TilewrightSimulator *simulator);

/// Adds the next kernel: its function, its info (runtime/sim/ABI.h), and the names of its arguments, each
/// ended by a zero.
void tilewrightSimAddKernel(TilewrightSimulator *simulator, const char *name, void *function, const int64_t *info,
                            const char *argumentNames);

/// Forgets the buffers and reports of the last call of the program.
void tilewrightSimReset(TilewrightSimulator *simulator);

/// Tells of a buffer that the next launches may use. Unless it is `written`, reading it before writing it is a defect.
void tilewrightSimAddBuffer(TilewrightSimulator *simulator, const char *name, const void *data, uint64_t bytes,
                            int32_t written);

/// Runs a kernel; `simulator` is a TilewrightSimulator. Returns 0, or 1 if something was found.
int32_t tilewrightSimLaunch(void *simulator, int32_t kernel, const uint64_t *config, void **params, int32_t paramCount);

/// Makes the simulator's tensor map of what a host program says of a tensor (runtime/Launcher.h). Returns 0, or 1 if
/// something was found.
int32_t tilewrightSimEncode(void *simulator, void *map, const uint64_t *tensor);

/// What says whether a launch is to end before it is done, as after Ctrl-C, or null. It is called now and then, on the
/// process's first thread alone.
void tilewrightSimSetInterruptCheck(int32_t (*check)());

/// Whether that ended a launch since the last reset.
int32_t tilewrightSimIsInterrupted(TilewrightSimulator *simulator);

/// All that was found since the last reset, one a line; "" if nothing was. Valid until the next call.
const char *tilewrightSimReports(TilewrightSimulator *simulator);
}

#endif
