//===- ConvolutionGradients.h - gradients of convolutions by tensor cores -===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_CONVOLUTIONGRADIENTS_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_CONVOLUTIONGRADIENTS_H

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Gradients of filters become matmuls along all pixels, and gradients of images become convolutions. A matmul with few
/// tiles of results is made in parts, with which `processors` have work.
void populateConvolutionGradientPatterns(mlir::RewritePatternSet &patterns, int64_t processors);

} // namespace tilewright

#endif
