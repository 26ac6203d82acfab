//===- TileMemoryPatterns.cpp - rings, barriers and copies of tiles -------===//
#include "dialects/Tile/Instructions.h"
#include "passes/AddressSpaces.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/tile-to-nvvm/TileKernel.h"
#include "passes/tile-to-nvvm/TilePatterns.h"
#include "runtime/Launcher.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

/// What one instruction copies to shared memory past the registers.
static constexpr int64_t kChunkBytes = 16;
/// How long the hardware may let a thread sleep at a barrier before it looks again, in nanoseconds.
static constexpr int64_t kWaitTicks = 10000000;

namespace tilewright {
namespace {

template <typename Op> struct TilePattern : ConvertOpToLLVMPattern<Op> {
  TilePattern(const LLVMTypeConverter &converter, const Architecture &architecture)
      : ConvertOpToLLVMPattern<Op>(converter), architecture(architecture) {}

  const Architecture &architecture;
};

/// Threads of the block, all of which copy where there is no TMA.
int64_t countThreads(LLVM::LLVMFuncOp kernel) {
  return kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName())[0];
}

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

void waitFor(OpBuilder &builder, Location loc, Value barrier, Value phase, const Architecture &architecture) {
  if (!architecture.hasTMA()) {
    // What lets a thread sleep came with TMA.
    LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange{barrier, phase},
                              "{\n.reg .pred p;\nWAIT:\nmbarrier.test_wait.parity.shared.b64 p, [$0], $1;\n@!p bra "
                              "WAIT;\n}",
                              "r,r,~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
                              LLVM::TailCallKind::None, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
    return;
  }
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
    // One thread commits a slot, or all that copy; each peer's consumers release it here too.
    Value one = address.constant(architecture.hasTMA() ? 1 : countThreads(kernel));
    int64_t eachReleases = areMatmulsByWarps(op) ? tile::kWarpgroupWarps : 1;
    Value releases = address.constant(ring.getConsumers() * countPeers(kernel, ring) * eachReleases);
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
    waitFor(rewriter, op.getLoc(), getBarrier(address, ring, BarrierKind::Empty, adaptor.getSlot()), before,
            architecture);
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
    waitFor(rewriter, op.getLoc(), getBarrier(address, ring, BarrierKind::Full, adaptor.getSlot()), adaptor.getPhase(),
            architecture);
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
    if (!architecture.hasTMA()) {
      // Arrives when all that the thread has copied is there.
      rewriter.replaceOpWithNewOp<NVVM::CpAsyncMBarrierArriveOp>(op, barrier, /*noinc=*/true);
      return success();
    }
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

/// One thread of the warpgroup for each block that copies to the ring tells it. Warps that multiply by themselves are
/// done at different times: one thread of each tells it.
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
    int64_t together = areMatmulsByWarps(op) ? tile::kWarpSize : tile::kWarpgroupSize;
    Value inWarpgroup = LLVM::AndOp::create(rewriter, loc, address.thread(), address.constant(together - 1));
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

  /// All threads copy chunks of 16 bytes, of neighbouring places. The map is the tensor's address, extents and strides.
  static void copyByThreads(tile::TMALoadOp op, OpAdaptor adaptor, ConversionPatternRewriter &builder,
                            int64_t threads) {
    Location loc = op.getLoc();
    SharedAddress address(builder, loc);
    tile::TensorMapType map = op.getMap().getType();
    tile::BufferType buffer = op.getBuffer().getType();
    Type i64 = builder.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    auto read = [&](int64_t number) -> Value {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, adaptor.getMap(),
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
      return LLVM::LoadOp::create(builder, loc, i64, place, /*alignment=*/8, /*isVolatile=*/false,
                                  /*isNonTemporal=*/false, /*isInvariant=*/true);
    };
    auto wide = [&](Value value) -> Value { return LLVM::SExtOp::create(builder, loc, i64, value); };
    Type global = LLVM::LLVMPointerType::get(builder.getContext(), getLLVMSpace(NVVM::NVVMMemorySpace::Global));
    Value data = LLVM::IntToPtrOp::create(builder, loc, global, read(TilewrightMapData));
    ArrayRef<int64_t> box = map.getBox();
    int64_t rank = box.size(), bytes = tile::getElementBytes(map.getElementType());
    SmallVector<Value> extents, strides = {Value()};
    for (int64_t i = 0; i < rank; ++i) {
      Value extent = read(TilewrightMapExtents + i);
      extents.push_back(LLVM::TruncOp::create(builder, loc, builder.getI32Type(), extent));
      if (i)
        strides.push_back(read(TilewrightMapStrides + i));
    }
    auto step = [&](int64_t i) -> Value {
      return LLVM::TruncOp::create(builder, loc, builder.getI32Type(), read(TilewrightMapSteps + i));
    };
    // The last threads may have no whole row: they copy the first chunks of the next ones.
    int64_t chunks = buffer.getPanelRowBytes() / kChunkBytes, rows = map.getBoxRows();
    int64_t rowsAtOnce = threads / chunks, begun = llvm::divideCeil(threads, chunks);
    Value thread = address.thread();
    Value chunk = LLVM::URemOp::create(builder, loc, thread, address.constant(chunks));
    Value firstRow = LLVM::UDivOp::create(builder, loc, thread, address.constant(chunks));
    auto isWithin = [&](Value place, Value extent) -> Value {
      return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, place, extent);
    };
    forEachBox(
        builder, loc, map, buffer, adaptor.getBuffer(), adaptor.getCoordinates(),
        [&](Value target, ValueRange coordinates) {
          LaneAddress place(builder, loc, target, buffer, firstRow, chunk);
          // Bytes of the row from the chunk on that are in the tensor.
          Value column = address.add(coordinates[0], address.multiply(chunk, kChunkBytes / bytes));
          Value left = LLVM::SubOp::create(builder, loc, extents[0], column);
          left = LLVM::SMinOp::create(builder, loc, left, address.constant(kChunkBytes / bytes));
          left = LLVM::SMaxOp::create(builder, loc, left, address.constant(0));
          Value isBehindStart =
              LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sge, column, address.constant(0));
          left =
              LLVM::SelectOp::create(builder, loc, isBehindStart, address.multiply(left, bytes), address.constant(0));
          Value inRow =
              LLVM::MulOp::create(builder, loc, wide(column), LLVM::ConstantOp::create(builder, loc, i64, bytes));
          for (int64_t row = 0; row < rows; row += rowsAtOnce) {
            Value rest = address.add(firstRow, address.constant(row));
            Value size = left, offset = inRow;
            // A box of fewer rows than threads have at once has none for the last ones.
            Value isThere = row + begun > rows ? LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, rest,
                                                                      address.constant(rows))
                                               : Value();
            int64_t behind = rows;
            for (int64_t i = rank - 1; i > 0; --i) {
              int64_t extent = box[rank - 1 - i];
              behind /= extent;
              Value index = coordinates[i];
              if (extent > 1) {
                Value within = rest;
                if (behind > 1) {
                  within = LLVM::UDivOp::create(builder, loc, rest, address.constant(behind));
                  rest = LLVM::URemOp::create(builder, loc, rest, address.constant(behind));
                }
                index = address.add(index, LLVM::MulOp::create(builder, loc, within, step(i)));
              }
              size = LLVM::SelectOp::create(builder, loc, isWithin(index, extents[i]), size, address.constant(0));
              offset =
                  LLVM::AddOp::create(builder, loc, offset, LLVM::MulOp::create(builder, loc, wide(index), strides[i]));
            }
            Value from =
                LLVM::GEPOp::create(builder, loc, global, builder.getI8Type(), data, ArrayRef<LLVM::GEPArg>{offset});
            auto copy = [&](OpBuilder &inner) {
              NVVM::CpAsyncOp::create(inner, loc, place.down(row), from, kChunkBytes, NVVM::LoadCacheModifierKind::CG,
                                      size);
            };
            if (!isThere) {
              copy(builder);
              continue;
            }
            Block *before = builder.getInsertionBlock();
            Block *after = builder.splitBlock(before, builder.getInsertionPoint());
            Block *body = builder.createBlock(after);
            builder.setInsertionPointToEnd(before);
            LLVM::CondBrOp::create(builder, loc, isThere, body, after);
            builder.setInsertionPointToStart(body);
            copy(builder);
            LLVM::BrOp::create(builder, loc, after);
            builder.setInsertionPointToStart(after);
          }
        });
  }

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
    if (!architecture.hasTMA()) {
      copyByThreads(op, adaptor, rewriter, countThreads(kernel));
      rewriter.eraseOp(op);
      return success();
    }
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
    // Threads alone copy where there is no TMA.
    if (!architecture.hasTMA()) {
      rewriter.eraseOp(op);
      return success();
    }
    auto space = NVVM::SharedSpaceAttr::get(rewriter.getContext(), NVVM::SharedSpace::shared_cta);
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(op, NVVM::ProxyKind::async_shared, space);
    return success();
  }
};

} // namespace

void populateTileMemoryPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns,
                                const Architecture &architecture) {
  patterns.add<ConvertAlloc, ConvertPart, ConvertRing, ConvertInit, ConvertAdvance, ConvertAcquire, ConvertWait,
               ConvertCommit, ConvertRelease, ConvertTMALoad, ConvertTMAStore, ConvertCommitStores, ConvertWaitStores,
               ConvertFenceAsync>(converter, architecture);
}

} // namespace tilewright
