//===- ArgumentChecks.cpp - whether a call's arguments fit, compiled ------===//
//
// The rules are those of runtime/host/Check.cpp, which has the last word: here stands only what decides whether it must
// be asked. That is asked more often than it refuses, so that what is compiled is short: memory that is pinned or
// managed, strides that are absent or of no account, and arrays without elements are left to it.
//
// Few arguments go through each of three steps together, and a step ends in one branch: are they tensors, do they have
// their dtypes and ranks (from then on their shapes and strides can be read), and does everything else fit.
//
//===----------------------------------------------------------------------===//
#include "passes/host-to-ffi/ArgumentChecks.h"

#include "runtime/host/ABI.h"

using namespace mlir;
using namespace tilewright;

/// Up to so many pairs an argument are compared one by one. More are for the run time's loop, so that the code grows
/// with the number of arguments and not with its square.
static constexpr size_t kMostPairs = 4;

/// A branch is of not much more than so many expectations: LLVM's time grows with the square of their number.
static constexpr size_t kMostTogether = 48;

Value ArgumentChecks::constant(Type type, int64_t value) {
  Value &known = constants[{type, value}];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    // Here it dominates everything.
    builder.setInsertionPointToStart(&builder.getInsertionBlock()->getParent()->front());
    known = LLVM::ConstantOp::create(builder, type, value);
  }
  return known;
}

Value ArgumentChecks::place(Value base, int64_t offset) {
  if (!offset)
    return base;
  return LLVM::GEPOp::create(builder, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value ArgumentChecks::load(Type type, Value base, int64_t offset) {
  return LLVM::LoadOp::create(builder, type, place(base, offset));
}

void ArgumentChecks::store(Value value, Value array, int64_t index) {
  LLVM::StoreOp::create(builder, value, place(array, index * sizeof(int64_t)));
}

void ArgumentChecks::expectEqual(Value value, Value expected) {
  bits.push_back(LLVM::XOrOp::create(builder, value, expected));
}

void ArgumentChecks::expectNonNegative(Value value) { numbers.push_back(value); }

/// Within a step, between two arguments or pairs of them.
void ArgumentChecks::branchIfMany() {
  if (conditions.size() + bits.size() + numbers.size() >= kMostTogether)
    branch();
}

/// Goes on where everything that was expected is so.
void ArgumentChecks::branch() {
  auto join = [&](auto create, ArrayRef<Value> values) {
    Value result;
    for (Value value : values)
      result = result ? Value(create(result, value)) : value;
    return result;
  };
  auto either = [&](Value a, Value b) { return LLVM::OrOp::create(builder, a, b); };
  if (Value number = join(either, numbers))
    bits.push_back(LLVM::LShrOp::create(builder, number, i64(63)));
  if (Value set = join(either, bits))
    conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, set, i64(0)));
  Value fits = join([&](Value a, Value b) { return LLVM::AndOp::create(builder, a, b); }, conditions);
  conditions.clear(), bits.clear(), numbers.clear();
  if (!fits)
    return;
  Block *next = builder.getInsertionBlock()->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(next->getPrevNode());
  LLVM::CondBrOp::create(builder, fits, next, ValueRange(), otherwise, ValueRange(),
                         std::pair<uint32_t, uint32_t>(2000, 1));
  builder.setInsertionPointToStart(next);
}

/// Narrow floats are the run time's to make: not every machine has instructions for them. So is what may not be there.
static bool isPlain(const HostArgument &argument) {
  return !argument.isOptional && (!argument.isNumber || !argument.isFloat() || argument.bits() >= 32);
}

Value ArgumentChecks::emit(Value args, Value count) {
  if (!llvm::all_of(program.arguments, isPlain)) {
    LLVM::BrOp::create(builder, ValueRange(), otherwise);
    return nullptr;
  }
  conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, count, i32(program.parameters.size())));
  branch();
  checkGroups(args);
  SmallVector<Value> tensors;
  SmallVector<int64_t> firstExtents;
  int64_t numExtents = 0;
  for (auto [position, argument] : llvm::enumerate(program.arguments)) {
    tensors.push_back(argument.isNumber || argument.isPointer ? Value() : checkKind(places[position]));
    firstExtents.push_back(numExtents);
    numExtents += argument.numExtents();
    branchIfMany();
  }
  branch();
  for (auto [tensor, argument] : llvm::zip(tensors, program.arguments)) {
    if (tensor)
      checkHeader(tensor, argument);
    branchIfMany();
  }
  branch();
  for (auto [position, tensor] : llvm::enumerate(tensors)) {
    if (tensor)
      checkMemory(tensor, position, firstExtents[position]);
    else if (program.arguments[position].isNumber)
      checkNumber(places[position], position, firstExtents[position]);
    branchIfMany();
  }
  // Whose extents the others say.
  for (auto [position, argument] : llvm::enumerate(program.arguments))
    if (argument.isPointer)
      checkPointer(places[position], position, firstExtents[position]);
  checkOverlap();
  branch();
  return device ? LLVM::TruncOp::create(builder, builder.getI32Type(), LLVM::LShrOp::create(builder, device, i64(32)))
                      .getResult()
                : i32(TilewrightCurrentDevice);
}

