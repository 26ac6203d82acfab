//===- TileMatrixPatterns.cpp - products and fragments --------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilewright {

WgmmaOperand::WgmmaOperand(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, bool isMNMajor)
    : builder(builder), loc(loc), type(type), isMNMajor(isMNMajor) {
  int64_t mode = type.getSwizzle() == 128 ? 1 : type.getSwizzle() == 64 ? 2 : 3, groups = 8 * type.getSwizzle() / 16;
  upper = i32((mode << 30) | groups);
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
  address = LLVM::AndOp::create(builder, loc, address, i32((1 << 18) - 1));
  first = LLVM::LShrOp::create(builder, loc, address, i32(4));
}

Value WgmmaOperand::at(int64_t k) {
  int64_t bytes;
  if (isMNMajor) {
    bytes = k * type.getPanelRowBytes();
  } else {
    bytes = k / type.getPanelColumns() * type.getPanelBytes() +
            k % type.getPanelColumns() * tile::getElementBytes(type.getElementType());
  }
  // Of the halves of a descriptor one changes: 64 bits would be added up with a carry.
  int64_t panels = isMNMajor ? type.getPanelBytes() / 16 : 1;
  Value lower = LLVM::AddOp::create(builder, loc, first, i32(bytes / 16 + (panels << 16)));
  Value halves = LLVM::PoisonOp::create(builder, loc, VectorType::get({2}, builder.getI32Type()));
  halves = LLVM::InsertElementOp::create(builder, loc, halves, lower, i32(0));
  halves = LLVM::InsertElementOp::create(builder, loc, halves, upper, i32(1));
  return LLVM::BitcastOp::create(builder, loc, builder.getI64Type(), halves);
}

Value WgmmaOperand::i32(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), int32_t(value));
}

namespace {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

NVVM::WGMMATypes getWgmmaType(tile::Element element) {
  switch (element) {
  case tile::Element::F16:
    return NVVM::WGMMATypes::f16;
  case tile::Element::BF16:
    return NVVM::WGMMATypes::bf16;
  case tile::Element::TF32:
    return NVVM::WGMMATypes::tf32;
  case tile::Element::E4M3:
    return NVVM::WGMMATypes::e4m3;
  case tile::Element::E5M2:
    return NVVM::WGMMATypes::e5m2;
  case tile::Element::S8:
    return NVVM::WGMMATypes::s8;
  case tile::Element::F32:
    return NVVM::WGMMATypes::f32;
  case tile::Element::S32:
    return NVVM::WGMMATypes::s32;
  case tile::Element::F64:
    break;
  }
  llvm_unreachable("no type of wgmma");
}

/// Elements of a struct of registers, in the first places of another of that type or, of one with less, in all.
Value moveRegisters(OpBuilder &builder, Location loc, Value from, Value to) {
  auto count = [](Value of) { return cast<LLVM::LLVMStructType>(of.getType()).getBody().size(); };
  for (size_t i = 0, both = std::min(count(from), count(to)); i < both; ++i)
    to = LLVM::InsertValueOp::create(builder, loc, to, LLVM::ExtractValueOp::create(builder, loc, from, i), i);
  return to;
}

/// One instruction whose first operand is in registers, of which it takes four. Neither LLVM nor NVVM have it.
Value multiplyRegisters(OpBuilder &builder, Location loc, ValueRange a, Value b, Value sum,
                        const tile::WgmmaInstruction &instruction, int64_t columns, bool isMNMajorB, bool accumulates) {
  auto type = cast<LLVM::LLVMStructType>(sum.getType());
  int64_t count = type.getBody().size();
  // Results, then the same registers as operands, then a, b and whether it accumulates.
  std::string registers, constraints, own, text;
  SmallVector<Value> operands;
  for (int64_t i = 0; i < count; ++i) {
    registers += (i ? ", $" : "$") + std::to_string(i);
    constraints += type.getBody()[i].isF32() ? "=f," : "=r,";
    own += std::to_string(i) + ",";
    operands.push_back(LLVM::ExtractValueOp::create(builder, loc, sum, i));
  }
  llvm::append_range(operands, a);
  operands.push_back(b);
  operands.push_back(LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), accumulates));
  auto argument = [&](int64_t number) { return "$" + std::to_string(2 * count + number); };
  auto name = [](tile::Element element) { return NVVM::stringifyWGMMATypes(getWgmmaType(element)).str(); };
  text = "{\n.reg .pred p;\nsetp.ne.b32 p, " + argument(5) + ", 0;\nwgmma.mma_async.sync.aligned.m64n" +
         std::to_string(columns) + "k" + std::to_string(instruction.k) + "." + name(instruction.accumulator) + "." +
         name(instruction.a) + "." + name(instruction.b) + " {" + registers + "}, {" + argument(0) + ", " +
         argument(1) + ", " + argument(2) + ", " + argument(3) + "}, " + argument(4) + ", p, 1, 1, " +
         (isMNMajorB ? "1" : "0") + ";\n}\n";
  auto made =
      LLVM::InlineAsmOp::create(builder, loc, type, operands, text, constraints + own + "r,r,r,r,l,n",
                                /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return made.getResult(0);
}

