//===- TileBarrierPatterns.cpp - warpgroups that wait for each other ------===//
//
// Barriers of a warpgroup, turns between sets of warpgroups, and arrivals, which are counted over a grid. They know
// nothing of rings, whose barriers lie in shared memory: these here are the block's numbered ones, and counters in
// global memory.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilewright {
namespace {

/// The number of the barrier of the thread's warpgroup: the block's own is 0.
Value getWarpgroupBarrier(SharedAddress address, OpBuilder &builder, Location loc) {
  return address.add(LLVM::LShrOp::create(builder, loc, address.thread(), address.constant(7)), address.constant(1));
}

/// A barrier for the threads of a warpgroup.
void waitForWarpgroup(OpBuilder &builder, Location loc) {
  SharedAddress address(builder, loc);
  NVVM::BarrierOp::create(builder, loc, TypeRange(), getWarpgroupBarrier(address, builder, loc),
                          address.constant(tile::kWarpgroupSize),
                          /*reductionOp=*/NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
}

struct ConvertSyncWarpgroup : ConvertOpToLLVMPattern<tile::SyncWarpgroupOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::SyncWarpgroupOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (std::optional<uint64_t> warpgroups = op.getWarpgroups()) {
      SharedAddress address(rewriter, op.getLoc());
      NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(), address.constant(tile::kRoleBarrier),
                              address.constant(*warpgroups * tile::kWarpgroupSize), NVVM::BarrierReductionAttr(),
                              Value());
    } else {
      waitForWarpgroup(rewriter, op.getLoc());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

/// How a counter of arrivals begins: nobody has counted where it is less than this, or so much more that no grid has as
/// many blocks. Memory that holds anything else is taken for a count only if it has these 48 bits by chance.
constexpr int64_t kNobodyArrived = 0x5d3c9a617be40000, kMostArrivals = 1 << 16;

/// One thread counts for its warpgroup, behind a barrier that all wait at with what they wrote, and tells them at
/// another.
struct ConvertArrive : ConvertOpToLLVMPattern<tile::ArriveOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(tile::ArriveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    Type i64 = rewriter.getI64Type();
    auto constant64 = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(rewriter, loc, i64, value); };
    auto compare = [&](LLVM::ICmpPredicate predicate, Value a, Value b) -> Value {
      return LLVM::ICmpOp::create(rewriter, loc, predicate, a, b);
    };
    constexpr llvm::StringLiteral kGrid = "device";
    constexpr unsigned kAlign = 8;

    Value place =
        getStridedElementPtr(rewriter, loc, op.getCounters().getType(), adaptor.getCounters(), adaptor.getIndex());
    Value parts = adaptor.getParts();
    if (parts.getType() != i64)
      parts = LLVM::ZExtOp::create(rewriter, loc, i64, parts);
    Value all = LLVM::AddOp::create(rewriter, loc, parts, constant64(kNobodyArrived));
    Value inWarpgroup =
        LLVM::AndOp::create(rewriter, loc, address.thread(), address.constant(tile::kWarpgroupSize - 1));
    Value counts = compare(LLVM::ICmpPredicate::eq, inWarpgroup, address.constant(0));
    auto boolean = [&](bool value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI1Type(), rewriter.getBoolAttr(value));
    };
    Value none = boolean(false);
    auto loadCount = [&](LLVM::AtomicOrdering ordering) -> Value {
      return LLVM::LoadOp::create(rewriter, loc, i64, place, kAlign, /*isVolatile=*/false, /*isNonTemporal=*/false,
                                  /*isInvariant=*/false, /*isInvariantGroup=*/false, ordering, kGrid);
    };
    // What a count is likely to be is asked while what was written is still on its way.
    Value guess;
    if (!op.getIfLast())
      guess = loadCount(LLVM::AtomicOrdering::monotonic);
    waitForWarpgroup(rewriter, loc);

