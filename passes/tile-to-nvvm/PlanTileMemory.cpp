//===- PlanTileMemory.cpp - places in shared memory -----------------------===//
#include "dialects/Program/Program.h"
#include "dialects/Tile/Tile.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/tile-to-nvvm/Passes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANTILEMEMORY
#include "passes/tile-to-nvvm/Passes.h.inc"

namespace {
/// Bytes of shared memory, from the start on, given to one thing after the other.
class SharedSpace {
public:
  /// The end of what is in use, by views of the shared symbol or by tiles that have a place.
  explicit SharedSpace(gpu::GPUFuncOp kernel) {
    kernel.walk([&](memref::ViewOp view) {
      auto symbol = view.getSource().getDefiningOp<memref::GetGlobalOp>();
      std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
      if (symbol && symbol.getName() == kSharedMemorySymbol && offset)
        use(*offset, view.getType().getNumElements() * getElementBytes(view.getType().getElementType()));
    });
  }

  void use(int64_t offset, int64_t bytes) { end = std::max(end, offset + bytes); }
  int64_t take(int64_t bytes, int64_t alignment) {
    int64_t offset = llvm::alignTo(end, alignment);
    end = offset + bytes;
    return offset;
  }
  int64_t getEnd() const { return end; }

private:
  int64_t end = 0;
};

struct PlanTileMemory : impl::PlanTileMemoryBase<PlanTileMemory> {
  using PlanTileMemoryBase::PlanTileMemoryBase;

  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
        if (failed(plan(kernels, kernel)))
          return signalPassFailure();
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      auto found = sizes.find(launch.getKernelAttr());
      if (found == sizes.end())
        return;
      OpBuilder builder(launch);
      const auto &[size, origin] = found->second;
      auto bytes = arith::ConstantIntOp::create(builder, launch.getLoc(), builder.getI32Type(), size);
      launch.getDynamicSharedMemorySizeMutable().assign(bytes);
      // After the buffers that plan-shared-memory listed.
      NamedAttrList origins(launch->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr));
      auto before = dyn_cast_or_null<StringAttr>(origins.get("shared"));
      origins.set("shared", builder.getStringAttr(before ? before.getValue() + ", " + origin : Twine(origin)));
      launch->setAttr(kLaunchOriginAttr, origins.getDictionary(&getContext()));
    });
  }

  LogicalResult plan(gpu::GPUModuleOp kernels, gpu::GPUFuncOp kernel);

  llvm::DenseMap<Attribute, std::pair<int64_t, std::string>> sizes; // by kernel, with what takes them
};
} // namespace

/// The name in an op's location, or `otherwise`.
static StringRef getName(Operation *op, StringRef otherwise) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : otherwise;
}

/// "ring of k (8 slots of 12288 bytes), C (8192 bytes), barriers (128 bytes)".
static std::string listParts(ArrayRef<tile::RingOp> rings, ArrayRef<tile::AllocOp> buffers) {
  std::string list;
  llvm::raw_string_ostream stream(list);
  llvm::ListSeparator comma;
  int64_t barriers = 0;
  for (tile::RingOp ring : rings) {
    tile::RingType type = ring.getRing().getType();
    stream << comma << "ring of " << getName(ring, "a loop") << " (" << type.getDepth()
           << (type.getDepth() == 1 ? " slot of " : " slots of ") << type.getSlotBytes() << " bytes)";
    barriers += type.getBarrierBytes();
  }
  for (tile::AllocOp alloc : buffers)
    stream << comma << getName(alloc, "a tile") << " (" << alloc.getBuffer().getType().getBytes() << " bytes)";
  if (barriers)
    stream << comma << "barriers (" << barriers << " bytes)";
  return list;
}

LogicalResult PlanTileMemory::plan(gpu::GPUModuleOp kernels, gpu::GPUFuncOp kernel) {
  SmallVector<tile::AllocOp> buffers;
  SmallVector<tile::RingOp> rings;
  SharedSpace space(kernel);
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
      buffers.push_back(alloc);
      if (alloc.getOffset())
        space.use(*alloc.getOffset(), alloc.getBuffer().getType().getBytes());
    } else if (auto ring = dyn_cast<tile::RingOp>(op)) {
      rings.push_back(ring);
      tile::RingType type = ring.getRing().getType();
      if (ring.getOffset())
        space.use(*ring.getOffset(), type.getDepth() * type.getSlotBytes());
      if (ring.getBarriers())
        space.use(*ring.getBarriers(), type.getBarrierBytes());
    }
  });
  if (buffers.empty() && rings.empty())
    return success();
  for (tile::RingOp ring : rings) {
    tile::RingType type = ring.getRing().getType();
    if (!ring.getOffset())
      ring.setOffset(space.take(type.getDepth() * type.getSlotBytes(), type.getAlignment()));
  }
  for (tile::AllocOp alloc : buffers)
    if (!alloc.getOffset())
      alloc.setOffset(space.take(alloc.getBuffer().getType().getBytes(), alloc.getBuffer().getType().getAlignment()));
  for (tile::RingOp ring : rings)
    if (!ring.getBarriers())
      ring.setBarriers(space.take(ring.getRing().getType().getBarrierBytes(), 8));
  if (space.getEnd() > sharedLimit) {
    InFlightDiagnostic diagnostic = kernel.emitError() << "expected at most " << sharedLimit.getValue()
                                                       << " bytes of shared memory a block, got " << space.getEnd();
    for (tile::RingOp ring : rings) {
      tile::RingType type = ring.getRing().getType();
      diagnostic.attachNote(ring.getLoc())
          << "the ring takes " << type.getDepth() << " times " << type.getSlotBytes() << " bytes";
    }
    for (tile::AllocOp alloc : buffers)
      diagnostic.attachNote(alloc.getLoc())
          << "the buffer takes " << alloc.getBuffer().getType().getBytes() << " bytes";
    return diagnostic;
  }
  getSharedMemorySymbol(kernels);
  auto name = SymbolRefAttr::get(kernels.getSymNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr()));
  sizes[name] = {space.getEnd(), listParts(rings, buffers)};
  return success();
}
} // namespace tilewright
