//===- KernelFragments.cpp - matmuls and tiles in registers as CUDA C++ ---===//
//
// A tile in registers is a variable, which an op changes where nobody else reads what it held before: wgmma adds to its
// accumulator in place, as the hardware does.
//
//===----------------------------------------------------------------------===//
#include "dialects/Program/Program.h"
#include "passes/gpu-to-source/KernelWriter.h"
#include "passes/tile-to-nvvm/WgmmaDescriptor.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::source {

// ------------------------------------------------------------------ variables

std::string KernelWriter::ownTypeName(Type type) {
  auto fragment = [&](auto of) {
    needs("Fragment");
    Type element = of.getElementType();
    if (element.isF16() || element.isBF16())
      needs("PackedFragment"), needs(element.isF16() ? "Fragment_f16" : "Fragment_bf16");
    return "Fragment<" + typeName(of.getElementType()) + ", " + std::to_string(of.getElementsPerThread()) + ">";
  };
  if (auto accumulator = dyn_cast<tile::AccumulatorType>(type))
    return fragment(accumulator);
  if (auto of = dyn_cast<tile::FragmentType>(type))
    return fragment(of);
  return isa<tile::BufferType>(type) ? "unsigned char *" : "";
}

StringRef KernelWriter::pragmaOf(scf::ForOp loop) {
  StringRef known = CWriter::pragmaOf(loop);
  // Loops around asynchronous ops stay as they are: the compiler would see copies of what nothing is gained from.
  return known.empty() && hasTiles ? "#pragma unroll 1" : known;
}

std::string KernelWriter::declareFragment(Value result, StringRef wanted, const Twine &init) {
  std::string variable = name(result, wanted);
  line() << typeName(result.getType()) << " " << variable << init << ";\n";
  return variable;
}

std::string KernelWriter::take(Value value, Value result, StringRef wanted) {
  std::string variable = use(value, Binding::Primary);
  bool isOurs = value.hasOneUse() && value.getParentBlock() == result.getParentBlock() &&
                typeName(value.getType()) == typeName(result.getType());
  if (!isOurs)
    return declareFragment(result, wanted, " = " + variable);
  bind(result, variable);
  return variable;
}

static std::string stageOf(Operation *op, StringRef otherwise) {
  auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr);
  return stage ? stage.str() + ".fragment" : otherwise.str();
}

// ------------------------------------------------------------------ matrices of warps

/// What a lane has of a matrix is a vector of its elements in a row.
bool KernelWriter::writeMatrixOp(Operation *op) {
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    bind(cast.getResult(), use(cast.getSource(), Binding::Primary));
    return true;
  }
  if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op)) {
    writeOrigin(op);
    needs("Vector"), needs("load_matrices");
    line() << "const " << typeName(load.getRes().getType()) << " " << name(load.getRes(), "fragment")
           << " = load_matrices<" << load.getNumTiles() << (load.getTranspose() ? ", true" : "") << ">("
           << address(op, load.getSrcMemref(), load.getIndices()) << ");\n";
    return true;
  }
  auto product = dyn_cast<nvgpu::MmaSyncOp>(op);
  if (!product)
    return false;
  Type factor = scalarOf(product.getMatrixA().getType()), sum = scalarOf(product.getRes().getType());
  auto nameOf = [](Type type) {
    if (!type.isIntOrFloat())
      return std::string("other");
    return type.isBF16() ? std::string("bf16")
                         : (type.isInteger() ? "i" : "f") + std::to_string(type.getIntOrFloatBitWidth());
  };
  static const llvm::StringMap<std::array<int64_t, 3>> known = {
      {"mma_f16_f32", {16, 8, 16}}, {"mma_f16_f16", {16, 8, 16}}, {"mma_bf16_f32", {16, 8, 16}},
      {"mma_f32_f32", {16, 8, 8}},  {"mma_i8_i32", {16, 8, 32}},  {"mma_e4m3_f32", {16, 8, 32}},
      {"mma_e5m2_f32", {16, 8, 32}}};
  // 8-bit floats come as bytes.
  auto float8 = op->getAttrOfType<TypeAttr>(kOperandTypeAttr);
  std::string kind = !float8 ? "" : isa<Float8E4M3FNType>(float8.getValue()) ? "e4m3" : "e5m2";
  std::string function = "mma_" + (float8 ? kind : nameOf(factor)) + "_" + nameOf(sum);
  auto found = known.find(function);
  std::array<int64_t, 3> shape = product.getMmaShapeAsArray();
  if (found == known.end() || found->second != shape || (factor.isF32() && !product.getTf32Enabled()))
    return fail(op, "expected an mma of a shape that schedules make: 16 x 8 x 16 of f16 or bf16, 16 x 8 x 8 of tf32, "
                    "16 x 8 x 32 of i8 or 8-bit floats"),
           true;
  needs("Vector"), needs("mma"), needs(function);
  writeOrigin(op);
  line() << "const " << typeName(product.getRes().getType()) << " " << name(product.getRes(), "sum") << " = mma_m16n8k"
         << shape[2] << (float8 ? "_" : "") << kind << "(" << use(product.getMatrixA()) << ", "
         << use(product.getMatrixB()) << ", " << use(product.getMatrixC()) << ");\n";
  return true;
}

