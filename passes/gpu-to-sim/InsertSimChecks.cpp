//===- InsertSimChecks.cpp - a check before every access ------------------===//
#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/PassSupport.h"
#include "passes/index/AccessForm.h"

#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/gpu-to-sim/ValueUses.h"
#include "passes/kernel-math/NonZero.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "runtime/sim/ABI.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_INSERTSIMCHECKS
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;
namespace {

/// A read or a write of `count` elements along the last dimension.
struct CheckedAccess {
  Operation *op;
  Value memref;
  ValueRange indices;
  Type type;    // of what is read or written
  Value stored; // what is written; null for a read
  int64_t count;

  MemRefType memrefType() const { return cast<MemRefType>(memref.getType()); }
};

/// The access that `op` makes; none if it makes none. An access of another kind is an error.
FailureOr<std::optional<CheckedAccess>> findAccess(Operation *op) {
  // A vector of several dimensions is unrolled before it comes here.
  if (auto access = index::getElementAccess(op); access && access->getLength())
    return std::optional<CheckedAccess>(
        {op, access->buffer->get(), OperandRange(access->indices), access->type, access->stored, *access->getLength()});
  if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op);
      atomic && !cast<MemRefType>(atomic.getMemref().getType()).getMemorySpace())
    return std::optional<CheckedAccess>(
        {op, atomic.getMemref(), atomic.getIndices(), atomic.getValue().getType(), atomic.getValue(), 1});
  // Tile ops become calls of the run time, which checks what they touch itself.
  if (isa<tile::TileDialect>(op->getDialect()))
    return std::optional<CheckedAccess>();
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  bool touches = effects && (effects.hasEffect<MemoryEffects::Read>() || effects.hasEffect<MemoryEffects::Write>());
  bool onMemRef = llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<BaseMemRefType>(type); });
  if (touches && onMemRef)
    return op->emitError("expected an access that the simulator can check, got '") << op->getName() << "'";
  return std::optional<CheckedAccess>();
}

/// Puts the checks into one kernel's function.
class CheckInserter {
public:
  explicit CheckInserter(func::FuncOp function)
      : function(function), builder(function.getContext()), state(function.getArgument(0)) {}

  /// A byte for each of a local array, in which compiled code itself keeps what is written.
  void trackWrites(memref::AllocaOp array) {
    loc = array.getLoc();
    MemRefType type = array.getType();
    int64_t bytes = type.getNumElements() * getElementBytes(type.getElementType());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().front());
      written[array] = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                              builder.getI8Type(), i64(bytes));
    }
    builder.setInsertionPointAfter(array);
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
    LLVM::MemsetOp::create(builder, loc, written[array], zero, i64(bytes), /*isVolatile=*/false);
  }

  void insert(const CheckedAccess &access) {
    loc = access.op->getLoc();
    builder.setInsertionPoint(access.op);
    Value site = sim::createSite(builder, loc, sim::nameBuffer(access.memref));
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, access.memref);
    Value defect = createCheck(access, metadata, site);

    Value fine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, defect, i32(sim::NoDefect));
    auto slow = scf::IfOp::create(builder, loc, arith::XOrIOp::create(builder, loc, fine, i1(true)), false);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(slow.thenBlock());
      createReport(access, metadata, site, defect);
    }
    guardAccess(access, defect);
  }

  /// Reports a division by zero whose result is used.
  void insertDivision(Operation *op, const sim::ValueUse &use) {
    Value divisor = op->getOperand(1);
    loc = op->getLoc();
    builder.setInsertionPointAfter(op);
    // Conditions may come later than the division.
    if (use.conjunctions)
      for (const sim::Conjunction &conjunction : *use.conjunctions)
        for (auto [condition, holds] : conjunction)
          waitFor(condition);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(divisor.getType()));
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, zero);
    if (use.conjunctions)
      isZero = conjoin(isZero, build(*use.conjunctions, isZero.getType()));
    if (auto lanes = dyn_cast<VectorType>(isZero.getType()))
      isZero = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, toRow(isZero, lanes));
    Value site = sim::createSite(builder, loc, "division");
    auto slow = scf::IfOp::create(builder, loc, isZero, false);
    builder.setInsertionPointToStart(slow.thenBlock());
    sim::callRuntime(builder, loc, sim::reportFunction, {},
                     {state, i32(sim::DivisionByZero), i32(0), site, i32(0), i64(0), i64(0)});
  }

