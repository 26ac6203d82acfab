//===- ThreadReduction.cpp - threads combine what each of them reduced ----===//
#include "passes/loops-to-gpu/ThreadReduction.h"

#include "passes/loops-to-gpu/Fragments.h"
#include "passes/loops-to-gpu/KernelMemory.h"

using namespace mlir;

namespace tilewright {

SmallVector<Value> ThreadReduction::reduce(unsigned dim, ValueRange parts, Combine combine) {
  int64_t threads = block[dim];
  if (threads == 1)
    return SmallVector<Value>(parts);
  // All lanes of a shuffle must be there.
  int64_t total = block[0] * block[1] * block[2];
  width = total % kWarpSize == 0 ? kWarpSize : total < kWarpSize && llvm::isPowerOf2_64(total) ? total : 0;
  // Threads along x are neighbouring lanes, and begin at a lane that is a multiple of their number.
  if (dim == 0 && width && threads <= kWarpSize && llvm::isPowerOf2_64(threads)) {
    SmallVector<Value> first = reduceInWarp(parts, threads, combine);
    // The lane of the first of them.
    Value row = ids[1];
    if (block[2] > 1)
      row = arith::AddIOp::create(builder, loc, row, arith::MulIOp::create(builder, loc, ids[2], constant(block[1])));
    Value lane = constant(0);
    if (threads < width)
      lane = arith::RemUIOp::create(builder, loc, arith::MulIOp::create(builder, loc, row, constant(threads)),
                                    constant(width));
    return llvm::map_to_vector(first, [&](Value value) { return shuffle(value, gpu::ShuffleMode::IDX, lane, true); });
  }
  if (dim == 0 && width && threads % kWarpSize == 0) {
    SmallVector<Value> first = reduceInWarp(parts, kWarpSize, combine);
    Value lane = arith::RemUIOp::create(builder, loc, ids[0], constant(kWarpSize));
    Value warp = arith::DivUIOp::create(builder, loc, ids[0], constant(kWarpSize));
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, constant(0));
    return reduceInShared(dim, first, threads / kWarpSize, warp, isFirst, combine);
  }
  return reduceInShared(dim, parts, threads, ids[dim], nullptr, combine);
}

/// A tree over the lanes; its result is that of the first lane alone.
SmallVector<Value> ThreadReduction::reduceInWarp(ValueRange parts, int64_t lanes, Combine combine) {
  SmallVector<Value> values(parts);
  for (int64_t distance = lanes / 2; distance >= 1; distance /= 2) {
    Value offset = constant(distance);
    SmallVector<Value> others =
        llvm::map_to_vector(values, [&](Value value) { return shuffle(value, gpu::ShuffleMode::DOWN, offset, false); });
    values = combine(values, others);
  }
  return values;
}

/// Each writer leaves its values at its place; then every thread combines all places.
SmallVector<Value> ThreadReduction::reduceInShared(unsigned dim, ValueRange parts, int64_t places, Value place,
                                                   Value isWriter, Combine combine) {
  SmallVector<int64_t> shape;
  SmallVector<Value> indices;
  for (unsigned other : {2u, 1u, 0u})
    if (other != dim && block[other] > 1) {
      shape.push_back(block[other]);
      indices.push_back(ids[other]);
    }
  shape.push_back(places);
  SmallVector<Value> buffers;
  // A bool in memory is a byte (store-bools-as-bytes, which comes before).
  auto stored = [&](Type type) -> Type { return type.isInteger(1) ? Type(builder.getI8Type()) : type; };
  for (Value part : parts) {
    auto type = MemRefType::get(shape, stored(part.getType()), MemRefLayoutAttrInterface(),
                                gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup));
    auto buffer = memref::AllocOp::create(builder, loc, type);
    buffer->setAttr(te::kStageAttr, builder.getStringAttr(name));
    buffers.push_back(buffer);
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    if (isWriter)
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isWriter, /*withElseRegion=*/false).thenBlock());
    SmallVector<Value> own(indices);
    own.push_back(place);
    for (auto [part, buffer] : llvm::zip(parts, buffers)) {
      Value value = part;
      if (Type type = stored(part.getType()); type != part.getType())
        value = arith::ExtUIOp::create(builder, loc, type, part);
      memref::StoreOp::create(builder, loc, value, buffer, own);
    }
  }
  auto loadAll = [&](int64_t number) {
    SmallVector<Value> all(indices);
    all.push_back(constant(number));
    SmallVector<Value> loaded;
    for (auto [part, buffer] : llvm::zip(parts, buffers)) {
      Value value = memref::LoadOp::create(builder, loc, buffer, all);
      if (value.getType() != part.getType())
        value = arith::TruncIOp::create(builder, loc, part.getType(), value);
      loaded.push_back(value);
    }
    return loaded;
  };
  SmallVector<Value> values = loadAll(0);
  for (int64_t i = 1; i < places; ++i)
    values = combine(values, loadAll(i));
  return values;
}

/// The value of another lane. The hardware moves words of 32 bits.
Value ThreadReduction::shuffle(Value value, gpu::ShuffleMode mode, Value lane, bool isUniform) {
  Type i32 = builder.getI32Type();
  Value offset = arith::IndexCastOp::create(builder, loc, i32, lane);
  Value lanes = arith::ConstantIntOp::create(builder, loc, i32, width);
  auto move = [&](Value word) -> Value {
    auto op = gpu::ShuffleOp::create(builder, loc, word, offset, lanes, mode);
    // All threads along x that get it get the same.
    if (isUniform)
      op->setAttr(kUniformAttr, builder.getUnitAttr());
    return op.getShuffleResult();
  };
  Type type = value.getType();
  if (type.isF32() || type.isInteger(32))
    return move(value);
  if (type.isIndex())
    return arith::IndexCastOp::create(
        builder, loc, type,
        shuffle(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value), mode, lane, isUniform));
  unsigned bitWidth = type.getIntOrFloatBitWidth();
  Type bitsType = builder.getIntegerType(bitWidth);
  Value bits = isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc, bitsType, value).getResult() : value;
  if (bitWidth < 32) {
    bits = arith::TruncIOp::create(builder, loc, bitsType, move(arith::ExtUIOp::create(builder, loc, i32, bits)));
  } else {
    Value half = arith::ConstantIntOp::create(builder, loc, bitsType, 32);
    Value low = move(arith::TruncIOp::create(builder, loc, i32, bits));
    Value high = move(arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, half)));
    Value upper = arith::ShLIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, bitsType, high), half);
    bits = arith::OrIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, bitsType, low), upper);
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc, type, bits).getResult() : bits;
}
} // namespace tilewright
