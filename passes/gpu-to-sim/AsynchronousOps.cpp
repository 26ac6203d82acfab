//===- AsynchronousOps.cpp - ops of NVVM as calls of the simulator --------===//
#include "passes/gpu-to-sim/AsynchronousOps.h"
#include "passes/AddressSpaces.h"

#include "dialects/Tile/Instructions.h"
#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "runtime/sim/ABI.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value sim::RuntimeCalls::i32(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}
Value sim::RuntimeCalls::i64(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}
Value sim::RuntimeCalls::site(StringRef name) { return sim::createSite(builder, loc, name); }

Value sim::RuntimeCalls::word(int number) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value place = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), state(), LLVM::GEPArg(number));
  Value loaded = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), place);
  return LLVM::TruncOp::create(builder, loc, builder.getI32Type(), loaded);
}

Value sim::RuntimeCalls::slot(int64_t bytes) {
  OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value count = LLVM::ConstantOp::create(top, loc, top.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(top, loc, LLVM::LLVMPointerType::get(top.getContext()), top.getI8Type(), count,
                                /*alignment=*/16);
}

Value sim::RuntimeCalls::spill(ValueRange values) {
  Type type = values.front().getType();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value place = slot(DataLayout::closest(kernel).getTypeSize(type) * values.size());
  for (auto [number, value] : llvm::enumerate(values)) {
    Value at = LLVM::GEPOp::create(builder, loc, pointer, type, place, LLVM::GEPArg(static_cast<int32_t>(number)));
    LLVM::StoreOp::create(builder, loc, value, at, /*alignment=*/1);
  }
  return place;
}

Value sim::RuntimeCalls::create(StringRef callee, ValueRange operands, Type result) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(callee);
  if (!function) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    Type returned = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
    // Addresses are one kind of pointer here, whatever memory they are of.
    SmallVector<Type> types;
    for (Type type : operands.getTypes())
      types.push_back(isa<LLVM::LLVMPointerType>(type) ? LLVM::LLVMPointerType::get(builder.getContext()) : type);
    function = LLVM::LLVMFuncOp::create(top, module.getLoc(), callee, LLVM::LLVMFunctionType::get(returned, types));
  }
  SmallVector<Value> arguments;
  for (auto [operand, type] : llvm::zip(operands, function.getArgumentTypes()))
    arguments.push_back(operand.getType() == type ? operand
                                                  : LLVM::AddrSpaceCastOp::create(builder, loc, type, operand));
  auto call = LLVM::CallOp::create(builder, loc, function, arguments);
  return result ? call.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

bool isOfSharedMemory(Value pointer) {
  unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  return space == getLLVMSpace(NVVM::NVVMMemorySpace::Shared) ||
         space == getLLVMSpace(NVVM::NVVMMemorySpace::SharedCluster);
}

