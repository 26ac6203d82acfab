//===- OutlineLoopNests.cpp - nests and tasks become functions ------------===//
//
// Only the parameters of a function can say to LLVM that buffers do not overlap (noalias), and only a function can be
// handed to other threads. What a nest uses from around it are its function's parameters: of a memref its address, and
// the extents and strides that are no constants.
//
//===----------------------------------------------------------------------===//
#include "dialects/TE/BufferAllocation.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_OUTLINELOOPNESTS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// What shares out iterations among threads (runtime/host/Parallel.h).
static constexpr StringLiteral kParallelFunction = "tilewrightHostParallel";

namespace {

struct OutlineLoopNests : impl::OutlineLoopNestsBase<OutlineLoopNests> {
  void runOnOperation() override;
};

/// Takes the loops of one program out of it.
class Outliner {
public:
  /// Without a schedule, values may be parts of one buffer, and loops say themselves what they are for LLVM.
  Outliner(func::FuncOp program, const LLVMTypeConverter &types)
      : program(program), types(types), context(program.getContext()), next(program),
        isScheduled(program->hasAttr(kScheduledAttr)), isDisjoint(isScheduled) {}

  /// Makes a function of `loop`, which is called in its place: by the threads of the processor where the loop is
  /// parallel. Returns it.
  func::FuncOp outline(scf::ForOp loop, bool isParallel);

private:
  /// A value from around the loop, as parameters.
  struct Captured {
    Value value;
    unsigned first, count;
  };

  /// The parameters that stand for `value`, made where `builder` stands.
  void flatten(ImplicitLocOpBuilder &builder, Value value, SmallVectorImpl<Value> &parameters);
  /// The value again.
  Value restore(ImplicitLocOpBuilder &builder, Value value, ValueRange parameters);
  /// A function that threads call with the parameters in memory.
  LLVM::LLVMFuncOp createTask(func::FuncOp body, LLVM::LLVMStructType fields, ValueRange parameters);
  void callInParallel(ImplicitLocOpBuilder &builder, func::FuncOp body, ValueRange parameters, Value extent);

  func::FuncOp program;
  const LLVMTypeConverter &types;
  MLIRContext *context;
  Operation *next; // functions come behind it
  unsigned count = 0;
  bool isScheduled;
  bool isDisjoint; // no two values are of one buffer
};

bool isRowMajor(MemRefType type) { return type.getLayout().isIdentity(); }

void Outliner::flatten(ImplicitLocOpBuilder &builder, Value value, SmallVectorImpl<Value> &parameters) {
  Type i64 = builder.getI64Type();
  if (value.getType().isIndex()) {
    parameters.push_back(arith::IndexCastOp::create(builder, i64, value));
    return;
  }
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    parameters.push_back(value);
    return;
  }
  Value cast =
      UnrealizedConversionCastOp::create(builder, TypeRange{types.convertType(type)}, ValueRange{value}).getResult(0);
  MemRefDescriptor descriptor(cast);
  Value address = descriptor.alignedPtr(builder, builder.getLoc());
  auto [strides, offset] = type.getStridesAndOffset();
  // An offset that its type has comes again there.
  if (ShapedType::isDynamic(offset))
    address = LLVM::GEPOp::create(builder, address.getType(), types.convertType(type.getElementType()), address,
                                  ValueRange{descriptor.offset(builder, builder.getLoc())});
  parameters.push_back(address);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      parameters.push_back(descriptor.size(builder, builder.getLoc(), dim));
  if (!isRowMajor(type))
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (ShapedType::isDynamic(stride))
        parameters.push_back(descriptor.stride(builder, builder.getLoc(), dim));
}

Value Outliner::restore(ImplicitLocOpBuilder &builder, Value value, ValueRange parameters) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, builder.getIndexType(), parameters.front());
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return parameters.front();
  auto descriptor = MemRefDescriptor::poison(builder, builder.getLoc(), types.convertType(type));
  descriptor.setAllocatedPtr(builder, builder.getLoc(), parameters.front());
  descriptor.setAlignedPtr(builder, builder.getLoc(), parameters.front());
  auto constant = [&](int64_t number) -> Value {
    return LLVM::ConstantOp::create(builder, builder.getI64Type(), builder.getI64IntegerAttr(number));
  };
  int64_t offset = type.getStridesAndOffset().second;
  descriptor.setOffset(builder, builder.getLoc(), constant(ShapedType::isDynamic(offset) ? 0 : offset));
  parameters = parameters.drop_front();
  auto take = [&](int64_t known) {
    if (!ShapedType::isDynamic(known))
      return constant(known);
    Value parameter = parameters.front();
    parameters = parameters.drop_front();
    return parameter;
  };
  SmallVector<Value> sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(take(extent));
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  SmallVector<Value> steps(type.getRank());
  Value inner = constant(1);
  for (int64_t dim = type.getRank(); dim-- > 0 && isRowMajor(type);) {
    steps[dim] = inner;
    inner = LLVM::MulOp::create(builder, inner, sizes[dim]);
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    descriptor.setSize(builder, builder.getLoc(), dim, sizes[dim]);
    descriptor.setStride(builder, builder.getLoc(), dim, isRowMajor(type) ? steps[dim] : take(strides[dim]));
  }
  return UnrealizedConversionCastOp::create(builder, TypeRange{Type(type)}, ValueRange{Value(descriptor)}).getResult(0);
}

