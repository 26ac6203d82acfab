//===- HostProgram.cpp - a program of the host stage, as its checks see it ===//
#include "passes/host-to-ffi/HostProgram.h"

#include "dialects/TE/Dtype.h"
#include "runtime/host/ABI.h"
#include "runtime/host/Reals.h"

#include <functional>

using namespace mlir;
using namespace tilewright;

/// The number that te.default says, or nothing where it is none of the argument's type.
static std::optional<HostDefault> readDefault(const HostArgument &argument, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  auto real = dyn_cast<FloatAttr>(value);
  if (!argument.isNumber ||
      (argument.isFloat() ? !real || !real.getType().isF64() : !number || !number.getType().isInteger(64)))
    return std::nullopt;
  if (real)
    return HostDefault{TilewrightTypeFloat, 0, real.getValue().bitcastToAPInt().getSExtValue()};
  if (argument.isBool())
    return HostDefault{TilewrightTypeBool, 0, number.getInt()};
  bool isLarge = argument.isUnsigned() && number.getInt() < 0;
  return HostDefault{TilewrightTypeInt, isLarge ? uint32_t(TilewrightUnsignedInt) : 0, number.getInt()};
}

static ArrayRef<Attribute> groupsOf(Attribute entry) {
  auto attributes = dyn_cast<DictionaryAttr>(entry);
  auto groups = attributes ? attributes.getAs<ArrayAttr>(te::kGroupsAttr) : nullptr;
  return groups ? groups.getValue() : ArrayRef<Attribute>();
}

static HostExtent readStride(DictionaryAttr entry, unsigned position, int64_t dim) {
  auto number = [&](StringRef name, int64_t otherwise) {
    auto each = entry.getAs<DenseI64ArrayAttr>(name);
    return each && dim < each.size() ? each[dim] : otherwise;
  };
  HostExtent stride;
  stride.number = number(te::kStridesAttr, -1);
  auto symbols = entry.getAs<ArrayAttr>(te::kStrideSymbolsAttr);
  auto symbol = symbols && dim < int64_t(symbols.size()) ? dyn_cast<StringAttr>(symbols[dim]) : nullptr;
  stride.symbol = symbol && !symbol.empty() ? symbol.str() : ("arg" + Twine(position) + "_stride" + Twine(dim)).str();
  stride.divisibleBy = std::max<int64_t>(number(te::kStrideDivisibleByAttr, 1), 1);
  stride.minimum = number(te::kStrideMinimumAttr, 0);
  stride.maximum = number(te::kStrideMaximumAttr, INT64_MAX);
  return stride;
}

