//===- LaunchTileKernels.cpp - kernels of tiles as launches ---------------===//
#include "dialects/Program/Program.h"
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileGrid.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LAUNCHTILEKERNELS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
struct LaunchTileKernels : impl::LaunchTileKernelsBase<LaunchTileKernels> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      // What is left of before barriers were placed has no meaning for threads.
      WalkResult walked = kernel.walk([&](Operation *op) -> WalkResult {
        if (!op->hasTrait<tile::BeforeBarriers>())
          return WalkResult::advance();
        return op->emitOpError(
            "expected a kernel with roles and barriers, which assign-tile-roles and place-tile-barriers make");
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
      launch(kernel);
    }
  }

  static void launch(tile::KernelOp kernel) {
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    Numbers numbers{builder, loc};
    ArrayRef<int64_t> cluster = kernel.getCluster();
    Value sizes[] = {kernel.getX(), kernel.getY(), kernel.getZ()}, grid[3], ofCluster[3];
    for (unsigned dimension = 0; dimension < 3; ++dimension) {
      ofCluster[dimension] = numbers.constant(cluster[dimension]);
      grid[dimension] = numbers.multiply(numbers.divideUp(sizes[dimension], cluster[dimension]), cluster[dimension]);
    }
    bool hasProducer = kernel.getRegisters().has_value();
    int64_t multiplying = kernel.getWarpgroups() * kernel.getPingpong();
    Value one = numbers.constant(1), threads = numbers.constant(tile::kWarpgroupSize * (hasProducer + multiplying));
    bool isCluster = getClusterBlocks(kernel) > 1;
    auto launch = gpu::LaunchOp::create(builder, loc, grid[0], grid[1], grid[2], threads, one, one, Value(), Type(),
                                        ValueRange(), TypeRange(), TypeRange(), isCluster ? ofCluster[0] : Value(),
                                        isCluster ? ofCluster[1] : Value(), isCluster ? ofCluster[2] : Value());
    // The builder leaves out the arguments for the cluster's ids and sizes.
    Block &body = launch.getBody().front();
    if (isCluster)
      body.addArguments(SmallVector<Type>(6, builder.getIndexType()), SmallVector<Location>(6, loc));

    Location at = kernel.getWarpgroup().getLoc();
    for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
      at = ring.getLoc();
      break;
    }
    SmallVector<NamedAttribute> origin;
    if (auto known = kernel->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr))
      for (NamedAttribute one : known)
        if (one.getName() != kPersistentOrigin)
          origin.push_back(one);
    std::string line = getFileAndLine(at);
    origin.push_back(builder.getNamedAttr(
        "block.x",
        builder.getStringAttr(Twine(hasProducer ? "a warpgroup that copies and " : "warpgroups that multiply: ") +
                              Twine(multiplying) + (hasProducer ? " that multiply, " : ", ") + line)));
    launch->setAttr(kLaunchOriginAttr, builder.getDictionaryAttr(origin));
    if (kernel->hasAttr(kNonEmptyAttr))
      launch->setAttr(kNonEmptyAttr, builder.getUnitAttr());

    builder.setInsertionPointToStart(&body);
    gpu::KernelDim3 ids = launch.getBlockIds();
    Value places[] = {ids.x, ids.y, ids.z};
    for (unsigned dimension = 0; dimension < 3; ++dimension)
      kernel.getPlace(dimension).replaceAllUsesWith(places[dimension]);
    if (!kernel.getWarpgroup().use_empty()) {
      Value size = arith::ConstantIndexOp::create(builder, at, tile::kWarpgroupSize);
      kernel.getWarpgroup().replaceAllUsesWith(arith::DivUIOp::create(builder, at, launch.getThreadIds().x, size));
    }
    body.getOperations().splice(body.end(), kernel.getBody().front().getOperations());
    builder.setInsertionPointToEnd(&body);
    gpu::TerminatorOp::create(builder, loc);
    kernel.erase();
  }
};
} // namespace
} // namespace tilewright
