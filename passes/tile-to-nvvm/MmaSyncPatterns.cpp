//===- MmaSyncPatterns.cpp - matmuls of a warpgroup by its warps ----------===//
//
// For GPUs without wgmma, and for f32, which is split in two of tf32 each. A warp has 16 of the 64 rows. What its lanes
// hold of them, of a sum and of a fragment, is what mma.sync takes and gives, so nothing is moved between registers.
// Operands in shared memory lie as wgmma wants them, and lanes load them by ldmatrix, or elements of f32 one by one.
// Nothing is asynchronous: a matmul is done when the next op begins.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

#include <array>

using namespace mlir;

namespace tilewright {
namespace {

/// Chunks of 16 bytes of an operand that one instruction takes along what is summed over, and columns that it gives.
constexpr int64_t kChunks = 2, kColumns = 8;
/// Bits that tf32 has less than f32.
constexpr int kBitsLess = 13;
/// So many instructions the tensor cores sum up of f32. On an H200 the errors are no more than with one, in 0.75 of the
/// time.
constexpr int64_t kTogether = 4;

/// Four matrices of 8 x 8 elements of 16 bits, or two: a register of each, in every lane.
SmallVector<Value> loadMatrices(OpBuilder &builder, Location loc, Value pointer, int64_t count, bool isTransposed) {
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(count, builder.getI32Type()));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, pointer, count, isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return registers;
}

/// An operand in shared memory. Lanes 8 i and further give the rows of matrix i. Along its rows, and along what is
/// summed over, two matrices lie side by side each: `rowBit` and `sumBit` of a lane's number say which ones are its.
class MatrixOperand {
public:
  MatrixOperand(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, bool isMNMajor, Value firstRow,
                int64_t rowBit, int64_t sumBit)
      : builder(builder), loc(loc), type(type), isMNMajor(isMNMajor),
        address(place(pointer, firstRow, isMNMajor ? sumBit : rowBit, isMNMajor ? rowBit : sumBit)) {}

  /// Of the `row`th row, and what is summed over from the `step`th instruction's on.
  SmallVector<Value> at(int64_t row, int64_t step, int64_t count) {
    SharedAddress shared(builder, loc);
    int64_t ofChunk = 16 / tile::getElementBytes(type.getElementType());
    if (isMNMajor)
      return load(shared.offset(address.at(row / ofChunk), step * kChunks * ofChunk * type.getPanelRowBytes()), count);
    return load(shared.offset(address.at(step * kChunks), row * type.getPanelRowBytes()), count);
  }

private:
  LaneAddress place(Value pointer, Value firstRow, int64_t downBit, int64_t besideBit) {
    SharedAddress shared(builder, loc);
    Value lane = LLVM::AndOp::create(builder, loc, shared.thread(), shared.constant(tile::kWarpSize - 1));
    auto bit = [&](int64_t number) -> Value {
      Value shifted = LLVM::LShrOp::create(builder, loc, lane, shared.constant(number));
      return LLVM::AndOp::create(builder, loc, shifted, shared.constant(1));
    };
    Value row = LLVM::AndOp::create(builder, loc, lane, shared.constant(7));
    row = shared.add(row, shared.multiply(bit(downBit), 8));
    Value beside = bit(besideBit);
    if (firstRow && !isMNMajor)
      row = shared.add(row, firstRow);
    if (firstRow && isMNMajor)
      beside = shared.add(beside, LLVM::LShrOp::create(builder, loc, firstRow, shared.constant(3)));
    return LaneAddress(builder, loc, pointer, type, row, beside);
  }
  SmallVector<Value> load(Value from, int64_t count) { return loadMatrices(builder, loc, from, count, isMNMajor); }

