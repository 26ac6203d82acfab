//===- MatrixPatterns.cpp - products of matrices as NVVM has them ---------===//
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

struct ConvertMmaSync : ConvertOpToLLVMPattern<nvgpu::MmaSyncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(nvgpu::MmaSyncOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Type element = cast<VectorType>(op.getMatrixA().getType()).getElementType();
    auto resultType = cast<VectorType>(op.getType());
    Type sum = resultType.getElementType();
    std::optional<NVVM::MMATypes> type = getMMAType(element, op.getTf32Enabled().value_or(false));
    if (!type || resultType.getNumElements() != 4 || !(sum.isF16() || sum.isF32() || sum.isInteger(32)))
      return rewriter.notifyMatchFailure(op, "not a product of 16 x 8 sums of known types");
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    auto index = [&](int64_t i) { return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(i)); };
    // Registers of 32 bits; halves are pairs of themselves there, all else but them is a word.
    auto registersOf = [&](Value matrix) {
      SmallVector<Value> registers;
      auto array = cast<LLVM::LLVMArrayType>(matrix.getType());
      for (unsigned i = 0; i < array.getNumElements(); ++i) {
        Value row = LLVM::ExtractValueOp::create(rewriter, loc, matrix, i);
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
    auto structType = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(c.size(), c.front().getType()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (element.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    auto shape = op.getMmaShapeAsArray();
    Value product = NVVM::MmaOp::create(rewriter, loc, structType, registersOf(adaptor.getMatrixA()),
                                        registersOf(adaptor.getMatrixB()), c, ArrayRef<int64_t>(shape), /*b1Op=*/std::nullopt,
                                        overflow, std::array<NVVM::MMATypes, 2>{*type, *type},
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
          row = LLVM::InsertElementOp::create(rewriter, loc, row, LLVM::ExtractValueOp::create(rewriter, loc, product, 2 * i + j), index(j));
      }
      result = LLVM::InsertValueOp::create(rewriter, loc, result, row, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateMatrixPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns, PatternBenefit benefit) {
  patterns.add<ConvertMmaSync>(converter, benefit);
}

} // namespace tilewright
