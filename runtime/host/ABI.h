//===- ABI.h - what compiled host functions share with their run time -----===//
//
// The constants that the pass convert-host-to-ffi makes beside each function, and the functions that it calls. This run
// time is linked into exported libraries: plain C++ without its library, no MLIR, no Python, the CUDA driver by dlopen.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_ABI_H
#define TILEWRIGHT_RUNTIME_HOST_ABI_H

#include "runtime/DLPack.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// TVMFFIAny of tvm-ffi's C ABI.
struct TilewrightAny {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void *pointer;
  };
};

enum : int32_t {
  TilewrightTypeNone = 0,
  TilewrightTypeInt = 1,
  TilewrightTypeBool = 2,
  TilewrightTypeFloat = 3,
  TilewrightTypeBigInt = 78
};
enum : int32_t { TilewrightTypeDLTensor = 7, TilewrightTypeTensor = 70, TilewrightTensorOffset = 24 };
/// No memory begins below: a tensor whose storage was freed has the address NULL, or its offset in the storage.
enum : int32_t { TilewrightLeastAddress = 4096 };
enum : int32_t {
  TilewrightTypePointer = 4,
  TilewrightTypeShape = 69,
  TilewrightTypeArray = 71,
  TilewrightTypeList = 75
};
/// What no call gives: in place of what one leaves out.
enum : int32_t { TilewrightTypeLeftOut = -1 };

/// An ffi.Array or ffi.List: the header of an object of tvm-ffi's, and where its elements are.
struct TilewrightArray {
  uint64_t references;
  int32_t type, padding;
  void (*deleter)(void *self, int flags);
  TilewrightAny *elements;
  int64_t count, capacity;
  void (*elementsDeleter)(void *elements);
};

/// An ffi.Shape.
struct TilewrightShape {
  uint64_t references;
  int32_t type, padding;
  void (*deleter)(void *self, int flags);
  const int64_t *extents;
  size_t count;
};
/// As the padding of an int, from callers of this project's: its 64 bits have no sign. tvm-ffi's own has none.
enum : uint32_t { TilewrightUnsignedInt = 1 };
enum : int32_t {
  TilewrightDeviceCPU = 1,
  TilewrightDeviceCUDA = 2,
  TilewrightDeviceCUDAHost = 3,
  TilewrightDeviceManaged = 13
};

/// An extent: a number, or where that is negative, a symbol. Symbols of one name have one extent.
struct TilewrightExtent {
  int64_t number;
  const char *symbol;
  int64_t divisibleBy, minimum;
  /// INT64_MAX where there is none.
  int64_t maximum;
};

/// A pointer is the address of a tensor whose extents the other arguments have.
enum : int32_t { TilewrightIsTensor = 0, TilewrightIsNumber = 1, TilewrightIsPointer = 2 };

/// What an argument must be. `dtype` is DLPack's: code, bits << 8, lanes << 16. An integer may have one extent: the
/// symbol that it stands for, and what is known of that; INT64_MIN as the least where nothing is.
struct TilewrightArgument {
  const char *name;
  const TilewrightExtent *extents;
  int32_t dtype;
  int32_t rank;
  int32_t output;
  int32_t alignment;
  int32_t kind;
  /// A tensor in whose place None may be given. After the extents of all arguments come, for each of these in their
  /// order, 1 where it is there and 0 where not; after their addresses as many nulls.
  int32_t optional;
  /// Which one it is, as messages say it: "1", "1[0]", "1.scale".
  const char *place;
  /// What it is in a call that leaves it out: a number, None, or of TilewrightTypeLeftOut where none may.
  TilewrightAny otherwise;
  /// For each dimension of a tensor its stride in elements: a number, or a symbol as an extent is. Null of one that is
  /// row-major. Where it is not null, the tensor's strides come after its extents.
  const TilewrightExtent *strides;
};

enum : int32_t { TilewrightIsArgument = 0, TilewrightIsTuple = 1, TilewrightIsShape = 2 };

/// What a call gives: an argument, or several of them together, a tuple or a shape.
struct TilewrightParameter {
  const char *name, *place;
  int32_t kind;
  /// The number of the argument, or of a group's first element among the signature's parameters.
  int32_t first;
  /// Of a group: its elements.
  int32_t count;
};

