//===- CNames.cpp - names, types and lines of C++ -------------------------===//
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/CWriter.h"

#include "dialects/Tile/Tile.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright::source {

std::string identifier(StringRef name) {
  // What C++ and CUDA mean something else by.
  static const llvm::StringSet<> reserved = {
      "alignas",  "and",       "asm",      "auto",     "bool",     "break",    "case",     "char",      "class",
      "const",    "continue",  "default",  "delete",   "do",       "double",   "else",     "enum",      "explicit",
      "extern",   "false",     "float",    "for",      "friend",   "goto",     "if",       "inline",    "int",
      "long",     "namespace", "new",      "not",      "operator", "or",       "private",  "protected", "public",
      "register", "return",    "short",    "signed",   "sizeof",   "static",   "struct",   "switch",    "template",
      "this",     "throw",     "true",     "try",      "typedef",  "union",    "unsigned", "using",     "virtual",
      "void",     "volatile",  "while",    "xor",      "min",      "max",      "half",     "std",       "int8_t",
      "int64_t",  "threadIdx", "blockIdx", "blockDim", "gridDim",  "warpSize", "INFINITY", "NAN",       "main",
      "CUDA",     "NULL"};
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (result.empty() || llvm::isDigit(result[0]) || result[0] == '_' || reserved.contains(result))
    result = "x" + (result.empty() || result[0] == '_' ? result : "_" + result);
  return result;
}

std::string axisOf(scf::ForOp loop) {
  auto axis = loop->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr);
  return axis ? axis.getAxis().str() : "";
}

void CWriter::note(Operation *op) {
  for (; counted < text.size(); ++counted)
    lineCount += text[counted] == '\n';
  if (noted.size() <= lineCount)
    noted.resize(lineCount + 1);
  if (!llvm::is_contained(noted[lineCount], op->getLoc()))
    noted[lineCount].push_back(op->getLoc());
}

ArrayAttr CWriter::lineLocations(MLIRContext *context, StringRef prelude) {
  SmallVector<Attribute> locations(prelude.count('\n'), LocationAttr(UnknownLoc::get(context)));
  for (ArrayRef<Location> line : noted)
    locations.push_back(LocationAttr(FusedLoc::get(context, line)));
  return ArrayAttr::get(context, locations);
}

raw_ostream &CWriter::line() {
  if (current)
    note(current);
  return stream.indent(2 * depth);
}

void CWriter::open(const Twine &head) {
  line() << head << " {\n";
  ++depth;
}

void CWriter::close(const Twine &tail) {
  --depth;
  line() << tail << "\n";
}

void CWriter::writeOrigin(Operation *op) {
  auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>();
  std::string origin = getFileAndLine(op->getLoc());
  if (origin.empty() || origin == lastOrigin)
    return;
  lastOrigin = origin;
  auto [file, isNew] = files.try_emplace(loc.getFilename().getValue());
  if (isNew)
    if (auto buffer = llvm::MemoryBuffer::getFile(loc.getFilename().getValue(), /*IsText=*/true))
      for (llvm::line_iterator it(**buffer, /*SkipBlanks=*/false); !it.is_at_eof(); ++it)
        file->second.push_back(it->trim().str());
  bool isKnown = loc.getLine() && loc.getLine() - 1 < file->second.size();
  line() << "// " << inComment(isKnown ? origin + ": " + file->second[loc.getLine() - 1] : origin) << "\n";
}

void CWriter::fail(Operation *op, const Twine &why) {
  // What follows from the first is of no use to anybody.
  if (std::exchange(failed, true))
    return;
  std::string reason = why.str();
  if (reason.empty())
    op->emitError() << op->getName() << " has no form in " << language
                    << (isa<tile::RolesOp, tile::ElectOp>(op) ? ": it becomes conditions first (expand-tile-roles)"
                        : isa_and_nonnull<tile::TileDialect>(op->getDialect())
                            ? ": programs of asynchronous tiles can be read as IR of stage gpu, and their kernels as "
                              "CUDA C++ and PTX"
                            : "");
  else
    op->emitError(reason);
}

std::string CWriter::unique(StringRef wanted) {
  std::string base = identifier(wanted), made = base;
  for (unsigned number = 2; !taken.insert(made).second; ++number)
    made = base + "_" + std::to_string(number);
  scope.push_back(made);
  return made;
}

bool CWriter::isTaken(StringRef wanted) const { return taken.contains(identifier(wanted)); }

std::string CWriter::name(Value value, StringRef wanted) {
  std::string made = unique(wanted);
  bind(value, made);
  return made;
}

void CWriter::leave(size_t entered) {
  for (const std::string &name : ArrayRef(scope).drop_front(entered))
    taken.erase(name);
  scope.resize(entered);
}

std::string CWriter::floatType(Type type) { return type.isF32() ? "float" : type.isF64() ? "double" : ""; }

std::string CWriter::typeName(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    needs("Vector");
    return "Vector<" + typeName(vector.getElementType()) + ", " + std::to_string(vector.getNumElements()) + ">";
  }
  if (type.isIndex())
    return indexType;
  if (isa<FloatType>(type))
    return floatType(type);
  switch (type.isInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 1:
    return "bool";
  case 8:
    return "signed char";
  case 16:
    return "short";
  case 32:
    return "int";
  case 64:
    return "long long";
  default:
    return ownTypeName(type);
  }
}

std::string CWriter::unsignedName(Type type) {
  std::string name = typeName(type);
  return name == "int" ? "unsigned" : name == "signed char" ? "unsigned char" : "unsigned " + name;
}

std::string CWriter::declare(Operation *op, MemRefType type, StringRef form) {
  std::string element = typeName(type.getElementType());
  if (element.empty())
    fail(op, "expected elements of a type that " + Twine(language) + " has");
  std::string text = element + " " + form.str();
  for (int64_t extent : type.getShape())
    text += "[" + std::to_string(extent) + "]";
  return text;
}

std::string CWriter::extent(Operation *op, Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (dim >= type.getRank()) {
    fail(op, "expected a dimension of " + std::to_string(type.getRank()) + ", got number " + std::to_string(dim));
    return "0";
  }
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getDimSize(dim));
  auto found = extents.find(buffer);
  assert(found != extents.end() && !found->second[dim].empty() && "others than arguments and views have constant ones");
  return found->second[dim];
}

std::string CWriter::element(Operation *op, Value buffer, ValueRange indices) {
  std::string base = use(buffer, Binding::Primary);
  auto type = cast<MemRefType>(buffer.getType());
  if (auto own = strides.find(buffer); own != strides.end()) {
    std::optional<Expression> offset;
    for (auto [index, stride] : llvm::zip(indices, own->second)) {
      if (stride == "0")
        continue;
      Expression scaled = stride == "1" ? expression(index) : infix(expression(index), "*", {stride});
      offset = offset ? infix(*offset, "+", scaled) : scaled;
    }
    return base + "[" + (offset ? offset->text : "0") + "]";
  }
  if (!type.getLayout().isIdentity())
    fail(op, "expected a row-major buffer");
  if (flat.contains(buffer) && type.getRank() > 1) {
    Expression offset = expression(indices[0]);
    for (unsigned dim = 1; dim < type.getRank(); ++dim)
      offset = infix(infix(offset, "*", {extent(op, buffer, dim)}), "+", expression(indices[dim]));
    return base + "[" + offset.text + "]";
  }
  for (Value index : indices)
    base += "[" + use(index) + "]";
  return base;
}

} // namespace tilewright::source
