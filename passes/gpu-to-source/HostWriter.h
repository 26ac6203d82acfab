//===- HostWriter.h - host programs as C++ --------------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_HOSTWRITER_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_HOSTWRITER_H

#include "dialects/TE/Dtype.h"
#include "dialects/Tile/Tile.h"
#include "passes/gpu-to-source/CWriter.h"

namespace tilewright::source {

/// The program that one host function becomes. HostArguments.cpp has its head and its checks, EmitHostSource.cpp what
/// runs after them.
class HostWriter : public CWriter {
public:
  HostWriter(mlir::func::FuncOp function, bool isManaged) : CWriter("C++"), function(function), isManaged(isManaged) {
    indexType = "long long";
  }
  std::string write();
  /// What stands before the function; known once it is written.
  std::string prelude;

protected:
  bool writeOwnOp(mlir::Operation *op) override;
  /// A launch takes its address.
  bool hasName(mlir::Operation *op) override { return llvm::isa<tile::EncodeOp>(op); }
  std::string functionName(llvm::StringRef name) override { return "std::" + name.str(); }

private:
  struct Parameter {
    std::string tensor, data, what;
    te::Dtype dtype;
    /// Its entry in `arguments`, of an array.
    std::string self;
    mlir::Value value;
    unsigned number;
    bool isOutput, isArray;
  };
  struct Temporary {
    std::string name, offset, bytes;
    mlir::Operation *view;
  };

  void writeHead();
  void writeChecks();
  void writeNumber(const Parameter &parameter, llvm::StringMap<std::string> &known);
  void writeBuffers();
  void writeArena();
  void writeTensorMap(tile::EncodeOp encode);
  void writeLaunch(mlir::gpu::LaunchFuncOp launch);
  void writeCopiesBack();
  std::string launchCall();
  unsigned numberOf(mlir::gpu::LaunchFuncOp launch);
  /// What a buffer is called, which for an argument is not the name of its address.
  std::string tensorName(mlir::Value buffer);
  std::string lifetimeOf(mlir::Operation *view);

  mlir::func::FuncOp function;
  bool isManaged;
  llvm::SmallVector<Parameter> parameters;
  llvm::SmallVector<Temporary> temporaries;
  /// Of arguments whose addresses have names of their own.
  llvm::DenseMap<mlir::Value, std::string> tensors;
  llvm::SmallVector<std::string> kernels;
  mlir::Value workspace;
  bool hasArena = false;
};

} // namespace tilewright::source

#endif