static FailureOr<HostArgument> readArgument(LLVM::LLVMFuncOp function, unsigned position, Attribute attribute) {
  auto fail = [&](const Twine &expected) {
    return function.emitOpError("expected ") << expected << " in entry " << position << " of tilewright.arguments";
  };
  auto entry = dyn_cast<DictionaryAttr>(attribute);
  auto typeAttr = entry ? entry.getAs<TypeAttr>("type") : nullptr;
  auto type = typeAttr ? dyn_cast<ShapedType>(typeAttr.getValue()) : nullptr;
  HostArgument argument;
  argument.isNumber = typeAttr && typeAttr.getValue().isIntOrFloat();
  if (!argument.isNumber && (!type || !type.hasRank()))
    return fail("a ranked 'type' or that of a number");
  auto name = entry.getAs<StringAttr>(te::kNameAttr);
  auto given = entry.getAs<TypeAttr>(te::kDtypeAttr);
  argument.name = name ? name.str() : "arg" + std::to_string(position);
  Type element = given ? given.getValue() : type ? type.getElementType() : typeAttr.getValue();
  std::optional<te::Dtype> dtype = entry.contains(te::kDtypeAttr) && !given ? std::nullopt : te::getDtype(element);
  if (!dtype) {
    std::string text;
    llvm::raw_string_ostream(text) << (given || !entry.contains(te::kDtypeAttr) ? TypeAttr::get(element)
                                                                                : entry.get(te::kDtypeAttr));
    return fail("a dtype that DLPack has, got " + text + ",");
  }
  argument.dtypeName = dtype->name;
  argument.dtype = dtype->code | dtype->bits << 8 | 1 << 16;
  argument.output = entry.contains(te::kOutputAttr);
  argument.isOptional = entry.contains(te::kOptionalAttr);
  argument.isPointer = entry.contains(te::kPointerAttr);
  if (argument.isPointer && (argument.isNumber || argument.isOptional))
    return fail("te.pointer to be of a tensor that every call gives");
  if (Attribute value = entry.get(te::kAlignAttr)) {
    auto alignment = dyn_cast<IntegerAttr>(value);
    argument.alignment = alignment ? alignment.getInt() : 0;
    if (argument.isNumber || argument.alignment < argument.itemBytes() || !llvm::isPowerOf2_64(argument.alignment))
      return fail("te.align to be the alignment of a tensor in bytes, a power of two from that of an element on,");
  }
  if (Attribute value = entry.get(te::kDefaultAttr)) {
    argument.otherwise = readDefault(argument, value);
    if (!argument.otherwise)
      return fail("te.default to be a number of " + argument.dtypeName);
  }
  auto symbols = entry.getAs<ArrayAttr>(te::kSymbolsAttr);
  auto units = entry.getAs<DenseI64ArrayAttr>(te::kDivisibleByAttr),
       minima = entry.getAs<DenseI64ArrayAttr>(te::kMinimumAttr),
       maxima = entry.getAs<DenseI64ArrayAttr>(te::kMaximumAttr);
  auto readSymbol = [&](int64_t dim) {
    HostExtent extent;
    auto symbol = symbols && dim < int64_t(symbols.size()) ? dyn_cast<StringAttr>(symbols[dim]) : nullptr;
    extent.symbol =
        symbol && !symbol.empty() ? symbol.str() : "arg" + std::to_string(position) + "_" + std::to_string(dim);
    if (units && dim < units.size())
      extent.divisibleBy = std::max<int64_t>(units[dim], 1);
    if (minima && dim < minima.size())
      extent.minimum = minima[dim];
    if (maxima && dim < maxima.size())
      extent.maximum = maxima[dim];
    return extent;
  };
  if (argument.isNumber) {
    if (symbols) {
      argument.extents.push_back(readSymbol(0));
      if (!minima)
        argument.extents[0].minimum = INT64_MIN;
    }
    return argument;
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    HostExtent extent;
    extent.number = type.getDimSize(dim);
    argument.extents.push_back(type.isDynamicDim(dim) ? readSymbol(dim) : extent);
  }
  auto strides = entry.getAs<DenseI64ArrayAttr>(te::kStridesAttr);
  if (strides && strides.size() != type.getRank())
    return fail("a stride for each of " + Twine(type.getRank()) + " dimensions, got " + Twine(strides.size()) + ",");
  if (auto memref = dyn_cast<MemRefType>(type); memref && memref.getLayout().isIdentity() == bool(strides))
    return fail("te.strides of a memref that is not row-major, and of no other, got " +
                Twine(strides ? "them" : "none"));
  for (int64_t dim = 0; strides && dim < type.getRank(); ++dim)
    argument.strides.push_back(readStride(entry, position, dim));
  return argument;
}

std::string HostDefault::text() const {
  if (type == TilewrightTypeBool)
    return bits ? "True" : "False";
  if (type == TilewrightTypeInt)
    return padding ? std::to_string(uint64_t(bits)) : std::to_string(bits);
  char digits[64];
  host::Text text(digits, sizeof(digits));
  host::addReal(text, llvm::bit_cast<double>(bits));
  return digits;
}

std::string HostArgument::text() const {
  if (isNumber)
    return name + ": " + dtypeName + (otherwise ? " = " + otherwise->text() : "");
  auto list = [](ArrayRef<HostExtent> extents) {
    std::string result;
    for (auto [dim, extent] : llvm::enumerate(extents))
      result += (dim ? ", " : "") + (extent.isSymbol() ? extent.symbol : std::to_string(extent.number));
    return result;
  };
  std::string result = name + (isPointer ? ": pointer to " : ": ") + dtypeName + "[" + list(extents) + "]";
  if (!strides.empty())
    result += " strides (" + list(strides) + (strides.size() == 1 ? ",)" : ")");
  return result + (isOptional ? " or None" : "");
}

