//===- Dtype.h - element types as NumPy and DLPack have them --------------===//
//
// `te.dtype` of an argument is a type that has its sign ("ui8"), where MLIR's arithmetic has types without. NumPy's
// names and DLPack's codes of such types are in this table alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_DIALECTS_TE_DTYPE_H
#define TILEWRIGHT_DIALECTS_TE_DTYPE_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace tilewright::te {

struct Dtype {
  std::string name;   // NumPy's and ml_dtypes': "uint8", "bool", "float8_e4m3fn"
  int32_t code, bits; // DLPack's, of one element in memory

  bool isBool() const { return code == 6; }
  bool isInteger() const { return code == 0 || code == 1; }
};

/// Of an element type: i1 is bool, an integer without sign is a signed one, an index is int64. Nothing where DLPack has
/// no such type.
std::optional<Dtype> getDtype(mlir::Type element);

} // namespace tilewright::te

#endif