// ------------------------------------------------------------------ wgmma

void KernelWriter::write(tile::WgmmaOp op) {
  writeOrigin(op);
  auto a = dyn_cast<tile::BufferType>(op.getA().getType());
  tile::BufferType b = op.getB().getType();
  tile::AccumulatorType result = op.getResult().getType();
  const auto *instruction =
      tile::findWgmma(tile::getOperandElement(op.getA().getType()), b.getElementType(), result.getElementType());
  if (instruction->isByWarps())
    return fail(op, "expected a matmul of warpgroups, got one of f32, which warps multiply: the PTX has it");
  int64_t columns = op.countColumns();
  bool isFirst = !op.getAccumulator();
  // What is not computed is zero.
  std::string sum = isFirst
                        ? declareFragment(op.getResult(), "accumulator", columns < result.getColumns() ? " = {}" : "")
                        : take(op.getAccumulator(), op.getResult(), "accumulator");
  for (StringRef piece : {"Fragment", "shared_address", "MatrixDescriptor"})
    needs(piece);
  auto describe = [&](Value tile, tile::BufferType type, bool isMNMajor, StringRef side) {
    WgmmaDescriptor descriptor(type, isMNMajor);
    std::string variable = unique("descriptor_" + side.str());
    line() << "const MatrixDescriptor " << variable << " = matrix_descriptor<" << descriptor.layout << ", "
           << descriptor.stride << ", " << descriptor.leading << ">(" << use(tile) << ");\n";
    return variable;
  };
  std::string left;
  bool isLoaded = instruction->loadsA(op.getMnMajorA());
  if (isLoaded) {
    needs("Words"), needs("load_across");
    left = unique("a");
    line() << "const auto " << left << " = load_across<" << a.getSwizzle() << ", " << a.getPanelBytes() << ", "
           << a.getRows() << ">(" << use(op.getA()) << ");\n";
    a = {};
  } else {
    left = a ? describe(op.getA(), a, op.getMnMajorA(), "a") : use(op.getA(), Binding::Primary);
  }
  std::string right = describe(op.getB(), b, op.getMnMajorB(), "b");
  if (!a && !isLoaded)
    fence(op.getA(), left);
  fence(op.getResult(), sum);
  call("warpgroup_arrive");
  InstructionFunction function = wgmmaFunction(*instruction, columns, !a);
  int64_t extent = op.getMnMajorB() ? b.getRows() : b.getColumns();
  for (int64_t k = 0; k < extent; k += instruction->k) {
    auto at = [&](const std::string &descriptor, tile::BufferType type, bool isMNMajor) {
      int64_t offset = WgmmaDescriptor::getOffset(type, isMNMajor, k);
      return offset ? descriptor + " + " + std::to_string(offset) : descriptor;
    };
    std::string arguments = isFirst && k == 0 ? "0" : "1";
    if (instruction->takesMNMajor) {
      if (a)
        arguments += op.getMnMajorA() ? ", 1" : ", 0";
      arguments += op.getMnMajorB() ? ", 1" : ", 0";
    }
    if (!a)
      arguments += ", " + std::to_string(k / instruction->k * 4);
    call(function, sum + ", " + (a ? at(left, a, op.getMnMajorA()) : left) + ", " + at(right, b, op.getMnMajorB()),
         arguments);
  }
}

