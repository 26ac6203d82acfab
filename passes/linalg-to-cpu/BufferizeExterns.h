//===- BufferizeExterns.h - te.extern in one-shot bufferization -----------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOCPU_BUFFERIZEEXTERNS_H
#define TILEWRIGHT_PASSES_LINALGTOCPU_BUFFERIZEEXTERNS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tilewright {
/// Lets one-shot bufferization put the statements of a te.extern in its place.
void registerExternBufferization(mlir::DialectRegistry &registry);
} // namespace tilewright

#endif
