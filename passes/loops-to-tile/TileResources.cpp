//===- TileResources.cpp - whether a block can hold its tiles -------------===//
#include "dialects/Target/Architectures.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileProgram.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

std::string TileCopy::describeRows() const {
  std::string text;
  for (const TileDimension &dimension : ArrayRef(dimensions).drop_back())
    if (dimension.box != 1)
      text += (text.empty() ? "" : " x ") + std::to_string(dimension.box);
  return text;
}

LogicalResult TileProgram::checkResources() {
  for (const TileCopy &copy : loads)
    for (unsigned tag = 0; tag < 2; ++tag)
      if (isMulticast(copy, tag) && !isMulticastByColumns(copy, tag) &&
          (copy.rows % (8 * cluster[tag]) || !copy.getPartBox(copy.rows / cluster[tag])))
        return error("cluster", blocks[tag].getLoc())
               << "expected tiles of stage '" << getBufferName(copy.buffer) << "' of which each of " << cluster[tag]
               << " blocks copies a multiple of 8 rows, got " << copy.describeRows() << " rows";
  auto getBytes = [](const TileCopy &copy, int64_t columns) {
    return copy.rows * columns * tile::getElementBytes(cast<MemRefType>(copy.buffer.getType()).getElementType());
  };
  int64_t slot = 0, stored = result ? numConsumers * getBytes(*result, result->columns) / (getResultColumns() / result->atOnce) : 0;
  for (const TileCopy &copy : loads)
    slot += llvm::alignTo(getBytes(copy, copy.columns), 8 * copy.swizzle);
  // Each slot has two barriers.
  int64_t shared = depth * (slot + 16) + llvm::alignTo(stored, 1024);
  if (int64_t limit = findArchitecture(kWgmmaArchitecture)->sharedLimit; shared > limit) {
    InFlightDiagnostic diag = error("software_pipeline", steps.getLoc())
                              << "expected at most " << limit << " bytes of shared memory a block, got " << shared << ": "
                              << depth << " times " << slot << " for the tiles of a step";
    if (result)
      diag << ", and " << stored << " for those of stage '" << getBufferName(result->buffer) << "'";
    return diag;
  }
  int64_t multiplying = numWarpgroups * numConsumers;
  int64_t threads = tile::kWarpgroupSize * (isSpecialized + multiplying);
  if (threads > kMaxBlockThreads)
    return error(isSpecialized ? "specialize" : "software_pipeline", steps.getLoc())
           << "expected at most " << kMaxBlockThreads << " threads a block, got " << threads << ": those of " << multiplying
           << " warpgroups that multiply" << (isSpecialized ? " and of one that copies" : "");
  int64_t registers = tile::kWarpgroupSize * (producerRegisters + multiplying * consumerRegisters);
  int64_t most = threads * tile::getRegistersAtLaunch(threads);
  if (registers > most)
    return error("specialize", steps.getLoc())
           << "expected at most " << most << " registers a block of " << threads << " threads, got " << registers << ": "
           << producerRegisters
           << " for each of " << tile::kWarpgroupSize << " threads that copy, and " << consumerRegisters << " for each of "
           << tile::kWarpgroupSize * multiplying << " that multiply";
  // All threads have the same number where none is handed out.
  if (!isSpecialized)
    consumerRegisters = std::min<int64_t>(255, tile::getRegistersAtLaunch(threads));
  int64_t held = cast<MemRefType>(sum.getType()).getNumElements() / tile::kWarpgroupSize *
                 tile::getElementBytes(cast<MemRefType>(sum.getType()).getElementType()) / 4 * (promotedSteps ? 2 : 1);
  // Addresses, the ring's state and what the epilogue computes.
  constexpr int64_t kOthers = 24;
  int64_t deferred = result && result->isDeferred ? getBytes(*result, result->columns) / (4 * numWarpgroups * tile::kWarpgroupSize) : 0;
  if (int64_t least = held + deferred + kOthers; least > consumerRegisters) {
    InFlightDiagnostic diag = error(deferred ? "copy_by" : isSpecialized ? "specialize" : "software_pipeline", steps.getLoc())
                              << "expected at least " << least << " registers for a thread that multiplies, " << held
                              << " of which hold its sums";
    if (deferred)
      diag << " and " << deferred << " a deferred result";
    return diag << ", got " << consumerRegisters;
  }
  return success();
}

LogicalResult TileProgram::checkDeferred() {
  if (!result || !result->isDeferred)
    return success();
  auto refuse = [&] { return error("copy_by", result->getLoc()); };
  if (!nest->hasAttr(schedule::kPersistentAttr))
    return refuse() << "expected a kernel whose blocks go through several tiles for a deferred result, which is stored behind the "
                       "next tile's products: use s[...].persistent of the kernel's stage";
  if (numConsumers > 1)
    return refuse() << "expected one set of consumers for a deferred result, got " << numConsumers << ", which take tiles in turn";
  if (promotedSteps)
    return refuse() << "expected sums that the tensor cores keep for a deferred result, got promoted ones";
  return success();
}
} // namespace tilewright
