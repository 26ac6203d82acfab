//===- KernelConverter.cpp - a kernel's function, arguments and needs -----===//
#include "passes/gpu-to-sim/KernelConverter.h"

#include "dialects/Tile/Tile.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"
#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/tile-to-nvvm/TileKernel.h"
#include "runtime/sim/ABI.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tilewright {

LogicalResult KernelConverter::run() {
  if (failed(checkKernel()))
    return failure();
  createFunction();
  if (failed(convertArguments()))
    return failure();
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(convertOp(op)))
      return failure();
  pollInLoops();
  createInfo();
  return success();
}

void KernelConverter::pollInLoops() {
  constexpr int64_t isLong = 1 << 20;
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      builder.setInsertionPointToStart(loop.getBeforeBody());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      bool hasLoops =
          llvm::any_of(loop.getBody()->getOperations(), [](Operation &inner) { return inner.getNumRegions(); });
      if (!hasLoops && trips && trips->ult(isLong))
        return;
      builder.setInsertionPointToStart(loop.getBody());
    } else {
      return;
    }
    sim::callRuntime(builder, op->getLoc(), sim::pollFunction, {}, {state});
  });
}

LogicalResult KernelConverter::checkKernel() {
  if (!kernel.isKernel())
    return kernel.emitError("expected every gpu.func to be a kernel");
  if (kernel.getNumWorkgroupAttributions() || kernel.getNumPrivateAttributions())
    return kernel.emitError("expected shared memory to be planned (plan-shared-memory), got attributions");
  return success();
}

void KernelConverter::createFunction() {
  builder.setInsertionPoint(kernel->getParentOp());
  auto type = builder.getFunctionType({pointer, pointer}, {});
  function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(), type);
  function->setAttr(kSimKernelAttr, builder.getUnitAttr());
  // What is left to convert-tile-to-sim asks for it, as on the way to nvvm.
  if (auto size = kernel.getKnownClusterSizeAttr()) {
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), size);
    llvm::copy(size.asArrayRef(), cluster);
  }
  if (hasTileOps(kernel))
    synchronizes = isAsynchronous = 1;
  function.getBody().takeBody(kernel.getBody());
}

Value KernelConverter::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, function.getLoc(), builder.getI64IntegerAttr(value));
}

Value KernelConverter::loadWord(int word, Type type) {
  Location loc = function.getLoc();
  Value place = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), state, LLVM::GEPArg(word));
  if (!type.isIndex())
    return LLVM::LoadOp::create(builder, loc, type, place);
  Value loaded = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), place);
  return arith::IndexCastOp::create(builder, loc, type, loaded);
}

Value KernelConverter::stateWord(int word) {
  Value &value = words[word];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(prologueEnd);
    value = loadWord(word, word == sim::SharedBase ? Type(pointer) : builder.getIndexType());
  }
  return value;
}

UnrealizedConversionCastOp KernelConverter::createMemRef(MemRefType type, Value base, ArrayRef<Value> extents,
                                                         ArrayRef<Value> strides) {
  Location loc = function.getLoc();
  Type i64 = builder.getI64Type();
  SmallVector<Type> fields{pointer, pointer, i64};
  if (type.getRank())
    fields.append(2, LLVM::LLVMArrayType::get(i64, type.getRank()));
  auto descriptorType = LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(base, {0});
  insert(base, {1});
  insert(constant(0), {2});
  Value stride = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    insert(extents[dim], {3, dim});
    insert(strides.empty() ? stride : strides[dim], {4, dim});
    if (dim)
      stride = LLVM::MulOp::create(builder, loc, stride, extents[dim]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange{type}, ValueRange{descriptor});
}

