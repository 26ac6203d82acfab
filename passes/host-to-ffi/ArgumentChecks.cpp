//===- ArgumentChecks.cpp - whether a call's arguments fit, compiled ------===//
//
// The rules are those of runtime/host/Check.cpp, which has the last word: here stands only what decides whether it must
// be asked. Conditions that can be evaluated together are, so that a call that fits has few branches.
//
//===----------------------------------------------------------------------===//
#include "passes/host-to-ffi/ArgumentChecks.h"

#include "runtime/host/ABI.h"

using namespace mlir;
using namespace tilewright;

Value ArgumentChecks::constant(Type type, int64_t value) { return LLVM::ConstantOp::create(builder, type, value); }

Value ArgumentChecks::equal(Value a, Value b) { return LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, a, b); }

Value ArgumentChecks::load(Type type, Value base, int64_t offset) {
  Value place = offset ? LLVM::GEPOp::create(builder, base.getType(), builder.getI8Type(), base,
                                             ArrayRef<LLVM::GEPArg>{int32_t(offset)})
                             .getResult()
                       : base;
  return LLVM::LoadOp::create(builder, type, place);
}

Value ArgumentChecks::conjoin(Value a, Value b) { return a ? LLVM::AndOp::create(builder, a, b).getResult() : b; }

void ArgumentChecks::require(Value condition) {
  if (!condition)
    return;
  Block *next = builder.getInsertionBlock()->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(next->getPrevNode());
  LLVM::CondBrOp::create(builder, condition, next, ValueRange(), refuse, ValueRange(), std::pair<uint32_t, uint32_t>(2000, 1));
  builder.setInsertionPointToStart(next);
}

void ArgumentChecks::emit(Value args, Value count) {
  require(equal(count, i32(program.arguments.size())));
  for (auto [position, argument] : llvm::enumerate(program.arguments))
    checkArgument(loadTensor(args, position), argument);
  checkOverlap();
}

Value ArgumentChecks::loadTensor(Value args, unsigned position) {
  int64_t offset = int64_t(position) * sizeof(TilewrightAny);
  Value type = load(builder.getI32Type(), args, offset);
  Value object = load(args.getType(), args, offset + 8);
  Value isTensor = equal(type, i32(TilewrightTypeTensor));
  Value known = LLVM::OrOp::create(builder, isTensor, equal(type, i32(TilewrightTypeDLTensor)));
  Value null = LLVM::ZeroOp::create(builder, object.getType());
  require(conjoin(known, LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, object, null)));
  Value offsetOfTensor = LLVM::SelectOp::create(builder, isTensor, i64(TilewrightTensorOffset), i64(0));
  return LLVM::GEPOp::create(builder, object.getType(), builder.getI8Type(), object, ArrayRef<LLVM::GEPArg>{offsetOfTensor});
}

void ArgumentChecks::checkArgument(Value tensor, const HostArgument &argument) {
  Type i32Type = builder.getI32Type(), i64Type = builder.getI64Type(), pointer = tensor.getType();
  CheckedArgument found;
  Value device = load(i32Type, tensor, offsetof(TilewrightDLTensor, deviceType));
  found.deviceId = load(i32Type, tensor, offsetof(TilewrightDLTensor, deviceId));
  bool onGPU = target == TargetKind::CUDA;
  Value fits = LLVM::OrOp::create(builder, equal(device, i32(onGPU ? TilewrightDeviceCUDA : TilewrightDeviceCPU)),
                                  equal(device, i32(onGPU ? TilewrightDeviceManaged : TilewrightDeviceCUDAHost)));
  // Code, bits and lanes in one.
  fits = conjoin(fits, equal(load(i32Type, tensor, offsetof(TilewrightDLTensor, code)), i32(argument.dtype)));
  fits = conjoin(fits, equal(load(i32Type, tensor, offsetof(TilewrightDLTensor, ndim)), i32(argument.extents.size())));
  if (onGPU && !checked.empty())
    fits = conjoin(fits, equal(found.deviceId, checked.front().deviceId));
  require(fits);

  Value data = load(pointer, tensor, offsetof(TilewrightDLTensor, data));
  Value byteOffset = load(i64Type, tensor, offsetof(TilewrightDLTensor, byteOffset));
  found.address = LLVM::AddOp::create(builder, LLVM::PtrToIntOp::create(builder, i64Type, data), byteOffset);
  Value shape = load(pointer, tensor, offsetof(TilewrightDLTensor, shape));
  for (size_t dim = 0; dim < argument.extents.size(); ++dim)
    found.extents.push_back(load(i64Type, shape, dim * sizeof(int64_t)));
  fits = checkExtents(argument, found);

  // From here on an extent that is a number is that number.
  Value elements = i64(1), empty = constant(builder.getI1Type(), 0);
  for (auto [extent, value] : llvm::zip(argument.extents, found.extents)) {
    if (!extent.isSymbol())
      value = i64(extent.number);
    elements = LLVM::MulOp::create(builder, elements, value);
    empty = LLVM::OrOp::create(builder, empty, equal(value, i64(0)));
  }
  found.bytes = LLVM::MulOp::create(builder, elements, i64(argument.itemBytes()));
  Value past = LLVM::AndOp::create(builder, found.address, i64(kHostAlignment - 1));
  fits = conjoin(fits, LLVM::OrOp::create(builder, equal(past, i64(0)), empty));
  require(fits);
  if (!argument.extents.empty())
    checkRowMajor(load(pointer, tensor, offsetof(TilewrightDLTensor, strides)), found, empty);
  checked.push_back(std::move(found));
}