void KernelWriter::fence(Value value, const std::string &variable) {
  Type element = isa<tile::AccumulatorType>(value.getType())
                     ? cast<tile::AccumulatorType>(value.getType()).getElementType()
                     : cast<tile::FragmentType>(value.getType()).getElementType();
  if (element.isF16() || element.isBF16())
    needs("warpgroup_fence_packed");
  call("warpgroup_fence_operand", variable);
}

void KernelWriter::write(tile::WgmmaWaitOp wait) {
  call("warpgroup_wait", "", Twine(wait.getPending()));
  if (wait.getFragment())
    fence(wait.getFragment(), take(wait.getAccumulator(), wait.getFragment(), "fragment"));
}

// ------------------------------------------------------------------ fragments

/// `fragment[i] = element`.
static std::string setElement(Type type, const std::pair<std::string, std::string> &at, const std::string &element) {
  return type.isF16() || type.isBF16() ? at.first + ".set(" + at.second + ", " + element + ")"
                                       : at.first + "[" + at.second + "] = " + element;
}

/// A loop over what a thread holds.
void KernelWriter::write(tile::MapOp map) {
  writeOrigin(map);
  Block &body = map.getBody().front();
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  tile::FragmentType type = map.getResult().getType();
  // The first fragment of this type that nobody else reads becomes the result.
  std::string result;
  for (Value fragment : map.getFragments())
    if (result.empty() && fragment.hasOneUse() && fragment.getType() == type &&
        fragment.getParentBlock() == map->getBlock())
      result = take(fragment, map.getResult(), "fragment");
  if (result.empty() && !map.getResult().use_empty())
    result = declareFragment(map.getResult(), stageOf(map, "fragment"));
  size_t outer = enter();
  std::string i = unique("i");
  line() << "#pragma unroll\n";
  open("for (int " + i + " = 0; " + i + " < " + Twine(type.getElementsPerThread()) + "; ++" + i + ")");
  std::string ofRow = type.isColumn() ? i : i + " / 2 % 2";
  unsigned count = map.getFragments().size();
  for (auto [argument, fragment] : llvm::zip(body.getArguments(), map.getFragments())) {
    bool isColumn = cast<tile::FragmentType>(fragment.getType()).isColumn();
    bind(argument, use(fragment, Binding::Primary) + "[" + (isColumn ? ofRow : i) + "]");
  }
  BlockArgument row = body.getArgument(count), column = body.getArgument(count + 1);
  if (!row.use_empty()) {
    needs("fragment_row");
    std::string number = type.isColumn() ? "2 * " + i : i;
    line() << "const " << indexType << " " << name(row, "row") << " = fragment_row(" << number << ");\n";
  }
  if (type.isColumn()) {
    bind(column, "0");
  } else if (!column.use_empty()) {
    needs("fragment_column");
    line() << "const " << indexType << " " << name(column, "column") << " = fragment_column(" << i << ");\n";
  }
  if (!result.empty())
    elementOf[&body] = {result, i};
  // Of the four threads that have a row's one element the first stores it.
  bool isOfFirst = type.isColumn() && !isMemoryEffectFree(map) && isa<BlockArgument>(yield.getElement());
  if (isOfFirst)
    open("if (threadIdx.x % 4 == 0)");
  writeBlock(body);
  if (isOfFirst)
    close();
  close();
  leave(outer);
}

