// A libcublasLt that is not there. It refuses arguments that NVIDIA's documentation does not allow or that a matmul of
// this project does not have, and computes in the memory of this machine. What a stream of fake_cuda.c captures is
// computed when its graph is launched.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

enum { OK = 0, INVALID = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { HANDLES, DESCS, LAYOUTS, PREFERENCES, HEURISTICS, MATMULS, COUNT };

extern "C" {
int fake_lt_counts[COUNT]; // DESCS, LAYOUTS and PREFERENCES: how many there are
int fake_lt_codes[COUNT];  // what a function returns, where it is not 0
int64_t fake_lt_workspace = 1 << 20;
int64_t fake_lt_last[16]; // of the last matmul: m, n, k, batch, A's and B's transpose, epilogue, C's being, types
}

namespace {

int refuse(const char *what) {
  std::fprintf(stderr, "fake cublasLt: %s\n", what);
  return INVALID;
}

void *findInDriver(const char *name) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver ? dlsym(driver, name) : nullptr;
}

struct Desc {
  int compute, scale, transA = 0, transB = 0;
  uint32_t epilogue = 1;
  const void *bias = nullptr;
};

struct Layout {
  int type;
  int64_t rows, columns, leading, batch = 1, stride = 0;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reduction = 7, alignments[4] = {256, 256, 256, 256};
};

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent ? std::ldexp(1 + fraction / 1024.0, exponent - 15) : std::ldexp(fraction / 1024.0, -14);
  return bits >> 15 ? -value : value;
}

uint16_t doubleToHalf(double value) {
  if (value == 0)
    return std::signbit(value) << 15;
  int exponent;
  std::frexp(value, &exponent);
  exponent = exponent - 1 < -14 ? -14 : exponent - 1;
  double unit = std::ldexp(1, exponent - 10), rounded = std::nearbyint(std::fabs(value) / unit);
  if (rounded == 2048)
    ++exponent, rounded = 1024;
  uint16_t bits = rounded < 1024 ? uint16_t(rounded) : uint16_t((exponent + 15) << 10 | (int(rounded) - 1024));
  return bits | std::signbit(value) << 15;
}