/// Takes tuples apart, the outer ones first: what is in one can be read once it is known to be one of that size.
void ArgumentChecks::checkGroups(Value args) {
  places.resize(program.arguments.size());
  SmallVector<std::pair<const HostParameter *, Value>> groups;
  auto add = [&](const HostParameter &parameter, Value any) {
    if (parameter.isGroup())
      groups.emplace_back(&parameter, any);
    else
      places[parameter.argument] = any;
  };
  for (auto [i, parameter] : llvm::enumerate(program.parameters))
    add(parameter, place(args, i * sizeof(TilewrightAny)));
  while (!groups.empty()) {
    auto level = std::exchange(groups, {});
    for (auto [group, any] : level)
      conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, load(builder.getI32Type(), any, 0),
                                                i32(TilewrightTypeArray)));
    branch();
    SmallVector<Value> arrays;
    for (auto [group, any] : level) {
      arrays.push_back(load(args.getType(), any, offsetof(TilewrightAny, pointer)));
      expectEqual(load(builder.getI64Type(), arrays.back(), offsetof(TilewrightArray, count)),
                  i64(group->elements.size()));
    }
    branch();
    for (auto [group, array] : llvm::zip(llvm::make_first_range(level), arrays)) {
      Value elements = load(args.getType(), array, offsetof(TilewrightArray, elements));
      for (auto [i, element] : llvm::enumerate(group->elements))
        add(element, place(elements, i * sizeof(TilewrightAny)));
    }
  }
}

/// An address of memory: what has none is the run time's to look at.
void ArgumentChecks::checkPointer(Value any, unsigned position, int64_t firstExtent) {
  const HostArgument &argument = program.arguments[position];
  Value type = load(builder.getI32Type(), any, 0),
        address = load(builder.getI64Type(), any, offsetof(TilewrightAny, pointer));
  auto is = [&](int32_t kind) {
    return LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, type, i32(kind)).getResult();
  };
  conditions.push_back(LLVM::OrOp::create(builder, is(TilewrightTypeInt), is(TilewrightTypePointer)));
  conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, address, i64(0)));
  bits.push_back(LLVM::AndOp::create(builder, address, i64(argument.alignment - 1)));
  expectNonNegative(address);
  Value bytes = i64(argument.itemBytes());
  for (auto [dim, extent] : llvm::enumerate(argument.extents)) {
    Value value = extent.isSymbol() ? symbols.lookup(extent.symbol) : i64(extent.number);
    store(value, slots.shape, firstExtent + dim);
    bytes = LLVM::MulOp::create(builder, bytes, value);
  }
  store(address, slots.data, position);
  ranges.push_back({position, address, LLVM::AddOp::create(builder, address, bytes)});
}

/// An int, a bool or a float as they come from most callers: not an int where a float is expected, none of 65 bits.
void ArgumentChecks::checkNumber(Value any, unsigned position, int64_t firstExtent) {
  const HostArgument &argument = program.arguments[position];
  Type i64Type = builder.getI64Type();
  int32_t kind = argument.isFloat() ? TilewrightTypeFloat : argument.isBool() ? TilewrightTypeBool : TilewrightTypeInt;
  // With the padding.
  expectEqual(load(i64Type, any, 0), i64(kind));
  if (!argument.isFloat()) {
    Value value = load(i64Type, any, offsetof(TilewrightAny, integer));
    int32_t bits = argument.isBool() ? 1 : argument.bits();
    if (argument.isUnsigned() && bits == 64)
      expectNonNegative(value);
    else if (argument.isUnsigned() || argument.isBool())
      this->bits.push_back(LLVM::LShrOp::create(builder, value, i64(bits)));
    else if (bits < 64)
      this->bits.push_back(
          LLVM::LShrOp::create(builder, LLVM::AddOp::create(builder, value, i64(int64_t(1) << (bits - 1))), i64(bits)));
    if (!argument.extents.empty())
      checkExtent(argument.extents[0], value, /*isNumber=*/true);
    return store(value, slots.shape, firstExtent);
  }
  Value value = load(builder.getF64Type(), any, offsetof(TilewrightAny, real));
  if (argument.bits() == 64)
    return store(LLVM::BitcastOp::create(builder, i64Type, value), slots.shape, firstExtent);
  // What becomes infinite is refused; what is so already takes the longer way.
  Value most = LLVM::ConstantOp::create(builder, builder.getF64FloatAttr(std::numeric_limits<float>::max()));
  conditions.push_back(
      LLVM::FCmpOp::create(builder, LLVM::FCmpPredicate::ule, LLVM::FAbsOp::create(builder, value), most));
  Value single = LLVM::FPTruncOp::create(builder, builder.getF32Type(), value);
  Value stored = LLVM::BitcastOp::create(builder, builder.getI32Type(), single);
  store(LLVM::ZExtOp::create(builder, i64Type, stored), slots.shape, firstExtent);
}