LLVM::LLVMFuncOp Outliner::createTask(func::FuncOp body, LLVM::LLVMStructType fields, ValueRange parameters) {
  ImplicitLocOpBuilder builder(body.getLoc(), context);
  builder.setInsertionPointAfter(body);
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64});
  auto task = LLVM::LLVMFuncOp::create(builder, (body.getName() + "_task").str(), type, LLVM::Linkage::Internal);
  next = task;
  Block *entry = task.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    Value place = LLVM::GEPOp::create(builder, pointer, fields, entry->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(0), LLVM::GEPArg(int32_t(i))});
    arguments.push_back(LLVM::LoadOp::create(builder, parameter.getType(), place));
  }
  arguments.push_back(entry->getArgument(1));
  arguments.push_back(entry->getArgument(2));
  func::CallOp::create(builder, body, arguments);
  LLVM::ReturnOp::create(builder, Value(LLVM::ConstantOp::create(builder, i32, builder.getI32IntegerAttr(0))));
  return task;
}

void Outliner::callInParallel(ImplicitLocOpBuilder &builder, func::FuncOp body, ValueRange parameters, Value extent) {
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto fields = LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(parameters.getTypes()));
  LLVM::LLVMFuncOp task = createTask(body, fields, parameters);
  auto module = program->getParentOfType<ModuleOp>();
  auto run = module.lookupSymbol<LLVM::LLVMFuncOp>(kParallelFunction);
  if (!run) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    run = LLVM::LLVMFuncOp::create(top, program.getLoc(), kParallelFunction,
                                   LLVM::LLVMFunctionType::get(i32, {pointer, pointer, i64}));
  }
  Value memory;
  {
    // At the top: in a loop the stack would grow with every iteration.
    OpBuilder::InsertionGuard guard(builder);
    auto function = builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value one = LLVM::ConstantOp::create(builder, i64, builder.getI64IntegerAttr(1));
    memory = LLVM::AllocaOp::create(builder, pointer, fields, one);
  }
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    Value place = LLVM::GEPOp::create(builder, pointer, fields, memory,
                                      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(0), LLVM::GEPArg(int32_t(i))});
    LLVM::StoreOp::create(builder, parameter, place);
  }
  Value address = LLVM::AddressOfOp::create(builder, task);
  LLVM::CallOp::create(builder, run, ValueRange{address, memory, arith::IndexCastOp::create(builder, i64, extent)});
}

/// Whether a value is all of a buffer, and no other value is of the same.
static bool isWholeBuffer(Value value) {
  Operation *made = value.getDefiningOp();
  return !made || allocatesBuffer(made) || isa<UnrealizedConversionCastOp>(made);
}