/// Converts one op after the other.
class AsynchronousOps {
public:
  explicit AsynchronousOps(LLVM::LLVMFuncOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  LogicalResult convert(Operation *op) {
    builder.setInsertionPoint(op);
    sim::RuntimeCalls calls(builder, kernel, op->getLoc());
    if (convertRegister(op, calls) || convertMemory(op, calls) || convertBarrier(op, calls) || convertCopy(op, calls))
      return success();
    if (isa_and_present<NVVM::NVVMDialect>(op->getDialect()))
      return op->emitError("expected an operation that the simulator runs, got '") << op->getName() << "'";
    return success();
  }

private:
  bool convertRegister(Operation *op, sim::RuntimeCalls &calls);
  bool convertMemory(Operation *op, sim::RuntimeCalls &calls);
  bool convertBarrier(Operation *op, sim::RuntimeCalls &calls);
  bool convertCopy(Operation *op, sim::RuntimeCalls &calls);
  Value roundToBF16(LLVM::FPTruncOp op);

  /// Always true.
  bool replace(Operation *op, Value value = {}) {
    if (value)
      op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  LLVM::LLVMFuncOp kernel;
  OpBuilder builder;
};

bool AsynchronousOps::convertRegister(Operation *op, sim::RuntimeCalls &calls) {
  int word = llvm::TypeSwitch<Operation *, int>(op)
                 .Case<NVVM::ThreadIdXOp>([](auto) { return sim::ThreadIdX; })
                 .Case<NVVM::BlockInClusterIdXOp>([](auto) { return sim::BlockInClusterX; })
                 .Case<NVVM::BlockInClusterIdYOp>([](auto) { return sim::BlockInClusterX + 1; })
                 .Case<NVVM::BlockInClusterIdZOp>([](auto) { return sim::BlockInClusterX + 2; })
                 .Case<NVVM::ClusterId>([](auto) { return sim::ClusterRank; })
                 .Default([](Operation *) { return -1; });
  return word >= 0 && replace(op, calls.word(word));
}

/// x86 has no instruction for it, so it is done in integers: half a unit of the last place kept is added, and a little
/// less where that place is even.
Value AsynchronousOps::roundToBF16(LLVM::FPTruncOp op) {
  Location loc = op.getLoc();
  Value wide = op.getArg();
  auto shape = dyn_cast<VectorType>(wide.getType());
  auto like = [&](Type element) -> Type { return shape ? Type(VectorType::get(shape.getShape(), element)) : element; };
  Type i32 = like(builder.getI32Type());
  auto constant = [&](int32_t value) -> Value {
    Attribute number =
        shape ? Attribute(DenseElementsAttr::get(cast<VectorType>(i32), value)) : builder.getI32IntegerAttr(value);
    return LLVM::ConstantOp::create(builder, loc, i32, number);
  };
  Value bits = LLVM::BitcastOp::create(builder, loc, i32, wide);
  Value upper = LLVM::LShrOp::create(builder, loc, bits, constant(16));
  Value odd = LLVM::AndOp::create(builder, loc, upper, constant(1));
  Value sum = LLVM::AddOp::create(builder, loc, bits, LLVM::AddOp::create(builder, loc, odd, constant(0x7fff)));
  Value rounded = LLVM::LShrOp::create(builder, loc, sum, constant(16));
  Value isNumber = LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::ord, wide, wide);
  Value kept = LLVM::SelectOp::create(builder, loc, isNumber, rounded, constant(0x7fff));
  Value narrow = LLVM::TruncOp::create(builder, loc, like(builder.getI16Type()), kept);
  return LLVM::BitcastOp::create(builder, loc, op.getType(), narrow);
}

bool AsynchronousOps::convertMemory(Operation *op, sim::RuntimeCalls &calls) {
  Location loc = op->getLoc();
  auto bytesOf = [&](Type type) { return static_cast<int64_t>(DataLayout::closest(op).getTypeSize(type)); };
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op); address && address.getGlobalName() == kSharedMemorySymbol) {
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), calls.state(), LLVM::GEPArg(sim::SharedBase));
    Value base = LLVM::LoadOp::create(builder, loc, pointer, place);
    return replace(op, LLVM::AddrSpaceCastOp::create(builder, loc, address.getType(), base));
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isOfSharedMemory(load.getAddr())) {
    int64_t bytes = bytesOf(load.getType());
    Value slot = calls.slot(bytes);
    calls.create(sim::loadBytesFunction, {calls.state(), calls.site("load"), load.getAddr(), slot, calls.i64(bytes)});
    return replace(op, LLVM::LoadOp::create(builder, loc, load.getType(), slot, /*alignment=*/1));
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op); store && isOfSharedMemory(store.getAddr())) {
    Value value = store.getValue();
    calls.create(sim::storeBytesFunction, {calls.state(), calls.site("store_fragment"), store.getAddr(),
                                           calls.spill(value), calls.i64(bytesOf(value.getType()))});
    return replace(op);
  }
  if (auto round = dyn_cast<LLVM::FPTruncOp>(op); round && getElementTypeOrSelf(round.getType()).isBF16())
    return replace(op, roundToBF16(round));
  if (auto store = dyn_cast<NVVM::StMatrixOp>(op); store && store.getEltType() == NVVM::LdStMatrixEltType::B16) {
    bool isTransposed = store.getLayout() == NVVM::MMALayout::col;
    calls.create(sim::storeMatricesFunction,
                 {calls.state(), calls.site("store_fragment"), calls.i32(store.getSources().size()),
                  calls.i32(isTransposed), store.getPtr(), calls.spill(store.getSources())});
    return replace(op);
  }
  if (auto peer = dyn_cast<NVVM::MapaOp>(op)) {
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value address =
        calls.create(sim::peerAddressFunction, {calls.state(), calls.site("mapa"), peer.getA(), peer.getB()}, pointer);
    return replace(op, LLVM::AddrSpaceCastOp::create(builder, loc, peer.getType(), address));
  }
  return false;
}