/// A tensor object, or a pointer to a DLTensor.
Value ArgumentChecks::checkKind(Value any) {
  Value type = load(builder.getI32Type(), any, 0);
  Value object = load(any.getType(), any, offsetof(TilewrightAny, pointer));
  auto is = [&](int32_t kind) {
    return LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, type, i32(kind)).getResult();
  };
  Value isTensor = is(TilewrightTypeTensor);
  conditions.push_back(LLVM::OrOp::create(builder, isTensor, is(TilewrightTypeDLTensor)));
  Value null = LLVM::ZeroOp::create(builder, object.getType());
  conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, object, null));
  Value start = LLVM::SelectOp::create(builder, isTensor, i64(TilewrightTensorOffset), i64(0));
  return LLVM::GEPOp::create(builder, object.getType(), builder.getI8Type(), object, ArrayRef<LLVM::GEPArg>{start});
}

void ArgumentChecks::checkHeader(Value tensor, const HostArgument &argument) {
  Type i64Type = builder.getI64Type();
  // Kind and number of the device in one: those of the first on a GPU; of the host there is but one.
  Value where = load(i64Type, tensor, offsetof(TilewrightDLTensor, deviceType));
  bool onGPU = target == TargetKind::CUDA;
  if (onGPU && device)
    expectEqual(where, device);
  else
    expectEqual(LLVM::AndOp::create(builder, where, i64(UINT32_MAX)),
                i64(onGPU ? TilewrightDeviceCUDA : TilewrightDeviceCPU));
  if (!device)
    device = where;
  // Rank, code, bits and lanes in one.
  static_assert(offsetof(TilewrightDLTensor, code) == offsetof(TilewrightDLTensor, ndim) + 4);
  expectEqual(load(i64Type, tensor, offsetof(TilewrightDLTensor, ndim)),
              i64(int64_t(argument.extents.size()) | int64_t(argument.dtype) << 32));
  if (argument.extents.empty())
    return;
  Value strides = load(tensor.getType(), tensor, offsetof(TilewrightDLTensor, strides));
  Value null = LLVM::ZeroOp::create(builder, strides.getType());
  conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, strides, null));
}

void ArgumentChecks::checkExtent(const HostExtent &extent, Value value, bool isNumber) {
  if (!extent.isSymbol())
    return expectEqual(value, i64(extent.number));
  auto [known, isFirst] = symbols.try_emplace(extent.symbol, value);
  if (!isFirst)
    expectEqual(value, known->second);
  if (!isNumber || extent.minimum >= 0)
    expectNonNegative(value);
  if (extent.divisibleBy > 1)
    bits.push_back(llvm::isPowerOf2_64(extent.divisibleBy)
                       ? LLVM::AndOp::create(builder, value, i64(extent.divisibleBy - 1)).getResult()
                       : LLVM::SRemOp::create(builder, value, i64(extent.divisibleBy)).getResult());
  if (extent.minimum > 0)
    expectNonNegative(LLVM::SubOp::create(builder, value, i64(extent.minimum)));
  if (extent.maximum == INT64_MAX)
    return;
  if (isNumber && extent.minimum < 0) // the difference may have no place in 64 bits
    conditions.push_back(LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::sle, value, i64(extent.maximum)));
  else
    expectNonNegative(LLVM::SubOp::create(builder, i64(extent.maximum), value));
}

/// The strides of one that is not row-major. Returns how many elements there are from its first to its last.
Value ArgumentChecks::checkStrides(Value strides, const HostArgument &argument, ArrayRef<Value> extents,
                                   int64_t firstStride) {
  SmallVector<size_t> order;
  for (size_t dim = extents.size(); dim-- > 0;)
    // Most likely the innermost, where any is.
    order.insert(argument.strides[dim].number == 1 ? order.begin() : order.end(), dim);
  Value elements = i64(1);
  for (size_t dim : order) {
    Value stride = load(builder.getI64Type(), strides, dim * sizeof(int64_t));
    checkExtent(argument.strides[dim], stride);
    store(stride, slots.shape, firstStride + dim);
    // The run time knows of orders that are not this one, and of dimensions of one element.
    if (argument.output)
      expectNonNegative(LLVM::SubOp::create(builder, stride, elements));
    Value steps = LLVM::SubOp::create(builder, extents[dim], i64(1));
    expectNonNegative(steps);
    elements = LLVM::AddOp::create(builder, elements, LLVM::MulOp::create(builder, steps, stride));
  }
  return elements;
}