  OpBuilder &builder;
  Location loc;
  tile::BufferType type;
  bool isMNMajor;
  LaneAddress address;
};

/// An operand of f32 that ldmatrix cannot give: lanes load elements one by one. A lane takes two of what one
/// instruction sums over: numbers t and t + 4 of 8, or neighbours if it `pairs` them, as accumulators in registers are.
class ElementOperand {
public:
  ElementOperand(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, bool isMNMajor, Value firstRow,
                 bool pairs)
      : builder(builder), loc(loc), type(type), isMNMajor(isMNMajor), pairs(pairs) {
    SharedAddress shared(builder, loc);
    auto binary = [&](auto kind, Value value, int64_t with) -> Value {
      return decltype(kind)::create(builder, loc, value, shared.constant(with));
    };
    Value lane = binary(LLVM::AndOp(), shared.thread(), tile::kWarpSize - 1);
    Value row = binary(LLVM::LShrOp(), lane, 2), ofSum = binary(LLVM::AndOp(), lane, 3);
    if (firstRow)
      row = shared.add(row, firstRow);
    for (int64_t i = 0; i < 2; ++i) {
      Value number = shared.add(pairs ? shared.multiply(ofSum, 2) : ofSum, shared.constant(pairs ? i : 4 * i));
      places.push_back(getChunk(builder, loc, pointer, type, isMNMajor ? number : row, isMNMajor ? row : number));
      within.push_back(shared.multiply(binary(LLVM::AndOp(), isMNMajor ? row : number, 3), 4));
    }
  }

  /// For 8 rows from the `row`th on, and what is summed over from the `step`th instruction's on: the lane's two
  /// elements.
  SmallVector<Value> at(int64_t row, int64_t step) {
    SharedAddress shared(builder, loc);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < 2; ++i) {
      int64_t chunk = isMNMajor ? row / 4 : step * kChunks, down = isMNMajor ? step * 8 : row;
      Value from = shared.offset(places[i].at(chunk), down * type.getPanelRowBytes());
      elements.push_back(
          LLVM::LoadOp::create(builder, loc, builder.getI32Type(), shared.offset(from, within[i]), /*alignment=*/4));
    }
    return elements;
  }

private:
  OpBuilder &builder;
  Location loc;
  tile::BufferType type;
  bool isMNMajor, pairs;
  SmallVector<LaneAddress, 2> places;
  SmallVector<Value, 2> within;
};

/// One `tile.wgmma` by the warps.
class WarpMatmul {
public:
  /// Registers of an operand, as the instruction has them. f32 is rounded to tf32, and has beside it what is left of
  /// it.
  struct Registers {
    SmallVector<Value> values, rest;
  };

  WarpMatmul(OpBuilder &builder, tile::WgmmaOp op, tile::WgmmaOp::Adaptor adaptor)
      : builder(builder), loc(op.getLoc()), element(tile::getOperandElement(op.getA().getType())), a(adaptor.getA()) {
    tile::BufferType b = op.getB().getType();
    auto inMemory = dyn_cast<tile::BufferType>(op.getA().getType());
    bool pairs = !inMemory || op.getMnMajorA();
    if (inMemory) {
      // 16 rows for each of 4 warps.
      SharedAddress address(builder, loc);
      Value row = LLVM::LShrOp::create(builder, loc, address.thread(), address.constant(1));
      row = LLVM::AndOp::create(builder, loc, row, address.constant(tile::kWgmmaRows - 16));
      if (element.isF32() && pairs)
        leftElements.emplace(builder, loc, a, inMemory, op.getMnMajorA(), row, pairs);
      else
        left.emplace(builder, loc, a, inMemory, op.getMnMajorA(), row, /*rowBit=*/3, /*sumBit=*/4);
    }
    if (element.isF32() && (pairs || op.getMnMajorB()))
      rightElements.emplace(builder, loc, adaptor.getB(), b, op.getMnMajorB(), Value(), pairs);
    else
      right.emplace(builder, loc, adaptor.getB(), b, op.getMnMajorB(), Value(), /*rowBit=*/4, /*sumBit=*/3);
  }

