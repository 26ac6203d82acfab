//===- HostTensorMaps.cpp - tensor maps of printed host programs ----------===//
#include "dialects/Tile/Instructions.h"
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/HostPrelude.h"
#include "passes/gpu-to-source/HostWriter.h"

using namespace mlir;

namespace tilewright::source {
namespace {

StringRef nameOfMapElement(int64_t number) {
  constexpr const char *names[] = {"UINT8",   "UINT16",  "UINT32",  "INT32",    "UINT64",      "INT64",
                                   "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32"};
  return names[number];
}

} // namespace

const char *const tensorMapPrelude =
    R"cpp(/// What TMA knows of a tensor: its element type, extents, strides in bytes, and the box of elements that one instruction
/// copies. The innermost dimension comes first. Along a dimension, a box has one element in `steps`.
template <size_t rank>
CUtensorMap encode_tensor_map(const char *name, CUtensorMapDataType type, CUdeviceptr data, const cuuint64_t (&extents)[rank],
                              const cuuint64_t (&strides)[rank], const cuuint32_t (&box)[rank], const cuuint32_t (&steps)[rank],
                              CUtensorMapSwizzle swizzle) {
  // The driver refuses an empty tensor. No instruction reads from it, so that one element stands for it.
  const bool is_empty = std::count(extents, extents + rank, cuuint64_t(0)) != 0;
  cuuint64_t sizes[rank], pitches[rank];
  cuuint32_t spans[rank];  // the driver counts the elements between, too
  for (size_t dim = 0; dim < rank; ++dim) {
    sizes[dim] = is_empty ? 1 : extents[dim];
    pitches[dim] = is_empty ? 16 : strides[dim];
    spans[dim] = box[dim] * steps[dim];
  }
  void *address = reinterpret_cast<void *>(is_empty && !data ? 16 : data);
  CUtensorMap map;
  check(cuTensorMapEncodeTiled(&map, type, rank, address, sizes, pitches + 1, spans, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        std::string("cuTensorMapEncodeTiled of ") + name);
  return map;
}

)cpp";

void HostWriter::writeTensorMap(tile::EncodeOp encode) {
  tile::TensorMapType type = encode.getMap().getType();
  int64_t elementBytes = tile::getElementBytes(type.getElementType());
  std::string data = use(encode.getTensor(), Binding::Primary), buffer = tensorName(encode.getTensor());
  std::string extents, strides, box, steps, stride = std::to_string(elementBytes);
  std::optional<int64_t> knownStride = elementBytes;
  auto add = [](std::string &list, const std::string &number) { list += (list.empty() ? "" : ", ") + number; };
  auto unsigned64 = [](const std::string &number, bool isKnown) {
    return isKnown ? number : "cuuint64_t(" + number + ")";
  };
  auto tensor = cast<MemRefType>(encode.getTensor().getType());
  for (int64_t dim = type.getBox().size() - 1; dim >= 0; --dim) {
    add(box, std::to_string(type.getBox()[dim]));
    add(steps, std::to_string(encode.getSteps() ? (*encode.getSteps())[dim] : 1));
    if (encode.getExtents()) {
      add(extents, std::to_string((*encode.getExtents())[dim]));
      add(strides, std::to_string((*encode.getStrides())[dim] * elementBytes));
      continue;
    }
    std::string size = extent(encode, encode.getTensor(), dim);
    bool isKnown = !tensor.isDynamicDim(dim);
    add(extents, unsigned64(size, isKnown));
    add(strides, unsigned64(stride, knownStride.has_value()));
    if (knownStride && isKnown) {
      *knownStride *= tensor.getDimSize(dim);
      stride = std::to_string(*knownStride);
    } else {
      stride = unsigned64(stride, knownStride.has_value()) + " * " + unsigned64(size, isKnown);
      knownStride.reset();
    }
  }
  needs("encode_tensor_map");
  std::string map = name(encode.getMap(), buffer + "_map");
  stream << "\n";
  writeOrigin(encode);
  line() << "CUtensorMap " << map << " = encode_tensor_map(" << quoted(buffer) << ", CU_TENSOR_MAP_DATA_TYPE_"
         << nameOfMapElement(tile::getTensorMapElement(type.getElementType())) << ", " << data << ", {" << extents
         << "}, {" << strides << "}, {" << box << "}, {" << steps << "}, CU_TENSOR_MAP_SWIZZLE_"
         << (type.getSwizzle() ? std::to_string(type.getSwizzle()) + "B" : "NONE") << ");\n";
}

} // namespace tilewright::source