    Block *before = op->getBlock();
    Block *after = rewriter.splitBlock(before, op->getIterator());
    Value isLast = after->addArgument(rewriter.getI1Type(), loc);
    Block *count = rewriter.createBlock(after);
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, loc, counts, count, ValueRange(), after, ValueRange(none));

    rewriter.setInsertionPointToStart(count);
    auto countOneMore = [&](Value known) -> Value {
      Value number = LLVM::SubOp::create(rewriter, loc, known, constant64(kNobodyArrived));
      Value isCount = compare(LLVM::ICmpPredicate::ult, number, constant64(kMostArrivals));
      Value begun = LLVM::SelectOp::create(rewriter, loc, isCount, known, constant64(kNobodyArrived));
      return LLVM::AddOp::create(rewriter, loc, begun, constant64(1));
    };
    Value last;
    if (op.getIfLast()) {
      last = compare(LLVM::ICmpPredicate::eq, countOneMore(loadCount(LLVM::AtomicOrdering::acquire)), all);
    } else {
      // What the others of the warpgroup wrote is there for whoever sees this thread's count.
      LLVM::FenceOp::create(rewriter, loc, LLVM::AtomicOrdering::acq_rel, kGrid);
      Block *turn = rewriter.createBlock(after), *counted = rewriter.createBlock(after);
      rewriter.setInsertionPointToEnd(count);
      LLVM::BrOp::create(rewriter, loc, ValueRange(guess), turn);
      Value known = turn->addArgument(i64, loc);
      rewriter.setInsertionPointToStart(turn);
      Value next = countOneMore(known);
      auto exchange = LLVM::AtomicCmpXchgOp::create(rewriter, loc, place, known, next, LLVM::AtomicOrdering::monotonic,
                                                    LLVM::AtomicOrdering::monotonic, kGrid, kAlign);
      Value found = LLVM::ExtractValueOp::create(rewriter, loc, exchange, 0);
      Value isDone = LLVM::ExtractValueOp::create(rewriter, loc, exchange, 1);
      LLVM::CondBrOp::create(rewriter, loc, isDone, counted, ValueRange(), turn, ValueRange(found));
      rewriter.setInsertionPointToStart(counted);
      last = compare(LLVM::ICmpPredicate::eq, next, all);
    }
    // The last leaves what is no count, and reads what others wrote before theirs.
    Block *reset = rewriter.createBlock(after);
    rewriter.setInsertionPointToEnd(reset->getPrevNode());
    LLVM::CondBrOp::create(rewriter, loc, last, reset, ValueRange(), after, ValueRange(none));
    rewriter.setInsertionPointToStart(reset);
    if (!op.getIfLast())
      LLVM::FenceOp::create(rewriter, loc, LLVM::AtomicOrdering::acq_rel, kGrid);
    LLVM::StoreOp::create(rewriter, loc, constant64(0), place, kAlign, /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kGrid);
    LLVM::BrOp::create(rewriter, loc, ValueRange(boolean(true)), after);

    // Upstream's op reduces for the whole block alone.
    rewriter.setInsertionPoint(op);
    Value operands[] = {getWarpgroupBarrier(address, rewriter, loc), address.constant(tile::kWarpgroupSize), isLast};
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, rewriter.getI1Type(), rewriter.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.count"), operands);
    return success();
  }
};

/// The barrier of a set's turn, where that set waits and the one before it arrives.
template <typename Op> std::pair<Value, Value> getTurn(SharedAddress address, Op op, Value set) {
  // Those of warpgroups come before.
  constexpr int64_t kFirst = 1 + kMaxBlockThreads / tile::kWarpgroupSize;
  return {address.add(address.narrow(set), address.constant(kFirst)),
          address.constant(2 * op.getWarpgroups() * tile::kWarpgroupSize)};
}

struct ConvertTakeTurn : ConvertOpToLLVMPattern<tile::TakeTurnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::TakeTurnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto [number, threads] = getTurn(SharedAddress(rewriter, op.getLoc()), op, adaptor.getSet());
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op, TypeRange(), number, threads, NVVM::BarrierReductionAttr(),
                                                 Value());
    return success();
  }
};

struct ConvertPassTurn : ConvertOpToLLVMPattern<tile::PassTurnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::PassTurnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    Value next = address.add(address.narrow(adaptor.getSet()), address.constant(1));
    Value isLast = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::eq, next, address.constant(op.getSets()));
    next = LLVM::SelectOp::create(rewriter, loc, isLast, address.constant(0), next);
    auto [number, threads] = getTurn(address, op, next);
    rewriter.replaceOpWithNewOp<NVVM::BarrierArriveOp>(op, number, threads);
    return success();
  }
};

} // namespace

void populateTileBarrierPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertSyncWarpgroup, ConvertArrive, ConvertTakeTurn, ConvertPassTurn>(converter);
}

} // namespace tilewright