void KernelWriter::write(tile::StoreFragmentOp store) {
  writeOrigin(store);
  tile::BufferType buffer = store.getBuffer().getType();
  Type element = buffer.getElementType();
  bool is16Bits = tile::getElementBytes(element) == 2;
  for (StringRef piece : {"Fragment", "chunk_address"})
    needs(piece);
  if (is16Bits)
    needs(element.isF16() ? "pack_f16" : "pack_bf16"), needs("stmatrix"), needs("shared_address");
  else
    needs("Vector");
  needs(is16Bits ? "store_fragment_16" : "store_fragment_pairs");
  int64_t columns = store.getTransposed() ? buffer.getRows() : buffer.getColumns();
  std::string arguments = is16Bits ? typeName(element) : typeName(store.getFragment().getType().getElementType());
  for (int64_t number : {int64_t(store.getFrom()), columns})
    arguments += ", " + std::to_string(number);
  arguments += store.getTransposed() ? ", true" : ", false";
  for (int64_t number : {buffer.getPanelRowBytes(), buffer.getPanelBytes()})
    arguments += ", " + std::to_string(number);
  arguments += buffer.getSwizzle() ? ", true" : ", false";
  line() << "store_fragment<" << arguments << ">(" << use(store.getBuffer()) << ", "
         << use(store.getFragment(), Binding::Primary) << ");\n";
}

void KernelWriter::write(tile::StoreRowsOp store) {
  writeOrigin(store);
  needs("chunk_address");
  size_t outer = enter();
  auto tensor = cast<MemRefType>(store.getTensor().getType());
  ArrayRef<int64_t> box = store.getBox();
  int64_t last = box.size() - 1;
  auto extentAlong = [&](int64_t dimension) {
    return store.getExtents() ? std::to_string((*store.getExtents())[dimension])
                              : extent(store, store.getTensor(), dimension);
  };
  auto own = strides.find(store.getTensor());
  auto strideAlong = [&](int64_t dimension) -> std::string {
    if (store.getStrides())
      return std::to_string((*store.getStrides())[dimension]);
    if (int64_t known = tensor.getStridesAndOffset().first[dimension]; !ShapedType::isDynamic(known))
      return std::to_string(known);
    if (own != strides.end())
      return own->second[dimension];
    std::string product;
    for (int64_t inner = dimension + 1; inner <= last; ++inner)
      product += (product.empty() ? "" : " * ") + extentAlong(inner);
    return product.find(' ') == std::string::npos ? product : "(" + product + ")";
  };
  tile::BufferType buffer = store.getBuffer().getType();
  int64_t bytes = tile::getElementBytes(buffer.getElementType()), rest = buffer.getRows();
  std::string row = unique("row"), inside, to, type = typeName(buffer.getElementType());
  // A warp has a row, and each of its threads every 32nd element of it.
  open("for (int " + Twine(row) + " = threadIdx.x % 128 / 32; " + row + " < " + Twine(rest) + "; " + row + " += 4)");
  for (int64_t dimension = 0; dimension < last; ++dimension) {
    rest /= box[dimension];
    std::string place = unique("i"), digit = row;
    if (rest > 1)
      digit += " / " + std::to_string(rest);
    if (dimension > 0 && box[dimension] > 1)
      digit += " % " + std::to_string(box[dimension]);
    line() << "const " << indexType << " " << place << " = " << use(store.getCoordinates()[dimension], Binding::Sum)
           << (box[dimension] > 1 ? " + " + digit : "") << ";\n";
    inside += (inside.empty() ? "" : " && ") + place + " < " + extentAlong(dimension);
    std::string stride = strideAlong(dimension);
    to += (to.empty() ? "" : " + ") + place + (stride == "1" ? "" : " * " + stride);
  }
  open("if (" + Twine(inside) + ")");
  std::string begin = unique("to"), column = unique("column");
  line() << type << " *const " << begin << " = reinterpret_cast<" << type << " *>("
         << use(store.getTensor(), Binding::Primary) << ") + (" << to << " + "
         << use(store.getCoordinates()[last], Binding::Sum) << ");\n";
  open("for (int " + Twine(column) + " = threadIdx.x % 32; " + column + " < " + Twine(box[last]) + " && " + column +
       " < " + extentAlong(last) + " - " + use(store.getCoordinates()[last], Binding::Product) + "; " + column +
       " += 32)");
  std::string byte = bytes == 1 ? column : column + " * " + std::to_string(bytes);
  line() << begin << "[" << column << "] = *reinterpret_cast<const " << type << " *>(chunk_address<"
         << buffer.getPanelRowBytes() << ", " << buffer.getPanelBytes() << ", "
         << (buffer.getSwizzle() ? "true" : "false") << ">(" << use(store.getBuffer()) << ", " << row << ", " << byte
         << " / 16) + " << byte << " % 16);\n";
  close();
  close();
  close();
  leave(outer);
}

