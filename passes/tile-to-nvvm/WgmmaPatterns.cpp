//===- WgmmaPatterns.cpp - matmuls of a warpgroup as inline PTX -----------===//
//
// LLVM has no intrinsic for wgmma.mma_async. As inline PTX, each instruction takes up to 128 registers of an
// accumulator and gives as many back, which LLVM takes out of one struct and puts into the next between any two of
// them. That would be most of what LLVM sees of a kernel, so all instructions of a tile.wgmma, one after the other
// along k, are one text.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/tile-to-nvvm/TilePatterns.h"
#include "passes/tile-to-nvvm/WgmmaDescriptor.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace mlir;

namespace tilewright {

WgmmaOperand::WgmmaOperand(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, bool isMNMajor)
    : builder(builder), loc(loc), type(type), isMNMajor(isMNMajor) {
  WgmmaDescriptor descriptor(type, isMNMajor);
  upper = i32((descriptor.layout << 30) | descriptor.stride);
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
  address = LLVM::AndOp::create(builder, loc, address, i32((1 << 18) - 1));
  first = LLVM::LShrOp::create(builder, loc, address, i32(4));
}

Value WgmmaOperand::at(int64_t k) {
  WgmmaDescriptor descriptor(type, isMNMajor);
  int64_t offset = WgmmaDescriptor::getOffset(type, isMNMajor, k);
  // Of the halves of a descriptor one changes: 64 bits would be added up with a carry.
  Value lower = LLVM::AddOp::create(builder, loc, first, i32(offset + (descriptor.leading << 16)));
  Value halves = LLVM::PoisonOp::create(builder, loc, VectorType::get({2}, builder.getI32Type()));
  halves = LLVM::InsertElementOp::create(builder, loc, halves, lower, i32(0));
  halves = LLVM::InsertElementOp::create(builder, loc, halves, upper, i32(1));
  return LLVM::BitcastOp::create(builder, loc, builder.getI64Type(), halves);
}

Value WgmmaOperand::i32(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), int32_t(value));
}

WgmmaOperands::WgmmaOperands(OpBuilder &builder, tile::WgmmaOp op, tile::WgmmaOp::Adaptor adaptor)
    : instruction(tile::findWgmma(tile::getOperandElement(op.getA().getType()), op.getB().getType().getElementType(),
                                  op.getResult().getType().getElementType())) {
  if (auto type = dyn_cast<tile::BufferType>(op.getA().getType()))
    a.emplace(builder, op.getLoc(), adaptor.getA(), type, op.getMnMajorA());
  tile::BufferType type = op.getB().getType();
  b.emplace(builder, op.getLoc(), adaptor.getB(), type, op.getMnMajorB());
  extent = op.getMnMajorB() ? type.getRows() : type.getColumns();
}

/// Of a matmul: for each operand whether its tile stays where it is.
static constexpr StringLiteral kHeldAttr = "tilewright.held_tiles";
/// So many descriptors of such tiles a kernel may have. LLVM computes them before the loop, a register or two for each.
static constexpr int64_t kMostHeldDescriptors = 16;

