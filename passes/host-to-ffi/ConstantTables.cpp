//===- ConstantTables.cpp - C structs as globals of the LLVM dialect ------===//
#include "passes/host-to-ffi/ConstantTables.h"

using namespace mlir;
using namespace tilewright;

ConstantField ConstantTables::text(StringRef text) {
  FlatSymbolRefAttr &symbol = texts[text];
  if (!symbol) {
    std::string name = prefix + "_text" + std::to_string(texts.size() - 1);
    std::string ended = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), ended.size());
    LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           builder.getStringAttr(ended));
    symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
  }
  return address(symbol);
}

ConstantField ConstantTables::bytes(StringAttr bytes) {
  std::string name = prefix + "_image" + std::to_string(numImages++);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         builder.getStringAttr(bytes.getValue()), /*alignment=*/64);
  return address(FlatSymbolRefAttr::get(builder.getContext(), name));
}

FlatSymbolRefAttr ConstantTables::createTable(StringRef suffix, ArrayRef<SmallVector<ConstantField>> rows, bool single,
                                              bool constant) {
  MLIRContext *context = builder.getContext();
  std::string name = prefix + "_" + suffix.str();
  SmallVector<Type> types;
  if (!rows.empty())
    for (const ConstantField &field : rows.front())
      types.push_back(field.type);
  Type row = types.size() == 1 ? types.front() : LLVM::LLVMStructType::getLiteral(context, types);
  Type type = single ? row : LLVM::LLVMArrayType::get(row, rows.size());
  auto global = LLVM::GlobalOp::create(builder, loc, type, constant,
                                       constant ? LLVM::Linkage::Internal : LLVM::Linkage::External, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializer());
  Value value = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, fields] : llvm::enumerate(rows)) {
    for (auto [j, field] : llvm::enumerate(fields)) {
      Value element;
      if (field.symbol)
        element = LLVM::AddressOfOp::create(builder, loc, field.type, field.symbol);
      else if (isa<LLVM::LLVMPointerType>(field.type))
        element = LLVM::ZeroOp::create(builder, loc, field.type);
      else
        element = LLVM::ConstantOp::create(builder, loc, field.type, field.number);
      SmallVector<int64_t> position;
      if (!single)
        position.push_back(i);
      if (types.size() > 1)
        position.push_back(j);
      value = LLVM::InsertValueOp::create(builder, loc, value, element, position);
    }
  }
  LLVM::ReturnOp::create(builder, loc, value);
  return FlatSymbolRefAttr::get(context, name);
}