/// The extents, the strides, the address.
void ArgumentChecks::checkMemory(Value tensor, unsigned position, int64_t firstExtent) {
  const HostArgument &argument = program.arguments[position];
  Type i64Type = builder.getI64Type(), pointer = tensor.getType();
  size_t rank = argument.extents.size();
  SmallVector<Value> extents;
  Value shape = rank ? load(pointer, tensor, offsetof(TilewrightDLTensor, shape)) : Value();
  for (auto [dim, extent] : llvm::enumerate(argument.extents)) {
    Value value = load(i64Type, shape, dim * sizeof(int64_t));
    checkExtent(extent, value);
    store(value, slots.shape, firstExtent + dim);
    // From here on an extent that is a number is that number.
    extents.push_back(extent.isSymbol() ? value : i64(extent.number));
  }
  Value strides = rank ? load(pointer, tensor, offsetof(TilewrightDLTensor, strides)) : Value();
  bool isRowMajor = argument.strides.empty();
  Value elements = isRowMajor ? i64(1) : checkStrides(strides, argument, extents, firstExtent + rank);
  for (size_t dim = rank; isRowMajor && dim-- > 0;) {
    expectEqual(load(i64Type, strides, dim * sizeof(int64_t)), elements);
    elements = LLVM::MulOp::create(builder, elements, extents[dim]);
  }
  Value data = LLVM::PtrToIntOp::create(builder, i64Type, load(pointer, tensor, offsetof(TilewrightDLTensor, data)));
  Value address = LLVM::AddOp::create(builder, data, load(i64Type, tensor, offsetof(TilewrightDLTensor, byteOffset)));
  bits.push_back(LLVM::AndOp::create(builder, address, i64(argument.alignment - 1)));
  expectNonNegative(LLVM::SubOp::create(builder, address, i64(TilewrightLeastAddress)));
  store(address, slots.data, position);
  Value bytes = LLVM::MulOp::create(builder, elements, i64(argument.itemBytes()));
  ranges.push_back({position, address, LLVM::AddOp::create(builder, address, bytes)});
}

/// What is written shares no memory with anything else. Of two ranges that share some each begins before the other
/// ends.
void ArgumentChecks::checkOverlap() {
  SmallVector<std::pair<size_t, size_t>> pairs;
  auto isOutput = [&](size_t range) { return program.arguments[ranges[range].position].output; };
  for (size_t output = 0; output < ranges.size(); ++output)
    for (size_t other = 0; isOutput(output) && other < ranges.size(); ++other)
      if (other != output && (other > output || !isOutput(other)))
        pairs.emplace_back(output, other);
  if (pairs.size() <= kMostPairs * ranges.size()) {
    for (auto [output, other] : pairs) {
      const Range &a = ranges[output], &b = ranges[other];
      Value both = LLVM::AndOp::create(builder, LLVM::SubOp::create(builder, a.begin, b.end),
                                       LLVM::SubOp::create(builder, b.begin, a.end));
      expectNonNegative(both);
      branchIfMany();
    }
    return;
  }
  auto count = LLVM::ConstantOp::create(builder, builder.getI32Type(), program.arguments.size());
  Value ends = LLVM::AllocaOp::create(builder, slots.data.getType(), builder.getI64Type(), count, /*alignment=*/8);
  for (auto [position, argument] : llvm::enumerate(program.arguments))
    if (argument.isNumber) // which ends where it begins
      store(i64(0), slots.data, position), store(i64(0), ends, position);
  for (const Range &range : ranges)
    store(range.end, ends, range.position);
  auto module = program.function->getParentOfType<ModuleOp>();
  StringRef name = "tilewrightHostShareMemory";
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    auto top = OpBuilder::atBlockBegin(module.getBody());
    Type pointer = slots.data.getType();
    callee = LLVM::LLVMFuncOp::create(top, module.getLoc(), name,
                                      LLVM::LLVMFunctionType::get(builder.getI64Type(), {pointer, pointer, pointer}));
  }
  Value signature = LLVM::AddressOfOp::create(builder, slots.data.getType(), (program.name() + "_signature").str());
  auto share = LLVM::CallOp::create(builder, callee, ValueRange{signature, slots.data, ends});
  bits.push_back(share.getResult());
}
