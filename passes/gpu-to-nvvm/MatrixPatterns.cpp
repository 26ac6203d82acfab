//===- MatrixPatterns.cpp - matmuls of warps as NVVM has them --------------===//
#include "passes/gpu-to-nvvm/MatrixPatterns.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace tilewright {
namespace {

std::optional<NVVM::MMATypes> getMMAType(Type element, bool isTF32) {
  if (element.isF16())
    return NVVM::MMATypes::f16;
  if (element.isBF16())
    return NVVM::MMATypes::bf16;
  if (element.isF32() && isTF32)
    return NVVM::MMATypes::tf32;
  if (element.isInteger(8))
    return NVVM::MMATypes::s8;
  return std::nullopt;
}

/// The matmul of operands of 8-bit floats, for which NVVM has no op.
Value multiplyBytes(OpBuilder &builder, Location loc, Type factor, ValueRange a, ValueRange b, ValueRange c,
                    Type resultType) {
  StringRef name = isa<Float8E4M3FNType>(factor) ? "e4m3" : "e5m2";
  std::string text = ("mma.sync.aligned.m16n8k32.row.col.f32." + name + "." + name +
                      ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};")
                         .str();
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  auto sums = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  Value product =
      LLVM::InlineAsmOp::create(builder, loc, sums, operands, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f",
                                /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
          .getRes();
  Value result = LLVM::PoisonOp::create(builder, loc, resultType);
  for (unsigned i = 0; i < 2; ++i) {
    Value row = LLVM::PoisonOp::create(builder, loc, VectorType::get({2}, builder.getF32Type()));
    for (unsigned j = 0; j < 2; ++j) {
      Value element = LLVM::ExtractValueOp::create(builder, loc, product, 2 * i + j);
      row = LLVM::InsertElementOp::create(builder, loc, row, element,
                                          LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(j)));
    }
    result = LLVM::InsertValueOp::create(builder, loc, result, row, i);
  }
  return result;
}

struct ConvertMmaSync : ConvertOpToLLVMPattern<nvgpu::MmaSyncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(nvgpu::MmaSyncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = cast<VectorType>(op.getMatrixA().getType()).getElementType();
    auto resultType = cast<VectorType>(op.getType());
    Type sum = resultType.getElementType();
    std::optional<NVVM::MMATypes> type = getMMAType(element, op.getTf32Enabled().value_or(false));
    if (!type || resultType.getNumElements() != 4 || !(sum.isF16() || sum.isF32() || sum.isInteger(32)))
      return rewriter.notifyMatchFailure(op, "not an mma of 16 x 8 elements of known types");
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    auto index = [&](int64_t i) { return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(i)); };
    // Registers of 32 bits; halves are pairs of themselves there, all else but them is a word. The instruction would
    // cut floats to tf32, which makes all products smaller.
    auto registersOf = [&](Value matrix) {
      SmallVector<Value> registers;
      auto array = cast<LLVM::LLVMArrayType>(matrix.getType());
      for (unsigned i = 0; i < array.getNumElements(); ++i) {
        Value row = LLVM::ExtractValueOp::create(rewriter, loc, matrix, i);
        if (*type == NVVM::MMATypes::tf32) {
          Value number = LLVM::BitcastOp::create(rewriter, loc, rewriter.getF32Type(), row);
          row = NVVM::ConvertFloatToTF32Op::create(rewriter, loc, i32, number, NVVM::FPRoundingMode::RNA,
                                                   NVVM::SaturationMode::NONE, /*relu=*/false);
        }
        registers.push_back(element.isF16() ? row : LLVM::BitcastOp::create(rewriter, loc, i32, row).getResult());
      }
      return registers;
    };
    SmallVector<Value> c;
    Value matrixC = adaptor.getMatrixC();
    for (unsigned i = 0; i < 2; ++i) {
      Value row = LLVM::ExtractValueOp::create(rewriter, loc, matrixC, i);
      if (sum.isF16()) {
        c.push_back(row);
        continue;
      }
      for (unsigned j = 0; j < 2; ++j)
        c.push_back(LLVM::ExtractElementOp::create(rewriter, loc, row, index(j)));
    }
    if (auto factor = op->getAttrOfType<TypeAttr>(kOperandTypeAttr)) {
      rewriter.replaceOp(op,
                         multiplyBytes(rewriter, loc, factor.getValue(), registersOf(adaptor.getMatrixA()),
                                       registersOf(adaptor.getMatrixB()), c, typeConverter->convertType(resultType)));
      return success();
    }
    auto structType =
        LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(c.size(), c.front().getType()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (element.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    auto shape = op.getMmaShapeAsArray();
    Value product = NVVM::MmaOp::create(rewriter, loc, structType, registersOf(adaptor.getMatrixA()),
                                        registersOf(adaptor.getMatrixB()), c, ArrayRef<int64_t>(shape),
                                        /*b1Op=*/std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{*type, *type},
                                        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
    Type converted = typeConverter->convertType(resultType);
    Value result = LLVM::PoisonOp::create(rewriter, loc, converted);
    for (unsigned i = 0; i < 2; ++i) {
      Value row;
      if (sum.isF16()) {
        row = LLVM::ExtractValueOp::create(rewriter, loc, product, i);
      } else {
        row = LLVM::PoisonOp::create(rewriter, loc, VectorType::get({2}, sum));
        for (unsigned j = 0; j < 2; ++j)
          row = LLVM::InsertElementOp::create(
              rewriter, loc, row, LLVM::ExtractValueOp::create(rewriter, loc, product, 2 * i + j), index(j));
      }
      result = LLVM::InsertValueOp::create(rewriter, loc, result, row, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// An `nvgpu.ldmatrix` of 8-bit floats, which LLVM has as bytes.
struct ConvertLdMatrix : ConvertOpToLLVMPattern<nvgpu::LdMatrixOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(nvgpu::LdMatrixOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(op.getType());
    if (!isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() != 8)
      return rewriter.notifyMatchFailure(op, "upstream's pattern knows its elements");
    Location loc = op.getLoc();
    unsigned matrices = type.getDimSize(0);
    Type i32 = rewriter.getI32Type(), rowType = VectorType::get({type.getDimSize(1)}, rewriter.getI8Type());
    Type loadedType =
        matrices == 1 ? i32 : Type(LLVM::LLVMStructType::getLiteral(getContext(), SmallVector<Type>(matrices, i32)));
    Value source = getStridedElementPtr(rewriter, loc, cast<MemRefType>(op.getSrcMemref().getType()),
                                        adaptor.getSrcMemref(), adaptor.getIndices());
    Value loaded = NVVM::LdMatrixOp::create(
        rewriter, loc, loadedType, source, matrices, op.getTranspose() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    Value result = LLVM::PoisonOp::create(rewriter, loc, typeConverter->convertType(type));
    for (unsigned i = 0; i < matrices; ++i) {
      Value word = matrices == 1 ? loaded : LLVM::ExtractValueOp::create(rewriter, loc, loaded, i).getResult();
      result =
          LLVM::InsertValueOp::create(rewriter, loc, result, LLVM::BitcastOp::create(rewriter, loc, rowType, word), i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateMatrixPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns, PatternBenefit benefit) {
  patterns.add<ConvertMmaSync, ConvertLdMatrix>(converter, benefit);
}

} // namespace tilewright
