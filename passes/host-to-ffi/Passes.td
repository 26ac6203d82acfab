#ifndef TILEWRIGHT_HOST_TO_FFI_PASSES
#define TILEWRIGHT_HOST_TO_FFI_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ConvertHostToFFI : Pass<"convert-host-to-ffi", "mlir::ModuleOp"> {
  let summary = "Each host program gets a function of tvm-ffi's ABI that checks its arguments and runs it";
  let description = [{
    For each `llvm.func @f` of the host stage (docs/stages.md), known by its `tilewright.arguments`, this makes

    - `i32 @__tvm_ffi_f(handle, args, count, result)`, tvm-ffi's safe call: any tvm-ffi user can call it. Given the inputs
      alone, it allocates the outputs by the environment's allocator and returns them;
    - `i32 @f_call(stream, args, count)`, which it calls: with the environment's stream where `stream` is null, otherwise
      with the one that it points to;
    - `@__tvm_ffi__metadata_f` and `@__tvm_ffi__doc_f`, which give the signature as JSON and as text;
    - for `target=cuda`, `i32 @__tvm_ffi_f_load(handle, args, count, result)`, which loads the kernels into the GPU of
      the number given, as the first call does otherwise;
    - the constants that its run time reads (runtime/host/ABI.h), `@f_signature` and, unless `target=cpu`, `@f_program`.

    `@f_call` checks the number of arguments. Of each argument it checks the type (a tensor, or a pointer to a
    DLTensor), dtype, rank, kind of device, device, extents, strides and alignment. It also checks that no output shares
    memory with another argument. It only recognises arguments that are plainly right. For all others,
    `tilewrightHostBind` goes through the rules in the order in which a reader expects them. It either accepts the call
    too, or says what is wrong. The dictionary `tilewright.cubins` on the host program (from an architecture to a cubin)
    becomes part of the module.

    With `managed`, a program of target cuda takes arrays of this machine's: `tilewrightHostRunManaged` copies them to the
    GPU and back.

    With `model`, the program is a whole model. It has no code of its own: `@f_model`, which the module has, says which
    functions run on which tensors (runtime/host/Model.h). `@__tvm_ffi_f` is then a call of `tilewrightHostCallModel`, which
    checks, allocates and runs; there is no `@f_call`.

    With `export`, only the functions of tvm-ffi's ABI can be seen from outside of a library. `@f_call` and
    `@f_signature` can be linked to within the library, by functions that call one of several.

    ```mlir
    llvm.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32
      attributes {tilewright.arguments = [{te.name = "A", type = memref<?xf32>} ], tilewright.kernels = ["f_kernel0"]}
    ```
    becomes
    ```mlir
    llvm.func @f(...) -> i32
    llvm.mlir.global external constant @f_signature() ...
    llvm.mlir.global external @f_program() ...
    llvm.func @f_call(%stream: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32 {
      ...
      llvm.cond_br %fits weights([2000, 1]), ^run(%device : i32), ^bind
    ^bind:
      %bound = llvm.call @tilewrightHostBind(%signature, %args, %count, %data, %shape) : (...) -> i32
      llvm.cond_br %failed, ^refuse, ^run(%bound : i32)
    ^refuse:
      llvm.return %bound : i32
    ^run(%gpu: i32):
      %status = llvm.call @tilewrightHostRunCuda(%program, %stream, %gpu, %data, %shape) : (...) -> i32
      llvm.return %status : i32
    }
    llvm.func @__tvm_ffi_f(%handle: !llvm.ptr, %args: !llvm.ptr, %count: i32, %result: !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"target", "target", "tilewright::TargetKind", "tilewright::TargetKind::CUDA", "what runs the program",
           [{::llvm::cl::values(clEnumValN(tilewright::TargetKind::CUDA, "cuda", "an NVIDIA GPU"),
                                clEnumValN(tilewright::TargetKind::CPU, "cpu", "this machine's processor"),
                                clEnumValN(tilewright::TargetKind::Sim, "sim", "the GPU simulator"))}]>,
    Option<"managed", "managed", "bool", "false",
           "A program of target cuda takes arrays of this machine's, which are copied to the GPU and back">,
    Option<"exported", "export", "bool", "false", "Only the functions of tvm-ffi's ABI can be seen from outside">,
    Option<"model", "model", "bool", "false", "The program is a model, of which `@f_model` says which groups it runs">,
  ];
}

def MultiversionHostFunctions : Pass<"multiversion-host-functions", "mlir::ModuleOp"> {
  let summary = "Host programs that choose at run time between versions for several processors";
  let description = [{
    Each program (a function with `tilewright.arguments`) is copied, with the functions that it reaches, for each of
    `levels` of the x86-64 psABI. The program itself becomes a choice by `tilewrightHostCpuLevel`, which the run time
    has. It chooses the highest level that the processor at hand runs, or the program as it was.

    With `levels=x86-64-v3`
    ```mlir
    llvm.func @f(%data: !llvm.ptr) -> i32 attributes {tilewright.arguments = []} { ... }
    ```
    becomes
    ```mlir
    llvm.func internal @"f.x86-64-v3"(%data: !llvm.ptr) -> i32 attributes {target_cpu = "x86-64-v3"} { ... }
    llvm.func internal @f.base(%data: !llvm.ptr) -> i32 { ... }
    llvm.func @f(%data: !llvm.ptr) -> i32 attributes {tilewright.arguments = []} {
      %here = llvm.call @tilewrightHostCpuLevel() : () -> i32
      %wanted = llvm.mlir.constant(3 : i32) : i32
      %suits = llvm.icmp "sge" %here, %wanted : i32
      llvm.cond_br %suits, ^bb1, ^bb2
    ^bb1:
      %0 = llvm.call @"f.x86-64-v3"(%data) : (!llvm.ptr) -> i32
      llvm.return %0 : i32
    ^bb2:
      %1 = llvm.call @f.base(%data) : (!llvm.ptr) -> i32
      llvm.return %1 : i32
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
  let options = [
    ListOption<"levels", "levels", "std::string", "The processors: x86-64-v2, x86-64-v3, x86-64-v4">,
  ];
}

def EmitHostObject : Pass<"emit-host-object", "mlir::ModuleOp"> {
  let summary = "An object file of a module of the LLVM dialect, for this machine's kind of processor";
  let description = [{
    Puts position-independent machine code on the module, as its attribute `tilewright.object`. These are the bytes of
    an object file that a system's linker takes. LLVM optimises the code first. `mcpu` is the processor that the code is
    for. It is LLVM's name of one, `native` for this machine's own, or nothing for every processor of the architecture.

    ```mlir
    module {
      llvm.func @__tvm_ffi_f(...) -> i32 { ... }
    }
    ```
    becomes
    ```mlir
    module attributes {tilewright.object = "\7FELF..."} {
      llvm.func @__tvm_ffi_f(...) -> i32 { ... }
    }
    ```
  }];
  let options = [
    Option<"mcpu", "mcpu", "std::string", [{""}], "The processor that the code is made for: '' for any, or 'native'">,
    Option<"optLevel", "opt-level", "unsigned", "2", "LLVM's level of optimisation, 0 to 3">,
  ];
  let dependentDialects = ["tilewright::ProgramDialect"];
}

#endif // TILEWRIGHT_HOST_TO_FFI_PASSES
