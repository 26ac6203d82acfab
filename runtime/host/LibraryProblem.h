//===- LibraryProblem.h - a matmul of tensors as one of a library ---------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_LIBRARYPROBLEM_H
#define TILEWRIGHT_RUNTIME_HOST_LIBRARYPROBLEM_H

#include "runtime/host/LibraryCall.h"

namespace tilewright::host {

/// The matmul of a call with these arguments. Returns why the library has none such, or null.
const char *findProblem(const TilewrightLibraryCall &call, const TilewrightAny *args, MatmulProblem &problem);

} // namespace tilewright::host

#endif