void markHeldTiles(Operation *kernel) {
  int64_t count = 0;
  llvm::SmallDenseSet<std::pair<Value, unsigned>> known;
  SmallVector<std::pair<tile::WgmmaOp, std::array<bool, 2>>> matmuls;
  kernel->walk([&](tile::WgmmaOp op) {
    tile::BufferType type = op.getB().getType();
    int64_t extent = op.getMnMajorB() ? type.getRows() : type.getColumns();
    const auto *instruction = tile::findWgmma(tile::getOperandElement(op.getA().getType()), type.getElementType(),
                                              op.getResult().getType().getElementType());
    if (instruction->isByWarps())
      return;
    // A buffer of its own, or what a ring has in its only slot.
    auto isHeld = [&](Value tile, bool isMNMajor) {
      while (auto part = tile.getDefiningOp<tile::PartOp>())
        tile = part.getSource();
      auto wait = tile.getDefiningOp<tile::WaitOp>();
      if (!tile.getDefiningOp<tile::AllocOp>() && (!wait || wait.getRing().getType().getDepth() != 1))
        return false;
      if (known.insert({tile, isMNMajor}).second)
        count += extent / instruction->k;
      return true;
    };
    bool isAHeld = isHeld(op.getA(), op.getMnMajorA()), isBHeld = isHeld(op.getB(), op.getMnMajorB());
    matmuls.push_back({op, {isAHeld, isBHeld}});
  });
  for (auto [op, held] : matmuls)
    if (count > kMostHeldDescriptors && (held[0] || held[1]))
      op->setAttr(kHeldAttr, DenseBoolArrayAttr::get(op.getContext(), held));
}

namespace {
/// Of operand A where that is in registers: those of one instruction in each thread.
constexpr int64_t kRegistersOfA = 4;
/// Of one that threads load there.
constexpr int64_t kBytesOfElement = 4;

/// The instructions of one `tile.wgmma`. Operands of the text: the registers of the result, the same ones as they were
/// before, and for each instruction what A is, a descriptor or four registers, and the descriptor of B.
struct WgmmaText {
  const tile::WgmmaInstruction &instruction;
  int64_t columns;
  unsigned registers;
  bool begins; // nothing is added to by the first instruction
  bool isAInRegisters, isMNMajorA, isMNMajorB;
  // How far behind the first descriptor that of each instruction is; of A and B, empty where each is an operand.
  SmallVector<int64_t> fromFirst[2] = {};

  std::string str(int64_t instructions) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (int64_t number = 0; number < instructions; ++number)
      print(stream, number);
    return text;
  }

private:
  static void printRegisters(raw_ostream &stream, unsigned first, unsigned count) {
    stream << "{";
    llvm::interleaveComma(llvm::seq(first, first + count), stream, [&](unsigned i) { stream << "$" << i; });
    stream << "}, ";
  }
  /// Of the halves of a descriptor one changes.
  static std::string printSum(raw_ostream &stream, StringRef name, unsigned first, int64_t distance) {
    stream << ".reg .b64 " << name << ";\n.reg .b32 " << name << "l, " << name << "h;\nmov.b64 {" << name << "l, "
           << name << "h}, $" << first << ";\nadd.s32 " << name << "l, " << name << "l, " << distance << ";\nmov.b64 "
           << name << ", {" << name << "l, " << name << "h};\n";
    return name.str();
  }
  void print(raw_ostream &stream, unsigned number) const {
    stream << "{\n.reg .pred p;\nsetp.ne.b32 p, " << (begins && number == 0 ? 0 : 1) << ", 0;\n";
    unsigned ofA = isAInRegisters ? kRegistersOfA : 1, first = 2 * registers, operand = first + number * (ofA + 1);
    // Of a descriptor: the operand, or what is added up from the first one.
    auto getDescriptor = [&](unsigned which, StringRef name, unsigned behind) {
      return number == 0 || fromFirst[which].empty() ? "$" + std::to_string(operand + behind)
                                                     : printSum(stream, name, first + behind, fromFirst[which][number]);
    };
    std::string a = isAInRegisters ? "" : getDescriptor(0, "a", 0), b = getDescriptor(1, "b", ofA);
    stream << "wgmma.mma_async.sync.aligned.m" << tile::kWgmmaRows << "n" << columns << "k" << instruction.k << '.'
           << tile::getPTXName(instruction.accumulator) << '.' << tile::getPTXName(instruction.a) << '.'
           << tile::getPTXName(instruction.b) << " ";
    printRegisters(stream, 0, registers);
    if (isAInRegisters)
      printRegisters(stream, operand, ofA);
    else
      stream << a << ", ";
    stream << b << ", p";
    // Floats can be negated, and of 16 bits transposed.
    if (instruction.accumulator != tile::Element::S32)
      stream << ", 1, 1";
    if (instruction.takesMNMajor && !isAInRegisters)
      stream << ", " << int(isMNMajorA);
    if (instruction.takesMNMajor)
      stream << ", " << int(isMNMajorB);
    stream << ";\n}\n";
  }
};

