//===- ComputeOp.cpp - te.compute: assembly, verifier, combiners ----------===//
#include "dialects/TE/TE.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tilewright::te;

StringRef ComputeOp::getAxisName(unsigned i) {
  ArrayAttr names = i < getNumSpatial() ? getAxes() : getReduceAxes();
  return cast<StringAttr>(names[i < getNumSpatial() ? i : i - getNumSpatial()]).getValue();
}

SmallVector<OpFoldResult> ComputeOp::getMixedExtents() {
  SmallVector<OpFoldResult> extents;
  auto dynamic = getExtents().begin();
  Builder builder(getContext());
  for (int64_t extent : getStaticExtents()) {
    if (ShapedType::isDynamic(extent))
      extents.push_back(*dynamic++);
    else
      extents.push_back(builder.getIndexAttr(extent));
  }
  return extents;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void ComputeOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (&region == &getBody() && !region.empty())
    for (BlockArgument arg : region.getArguments())
      if (arg.getArgNumber() < getNumAxes())
        setName(arg, getAxisName(arg.getArgNumber()));
}

void ComputeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults())
    setName(getResult(0), getName());
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

namespace {
struct ParsedAxes {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Attribute> names;
};
} // namespace

/// `(` (%axis (`as` "name")? `:` (integer | %extent))* `)`
static ParseResult parseAxes(OpAsmParser &parser, ParsedAxes &axes, SmallVectorImpl<int64_t> &staticExtents,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &extents) {
  Builder &builder = parser.getBuilder();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument arg;
    if (parser.parseArgument(arg))
      return failure();
    arg.type = builder.getIndexType();
    std::string name = arg.ssaName.name.drop_front().str();
    if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseString(&name))
      return failure();
    if (parser.parseColon())
      return failure();
    int64_t extent = ShapedType::kDynamic;
    OptionalParseResult number = parser.parseOptionalInteger(extent);
    if (number.has_value()) {
      if (failed(*number))
        return failure();
    } else if (parser.parseOperand(extents.emplace_back())) {
      return failure();
    }
    staticExtents.push_back(extent);
    axes.args.push_back(arg);
    axes.names.push_back(builder.getStringAttr(name));
    return success();
  });
}

ParseResult ComputeOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Properties &props = result.getOrAddProperties<Properties>();
  ParsedAxes spatial, reduce;
  SmallVector<int64_t> staticExtents;
  SmallVector<OpAsmParser::UnresolvedOperand> extents;
  StringAttr name;
  if (parser.parseAttribute(name))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scan")))
    props.scan = builder.getUnitAttr();
  if (parseAxes(parser, spatial, staticExtents, extents))
    return failure();
  props.name = name;

  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword("unsigned")))
    props.is_unsigned = builder.getBoolAttr(true);
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"sum", "prod", "min", "max", "reduce"}))) {
    props.reducer = ReducerKindAttr::get(parser.getContext(), *symbolizeReducerKind(keyword));
    if (parseAxes(parser, reduce, staticExtents, extents))
      return failure();
  }
  props.axes = builder.getArrayAttr(spatial.names);
  props.reduce_axes = builder.getArrayAttr(reduce.names);
  props.static_extents = builder.getDenseI64ArrayAttr(staticExtents);
  if (parser.resolveOperands(extents, builder.getIndexType(), result.operands))
    return failure();

  SmallVector<OpAsmParser::Argument> args(spatial.args);
  llvm::append_range(args, reduce.args);
  Region *body = result.addRegion(), *combiner = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    SmallVector<OpAsmParser::Argument> combined;
    ArrayAttr identity;
    if (parser.parseArgumentList(combined, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseKeyword("identity") || parser.parseAttribute(identity) || parser.parseRegion(*combiner, combined))
      return failure();
    props.identity = identity;
  }
  SmallVector<Type> types;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonTypeList(types))
    return failure();
  result.addTypes(types);
  return success();
}

void ComputeOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printAttributeWithoutType(getNameAttr());
  if (getScan())
    p << " scan";
  auto mixed = getMixedExtents();
  auto printAxes = [&](unsigned first, unsigned last) {
    p << " (";
    llvm::interleaveComma(llvm::seq(first, last), p, [&](unsigned i) {
      std::string ssa;
      llvm::raw_string_ostream os(ssa);
      p.printOperand(getBody().getArgument(i), os);
      p << ssa;
      if (StringRef(ssa).drop_front() != getAxisName(i)) {
        p << " as ";
        p.printString(getAxisName(i));
      }
      p << ": ";
      if (auto attr = dyn_cast<Attribute>(mixed[i]))
        p << cast<IntegerAttr>(attr).getInt();
      else
        p << cast<Value>(mixed[i]);
    });
    p << ")";
  };
  printAxes(0, getNumSpatial());
  if (getReducer()) {
    if (getIsUnsigned().value_or(false))
      p << " unsigned";
    p << ' ' << stringifyReducerKind(*getReducer());
    printAxes(getNumSpatial(), getNumAxes());
  }
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (!getCombiner().empty()) {
    p << " combine (";
    llvm::interleaveComma(getCombiner().getArguments(), p, [&](BlockArgument arg) { p.printRegionArgument(arg); });
    p << ") identity " << getIdentityAttr() << ' ';
    p.printRegion(getCombiner(), /*printEntryBlockArgs=*/false);
  }
  p.printOptionalAttrDict((*this)->getAttrs(), {"name", "axes", "reduce_axes", "static_extents", "reducer", "identity",
                                                "is_unsigned", "scan", "operandSegmentSizes"});
  p << " : ";
  llvm::interleaveComma(getResultTypes(), p);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult ComputeOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("expected at least one result");
  unsigned numDynamic = llvm::count_if(getStaticExtents(), ShapedType::isDynamic);
  if (getStaticExtents().size() != getNumAxes())
    return emitOpError() << "expected one extent an axis, " << getNumAxes() << ", got " << getStaticExtents().size();
  if (getExtents().size() != numDynamic)
    return emitOpError() << "expected " << numDynamic << " extent operands, got " << getExtents().size();
  for (auto [i, extent] : llvm::enumerate(getStaticExtents()))
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitOpError() << "axis '" << getAxisName(i) << "': expected an extent of at least 0, got " << extent;
  llvm::StringSet<> seen;
  for (unsigned i = 0; i < getNumAxes(); ++i)
    if (!seen.insert(getAxisName(i)).second)
      return emitOpError() << "expected axes with different names, got '" << getAxisName(i) << "' twice";
  for (Type type : getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() != getNumSpatial())
      return emitOpError() << "expected results of rank " << getNumSpatial() << ", one dimension a spatial axis, got "
                           << type;
    for (unsigned i = 0; i < getNumSpatial(); ++i)
      if (tensor.getDimSize(i) != getStaticExtents()[i])
        return emitOpError() << "dimension " << i << " of the result: expected the extent of axis '" << getAxisName(i)
                             << "', got " << type;
  }
  if (getScan() && (getNumSpatial() == 0 || getNumReduce() != 0))
    return emitOpError() << "scan: expected a first axis that gives the order, and no reduction, got "
                         << getNumSpatial() << " spatial and " << getNumReduce() << " reduction axes";
  bool custom = getReducer() == ReducerKind::Custom;
  if (getReducer().has_value() != (getNumReduce() > 0))
    return emitOpError("expected a combiner exactly where there are reduction axes");
  if (custom != !getCombiner().empty() || custom != getIdentity().has_value())
    return emitOpError("expected a combiner region with its identity exactly with 'reduce'");
  if (custom && getIdentity()->size() != getNumResults())
    return emitOpError() << "expected one identity a result, " << getNumResults() << ", got " << getIdentity()->size();
  if (getReducer() && !custom && getNumResults() != 1)
    return emitOpError() << "expected one result of '" << stringifyReducerKind(*getReducer()) << "', got "
                         << getNumResults();
  return success();
}

static LogicalResult verifyYield(ComputeOp op, Region &region, StringRef what) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op.emitOpError() << "expected the " << what << " to end with te.yield";
  if (yield.getValues().size() != op.getNumResults())
    return yield.emitOpError() << "expected one value a result, " << op.getNumResults() << ", got "
                               << yield.getValues().size();
  for (auto [value, type] : llvm::zip(yield.getValues(), op.getResultTypes())) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (value.getType() != element)
      return yield.emitOpError() << "expected a value of type " << element << ", got " << value.getType();
  }
  return success();
}

