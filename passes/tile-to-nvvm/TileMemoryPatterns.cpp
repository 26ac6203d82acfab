//===- TileMemoryPatterns.cpp - rings, barriers and TMA copies ------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/AddressSpaces.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/tile-to-nvvm/TileKernel.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

/// How long the hardware may let a thread sleep at a barrier before it looks again, in nanoseconds.
static constexpr int64_t kWaitTicks = 10000000;

namespace tilewright {
namespace {

template <typename Op> struct TilePattern : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
};

tile::RingOp getRing(Value ring) { return ring.getDefiningOp<tile::RingOp>(); }

enum class BarrierKind { Full, Empty };

/// The barrier of a slot: first come those that say `full`, then those that say `empty`.
Value getBarrier(SharedAddress address, tile::RingOp ring, BarrierKind kind, Value slot) {
  int64_t first = *ring.getBarriers() + (kind == BarrierKind::Empty ? 8 * ring.getRing().getType().getDepth() : 0);
  return address.offset(address.offset(address.start(), first), address.multiply(slot, 8));
}

SmallVector<Value> getBuffers(SharedAddress address, tile::RingOp ring, Value slot) {
  tile::RingType type = ring.getRing().getType();
  Value start =
      address.offset(address.offset(address.start(), *ring.getOffset()), address.multiply(slot, type.getSlotBytes()));
  SmallVector<Value> buffers;
  for (unsigned i = 0; i < type.getBuffers().size(); ++i)
    buffers.push_back(address.offset(start, type.getBufferOffset(i)));
  return buffers;
}

void waitFor(OpBuilder &builder, Location loc, Value barrier, Value phase) {
  Value ticks = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), kWaitTicks);
  NVVM::MBarrierTryWaitParityOp::create(builder, loc, barrier, phase, ticks);
}

//===----------------------------------------------------------------------===//
// Memory and rings
//===----------------------------------------------------------------------===//

struct ConvertAlloc : TilePattern<tile::AllocOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::AllocOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    rewriter.replaceOp(op, address.offset(address.start(), *op.getOffset()));
    return success();
  }
};

struct ConvertPart : TilePattern<tile::PartOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::PartOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    tile::BufferType source = op.getSource().getType(), part = op.getPart().getType();
    Value pointer = adaptor.getSource();
    if (part.getRows() < source.getRows())
      pointer =
          address.offset(pointer, address.multiply(address.narrow(adaptor.getRow()),
                                                   op.getEvery().value_or(part.getRows()) * source.getPanelRowBytes()));
    if (part.getColumns() < source.getColumns()) {
      int64_t bytes = part.getColumns() / part.getPanelColumns() * source.getPanelBytes();
      pointer = address.offset(pointer, address.multiply(address.narrow(adaptor.getColumn()), bytes));
    }
    rewriter.replaceOp(op, pointer);
    return success();
  }
};

struct ConvertRing : TilePattern<tile::RingOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::RingOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, SharedAddress(rewriter, op.getLoc()).start());
    return success();
  }
};

struct ConvertInit : TilePattern<tile::InitOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::InitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    tile::RingOp ring = getRing(op.getRing());
    auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
    // One thread commits a slot; each peer's consumers release it here too.
    Value one = address.constant(1), releases = address.constant(ring.getConsumers() * countPeers(kernel, ring));
    int64_t depth = ring.getRing().getType().getDepth();
    for (int64_t i = 0; i < 2 * depth; ++i) {
      Value barrier = address.offset(address.start(), *ring.getBarriers() + 8 * i);
      NVVM::MBarrierInitOp::create(rewriter, op.getLoc(), barrier, i < depth ? one : releases, /*predicate=*/Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertAdvance : TilePattern<tile::AdvanceOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::AdvanceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    // Whole turns change the phase alone; of what is left the slot goes past the end once at most.
    int64_t count = op.getRing().getType().getDepth(), left = op.getBy() % count;
    Value phase = adaptor.getPhase();
    if (op.getBy() / count % 2)
      phase = LLVM::XOrOp::create(rewriter, loc, phase, address.constant(1));
    if (!left) {
      rewriter.replaceOp(op, {adaptor.getSlot(), phase});
      return success();
    }
    Value next = address.add(adaptor.getSlot(), address.constant(left)), depth = address.constant(count);
    auto kind = left == 1 ? LLVM::ICmpPredicate::eq : LLVM::ICmpPredicate::uge;
    Value turns = LLVM::ICmpOp::create(rewriter, loc, kind, next, depth);
    Value first = left == 1 ? address.constant(0) : LLVM::SubOp::create(rewriter, loc, next, depth).getResult();
    Value slot = LLVM::SelectOp::create(rewriter, loc, turns, first, next);
    Value other = LLVM::XOrOp::create(rewriter, loc, phase, address.constant(1));
    phase = LLVM::SelectOp::create(rewriter, loc, turns, other, phase);
    rewriter.replaceOp(op, {slot, phase});
    return success();
  }
};