double load(const void *data, int type, int64_t at) {
  switch (type) {
  case 0:
    return static_cast<const float *>(data)[at];
  case 2:
    return halfToDouble(static_cast<const uint16_t *>(data)[at]);
  case 3:
    return static_cast<const int8_t *>(data)[at];
  case 10:
    return static_cast<const int32_t *>(data)[at];
  case 14: {
    uint32_t bits = uint32_t(static_cast<const uint16_t *>(data)[at]) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  default: { // 28, of 4 bits of exponent
    uint8_t bits = static_cast<const uint8_t *>(data)[at];
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    double value = exponent ? std::ldexp(1 + fraction / 8.0, exponent - 7) : std::ldexp(fraction / 8.0, -6);
    return bits >> 7 ? -value : value;
  }
  }
}

void store(void *data, int type, int64_t at, double value) {
  if (type == 0)
    static_cast<float *>(data)[at] = float(value);
  else if (type == 2)
    static_cast<uint16_t *>(data)[at] = doubleToHalf(value);
  else if (type == 10)
    static_cast<int32_t *>(data)[at] = int32_t(value);
  else {
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    static_cast<uint16_t *>(data)[at] = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

struct Matmul {
  Desc desc;
  Layout a, b, d;
  const void *aData, *bData, *cData;
  void *dData, *workspace;
  size_t workspaceBytes;
  bool hasC;
};

void compute(void *context) {
  auto &call = *static_cast<Matmul *>(context);
  int64_t k = call.desc.transA ? call.a.rows : call.a.columns;
  std::memset(call.workspace, 0xab, call.workspaceBytes); // is the library's own
  std::vector<double> made;
  for (int64_t g = 0; g < call.d.batch; ++g)
    for (int64_t j = 0; j < call.d.columns; ++j)
      for (int64_t i = 0; i < call.d.rows; ++i) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          int64_t a = call.desc.transA ? l + i * call.a.leading : i + l * call.a.leading;
          int64_t b = call.desc.transB ? j + l * call.b.leading : l + j * call.b.leading;
          sum += load(call.aData, call.a.type, a + g * call.a.stride) *
                 load(call.bData, call.b.type, b + g * call.b.stride);
        }
        if (call.hasC)
          sum += load(call.cData, call.d.type, i + j * call.d.leading + g * call.d.stride);
        if (call.desc.epilogue & 4)
          sum += load(call.desc.bias, call.d.type, i);
        if (call.desc.epilogue & 2)
          sum = sum > 0 ? sum : 0;
        if (call.desc.epilogue & 32)
          sum = 0.5 * sum * (1 + std::tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
        made.push_back(sum);
      }
  size_t at = 0;
  for (int64_t g = 0; g < call.d.batch; ++g)
    for (int64_t j = 0; j < call.d.columns; ++j)
      for (int64_t i = 0; i < call.d.rows; ++i)
        store(call.dData, call.d.type, i + j * call.d.leading + g * call.d.stride, made[at++]);
}

bool isAligned(const void *data, uintptr_t bytes) { return reinterpret_cast<uintptr_t>(data) % bytes == 0; }

/// What the layouts of a matmul have to be.
const char *check(const Desc &desc, const Layout &a, const Layout &b, const Layout &c, const Layout &d) {
  int64_t m = desc.transA ? a.columns : a.rows, k = desc.transA ? a.rows : a.columns;
  int64_t n = desc.transB ? b.rows : b.columns, depth = desc.transB ? b.columns : b.rows;
  if (k != depth || d.rows != m || d.columns != n || c.rows != m || c.columns != n)
    return "extents do not fit together";
  for (const Layout *one : {&a, &b, &c, &d}) {
    if (one->leading < one->rows || one->rows < 1 || one->columns < 1)
      return "a leading dimension is too small";
    if (one->batch != d.batch)
      return "batches differ";
  }
  bool isOfInts = a.type == 3;
  if (a.type != b.type || c.type != d.type || desc.compute != (isOfInts ? 72 : 68) || desc.scale != (isOfInts ? 10 : 0))
    return "types do not fit together";
  if (isOfInts ? d.type != 10 : a.type == 28 ? d.type != 0 && d.type != 2 && d.type != 14 : d.type != a.type && d.type)
    return "the result is of another type";
  if (a.type == 28 && !(desc.transA && !desc.transB))
    return ""; // not supported
  return nullptr;
}

template <typename Value> bool read(Value &to, const void *from, size_t bytes) {
  if (bytes != sizeof(Value))
    return false;
  std::memcpy(&to, from, bytes);
  return true;
}

} // namespace

extern "C" {

size_t fake_lt_version = 130100;
size_t cublasLtGetVersion() { return fake_lt_version; }

int cublasLtCreate(void **handle) {
  *handle = reinterpret_cast<void *>(0x1a);
  return ++fake_lt_counts[HANDLES], fake_lt_codes[HANDLES];
}

int cublasLtMatmulDescCreate(void **desc, int compute, int scale) {
  return *desc = new Desc{compute, scale}, ++fake_lt_counts[DESCS], fake_lt_codes[DESCS];
}
int cublasLtMatmulDescDestroy(void *desc) { return delete static_cast<Desc *>(desc), --fake_lt_counts[DESCS], OK; }
int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t bytes) {
  auto &to = *static_cast<Desc *>(desc);
  bool done = attribute == 3   ? read(to.transA, value, bytes)
              : attribute == 4 ? read(to.transB, value, bytes)
              : attribute == 7 ? read(to.epilogue, value, bytes)
              : attribute == 8 ? read(to.bias, value, bytes)
                               : false;
  return done ? OK : refuse("an attribute of a descriptor");
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  *layout = new Layout{type, int64_t(rows), int64_t(columns), leading};
  return ++fake_lt_counts[LAYOUTS], fake_lt_codes[LAYOUTS];
}
int cublasLtMatrixLayoutDestroy(void *layout) {
  return delete static_cast<Layout *>(layout), --fake_lt_counts[LAYOUTS], OK;
}
int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes) {
  auto &to = *static_cast<Layout *>(layout);
  int32_t count;
  if (attribute == 6)
    return read(to.stride, value, bytes) ? OK : refuse("the stride of a batch");
  if (attribute != 5 || !read(count, value, bytes))
    return refuse("an attribute of a layout");
  return to.batch = count, OK;
}

