//===- LibraryProblem.cpp - extents and strides of a matmul ----------------===//
#include "runtime/host/LibraryProblem.h"
#include "runtime/host/Tensor.h"

using namespace tilewright::host;

namespace {

constexpr int32_t maxRank = 8;

/// An operand as the matmul reads it.
struct Matrices {
  int32_t rank = 0;
  int64_t shape[maxRank] = {}, strides[maxRank] = {};

  bool read(const TilewrightDLTensor &tensor, int64_t order) {
    rank = tensor.ndim;
    if (rank < 2 || rank > maxRank)
      return false;
    int64_t rowMajor[maxRank], elements = 1;
    for (int32_t d = rank; d-- > 0;) {
      rowMajor[d] = tensor.strides ? tensor.strides[d] : elements;
      elements *= tensor.shape[d];
    }
    for (int32_t d = 0; d < rank; ++d) {
      int64_t from = order >> (4 * d) & 15;
      shape[d] = tensor.shape[from];
      strides[d] = rowMajor[from];
    }
    return true;
  }

  int64_t rows() const { return shape[rank - 2]; }
  int64_t columns() const { return shape[rank - 1]; }

  /// The stride along a dimension of a batch, counted from the last one: 0 where it is broadcast. False where neither.
  bool strideOfBatch(int32_t fromLast, int64_t extent, int64_t &stride) const {
    int32_t d = rank - 3 - fromLast;
    bool isOne = d < 0 || shape[d] == 1;
    stride = isOne ? 0 : strides[d];
    return isOne || shape[d] == extent;
  }

  /// As a matrix in columns, which is the transpose of one in rows. False where neither rows nor columns lie together.
  bool describe(MatmulProblem::Operand &operand) const {
    int64_t row = strides[rank - 2], column = strides[rank - 1];
    operand.isTransposed = !(columns() == 1 || column == 1);
    if (operand.isTransposed && !(rows() == 1 || row == 1))
      return false;
    int64_t length = operand.isTransposed ? rows() : columns(), number = operand.isTransposed ? columns() : rows();
    int64_t apart = operand.isTransposed ? column : row;
    operand.leadingDimension = number == 1 ? length : apart;
    return operand.leadingDimension >= length;
  }
};

/// The batches of a call as one, with one stride for each operand. False where they are not evenly apart.
bool collapse(const Matrices &a, const Matrices &b, const Matrices &result, MatmulProblem &problem) {
  problem.batch = 1;
  for (int32_t i = 0; i < result.rank - 2; ++i) {
    int64_t extent = result.shape[result.rank - 3 - i], aStride, bStride;
    if (!a.strideOfBatch(i, extent, aStride) || !b.strideOfBatch(i, extent, bStride))
      return false;
    if (extent == 1)
      continue;
    // The first operand of the library's is our second one.
    if (problem.batch == 1) {
      problem.b.batchStride = aStride;
      problem.a.batchStride = bStride;
    } else if (aStride != problem.b.batchStride * problem.batch || bStride != problem.a.batchStride * problem.batch) {
      return false;
    }
    problem.batch *= extent;
  }
  return problem.batch <= INT32_MAX;
}

} // namespace

const char *tilewright::host::findProblem(const TilewrightLibraryCall &call, const TilewrightAny *args,
                                          MatmulProblem &problem) {
  Matrices a, b, result;
  constexpr int64_t inOrder = 0x76543210;
  if (!a.read(*tensorOf(args[call.a]), call.aOrder) || !b.read(*tensorOf(args[call.b]), call.bOrder) ||
      !result.read(*tensorOf(args[call.result]), inOrder))
    return "tensors have more dimensions than a call takes";
  problem.rows = result.columns();
  problem.columns = result.rows();
  problem.depth = a.columns();
  if (b.rows() != problem.depth || b.columns() != problem.rows || a.rows() != problem.columns)
    return "the matmul's extents do not fit together";
  if (!b.describe(problem.a) || !a.describe(problem.b) || !collapse(a, b, result, problem))
    return "the strides of an operand are not those of matrices that are evenly apart";
  if (problem.rows < 1 || problem.columns < 1 || problem.depth < 1 || problem.batch < 1)
    return "a tensor has no elements";
  // One matrix for all of them: then their rows are those of one matmul.
  bool isOneMatrix = problem.batch > 1 && !problem.a.batchStride && !problem.b.isTransposed &&
                     problem.b.batchStride == problem.b.leadingDimension * problem.columns;
  if (isOneMatrix) {
    problem.columns *= problem.batch;
    problem.batch = 1;
  }
  if (problem.batch == 1)
    problem.a.batchStride = problem.b.batchStride = 0;
  return nullptr;
}
