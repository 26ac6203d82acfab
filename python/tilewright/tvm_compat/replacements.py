"""What scripts for TVM ask for that is not here, and what takes its place; docs/tvm-compatibility.md says why."""

from __future__ import annotations

__all__ = ["REPLACEMENTS"]

_GRAPH = "te.compute for each operator"
_SEARCH = "search over schedules yourself: build each with tvm.build and time it with time_evaluator"
_DEVICES = "tvm.cuda(index), or tvm.cpu() for targets cpu and sim"
_STATEMENTS = "te.compute and the primitives of its schedule"
_INTRINSICS = "te's functions of mathematics"
_PASSES = "tvm.build(..., after={stage: pass}), with passes on MLIR"
_TYPES = "NumPy's names of types, such as 'float32'"
_FILES = "Function.cubin and Function.ptx, or Function.ir(stage), as text that tvm.build takes"

REPLACEMENTS: dict[str, str] = {
    "autotvm": _SEARCH,
    "auto_scheduler": _SEARCH,
    "meta_schedule": _SEARCH,
    "context": "tvm.device(kind, index)",
    "get_global_func": "a Python function of your own",
    "IRModule": "the MLIR module that tvm.lower returns",
    "metal": _DEVICES,
    "opencl": _DEVICES,
    "rocm": _DEVICES,
    "vulkan": _DEVICES,
    "register_func": "a Python function of your own",
    "relay": _GRAPH,
    "relax": _GRAPH,
    "rpc": "a process of your own on the other machine",
    "script": "te.compute and a schedule",
    "topi": _GRAPH,
    "te.AXIS_SEPARATOR": "buffers with one dimension",
    "te.SpecializedCondition": "te.var(name, divisible_by=..., min=...)",
    "te.create_prim_func": "tvm.lower(s, args), whose result is an MLIR module",
    "te.extern_primfunc": "te.extern, with statements of tir.ir_builder",
    "te.hybrid.build": "tvm.build",
    "te.hybrid.parse": "te.hybrid.script",
    "te.hybrid.HybridModule": "what tvm.build returns",
    "te.hybrid.decorate": "functools.wraps",
    "te.schedule.ScheduleOps": "tvm.lower(s, args, simple_mode=True), whose result is the loop nest as text",
    "te.trace": "an output of its own for the value, or target sim",
    "tir.Schedule": "te.create_schedule",
    "tir.call_extern": _INTRINSICS,
    "tir.call_packed": "a call of your own beside the built function",
    "tir.call_pure_extern": _INTRINSICS,
    "tir.stmt_functor": _PASSES,
    "tir.transform": _PASSES,
    "target.create": "tvm.target.Target(text)",
    "transform.Sequential": "tvm.build(..., after={stage: [passes]})",
    "DataType": _TYPES,
    "arith": "nothing: bounds and simplification are the compiler's",
    "driver": "tvm.build and tvm.lower",
    "ffi": "a Python function of your own",
    "instrument": "Function.timings, and Function.ir(stage) for what each stage made",
    "parser": _GRAPH,
    "support": "tvm.runtime.enabled(kind)",
    "ext_dev": _DEVICES,
    "hexagon": _DEVICES,
    "webgpu": _DEVICES,
    "micro": _DEVICES,
    "ir.IRModule": "the MLIR module that tvm.lower returns",
    "ir.Range": "a tuple (begin, extent)",
    "ir.structural_equal": "str(...) of both",
    "ir.assert_structural_equal": "str(...) of both",
    "ir.make_node": "te's own functions",
    "ir.save_json": "Schedule.trace().to_json()",
    "ir.load_json": "tilewright.te.Trace.from_json",
    "nd.context": "tvm.device(kind, index)",
    "nd.numpyasarray": "tvm.nd.array",
    "runtime.DataType": _TYPES,
    "runtime.String": "str",
    "runtime.Module": "what tvm.build returns",
    "runtime.load_module": _FILES,
    "runtime.num_threads": "os.cpu_count()",
    "target.current_target": "tvm.target.Target.current()",
    "target.arm_cpu": "tvm.target.Target('llvm')",
    "target.intel_graphics": "tvm.target.Target('cuda')",
    "target.mali": "tvm.target.Target('cuda')",
    "target.generic_func": "a Python function that looks at tvm.target.Target.current()",
    "target.override_native_generic_func": "a Python function that looks at tvm.target.Target.current()",
    "target.generic": "a Python function that looks at tvm.target.Target.current()",
    "te.operation": "the same names in te itself",
    "te.tensor_intrin": "the same names in te itself",
    "tir.Any": "te.var",
    "tir.expr": "the same names in tir itself",
    "tir.op": "the same names in tir itself",
    "tir.StringImm": "str",
    "tir.Let": "the expression itself, which is computed once",
    "tir.call_llvm_intrin": _INTRINSICS,
    "tir.call_pure_intrin": _INTRINSICS,
    "tir.q_multiply_shift": "products of int64 and te.right_shift",
    "tir.clz": "te.log2 of the number as float64",
    "tir.copysign": "te.select(y < 0, -te.abs(x), te.abs(x))",
    "tir.hypot": "te.sqrt(x * x + y * y)",
    "tir.ldexp": "x * te.power(2.0, e)",
    "tir.nextafter": "a constant",
    "tir.trace": "an output of its own for the value, or target sim",
    "tir.generic": "the operators of expressions",
    "tir.ret": "an output tensor",
    "tir.Evaluate": _STATEMENTS,
    "tir.For": _STATEMENTS,
    "tir.Store": _STATEMENTS,
    "tir.Load": "A[i]",
    "tir.BufferStore": _STATEMENTS,
    "tir.Allocate": _STATEMENTS,
    "tir.IfThenElse": "te.if_then_else",
    "tir.Block": _STATEMENTS,
    "tir.PrimFunc": "what tvm.build returns",
    "tir.buffer": "te.placeholder",
    "tir.analysis": "tvm.build, which checks a kernel's limits",
    "transform.module_pass": _PASSES,
    "transform.Pass": _PASSES,
    "transform.PassInfo": _PASSES,
    "Function.save": "f.export_library, tw.export_object",
    "Function.import_module": "a built function for each program",
}
"""By TVM's name without "tvm.": what to use in its place. `Function` is what tvm.build returns."""