struct ConvertAcquire : TilePattern<tile::AcquireOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::AcquireOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    tile::RingOp ring = getRing(op.getRing());
    // In the first turn nobody has released the slot: a barrier counts as being past the phase before its first.
    Value before = LLVM::XOrOp::create(rewriter, op.getLoc(), adaptor.getPhase(), address.constant(1));
    waitFor(rewriter, op.getLoc(), getBarrier(address, ring, BarrierKind::Empty, adaptor.getSlot()), before);
    rewriter.replaceOp(op, getBuffers(address, ring, adaptor.getSlot()));
    return success();
  }
};

struct ConvertWait : TilePattern<tile::WaitOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::WaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    tile::RingOp ring = getRing(op.getRing());
    waitFor(rewriter, op.getLoc(), getBarrier(address, ring, BarrierKind::Full, adaptor.getSlot()), adaptor.getPhase());
    rewriter.replaceOp(op, getBuffers(address, ring, adaptor.getSlot()));
    return success();
  }
};

struct ConvertCommit : TilePattern<tile::CommitOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::CommitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SharedAddress address(rewriter, op.getLoc());
    tile::RingOp ring = getRing(op.getRing());
    Value barrier = getBarrier(address, ring, BarrierKind::Full, adaptor.getSlot());
    Value bytes = address.constant(ring.getRing().getType().getDataBytes());
    NVVM::MBarrierArriveExpectTxOp::create(rewriter, op.getLoc(), TypeRange(), barrier, bytes, NVVM::MemScopeKind::CTA,
                                           /*relaxed=*/false, /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

/// The number of this block along an axis of the cluster.
Value getClusterIndex(OpBuilder &builder, Location loc, tile::ClusterAxis axis) {
  if (axis == tile::ClusterAxis::X)
    return NVVM::BlockInClusterIdXOp::create(builder, loc, builder.getI32Type());
  return NVVM::BlockInClusterIdYOp::create(builder, loc, builder.getI32Type());
}

/// One thread of the warpgroup for each block that copies to the ring tells it.
struct ConvertRelease : TilePattern<tile::ReleaseOp> {
  using TilePattern::TilePattern;

  /// The rank in the cluster of the `number`th block that copies to this one: those in its row, then those in its
  /// column.
  static Value getPeer(OpBuilder &builder, Location loc, Operation *kernel, tile::RingOp ring, Value number) {
    SharedAddress address(builder, loc);
    int64_t alongX = getClusterExtent(kernel, tile::ClusterAxis::X),
            alongY = getClusterExtent(kernel, tile::ClusterAxis::Y);
    bool inRow = isMulticastAlong(ring, tile::ClusterAxis::X), inColumn = isMulticastAlong(ring, tile::ClusterAxis::Y);
    if (inRow && alongY == 1)
      return number;
    Value x = getClusterIndex(builder, loc, tile::ClusterAxis::X),
          y = getClusterIndex(builder, loc, tile::ClusterAxis::Y);
    Value row = address.add(number, address.multiply(y, alongX)); // of the row's block
    if (!inColumn)
      return row;
    auto ofColumn = [&](Value other) { return address.add(x, address.multiply(other, alongX)); };
    if (!inRow)
      return ofColumn(number);
    // This block is one of its row's already.
    Value other = LLVM::SubOp::create(builder, loc, number, address.constant(alongX));
    Value isPast = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::uge, other, y);
    other = address.add(other, LLVM::ZExtOp::create(builder, loc, builder.getI32Type(), isPast));
    Value isOfRow = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, number, address.constant(alongX));
    return LLVM::SelectOp::create(builder, loc, isOfRow, row, ofColumn(other));
  }

  LogicalResult matchAndRewrite(tile::ReleaseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    tile::RingOp ring = getRing(op.getRing());
    auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
    int64_t peers = countPeers(kernel, ring);
    SharedAddress address(rewriter, loc);
    Value inWarpgroup =
        LLVM::AndOp::create(rewriter, loc, address.thread(), address.constant(tile::kWarpgroupSize - 1));
    Value tells = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::ult, inWarpgroup, address.constant(peers));
    Block *before = op->getBlock();
    Block *after = rewriter.splitBlock(before, op->getIterator());
    Block *arrive = rewriter.createBlock(after);
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, loc, tells, arrive, after);
    rewriter.setInsertionPointToStart(arrive);
    Value barrier = getBarrier(address, ring, BarrierKind::Empty, adaptor.getSlot());
    // The default scope: what is read was read by the tensor cores, and a wider one would fence all of memory.
    if (peers > 1) {
      auto remote =
          LLVM::LLVMPointerType::get(rewriter.getContext(), getLLVMSpace(NVVM::NVVMMemorySpace::SharedCluster));
      barrier = NVVM::MapaOp::create(rewriter, loc, remote, barrier, getPeer(rewriter, loc, kernel, ring, inWarpgroup));
    }
    NVVM::MBarrierArriveOp::create(rewriter, loc, TypeRange(), barrier, /*count=*/Value(), NVVM::MemScopeKind::CTA,
                                   /*relaxed=*/false);
    LLVM::BrOp::create(rewriter, loc, after);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// TMA copies
//===----------------------------------------------------------------------===//