/// Elements of a struct of registers, in the first places of another of that type or, of one with less, in all.
Value moveRegisters(OpBuilder &builder, Location loc, Value from, Value to) {
  auto count = [](Value of) { return cast<LLVM::LLVMStructType>(of.getType()).getBody().size(); };
  for (size_t i = 0, both = std::min(count(from), count(to)); i < both; ++i)
    to = LLVM::InsertValueOp::create(builder, loc, to, LLVM::ExtractValueOp::create(builder, loc, from, i), i);
  return to;
}

/// The elements of 32 bits that a thread holds of an operand A whose rows are summed over: of each instruction those of
/// rows `t` and `t + 4` and of columns `g` and `g + 8`, where `4 g + t` is its lane in a warp of 16 columns.
SmallVector<Value> loadAcross(OpBuilder &builder, Location loc, Value pointer, tile::BufferType type, int64_t extent,
                              int64_t step) {
  SharedAddress address(builder, loc);
  auto bits = [&](Value value, int64_t from, int64_t mask) {
    Value shifted = LLVM::LShrOp::create(builder, loc, value, address.constant(from));
    return mask < 0 ? shifted : LLVM::AndOp::create(builder, loc, shifted, address.constant(mask)).getResult();
  };
  constexpr int64_t kChunk = 16, kColumnsOfWarp = 16, kRowsApart = 4, kColumnsApart = 8, kLine = 128;
  int64_t columns = type.getPanelColumns(), bytes = type.getPanelRowBytes(), inChunk = kChunk / kBytesOfElement;
  int64_t phases = type.getSwizzle() / kChunk;
  Value thread = address.thread(), t = bits(thread, 0, 3), g = bits(thread, 2, 7);
  Value first = address.add(address.multiply(bits(thread, 5, 3), kColumnsOfWarp), g);
  SmallVector<Value> places;
  for (int64_t i = 0; i < kRegistersOfA; ++i) {
    Value row = address.add(t, address.constant(i / 2 * kRowsApart));
    Value column = address.add(first, address.constant(i % 2 * kColumnsApart));
    Value inside = bits(column, 0, columns - 1), offset = address.multiply(row, bytes);
    Value phase = bits(offset, llvm::Log2_64(kLine), phases - 1);
    Value chunk = LLVM::XOrOp::create(builder, loc, bits(inside, llvm::Log2_64(inChunk), -1), phase);
    offset = address.add(offset, address.multiply(bits(column, llvm::Log2_64(columns), -1), type.getPanelBytes()));
    offset = address.add(offset, address.multiply(chunk, kChunk));
    places.push_back(address.add(offset, address.multiply(bits(inside, 0, inChunk - 1), kBytesOfElement)));
  }
  SmallVector<Value> registers;
  for (int64_t k = 0; k < extent; k += step)
    for (Value place : places)
      registers.push_back(LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                               address.offset(address.offset(pointer, place), k * bytes)));
  return registers;
}

