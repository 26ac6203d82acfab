//===- TileResources.cpp - whether a block can hold its tiles -------------===//
#include "dialects/Target/Architectures.h"
#include "dialects/Target/Limits.h"
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-tile/TileBox.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

static StringRef getStage(Operation *op) {
  auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr);
  return stage ? stage.getValue() : "";
}

/// Of what several blocks need each copies a part.
static LogicalResult checkMulticast(tile::KernelOp kernel, tile::LoadOp load) {
  auto axis = load.getMulticast();
  if (!axis)
    return success();
  tile::BufferType tile = load.getTile().getType();
  int64_t blocks = kernel.getCluster()[unsigned(*axis)];
  TileBox box = TileBox::of(load);
  std::optional<tile::BufferType> part = getCopiedPart(tile, blocks);
  if (part && box.getPart(part->getRows()))
    return success();
  std::string rows;
  for (int64_t extent : ArrayRef(box.box).drop_back())
    if (extent != 1)
      rows += (rows.empty() ? "" : " x ") + std::to_string(extent);
  return emitError(kernel.getPlace(unsigned(*axis)).getLoc())
         << "cluster: expected tiles of stage '" << getStage(load) << "' of which each of " << blocks
         << " blocks copies a multiple of 8 rows, got " << rows << " rows";
}

static LogicalResult checkDeferred(tile::KernelOp kernel, tile::StoreOp store, bool isPromoted) {
  auto refuse = [&] { return emitError(store.getLoc()) << "copy_by: "; };
  if (!kernel.getOrder())
    return refuse() << "expected a kernel whose blocks go through several tiles for a deferred result, which is stored "
                       "behind the "
                       "next tile's matmul: use s[...].persistent of the kernel's stage";
  if (kernel.getPingpong() > 1)
    return refuse() << "expected one set of consumer warpgroups for a deferred result, got " << kernel.getPingpong()
                    << ", which take tiles in turn";
  if (isPromoted)
    return refuse() << "expected an accumulator that the tensor cores keep for a deferred result, got a promoted one";
  return success();
}

LogicalResult checkResources(tile::KernelOp kernel) {
  SmallVector<tile::LoadOp> loads;
  SmallVector<tile::StoreOp> stores;
  bool isPromoted = false;
  int64_t held = 0; // registers of a thread
  int64_t ofFragments = 0;
  auto getRegisters = [](tile::FragmentType type) {
    return type.getElementsPerThread() * tile::getElementBytes(type.getElementType()) / 4;
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      loads.push_back(load);
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      stores.push_back(store);
    else if (auto share = dyn_cast<tile::ShareOp>(op))
      ofFragments += llvm::alignTo(share.getTile().getType().getBytes(), kSharedAlignment);
    else if (auto matmul = dyn_cast<tile::MatmulOp>(op)) {
      isPromoted |= matmul.getPromoted().has_value();
      held = std::max(held, getRegisters(matmul.getResult().getType()) * (matmul.getPromoted() ? 2 : 1));
    }
  });
  // What was asked for comes before what that takes.
  if (kernel.getOrder() && failed(checkOrder(kernel)))
    return failure();
  for (tile::LoadOp load : loads)
    if (failed(checkMulticast(kernel, load)))
      return failure();
  for (tile::StoreOp store : stores)
    if (store.getDeferred() && failed(checkDeferred(kernel, store, isPromoted)))
      return failure();
  SmallVector<scf::ForOp> pipelines = getPipelines(kernel);
  Location loc = pipelines.empty() ? kernel.getLoc() : pipelines[0].getLoc();
  int64_t shared = ofFragments, slot = 0, depth = 0, sets = kernel.getPingpong();
  llvm::SmallPtrSet<Operation *, 2> counted;
  for (tile::LoadOp load : loads) {
    tile::BufferType tile = load.getTile().getType();
    scf::ForOp around = load->getParentOfType<scf::ForOp>();
    auto mark = around ? around->getAttrOfType<schedule::PipelineAttr>(schedule::kPipelineAttr) : nullptr;
    int64_t bytes = llvm::alignTo(tile.getBytes(), 8 * tile.getSwizzle()), slots = mark ? mark.getStages() : 1;
    // Each slot has two barriers.
    shared += slots * (bytes + (counted.insert(load->getParentOp()).second ? 16 : 0));
    slot += bytes;
    depth = std::max(depth, slots);
  }
  int64_t stored = 0, deferred = 0;
  for (tile::StoreOp store : stores) {
    tile::FragmentType fragment = store.getFragment().getType();
    int64_t bytes = tile::getElementBytes(cast<MemRefType>(store.getTensor().getType()).getElementType());
    int64_t one = sets * kernel.getWarpgroups() * fragment.getRows() * int64_t(store.getColumns()) * bytes;
    stored += one;
    shared += llvm::alignTo(one, kSharedAlignment);
    if (store.getDeferred())
      deferred += fragment.getElementsPerThread() * bytes / 4;
  }
  if (int64_t limit = findArchitecture(kWgmmaArchitecture)->sharedLimit; shared > limit) {
    InFlightDiagnostic diag = emitError(loc) << "software_pipeline: expected at most " << limit
                                             << " bytes of shared memory a block, got " << shared << ": " << depth
                                             << " times " << slot << " for the tiles of a step";
    if (!stores.empty())
      diag << ", and " << stored << " for those of stage '" << getStage(stores[0]) << "'";
    return diag;
  }
  bool hasProducer = kernel.getRegisters().has_value();
  int64_t multiplying = kernel.getWarpgroups() * sets, threads = tile::kWarpgroupSize * (hasProducer + multiplying);
  StringRef primitive = hasProducer ? "specialize" : "software_pipeline";
  if (threads > kMaxBlockThreads)
    return emitError(loc) << primitive << ": expected at most " << kMaxBlockThreads << " threads a block, got "
                          << threads << ": those of " << multiplying << " warpgroups that multiply"
                          << (hasProducer ? " and of one that copies" : "");
  int64_t most = threads * tile::getRegistersAtLaunch(threads);
  // All threads have the same number where none is handed out.
  int64_t each = std::min<int64_t>(kThreadRegisters, tile::getRegistersAtLaunch(threads));
  if (hasProducer) {
    int64_t ofProducer = (*kernel.getRegisters())[0];
    each = (*kernel.getRegisters())[1];
    if (int64_t registers = tile::kWarpgroupSize * (ofProducer + multiplying * each); registers > most)
      return emitError(loc) << "specialize: expected at most " << most << " registers a block of " << threads
                            << " threads, got " << registers << ": " << ofProducer << " for each of "
                            << tile::kWarpgroupSize << " threads that copy, and " << each << " for each of "
                            << tile::kWarpgroupSize * multiplying << " that multiply";
  }
  // Addresses, the ring's state and what the epilogue computes.
  constexpr int64_t kOthers = 24;
  if (int64_t least = held + deferred + kOthers; least > each) {
    InFlightDiagnostic diag = emitError(loc) << (deferred ? "copy_by" : primitive) << ": expected at least " << least
                                             << " registers for a thread that multiplies, " << held
                                             << " of which hold its accumulator";
    if (deferred)
      diag << " and " << deferred << " a deferred result";
    return diag << ", got " << each;
  }
  return success();
}
} // namespace tilewright
