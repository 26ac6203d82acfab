//===- EmitExterns.cpp - stages whose statements the user wrote -----------===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

/// The thread axis right inside `block` that has all uses of `buffer`, or null.
static scf::ForOp findThreadAxisAround(Operation *buffer, Block *block) {
  Operation *around = nullptr;
  for (Operation *user : buffer->getUsers()) {
    Operation *at = block->findAncestorOpInBlock(*user);
    if (!at || (around && at != around))
      return nullptr;
    around = at;
  }
  return around && around->hasAttr(schedule::kBindAttr) ? dyn_cast<scf::ForOp>(around) : scf::ForOp();
}

/// The innermost thread axis around `op`, or null.
static scf::ForOp getThreadAxis(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  while (loop && !loop->hasAttr(schedule::kBindAttr))
    loop = loop->getParentOfType<scf::ForOp>();
  return loop;
}

LogicalResult LoopEmitter::emitExtern(const ScheduledStage &stage) {
  te::ExternOp op = stage.externOp;
  SmallVector<TileArgument> arguments;
  auto addWhole = [&](Value tensor) {
    TileArgument &argument = arguments.emplace_back();
    argument.tensor = tensor;
    for (int64_t d = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d) {
      argument.base.push_back(builder.getAffineConstantExpr(0));
      argument.moves.push_back(d);
    }
  };
  llvm::for_each(op.getInputs(), addWhole);
  llvm::for_each(op.getResults(), addWhole);
  Block &body = op.getBody().front();
  for (Operation *made : emitStatements(stage, llvm::make_range(body.begin(), body.end()), arguments)) {
    if (!isMemoryEffectFree(made) && !allocatesBuffer(made))
      made->setAttr(te::kExternAttr, builder.getStringAttr(stage.name));
    SmallVector<Operation *> buffers;
    made->walk([&](Operation *buffer) {
      if (allocatesBuffer(buffer) && cast<MemRefType>(buffer->getResult(0).getType()).getMemorySpace())
        buffers.push_back(buffer);
    });
    // What a thread or block has of its own is allocated by it, wherever between the axes that was said.
    for (Operation *buffer : buffers) {
      while (scf::ForOp axis = findThreadAxisAround(buffer, buffer->getBlock()))
        buffer->moveBefore(axis.getBody(), axis.getBody()->begin());
      for (Operation *user : buffer->getUsers())
        if (auto axis = getThreadAxis(user); axis && !getThreadAxis(buffer))
          return buffer->emitError() << "te.extern '" << stage.name
                                     << "': expected a buffer in shared or local memory to be "
                                     << "used within one nest of thread axes, got '"
                                     << buffer->getAttrOfType<StringAttr>(te::kStageAttr).getValue()
                                     << "' around several";
    }
  }
  return success();
}
} // namespace tilewright