bool KernelWriter::writeFragmentOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::WgmmaOp, tile::WgmmaWaitOp, tile::MapOp, tile::StoreFragmentOp, tile::StoreRowsOp>([&](auto one) {
        write(one);
        return true;
      })
      .Case([&](tile::WgmmaCommitOp) { return call("warpgroup_commit_batch"), true; })
      .Case([&](tile::ZeroOp zero) { return declareFragment(zero.getAccumulator(), "accumulator", " = {}"), true; })
      .Case([&](tile::ToAccumulatorOp to) { return take(to.getFragment(), to.getAccumulator(), "accumulator"), true; })
      .Case([&](tile::FillOp fill) {
        std::string variable = declareFragment(fill.getFragment(), "fragment"), i = unique("i");
        line() << "#pragma unroll\n";
        line() << "for (int " << i << " = 0; " << i << " < " << fill.getFragment().getType().getElementsPerThread()
               << "; ++" << i << ") " << setElement(fill.getValue().getType(), {variable, i}, use(fill.getValue()))
               << ";\n";
        return true;
      })
      .Case([&](tile::YieldOp yield) {
        auto to = elementOf.find(yield->getBlock());
        if (to == elementOf.end())
          return true;
        const auto &[variable, i] = to->second;
        if (std::string element = use(yield.getElement()); element != variable + "[" + i + "]")
          line() << setElement(yield.getElement().getType(), to->second, element) << ";\n";
        return true;
      })
      .Case([&](tile::RowReduceOp reduce) {
        StringRef kind = reduce.getKind() == tile::Reduction::Sum   ? "Sum"
                         : reduce.getKind() == tile::Reduction::Max ? "Max"
                                                                    : "Min";
        writeOrigin(op);
        needs("row_reduce"), needs(kind);
        declareFragment(reduce.getResult(), stageOf(op, "rows"),
                        " = row_reduce<" + kind + ">(" + use(reduce.getFragment()) + ", " + use(reduce.getInit()) +
                            ")");
        return true;
      })
      .Case([&](tile::SaveFragmentOp save) {
        needs("Vector"), needs("save_fragment");
        std::string row = use(save.getBuffer(), Binding::Primary) + "[" + use(save.getRow()) + "]";
        line() << "save_fragment(" << row << ", " << use(save.getFragment()) << ");\n";
        return true;
      })
      .Case([&](tile::RestoreFragmentOp restore) {
        needs("Vector"), needs("restore_fragment");
        std::string row = use(restore.getBuffer(), Binding::Primary) + "[" + use(restore.getRow()) + "]";
        declareFragment(restore.getFragment(), "part",
                        " = restore_fragment<" + Twine(restore.getFragment().getType().getElementsPerThread()) + ">(" +
                            row + ")");
        return true;
      })
      .Default(false);
}

} // namespace tilewright::source