# The others of each namespace, by what takes their place.
_OTHERS: dict[str, dict[str, str]] = {
    "": {
        "a module of Python's own": "container register_extension register_object Object tvm_wrap_excepthook",
        "memory of the run time's pool, tvm.nd.stats": "ConstantMemoryPools ConstantPoolInfo PoolInfo "
        "PoolInfoProperties WorkspaceMemoryPools WorkspacePoolInfo",
        _TYPES: "DataTypeCode",
        _DEVICES: "cl mtl vpi",
    },
    "error": {
        "tvm.TVMError, which every error is": "DiagnosticError InternalError OpAttributeInvalid OpAttributeRequired "
        "OpAttributeUnImplemented OpError OpNotImplemented RPCError RPCSessionTimeoutError register_error",
    },
    "contrib": {
        "Function.export_library, which links by itself": "cc clang emcc ndk tar xcode",
        "Python's own tempfile": "utils",
        "Python's own libraries": "download pickle_memoize popen_pool",
        "a call of the library beside the built function": "cblas cublas cublaslt cudnn cutlass dnnl hipblas miopen "
        "mkl mps nnpack random rocblas sparse thrust",
        "tvm.nd.from_dlpack": "dlpack",
        "tvm.view(s), which shows the loops of a schedule": "tedd",
        "tilewright.compile of a model": "coreml_runtime cuda_graph debugger graph_executor graph_runtime msc mxnet "
        "pipeline_executor pipeline_executor_build relay_viz tf_op tflite_runtime torch",
        "targets cuda, cpu and sim": "hexagon mrvl peak rocm sdaccel spirv stackvm target tvmjs",
        "a process of your own on the other machine": "rpc",
    },
    "te.schedule": {
        "buffers with one dimension": "AXIS_SEPARATOR",
        "te.var(name, divisible_by=..., min=...)": "SpecializedCondition",
        "Schedule.trace() and Stage.relations": "CreateReadGraph PostDFSOrder CreateAttachPath ScanGetBody "
        "ScanFixPointAnalysis VerifyCompactBuffer SchedulePostProcToPrimFunc",
    },
    "te.Schedule": {"Schedule.trace()": "schedule_record primitive_record keep_schedule_record"},
    "te.ExternOp": {"print(s) of the schedule, which shows the statements": "body"},
    "te.Stage": {
        "Stage.transform_layout, which keeps the loops": "layout_transforms axis_separators",
        "Schedule.groups": "num_child_stages",
    },
    "te.hybrid": {"te.hybrid.script": "source_to_op"},
    "tir": {
        _STATEMENTS: "AllocateConst AssertStmt AttrStmt BlockRealize BufferRealize BufferRegion DeclBuffer ForKind "
        "LetStmt MatchBufferRegion Prefetch ProducerRealize ProducerStore SeqStmt Stmt While stmt_list stmt_seq undef "
        "assume lookup_param type_annotation call_tir BlockScope BlockDependenceInfo ScheduleState StmtSRef schedule",
        "Stage.vectorize": "Ramp Broadcast Shuffle vectorcombine vectorhigh vectorlow vscale get_active_lane_mask "
        "get_vscale_expr",
        "Stage.transform_layout(lambda i, j: ...)": "IndexMap Layout BijectiveLayout layout bijective_layout",
        "te.comm_reducer": "CommReducer",
        "te.decl_tensor_intrin": "TensorIntrin",
        "a call of your own beside the built function": "call_cpacked call_cpacked_lowered call_packed_lowered "
        "tvm_check_return tvm_stack_alloca tvm_stack_make_array tvm_stack_make_shape tvm_struct_get tvm_struct_set "
        "tvm_throw_last_error tvm_tuple TVMBackendAllocWorkspace TVMBackendFreeWorkspace CallEffectKind usmp",
        _INTRINSICS: "call_llvm_pure_intrin",
        "loads and stores of elements, A[i, j]": "address_of tvm_access_ptr isnullptr",
        "a reduction bound to threads": "tvm_thread_allreduce",
        "Stage.tensorize with an instruction of tilewright.instructions": "ptx_mma ptx_mma_sp ptx_ldmatrix mma_fill "
        "mma_store tvm_bmma_sync make_filled_simdgroup_matrix simdgroup_load simdgroup_multiply_accumulate "
        "simdgroup_store",
        "Stage.software_pipeline(axis, use_async=True), or Stage.copy_by": "ptx_cp_async ptx_cp_async_bulk "
        "ptx_commit_group ptx_wait_group ptx_cp_async_barrier ptx_init_barrier_thread_count ptx_arrive_barrier "
        "ptx_arrive_barrier_expect_tx ptx_wait_barrier create_barriers",
        "time_evaluator": "start_profile_intrinsic end_profile_intrinsic",
        "products of int64 and te.right_shift": "q_multiply_shift_per_axis",
    },
    "tir.ir_builder": {"IRBuilder.buffer_ptr and with blocks": "BufferVar WithScope"},
    "IRBuilder": {"IRBuilder.buffer_ptr of a buffer": "pointer"},
    "Buffer": {"indices of elements, b[i, j]": "READ WRITE get_flattened_buffer offset_of"},
    "runtime": {
        "Python's own objects": "Object ObjectGeneric ObjectPath ObjectPathPair ObjectTypes Scriptable ShapeTuple "
        "convert_to_object PackedFunc",
        _TYPES: "DataTypeCode",
        _DEVICES: "cl ext_dev metal mtl opencl rocm vpi vulkan disco",
        _FILES: "load_static_library system_lib",
        "numpy.savez and numpy.load": "load_param_dict load_param_dict_from_file save_param_dict "
        "save_param_dict_to_file",
        "what tvm.build returns": "executor Report",
    },
    "nd": {
        _TYPES: "DataType DataTypeCode",
        _DEVICES: "cl ext_dev hexagon metal mtl opencl rocm vpi vulkan webgpu",
        "tvm.nd.NDArray": "TVMArray TVMArrayHandle",
    },
    "Function": {
        "Function.ptx, Function.cubin and Function.ir(stage)": "format get_property_mask is_binary_serializable "
        "is_device_module is_dso_exportable is_runnable",
        "a built function for each program": "clear_imports",
    },
    "target": {
        "tvm.target.Target('llvm')": "rasp riscv_cpu hexagon stm32 bifrost rocm",
        "a Python function that looks at tvm.target.Target.current()": "GenericFunc get_native_generic_func",
        "tvm.target.Target": "VirtualDevice make_compilation_config list_tags codegen",
        _TYPES: "datatype",
    },
    "Target": {
        "tvm.target.Target(kind, host=...)": "canon_multi_target canon_multi_target_and_host canon_target "
        "canon_target_and_host canon_target_map_and_host target_or_current with_host from_device list_kinds",
        "Target.kind, Target.arch and Target.keys": "export features get_kind_attr get_target_device_type mcpu mattr "
        "supports_integer_dot_product supports_cooperative_matrix",
        "tvm.cuda(index), which has the device's attributes": "l2_cache_size_bytes max_function_args vtcm_capacity",
    },
    "testing": {
        "pytest's own fixtures, parameters and marks": "parameter parameters fixture exclude_targets "
        "known_failing_targets skip_parameterizations xfail_parameterizations requires_package "
        "requires_cuda_compute_version requires_nvcc_version requires_tensorcore requires_multi_gpu uses_multi_gpu "
        "requires_rocm requires_opencl requires_vulkan requires_metal requires_hexagon requires_cudnn requires_cublas "
        "requires_nvptx requires_rpc requires_x86 requires_cudagraph requires_cutlass requires_nccl slow "
        "skip_if_32bit skip_if_wheel_test Feature",
        "numpy.testing": "check_numerical_grads assert_prim_expr_equal check_bool_expr_is_true "
        "check_int_constraints_trans_consistency get_dtype_range",
        _GRAPH: "CompareBeforeAfter generate_ref_data",
    },
    "Device": {
        "Device.attribute(name), which asks the driver": "api_version available_global_memory driver_version "
        "max_clock_rate max_thread_dimensions texture_spatial_limit total_global_memory",
        "tw.Stream": "create_raw_stream free_raw_stream set_raw_stream",
        "Device.kind": "MASK2STR STR2MASK kDLAOCL kDLCPU kDLCUDA kDLCUDAHost kDLCUDAManaged kDLExtDev kDLHexagon "
        "kDLMetal kDLMicroDev kDLOneAPI kDLOpenCL kDLROCM kDLROCMHost kDLSDAccel kDLVPI kDLVulkan kDLWebGPU kOpenGL",
        "Device.l2_bytes": "l2_cache_size_bytes",
    },
    "transform": {_PASSES: "ApplyPassToFunction ModulePass PrintIR"},
    "PassContext": {
        _SEARCH: "get_current_trace get_trace_stack get_trace_stack_size get_tuning_api_database inc_num_evals "
        "pop_trace push_trace set_num_evals",
        _PASSES: "override_instruments list_configs",
    },
    "ir": {
        "Python's own tuples and dictionaries": "Attrs DictAttrs Map Node BaseExpr BaseFunc container",
        "the MLIR module that tvm.lower returns": "GlobalVar GlobalInfo DummyGlobalInfo EnvFunc CallingConv "
        "Constructor SourceName SequentialSpan Span VDevice analysis",
        _TYPES: "Type TypeData TypeKind TypeVar TypeCall TypeConstraint TypeRelation TensorType TensorAffineType "
        "TupleType TupleAffineType PrimType PointerType FuncType IncompleteType GlobalTypeVar RelayRefType",
        _GRAPH: "RelayExpr Op register_op_attr register_intrin_lowering",
        "memory of the run time's pool, tvm.nd.stats": "ConstantMemoryPools ConstantPoolInfo PoolInfo "
        "PoolInfoProperties WorkspaceMemoryPools WorkspacePoolInfo",
        "str(...) of both": "structural_hash",
        _PASSES: "instrument transform",
    },
}
REPLACEMENTS |= {
    f"{owner}.{name}".lstrip("."): instead
    for owner, of_owner in _OTHERS.items()
    for instead, names in of_owner.items()
    for name in names.split()
}