struct ConvertWgmma : ConvertOpToLLVMPattern<tile::WgmmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto a = dyn_cast<tile::BufferType>(op.getA().getType());
    tile::BufferType b = op.getB().getType();
    tile::AccumulatorType result = op.getResult().getType();
    const auto *instruction =
        tile::findWgmma(tile::getOperandElement(op.getA().getType()), b.getElementType(), result.getElementType());
    std::optional<WgmmaOperand> left;
    if (a)
      left.emplace(rewriter, loc, adaptor.getA(), a, op.getMnMajorA());
    WgmmaOperand right(rewriter, loc, adaptor.getB(), b, op.getMnMajorB());
    MLIRContext *context = rewriter.getContext();
    int64_t columns = op.countColumns();
    auto computed = tile::AccumulatorType::get(context, {result.getRows(), columns}, result.getElementType());
    Type all = getTypeConverter()->convertType(result), registers = getTypeConverter()->convertType(computed);
    Value whole = adaptor.getAccumulator();
    bool isFirst = !whole;
    if (isFirst)
      whole = columns == result.getColumns() ? LLVM::UndefOp::create(rewriter, loc, all).getResult()
                                             : LLVM::ZeroOp::create(rewriter, loc, all).getResult();
    Value sum = whole;
    if (registers != all) {
      sum = LLVM::UndefOp::create(rewriter, loc, registers);
      sum = isFirst ? sum : moveRegisters(rewriter, loc, whole, sum);
    }
    auto shape = NVVM::MMAShapeAttr::get(context, tile::kWgmmaRows, columns, instruction->k);
    // Integers wrap as they do elsewhere.
    NVVM::MMAIntOverflowAttr overflow;
    if (instruction->accumulator == tile::Element::S32)
      overflow = NVVM::MMAIntOverflowAttr::get(context, NVVM::MMAIntOverflow::wrapped);
    NVVM::WgmmaFenceAlignedOp::create(rewriter, loc);
    int64_t extent = op.getMnMajorB() ? b.getRows() : b.getColumns();
    for (int64_t k = 0; k < extent; k += instruction->k) {
      if (!a) {
        SmallVector<Value> registers;
        for (int64_t i = 0; i < 4; ++i)
          registers.push_back(LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getA(), k / 4 + i));
        sum = multiplyRegisters(rewriter, loc, registers, right.at(k), sum, *instruction, columns, op.getMnMajorB(),
                                !isFirst || k);
        continue;
      }
      auto scale = isFirst && k == 0 ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one;
      sum = NVVM::WgmmaMmaAsyncOp::create(
          rewriter, loc, registers, sum, left->at(k), right.at(k), shape, getWgmmaType(instruction->a),
          getWgmmaType(instruction->b), getWgmmaType(instruction->accumulator), scale, NVVM::WGMMAScaleIn::one,
          NVVM::WGMMAScaleIn::one, op.getMnMajorA() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          op.getMnMajorB() ? NVVM::MMALayout::row : NVVM::MMALayout::col, overflow);
    }
    rewriter.replaceOp(op, registers == all ? sum : moveRegisters(rewriter, loc, sum, whole));
    return success();
  }
};

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

struct ConvertWgmmaCommit : ConvertOpToLLVMPattern<tile::WgmmaCommitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaCommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
    return success();
  }
};

struct ConvertWgmmaWait : ConvertOpToLLVMPattern<tile::WgmmaWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::WgmmaWaitGroupSyncOp::create(rewriter, op.getLoc(), op.getPending());
    if (op.getFragment())
      rewriter.replaceOp(op, adaptor.getAccumulator());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// The addresses that one lane writes to in a buffer. `row` is a row of the tile, and `half` which of two neighbouring
/// chunks of 16 bytes is the lane's, or any of those in the row's first panel; only these two differ between lanes.
class LaneAddress {
public:
  LaneAddress(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, Value row, Value half)
      : builder(builder), loc(loc), type(type) {
    SharedAddress address(builder, loc);
    start = address.offset(pointer, address.multiply(row, type.getPanelRowBytes()));
    permuted = half;
    if (type.getSwizzle()) {
      int64_t chunks = type.getSwizzle() / 16;
      Value bits = LLVM::LShrOp::create(builder, loc, row, address.constant(llvm::Log2_64(8 / chunks)));
      bits = LLVM::AndOp::create(builder, loc, bits, address.constant(chunks - 1));
      permuted = LLVM::XOrOp::create(builder, loc, half, bits);
    }
  }

