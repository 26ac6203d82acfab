//===- TileMatrixPatterns.cpp - accumulators and fragments ----------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilewright {

namespace {

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

struct ConvertZero : ConvertOpToLLVMPattern<tile::ZeroOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ZeroOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ZeroOp>(op, getTypeConverter()->convertType(op.getAccumulator().getType()));
    return success();
  }
};

struct ConvertToAccumulator : ConvertOpToLLVMPattern<tile::ToAccumulatorOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ToAccumulatorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getFragment());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

struct ConvertStoreFragment : ConvertOpToLLVMPattern<tile::StoreFragmentOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  /// Two elements that stand side by side, in a vector.
  static Value getPair(OpBuilder &builder, Location loc, Value fragment, int64_t first) {
    SharedAddress address(builder, loc);
    Type element = cast<LLVM::LLVMStructType>(fragment.getType()).getBody()[0];
    Value pair = LLVM::PoisonOp::create(builder, loc, VectorType::get({2}, element));
    for (int64_t i = 0; i < 2; ++i)
      pair = LLVM::InsertElementOp::create(
          builder, loc, pair, LLVM::ExtractValueOp::create(builder, loc, fragment, first + i), address.constant(i));
    return pair;
  }

  /// Two elements of 8 bits that stand side by side: half of a register.
  static Value getBytes(OpBuilder &builder, Location loc, Value fragment, int64_t first) {
    Value four = LLVM::ExtractValueOp::create(builder, loc, fragment, first / 4);
    if (first % 4)
      four = LLVM::LShrOp::create(builder, loc, four, SharedAddress(builder, loc).constant(16));
    return LLVM::TruncOp::create(builder, loc, builder.getI16Type(), four);
  }

  /// A register of two elements of 16 bits.
  static Value getPacked(OpBuilder &builder, Location loc, Value fragment, int64_t pair, Type element) {
    if (cast<LLVM::LLVMStructType>(fragment.getType()).getBody()[0].isInteger(32))
      return LLVM::ExtractValueOp::create(builder, loc, fragment, pair);
    Value rounded =
        LLVM::FPTruncOp::create(builder, loc, VectorType::get({2}, element), getPair(builder, loc, fragment, 2 * pair));
    return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), rounded);
  }

  LogicalResult matchAndRewrite(tile::StoreFragmentOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    tile::BufferType buffer = op.getBuffer().getType();
    Type element = buffer.getElementType();
    auto binary = [&](auto kind, Value value, int64_t with) -> Value {
      return decltype(kind)::create(rewriter, loc, value, address.constant(with));
    };
    Value thread = address.thread();
    Value lane = binary(LLVM::AndOp(), thread, tile::kWarpSize - 1);
    Value warpRow = binary(LLVM::AndOp(), binary(LLVM::LShrOp(), thread, 1), 48); // 16 rows for each of 4 warps
    int64_t columns = op.getTransposed() ? buffer.getRows() : buffer.getColumns(), first = op.getFrom();
    bool is16Bits = tile::getElementBytes(element) == 2;
    // Four matrices of 8 x 8 at once, or what is left.
    auto storeMatrices = [&](llvm::function_ref<Value(int64_t)> getAddress, NVVM::MMALayout layout) {
      auto shape = NVVM::LdStMatrixShapeAttr::get(rewriter.getContext(), 8, 8);
      for (int64_t column = 0; column < columns; column += 16) {
        SmallVector<Value> registers;
        for (int64_t i = 0; i < (columns - column >= 16 ? 4 : 2); ++i)
          registers.push_back(getPacked(rewriter, loc, adaptor.getFragment(), (first + column) / 4 + i, element));
        NVVM::StMatrixOp::create(rewriter, loc, getAddress(column), registers, layout, shape,
                                 NVVM::LdStMatrixEltType::B16);
      }
    };

    if (op.getTransposed()) {
      // The lane's rows of the fragment are columns of the buffer, in these chunks of it.
      auto getPlace = [&](Value row, Value column) {
        return getChunk(rewriter, loc, adaptor.getBuffer(), buffer, row, column);
      };
      if (is16Bits) {
        // Lanes 8 i and further give the addresses of the rows of matrix i: the left and the right one of the warp's
        // columns in 8 rows, then those 8 rows further down.
        Value row =
            address.add(binary(LLVM::AndOp(), lane, 7), binary(LLVM::AndOp(), binary(LLVM::LShrOp(), lane, 1), 8));
        LaneAddress place = getPlace(row, address.add(warpRow, binary(LLVM::AndOp(), lane, 8)));
        storeMatrices([&](int64_t column) { return place.down(column); }, NVVM::MMALayout::col);
        rewriter.eraseOp(op);
        return success();
      }
      // Elements of 32 bits: each lane has one of two rows for every 8 of them, and two columns.
      Value rowOfLane = address.multiply(binary(LLVM::AndOp(), lane, 3), 2);
      Value columnOfLane = address.add(warpRow, binary(LLVM::LShrOp(), lane, 2));
      Value within = address.multiply(binary(LLVM::AndOp(), columnOfLane, 3), 4);
      for (int64_t i = 0; i < 4; ++i) {
        LaneAddress place = getPlace(address.add(rowOfLane, address.constant(i % 2)),
                                     address.add(columnOfLane, address.constant(i / 2 * 8)));
        for (int64_t column = 0; column < columns; column += 8) {
          Value value = LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getFragment(), (first + column) / 2 + i);
          LLVM::StoreOp::create(rewriter, loc, value, address.offset(place.down(column), within), /*alignment=*/4);
        }
      }
      rewriter.eraseOp(op);
      return success();
    }

    if (is16Bits) {
      // Lane l gives the address of row l mod 16 of the tile's left or right half of 16 columns.
      Value row = address.add(warpRow, binary(LLVM::AndOp(), lane, 15));
      LaneAddress place(rewriter, loc, adaptor.getBuffer(), buffer, row, binary(LLVM::LShrOp(), lane, 4));
      storeMatrices([&](int64_t column) { return place.at(column / 8); }, NVVM::MMALayout::row);
      rewriter.eraseOp(op);
      return success();
    }

    // Each lane writes its two neighbours of each 8 columns: of 32 bits these columns are two chunks of 16 bytes, of 8
    // bits half of one. Lanes of a warp write to different banks.
    int64_t bytes = tile::getElementBytes(element), lanesOfChunk = 16 / (2 * bytes);
    Value pairOfLane = binary(LLVM::AndOp(), lane, 3);
    Value chunkOfLane = binary(LLVM::LShrOp(), pairOfLane, llvm::Log2_64(lanesOfChunk));
    Value within = address.multiply(binary(LLVM::AndOp(), pairOfLane, lanesOfChunk - 1), 2 * bytes);
    for (int64_t lower = 0; lower < 2; ++lower) {
      Value row = address.add(address.add(warpRow, binary(LLVM::LShrOp(), lane, 2)), address.constant(8 * lower));
      LaneAddress place(rewriter, loc, adaptor.getBuffer(), buffer, row, chunkOfLane);
      for (int64_t column = 0; column < columns; column += 8) {
        int64_t number = (first + column) / 2 + 2 * lower, byte = column * bytes;
        Value pair = bytes == 1 ? getBytes(rewriter, loc, adaptor.getFragment(), number)
                                : getPair(rewriter, loc, adaptor.getFragment(), number);
        Value to = address.offset(address.offset(place.at(byte / 16), within), byte % 16);
        LLVM::StoreOp::create(rewriter, loc, pair, to, /*alignment=*/2 * bytes);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertReadElement : ConvertOpToLLVMPattern<tile::ReadElementOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ReadElementOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    tile::BufferType buffer = op.getBuffer().getType();
    int64_t bytes = tile::getElementBytes(buffer.getElementType());
    Value row = address.narrow(adaptor.getRow()), column = address.narrow(adaptor.getColumn());
    LaneAddress place = getChunk(rewriter, loc, adaptor.getBuffer(), buffer, row, column);
    Value within = LLVM::AndOp::create(rewriter, loc, column, address.constant(16 / bytes - 1));
    within = address.multiply(within, bytes);
    Type element = getTypeConverter()->convertType(op.getElement().getType());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, element, address.offset(place.down(0), within), bytes);
    return success();
  }
};

