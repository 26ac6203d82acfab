module attributes {gpu.container_module} {
  gpu.module @hgemm_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
    llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
    llvm.func @hgemm_kernel0(%arg0: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}, %arg1: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %arg2: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
      %0 = llvm.mlir.constant(127 : i32) : i32
      %1 = llvm.mlir.constant(65542 : i32) : i32
      %2 = llvm.mlir.constant(33554816 : i32) : i32
      %3 = llvm.mlir.constant(65540 : i32) : i32
      %4 = llvm.mlir.constant(33554688 : i32) : i32
      %5 = llvm.mlir.constant(65538 : i32) : i32
      %6 = llvm.mlir.constant(33554560 : i32) : i32
      %7 = llvm.mlir.constant(65536 : i32) : i32
      %8 = llvm.mlir.poison : vector<2xi32>
      %9 = llvm.mlir.constant(33554432 : i32) : i32
      %10 = llvm.mlir.undef : f32
      %11 = llvm.mlir.constant(4 : i32) : i32
      %12 = llvm.mlir.constant(262143 : i32) : i32
      %13 = llvm.mlir.constant(1073741888 : i32) : i32
      %14 = llvm.mlir.constant(8192 : i32) : i32
      %15 = llvm.mlir.constant(24576 : i32) : i32
      %16 = llvm.mlir.constant(10000000 : i32) : i32
      %17 = llvm.mlir.constant(8 : i32) : i32
      %18 = llvm.mlir.constant(2 : i32) : i32
      %19 = llvm.mlir.constant(1 : i32) : i32
      %20 = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
      %21 = llvm.mlir.constant(32 : index) : i32
      %22 = llvm.mlir.constant(0 : i32) : i32
      %23 = llvm.mlir.constant(4 : index) : i32
      %24 = llvm.mlir.constant(128 : index) : i32
      %25 = llvm.mlir.constant(64 : index) : i32
      %26 = llvm.mlir.constant(-1 : index) : i32
      %27 = llvm.mlir.constant(16 : index) : i32
      %28 = llvm.mlir.constant(8 : index) : i32
      %29 = llvm.mlir.constant(2 : index) : i32
      %30 = llvm.mlir.constant(-8 : index) : i32
      %31 = llvm.mlir.constant(9 : index) : i32
      %32 = llvm.mlir.constant(17 : index) : i32
      %33 = llvm.mlir.constant(24 : index) : i32
      %34 = llvm.mlir.constant(25 : index) : i32
      %35 = llvm.mlir.constant(33 : index) : i32
      %36 = llvm.mlir.constant(40 : index) : i32
      %37 = llvm.mlir.constant(41 : index) : i32
      %38 = llvm.mlir.constant(48 : index) : i32
      %39 = llvm.mlir.constant(49 : index) : i32
      %40 = llvm.mlir.constant(56 : index) : i32
      %41 = llvm.mlir.constant(57 : index) : i32
      %42 = llvm.mlir.constant(1 : index) : i32
      %43 = llvm.mlir.constant(256 : index) : i32
      %44 = llvm.mlir.constant(0 : index) : i32
      %45 = nvvm.read.ptx.sreg.tid.x : i32
      %46 = llvm.udiv %45, %21 : i32
      %47 = nvvm.read.ptx.sreg.ctaid.x : i32
      %48 = nvvm.read.ptx.sreg.ctaid.y : i32
      %49 = llvm.icmp "eq" %45, %44 : i32
      llvm.cond_br %49, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      %50 = llvm.getelementptr %20[49152] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.init %50, %19 : !llvm.ptr<3>, i32
      %51 = llvm.getelementptr %20[49160] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.init %51, %19 : !llvm.ptr<3>, i32
      %52 = llvm.getelementptr %20[49168] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.init %52, %18 : !llvm.ptr<3>, i32
      %53 = llvm.getelementptr %20[49176] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.init %53, %18 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.prefetch tensormap, %arg1 : !llvm.ptr
      nvvm.prefetch tensormap, %arg2 : !llvm.ptr
      llvm.br ^bb2
    ^bb2:  // 2 preds: ^bb0, ^bb1
      nvvm.barrier0
      %54 = llvm.icmp "ult" %46, %23 : i32
      llvm.cond_br %54, ^bb3, ^bb11
    ^bb3:  // pred: ^bb2
      nvvm.setmaxregister  decrease 40
      %55 = llvm.icmp "eq" %46, %44 : i32
      llvm.cond_br %55, ^bb4, ^bb10
    ^bb4:  // pred: ^bb3
      %56 = nvvm.elect.sync -> i1
      llvm.cond_br %56, ^bb5, ^bb9
    ^bb5:  // pred: ^bb4
      llvm.br ^bb6(%44, %22, %22 : i32, i32, i32)
    ^bb6(%57: i32, %58: i32, %59: i32):  // 2 preds: ^bb5, ^bb7
      %60 = llvm.icmp "slt" %57, %23 : i32
      llvm.cond_br %60, ^bb7, ^bb8
    ^bb7:  // pred: ^bb6
      %61 = llvm.xor %59, %19 : i32
      %62 = llvm.mul %58, %17 : i32
      %63 = llvm.getelementptr %20[49168] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %64 = llvm.getelementptr %63[%62] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.inline_asm has_side_effects asm_dialect = att "{\0A\09.reg .pred       P1; \0A\09LAB_WAIT: \0A\09mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \0A\09@P1 bra.uni DONE; \0A\09bra.uni     LAB_WAIT; \0A\09DONE: \0A\09}", "r,r,n" %64, %61, %16 : (!llvm.ptr<3>, i32, i32) -> ()
      %65 = llvm.mul %58, %15 : i32
      %66 = llvm.getelementptr %20[%65] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %67 = llvm.getelementptr %66[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %68 = llvm.mul %48, %24 overflow<nsw> : i32
      %69 = llvm.mul %57, %25 overflow<nsw> : i32
      %70 = llvm.getelementptr %20[49152] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %71 = llvm.getelementptr %70[%62] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %72 = llvm.addrspacecast %66 : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.cp.async.bulk.tensor.shared.cluster.global %72, %arg1, %71, box[%69, %68] : !llvm.ptr<7>, !llvm.ptr
      %73 = llvm.mul %47, %25 overflow<nsw> : i32
      %74 = llvm.addrspacecast %67 : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.cp.async.bulk.tensor.shared.cluster.global %74, %arg2, %71, box[%73, %69] : !llvm.ptr<7>, !llvm.ptr
      nvvm.mbarrier.arrive.expect_tx %71, %15 : !llvm.ptr<3>, i32
      %75 = llvm.add %58, %19 : i32
      %76 = llvm.icmp "eq" %75, %18 : i32
      %77 = llvm.select %76, %22, %75 : i1, i32
      %78 = llvm.select %76, %61, %59 : i1, i32
      %79 = llvm.add %57, %42 : i32
      llvm.br ^bb6(%79, %77, %78 : i32, i32, i32)
    ^bb8:  // pred: ^bb6
      llvm.br ^bb9
    ^bb9:  // 2 preds: ^bb4, ^bb8
      llvm.br ^bb10
    ^bb10:  // 2 preds: ^bb3, ^bb9
      llvm.br ^bb19
    ^bb11:  // pred: ^bb2
      nvvm.setmaxregister  increase 232
      %80 = llvm.udiv %45, %24 : i32
      %81 = llvm.sub %80, %42 : i32
      %82 = llvm.mul %22, %17 : i32
      %83 = llvm.getelementptr %20[49152] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %84 = llvm.getelementptr %83[%82] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.inline_asm has_side_effects asm_dialect = att "{\0A\09.reg .pred       P1; \0A\09LAB_WAIT: \0A\09mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \0A\09@P1 bra.uni DONE; \0A\09bra.uni     LAB_WAIT; \0A\09DONE: \0A\09}", "r,n,n" %84, %22, %16 : (!llvm.ptr<3>, i32, i32) -> ()
      %85 = llvm.mul %22, %15 : i32
      %86 = llvm.getelementptr %20[%85] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %87 = llvm.getelementptr %86[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %88 = llvm.mul %81, %14 : i32
      %89 = llvm.getelementptr %86[%88] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %90 = llvm.ptrtoint %89 : !llvm.ptr<3> to i32
      %91 = llvm.and %90, %12 : i32
      %92 = llvm.lshr %91, %11 : i32
      %93 = llvm.ptrtoint %87 : !llvm.ptr<3> to i32
      %94 = llvm.and %93, %12 : i32
      %95 = llvm.lshr %94, %11 : i32
      nvvm.wgmma.fence.aligned
      %96 = llvm.add %95, %9 : i32
      %97 = llvm.insertelement %96, %8[%22 : i32] : vector<2xi32>
      %98 = llvm.insertelement %13, %97[%19 : i32] : vector<2xi32>
      %99 = llvm.bitcast %98 : vector<2xi32> to i64
      %100 = llvm.add %92, %7 : i32
      %101 = llvm.insertelement %100, %8[%22 : i32] : vector<2xi32>
      %102 = llvm.insertelement %13, %101[%19 : i32] : vector<2xi32>
      %103 = llvm.bitcast %102 : vector<2xi32> to i64
      %104 = llvm.add %95, %6 : i32
      %105 = llvm.insertelement %104, %8[%22 : i32] : vector<2xi32>
      %106 = llvm.insertelement %13, %105[%19 : i32] : vector<2xi32>
      %107 = llvm.bitcast %106 : vector<2xi32> to i64
      %108 = llvm.add %92, %5 : i32
      %109 = llvm.insertelement %108, %8[%22 : i32] : vector<2xi32>
      %110 = llvm.insertelement %13, %109[%19 : i32] : vector<2xi32>
      %111 = llvm.bitcast %110 : vector<2xi32> to i64
      %112 = llvm.add %95, %4 : i32
      %113 = llvm.insertelement %112, %8[%22 : i32] : vector<2xi32>
      %114 = llvm.insertelement %13, %113[%19 : i32] : vector<2xi32>
      %115 = llvm.bitcast %114 : vector<2xi32> to i64
      %116 = llvm.add %92, %3 : i32
      %117 = llvm.insertelement %116, %8[%22 : i32] : vector<2xi32>
      %118 = llvm.insertelement %13, %117[%19 : i32] : vector<2xi32>
      %119 = llvm.bitcast %118 : vector<2xi32> to i64
      %120 = llvm.add %95, %2 : i32
      %121 = llvm.insertelement %120, %8[%22 : i32] : vector<2xi32>
      %122 = llvm.insertelement %13, %121[%19 : i32] : vector<2xi32>
      %123 = llvm.bitcast %122 : vector<2xi32> to i64
      %124 = llvm.add %92, %1 : i32
      %125 = llvm.insertelement %124, %8[%22 : i32] : vector<2xi32>
      %126 = llvm.insertelement %13, %125[%19 : i32] : vector<2xi32>
      %127 = llvm.bitcast %126 : vector<2xi32> to i64
      %128 = llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $64, $65, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $66, $67, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $68, $69, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $70, $71, p, 1, 1, 0, 1;\0A}\0A", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,l,l,l,l,l,l" %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %10, %103, %99, %111, %107, %119, %115, %127, %123 : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i64, i64, i64, i64, i64, i64, i64, i64) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
      nvvm.wgmma.commit.group.sync.aligned
      %129 = llvm.add %22, %19 : i32
      %130 = llvm.icmp "eq" %129, %18 : i32
      %131 = llvm.select %130, %22, %129 : i1, i32
      %132 = llvm.xor %22, %19 : i32
      %133 = llvm.select %130, %132, %22 : i1, i32
      llvm.br ^bb12(%42, %128, %131, %133, %22 : i32, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>, i32, i32, i32)
    ^bb12(%134: i32, %135: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>, %136: i32, %137: i32, %138: i32):  // 2 preds: ^bb11, ^bb15
      %139 = llvm.icmp "slt" %134, %23 : i32
      llvm.cond_br %139, ^bb13, ^bb16
    ^bb13:  // pred: ^bb12
      %140 = llvm.mul %136, %17 : i32
      %141 = llvm.getelementptr %83[%140] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.inline_asm has_side_effects asm_dialect = att "{\0A\09.reg .pred       P1; \0A\09LAB_WAIT: \0A\09mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \0A\09@P1 bra.uni DONE; \0A\09bra.uni     LAB_WAIT; \0A\09DONE: \0A\09}", "r,r,n" %141, %137, %16 : (!llvm.ptr<3>, i32, i32) -> ()
      %142 = llvm.mul %136, %15 : i32
      %143 = llvm.getelementptr %20[%142] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %144 = llvm.getelementptr %143[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %145 = llvm.getelementptr %143[%88] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %146 = llvm.ptrtoint %145 : !llvm.ptr<3> to i32
      %147 = llvm.and %146, %12 : i32
      %148 = llvm.lshr %147, %11 : i32
      %149 = llvm.ptrtoint %144 : !llvm.ptr<3> to i32
      %150 = llvm.and %149, %12 : i32
      %151 = llvm.lshr %150, %11 : i32
      %152 = llvm.extractvalue %135[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %153 = llvm.extractvalue %135[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %154 = llvm.extractvalue %135[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %155 = llvm.extractvalue %135[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %156 = llvm.extractvalue %135[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %157 = llvm.extractvalue %135[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %158 = llvm.extractvalue %135[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %159 = llvm.extractvalue %135[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %160 = llvm.extractvalue %135[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %161 = llvm.extractvalue %135[9] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %162 = llvm.extractvalue %135[10] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %163 = llvm.extractvalue %135[11] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %164 = llvm.extractvalue %135[12] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %165 = llvm.extractvalue %135[13] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %166 = llvm.extractvalue %135[14] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %167 = llvm.extractvalue %135[15] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %168 = llvm.extractvalue %135[16] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %169 = llvm.extractvalue %135[17] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %170 = llvm.extractvalue %135[18] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %171 = llvm.extractvalue %135[19] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %172 = llvm.extractvalue %135[20] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %173 = llvm.extractvalue %135[21] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %174 = llvm.extractvalue %135[22] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %175 = llvm.extractvalue %135[23] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %176 = llvm.extractvalue %135[24] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %177 = llvm.extractvalue %135[25] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %178 = llvm.extractvalue %135[26] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %179 = llvm.extractvalue %135[27] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %180 = llvm.extractvalue %135[28] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %181 = llvm.extractvalue %135[29] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %182 = llvm.extractvalue %135[30] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %183 = llvm.extractvalue %135[31] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      nvvm.wgmma.fence.aligned
      %184 = llvm.add %151, %9 : i32
      %185 = llvm.insertelement %184, %8[%22 : i32] : vector<2xi32>
      %186 = llvm.insertelement %13, %185[%19 : i32] : vector<2xi32>
      %187 = llvm.bitcast %186 : vector<2xi32> to i64
      %188 = llvm.add %148, %7 : i32
      %189 = llvm.insertelement %188, %8[%22 : i32] : vector<2xi32>
      %190 = llvm.insertelement %13, %189[%19 : i32] : vector<2xi32>
      %191 = llvm.bitcast %190 : vector<2xi32> to i64
      %192 = llvm.add %151, %6 : i32
      %193 = llvm.insertelement %192, %8[%22 : i32] : vector<2xi32>
      %194 = llvm.insertelement %13, %193[%19 : i32] : vector<2xi32>
      %195 = llvm.bitcast %194 : vector<2xi32> to i64
      %196 = llvm.add %148, %5 : i32
      %197 = llvm.insertelement %196, %8[%22 : i32] : vector<2xi32>
      %198 = llvm.insertelement %13, %197[%19 : i32] : vector<2xi32>
      %199 = llvm.bitcast %198 : vector<2xi32> to i64
      %200 = llvm.add %151, %4 : i32
      %201 = llvm.insertelement %200, %8[%22 : i32] : vector<2xi32>
      %202 = llvm.insertelement %13, %201[%19 : i32] : vector<2xi32>
      %203 = llvm.bitcast %202 : vector<2xi32> to i64
      %204 = llvm.add %148, %3 : i32
      %205 = llvm.insertelement %204, %8[%22 : i32] : vector<2xi32>
      %206 = llvm.insertelement %13, %205[%19 : i32] : vector<2xi32>
      %207 = llvm.bitcast %206 : vector<2xi32> to i64
      %208 = llvm.add %151, %2 : i32
      %209 = llvm.insertelement %208, %8[%22 : i32] : vector<2xi32>
      %210 = llvm.insertelement %13, %209[%19 : i32] : vector<2xi32>
      %211 = llvm.bitcast %210 : vector<2xi32> to i64
      %212 = llvm.add %148, %1 : i32
      %213 = llvm.insertelement %212, %8[%22 : i32] : vector<2xi32>
      %214 = llvm.insertelement %13, %213[%19 : i32] : vector<2xi32>
      %215 = llvm.bitcast %214 : vector<2xi32> to i64
      %216 = llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $64, $65, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $66, $67, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $68, $69, p, 1, 1, 0, 1;\0A}\0A{\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $70, $71, p, 1, 1, 0, 1;\0A}\0A", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,l,l,l,l,l,l,l,l" %152, %153, %154, %155, %156, %157, %158, %159, %160, %161, %162, %163, %164, %165, %166, %167, %168, %169, %170, %171, %172, %173, %174, %175, %176, %177, %178, %179, %180, %181, %182, %183, %191, %187, %199, %195, %207, %203, %215, %211 : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i64, i64, i64, i64, i64, i64, i64, i64) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 1
      %217 = llvm.add %136, %19 : i32
      %218 = llvm.icmp "eq" %217, %18 : i32
      %219 = llvm.select %218, %22, %217 : i1, i32
      %220 = llvm.xor %137, %19 : i32
      %221 = llvm.select %218, %220, %137 : i1, i32
      %222 = llvm.and %45, %0 : i32
      %223 = llvm.icmp "ult" %222, %19 : i32
      llvm.cond_br %223, ^bb14, ^bb15
    ^bb14:  // pred: ^bb13
      %224 = llvm.mul %138, %17 : i32
      %225 = llvm.getelementptr %20[49168] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %226 = llvm.getelementptr %225[%224] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.arrive %226 : !llvm.ptr<3>
      llvm.br ^bb15
    ^bb15:  // 2 preds: ^bb13, ^bb14
      %227 = llvm.add %134, %42 : i32
      llvm.br ^bb12(%227, %216, %219, %221, %136 : i32, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>, i32, i32, i32)
    ^bb16:  // pred: ^bb12
      nvvm.wgmma.wait.group.sync.aligned 0
      %228 = llvm.and %45, %0 : i32
      %229 = llvm.icmp "ult" %228, %19 : i32
      llvm.cond_br %229, ^bb17, ^bb18
    ^bb17:  // pred: ^bb16
      %230 = llvm.mul %138, %17 : i32
      %231 = llvm.getelementptr %20[49168] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %232 = llvm.getelementptr %231[%230] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.arrive %232 : !llvm.ptr<3>
      llvm.br ^bb18
    ^bb18:  // 2 preds: ^bb16, ^bb17
      %233 = llvm.srem %45, %24 : i32
      %234 = llvm.icmp "slt" %233, %44 : i32
      %235 = llvm.add %233, %24 : i32
      %236 = llvm.select %234, %235, %233 : i1, i32
      %237 = llvm.icmp "slt" %236, %44 : i32
      %238 = llvm.sub %26, %236 : i32
      %239 = llvm.select %237, %238, %236 : i1, i32
      %240 = llvm.sdiv %239, %21 : i32
      %241 = llvm.sub %26, %240 : i32
      %242 = llvm.select %237, %241, %240 : i1, i32
      %243 = llvm.mul %242, %27 overflow<nsw> : i32
      %244 = llvm.srem %45, %21 : i32
      %245 = llvm.icmp "slt" %244, %44 : i32
      %246 = llvm.add %244, %21 : i32
      %247 = llvm.select %245, %246, %244 : i1, i32
      %248 = llvm.icmp "slt" %247, %44 : i32
      %249 = llvm.sub %26, %247 : i32
      %250 = llvm.select %248, %249, %247 : i1, i32
      %251 = llvm.sdiv %250, %23 : i32
      %252 = llvm.sub %26, %251 : i32
      %253 = llvm.select %248, %252, %251 : i1, i32
      %254 = llvm.add %243, %253 : i32
      %255 = llvm.add %254, %28 : i32
      %256 = llvm.extractvalue %135[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %257 = llvm.mul %45, %29 overflow<nsw> : i32
      %258 = llvm.icmp "slt" %45, %44 : i32
      %259 = llvm.sub %26, %45 : i32
      %260 = llvm.select %258, %259, %45 : i1, i32
      %261 = llvm.sdiv %260, %23 : i32
      %262 = llvm.sub %26, %261 : i32
      %263 = llvm.select %258, %262, %261 : i1, i32
      %264 = llvm.mul %263, %30 overflow<nsw> : i32
      %265 = llvm.add %257, %264 : i32
      %266 = llvm.fptrunc %256 : f32 to bf16
      %267 = llvm.mul %81, %25 overflow<nsw> : i32
      %268 = llvm.add %267, %254 : i32
      %269 = llvm.mul %48, %24 overflow<nsw> : i32
      %270 = llvm.add %268, %269 : i32
      %271 = llvm.mul %47, %25 overflow<nsw> : i32
      %272 = llvm.add %265, %271 : i32
      %273 = llvm.mul %270, %43 overflow<nsw, nuw> : i32
      %274 = llvm.add %273, %272 overflow<nsw, nuw> : i32
      %275 = llvm.getelementptr inbounds|nuw %arg0[%274] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %266, %275 : bf16, !llvm.ptr
      %276 = llvm.extractvalue %135[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %277 = llvm.add %265, %42 : i32
      %278 = llvm.fptrunc %276 : f32 to bf16
      %279 = llvm.add %277, %271 : i32
      %280 = llvm.add %273, %279 overflow<nsw, nuw> : i32
      %281 = llvm.getelementptr inbounds|nuw %arg0[%280] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %278, %281 : bf16, !llvm.ptr
      %282 = llvm.extractvalue %135[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %283 = llvm.fptrunc %282 : f32 to bf16
      %284 = llvm.add %267, %255 : i32
      %285 = llvm.add %284, %269 : i32
      %286 = llvm.mul %285, %43 overflow<nsw, nuw> : i32
      %287 = llvm.add %286, %272 overflow<nsw, nuw> : i32
      %288 = llvm.getelementptr inbounds|nuw %arg0[%287] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %283, %288 : bf16, !llvm.ptr
      %289 = llvm.extractvalue %135[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %290 = llvm.fptrunc %289 : f32 to bf16
      %291 = llvm.add %286, %279 overflow<nsw, nuw> : i32
      %292 = llvm.getelementptr inbounds|nuw %arg0[%291] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %290, %292 : bf16, !llvm.ptr
      %293 = llvm.extractvalue %135[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %294 = llvm.add %265, %28 : i32
      %295 = llvm.fptrunc %293 : f32 to bf16
      %296 = llvm.add %294, %271 : i32
      %297 = llvm.add %273, %296 overflow<nsw, nuw> : i32
      %298 = llvm.getelementptr inbounds|nuw %arg0[%297] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %295, %298 : bf16, !llvm.ptr
      %299 = llvm.extractvalue %135[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %300 = llvm.add %265, %31 : i32
      %301 = llvm.fptrunc %299 : f32 to bf16
      %302 = llvm.add %300, %271 : i32
      %303 = llvm.add %273, %302 overflow<nsw, nuw> : i32
      %304 = llvm.getelementptr inbounds|nuw %arg0[%303] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %301, %304 : bf16, !llvm.ptr
      %305 = llvm.extractvalue %135[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %306 = llvm.fptrunc %305 : f32 to bf16
      %307 = llvm.add %286, %296 overflow<nsw, nuw> : i32
      %308 = llvm.getelementptr inbounds|nuw %arg0[%307] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %306, %308 : bf16, !llvm.ptr
      %309 = llvm.extractvalue %135[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %310 = llvm.fptrunc %309 : f32 to bf16
      %311 = llvm.add %286, %302 overflow<nsw, nuw> : i32
      %312 = llvm.getelementptr inbounds|nuw %arg0[%311] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %310, %312 : bf16, !llvm.ptr
      %313 = llvm.extractvalue %135[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %314 = llvm.add %265, %27 : i32
      %315 = llvm.fptrunc %313 : f32 to bf16
      %316 = llvm.add %314, %271 : i32
      %317 = llvm.add %273, %316 overflow<nsw, nuw> : i32
      %318 = llvm.getelementptr inbounds|nuw %arg0[%317] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %315, %318 : bf16, !llvm.ptr
      %319 = llvm.extractvalue %135[9] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %320 = llvm.add %265, %32 : i32
      %321 = llvm.fptrunc %319 : f32 to bf16
      %322 = llvm.add %320, %271 : i32
      %323 = llvm.add %273, %322 overflow<nsw, nuw> : i32
      %324 = llvm.getelementptr inbounds|nuw %arg0[%323] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %321, %324 : bf16, !llvm.ptr
      %325 = llvm.extractvalue %135[10] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %326 = llvm.fptrunc %325 : f32 to bf16
      %327 = llvm.add %286, %316 overflow<nsw, nuw> : i32
      %328 = llvm.getelementptr inbounds|nuw %arg0[%327] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %326, %328 : bf16, !llvm.ptr
      %329 = llvm.extractvalue %135[11] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %330 = llvm.fptrunc %329 : f32 to bf16
      %331 = llvm.add %286, %322 overflow<nsw, nuw> : i32
      %332 = llvm.getelementptr inbounds|nuw %arg0[%331] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %330, %332 : bf16, !llvm.ptr
      %333 = llvm.extractvalue %135[12] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %334 = llvm.add %265, %33 : i32
      %335 = llvm.fptrunc %333 : f32 to bf16
      %336 = llvm.add %334, %271 : i32
      %337 = llvm.add %273, %336 overflow<nsw, nuw> : i32
      %338 = llvm.getelementptr inbounds|nuw %arg0[%337] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %335, %338 : bf16, !llvm.ptr
      %339 = llvm.extractvalue %135[13] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %340 = llvm.add %265, %34 : i32
      %341 = llvm.fptrunc %339 : f32 to bf16
      %342 = llvm.add %340, %271 : i32
      %343 = llvm.add %273, %342 overflow<nsw, nuw> : i32
      %344 = llvm.getelementptr inbounds|nuw %arg0[%343] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %341, %344 : bf16, !llvm.ptr
      %345 = llvm.extractvalue %135[14] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %346 = llvm.fptrunc %345 : f32 to bf16
      %347 = llvm.add %286, %336 overflow<nsw, nuw> : i32
      %348 = llvm.getelementptr inbounds|nuw %arg0[%347] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %346, %348 : bf16, !llvm.ptr
      %349 = llvm.extractvalue %135[15] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %350 = llvm.fptrunc %349 : f32 to bf16
      %351 = llvm.add %286, %342 overflow<nsw, nuw> : i32
      %352 = llvm.getelementptr inbounds|nuw %arg0[%351] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %350, %352 : bf16, !llvm.ptr
      %353 = llvm.extractvalue %135[16] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %354 = llvm.add %265, %21 : i32
      %355 = llvm.fptrunc %353 : f32 to bf16
      %356 = llvm.add %354, %271 : i32
      %357 = llvm.add %273, %356 overflow<nsw, nuw> : i32
      %358 = llvm.getelementptr inbounds|nuw %arg0[%357] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %355, %358 : bf16, !llvm.ptr
      %359 = llvm.extractvalue %135[17] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %360 = llvm.add %265, %35 : i32
      %361 = llvm.fptrunc %359 : f32 to bf16
      %362 = llvm.add %360, %271 : i32
      %363 = llvm.add %273, %362 overflow<nsw, nuw> : i32
      %364 = llvm.getelementptr inbounds|nuw %arg0[%363] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %361, %364 : bf16, !llvm.ptr
      %365 = llvm.extractvalue %135[18] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %366 = llvm.fptrunc %365 : f32 to bf16
      %367 = llvm.add %286, %356 overflow<nsw, nuw> : i32
      %368 = llvm.getelementptr inbounds|nuw %arg0[%367] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %366, %368 : bf16, !llvm.ptr
      %369 = llvm.extractvalue %135[19] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %370 = llvm.fptrunc %369 : f32 to bf16
      %371 = llvm.add %286, %362 overflow<nsw, nuw> : i32
      %372 = llvm.getelementptr inbounds|nuw %arg0[%371] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %370, %372 : bf16, !llvm.ptr
      %373 = llvm.extractvalue %135[20] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %374 = llvm.add %265, %36 : i32
      %375 = llvm.fptrunc %373 : f32 to bf16
      %376 = llvm.add %374, %271 : i32
      %377 = llvm.add %273, %376 overflow<nsw, nuw> : i32
      %378 = llvm.getelementptr inbounds|nuw %arg0[%377] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %375, %378 : bf16, !llvm.ptr
      %379 = llvm.extractvalue %135[21] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %380 = llvm.add %265, %37 : i32
      %381 = llvm.fptrunc %379 : f32 to bf16
      %382 = llvm.add %380, %271 : i32
      %383 = llvm.add %273, %382 overflow<nsw, nuw> : i32
      %384 = llvm.getelementptr inbounds|nuw %arg0[%383] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %381, %384 : bf16, !llvm.ptr
      %385 = llvm.extractvalue %135[22] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %386 = llvm.fptrunc %385 : f32 to bf16
      %387 = llvm.add %286, %376 overflow<nsw, nuw> : i32
      %388 = llvm.getelementptr inbounds|nuw %arg0[%387] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %386, %388 : bf16, !llvm.ptr
      %389 = llvm.extractvalue %135[23] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %390 = llvm.fptrunc %389 : f32 to bf16
      %391 = llvm.add %286, %382 overflow<nsw, nuw> : i32
      %392 = llvm.getelementptr inbounds|nuw %arg0[%391] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %390, %392 : bf16, !llvm.ptr
      %393 = llvm.extractvalue %135[24] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %394 = llvm.add %265, %38 : i32
      %395 = llvm.fptrunc %393 : f32 to bf16
      %396 = llvm.add %394, %271 : i32
      %397 = llvm.add %273, %396 overflow<nsw, nuw> : i32
      %398 = llvm.getelementptr inbounds|nuw %arg0[%397] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %395, %398 : bf16, !llvm.ptr
      %399 = llvm.extractvalue %135[25] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %400 = llvm.add %265, %39 : i32
      %401 = llvm.fptrunc %399 : f32 to bf16
      %402 = llvm.add %400, %271 : i32
      %403 = llvm.add %273, %402 overflow<nsw, nuw> : i32
      %404 = llvm.getelementptr inbounds|nuw %arg0[%403] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %401, %404 : bf16, !llvm.ptr
      %405 = llvm.extractvalue %135[26] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %406 = llvm.fptrunc %405 : f32 to bf16
      %407 = llvm.add %286, %396 overflow<nsw, nuw> : i32
      %408 = llvm.getelementptr inbounds|nuw %arg0[%407] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %406, %408 : bf16, !llvm.ptr
      %409 = llvm.extractvalue %135[27] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %410 = llvm.fptrunc %409 : f32 to bf16
      %411 = llvm.add %286, %402 overflow<nsw, nuw> : i32
      %412 = llvm.getelementptr inbounds|nuw %arg0[%411] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %410, %412 : bf16, !llvm.ptr
      %413 = llvm.extractvalue %135[28] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %414 = llvm.add %265, %40 : i32
      %415 = llvm.fptrunc %413 : f32 to bf16
      %416 = llvm.add %414, %271 : i32
      %417 = llvm.add %273, %416 overflow<nsw, nuw> : i32
      %418 = llvm.getelementptr inbounds|nuw %arg0[%417] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %415, %418 : bf16, !llvm.ptr
      %419 = llvm.extractvalue %135[29] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %420 = llvm.add %265, %41 : i32
      %421 = llvm.fptrunc %419 : f32 to bf16
      %422 = llvm.add %420, %271 : i32
      %423 = llvm.add %273, %422 overflow<nsw, nuw> : i32
      %424 = llvm.getelementptr inbounds|nuw %arg0[%423] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %421, %424 : bf16, !llvm.ptr
      %425 = llvm.extractvalue %135[30] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %426 = llvm.fptrunc %425 : f32 to bf16
      %427 = llvm.add %286, %416 overflow<nsw, nuw> : i32
      %428 = llvm.getelementptr inbounds|nuw %arg0[%427] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %426, %428 : bf16, !llvm.ptr
      %429 = llvm.extractvalue %135[31] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %430 = llvm.fptrunc %429 : f32 to bf16
      %431 = llvm.add %286, %422 overflow<nsw, nuw> : i32
      %432 = llvm.getelementptr inbounds|nuw %arg0[%431] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %430, %432 : bf16, !llvm.ptr
      llvm.br ^bb19
    ^bb19:  // 2 preds: ^bb10, ^bb18
      llvm.return
    }
  }
  func.func @hgemm(%arg0: memref<256x256xbf16> {te.dtype = bf16, te.name = "A"}, %arg1: memref<256x256xbf16> {te.dtype = bf16, te.name = "B"}, %arg2: memref<256x256xbf16> {te.dtype = bf16, te.name = "C", te.output}) {
    %c49184_i32 = arith.constant 49184 : i32
    %c384 = arith.constant 384 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %map = tile.encode %arg0 : memref<256x256xbf16> -> <128x64xbf16, swizzle = 128>
    %map_0 = tile.encode %arg1 : memref<256x256xbf16> -> <64x64xbf16, swizzle = 128>
    gpu.launch_func  @hgemm_kernels::@hgemm_kernel0 blocks in (%c4, %c2, %c1) threads in (%c384, %c1, %c1)  dynamic_shared_memory_size %c49184_i32 args(%arg2 : memref<256x256xbf16>, %map : !tile.tensor_map<128x64xbf16, swizzle = 128>, %map_0 : !tile.tensor_map<64x64xbf16, swizzle = 128>) {tilewright.launch_origin = {block.x = "a warpgroup that copies and 2 that multiply, 3-loops.mlir:24", grid.x = "j.outer of stage C, 3-loops.mlir:15", grid.y = "i.outer of stage C, 3-loops.mlir:14", shared = "ring of a loop (2 slots of 24576 bytes), barriers (32 bytes)"}}
    return
  }
}