  /// So many rows further down, after which the swizzle is the same again.
  Value down(int64_t rows) {
    SharedAddress address(builder, loc);
    return address.offset(address.offset(start, address.multiply(permuted, 16)), rows * type.getPanelRowBytes());
  }

  /// Of the pair of chunks that begins at an even chunk of the row.
  Value at(int64_t chunk) {
    SharedAddress address(builder, loc);
    int64_t chunks = type.getPanelRowBytes() / 16;
    Value place = LLVM::XOrOp::create(builder, loc, permuted, address.constant(chunk % chunks));
    return address.offset(address.offset(start, address.multiply(place, 16)), chunk / chunks * type.getPanelBytes());
  }

private:
  OpBuilder &builder;
  Location loc;
  tile::BufferType type;
  Value start, permuted;
};

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
        Value chunk = binary(LLVM::LShrOp(), column, llvm::Log2_64(16 / tile::getElementBytes(element)));
        int64_t chunks = buffer.getPanelRowBytes() / 16;
        Value panel = binary(LLVM::LShrOp(), chunk, llvm::Log2_64(chunks));
        Value pointer = address.offset(adaptor.getBuffer(), address.multiply(panel, buffer.getPanelBytes()));
        return LaneAddress(rewriter, loc, pointer, buffer, row, binary(LLVM::AndOp(), chunk, chunks - 1));
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

    // Elements of 32 bits: each lane writes its two neighbours of each 8 columns, which are 32 bytes.
    Value pairOfLane = binary(LLVM::AndOp(), lane, 3);
    Value half = binary(LLVM::LShrOp(), pairOfLane, 1);
    Value within = address.multiply(binary(LLVM::AndOp(), pairOfLane, 1), 8);
    for (int64_t lower = 0; lower < 2; ++lower) {
      Value row = address.add(address.add(warpRow, binary(LLVM::LShrOp(), lane, 2)), address.constant(8 * lower));
      LaneAddress place(rewriter, loc, adaptor.getBuffer(), buffer, row, half);
      for (int64_t column = 0; column < columns; column += 8) {
        Value pair = getPair(rewriter, loc, adaptor.getFragment(), (first + column) / 2 + 2 * lower);
        LLVM::StoreOp::create(rewriter, loc, pair, address.offset(place.at(column / 4), within), /*alignment=*/8);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertExtract : ConvertOpToLLVMPattern<tile::ExtractOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::ExtractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getElement().getType();
    int64_t number = op.getNumber();
    if (element.getIntOrFloatBitWidth() != 16) {
      rewriter.replaceOpWithNewOp<LLVM::ExtractValueOp>(op, adaptor.getFragment(), number);
      return success();
    }
    Value packed = LLVM::ExtractValueOp::create(rewriter, op.getLoc(), adaptor.getFragment(), number / 2);
    Value pair = LLVM::BitcastOp::create(rewriter, op.getLoc(), VectorType::get({2}, element), packed);
    rewriter.replaceOpWithNewOp<LLVM::ExtractElementOp>(op, pair,
                                                        SharedAddress(rewriter, op.getLoc()).constant(number % 2));
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
    bool isPacked = element.getIntOrFloatBitWidth() == 16;
    Value fragment = LLVM::PoisonOp::create(rewriter, loc, getTypeConverter()->convertType(op.getFragment().getType()));
    Value pair;
    for (auto [number, value] : llvm::enumerate(adaptor.getElements())) {
      if (!isPacked) {
        fragment = LLVM::InsertValueOp::create(rewriter, loc, fragment, value, number);
        continue;
      }
      if (number % 2 == 0)
        pair = LLVM::PoisonOp::create(rewriter, loc, VectorType::get({2}, element));
      pair = LLVM::InsertElementOp::create(rewriter, loc, pair, value, address.constant(number % 2));
      if (number % 2) {
        Value packed = LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), pair);
        fragment = LLVM::InsertValueOp::create(rewriter, loc, fragment, packed, number / 2);
      }
    }
    rewriter.replaceOp(op, fragment);
    return success();
  }
};

} // namespace

void populateTileMatrixPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertWgmma, ConvertZero, ConvertToAccumulator, ConvertWgmmaCommit, ConvertWgmmaWait,
               ConvertStoreFragment, ConvertExtract, ConvertAssemble>(converter);
}

} // namespace tilewright