/// One register of each 16 columns of a row: two neighbours of the first 8, two of the others.
struct ConvertPack : ConvertOpToLLVMPattern<tile::PackOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::PackOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    auto type = cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(op.getResult().getType()));
    Value result = LLVM::PoisonOp::create(rewriter, loc, type);
    auto name = rewriter.getStringAttr("llvm.nvvm.ff.to.e4m3x2.rn");
    for (unsigned number = 0; number < type.getBody().size(); ++number) {
      Value both = LLVM::PoisonOp::create(rewriter, loc, VectorType::get({2}, rewriter.getI16Type()));
      for (int64_t half = 0; half < 2; ++half) {
        int64_t first = number / 2 * 8 + number % 2 * 2 + half * 4;
        auto at = [&](int64_t i) -> Value {
          return LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getFragment(), i);
        };
        // The upper half comes first.
        Value pair = LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getI16Type(), name,
                                                   ValueRange{at(first + 1), at(first)})
                         .getResult(0);
        both = LLVM::InsertElementOp::create(rewriter, loc, both, pair, address.constant(half));
      }
      Value packed = LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), both);
      result = LLVM::InsertValueOp::create(rewriter, loc, result, packed, number);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// How many elements are in one register.
static int64_t countInRegister(Type element) { return std::max<int64_t>(32 / element.getIntOrFloatBitWidth(), 1); }

