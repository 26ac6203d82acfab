//===- HostPrelude.h - what printed host programs need --------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_HOSTPRELUDE_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_HOSTPRELUDE_H

namespace tilewright::source {

/// Checks, loading, launching; with @COUNT@ kernels, their @NAMES@ and the @CUBIN@ to be filled in.
extern const char *const hostPrelude;
/// What programs with tensor maps need besides.
extern const char *const tensorMapPrelude;

} // namespace tilewright::source

#endif