private:
  /// Whether one of the conjunctions holds, lane by lane where `type` has lanes.
  Value build(ArrayRef<sim::Conjunction> conjunctions, Type type) {
    Value any = constant(type, false);
    for (const sim::Conjunction &conjunction : conjunctions) {
      Value all = constant(type, true);
      for (auto [condition, holds] : conjunction)
        all = conjoin(all, holds ? condition
                                 : arith::XOrIOp::create(builder, loc, condition, constant(condition.getType(), true)));
      any = arith::OrIOp::create(builder, loc, any, all);
    }
    return any;
  }
  Value constant(Type type, bool value) {
    Attribute attr = builder.getBoolAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
  }
  /// `a` where a condition `b` holds, which may be one for all lanes.
  Value conjoin(Value a, Value b) {
    if (auto lanes = dyn_cast<VectorType>(a.getType()); lanes && !isa<VectorType>(b.getType()))
      b = vector::BroadcastOp::create(builder, loc, lanes, b);
    return arith::AndIOp::create(builder, loc, a, b);
  }
  /// vector.reduction takes one dimension.
  Value toRow(Value value, VectorType type) {
    if (type.getRank() == 1)
      return value;
    auto row = VectorType::get({type.getNumElements()}, type.getElementType());
    return vector::ShapeCastOp::create(builder, loc, row, value);
  }
  /// Goes on building after `value`, if that is later.
  void waitFor(Value value) {
    Operation *def = value.getDefiningOp();
    Block::iterator at = builder.getInsertionPoint();
    if (def && def->getBlock() == builder.getInsertionBlock() && at != def->getBlock()->end() &&
        !def->isBeforeInBlock(&*at))
      builder.setInsertionPointAfter(def);
  }

  Value i1(bool value) { return arith::ConstantIntOp::create(builder, loc, value, 1); }
  Value i32(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }
  Value i64(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value toI64(Value value) { return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value); }
  Value extent(const CheckedAccess &access, memref::ExtractStridedMetadataOp metadata, unsigned dim) {
    int64_t known = access.memrefType().getDimSize(dim);
    return ShapedType::isDynamic(known) ? metadata.getSizes()[dim] : index(known);
  }

  /// Every index must be below its extent; only then is there an address to ask the run time about.
  Value createCheck(const CheckedAccess &access, memref::ExtractStridedMetadataOp metadata, Value site) {
    Value inside = i1(true);
    for (auto [dim, at] : llvm::enumerate(access.indices)) {
      Value bound = extent(access, metadata, dim);
      bool last = dim + 1 == access.indices.size();
      Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, bound);
      inside = arith::AndIOp::create(builder, loc, inside, below);
      if (last && access.count > 1) {
        Value end = arith::AddIOp::create(builder, loc, at, index(access.count - 1));
        Value endBelow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, end, bound);
        inside = arith::AndIOp::create(builder, loc, inside, endBelow);
      }
    }
    auto check = scf::IfOp::create(builder, loc, TypeRange{builder.getI32Type()}, inside, true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(check.thenBlock());
    scf::YieldOp::create(builder, loc, askRuntime(access, metadata, site));
    builder.setInsertionPointToStart(check.elseBlock());
    scf::YieldOp::create(builder, loc, i32(sim::OutOfBounds));
    return check.getResult(0);
  }

  Value askRuntime(const CheckedAccess &access, memref::ExtractStridedMetadataOp metadata, Value site) {
    MemRefType type = access.memrefType();
    int64_t elementBytes = getElementBytes(type.getElementType());
    Value linear = metadata.getOffset();
    for (auto [at, stride] : llvm::zip(access.indices, metadata.getStrides()))
      linear = arith::AddIOp::create(builder, loc, linear, arith::MulIOp::create(builder, loc, at, stride));
    Value shift = arith::MulIOp::create(builder, loc, linear, index(elementBytes));
    if (sim::isPrivate(type))
      return checkPrivate(access, toI64(shift));
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, metadata.getBaseBuffer());
    Value address = toI64(arith::AddIOp::create(builder, loc, base, shift));
    Value bytes = i64(elementBytes * access.count);
    SmallVector<Value> operands{state};
    StringRef callee;
    if (sim::isShared(type)) {
      operands.append({address, bytes, site});
      callee = sim::loadSharedFunction;
      if (access.stored) {
        callee = access.op->hasAttr(kSimCopyAttr) ? sim::copySharedFunction : sim::storeSharedFunction;
        operands.push_back(spill(access.stored));
      }
    } else {
      operands.append({i32(argumentOf(access.memref)), address, bytes});
      // What is added to is read as well.
      if (isa<memref::AtomicRMWOp>(access.op)) {
        Value found =
            sim::callRuntime(builder, loc, sim::loadGlobalFunction, {builder.getI32Type()}, operands).getResult(0);
        Value stored =
            sim::callRuntime(builder, loc, sim::storeGlobalFunction, {builder.getI32Type()}, operands).getResult(0);
        Value isRead = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, found, i32(sim::NoDefect));
        return arith::SelectOp::create(builder, loc, isRead, stored, found);
      }
      callee = access.stored ? sim::storeGlobalFunction : sim::loadGlobalFunction;
    }
    return sim::callRuntime(builder, loc, callee, {builder.getI32Type()}, operands).getResult(0);
  }

  /// Where a local array is written its bytes beside it become 1; where it is read they must be.
  Value checkPrivate(const CheckedAccess &access, Value shift) {
    Value array = sim::traceViews(access.memref), marks = written.lookup(array);
    if (!marks) // no array of this kernel's
      return i32(sim::NoDefect);
    if (array != access.memref) { // A view may begin elsewhere.
      Value first = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, access.memref);
      Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, array);
      shift = arith::AddIOp::create(builder, loc, shift, toI64(arith::SubIOp::create(builder, loc, first, base)));
    }
    Value place = LLVM::GEPOp::create(builder, loc, marks.getType(), builder.getI8Type(), marks, LLVM::GEPArg(shift));
    int64_t bytes = getElementBytes(access.memrefType().getElementType()) * access.count;
    auto type = builder.getIntegerType(8 * bytes);
    Value ones = LLVM::ConstantOp::create(builder, loc, type,
                                          builder.getIntegerAttr(type, APInt::getSplat(8 * bytes, APInt(8, 1))));
    if (access.stored) {
      LLVM::StoreOp::create(builder, loc, ones, place, /*alignment=*/1);
      return i32(sim::NoDefect);
    }
    if (access.op->hasAttr(kExchangedAttr))
      return i32(sim::NoDefect);
    Value found = LLVM::LoadOp::create(builder, loc, type, place, /*alignment=*/1);
    Value isWritten = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, found, ones);
    return arith::SelectOp::create(builder, loc, isWritten, i32(sim::NoDefect), i32(sim::UnwrittenRead));
  }

  /// Which argument of the kernel is accessed; -1 where that is not known here.
  static int64_t argumentOf(Value memref) {
    Operation *root = sim::traceViews(memref).getDefiningOp();
    auto number = root ? root->getAttrOfType<IntegerAttr>(kSimArgumentAttr) : IntegerAttr();
    return number ? number.getInt() : -1;
  }

  /// The address of a copy of `value`, which the run time compares with what stands in shared memory.
  Value spill(Value value) {
    Value &slot = spills[value.getType()];
    if (!slot)
      slot = createAtEntry(MemRefType::get({}, value.getType()));
    memref::StoreOp::create(builder, loc, value, slot);
    return toI64(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, slot));
  }

  Value createAtEntry(MemRefType type) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    return memref::AllocaOp::create(builder, function.getLoc(), type);
  }

  /// Hands the indices and extents to the run time through memory: this is the slow path.
  void createReport(const CheckedAccess &access, memref::ExtractStridedMetadataOp metadata, Value site, Value defect) {
    MemRefType type = access.memrefType();
    if (!places)
      places = createAtEntry(MemRefType::get({maxPlaces}, builder.getI64Type()));
    int64_t rank = std::min<int64_t>(type.getRank(), maxPlaces / 2);
    for (int64_t dim = 0; dim < rank; ++dim) {
      memref::StoreOp::create(builder, loc, toI64(access.indices[dim]), places, index(2 * dim));
      memref::StoreOp::create(builder, loc, toI64(extent(access, metadata, dim)), places, index(2 * dim + 1));
    }
    int64_t flags = (access.stored ? sim::AccessWrites : 0) | (sim::isShared(type) ? sim::AccessShared : 0) |
                    (sim::isPrivate(type) ? sim::AccessPrivate : 0);
    Value address = toI64(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, places));
    sim::callRuntime(builder, loc, sim::reportFunction, {},
                     {state, defect, i32(flags), site, i32(rank), i64(access.count), address});
  }

  /// An access out of bounds is not made: a read gives zero.
  void guardAccess(const CheckedAccess &access, Value defect) {
    Value safe = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, defect, i32(sim::OutOfBounds));
    bool reads = !access.stored;
    auto guarded = scf::IfOp::create(builder, loc, reads ? TypeRange{access.type} : TypeRange{}, safe, reads);
    if (reads) {
      access.op->getResult(0).replaceAllUsesWith(guarded.getResult(0));
      builder.setInsertionPointToStart(guarded.elseBlock());
      Value zero = isa<LLVM::LLVMPointerType>(access.type)
                       ? LLVM::ZeroOp::create(builder, loc, access.type).getResult()
                       : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(access.type)).getResult();
      scf::YieldOp::create(builder, loc, zero);
      access.op->moveBefore(guarded.thenBlock(), guarded.thenBlock()->end());
      builder.setInsertionPointToEnd(guarded.thenBlock());
      scf::YieldOp::create(builder, loc, access.op->getResult(0));
    } else {
      access.op->moveBefore(guarded.thenBlock(), guarded.thenBlock()->begin());
    }
  }

  static constexpr int64_t maxPlaces = 16; // an index and an extent for each of 8 dimensions

  func::FuncOp function;
  OpBuilder builder;
  Value state;
  Location loc = function.getLoc();
  Value places;
  DenseMap<Type, Value> spills;
  DenseMap<Value, Value> written; // by local array: the bytes beside it
};

struct InsertSimChecks : impl::InsertSimChecksBase<InsertSimChecks> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(kSimKernelAttr))
        continue;
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) {
        if (!isa<memref::PrefetchOp>(op)) // reads nothing
          ops.push_back(op);
      });
      // Before there are checks, which use what they ask.
      DenseMap<Operation *, sim::ValueUse> divisions;
      for (Operation *op : ops)
        if (mayDivideByZero(op))
          divisions.try_emplace(op, sim::findUse(op->getResult(0), op->getBlock()));
      CheckInserter inserter(function);
      for (Operation *op : ops)
        if (auto array = dyn_cast<memref::AllocaOp>(op))
          inserter.trackWrites(array);
      for (Operation *op : ops) {
        FailureOr<std::optional<CheckedAccess>> access = findAccess(op);
        if (failed(access))
          return signalPassFailure();
        if (*access)
          inserter.insert(**access);
        else if (auto division = divisions.find(op); division != divisions.end())
          inserter.insertDivision(op, division->second);
      }
    }
  }
};

} // namespace
} // namespace tilewright
