// RUN: tilewright-opt %s --convert-host-to-ffi="target=cpu managed=true" --verify-diagnostics

// expected-error @+1 {{'builtin.module' op expected target=cuda with managed=true: the arrays of other targets are this machine's anyway}}
module {
}
