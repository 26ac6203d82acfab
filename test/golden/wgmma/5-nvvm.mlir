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
      llvm.br ^bb17
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
      %228 = llvm.srem %45, %24 : i32
      %229 = llvm.icmp "slt" %228, %44 : i32
      %230 = llvm.add %228, %24 : i32
      %231 = llvm.select %229, %230, %228 : i1, i32
      %232 = llvm.icmp "slt" %231, %44 : i32
      %233 = llvm.sub %26, %231 : i32
      %234 = llvm.select %232, %233, %231 : i1, i32
      %235 = llvm.sdiv %234, %21 : i32
      %236 = llvm.sub %26, %235 : i32
      %237 = llvm.select %232, %236, %235 : i1, i32
      %238 = llvm.mul %237, %27 overflow<nsw> : i32
      %239 = llvm.srem %45, %21 : i32
      %240 = llvm.icmp "slt" %239, %44 : i32
      %241 = llvm.add %239, %21 : i32
      %242 = llvm.select %240, %241, %239 : i1, i32
      %243 = llvm.icmp "slt" %242, %44 : i32
      %244 = llvm.sub %26, %242 : i32
      %245 = llvm.select %243, %244, %242 : i1, i32
      %246 = llvm.sdiv %245, %23 : i32
      %247 = llvm.sub %26, %246 : i32
      %248 = llvm.select %243, %247, %246 : i1, i32
      %249 = llvm.add %238, %248 : i32
      %250 = llvm.add %249, %28 : i32
      %251 = llvm.extractvalue %135[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %252 = llvm.mul %45, %29 overflow<nsw> : i32
      %253 = llvm.icmp "slt" %45, %44 : i32
      %254 = llvm.sub %26, %45 : i32
      %255 = llvm.select %253, %254, %45 : i1, i32
      %256 = llvm.sdiv %255, %23 : i32
      %257 = llvm.sub %26, %256 : i32
      %258 = llvm.select %253, %257, %256 : i1, i32
      %259 = llvm.mul %258, %30 overflow<nsw> : i32
      %260 = llvm.add %252, %259 : i32
      %261 = llvm.fptrunc %251 : f32 to bf16
      %262 = llvm.mul %81, %25 overflow<nsw> : i32
      %263 = llvm.add %262, %249 : i32
      %264 = llvm.mul %48, %24 overflow<nsw> : i32
      %265 = llvm.add %263, %264 : i32
      %266 = llvm.mul %47, %25 overflow<nsw> : i32
      %267 = llvm.add %260, %266 : i32
      %268 = llvm.mul %265, %43 overflow<nsw, nuw> : i32
      %269 = llvm.add %268, %267 overflow<nsw, nuw> : i32
      %270 = llvm.getelementptr inbounds|nuw %arg0[%269] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %261, %270 : bf16, !llvm.ptr
      %271 = llvm.extractvalue %135[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %272 = llvm.add %260, %42 : i32
      %273 = llvm.fptrunc %271 : f32 to bf16
      %274 = llvm.add %272, %266 : i32
      %275 = llvm.add %268, %274 overflow<nsw, nuw> : i32
      %276 = llvm.getelementptr inbounds|nuw %arg0[%275] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %273, %276 : bf16, !llvm.ptr
      %277 = llvm.extractvalue %135[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %278 = llvm.fptrunc %277 : f32 to bf16
      %279 = llvm.add %262, %250 : i32
      %280 = llvm.add %279, %264 : i32
      %281 = llvm.mul %280, %43 overflow<nsw, nuw> : i32
      %282 = llvm.add %281, %267 overflow<nsw, nuw> : i32
      %283 = llvm.getelementptr inbounds|nuw %arg0[%282] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %278, %283 : bf16, !llvm.ptr
      %284 = llvm.extractvalue %135[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %285 = llvm.fptrunc %284 : f32 to bf16
      %286 = llvm.add %281, %274 overflow<nsw, nuw> : i32
      %287 = llvm.getelementptr inbounds|nuw %arg0[%286] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %285, %287 : bf16, !llvm.ptr
      %288 = llvm.extractvalue %135[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %289 = llvm.add %260, %28 : i32
      %290 = llvm.fptrunc %288 : f32 to bf16
      %291 = llvm.add %289, %266 : i32
      %292 = llvm.add %268, %291 overflow<nsw, nuw> : i32
      %293 = llvm.getelementptr inbounds|nuw %arg0[%292] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %290, %293 : bf16, !llvm.ptr
      %294 = llvm.extractvalue %135[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %295 = llvm.add %260, %31 : i32
      %296 = llvm.fptrunc %294 : f32 to bf16
      %297 = llvm.add %295, %266 : i32
      %298 = llvm.add %268, %297 overflow<nsw, nuw> : i32
      %299 = llvm.getelementptr inbounds|nuw %arg0[%298] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %296, %299 : bf16, !llvm.ptr
      %300 = llvm.extractvalue %135[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %301 = llvm.fptrunc %300 : f32 to bf16
      %302 = llvm.add %281, %291 overflow<nsw, nuw> : i32
      %303 = llvm.getelementptr inbounds|nuw %arg0[%302] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %301, %303 : bf16, !llvm.ptr
      %304 = llvm.extractvalue %135[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %305 = llvm.fptrunc %304 : f32 to bf16
      %306 = llvm.add %281, %297 overflow<nsw, nuw> : i32
      %307 = llvm.getelementptr inbounds|nuw %arg0[%306] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %305, %307 : bf16, !llvm.ptr
      %308 = llvm.extractvalue %135[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %309 = llvm.add %260, %27 : i32
      %310 = llvm.fptrunc %308 : f32 to bf16
      %311 = llvm.add %309, %266 : i32
      %312 = llvm.add %268, %311 overflow<nsw, nuw> : i32
      %313 = llvm.getelementptr inbounds|nuw %arg0[%312] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %310, %313 : bf16, !llvm.ptr
      %314 = llvm.extractvalue %135[9] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %315 = llvm.add %260, %32 : i32
      %316 = llvm.fptrunc %314 : f32 to bf16
      %317 = llvm.add %315, %266 : i32
      %318 = llvm.add %268, %317 overflow<nsw, nuw> : i32
      %319 = llvm.getelementptr inbounds|nuw %arg0[%318] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %316, %319 : bf16, !llvm.ptr
      %320 = llvm.extractvalue %135[10] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %321 = llvm.fptrunc %320 : f32 to bf16
      %322 = llvm.add %281, %311 overflow<nsw, nuw> : i32
      %323 = llvm.getelementptr inbounds|nuw %arg0[%322] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %321, %323 : bf16, !llvm.ptr
      %324 = llvm.extractvalue %135[11] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %325 = llvm.fptrunc %324 : f32 to bf16
      %326 = llvm.add %281, %317 overflow<nsw, nuw> : i32
      %327 = llvm.getelementptr inbounds|nuw %arg0[%326] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %325, %327 : bf16, !llvm.ptr
      %328 = llvm.extractvalue %135[12] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %329 = llvm.add %260, %33 : i32
      %330 = llvm.fptrunc %328 : f32 to bf16
      %331 = llvm.add %329, %266 : i32
      %332 = llvm.add %268, %331 overflow<nsw, nuw> : i32
      %333 = llvm.getelementptr inbounds|nuw %arg0[%332] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %330, %333 : bf16, !llvm.ptr
      %334 = llvm.extractvalue %135[13] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %335 = llvm.add %260, %34 : i32
      %336 = llvm.fptrunc %334 : f32 to bf16
      %337 = llvm.add %335, %266 : i32
      %338 = llvm.add %268, %337 overflow<nsw, nuw> : i32
      %339 = llvm.getelementptr inbounds|nuw %arg0[%338] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %336, %339 : bf16, !llvm.ptr
      %340 = llvm.extractvalue %135[14] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %341 = llvm.fptrunc %340 : f32 to bf16
      %342 = llvm.add %281, %331 overflow<nsw, nuw> : i32
      %343 = llvm.getelementptr inbounds|nuw %arg0[%342] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %341, %343 : bf16, !llvm.ptr
      %344 = llvm.extractvalue %135[15] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %345 = llvm.fptrunc %344 : f32 to bf16
      %346 = llvm.add %281, %337 overflow<nsw, nuw> : i32
      %347 = llvm.getelementptr inbounds|nuw %arg0[%346] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %345, %347 : bf16, !llvm.ptr
      %348 = llvm.extractvalue %135[16] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %349 = llvm.add %260, %21 : i32
      %350 = llvm.fptrunc %348 : f32 to bf16
      %351 = llvm.add %349, %266 : i32
      %352 = llvm.add %268, %351 overflow<nsw, nuw> : i32
      %353 = llvm.getelementptr inbounds|nuw %arg0[%352] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %350, %353 : bf16, !llvm.ptr
      %354 = llvm.extractvalue %135[17] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %355 = llvm.add %260, %35 : i32
      %356 = llvm.fptrunc %354 : f32 to bf16
      %357 = llvm.add %355, %266 : i32
      %358 = llvm.add %268, %357 overflow<nsw, nuw> : i32
      %359 = llvm.getelementptr inbounds|nuw %arg0[%358] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %356, %359 : bf16, !llvm.ptr
      %360 = llvm.extractvalue %135[18] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %361 = llvm.fptrunc %360 : f32 to bf16
      %362 = llvm.add %281, %351 overflow<nsw, nuw> : i32
      %363 = llvm.getelementptr inbounds|nuw %arg0[%362] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %361, %363 : bf16, !llvm.ptr
      %364 = llvm.extractvalue %135[19] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %365 = llvm.fptrunc %364 : f32 to bf16
      %366 = llvm.add %281, %357 overflow<nsw, nuw> : i32
      %367 = llvm.getelementptr inbounds|nuw %arg0[%366] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %365, %367 : bf16, !llvm.ptr
      %368 = llvm.extractvalue %135[20] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %369 = llvm.add %260, %36 : i32
      %370 = llvm.fptrunc %368 : f32 to bf16
      %371 = llvm.add %369, %266 : i32
      %372 = llvm.add %268, %371 overflow<nsw, nuw> : i32
      %373 = llvm.getelementptr inbounds|nuw %arg0[%372] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %370, %373 : bf16, !llvm.ptr
      %374 = llvm.extractvalue %135[21] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %375 = llvm.add %260, %37 : i32
      %376 = llvm.fptrunc %374 : f32 to bf16
      %377 = llvm.add %375, %266 : i32
      %378 = llvm.add %268, %377 overflow<nsw, nuw> : i32
      %379 = llvm.getelementptr inbounds|nuw %arg0[%378] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %376, %379 : bf16, !llvm.ptr
      %380 = llvm.extractvalue %135[22] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %381 = llvm.fptrunc %380 : f32 to bf16
      %382 = llvm.add %281, %371 overflow<nsw, nuw> : i32
      %383 = llvm.getelementptr inbounds|nuw %arg0[%382] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %381, %383 : bf16, !llvm.ptr
      %384 = llvm.extractvalue %135[23] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %385 = llvm.fptrunc %384 : f32 to bf16
      %386 = llvm.add %281, %377 overflow<nsw, nuw> : i32
      %387 = llvm.getelementptr inbounds|nuw %arg0[%386] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %385, %387 : bf16, !llvm.ptr
      %388 = llvm.extractvalue %135[24] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %389 = llvm.add %260, %38 : i32
      %390 = llvm.fptrunc %388 : f32 to bf16
      %391 = llvm.add %389, %266 : i32
      %392 = llvm.add %268, %391 overflow<nsw, nuw> : i32
      %393 = llvm.getelementptr inbounds|nuw %arg0[%392] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %390, %393 : bf16, !llvm.ptr
      %394 = llvm.extractvalue %135[25] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %395 = llvm.add %260, %39 : i32
      %396 = llvm.fptrunc %394 : f32 to bf16
      %397 = llvm.add %395, %266 : i32
      %398 = llvm.add %268, %397 overflow<nsw, nuw> : i32
      %399 = llvm.getelementptr inbounds|nuw %arg0[%398] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %396, %399 : bf16, !llvm.ptr
      %400 = llvm.extractvalue %135[26] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %401 = llvm.fptrunc %400 : f32 to bf16
      %402 = llvm.add %281, %391 overflow<nsw, nuw> : i32
      %403 = llvm.getelementptr inbounds|nuw %arg0[%402] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %401, %403 : bf16, !llvm.ptr
      %404 = llvm.extractvalue %135[27] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %405 = llvm.fptrunc %404 : f32 to bf16
      %406 = llvm.add %281, %397 overflow<nsw, nuw> : i32
      %407 = llvm.getelementptr inbounds|nuw %arg0[%406] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %405, %407 : bf16, !llvm.ptr
      %408 = llvm.extractvalue %135[28] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %409 = llvm.add %260, %40 : i32
      %410 = llvm.fptrunc %408 : f32 to bf16
      %411 = llvm.add %409, %266 : i32
      %412 = llvm.add %268, %411 overflow<nsw, nuw> : i32
      %413 = llvm.getelementptr inbounds|nuw %arg0[%412] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %410, %413 : bf16, !llvm.ptr
      %414 = llvm.extractvalue %135[29] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %415 = llvm.add %260, %41 : i32
      %416 = llvm.fptrunc %414 : f32 to bf16
      %417 = llvm.add %415, %266 : i32
      %418 = llvm.add %268, %417 overflow<nsw, nuw> : i32
      %419 = llvm.getelementptr inbounds|nuw %arg0[%418] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %416, %419 : bf16, !llvm.ptr
      %420 = llvm.extractvalue %135[30] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %421 = llvm.fptrunc %420 : f32 to bf16
      %422 = llvm.add %281, %411 overflow<nsw, nuw> : i32
      %423 = llvm.getelementptr inbounds|nuw %arg0[%422] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %421, %423 : bf16, !llvm.ptr
      %424 = llvm.extractvalue %135[31] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)> 
      %425 = llvm.fptrunc %424 : f32 to bf16
      %426 = llvm.add %281, %417 overflow<nsw, nuw> : i32
      %427 = llvm.getelementptr inbounds|nuw %arg0[%426] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
      llvm.store %425, %427 : bf16, !llvm.ptr
      llvm.br ^bb17
    ^bb17:  // 2 preds: ^bb10, ^bb16
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
    gpu.launch_func  @hgemm_kernels::@hgemm_kernel0 blocks in (%c4, %c2, %c1) threads in (%c384, %c1, %c1)  dynamic_shared_memory_size %c49184_i32 args(%arg2 : memref<256x256xbf16>, %map : !tile.tensor_map<128x64xbf16, swizzle = 128>, %map_0 : !tile.tensor_map<64x64xbf16, swizzle = 128>) {tilewright.launch_origin = {block.x = "a warpgroup that copies and 2 that multiply, 3-loops.mlir:24", grid.x = "j.outer of stage C, 3-loops.mlir:15", grid.y = "i.outer of stage C, 3-loops.mlir:14"}}
    return
  }
}