Value ArgumentChecks::checkExtents(const HostArgument &argument, CheckedArgument &found) {
  Value fits;
  for (auto [extent, value] : llvm::zip(argument.extents, found.extents)) {
    if (!extent.isSymbol()) {
      fits = conjoin(fits, equal(value, i64(extent.number)));
      continue;
    }
    auto [known, isFirst] = symbols.try_emplace(extent.symbol, value);
    if (!isFirst)
      fits = conjoin(fits, equal(value, known->second));
    if (extent.divisibleBy > 1)
      fits = conjoin(fits, equal(LLVM::SRemOp::create(builder, value, i64(extent.divisibleBy)), i64(0)));
    fits = conjoin(fits, LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::sge, value, i64(extent.minimum)));
    if (extent.maximum != INT64_MAX)
      fits = conjoin(fits, LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::sle, value, i64(extent.maximum)));
  }
  return fits;
}

void ArgumentChecks::checkRowMajor(Value strides, const CheckedArgument &argument, Value empty) {
  // Without strides an array is row-major.
  Block *next = builder.getInsertionBlock()->splitBlock(builder.getInsertionPoint());
  Block *before = next->getPrevNode();
  Block *read = builder.createBlock(next);
  builder.setInsertionPointToEnd(before);
  Value null = LLVM::ZeroOp::create(builder, strides.getType());
  LLVM::CondBrOp::create(builder, equal(strides, null), next, read);
  builder.setInsertionPointToEnd(read);
  Value fits, expected = i64(1);
  for (size_t dim = argument.extents.size(); dim-- > 0;) {
    Value extent = argument.extents[dim], stride = load(builder.getI64Type(), strides, dim * sizeof(int64_t));
    fits = conjoin(fits, LLVM::OrOp::create(builder, equal(stride, expected), equal(extent, i64(1))));
    if (dim)
      expected = LLVM::MulOp::create(builder, expected, extent);
  }
  fits = LLVM::OrOp::create(builder, fits, empty);
  LLVM::CondBrOp::create(builder, fits, next, ValueRange(), refuse, ValueRange(), std::pair<uint32_t, uint32_t>(2000, 1));
  builder.setInsertionPointToStart(next);
}

void ArgumentChecks::checkOverlap() {
  Value fits;
  for (size_t output = 0; output < checked.size(); ++output) {
    if (!program.arguments[output].output)
      continue;
    for (size_t other = 0; other < checked.size(); ++other) {
      if (other == output || (other < output && program.arguments[other].output))
        continue;
      const CheckedArgument &a = checked[output], &b = checked[other];
      Value begins = LLVM::UMaxOp::create(builder, a.address, b.address);
      Value ends = LLVM::UMinOp::create(builder, LLVM::AddOp::create(builder, a.address, a.bytes),
                                        LLVM::AddOp::create(builder, b.address, b.bytes));
      fits = conjoin(fits, LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::uge, begins, ends));
    }
  }
  require(fits);
}
