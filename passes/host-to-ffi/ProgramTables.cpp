//===- ProgramTables.cpp - what the run time knows of a program, as tables ===//
#include "passes/host-to-ffi/ProgramTables.h"

#include "dialects/Program/Program.h"
#include "runtime/host/ABI.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

/// What a call gives, and behind these the elements of groups, those of one together.
static FlatSymbolRefAttr createParameters(ConstantTables &tables, const HostProgram &program) {
  SmallVector<const HostParameter *> found;
  for (const HostParameter &parameter : program.parameters)
    found.push_back(&parameter);
  SmallVector<SmallVector<ConstantField>> rows;
  for (size_t i = 0; i < found.size(); ++i) {
    const HostParameter &parameter = *found[i];
    int32_t kind = parameter.isShape     ? TilewrightIsShape
                   : parameter.isGroup() ? TilewrightIsTuple
                                         : TilewrightIsArgument;
    rows.push_back({tables.text(parameter.name), tables.text(parameter.place), tables.i32(kind),
                    tables.i32(parameter.isGroup() ? found.size() : parameter.argument),
                    tables.i32(parameter.elements.size())});
    for (const HostParameter &element : parameter.elements)
      found.push_back(&element);
  }
  return tables.createTable("parameters", rows);
}

FlatSymbolRefAttr createSignature(ConstantTables &tables, const HostProgram &program, TargetKind place) {
  SmallVector<SmallVector<ConstantField>> arguments;
  for (auto [position, argument] : llvm::enumerate(program.arguments)) {
    auto list = [&, at = std::to_string(position)](StringRef what, ArrayRef<HostExtent> extents) {
      SmallVector<SmallVector<ConstantField>> rows;
      for (const HostExtent &extent : extents)
        rows.push_back({tables.i64(extent.number), extent.isSymbol() ? tables.text(extent.symbol) : tables.null(),
                        tables.i64(extent.divisibleBy), tables.i64(extent.minimum), tables.i64(extent.maximum)});
      return rows.empty() ? tables.null() : tables.address(tables.createTable(what.str() + at, rows));
    };
    ConstantField shape = list("extents", argument.extents), strides = list("strides", argument.strides);
    arguments.push_back({tables.text(argument.name), shape, tables.i32(argument.dtype),
                         tables.i32(argument.isNumber ? 0 : argument.extents.size()), tables.i32(argument.output),
                         tables.i32(argument.alignment),
                         tables.i32(argument.isNumber    ? +TilewrightIsNumber
                                    : argument.isPointer ? +TilewrightIsPointer
                                                         : +TilewrightIsTensor),
                         tables.i32(argument.isOptional), tables.text(argument.place)});
    HostDefault otherwise = argument.otherwise.value_or(
        HostDefault{argument.isOptional ? +TilewrightTypeNone : +TilewrightTypeLeftOut, 0, 0});
    arguments.back().append(
        {tables.i32(otherwise.type), tables.i32(otherwise.padding), tables.i64(otherwise.bits), strides});
  }
  ConstantField table = arguments.empty() ? tables.null() : tables.address(tables.createTable("arguments", arguments));
  int32_t device = place == TargetKind::CUDA ? TilewrightDeviceCUDA : TilewrightDeviceCPU;
  ConstantField parameters = program.hasGroups() ? tables.address(createParameters(tables, program)) : tables.null();
  SmallVector<ConstantField> signature = {tables.text(program.text()),          tables.text(program.name()), table,
                                          tables.i32(program.arguments.size()), tables.i32(device),          parameters,
                                          tables.i32(program.parameters.size())};
  return tables.createTable("signature", {signature}, /*single=*/true);
}

/// Whether the function that gives a workspace's size gives 0, whatever the extents are.
static bool isNone(LLVM::LLVMFuncOp workspaceBytes) {
  if (workspaceBytes.isExternal() || !workspaceBytes.getBody().hasOneBlock())
    return false;
  auto result = dyn_cast<LLVM::ReturnOp>(workspaceBytes.getBody().front().getTerminator());
  return result && matchPattern(result.getArg(), m_Zero());
}

FailureOr<FlatSymbolRefAttr> createProgram(ConstantTables &tables, const HostProgram &program,
                                           FlatSymbolRefAttr signature, LLVM::LLVMFuncOp workspaceBytes) {
  LLVM::LLVMFuncOp function = program.function;
  SmallVector<SmallVector<ConstantField>> kernels, images;
  if (auto names = function->getAttrOfType<ArrayAttr>(kKernelsAttr))
    for (Attribute name : names)
      kernels.push_back({tables.text(cast<StringAttr>(name).getValue())});
  if (auto cubins = function->getAttrOfType<DictionaryAttr>(kCubinsAttr))
    for (NamedAttribute cubin : cubins) {
      auto bytes = dyn_cast<StringAttr>(cubin.getValue());
      if (!bytes || !cubin.getName().getValue().starts_with("sm_"))
        return function.emitOpError("expected tilewright.cubins to be cubins by architecture ('sm_90a'), got '")
               << cubin.getName().getValue() << "' with " << cubin.getValue();
      images.push_back({tables.text(cubin.getName()), tables.bytes(bytes), tables.i64(bytes.size())});
    }
  function->removeAttr(kCubinsAttr);
  auto table = [&](StringRef name, ArrayRef<SmallVector<ConstantField>> rows) {
    return rows.empty() ? tables.null() : tables.address(tables.createTable(name, rows));
  };
  SmallVector<ConstantField> fields = {tables.address(signature),
                                       tables.address(FlatSymbolRefAttr::get(function)),
                                       isNone(workspaceBytes) ? tables.null()
                                                              : tables.address(FlatSymbolRefAttr::get(workspaceBytes)),
                                       table("kernels", kernels),
                                       table("images", images),
                                       tables.i32(kernels.size()),
                                       tables.i32(images.size()),
                                       tables.null()};
  int32_t flags = 0, cluster[3] = {1, 1, 1};
  if (auto launch = function->getAttrOfType<DictionaryAttr>(kLaunchAttr)) {
    flags = (launch.contains(kDependent) ? +TilewrightLaunchDependent : 0) |
            (launch.contains(kCooperative) ? +TilewrightLaunchCooperative : 0);
    if (auto sizes = launch.getAs<DenseI32ArrayAttr>(kCluster))
      llvm::copy(sizes.asArrayRef().take_front(3), cluster);
  }
  fields.push_back(tables.i32(flags));
  for (int32_t blocks : cluster)
    fields.push_back(tables.i32(blocks));
  return tables.createTable("program", {fields}, /*single=*/true, /*constant=*/false);
}

} // namespace tilewright