/// Calls `copy` with the place in shared memory and the coordinates, innermost first, of each box of a tile.
void forEachBox(OpBuilder &builder, Location loc, tile::TensorMapType map, tile::BufferType buffer, Value pointer,
                ValueRange indices, llvm::function_ref<void(Value, ValueRange)> copy) {
  SharedAddress address(builder, loc);
  SmallVector<Value> coordinates;
  for (Value index : llvm::reverse(indices))
    coordinates.push_back(address.narrow(index));
  int64_t boxRows = map.getBoxRows();
  for (int64_t column = 0; column < buffer.getColumns(); column += buffer.getPanelColumns())
    for (int64_t row = 0; row < buffer.getRows(); row += boxRows) {
      SmallVector<Value> here = coordinates;
      if (column)
        here[0] = address.add(here[0], address.constant(column));
      if (row)
        here[1] = address.add(here[1], address.constant(row));
      copy(address.offset(pointer,
                          column / buffer.getPanelColumns() * buffer.getPanelBytes() + row * buffer.getPanelRowBytes()),
           here);
    }
}

struct ConvertTMALoad : TilePattern<tile::TMALoadOp> {
  using TilePattern::TilePattern;

  /// A bit for each block, by its rank in the cluster.
  static Value getMask(OpBuilder &builder, Location loc, Operation *kernel, tile::ClusterAxis axis) {
    int64_t alongX = getClusterExtent(kernel, tile::ClusterAxis::X),
            alongY = getClusterExtent(kernel, tile::ClusterAxis::Y);
    bool isRow = axis == tile::ClusterAxis::X;
    int64_t bits = getMulticastBits(kernel, axis);
    if ((isRow ? alongY : alongX) == 1)
      return LLVM::ConstantOp::create(builder, loc, builder.getI16Type(), bits);
    SharedAddress address(builder, loc);
    Value index = getClusterIndex(builder, loc, isRow ? tile::ClusterAxis::Y : tile::ClusterAxis::X);
    Value shift = isRow ? address.multiply(index, alongX) : index;
    return LLVM::TruncOp::create(builder, loc, builder.getI16Type(),
                                 LLVM::ShlOp::create(builder, loc, address.constant(bits), shift));
  }

  LogicalResult matchAndRewrite(tile::TMALoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
    Value barrier = getBarrier(address, getRing(op.getRing()), BarrierKind::Full, adaptor.getSlot());
    Value mask = op.getMulticast() ? getMask(rewriter, loc, kernel, *op.getMulticast()) : Value();
    auto inCluster =
        LLVM::LLVMPointerType::get(rewriter.getContext(), getLLVMSpace(NVVM::NVVMMemorySpace::SharedCluster));
    forEachBox(rewriter, loc, op.getMap().getType(), op.getBuffer().getType(), adaptor.getBuffer(),
               adaptor.getCoordinates(), [&](Value pointer, ValueRange coordinates) {
                 Value target = LLVM::AddrSpaceCastOp::create(rewriter, loc, inCluster, pointer);
                 auto load = NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                     rewriter, loc, target, adaptor.getMap(), coordinates, barrier, /*im2colOffsets=*/ValueRange(),
                     mask,
                     /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, /*group=*/nullptr,
                     /*predicate=*/Value());
                 if (op.getGathered())
                   load->setAttr(tile::kGatheredAttr, op.getGatheredAttr());
               });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertTMAStore : TilePattern<tile::TMAStoreOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::TMAStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    forEachBox(
        rewriter, loc, op.getMap().getType(), op.getBuffer().getType(), adaptor.getBuffer(), adaptor.getCoordinates(),
        [&](Value pointer, ValueRange coordinates) {
          if (op.getReduceAdd()) {
            NVVM::CpAsyncBulkTensorReduceOp::create(rewriter, loc, adaptor.getMap(), pointer, NVVM::TMAReduxKind::ADD,
                                                    NVVM::TMAStoreMode::TILE, coordinates, /*l2CacheHint=*/Value());
            return;
          }
          NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(rewriter, loc, adaptor.getMap(), pointer, coordinates,
                                                             /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
                                                             /*predicate=*/Value());
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertCommitStores : TilePattern<tile::CommitStoresOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::CommitStoresOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkCommitGroupOp>(op);
    return success();
  }
};

struct ConvertWaitStores : TilePattern<tile::WaitStoresOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::WaitStoresOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(op, static_cast<uint32_t>(op.getPending()),
                                                              op.getReadAttr());
    return success();
  }
};

struct ConvertFenceAsync : TilePattern<tile::FenceAsyncOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(tile::FenceAsyncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto space = NVVM::SharedSpaceAttr::get(rewriter.getContext(), NVVM::SharedSpace::shared_cta);
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(op, NVVM::ProxyKind::async_shared, space);
    return success();
  }
};

} // namespace

void populateTileMemoryPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertAlloc, ConvertPart, ConvertRing, ConvertInit, ConvertAdvance, ConvertAcquire, ConvertWait,
               ConvertCommit, ConvertRelease, ConvertTMALoad, ConvertTMAStore, ConvertCommitStores, ConvertWaitStores,
               ConvertFenceAsync>(converter);
}

} // namespace tilewright
