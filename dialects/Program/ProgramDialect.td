//===- ProgramDialect.td - what is said of a program as a whole -----------===//
#ifndef TILEWRIGHT_PROGRAM_DIALECT
#define TILEWRIGHT_PROGRAM_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"

def Program_Dialect : Dialect {
  let name = "tilewright";
  let cppNamespace = "::tilewright";
  let summary = "What passes say of a program, its kernels and its launches";
  let description = [{
    The dialect has no ops. Its attributes stand on functions, kernels, launches and calls of other dialects; the verifier says on
    which, and of what type each is.
  }];
  let hasOperationAttrVerify = 1;
}

#endif