  /// Rows of A: of the upper 8 and of the lower, twice.
  Registers getRows(int64_t step) {
    if (left)
      return made(left->at(0, step, 4));
    if (leftElements) {
      SmallVector<Value> upper = leftElements->at(0, step), lower = leftElements->at(8, step);
      return made({upper[0], lower[0], upper[1], lower[1]});
    }
    // Of f32 neighbours of the upper rows come before the lower ones.
    std::array<int64_t, 4> order = {0, 1, 2, 3};
    if (element.isF32())
      std::swap(order[1], order[2]);
    SmallVector<Value> registers;
    for (int64_t i : order)
      registers.push_back(LLVM::ExtractValueOp::create(builder, loc, a, 4 * step + i));
    return made(registers);
  }

  /// Of B two registers for each of `count` times 8 columns.
  Registers getColumns(int64_t column, int64_t step, int64_t count) {
    if (right)
      return made(right->at(column, step, 2 * count));
    SmallVector<Value> registers;
    for (int64_t i = 0; i < count; ++i)
      llvm::append_range(registers, rightElements->at(column + i * kColumns, step));
    return made(registers);
  }

  /// Adds to `sums`, four for each 8 columns, what some instructions sum over from the `step`th on, of `rows` each.
  void multiply(ArrayRef<Registers> rows, int64_t column, int64_t step, int64_t count, MutableArrayRef<Value> sums) {
    if (!element.isF32()) {
      for (auto [i, one] : llvm::enumerate(rows))
        add(one.values, getColumns(column, step + i, count).values, sums,
            element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16);
      return;
    }
    // Tensor cores cut what they add up, so that long sums would be too small: others add their sums of few products.
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    SmallVector<Value> few(sums.size(), zero);
    for (auto [i, one] : llvm::enumerate(rows)) {
      Registers columns = getColumns(column, step + i, count);
      // The small products first. That of what is left of both is less than a rounding.
      add(one.rest, columns.values, few, NVVM::MMATypes::tf32);
      add(one.values, columns.rest, few, NVVM::MMATypes::tf32);
      add(one.values, columns.values, few, NVVM::MMATypes::tf32);
    }
    for (auto [sum, more] : llvm::zip_equal(sums, few))
      sum = LLVM::FAddOp::create(builder, loc, sum, more);
  }

private:
  Registers made(ArrayRef<Value> loaded) {
    SharedAddress words(builder, loc);
    auto cast = [&](Type type, Value value) -> Value { return LLVM::BitcastOp::create(builder, loc, type, value); };
    Registers registers;
    for (Value one : loaded) {
      if (!element.isF32()) {
        registers.values.push_back(element.isF16() ? cast(VectorType::get({2}, builder.getF16Type()), one) : one);
        continue;
      }
      // Of what is left the instruction reads as many bits as of tf32.
      Value word = cast(builder.getI32Type(), one);
      Value rounded = LLVM::AndOp::create(builder, loc, words.add(word, words.constant(1 << (kBitsLess - 1))),
                                          words.constant(-(1 << kBitsLess)));
      Value rest =
          LLVM::FSubOp::create(builder, loc, cast(builder.getF32Type(), one), cast(builder.getF32Type(), rounded));
      registers.values.push_back(rounded);
      registers.rest.push_back(cast(builder.getI32Type(), rest));
    }
    return registers;
  }