/// Reads how arguments go together: te.groups of the first one of each group has those that begin there, the outermost
/// first.
static LogicalResult readParameters(HostProgram &program, ArrayAttr entries) {
  unsigned next = 0;
  auto fail = [&] {
    return program.function.emitOpError(
               "expected te.groups to be dictionaries with the name and the count of a group's elements, "
               "which are among the arguments that follow, in entry ")
           << next << " of tilewright.arguments";
  };
  // One that `groups` say how to open, or an argument.
  std::function<LogicalResult(HostParameter &, ArrayRef<Attribute>, const std::string &)> read =
      [&](HostParameter &parameter, ArrayRef<Attribute> groups, const std::string &place) -> LogicalResult {
    parameter.place = place;
    if (groups.empty()) {
      HostArgument &argument = program.arguments[next];
      parameter.name = argument.name;
      argument.place = place;
      parameter.argument = next++;
      return success();
    }
    auto group = dyn_cast<DictionaryAttr>(groups.front());
    auto name = group ? group.getAs<StringAttr>("name") : nullptr;
    auto count = group ? group.getAs<IntegerAttr>("count") : nullptr;
    auto fields = group ? group.getAs<ArrayAttr>("fields") : nullptr;
    if (!name || !count || !count.getType().isSignlessIntOrIndex() || count.getInt() < 1)
      return fail();
    if (fields && (int64_t(fields.size()) != count.getInt() || !llvm::all_of(fields, llvm::IsaPred<StringAttr>)))
      return fail();
    parameter.name = name.str();
    parameter.isShape = group.contains("shape");
    for (Attribute field : fields ? fields.getValue() : ArrayRef<Attribute>())
      parameter.fields.push_back(cast<StringAttr>(field).str());
    // Memory only for what may be there.
    if (count.getInt() > int64_t(program.arguments.size())) {
      next = program.arguments.size();
      return fail();
    }
    parameter.elements.resize(count.getInt());
    for (auto [i, element] : llvm::enumerate(parameter.elements)) {
      if (next >= program.arguments.size())
        return fail();
      std::string at = fields ? place + "." + parameter.fields[i] : place + "[" + std::to_string(i) + "]";
      if (failed(read(element, i ? groupsOf(entries[next]) : groups.drop_front(), at)))
        return failure();
    }
    return success();
  };
  while (next < program.arguments.size()) {
    std::string place = std::to_string(program.parameters.size());
    if (failed(read(program.parameters.emplace_back(), groupsOf(entries[next]), place)))
      return failure();
  }
  return success();
}

/// The extents of what is given by its address are those of other arguments, which every call gives.
static LogicalResult checkPointers(const HostProgram &program) {
  auto isSaid = [&](StringRef symbol) {
    return llvm::any_of(program.arguments, [&](const HostArgument &other) {
      return !other.isPointer && !other.isOptional && llvm::any_of(other.extents, [&](const HostExtent &extent) {
        return extent.isSymbol() && extent.symbol == symbol;
      });
    });
  };
  for (const HostArgument &argument : program.arguments)
    for (const HostExtent &extent : argument.extents)
      if (argument.isPointer && extent.isSymbol() && !isSaid(extent.symbol))
        return LLVM::LLVMFuncOp(program.function).emitOpError("expected another argument to have the extent ")
               << extent.symbol << " of " << argument.name << ", which is given by its address";
  return success();
}

FailureOr<HostProgram> HostProgram::of(LLVM::LLVMFuncOp function) {
  auto entries = function->getAttrOfType<ArrayAttr>(kArgumentsAttr);
  HostProgram program{function, {}, {}, 0};
  for (auto [position, entry] : llvm::enumerate(entries)) {
    // Whether an optional argument is given is not given by itself.
    if (auto attributes = dyn_cast<DictionaryAttr>(entry); attributes && attributes.contains(te::kGivenAttr)) {
      ++program.numOptional;
      continue;
    }
    FailureOr<HostArgument> argument = readArgument(function, position, entry);
    if (failed(argument))
      return failure();
    program.arguments.push_back(std::move(*argument));
  }
  if (failed(readParameters(program, entries)) || failed(checkPointers(program)))
    return failure();
  int64_t wanted = llvm::count_if(program.arguments, [](const HostArgument &argument) { return argument.isOptional; });
  if (wanted != program.numOptional)
    return function.emitOpError("expected an argument with te.given for each of ")
           << wanted << " with te.optional, got " << program.numOptional;
  return program;
}

/// "A: float32[n]", "pair: (scale: float32[m], bias: float32[m])", "size: shape(n: int32, m: int32)"
static std::string textOf(const HostProgram &program, const HostParameter &parameter) {
  if (!parameter.isGroup())
    return program.arguments[parameter.argument].text();
  std::string result = parameter.name + (parameter.isShape ? ": shape(" : ": (");
  for (auto [i, element] : llvm::enumerate(parameter.elements))
    result += (i ? ", " : "") + textOf(program, element);
  return result + ")";
}

std::string HostProgram::text() const {
  std::string result = name().str() + "(";
  for (auto [position, parameter] : llvm::enumerate(parameters))
    result += (position ? ", " : "") + textOf(*this, parameter);
  return result + ")";
}
