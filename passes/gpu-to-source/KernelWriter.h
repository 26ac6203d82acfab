//===- KernelWriter.h - kernels as C++ with what CUDA adds ----------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_KERNELWRITER_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_KERNELWRITER_H

#include "passes/gpu-to-source/CWriter.h"
#include "passes/gpu-to-source/TilePrelude.h"

#include "dialects/Tile/Tile.h"

#include <map>

namespace tilewright::source {

/// Where each number of a launch comes from, by the kernel's name.
using Origins = llvm::StringMap<mlir::DictionaryAttr>;
/// What the tensors are called that a kernel's arguments are maps of, by the kernel's name.
using MapNames = llvm::StringMap<llvm::SmallVector<std::string>>;

/// The program that one GPU module becomes. EmitCUDASource.cpp has kernels and types, KernelOps.cpp the ops in them,
/// KernelTiles.cpp those of asynchronous tiles, KernelFragments.cpp matmuls and tiles in registers.
class KernelWriter : public CWriter {
public:
  KernelWriter(bool areIndicesShort, const Origins &origins, const MapNames &mapNames);
  void write(mlir::gpu::GPUFuncOp kernel);
  /// The whole program: what the kernels need, and the kernels.
  std::string finish() { return prelude() + text; }
  std::string prelude();

protected:
  bool writeOwnOp(mlir::Operation *op) override;
  std::optional<Expression> ownExpression(mlir::Operation *op) override;
  std::string floatType(mlir::Type type) override;
  std::string ownTypeName(mlir::Type type) override;
  std::string carriedName(mlir::Value value) override;
  llvm::StringRef pragmaOf(mlir::scf::ForOp loop) override;
  bool hasName(mlir::Operation *op) override { return isVariable(op->getResult(0)); }
  bool isVariable(mlir::Value value) override {
    return llvm::isa<tile::AccumulatorType, tile::FragmentType>(value.getType());
  }
  std::string convertFloat(mlir::Operation *op, mlir::Type from, mlir::Type to, const std::string &number) override;

private:
  void writeSignature(mlir::gpu::GPUFuncOp kernel);
  void writePlace(mlir::Operation *op, llvm::StringRef prefix, mlir::gpu::Dimension dimension, llvm::StringRef builtin,
                  llvm::StringRef what);
  bool writeVectorOp(mlir::Operation *op);
  bool writeMemoryOp(mlir::Operation *op);
  bool writeMatrixOp(mlir::Operation *op);

  // Asynchronous tiles, once expand-tile-roles made conditions of roles and elected threads.
  bool writeTileOp(mlir::Operation *op);
  bool writeInstruction(mlir::Operation *op);
  bool writeFragmentOp(mlir::Operation *op);
  void write(tile::RingOp ring);
  void write(tile::AllocOp alloc);
  void write(tile::PartOp part);
  void write(tile::InitOp init);
  void write(tile::AdvanceOp advance);
  void write(tile::AcquireOp acquire);
  void write(tile::WaitOp wait);
  void write(tile::CommitOp commit);
  void write(tile::ReleaseOp release);
  void write(tile::TMALoadOp load);
  void write(tile::TMAStoreOp store);
  void write(tile::WgmmaOp product);
  void write(tile::WgmmaWaitOp wait);
  void write(tile::MapOp map);
  void write(tile::StoreFragmentOp store);
  void write(tile::StoreRowsOp store);
  void write(tile::ArriveOp arrive);
  void writeBuffers(tile::RingOp ring, mlir::Value slot, mlir::ValueRange buffers);
  std::optional<Expression> tileExpression(mlir::Operation *op);
  std::optional<Expression> roundedExpression(mlir::Operation *op);
  std::optional<Expression> fusedExpression(mlir::Operation *op);
  Expression partOf(tile::PartOp part);
  std::string barrier(mlir::Value ring, llvm::StringRef kind, mlir::Value slot);
  std::string nameOfTensor(mlir::Value map);
  std::string peerOf(tile::RingOp ring);
  std::string clusterIndex(tile::ClusterAxis axis);
  /// A statement that is a call of a helper.
  void call(llvm::StringRef helper, const llvm::Twine &arguments = "", const llvm::Twine &templateArguments = "");
  void call(const InstructionFunction &function, const llvm::Twine &arguments,
            const llvm::Twine &templateArguments = "");
  /// Calls what issues each box of a copy, with its address and its coordinates.
  void forEachBox(tile::TensorMapType map, mlir::Value buffer, mlir::ValueRange indices,
                  llvm::function_ref<void(std::string, std::string)> copy);
  void fence(mlir::Value value, const std::string &variable);
  /// Declares a fragment.
  std::string declareFragment(mlir::Value result, llvm::StringRef wanted, const llvm::Twine &init = "");
  /// The variable of a tile in registers for the op that makes `result` of it: the same where nobody else reads it.
  std::string take(mlir::Value value, mlir::Value result, llvm::StringRef wanted);
  std::string address(mlir::Operation *op, mlir::Value buffer, mlir::ValueRange indices) {
    return "&" + element(op, buffer, indices);
  }
  std::string accessOf(llvm::StringRef function, mlir::VectorType type, std::optional<uint64_t> alignment);

  const Origins &origins;
  const MapNames &mapNames;
  mlir::gpu::GPUFuncOp currentKernel;
  bool hasTiles = false;
  /// Where the elements of a tile.map go, by its region's block.
  llvm::DenseMap<mlir::Block *, std::pair<std::string, std::string>> elementOf;
  std::map<std::string, std::string> instructions;
};

} // namespace tilewright::source

#endif
