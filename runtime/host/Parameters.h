//===- Parameters.h - what a call gives, as a value for each argument -----===//
#ifndef TILEWRIGHT_RUNTIME_HOST_PARAMETERS_H
#define TILEWRIGHT_RUNTIME_HOST_PARAMETERS_H

#include "runtime/host/ABI.h"
#include "runtime/host/Text.h"

namespace tilewright::host {

/// How many parameters a call gives at the least: those that follow may be left out.
int32_t countRequired(const TilewrightSignature &signature);

/// Whether a call may leave the argument out to have it allocated. One in a group, or given by its address, is given.
inline bool isAllocated(const TilewrightArgument &argument) {
  return argument.output && argument.kind == TilewrightIsTensor;
}

/// The number of the argument that a parameter is, or -1 of a group.
inline int32_t argumentOf(const TilewrightSignature &signature, int32_t parameter) {
  if (!signature.parameters)
    return parameter;
  const TilewrightParameter &found = signature.parameters[parameter];
  return found.kind == TilewrightIsArgument ? found.first : -1;
}

/// Puts what a call gives where its parameters are: for what it leaves out stands what that is then.
void place(const TilewrightSignature &signature, const TilewrightAny *given, int32_t count, bool inputsAlone,
           TilewrightAny *values);

/// Makes a value for each argument of one for each parameter. Says what is wrong with groups.
int32_t expand(const TilewrightSignature &signature, const TilewrightAny *values, TilewrightAny *args, Text &text);

/// Whether a value is a tuple of tvm-ffi's.
inline const TilewrightArray *arrayOf(const TilewrightAny &value) {
  bool is = value.pointer && (value.type == TilewrightTypeArray || value.type == TilewrightTypeList);
  return is ? static_cast<const TilewrightArray *>(value.pointer) : nullptr;
}

} // namespace tilewright::host

#endif