struct ConvertWgmma : ConvertOpToLLVMPattern<tile::WgmmaOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warps multiply");
    Location loc = op.getLoc();
    tile::AccumulatorType result = op.getResult().getType();
    auto [instruction, left, right, extent] = WgmmaOperands(rewriter, op, adaptor);
    int64_t columns = op.countColumns();
    auto computed =
        tile::AccumulatorType::get(rewriter.getContext(), {result.getRows(), columns}, result.getElementType());
    Type all = getTypeConverter()->convertType(result);
    auto part = cast<LLVM::LLVMStructType>(getTypeConverter()->convertType(computed));
    Value whole = adaptor.getAccumulator();
    bool isFirst = !whole;
    if (isFirst)
      whole = part == all ? LLVM::UndefOp::create(rewriter, loc, all).getResult()
                          : LLVM::ZeroOp::create(rewriter, loc, all).getResult();

    unsigned registers = part.getBody().size();
    SmallVector<Value> operands;
    SmallVector<std::string> constraints(registers, part.getBody()[0].isF32() ? "=f" : "=r");
    Value nothing = isFirst ? LLVM::UndefOp::create(rewriter, loc, part.getBody()[0]).getResult() : Value();
    for (unsigned i = 0; i < registers; ++i) {
      operands.push_back(isFirst ? nothing : LLVM::ExtractValueOp::create(rewriter, loc, whole, i).getResult());
      constraints.push_back(std::to_string(i));
    }
    SmallVector<Value> loaded;
    if (instruction->loadsA(op.getMnMajorA())) {
      loaded = loadAcross(rewriter, loc, adaptor.getA(), cast<tile::BufferType>(op.getA().getType()), extent,
                          instruction->k);
      left.reset();
    }
    NVVM::WgmmaFenceAlignedOp::create(rewriter, loc);
    WgmmaText text{*instruction, columns, registers, isFirst, !left, op.getMnMajorA(), op.getMnMajorB()};
    auto held = op->getAttrOfType<DenseBoolArrayAttr>(kHeldAttr);
    bool isAHeld = left && held && held[0], isBHeld = held && held[1];
    for (int64_t k = 0; k < extent; k += instruction->k) {
      // What is added up in the text takes no operand: the first stands for it.
      Value columnsOfB = right->at(isBHeld ? 0 : k);
      if (isAHeld)
        text.fromFirst[0].push_back(
            WgmmaDescriptor::getOffset(cast<tile::BufferType>(op.getA().getType()), op.getMnMajorA(), k));
      if (isBHeld)
        text.fromFirst[1].push_back(WgmmaDescriptor::getOffset(op.getB().getType(), op.getMnMajorB(), k));
      if (left) {
        operands.push_back(left->at(isAHeld ? 0 : k));
        constraints.push_back("l");
      }
      for (int64_t i = 0; !left && i < kRegistersOfA; ++i) {
        int64_t number = k / instruction->k * kRegistersOfA + i;
        operands.push_back(loaded.empty()
                               ? LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getA(), number).getResult()
                               : loaded[number]);
        constraints.push_back("r");
      }
      operands.push_back(columnsOfB);
      constraints.push_back("l");
    }
    Value sum =
        LLVM::InlineAsmOp::create(rewriter, loc, part, operands, text.str(extent / instruction->k),
                                  llvm::join(constraints, ","), /*has_side_effects=*/true, /*is_align_stack=*/false,
                                  LLVM::TailCallKind::None, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
            .getRes();
    rewriter.replaceOp(op, part == all ? sum : moveRegisters(rewriter, loc, sum, whole));
    return success();
  }
};

struct ConvertWgmmaCommit : ConvertOpToLLVMPattern<tile::WgmmaCommitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaCommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warps multiply");
    rewriter.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
    return success();
  }
};

struct ConvertWgmmaWait : ConvertOpToLLVMPattern<tile::WgmmaWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(tile::WgmmaWaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (areMatmulsByWarps(op))
      return rewriter.notifyMatchFailure(op, "warps multiply");
    NVVM::WgmmaWaitGroupSyncOp::create(rewriter, op.getLoc(), op.getPending());
    if (op.getFragment())
      rewriter.replaceOp(op, adaptor.getAccumulator());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateWgmmaPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertWgmma>(converter);
  populateWgmmaGroupPatterns(converter, patterns);
}

void populateWgmmaGroupPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertWgmmaCommit, ConvertWgmmaWait>(converter);
}

} // namespace tilewright