struct ConvertExtract : ConvertOpToLLVMPattern<tile::ExtractOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ExtractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getElement().getType();
    int64_t number = op.getNumber(), count = countInRegister(element);
    Value packed = LLVM::ExtractValueOp::create(rewriter, op.getLoc(), adaptor.getFragment(), number / count);
    if (count == 1) {
      rewriter.replaceOp(op, packed);
      return success();
    }
    Value elements = LLVM::BitcastOp::create(rewriter, op.getLoc(), VectorType::get({count}, element), packed);
    rewriter.replaceOpWithNewOp<LLVM::ExtractElementOp>(op, elements,
                                                        SharedAddress(rewriter, op.getLoc()).constant(number % count));
    return success();
  }
};

struct ConvertAssemble : ConvertOpToLLVMPattern<tile::AssembleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::AssembleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    Type element = op.getFragment().getType().getElementType();
    int64_t count = countInRegister(element);
    Value fragment = LLVM::PoisonOp::create(rewriter, loc, getTypeConverter()->convertType(op.getFragment().getType()));
    for (int64_t number = 0; number < int64_t(adaptor.getElements().size()); number += count) {
      Value packed = adaptor.getElements()[number];
      if (count > 1) {
        Value elements = LLVM::PoisonOp::create(rewriter, loc, VectorType::get({count}, element));
        for (int64_t i = 0; i < count; ++i)
          elements = LLVM::InsertElementOp::create(rewriter, loc, elements, adaptor.getElements()[number + i],
                                                   address.constant(i));
        packed = LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), elements);
      }
      fragment = LLVM::InsertValueOp::create(rewriter, loc, fragment, packed, number / count);
    }
    rewriter.replaceOp(op, fragment);
    return success();
  }
};

} // namespace

void populateTileMatrixPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertZero, ConvertToAccumulator, ConvertStoreFragment, ConvertReadElement, ConvertPack, ConvertExtract,
               ConvertAssemble>(converter);
}

} // namespace tilewright