  void add(ArrayRef<Value> rows, ArrayRef<Value> columns, MutableArrayRef<Value> sums, NVVM::MMATypes type) {
    Type four = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
    int64_t step = kChunks * 16 / tile::getElementBytes(element);
    for (size_t i = 0; i < columns.size() / 2; ++i) {
      MutableArrayRef<Value> own = sums.slice(4 * i, 4);
      Value made = NVVM::MmaOp::create(builder, loc, four, rows, columns.slice(2 * i, 2), ArrayRef<Value>(own),
                                       ArrayRef<int64_t>({16, kColumns, step}), /*b1Op=*/std::nullopt,
                                       /*intOverflow=*/std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
                                       std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
      for (int64_t j = 0; j < 4; ++j)
        own[j] = LLVM::ExtractValueOp::create(builder, loc, made, j);
    }
  }

  OpBuilder &builder;
  Location loc;
  Type element;
  Value a;
  std::optional<MatrixOperand> left, right;
  std::optional<ElementOperand> leftElements, rightElements;
};

struct ConvertWgmmaToMmaSync : ConvertOpToLLVMPattern<tile::WgmmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(tile::WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warpgroups multiply");
    Location loc = op.getLoc();
    tile::BufferType b = op.getB().getType();
    int64_t step = kChunks * 16 / tile::getElementBytes(b.getElementType());
    int64_t steps = (op.getMnMajorB() ? b.getRows() : b.getColumns()) / step, columns = op.countColumns();

    auto all = cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(op.getResult().getType()));
    Value whole = adaptor.getAccumulator();
    if (!whole)
      whole = LLVM::ZeroOp::create(rewriter, loc, all);
    SmallVector<Value> sums;
    for (size_t i = 0; i < all.getBody().size(); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(rewriter, loc, whole, i));

    WarpMatmul matmul(rewriter, op, adaptor);
    int64_t together = b.getElementType().isF32() ? kTogether : 1;
    for (int64_t number = 0; number < steps; number += together) {
      SmallVector<WarpMatmul::Registers> rows;
      for (int64_t i = number; i < std::min(number + together, steps); ++i)
        rows.push_back(matmul.getRows(i));
      for (int64_t column = 0; column < columns; column += 2 * kColumns) {
        int64_t count = std::min<int64_t>(2, (columns - column) / kColumns);
        matmul.multiply(rows, column, number, count,
                        MutableArrayRef<Value>(sums).slice(column / kColumns * 4, 4 * count));
      }
    }
    for (auto [i, sum] : llvm::enumerate(sums))
      whole = LLVM::InsertValueOp::create(rewriter, loc, whole, sum, i);
    rewriter.replaceOp(op, whole);
    return success();
  }
};

struct EraseWgmmaCommit : ConvertOpToLLVMPattern<tile::WgmmaCommitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaCommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (!areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warpgroups multiply");
    rewriter.eraseOp(op);
    return success();
  }
};

struct ForwardWgmmaWait : ConvertOpToLLVMPattern<tile::WgmmaWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warpgroups multiply");
    if (op.getFragment())
      rewriter.replaceOp(op, adaptor.getAccumulator());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

static constexpr StringLiteral kByWarpsAttr = "tilewright.matmuls_by_warps";

LogicalResult markMatmulsByWarps(LLVM::LLVMFuncOp kernel, const Architecture &architecture) {
  WalkResult found = kernel.walk([&](tile::WgmmaOp op) {
    return op.getB().getType().getElementType().isF32() ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (architecture.hasWgmma() && !found.wasInterrupted())
    return success();
  kernel->setDiscardableAttr(kByWarpsAttr, UnitAttr::get(kernel.getContext()));
  // Warps and warpgroups are done with a tile at different times: a kernel has matmuls of one kind.
  found = kernel.walk([](tile::WgmmaOp op) -> WalkResult {
    Type element = tile::getOperandElement(op.getA().getType()), sum = op.getResult().getType().getElementType();
    if (tile::areMultipliedByWarps(element, sum))
      return WalkResult::advance();
    return op.emitOpError("expected f16, bf16 or f32 with sums of f32 in a kernel whose matmuls are by its warps, got ")
           << element << " with sums of " << sum;
  });
  return failure(found.wasInterrupted());
}

void unmarkMatmulsByWarps(LLVM::LLVMFuncOp kernel) { kernel->removeDiscardableAttr(kByWarpsAttr); }

bool areMatmulsByWarps(Operation *op) { return op->getParentOfType<LLVM::LLVMFuncOp>()->hasAttr(kByWarpsAttr); }

void populateMmaSyncPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertWgmmaToMmaSync, EraseWgmmaCommit, ForwardWgmmaWait>(converter);
}

} // namespace tilewright