func::FuncOp Outliner::outline(scf::ForOp loop, bool isParallel) {
  // Constants, extents and casts are made again inside: LLVM then knows them.
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  for (Value operand : loop->getOperands())
    used.insert(operand);
  SmallVector<Operation *> again;
  SetVector<Value> captured;
  std::function<void(Value)> capture = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !(op->hasTrait<OpTrait::ConstantLike>() || isa<memref::CastOp, memref::DimOp>(op))) {
      captured.insert(value);
      return;
    }
    for (Value operand : op->getOperands())
      capture(operand);
    if (!llvm::is_contained(again, op))
      again.push_back(op);
  };
  for (Value value : used)
    capture(value);

  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  SmallVector<Value> parameters;
  SmallVector<Captured> all;
  for (Value value : captured) {
    unsigned first = parameters.size();
    flatten(builder, value, parameters);
    all.push_back({value, first, unsigned(parameters.size()) - first});
  }

  Type i64 = builder.getI64Type();
  SmallVector<Type> inputs(llvm::map_range(parameters, [](Value parameter) { return parameter.getType(); }));
  if (isParallel)
    inputs.append(2, i64); // from which iteration to which
  OpBuilder behind(context);
  behind.setInsertionPointAfter(next);
  auto body = func::FuncOp::create(behind, loop.getLoc(), (program.getName() + "_loops" + Twine(count++)).str(),
                                   builder.getFunctionType(inputs, {}));
  next = body;
  body.setPrivate();
  if (isScheduled)
    body->setAttr(kScheduledAttr, builder.getUnitAttr());
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  // Within its caller LLVM would forget what it knows of the parameters.
  body->setAttr("no_inline", builder.getUnitAttr());
  // Arguments that are written share no memory with others (convert-host-to-ffi refuses such calls).
  isDisjoint &= llvm::all_of(
      all, [](const Captured &each) { return !isa<MemRefType>(each.value.getType()) || isWholeBuffer(each.value); });
  for (const Captured &each : all)
    if (isDisjoint && isa<MemRefType>(each.value.getType()))
      body.setArgAttr(each.first, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

  Block *entry = body.addEntryBlock();
  ImplicitLocOpBuilder inside(loop.getLoc(), context);
  inside.setInsertionPointToStart(entry);
  IRMapping mapping;
  ValueRange arguments = entry->getArguments();
  for (const Captured &each : all)
    mapping.map(each.value, restore(inside, each.value, arguments.slice(each.first, each.count)));
  for (Operation *op : again)
    inside.clone(*op, mapping);
  auto clone = cast<scf::ForOp>(inside.clone(*loop, mapping));
  func::ReturnOp::create(inside);
  if (isParallel) {
    inside.setInsertionPoint(clone);
    clone.setLowerBound(arith::IndexCastOp::create(inside, inside.getIndexType(), arguments[parameters.size()]));
    clone.setUpperBound(arith::IndexCastOp::create(inside, inside.getIndexType(), arguments[parameters.size() + 1]));
    callInParallel(builder, body, parameters, loop.getUpperBound());
  } else {
    func::CallOp::create(builder, body, parameters);
  }
  loop.erase();
  return body;
}

/// Whether the iterations of a marked loop may run at once: it counts up by one from 0, carries nothing, and is not the
/// order of a scan.
bool canRunAtOnce(scf::ForOp loop) {
  return loop.getInitArgs().empty() && !loop->hasAttr(te::kScanAttr) &&
         getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1;
}

/// The outermost loops in a function that are for threads. What is parallel in parallel loops is serial.
SmallVector<scf::ForOp> takeParallelLoops(func::FuncOp function) {
  SmallVector<scf::ForOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!loop->removeAttr(schedule::kParallelAttr) || !canRunAtOnce(loop))
      return WalkResult::advance();
    loop.walk([](scf::ForOp inner) { inner->removeAttr(schedule::kParallelAttr); });
    loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

/// Each iteration of a loop for threads frees what it allocates on the heap.
void freeInLoops(func::FuncOp function) {
  function.walk([&](memref::AllocOp buffer) {
    Operation *loop = buffer->getParentOp();
    if (!isa<scf::ForOp>(loop) || !loop->hasAttr(schedule::kParallelAttr))
      return;
    OpBuilder builder(buffer->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, buffer.getLoc(), buffer);
  });
}

/// Buffers on the stack of a function's loops are allocated once: in a loop it would grow with every iteration.
void hoistFromLoops(func::FuncOp function) {
  function.walk([&](memref::AllocaOp buffer) {
    if (buffer->getNumOperands() == 0)
      buffer->moveBefore(&function.front(), function.front().begin());
  });
}

void OutlineLoopNests::runOnOperation() {
  LLVMTypeConverter types(&getContext());
  SmallVector<func::FuncOp> programs(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp program : programs) {
    if (!program->hasAttr(kScheduledAttr)) {
      freeInLoops(program);
      Outliner outliner(program, types);
      SmallVector<func::FuncOp> functions = {program};
      for (scf::ForOp loop : takeParallelLoops(program))
        functions.push_back(outliner.outline(loop, /*isParallel=*/true));
      for (func::FuncOp function : functions)
        hoistFromLoops(function);
      continue;
    }
    WalkResult walked = program.walk([](Operation *op) {
      for (Type type : op->getOperandTypes())
        if (auto memref = dyn_cast<MemRefType>(type); memref && isTooLarge(memref))
          return WalkResult(op->emitOpError() << "expected buffers of less than 2^63 elements, got " << type);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    Outliner outliner(program, types);
    SmallVector<scf::ForOp> nests;
    program.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (loop.getInitArgs().empty())
        nests.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : nests) {
      if (loop->hasAttr(schedule::kParallelAttr) && canRunAtOnce(loop)) {
        loop.walk([](scf::ForOp inner) { inner->removeAttr(schedule::kParallelAttr); });
        outliner.outline(loop, /*isParallel=*/true);
        continue;
      }
      func::FuncOp nest = outliner.outline(loop, /*isParallel=*/false);
      for (scf::ForOp inner : takeParallelLoops(nest))
        outliner.outline(inner, /*isParallel=*/true);
    }
  }
}

} // namespace
} // namespace tilewright
