//===- TileInstructions.cpp - instructions of many shapes, as functions ---===//
#include "passes/gpu-to-source/TilePrelude.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright::source {

namespace {

/// `int c0, int c1`, and with asm's way to say them `"r"(c0), "r"(c1)`.
std::string coordinates(unsigned rank, StringRef before, StringRef after) {
  std::string text;
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + before.str() + "c" + std::to_string(i) + after.str();
  return text;
}

/// Of a wgmma, registers in one line.
constexpr int64_t kInLine = 16;

/// `%2, %3`, in strings of several lines.
std::string operands(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (!i ? "%" : i % kInLine ? ", %" : ", \"\n               \"%") + std::to_string(first + i);
  return text;
}

} // namespace

InstructionFunction tmaLoadFunction(unsigned rank, bool isMulticast) {
  std::string dims = std::to_string(rank) + "d";
  std::string name = (isMulticast ? "tma_load_multicast_" : "tma_load_") + dims;
  std::string text = isMulticast
                         ? "\n// Loads a box to this place of all blocks of the cluster that have a bit in `blocks`, "
                           "and counts its bytes at "
                           "their barriers; c0 is the innermost coordinate.\n"
                         : "\n// Loads a box, and counts its bytes at a barrier; c0 is the innermost coordinate.\n";
  text += "__device__ __forceinline__ void " + name +
          "(void *tile, const CUtensorMap *map, unsigned long long *barrier, " + coordinates(rank, "int ", "") +
          (isMulticast ? ", int blocks" : "") + ") {\n";
  text += "  asm volatile(\"cp.async.bulk.tensor." + dims +
          ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" + (isMulticast ? ".multicast::cluster" : "") +
          " [%0], [%1, {" + operands(3, rank) + "}], [%2]" +
          (isMulticast ? ", " + operands(3 + rank, 1) : std::string()) + ";\"\n";
  text += "               ::\"r\"(shared_address(tile)), \"l\"(map), \"r\"(shared_address(barrier)), " +
          coordinates(rank, "\"r\"(", ")") + (isMulticast ? ", \"h\"((unsigned short)(blocks))" : "") +
          " : \"memory\");\n}\n";
  return {name, text};
}

InstructionFunction tmaStoreFunction(unsigned rank, bool adds) {
  std::string dims = std::to_string(rank) + "d", name = (adds ? "tma_add_" : "tma_store_") + dims;
  std::string text = std::string("\n// ") + (adds ? "Adds a box to what is there" : "Stores a box") +
                     "; c0 is the innermost coordinate.\n__device__ __forceinline__ void " + name +
                     "(const void *tile, const CUtensorMap *map, " + coordinates(rank, "int ", "") + ") {\n";
  text += std::string("  asm volatile(\"cp.") + (adds ? "reduce." : "") + "async.bulk.tensor." + dims +
          ".global.shared::cta." + (adds ? "add." : "") + "tile.bulk_group [%1, {" + operands(2, rank) +
          "}], [%0];\"\n";
  text += "               ::\"r\"(shared_address(tile)), \"l\"(map), " + coordinates(rank, "\"r\"(", ")") +
          " : \"memory\");\n}\n";
  return {name, text};
}

InstructionFunction wgmmaFunction(const tile::WgmmaInstruction &instruction, int64_t columns, bool isInRegisters) {
  using tile::Element;
  bool is16Bits = instruction.accumulator == Element::F16, isInteger = instruction.accumulator == Element::S32;
  // A register has two elements of 16 bits.
  int64_t elements = tile::kWgmmaRows * columns / tile::kWarpgroupSize, registers = elements / (is16Bits ? 2 : 1);
  std::string shape = "m64n" + std::to_string(columns) + "k" + std::to_string(instruction.k);
  std::string accumulator = tile::getPTXName(instruction.accumulator).str(), a = tile::getPTXName(instruction.a).str(),
              b = tile::getPTXName(instruction.b).str();
  std::string name = "wgmma_" + shape + "_" + accumulator + "_" + a + "_" + b + (isInRegisters ? "_rs" : "");
  std::string type = is16Bits ? "__half" : isInteger ? "int" : "float";

  std::string text = "\n// d = a b, and where ScaleD is 1 what d was added to it";
  text +=
      instruction.takesMNMajor ? "; an operand that is Transposed has the dimension of the sum as its rows.\n" : ".\n";
  text += "template <int ScaleD";
  if (instruction.takesMNMajor)
    text += isInRegisters ? ", int TransposedB" : ", int TransposedA, int TransposedB";
  // Threads load tf32 as it is.
  bool isOfWords = instruction.a == Element::TF32;
  text += !isInRegisters ? ", int N>\n"
          : isOfWords    ? ", int First, int M, int N>\n"
                         : ", int First, typename A, int M, int N>\n";
  text += "__device__ __forceinline__ void " + name + "(Fragment<" + type + ", N> &d, " +
          (!isInRegisters ? "MatrixDescriptor a"
           : isOfWords    ? "const Words<M> &a"
                          : "const Fragment<A, M> &a") +
          ", MatrixDescriptor b) {\n";
  // The accumulator, the operands, whether it begins at zero, and which operands are transposed.
  int64_t next = registers;
  std::string left = isInRegisters ? "{" + operands(next, 4) + "}" : operands(next, 1);
  next += isInRegisters ? 4 : 1;
  std::string right = operands(next++, 1), scale = operands(next++, 1);
  std::string flags = isInteger ? "" : ", 1, 1";
  if (instruction.takesMNMajor)
    flags += ", " + operands(next, isInRegisters ? 1 : 2);
  text += "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, " + scale + ", 0;\\n\"\n";
  text += "               \"wgmma.mma_async.sync.aligned." + shape + "." + accumulator + "." + a + "." + b + " {" +
          operands(0, registers) + "}, " + left + ", " + right + ", p" + flags + ";\\n}\"\n";
  text += "               : ";
  for (int64_t i = 0; i < registers; ++i)
    text += std::string(!i            ? ""
                        : i % kInLine ? ", "
                                      : ",\n                 ") +
            (is16Bits || isInteger ? "\"+r\"(" : "\"+f\"(") + (is16Bits ? "d.words[" : "d[") + std::to_string(i) + "])";
  text += "\n               : ";
  if (isInRegisters)
    for (int i = 0; i < 4; ++i)
      text += "\"r\"(a.words[First + " + std::to_string(i) + "]), ";
  else
    text += "\"l\"(a.bits()), ";
  text += "\"l\"(b.bits()), \"n\"(ScaleD)";
  if (instruction.takesMNMajor)
    text += isInRegisters ? ", \"n\"(TransposedB)" : ", \"n\"(TransposedA), \"n\"(TransposedB)";
  return {name, text + ");\n}\n"};
}

} // namespace tilewright::source
