//===- ConstantTables.h - C structs as globals of the LLVM dialect --------===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_CONSTANTTABLES_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_CONSTANTTABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/PassSupport.h"

#include <string>

namespace tilewright {

/// A field of a struct: a number, the address of a symbol, or a null pointer.
struct ConstantField {
  mlir::Type type;
  int64_t number = 0;
  mlir::FlatSymbolRefAttr symbol;
};

/// The constants of one program, all named after it.
class ConstantTables {
public:
  ConstantTables(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef prefix)
      : builder(builder), loc(loc), prefix(prefix) {}

  ConstantField i32(int64_t number) { return {builder.getI32Type(), number, nullptr}; }
  ConstantField i64(int64_t number) { return {builder.getI64Type(), number, nullptr}; }
  ConstantField null() { return {pointer(), 0, nullptr}; }
  ConstantField address(mlir::FlatSymbolRefAttr symbol) { return {pointer(), 0, symbol}; }
  /// The address of a text that ends with a zero.
  ConstantField text(llvm::StringRef text);
  /// The address of bytes aligned as machine code is.
  ConstantField bytes(mlir::StringAttr bytes);

  /// A global array of structs, or where there is but one row and `single`, a struct.
  mlir::FlatSymbolRefAttr createTable(llvm::StringRef name, llvm::ArrayRef<llvm::SmallVector<ConstantField>> rows,
                                      bool single = false, bool constant = true);

private:
  mlir::Type pointer() { return mlir::LLVM::LLVMPointerType::get(builder.getContext()); }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::string prefix;
  llvm::StringMap<mlir::FlatSymbolRefAttr> texts;
  unsigned numImages = 0;
};

} // namespace tilewright

#endif