bool AsynchronousOps::convertBarrier(Operation *op, sim::RuntimeCalls &calls) {
  Value state = calls.state();
  if (auto elect = dyn_cast<NVVM::ElectSyncOp>(op)) {
    Value elected = calls.create(sim::electFunction, {state, calls.site("elect")}, builder.getI32Type());
    return replace(op, LLVM::TruncOp::create(builder, op->getLoc(), builder.getI1Type(), elected));
  }
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op); barrier && !barrier.getReductionOp()) {
    Value number = barrier.getBarrierId() ? barrier.getBarrierId() : calls.i32(0);
    Value threads = barrier.getNumberOfThreads() ? barrier.getNumberOfThreads() : calls.i32(0);
    calls.create(sim::namedBarrierFunction, {state, calls.site("barrier"), number, threads});
    return replace(op);
  }
  if (auto barrier = dyn_cast<NVVM::BarrierArriveOp>(op)) {
    Value number = barrier.getBarrierId() ? barrier.getBarrierId() : calls.i32(0);
    calls.create(sim::namedArriveFunction, {state, calls.site("arrive"), number, barrier.getNumberOfThreads()});
    return replace(op);
  }
  if (isa<NVVM::ClusterArriveOp>(op)) {
    calls.create(sim::clusterArriveFunction, {state, calls.site("cluster arrive")});
    return replace(op);
  }
  if (isa<NVVM::ClusterArriveRelaxedOp>(op)) {
    calls.create(sim::clusterArriveRelaxedFunction, {state, calls.site("cluster arrive")});
    return replace(op);
  }
  if (isa<NVVM::ClusterWaitOp>(op)) {
    calls.create(sim::clusterWaitFunction, {state, calls.site("cluster wait")});
    return replace(op);
  }
  if (auto registers = dyn_cast<NVVM::SetMaxRegisterOp>(op)) {
    calls.create(sim::setRegistersFunction, {state, calls.site("registers"), calls.i32(registers.getRegCount())});
    return replace(op);
  }
  if (isa<NVVM::FenceMbarrierInitOp>(op)) {
    calls.create(sim::fenceFunction, {state, calls.i32(static_cast<int>(sim::Fence::BarrierInit))});
    return replace(op);
  }
  if (auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
      fence && (fence.getKind() == NVVM::ProxyKind::async || fence.getKind() == NVVM::ProxyKind::async_shared)) {
    calls.create(sim::fenceFunction, {state, calls.i32(static_cast<int>(sim::Fence::Async))});
    return replace(op);
  }
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op); init && !init.getPredicate()) {
    calls.create(sim::startBarrierFunction, {state, calls.site("init"), init.getAddr(), init.getCount()});
    return replace(op);
  }
  auto arrive = [&](Value address, Value arrivals, Value bytes, StringRef name) {
    calls.create(sim::arriveFunction, {state, calls.site(name), address, arrivals, bytes});
    return replace(op);
  };
  if (auto arrival = dyn_cast<NVVM::MBarrierArriveOp>(op); arrival && op->use_empty() && !arrival.getRelaxed())
    return arrive(arrival.getAddr(), arrival.getCount() ? arrival.getCount() : calls.i32(1), calls.i32(0), "release");
  if (auto arrival = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op);
      arrival && op->use_empty() && !arrival.getRelaxed() && !arrival.getPredicate())
    return arrive(arrival.getAddr(), calls.i32(1), arrival.getTxcount(), "commit");
  if (auto expect = dyn_cast<NVVM::MBarrierExpectTxOp>(op))
    return arrive(expect.getAddr(), calls.i32(0), expect.getTxcount(), "expect");
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op)) {
    calls.create(sim::waitPhaseFunction, {state, calls.site("wait"), wait.getAddr(), wait.getPhase()});
    return replace(op);
  }
  return false;
}