LogicalResult KernelConverter::convertArguments() {
  Block &entry = function.getBody().front();
  unsigned count = entry.getNumArguments();
  SmallVector<Value> arguments(entry.getArguments());
  Location loc = function.getLoc();
  state = entry.addArgument(pointer, loc);
  Value params = entry.addArgument(pointer, loc);
  builder.setInsertionPointToStart(&entry);
  prologueEnd = constant(0); // state words are loaded here later
  int parameter = 0;
  auto take = [&](Type type) -> Value {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, params, LLVM::GEPArg(parameter++));
    Value slot = LLVM::LoadOp::create(builder, loc, pointer, place);
    return LLVM::LoadOp::create(builder, loc, type, slot);
  };
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    info.push_back(parameter);
    std::string name = argumentName(number, argument);
    texts += name + '\0';
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      if (!hasArgumentLayout(type) || type.getMemorySpace())
        return kernel.emitError("expected arguments without offset and memory space, got ") << type;
      SmallVector<int64_t> known;
      if (!type.getLayout().isIdentity())
        known = type.getStridesAndOffset().first;
      info.append({getElementBytes(type.getElementType()), type.getRank(), int64_t(known.size())});
      Value base = take(pointer);
      auto takeAll = [&](ArrayRef<int64_t> words) {
        return llvm::map_to_vector(words, [&](int64_t word) {
          bool isDynamic = ShapedType::isDynamic(word);
          info.push_back(isDynamic ? -1 : word);
          return isDynamic ? take(builder.getI64Type()) : constant(word);
        });
      };
      SmallVector<Value> extents = takeAll(type.getShape()), strides = takeAll(known);
      auto made = createMemRef(type, base, extents, strides);
      made->setAttr(kSimArgumentAttr, builder.getI64IntegerAttr(number));
      made->setAttr(te::kNameAttr, builder.getStringAttr(name));
      argument.replaceAllUsesWith(made.getResult(0));
    } else if (argument.getType().isIndex()) {
      info.append({0, 0, 0});
      Value taken = take(builder.getI64Type());
      Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), taken);
      argument.replaceAllUsesWith(index);
    } else if (argument.getType().isIntOrFloat()) {
      info.append({0, 0, 0});
      argument.replaceAllUsesWith(take(argument.getType()));
    } else if (isa<tile::TensorMapType>(argument.getType())) {
      // The 128 bytes are the parameter itself.
      info.append({0, 0, 0});
      Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, params, LLVM::GEPArg(parameter++));
      Value map = LLVM::LoadOp::create(builder, loc, pointer, place);
      auto made = UnrealizedConversionCastOp::create(builder, loc, TypeRange{argument.getType()}, ValueRange{map});
      argument.replaceAllUsesWith(made.getResult(0));
    } else {
      return kernel.emitError("expected arguments that are memrefs, indices, scalars or tensor maps, got ")
             << argument.getType();
    }
  }
  entry.eraseArguments(0, count);
  numArguments = count;
  return success();
}

std::string KernelConverter::argumentName(size_t number, Value argument) {
  if (number < names.size() && !names[number].empty())
    return names[number];
  auto name = argument.getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : "argument " + std::to_string(number);
}

Value KernelConverter::createSlot(int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(prologueEnd);
  privateBytes += bytes;
  return LLVM::AllocaOp::create(builder, function.getLoc(), pointer, builder.getI8Type(), constant(bytes),
                                /*alignment=*/16);
}

void KernelConverter::replaceIndex(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

void KernelConverter::addRegion(Operation *op, int64_t offset, int64_t bytes, int64_t slots, int64_t barriers) {
  regions.append({offset, bytes, slots, barriers});
  regionNames += sim::nameTile(op) + '\0';
}

void KernelConverter::createInfo() {
  // Fragments go to shared memory 8 bytes at a time or more, unless they are transposed.
  constexpr int64_t tileGranularity = 8;
  if (isAsynchronous)
    lookAt(tileGranularity);
  SmallVector<int64_t> words{synchronizes, granularity ? granularity : 1,
                             privateBytes, isAsynchronous,
                             cluster[0],   cluster[1],
                             cluster[2],   static_cast<int64_t>(regions.size()) / sim::NumRegionWords,
                             numArguments};
  words.append(info);
  words.append(regions);
  texts += regionNames;
  if (texts.empty())
    texts.push_back('\0');
  builder.setInsertionPointAfter(function);
  auto type = RankedTensorType::get({static_cast<int64_t>(words.size())}, builder.getI64Type());
  LLVM::GlobalOp::create(builder, function.getLoc(), LLVM::LLVMArrayType::get(builder.getI64Type(), words.size()),
                         /*isConstant=*/true, LLVM::Linkage::External, (function.getName() + "_info").str(),
                         DenseElementsAttr::get(type, ArrayRef<int64_t>(words)));
  LLVM::GlobalOp::create(builder, function.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), texts.size()),
                         /*isConstant=*/true, LLVM::Linkage::External, (function.getName() + "_arguments").str(),
                         builder.getStringAttr(texts));
}

} // namespace tilewright