int cublasLtMatmulPreferenceCreate(void **preference) {
  return *preference = new Preference, ++fake_lt_counts[PREFERENCES], OK;
}
int cublasLtMatmulPreferenceDestroy(void *preference) {
  return delete static_cast<Preference *>(preference), --fake_lt_counts[PREFERENCES], OK;
}
int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value, size_t bytes) {
  auto &to = *static_cast<Preference *>(preference);
  bool done = attribute == 1                     ? read(to.workspace, value, bytes)
              : attribute == 3                   ? read(to.reduction, value, bytes)
              : attribute >= 5 && attribute <= 8 ? read(to.alignments[attribute - 5], value, bytes)
                                                 : false;
  return done ? OK : refuse("an attribute of a preference");
}

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                                   int most, Heuristic *found, int *count) {
  ++fake_lt_counts[HEURISTICS];
  *count = 0;
  if (handle != reinterpret_cast<void *>(0x1a) || most < 1)
    return refuse("another handle");
  auto &preferred = *static_cast<Preference *>(preference);
  for (uint32_t alignment : preferred.alignments)
    if (alignment != 16)
      return refuse("an alignment that tensors do not have");
  if (preferred.reduction != 2)
    return refuse("reductions in other types than the accumulator's");
  if (fake_lt_codes[HEURISTICS])
    return fake_lt_codes[HEURISTICS];
  if (auto *isCapturing = reinterpret_cast<int (*)()>(findInDriver("fake_is_capturing")); isCapturing && isCapturing())
    return INTERNAL_ERROR; // as CUDA 13.3 has it
  if ((static_cast<Desc *>(desc)->epilogue & 4) && !static_cast<Desc *>(desc)->bias)
    return refuse("a bias without its address");
  const char *wrong = check(*static_cast<Desc *>(desc), *static_cast<Layout *>(a), *static_cast<Layout *>(b),
                            *static_cast<Layout *>(c), *static_cast<Layout *>(d));
  if (wrong)
    return *wrong ? refuse(wrong) : NOT_SUPPORTED;
  if (fake_lt_workspace > int64_t(preferred.workspace))
    return NOT_SUPPORTED;
  *found = {{0xa190}, size_t(fake_lt_workspace), OK, 1, {}};
  return *count = 1, OK;
}

int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *aLayout, const void *b,
                   void *bLayout, const void *beta, const void *c, void *cLayout, void *d, void *dLayout,
                   const uint64_t *algorithm, void *workspace, size_t workspaceBytes, void *stream) {
  ++fake_lt_counts[MATMULS];
  if (fake_lt_codes[MATMULS])
    return fake_lt_codes[MATMULS];
  Matmul call = {*static_cast<Desc *>(desc),
                 *static_cast<Layout *>(aLayout),
                 *static_cast<Layout *>(bLayout),
                 *static_cast<Layout *>(dLayout),
                 a,
                 b,
                 c,
                 d,
                 workspace,
                 workspaceBytes,
                 false};
  const char *wrong = check(call.desc, call.a, call.b, *static_cast<Layout *>(cLayout), call.d);
  if (wrong)
    return refuse(wrong);
  if (handle != reinterpret_cast<void *>(0x1a) || *algorithm != 0xa190)
    return refuse("another handle or algorithm");
  if (int64_t(workspaceBytes) != fake_lt_workspace || !isAligned(workspace, 256) || (workspaceBytes && !workspace))
    return refuse("the workspace");
  for (const void *one : {a, b, c, static_cast<const void *>(d)})
    if (!isAligned(one, 16))
      return refuse("a tensor that is not aligned");
  if ((call.desc.epilogue & 4) && (!call.desc.bias || !isAligned(call.desc.bias, 16)))
    return refuse("a bias");
  bool isOfInts = call.a.type == 3;
  double scales[2];
  const void *given[] = {alpha, beta};
  for (int i = 0; i < 2; ++i)
    scales[i] = load(given[i], isOfInts ? 10 : 0, 0);
  if (scales[0] != 1 || (scales[1] != 0 && scales[1] != 1) || (scales[1] == 0 && c != d))
    return refuse("alpha and beta");
  call.hasC = scales[1] == 1;
  int64_t told[] = {call.d.rows,        call.d.columns,   call.desc.transA ? call.a.rows : call.a.columns,
                    call.d.batch,       call.desc.transA, call.desc.transB,
                    call.desc.epilogue, call.hasC,        call.a.type,
                    call.d.type,        int64_t(stream)};
  std::memcpy(fake_lt_last, told, sizeof(told));
  auto *enqueue = reinterpret_cast<int (*)(void *, void (*)(void *), void *)>(findInDriver("fake_enqueue"));
  auto *kept = new Matmul(call); // a graph may be launched again
  if (enqueue)
    return enqueue(stream, compute, kept);
  return compute(kept), OK;
}
}