bool AsynchronousOps::convertCopy(Operation *op, sim::RuntimeCalls &calls) {
  Value state = calls.state();
  if (auto load = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
      load && load.getMode() == NVVM::TMALoadMode::TILE && !load.getPredicate()) {
    Value mask = load.getMulticastMask();
    mask = mask ? LLVM::ZExtOp::create(builder, op->getLoc(), builder.getI32Type(), mask).getResult() : calls.i32(0);
    if (auto gathered = op->getAttrOfType<IntegerAttr>(tile::kGatheredAttr)) {
      auto coordinates = load.getCoordinates();
      unsigned dimension = coordinates.size() - 1 - gathered.getInt();
      calls.create(sim::checkPlaceFunction, {state, calls.site("tma_load"), load.getTmaDescriptor(),
                                             calls.i32(dimension), coordinates[dimension]});
    }
    calls.create(sim::loadTileFunction,
                 {state, calls.site("tma_load"), load.getDstMem(), load.getTmaDescriptor(),
                  calls.spill(load.getCoordinates()), calls.i32(load.getCoordinates().size()), load.getMbar(), mask});
    return replace(op);
  }
  if (auto store = dyn_cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op);
      store && store.getMode() == NVVM::TMAStoreMode::TILE && !store.getPredicate()) {
    calls.create(sim::storeTileFunction,
                 {state, calls.site("tma_store"), store.getTmaDescriptor(), store.getSrcMem(),
                  calls.spill(store.getCoordinates()), calls.i32(store.getCoordinates().size()), calls.i32(0)});
    return replace(op);
  }
  if (auto add = dyn_cast<NVVM::CpAsyncBulkTensorReduceOp>(op);
      add && add.getMode() == NVVM::TMAStoreMode::TILE && add.getRedKind() == NVVM::TMAReduxKind::ADD) {
    calls.create(sim::storeTileFunction,
                 {state, calls.site("tma_store"), add.getTmaDescriptor(), add.getSrcMem(),
                  calls.spill(add.getCoordinates()), calls.i32(add.getCoordinates().size()), calls.i32(1)});
    return replace(op);
  }
  if (isa<NVVM::CpAsyncBulkCommitGroupOp>(op)) {
    calls.create(sim::commitStoresFunction, {state});
    return replace(op);
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op)) {
    calls.create(sim::waitStoresFunction, {state, calls.i32(wait.getGroup())});
    return replace(op);
  }
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    calls.create(sim::commitMatmulsFunction, {state});
    return replace(op);
  }
  // A hint.
  return isa<NVVM::PrefetchOp>(op) && replace(op);
}

} // namespace

LogicalResult sim::convertAsynchronousOps(LLVM::LLVMFuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  AsynchronousOps converter(kernel);
  for (Operation *op : ops)
    if (failed(converter.convert(op)))
      return failure();
  // It has told the patterns for tiles how large the cluster is.
  kernel->removeAttr(NVVM::NVVMDialect::getClusterDimAttrName());
  return success();
}
