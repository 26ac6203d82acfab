//===- TEAttributes.cpp - what passes leave on arguments, stages and buffers ===//
//
// The verifiers of the dialect's attributes on ops of other dialects and on arguments of functions.
//
//===----------------------------------------------------------------------===//
#include "dialects/AttributeRules.h"
#include "dialects/TE/Dtype.h"
#include "dialects/TE/TE.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::te;

//===----------------------------------------------------------------------===//
// On ops
//===----------------------------------------------------------------------===//

static bool makesBuffer(Operation *op) {
  return op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType());
}
static bool isStage(Operation *op) {
  return isa<linalg::LinalgOp>(op) || makesBuffer(op) || isa_and_present<tile::TileDialect>(op->getDialect());
}
static bool isGeneric(Operation *op) { return isa<linalg::LinalgOp>(op) && op->hasAttr(kStageAttr); }
static bool isOrdered(Operation *op) { return isGeneric(op) || isa<scf::ForOp>(op); }
// In the body of an op of linalg, and where the body was copied to.
static bool hasNoEffects(Operation *op) { return op->getNumResults() != 0 && isMemoryEffectFree(op); }
static bool isOfExtern(Operation *op) {
  return isa<gpu::LaunchOp, gpu::GPUFuncOp, LLVM::LLVMFuncOp>(op) || isa_and_present<func::FuncOp>(op->getParentOp());
}

static constexpr AttributeRule kTERules[] = {
    {kStageAttr, "an op of linalg or tile, or one that makes a buffer", kText, isStage, isOf<StringAttr>},
    {kAxesAttr, "an op of linalg with te.stage", "an array of strings", isGeneric, isArrayOf<StringAttr>},
    {kScanAttr, "an op of linalg with te.stage or a loop", kUnit, isOrdered, isOf<UnitAttr>},
    {kCombineAttr, "an op without effects on memory", "an array<i64: ...>", hasNoEffects, isOf<DenseI64ArrayAttr>},
    {kExternAttr, "an op of a function's body, a launch or a kernel", kText, isOfExtern, isOf<StringAttr>},
    {kNameAttr, "an argument or an op that makes a buffer", kText, makesBuffer, isOf<StringAttr>},
};

LogicalResult TEDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyByRules(kTERules, op, attribute)))
    return failure();
  if (attribute.getName() == kAxesAttr) {
    size_t axes = cast<ArrayAttr>(attribute.getValue()).size();
    if (size_t loops = cast<linalg::LinalgOp>(op).getNumLoops(); axes != loops)
      return op->emitOpError() << "expected 'te.axes' to name the " << loops << " iterators, got " << axes << " names";
  }
  if (attribute.getName() == kCombineAttr) {
    auto numbers = cast<DenseI64ArrayAttr>(attribute.getValue());
    if (numbers.size() != op->getNumOperands() ||
        llvm::any_of(numbers.asArrayRef(), [](int64_t number) { return number < -1; }))
      return op->emitOpError() << "expected 'te.combine' to have the number of an element or -1 for each of "
                               << op->getNumOperands() << " operands, got " << numbers;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// On arguments
//===----------------------------------------------------------------------===//

namespace {
struct ArgumentRule {
  StringLiteral name, what;
  bool (*isOf)(Attribute value);
  /// Whether the attribute has an element for each dimension of a tensor, and one of a number.
  bool isByDimension = false;
};
} // namespace

template <int64_t least> static bool isArrayFrom(Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && llvm::all_of(numbers.asArrayRef(), [](int64_t number) { return number >= least; });
}
static bool isDefault(Attribute value) {
  auto real = dyn_cast<FloatAttr>(value);
  return (real && real.getType().isF64()) || isNumber<INT64_MIN, INT64_MAX>(value);
}
static bool isDtype(Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  return type && getDtype(type.getValue());
}
static bool isAlignment(Attribute value) {
  return isNumber<1, INT64_MAX>(value) && llvm::isPowerOf2_64(cast<IntegerAttr>(value).getInt());
}

static constexpr StringLiteral kTexts("an array of strings"), kAtLeast0("an array<i64: ...> of numbers of at least 0"),
    kAtLeast1("an array<i64: ...> of numbers of at least 1");

static constexpr ArgumentRule kArgumentRules[] = {
    {kOutputAttr, kUnit, isOf<UnitAttr>},
    {kOptionalAttr, kUnit, isOf<UnitAttr>},
    {kPointerAttr, kUnit, isOf<UnitAttr>},
    {kNameAttr, kText, isOf<StringAttr>},
    {kDtypeAttr, "the type of an element that DLPack has", isDtype},
    {kGivenAttr, "an i64 of at least 0", isNumber<0, INT64_MAX>},
    {kDefaultAttr, "an f64 or an i64", isDefault},
    {kAlignAttr, "an i64 that is a power of two", isAlignment},
    {kGroupsAttr, "an array of dictionaries", isArrayOf<DictionaryAttr>},
    {kSymbolsAttr, kTexts, isArrayOf<StringAttr>, true},
    {kDivisibleByAttr, kAtLeast1, isArrayFrom<1>, true},
    {kMinimumAttr, "an array<i64: ...>", isOf<DenseI64ArrayAttr>, true},
    {kMaximumAttr, "an array<i64: ...>", isOf<DenseI64ArrayAttr>, true},
    {kStridesAttr, "an array<i64: ...> of numbers of at least -1", isArrayFrom<-1>, true},
    {kStrideSymbolsAttr, kTexts, isArrayOf<StringAttr>, true},
    {kStrideDivisibleByAttr, kAtLeast1, isArrayFrom<1>, true},
    {kStrideMinimumAttr, kAtLeast0, isArrayFrom<0>, true},
    {kStrideMaximumAttr, kAtLeast0, isArrayFrom<0>, true},
};

LogicalResult TEDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned position,
                                                  NamedAttribute attribute) {
  const ArgumentRule *rule = llvm::find_if(
      kArgumentRules, [&](const ArgumentRule &known) { return known.name == attribute.getName().getValue(); });
  auto refuse = [&] { return op->emitOpError() << "argument #" << position << ": expected "; };
  if (rule == std::end(kArgumentRules))
    return refuse() << "an attribute that the dialect te has for arguments, got " << attribute.getName();
  if (!rule->isOf(attribute.getValue()))
    return refuse() << attribute.getName() << " to be " << rule->what << ", got " << attribute.getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !rule->isByDimension)
    return success();
  auto type = dyn_cast<ShapedType>(function.getArgumentTypes()[position]);
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  int64_t count = numbers ? numbers.size() : int64_t(cast<ArrayAttr>(attribute.getValue()).size());
  if (type && type.hasRank() && count != type.getRank())
    return refuse() << attribute.getName() << " to have an element for each of " << type.getRank()
                    << " dimensions, got " << count;
  return success();
}
