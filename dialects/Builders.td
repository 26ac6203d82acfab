#ifndef TILEWRIGHT_DIALECTS_BUILDERS
#define TILEWRIGHT_DIALECTS_BUILDERS

include "mlir/IR/OpBase.td"

/// An op that only Python builds, of its parts. The default builders, six an op, take a third of a dialect's compile time.
class OneBuilder {
  bit skipDefaultBuilders = 1;
  list<OpBuilder> builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands,
                   "::llvm::ArrayRef<::mlir::NamedAttribute>":$attributes), [{
      $_state.addTypes(results);
      $_state.addOperands(operands);
      $_state.addAttributes(attributes);
    }]>];
}

/// An op that passes build.
class DefaultBuilders {
  bit skipDefaultBuilders = 0;
  list<OpBuilder> builders = [];
}

#endif
