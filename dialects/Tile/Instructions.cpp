#include "dialects/Tile/Instructions.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

std::optional<Element> tilewright::tile::findElement(Type type) {
  return llvm::TypeSwitch<Type, std::optional<Element>>(type)
      .Case<Float16Type>([](Type) { return Element::F16; })
      .Case<BFloat16Type>([](Type) { return Element::BF16; })
      .Case<FloatTF32Type>([](Type) { return Element::TF32; })
      .Case<Float8E4M3FNType>([](Type) { return Element::E4M3; })
      .Case<Float8E5M2Type>([](Type) { return Element::E5M2; })
      .Case<Float32Type>([](Type) { return Element::F32; })
      .Case<Float64Type>([](Type) { return Element::F64; })
      .Case<IntegerType>([](IntegerType integer) -> std::optional<Element> {
        if (integer.isSignless() && integer.getWidth() == 8)
          return Element::S8;
        if (integer.isSignless() && integer.getWidth() == 32)
          return Element::S32;
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

bool tilewright::tile::isTileElement(Type type) {
  return isa<FloatTF32Type>(type) || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0);
}

bool tilewright::tile::areStoredAs(Type fragment, Type memory) {
  bool isRounded = fragment.isF32() && (memory.isF16() || memory.isBF16());
  return fragment == memory || isRounded || (fragment.isInteger(8) && getElementBytes(memory) == 1);
}

llvm::StringRef tilewright::tile::getPTXName(Element element) {
  switch (element) {
  case Element::F16:
    return "f16";
  case Element::BF16:
    return "bf16";
  case Element::TF32:
    return "tf32";
  case Element::E4M3:
    return "e4m3";
  case Element::E5M2:
    return "e5m2";
  case Element::S8:
    return "s8";
  case Element::F32:
    return "f32";
  case Element::S32:
    return "s32";
  case Element::F64:
    return "f64";
  }
  llvm_unreachable("no type of PTX");
}

namespace {
constexpr WgmmaInstruction wgmmas[] = {
    {Element::F16, Element::F16, Element::F32, 16, true},    {Element::F16, Element::F16, Element::F16, 16, true},
    {Element::BF16, Element::BF16, Element::F32, 16, true},  {Element::TF32, Element::TF32, Element::F32, 8, false},
    {Element::E4M3, Element::E4M3, Element::F32, 32, false}, {Element::E4M3, Element::E5M2, Element::F32, 32, false},
    {Element::E5M2, Element::E4M3, Element::F32, 32, false}, {Element::E5M2, Element::E5M2, Element::F32, 32, false},
    {Element::E4M3, Element::E4M3, Element::F16, 32, false}, {Element::E4M3, Element::E5M2, Element::F16, 32, false},
    {Element::E5M2, Element::E4M3, Element::F16, 32, false}, {Element::E5M2, Element::E5M2, Element::F16, 32, false},
    {Element::S8, Element::S8, Element::S32, 32, false, 16}, {Element::F32, Element::F32, Element::F32, 8, true},
};

// The widest first.
constexpr MmaSyncInstruction mmaSyncs[] = {
    {Element::F16, Element::F16, Element::F32, 16, 8, 16, 80},
    {Element::F16, Element::F16, Element::F16, 16, 8, 16, 80},
    {Element::BF16, Element::BF16, Element::F32, 16, 8, 16, 80},
    {Element::TF32, Element::TF32, Element::F32, 16, 8, 8, 80},
    {Element::TF32, Element::TF32, Element::F32, 16, 8, 4, 80},
    {Element::S8, Element::S8, Element::S32, 16, 8, 32, 80},
    {Element::S8, Element::S8, Element::S32, 16, 8, 16, 80},
    {Element::F64, Element::F64, Element::F64, 8, 8, 4, 80},
    {Element::E4M3, Element::E4M3, Element::F32, 16, 8, 32, 89},
    {Element::E4M3, Element::E5M2, Element::F32, 16, 8, 32, 89},
    {Element::E5M2, Element::E4M3, Element::F32, 16, 8, 32, 89},
    {Element::E5M2, Element::E5M2, Element::F32, 16, 8, 32, 89},
    {Element::F16, Element::F16, Element::F32, 16, 8, 8, 75},
    {Element::F16, Element::F16, Element::F16, 16, 8, 8, 75},
    {Element::S8, Element::S8, Element::S32, 8, 8, 16, 75},
};
} // namespace

const WgmmaInstruction *tilewright::tile::findWgmma(Type a, Type b, Type accumulator) {
  const auto *found = llvm::find_if(wgmmas, [&](const WgmmaInstruction &known) {
    return known.a == findElement(a) && known.b == findElement(b) && known.accumulator == findElement(accumulator);
  });
  return found == std::end(wgmmas) ? nullptr : found;
}

bool tilewright::tile::areMultipliedByWarps(Type operands, Type accumulator) {
  return (operands.isF16() || operands.isBF16() || operands.isF32()) && accumulator.isF32();
}

const MmaSyncInstruction *tilewright::tile::findMmaSync(Type a, Type b, Type accumulator, unsigned capability) {
  const auto *found = llvm::find_if(mmaSyncs, [&](const MmaSyncInstruction &known) {
    return known.a == findElement(a) && known.b == findElement(b) && known.accumulator == findElement(accumulator) &&
           known.capability <= capability;
  });
  return found == std::end(mmaSyncs) ? nullptr : found;
}

int64_t tilewright::tile::getTensorMapElement(Type type) {
  return llvm::TypeSwitch<Type, int64_t>(type)
      .Case<Float16Type>([](Type) { return 6; })
      .Case<Float32Type>([](Type) { return 7; })
      .Case<Float64Type>([](Type) { return 8; })
      .Case<BFloat16Type>([](Type) { return 9; })
      .Case<FloatTF32Type>([](Type) { return 11; })
      .Default([](Type other) {
        // What the engine only moves is bits.
        int64_t bytes = getElementBytes(other);
        return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 3 : 5;
      });
}
