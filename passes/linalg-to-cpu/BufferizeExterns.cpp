//===- BufferizeExterns.cpp - the statements of te.extern on buffers ------===//
#include "passes/linalg-to-cpu/BufferizeExterns.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;

namespace tilewright {
namespace {
/// The statements stand on buffers from the start: bufferized, they are where their op was.
struct ExternBufferization : bufferization::DstBufferizableOpInterfaceExternalModel<ExternBufferization, te::ExternOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    // No element of a result is read before it is stored.
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto externOp = cast<te::ExternOp>(op);
    SmallVector<Value> buffers, results;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      if (externOp.isDpsInit(&operand))
        results.push_back(*buffer);
      Type type = externOp.getBuffer(operand.getOperandNumber()).getType();
      buffers.push_back((*buffer).getType() == type
                            ? *buffer
                            : memref::CastOp::create(rewriter, op->getLoc(), type, *buffer).getResult());
    }
    rewriter.inlineBlockBefore(&externOp.getBody().front(), op, buffers);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void registerExternBufferization(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, te::TEDialect *) { te::ExternOp::attachInterface<ExternBufferization>(*context); });
}
} // namespace tilewright