struct TilewrightSignature {
  /// "add(A: float32[n], B: float32[n])"
  const char *text;
  const char *name;
  const TilewrightArgument *arguments;
  int32_t argumentCount;
  /// TilewrightDeviceCPU or TilewrightDeviceCUDA.
  int32_t device;
  /// What a call gives and, after these, the elements of groups. Null where there are none: then it gives the
  /// arguments.
  const TilewrightParameter *parameters;
  int32_t parameterCount;
};

/// Machine code for one architecture ("sm_90a").
struct TilewrightImage {
  const char *arch;
  const void *data;
  uint64_t bytes;
};

/// A program that launches kernels. `state` is null at first and belongs to whatever runs it.
struct TilewrightProgram {
  const TilewrightSignature *signature;
  int32_t (*host)(void **data, const int64_t *shape, void *workspace, void *launcher);
  /// Null where there never is a workspace.
  int64_t (*workspaceBytes)(const int64_t *shape);
  const char *const *kernels;
  const TilewrightImage *images;
  int32_t kernelCount;
  int32_t imageCount;
  void *state;
  /// How all of its kernels are launched: bits of the enum below, and the blocks of a cluster, 1 where there are none.
  int32_t launchFlags;
  int32_t cluster[3];
};

enum : int32_t { TilewrightLaunchDependent = 1, TilewrightLaunchCooperative = 2 };

/// What a check found: nothing, or the kind of the error.
enum : int32_t { TilewrightFits = 0, TilewrightTypeError = 1, TilewrightValueError = 2 };

/// What a check is about: a whole call, the first `count` arguments of one, or those that are no outputs.
enum : int32_t { TilewrightWhole = 0, TilewrightFirst = 1, TilewrightInputs = 2 };

/// Whether a call of `count` values leaves out the outputs, which are to be allocated. It may leave out what stands
/// last, too, and is one of all arguments where it can be that.
int32_t tilewrightHostLeavesOutputs(const TilewrightSignature *signature, int32_t count);

/// Makes of what a call gives one value for each argument: those of groups, and for what it leaves out what that is
/// then. With TilewrightInputs the outputs are left out. What is wrong goes to `message`.
int32_t tilewrightHostArrange(const TilewrightSignature *signature, const TilewrightAny *given, int32_t count,
                              int32_t partial, TilewrightAny *args, char *message, size_t capacity);

/// Checks arguments in order and writes the first refusal to `message`. `readOnly` (null: none) has a byte for each
/// argument. All rules and texts of the checks are here; what is compiled into a function only decides whether to ask.
int32_t tilewrightHostCheck(const TilewrightSignature *signature, const TilewrightAny *args, int32_t count,
                            const uint8_t *readOnly, int32_t partial, char *message, size_t capacity);

/// Takes a call apart that fits: `data` gets the tensors' addresses, `shape` all their extents, and the numbers' bits.
/// Returns the number of the device, or TilewrightCurrentDevice.
int32_t tilewrightHostUnpack(const TilewrightSignature *signature, const TilewrightAny *args, int64_t *data,
                             int64_t *shape);

/// The bits that a number of that type has among the extents. TilewrightTypeError where the value is none,
/// TilewrightValueError where it is beyond the type's range.
int32_t tilewrightHostReadNumber(const TilewrightAny *value, int32_t dtype, int64_t *bits);

/// Of a call on GPUs that gives no tensor: the thread's current one, the first where there is none.
enum : int32_t { TilewrightCurrentDevice = INT32_MAX };

/// Checks a call that is no plain one, and takes it apart. Returns the number of the device, or raises what is wrong
/// and returns -1.
int32_t tilewrightHostBind(const TilewrightSignature *signature, const TilewrightAny *given, int32_t count,
                           int64_t *data, int64_t *shape);

/// Whether an output's memory, from where it begins to where it ends, is another argument's too.
int64_t tilewrightHostShareMemory(const TilewrightSignature *signature, const int64_t *begins, const int64_t *ends);

/// Memory for a temporary of a program for the cpu, to be freed by `free`. Where there is none, or the bytes are -1,
/// more than can be said, it raises that and returns null.
void *tilewrightHostAllocate(const char *program, int64_t bytes);

