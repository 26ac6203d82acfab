#ifndef TILEWRIGHT_SCHEDULE_BASE
#define TILEWRIGHT_SCHEDULE_BASE

include "dialects/Builders.td"
include "dialects/Schedule/ScheduleAttrs.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

defvar NamesResults = DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

/// What a primitive does to axes.
class Schedule_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::tilewright::schedule"; }
def Schedule_RootAxes : Schedule_Trait<"RootAxes">;
def Schedule_AxisTransform : Schedule_Trait<"AxisTransform">;
def Schedule_AxisAnnotation : Schedule_Trait<"AxisAnnotation">;
def Schedule_IndependentIterations : Schedule_Trait<"IndependentIterations">;
def Schedule_ReplacesAxes : Schedule_Trait<"ReplacesAxes">;
/// A primitive that only a GPU can follow.
def Schedule_GPUOnly : Schedule_Trait<"GPUOnly">;

class Schedule_Op<string mnemonic, list<Trait> traits = []> : Op<Schedule_Dialect, mnemonic, traits>, OneBuilder;
/// A primitive stands inside `schedule.of`.
class Schedule_Primitive<string mnemonic, list<Trait> traits = []>
    : Schedule_Op<mnemonic, traits # [HasParent<"OfOp">]> { let hasVerifier = 1; }

#endif // TILEWRIGHT_SCHEDULE_BASE