LogicalResult ComputeOp::verifyRegions() {
  if (getBody().getNumArguments() != getNumAxes() ||
      !llvm::all_of(getBody().getArgumentTypes(), [](Type t) { return t.isIndex(); }))
    return emitOpError() << "expected one index argument an axis, " << getNumAxes();
  if (failed(verifyYield(*this, getBody(), "body")))
    return failure();
  if (getCombiner().empty())
    return success();
  SmallVector<Type> expected;
  for (int copy = 0; copy < 2; ++copy)
    for (Type type : getResultTypes())
      expected.push_back(cast<RankedTensorType>(type).getElementType());
  if (!llvm::equal(expected, getCombiner().getArgumentTypes()))
    return emitOpError() << "expected a combiner on two elements of each result, got ("
                         << getCombiner().getArgumentTypes() << ")";
  for (auto [identity, type] : llvm::zip(*getIdentity(), expected)) {
    auto typed = dyn_cast<TypedAttr>(identity);
    if (!typed || typed.getType() != type)
      return emitOpError() << "expected an identity of type " << type << ", got " << identity;
  }
  for (Operation &op : getCombiner().front())
    if (op.getNumRegions())
      return op.emitOpError() << "expected no choices between operations in the combiner of '" << getName()
                              << "': threads that combine their parts take arith.select";
  return verifyYield(*this, getCombiner(), "combiner");
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

/// The upstream kind that says the same; unsigned integers and floats that propagate NaN told apart.
static arith::AtomicRMWKind getKind(ReducerKind reducer, Type type, bool isUnsigned) {
  bool isFloat = isa<FloatType>(type);
  switch (reducer) {
  case ReducerKind::Sum:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case ReducerKind::Prod:
    return isFloat ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case ReducerKind::Min:
    return isFloat      ? arith::AtomicRMWKind::minimumf
           : isUnsigned ? arith::AtomicRMWKind::minu
                        : arith::AtomicRMWKind::mins;
  case ReducerKind::Max:
    return isFloat      ? arith::AtomicRMWKind::maximumf
           : isUnsigned ? arith::AtomicRMWKind::maxu
                        : arith::AtomicRMWKind::maxs;
  case ReducerKind::Custom:
    break;
  }
  llvm_unreachable("a custom reducer has a region");
}

SmallVector<Value> ComputeOp::buildCombine(OpBuilder &builder, Location loc, ValueRange lhs, ValueRange rhs) {
  if (*getReducer() != ReducerKind::Custom) {
    Type type = lhs[0].getType();
    bool isUnsigned = getIsUnsigned().value_or(type.isInteger(1));
    Value combined = arith::getReductionOp(getKind(*getReducer(), type, isUnsigned), builder, loc, lhs[0], rhs[0]);
    // A product that is summed may become a fused multiply-add, as in the rest of te's arithmetic.
    if (auto op = combined.getDefiningOp<arith::ArithFastMathInterface>())
      op->setAttr("fastmath", arith::FastMathFlagsAttr::get(getContext(), arith::FastMathFlags::contract));
    return {combined};
  }
  IRMapping mapping;
  mapping.map(getCombiner().getArguments().take_front(lhs.size()), lhs);
  mapping.map(getCombiner().getArguments().drop_front(lhs.size()), rhs);
  for (Operation &op : getCombiner().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> combined;
  for (Value value : cast<YieldOp>(getCombiner().front().getTerminator()).getValues())
    combined.push_back(mapping.lookupOrDefault(value));
  return combined;
}

SmallVector<TypedAttr> ComputeOp::getIdentities() {
  if (getIdentity())
    return llvm::map_to_vector(*getIdentity(), [](Attribute attr) { return cast<TypedAttr>(attr); });
  Type type = cast<RankedTensorType>(getResult(0).getType()).getElementType();
  OpBuilder builder(getContext());
  bool isUnsigned = getIsUnsigned().value_or(type.isInteger(1));
  return {arith::getIdentityValueAttr(getKind(*getReducer(), type, isUnsigned), type, builder, getLoc())};
}
