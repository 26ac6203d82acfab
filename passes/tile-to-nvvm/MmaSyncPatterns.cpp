//===- MmaSyncPatterns.cpp - matmuls of a warpgroup by its warps ----------===//
//
// For GPUs without wgmma. A warp has 16 of the 64 rows. What its lanes hold of them, of a sum and of a fragment, is
// what mma.sync takes and gives, so nothing is moved between registers. Operands in shared memory lie as wgmma wants
// them, and lanes load them by ldmatrix. Nothing is asynchronous: a matmul is done when the next op begins.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Chunks of 16 bytes of an operand that one instruction takes along what is summed over, and columns that it gives.
constexpr int64_t kChunks = 2, kColumns = 8;

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

struct ConvertWgmmaToMmaSync : ConvertOpToLLVMPattern<tile::WgmmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(tile::WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SharedAddress address(rewriter, loc);
    tile::BufferType b = op.getB().getType();
    Type element = tile::getOperandElement(op.getA().getType());
    NVVM::MMATypes type = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    int64_t step = kChunks * 16 / tile::getElementBytes(element);
    int64_t steps = (op.getMnMajorB() ? b.getRows() : b.getColumns()) / step, columns = op.countColumns();

    auto all = cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(op.getResult().getType()));
    Value whole = adaptor.getAccumulator();
    if (!whole)
      whole = LLVM::ZeroOp::create(rewriter, loc, all);
    SmallVector<Value> sums;
    for (size_t i = 0; i < all.getBody().size(); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(rewriter, loc, whole, i));

    std::optional<MatrixOperand> left;
    if (auto a = dyn_cast<tile::BufferType>(op.getA().getType())) {
      // 16 rows for each of 4 warps.
      Value row = LLVM::LShrOp::create(rewriter, loc, address.thread(), address.constant(1));
      row = LLVM::AndOp::create(rewriter, loc, row, address.constant(tile::kWgmmaRows - 16));
      left.emplace(rewriter, loc, adaptor.getA(), a, op.getMnMajorA(), row, /*rowBit=*/3, /*sumBit=*/4);
    }
    MatrixOperand right(rewriter, loc, adaptor.getB(), b, op.getMnMajorB(), Value(), /*rowBit=*/4, /*sumBit=*/3);
    auto ofTypes = [&](ArrayRef<Value> registers) {
      SmallVector<Value> typed;
      for (Value one : registers)
        typed.push_back(
            element.isF16()
                ? LLVM::BitcastOp::create(rewriter, loc, VectorType::get({2}, rewriter.getF16Type()), one).getResult()
                : one);
      return typed;
    };
    Type four = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(4, rewriter.getF32Type()));
    for (int64_t number = 0; number < steps; ++number) {
      SmallVector<Value> registers;
      for (int64_t i = 0; !left && i < 4; ++i)
        registers.push_back(LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getA(), 4 * number + i));
      if (left)
        registers = left->at(0, number, 4);
      SmallVector<Value> rows = ofTypes(registers);
      for (int64_t column = 0; column < columns; column += 2 * kColumns) {
        int64_t count = std::min<int64_t>(2, (columns - column) / kColumns);
        SmallVector<Value> loaded = ofTypes(right.at(column, number, 2 * count));
        for (int64_t i = 0; i < count; ++i) {
          MutableArrayRef<Value> own = MutableArrayRef<Value>(sums).slice((column / kColumns + i) * 4, 4);
          Value made =
              NVVM::MmaOp::create(rewriter, loc, four, rows, ArrayRef<Value>(loaded).slice(2 * i, 2),
                                  ArrayRef<Value>(own), ArrayRef<int64_t>({16, kColumns, step}), /*b1Op=*/std::nullopt,
                                  /*intOverflow=*/std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
                                  std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
          for (int64_t j = 0; j < 4; ++j)
            own[j] = LLVM::ExtractValueOp::create(rewriter, loc, made, j);
        }
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
    rewriter.eraseOp(op);
    return success();
  }
};

struct ForwardWgmmaWait : ConvertOpToLLVMPattern<tile::WgmmaWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getFragment())
      rewriter.replaceOp(op, adaptor.getAccumulator());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateMmaSyncPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertWgmmaToMmaSync, EraseWgmmaCommit, ForwardWgmmaWait>(converter);
}

} // namespace tilewright
