//===- ReadOp.cpp - te.read: assembly and verifier ------------------------===//
#include "dialects/TE/TE.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::te;

ParseResult ReadOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  OpAsmParser::UnresolvedOperand tensor;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  AffineMapAttr map;
  NamedAttrList scratch;
  RankedTensorType type;
  if (parser.parseOperand(tensor) || parser.parseAffineMapOfSSAIds(operands, map, "map", scratch) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperand(tensor, type, result.operands) ||
      parser.resolveOperands(operands, builder.getIndexType(), result.operands))
    return failure();
  result.getOrAddProperties<Properties>().map = map;
  result.addTypes(type.getElementType());
  return success();
}

void ReadOp::print(OpAsmPrinter &p) {
  p << ' ' << getTensor() << '[';
  p.printAffineMapOfSSAIds(getMapAttr(), getIndices());
  p << ']';
  p.printOptionalAttrDict((*this)->getAttrs(), {"map"});
  p << " : " << getTensor().getType();
}

/// The values of an axis, from the first to the last, at which something happens.
using AxisRange = std::pair<int64_t, int64_t>;

/// The steps of a scan at which `read` happens, if it stands in one of the two regions of an `scf.if` on the number of
/// the step, and in nothing else. Of another compute, and for reads that happen everywhere, all values of the first
/// axis.
static std::optional<AxisRange> getSteps(ReadOp read, ComputeOp compute) {
  ArrayRef<int64_t> extents = compute.getStaticExtents();
  AxisRange all(0, extents.empty() || ShapedType::isDynamic(extents[0]) ? 0 : extents[0] - 1);
  if (read->getParentOp() == compute)
    return all;
  auto choice = dyn_cast<scf::IfOp>(read->getParentOp());
  if (!choice || choice->getParentOp() != compute || !compute.getScan() || ShapedType::isDynamic(extents[0]))
    return std::nullopt;
  auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
  APInt begin;
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      compare.getLhs() != compute.getBody().getArgument(0) || !matchPattern(compare.getRhs(), m_ConstantInt(&begin)))
    return std::nullopt;
  int64_t first = begin.getSExtValue();
  if (read->getParentRegion() == &choice.getThenRegion())
    return AxisRange(0, std::min(first - 1, all.second));
  return AxisRange(std::max<int64_t>(first, 0), all.second);
}

/// The least and greatest value of `expr` over the box of the axes, where it is a constant plus multiples of axes.
/// `steps` are the values of the first axis.
static std::optional<std::pair<int64_t, int64_t>> getBounds(AffineExpr expr, ValueRange operands, ComputeOp compute,
                                                            AxisRange steps) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::make_pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto arg = dyn_cast<BlockArgument>(operands[dim.getPosition()]);
    if (!arg || arg.getOwner() != &compute.getBody().front())
      return std::nullopt;
    int64_t extent = compute.getStaticExtents()[arg.getArgNumber()];
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    return arg.getArgNumber() == 0 ? steps : AxisRange(0, extent - 1);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul))
    return std::nullopt;
  auto lhs = getBounds(binary.getLHS(), operands, compute, steps);
  auto rhs = getBounds(binary.getRHS(), operands, compute, steps);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return std::make_pair(lhs->first + rhs->first, lhs->second + rhs->second);
  int64_t a = lhs->first * rhs->first, b = lhs->second * rhs->first;
  return std::make_pair(std::min(a, b), std::max(a, b));
}

LogicalResult ReadOp::verify() {
  auto type = cast<RankedTensorType>(getTensor().getType());
  AffineMap map = getMap();
  if (getElement().getType() != type.getElementType())
    return emitOpError() << "expected an element of type " << type.getElementType() << ", got "
                         << getElement().getType();
  if (map.getNumResults() != unsigned(type.getRank()))
    return emitOpError() << "expected " << type.getRank() << " indices of " << type << ", got " << map.getNumResults();
  unsigned numOperands = getIndices().size();
  if (map.getNumInputs() != numOperands)
    return emitOpError() << "expected " << map.getNumInputs() << " index operands, got " << numOperands;
  auto compute = (*this)->getParentOfType<ComputeOp>();
  if (!compute)
    return emitOpError("expected to stand inside te.compute");
  if (compute.getBody().isAncestor(getTensor().getParentRegion()))
    return emitOpError("expected to read a tensor that stands outside of the te.compute");
  // Only reads that happen at every point of the axes, or of a scan's steps, can be proven wrong, and only where there
  // is a point.
  bool isEmpty = llvm::is_contained(compute.getStaticExtents(), 0);
  std::optional<AxisRange> steps = getSteps(*this, compute);
  if (!steps || steps->first > steps->second || map.getNumSymbols() != 0 || isEmpty)
    return success();
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto bounds = getBounds(expr, getIndices(), compute, *steps);
    int64_t size = type.getDimSize(d);
    if (!bounds || (bounds->first >= 0 && (ShapedType::isDynamic(size) || bounds->second < size)))
      continue;
    InFlightDiagnostic diag = emitOpError() << "index " << d << " leaves the tensor: expected 0 to ";
    if (ShapedType::isDynamic(size))
      diag << "its extent";
    else
      diag << size - 1;
    return diag << ", got " << bounds->first << " to " << bounds->second;
  }
  return success();
}
