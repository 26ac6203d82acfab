"""The public names of TVM v0.19 that scripts for te use, by the namespace or class that has them.

Of a namespace those that it is made for: what its file imports from Python for itself is left out.
"""

from __future__ import annotations

NAMES: dict[str, str] = {
    "": """
        ConstantMemoryPools ConstantPoolInfo DataType DataTypeCode IRModule Object PoolInfo PoolInfoProperties
        TVMError WorkspaceMemoryPools WorkspacePoolInfo arith auto_scheduler autotvm build cl container contrib
        convert cpu cuda device driver error ext_dev get_global_func gpu hexagon hybrid instrument ir lower
        meta_schedule metal mtl nd opencl parser register_extension register_func register_object relax relay
        rocm rpc runtime script support target te testing tir topi transform tvm_wrap_excepthook vpi vulkan
    """,
    "te": """
        AXIS_SEPARATOR ComputeOp ExternOp HybridOp PlaceholderOp ScanOp Schedule SpecializedCondition Stage
        Tensor TensorComputeOp TensorIntrin TensorSlice abs acos acosh add all any asin asinh atan atanh
        autodiff ceil comm_reducer compute const cos cosh create_prim_func create_schedule decl_tensor_intrin
        div erf exp extern extern_primfunc floor floordiv floormod fmod gradient hybrid if_then_else indexdiv
        indexmod isfinite isinf isnan log log10 log2 max max_value min min_value multiply nearbyint operation
        placeholder popcount power reduce_axis round rsqrt scan schedule sigmoid sin sinh size_var sqrt subtract
        sum tag tag_scope tan tanh tensor tensor_intrin thread_axis trace trunc truncdiv truncmod var
    """,
    "te.schedule": """
        AXIS_SEPARATOR AutoInlineBroadcast AutoInlineElemWise AutoInlineInjective Buffer CreateAttachPath
        CreateReadGraph Fuse InferBound IterVar PostDFSOrder ScanFixPointAnalysis ScanGetBody Schedule ScheduleOps
        SchedulePostProcToPrimFunc Singleton SpecializedCondition Split Stage Var VerifyCompactBuffer
        convert create_schedule
    """,
    "error": """
        DiagnosticError InternalError OpAttributeInvalid OpAttributeRequired OpAttributeUnImplemented OpError
        OpNotImplemented RPCError RPCSessionTimeoutError TVMError register_error
    """,
    "contrib": """
        cblas cc clang coreml_runtime cublas cublaslt cuda_graph cudnn cutlass debugger dlpack dnnl download emcc
        graph_executor graph_runtime hexagon hipblas miopen mkl mps mrvl msc mxnet ndk nnpack nvcc peak pickle_memoize
        pipeline_executor pipeline_executor_build popen_pool random relay_viz rocblas rocm rpc sdaccel sparse spirv
        stackvm tar target tedd tf_op tflite_runtime thrust torch tvmjs utils xcode
    """,
    "te.Schedule": """
        cache_read cache_write create_group groups keep_schedule_record normalize outputs primitive_record
        rfactor schedule_record stage_map stages
    """,
    "te.Stage": """
        all_iter_vars attach_ivar attach_stage attach_type axis_separators bind compute_at compute_inline
        compute_root double_buffer env_threads fuse group is_output iter_var_attrs layout_transforms
        leaf_iter_vars num_child_stages op origin_op parallel pragma prefetch relations reorder rolling_buffer
        scope set_scope set_store_predicate split storage_align tensorize tile transform_layout unroll vectorize
    """,
    "te.Tensor": """
        axis dtype name ndim op same_as shape value_index
    """,
    "te.Operation": """
        attrs axis body input_tensors name num_outputs output reduce_axis same_as tag
    """,
    "te.ExternOp": """
        body
    """,
    "te.hybrid": """
        HybridModule build decorate parse script source_to_op
    """,
    "tir": """
        Add Allocate AllocateConst And Any AssertStmt AttrStmt BijectiveLayout Block BlockDependenceInfo
        BlockRealize BlockScope Broadcast Buffer BufferLoad BufferRealize BufferRegion BufferStore Call
        CallEffectKind Cast CommReducer DataProducer DeclBuffer Div EQ Evaluate FloatImm FloorDiv FloorMod For
        ForKind GE GT IfThenElse IndexMap IntImm IterVar LE LT Layout Let LetStmt MatchBufferRegion Max Min Mod
        Mul NE Not Or Prefetch PrimExpr PrimFunc ProducerLoad ProducerRealize ProducerStore Ramp Reduce Schedule
        ScheduleError ScheduleState Select SeqStmt Shuffle SizeVar Stmt StmtSRef StringImm Sub
        TVMBackendAllocWorkspace TVMBackendFreeWorkspace TensorIntrin Var While abs acos acosh add address_of
        all analysis any asin asinh assume atan atan2 atanh bijective_layout bitwise_and bitwise_not bitwise_or
        bitwise_xor call_cpacked call_cpacked_lowered call_extern call_intrin call_llvm_intrin
        call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern call_tir ceil ceildiv clz
        comm_reducer const convert copysign cos cosh create_barriers decl_buffer div dp4a end_profile_intrinsic
        erf exp exp10 exp2 floor floordiv floormod fmod get_active_lane_mask get_vscale_expr hypot if_then_else
        indexdiv indexmod infinity ir_builder isfinite isinf isnan isnullptr layout ldexp likely log log10 log1p
        log2 lookup_param make_filled_simdgroup_matrix max max_value min min_value mma_fill mma_store multiply
        nearbyint nextafter popcount pow power ptx_arrive_barrier ptx_arrive_barrier_expect_tx ptx_commit_group
        ptx_cp_async ptx_cp_async_barrier ptx_cp_async_bulk ptx_init_barrier_thread_count ptx_ldmatrix ptx_mma
        ptx_mma_sp ptx_wait_barrier ptx_wait_group q_multiply_shift q_multiply_shift_per_axis reinterpret ret
        round rsqrt schedule shift_left shift_right sigmoid simdgroup_load simdgroup_multiply_accumulate
        simdgroup_store sin sinh sqrt start_profile_intrinsic stmt_functor stmt_list stmt_seq subtract sum tan
        tanh trace transform trunc truncdiv truncmod tvm_access_ptr tvm_bmma_sync tvm_check_return
        tvm_fill_fragment tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array
        tvm_stack_make_shape tvm_store_matrix_sync tvm_struct_get tvm_struct_set tvm_thread_allreduce
        tvm_throw_last_error tvm_tuple type_annotation undef usmp vectorcombine vectorhigh vectorlow vscale
    """,
    "tir.ir_builder": """
        BufferVar IRBuilder WithScope create
    """,
    "IRBuilder": """
        allocate buffer_ptr else_scope emit for_range get if_scope let likely new_scope pointer scope_attr
        while_loop
    """,
    "Buffer": """
        READ WRITE access_ptr dtype get_flattened_buffer name offset_of scope shape strides vload vstore
    """,
    "PrimExpr": """
        astype dtype equal same_as
    """,
    "IterVar": """
        CommReduce DataPar Opaque Ordered Parallelized Tensorized ThreadIndex Unrolled Vectorized dom iter_type
        thread_tag var
    """,
    "runtime": """
        DataType DataTypeCode Device Module NDArray Object ObjectGeneric ObjectPath ObjectPathPair ObjectTypes
        PackedFunc Report Scriptable ShapeTuple String cl const convert convert_to_object cpu cuda device disco
        enabled executor ext_dev gpu load_module load_param_dict load_param_dict_from_file load_static_library
        metal mtl num_threads opencl rocm save_param_dict save_param_dict_to_file system_lib vpi vulkan
    """,
    "nd": """
        DataType DataTypeCode Device NDArray TVMArray TVMArrayHandle array cl cpu cuda device empty ext_dev
        from_dlpack gpu hexagon metal mtl numpyasarray opencl rocm vpi vulkan webgpu
    """,
    "NDArray": """
        asnumpy copyfrom copyto device dtype numpy same_as shape
    """,
    "Function": """
        clear_imports entry_func entry_name export_library format get_function get_property_mask get_source
        implements_function import_module imported_modules is_binary_serializable is_device_module
        is_dso_exportable is_runnable save time_evaluator type_key
    """,
    "target": """
        GenericFunc Target TargetKind VirtualDevice arm_cpu bifrost codegen create cuda datatype generic_func
        get_native_generic_func hexagon intel_graphics list_tags make_compilation_config mali
        override_native_generic_func rasp riscv_cpu rocm stm32
    """,
    "Target": """
        arch canon_multi_target canon_multi_target_and_host canon_target canon_target_and_host
        canon_target_map_and_host current device_name export features from_device get_kind_attr
        get_target_device_type keys kind l2_cache_size_bytes libs list_kinds mattr max_block_size_x
        max_block_size_y max_function_args max_num_threads max_shared_memory_per_block mcpu model
        supports_cooperative_matrix supports_integer_dot_product target_or_current thread_warp_size
        vtcm_capacity with_host
    """,
    "testing": """
        CompareBeforeAfter Feature assert_allclose assert_prim_expr_equal check_bool_expr_is_true
        check_int_constraints_trans_consistency check_numerical_grads device_enabled enabled_targets
        exclude_targets fixture generate_ref_data get_dtype_range known_failing_targets main parameter
        parameters parametrize_targets requires_cublas requires_cuda requires_cuda_compute_version
        requires_cudagraph requires_cudnn requires_cutlass requires_gpu requires_hexagon requires_llvm
        requires_metal requires_multi_gpu requires_nccl requires_nvcc_version requires_nvptx requires_opencl
        requires_package requires_rocm requires_rpc requires_tensorcore requires_vulkan requires_x86
        skip_if_32bit skip_if_wheel_test skip_parameterizations slow uses_gpu uses_multi_gpu
        xfail_parameterizations
    """,
    "transform": """
        ApplyPassToFunction ModulePass Pass PassContext PassInfo PrintIR Sequential module_pass
    """,
    "PassContext": """
        config current get_current_trace get_trace_stack get_trace_stack_size get_tuning_api_database
        inc_num_evals list_configs opt_level override_instruments pop_trace push_trace set_num_evals
    """,
    "ir": """
        Array Attrs BaseExpr BaseFunc CallingConv ConstantMemoryPools ConstantPoolInfo Constructor DictAttrs
        DummyGlobalInfo EnvFunc FuncType GlobalInfo GlobalTypeVar GlobalVar IRModule IncompleteType Map Node Op
        PointerType PoolInfo PoolInfoProperties PrimExpr PrimType Range RelayExpr RelayRefType SequentialSpan
        SourceName Span TensorAffineType TensorType TupleAffineType TupleType Type TypeCall TypeConstraint
        TypeData TypeKind TypeRelation TypeVar VDevice WorkspaceMemoryPools WorkspacePoolInfo analysis
        assert_structural_equal container  instrument load_json make_node register_intrin_lowering
        register_op_attr save_json structural_equal structural_hash transform
    """,
    "Device": """
        MASK2STR STR2MASK api_version available_global_memory compute_version create_raw_stream device_id
        device_name device_type driver_version exist free_raw_stream kDLAOCL kDLCPU kDLCUDA kDLCUDAHost
        kDLCUDAManaged kDLExtDev kDLHexagon kDLMetal kDLMicroDev kDLOneAPI kDLOpenCL kDLROCM kDLROCMHost
        kDLSDAccel kDLVPI kDLVulkan kDLWebGPU kOpenGL l2_cache_size_bytes max_clock_rate
        max_shared_memory_per_block max_thread_dimensions max_threads_per_block multi_processor_count
        set_raw_stream sync texture_spatial_limit total_global_memory warp_size
    """,
}