/// The call of a function that is not given everything. Where it is given its inputs alone this allocates the outputs
/// by the environment's allocator, beside the first input, calls `call` with all arguments and returns the outputs: a
/// tensor, or an array of them where there are several. An output's extents must be known from the inputs.
int32_t tilewrightHostCallAllocating(const TilewrightSignature *signature,
                                     int32_t (*call)(void *const *stream, const TilewrightAny *args, int32_t count),
                                     const TilewrightAny *given, int32_t count, TilewrightAny *result);

/// One of the functions that a call may be for.
struct TilewrightVariant {
  const TilewrightSignature *signature;
  int32_t (*call)(void *const *stream, const TilewrightAny *args, int32_t count);
};

/// Several functions as one, which calls the first that takes the types, ranks, devices and extents of a call.
struct TilewrightDispatch {
  const char *name;
  const TilewrightVariant *variants;
  int32_t count;
};

/// Calls the function that the call is for, or raises what each says to it. Where `result` is not null the inputs alone
/// may be given: the outputs are allocated and returned.
int32_t tilewrightHostDispatch(const TilewrightDispatch *dispatch, void *const *stream, const TilewrightAny *args,
                               int32_t count, TilewrightAny *result);

/// Returns a string from a function of tvm-ffi's ABI.
int32_t tilewrightHostReturnText(const char *text, int64_t length, TilewrightAny *result);

/// Runs a program on a GPU with checked arguments: on `*stream`, or the environment's stream of the device where
/// `stream` is null.
int32_t tilewrightHostRunCuda(TilewrightProgram *program, void *const *stream, int32_t device, void **data,
                              const int64_t *shape);

/// The same with arrays of this machine's: they are copied to the GPU and back in the stream's order, and have been
/// when this returns. On the GPU of that number where there is a stream; otherwise on the thread's current one, the
/// first where there is none, and on the environment's stream of it.
int32_t tilewrightHostRunManaged(TilewrightProgram *program, void *const *stream, int32_t device, void **data,
                                 const int64_t *shape);

/// Loads the program's kernels into a GPU, which its first call there does otherwise.
int32_t tilewrightHostLoadCuda(TilewrightProgram *program, int32_t device);

/// The same as a function of tvm-ffi's ABI: of the GPU whose number is the one argument, 0 where there is none.
int32_t tilewrightHostLoad(TilewrightProgram *program, const TilewrightAny *args, int32_t count);

/// The kernels' functions of a program that is loaded into that GPU, in order, or null.
void *const *tilewrightHostFunctionsCuda(const TilewrightProgram *program, int32_t device);

/// Unloads the kernels from all GPUs, for a program that is not called any more.
void tilewrightHostUnloadCuda(TilewrightProgram *program);

/// A failure that was not the arguments': the driver's (`call`, `code`, `name`) or, where `call` is null, of what is
/// there to run on.
struct TilewrightFailure {
  const char *call;
  int32_t code;
  const char *name;
  char detail[2048];
};

/// This thread's last failure since this was last asked, or null.
const TilewrightFailure *tilewrightHostTakeFailure();

/// The functions of libtvm_ffi that the run time calls: linked in an exported library, found at run time in process.
struct TilewrightFFI {
  void (*raise)(const char *kind, const char **parts, int32_t count);
  void *(*getStream)(int32_t deviceType, int32_t deviceId);
  int (*makeString)(const void *bytes, TilewrightAny *result);
  int (*allocateTensor)(TilewrightDLTensor *prototype, void **tensor);
  int (*decRef)(void *object);
  int (*findGlobal)(const void *name, void **function);
  int (*callFunction)(void *function, const TilewrightAny *args, int32_t count, TilewrightAny *result);
  void *(*getAllocator)();
  /// The 64 bits without sign of an int that no 64 with one have; 0 where it needs more. May be null.
  int32_t (*readBigInt)(const TilewrightAny *value, uint64_t *bits);
  /// Makes a tensor of a DLManagedTensorVersioned. Null but in a library.
  int (*adoptTensor)(void *managed, int32_t alignment, int32_t contiguous, void **tensor);
};
extern TilewrightFFI tilewrightFFI;
}

#endif
