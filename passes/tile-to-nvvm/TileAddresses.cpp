//===- TileAddresses.cpp - types of tiles, and where they lie in shared memory ===//
#include "passes/AddressSpaces.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

void tilewright::addTileTypeConversions(LLVMTypeConverter &converter) {
  auto toShared = [](Type type) {
    return LLVM::LLVMPointerType::get(type.getContext(), getLLVMSpace(NVVM::NVVMMemorySpace::Shared));
  };
  converter.addConversion([=](tile::BufferType type) { return toShared(type); });
  converter.addConversion([=](tile::RingType type) { return toShared(type); });
  converter.addConversion([](tile::TensorMapType type) { return LLVM::LLVMPointerType::get(type.getContext()); });
  auto toStruct = [](auto type) {
    // Two elements of 16 bits are in one register, or four of 8.
    Type element = type.getElementType();
    int64_t count = type.getElementsPerThread();
    if (int64_t bits = element.getIntOrFloatBitWidth(); bits < 32) {
      element = IntegerType::get(type.getContext(), 32);
      count = count * bits / 32;
    }
    return LLVM::LLVMStructType::getLiteral(type.getContext(), SmallVector<Type>(count, element));
  };
  converter.addConversion([=](tile::AccumulatorType type) { return toStruct(type); });
  converter.addConversion([=](tile::FragmentType type) { return toStruct(type); });
}

namespace tilewright {

Value SharedAddress::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
}

Value SharedAddress::multiply(Value value, int64_t by) {
  return LLVM::MulOp::create(builder, loc, value, constant(by));
}

Value SharedAddress::add(Value left, Value right) { return LLVM::AddOp::create(builder, loc, left, right); }

Value SharedAddress::narrow(Value value) {
  Type i32 = builder.getI32Type();
  return value.getType() == i32 ? value : LLVM::TruncOp::create(builder, loc, i32, value).getResult();
}

Value SharedAddress::thread() { return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type()); }

Value SharedAddress::start() {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), getLLVMSpace(NVVM::NVVMMemorySpace::Shared));
  return LLVM::AddressOfOp::create(builder, loc, type, kSharedMemorySymbol);
}

Value SharedAddress::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value SharedAddress::offset(Value pointer, int64_t bytes) {
  if (!bytes)
    return pointer;
  constexpr int64_t kMostOfAnAddress = 1 << 28; // that GEP takes as a number
  if (bytes < 0 || bytes >= kMostOfAnAddress)
    return offset(pointer,
                  LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(bytes)));
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

LaneAddress::LaneAddress(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, Value row, Value half)
    : builder(builder), loc(loc), type(type), permuted(half) {
  SharedAddress address(builder, loc);
  start = address.offset(pointer, address.multiply(row, type.getPanelRowBytes()));
  if (!type.getSwizzle())
    return;
  int64_t chunks = type.getSwizzle() / 16;
  Value bits = LLVM::LShrOp::create(builder, loc, row, address.constant(llvm::Log2_64(8 / chunks)));
  bits = LLVM::AndOp::create(builder, loc, bits, address.constant(chunks - 1));
  permuted = LLVM::XOrOp::create(builder, loc, half, bits);
}

Value LaneAddress::down(int64_t rows) {
  SharedAddress address(builder, loc);
  return address.offset(address.offset(start, address.multiply(permuted, 16)), rows * type.getPanelRowBytes());
}

Value LaneAddress::at(int64_t chunk) {
  SharedAddress address(builder, loc);
  int64_t chunks = type.getPanelRowBytes() / 16;
  Value place = LLVM::XOrOp::create(builder, loc, permuted, address.constant(chunk % chunks));
  return address.offset(address.offset(start, address.multiply(place, 16)), chunk / chunks * type.getPanelBytes());
}

LaneAddress getChunk(OpBuilder &builder, Location loc, Value pointer, tile::BufferType buffer, Value row,
                     Value column) {
  SharedAddress address(builder, loc);
  auto binary = [&](auto kind, Value value, int64_t with) -> Value {
    return decltype(kind)::create(builder, loc, value, address.constant(with));
  };
  int64_t bytes = tile::getElementBytes(buffer.getElementType()), chunks = buffer.getPanelRowBytes() / 16;
  Value chunk = binary(LLVM::LShrOp(), column, llvm::Log2_64(16 / bytes));
  // Without a swizzle all columns are one panel.
  if (!buffer.getSwizzle())
    return LaneAddress(builder, loc, pointer, buffer, row, chunk);
  Value panel = binary(LLVM::LShrOp(), chunk, llvm::Log2_64(chunks));
  pointer = address.offset(pointer, address.multiply(panel, buffer.getPanelBytes()));
  return LaneAddress(builder, loc, pointer, buffer, row, binary(LLVM::AndOp(), chunk, chunks - 1));
}

} // namespace tilewright
