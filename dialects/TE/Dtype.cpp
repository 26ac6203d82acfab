//===- Dtype.cpp - element types as NumPy and DLPack have them ------------===//
#include "dialects/TE/Dtype.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::te {

std::optional<Dtype> getDtype(Type element) {
  if (element.isIndex())
    return Dtype{"int64", 0, 64};
  if (element.isInteger(1))
    return Dtype{"bool", 6, 8};
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned bits = integer.getWidth();
    if (bits < 8 || bits > 64 || !llvm::isPowerOf2_32(bits))
      return std::nullopt;
    return Dtype{(integer.isUnsigned() ? "uint" : "int") + std::to_string(bits), integer.isUnsigned(), int32_t(bits)};
  }
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    if (!part.isF32() && !part.isF64())
      return std::nullopt;
    int32_t bits = 2 * part.getIntOrFloatBitWidth();
    return Dtype{"complex" + std::to_string(bits), 5, bits};
  }
  return TypeSwitch<Type, std::optional<Dtype>>(element)
      .Case<Float16Type, Float32Type, Float64Type>([](auto type) {
        return Dtype{"float" + std::to_string(type.getIntOrFloatBitWidth()), 2, int32_t(type.getIntOrFloatBitWidth())};
      })
      .Case([](BFloat16Type) { return Dtype{"bfloat16", 4, 16}; })
      .Case([](Float8E3M4Type) { return Dtype{"float8_e3m4", 7, 8}; })
      .Case([](Float8E4M3Type) { return Dtype{"float8_e4m3", 8, 8}; })
      .Case([](Float8E4M3B11FNUZType) { return Dtype{"float8_e4m3b11fnuz", 9, 8}; })
      .Case([](Float8E4M3FNType) { return Dtype{"float8_e4m3fn", 10, 8}; })
      .Case([](Float8E4M3FNUZType) { return Dtype{"float8_e4m3fnuz", 11, 8}; })
      .Case([](Float8E5M2Type) { return Dtype{"float8_e5m2", 12, 8}; })
      .Case([](Float8E5M2FNUZType) { return Dtype{"float8_e5m2fnuz", 13, 8}; })
      .Case([](Float8E8M0FNUType) { return Dtype{"float8_e8m0fnu", 14, 8}; })
      .Default([](Type) { return std::nullopt; });
}

} // namespace tilewright::te
