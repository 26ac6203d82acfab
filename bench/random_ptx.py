"""Random PTX kernels, of the instructions that `emit-ptx` leaves to ptxas: what fuzz_ptxas.py compares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

ARCH = "sm_90a"
THREADS = 32
REGISTERS = {"p": "pred", "h": "b16", "s": "b16", "w": "b32", "r": "b32", "f": "b32", "d": "b64"}
"""Predicates, 16-bit floats, 16-bit integers, two such floats, integers of 32 bits, float32 and integers of 64 bits."""
BYTES = {"p": 4, "h": 2, "s": 2, "w": 4, "r": 4, "f": 4, "d": 8}

# An instruction's text, with its result's kind, and those of its operands. H is f16 or bf16, throughout a kernel.
INTEGERS = [
    ("add.s32 {}, {}, {};", "r", "rr"), ("sub.s32 {}, {}, {};", "r", "rr"), ("mul.lo.s32 {}, {}, {};", "r", "rr"),
    ("mad.lo.s32 {}, {}, {}, {};", "r", "rrr"), ("and.b32 {}, {}, {};", "r", "rr"), ("or.b32 {}, {}, {};", "r", "rr"),
    ("xor.b32 {}, {}, {};", "r", "rr"), ("{{ .reg .b32 a; not.b32 a, {1}; add.s32 {0}, a, 1; }}", "r", "r"),
    ("min.s32 {}, {}, {};", "r", "rr"), ("max.s32 {}, {}, {};", "r", "rr"), ("min.u32 {}, {}, {};", "r", "rr"),
    ("max.u32 {}, {}, {};", "r", "rr"), ("shl.b32 {}, {}, 3;", "r", "r"), ("shr.u32 {}, {}, 1;", "r", "r"),
    ("shr.s32 {}, {}, 2;", "r", "r"), ("mul.hi.u32 {}, {}, -1431655765;", "r", "r"), ("mul.hi.s32 {}, {}, 1717986919;", "r", "r"),
    ("mul.lo.s32 {}, {}, 6;", "r", "r"), ("add.s32 {}, {}, 1;", "r", "r"), ("add.s32 {}, {}, -1;", "r", "r"),
    ("and.b32 {}, {}, 7;", "r", "r"), ("mad.lo.s32 {}, {}, -24, {};", "r", "rr"), ("abs.s32 {}, {};", "r", "r"),
]  # fmt: skip
PREDICATES = [
    *((f"setp.{test}.s32 {{}}, {{}}, {{}};", "p", "rr") for test in ("eq", "ne", "lt", "le", "gt", "ge")),
    *((f"setp.{test}.s32 {{}}, {{}}, {number};", "p", "r") for test in ("eq", "ne", "lt", "gt") for number in (0, 1, 5)),
    ("setp.gt.u32 {}, {}, 2;", "p", "r"), ("setp.lt.u32 {}, {}, 22;", "p", "r"), ("setp.ge.u32 {}, {}, {};", "p", "rr"),
    ("and.pred {}, {}, {};", "p", "pp"), ("or.pred {}, {}, {};", "p", "pp"), ("xor.pred {}, {}, {};", "p", "pp"),
    ("not.pred {}, {};", "p", "p"), ("selp.b32 {}, 1, 0, {};", "r", "p"), ("selp.b32 {}, 0, 1, {};", "r", "p"),
    ("selp.b32 {}, -1, 0, {};", "r", "p"), ("selp.b32 {}, 2, 0, {};", "r", "p"), ("selp.b32 {}, -24, 0, {};", "r", "p"),
    ("selp.b32 {}, {}, {}, {};", "r", "rrp"), ("selp.b32 {}, {}, 0, {};", "r", "rp"),
]  # fmt: skip
LOGIC = [
    *((f"{op} {{}}, {{}}, {{}};", "r", "rr") for op in ("or.b32", "and.b32", "xor.b32", "add.s32")),
    *2 * [("setp.ne.s32 {}, {}, 0;", "p", "r"), ("setp.eq.s32 {}, {}, 0;", "p", "r"), ("or.pred {}, {}, {};", "p", "pp")],
    *2 * [("selp.b32 {}, 1, 0, {};", "r", "p")],
]  # fmt: skip
# Of 16-bit floats, as emit-ptx leaves it.
SELECT = (
    "{{ .reg .b16 z; .reg .b32 m, a, b; selp.b32 m, -1, 0, {3}; xor.b16 z, {1}, {2}; cvt.u32.u16 a, z; "
    "cvt.u32.u16 b, {2}; and.b32 a, a, m; xor.b32 a, a, b; cvt.u16.u32 {0}, a; }}"
)
HALVES = [
    *((f"{op}.H {{}}, {{}}, {{}};", "h", "hh") for op in ("add.rn", "sub.rn", "mul.rn", "max", "min", "max.NaN", "min.NaN")),
    ("fma.rn.H {}, {}, {}, {};", "h", "hhh"), ("neg.H {}, {};", "h", "h"), ("abs.H {}, {};", "h", "h"),
    *((f"setp.{test}.H {{}}, {{}}, {{}};", "p", "hh") for test in ("gt", "lt", "eq", "neu", "ge")),
    *2 * [("{{ mov.b16 {0}, {1}; @{3} bra S; mov.b16 {0}, {2}; S: }}", "h", "hhp"), (SELECT, "h", "hhp")],
    ("cvt.f32.H {}, {};", "f", "h"), ("cvt.rn.H.f32 {}, {};", "h", "f"),
]  # fmt: skip
SHORTS = [
    *((f"{op} {{}}, {{}}, {{}};", "s", "ss") for op in ("add.s16", "sub.s16", "mul.lo.s16", "and.b16", "or.b16", "xor.b16")),
    ("neg.s16 {}, {};", "s", "s"), ("not.b16 {}, {};", "s", "s"), ("shl.b16 {}, {}, 3;", "s", "s"),
    ("shr.s16 {}, {}, 1;", "s", "s"), ("shr.u16 {}, {}, 2;", "s", "s"), ("selp.b16 {}, {}, {}, {};", "s", "ssp"),
    *((f"setp.{test}16 {{}}, {{}}, {{}};", "p", "ss") for test in ("lt.s", "gt.u", "eq.s", "ne.s")),
    ("cvt.u32.u16 {}, {};", "r", "s"), ("cvt.s32.s16 {}, {};", "r", "s"), ("cvt.u16.u32 {}, {};", "s", "r"),
    ("mad.lo.s16 {}, {}, {}, {};", "s", "sss"), ("cvt.s32.s8 {}, {};", "r", "s"), ("and.b16 {}, {}, 255;", "s", "s"),
    *((f"{op} {{}}, {{}}, {{}};", "r", "rr") for op in ("min.s32", "max.s32", "min.u32", "max.u32")),
]  # fmt: skip
PAIRS = [
    *((f"{op}.Hx2 {{}}, {{}}, {{}};", "w", "ww") for op in ("add.rn", "sub.rn", "mul.rn", "max", "min", "max.NaN", "min.NaN")),
    ("fma.rn.Hx2 {}, {}, {}, {};", "w", "www"), *3 * [("mov.b32 {}, {{{}, {}}};", "w", "hh")],
    *2 * [("{{ .reg .b16 z; mov.b32 {{{}, z}}, {}; }}", "h", "w"), ("{{ .reg .b16 z; mov.b32 {{z, {}}}, {}; }}", "h", "w")],
]  # fmt: skip
FLOATS = [
    *((f"{op}.f32 {{}}, {{}}, {{}};", "f", "ff") for op in ("add.rn", "sub.rn", "mul.rn", "max", "min", "max.NaN", "min.NaN")),
    ("fma.rn.f32 {}, {}, {}, {};", "f", "fff"), ("neg.f32 {}, {};", "f", "f"), ("abs.f32 {}, {};", "f", "f"),
    *((f"setp.{test}.f32 {{}}, {{}}, {{}};", "p", "ff") for test in ("gt", "lt", "eq", "neu", "ge")),
    ("selp.f32 {}, {}, {}, {};", "f", "ffp"), ("cvt.rn.f32.s32 {}, {};", "f", "r"), ("cvt.rzi.s32.f32 {}, {};", "r", "f"),
]  # fmt: skip
LONGS = [
    ("add.s64 {}, {}, {};", "d", "dd"), ("sub.s64 {}, {}, {};", "d", "dd"), ("mul.lo.s64 {}, {}, {};", "d", "dd"),
    ("cvt.u64.u32 {}, {};", "d", "r"), ("cvt.s64.s32 {}, {};", "d", "r"), ("cvt.u32.u64 {}, {};", "r", "d"),
    ("shl.b64 {}, {}, 2;", "d", "d"), ("shr.s64 {}, {}, 1;", "d", "d"), ("mul.wide.u32 {}, {}, 4;", "d", "r"),
    ("mul.wide.s32 {}, {}, 4;", "d", "r"), ("mul.wide.s32 {}, {}, {};", "d", "rr"), ("and.b64 {}, {}, {};", "d", "dd"),
    ("or.b64 {}, {}, {};", "d", "dd"), ("selp.b64 {}, {}, {}, {};", "d", "ddp"), ("min.s64 {}, {}, {};", "d", "dd"),
    ("setp.lt.s64 {}, {}, {};", "p", "dd"), ("setp.eq.s64 {}, {}, 0;", "p", "d"), ("setp.gt.u64 {}, {}, {};", "p", "dd"),
]  # fmt: skip
PROFILES = {
    "predicates": (INTEGERS + 3 * PREDICATES, "rp"),
    "guards": ([each for each in PREDICATES if "selp.b32 {}, {}" not in each[0]] + 3 * LOGIC, "rp"),
    "halves": (HALVES, "hp"),
    "pairs": (HALVES + 2 * PAIRS, "hwp"),
    "floats": (FLOATS + PREDICATES, "frp"),
    "longs": (LONGS + INTEGERS + PREDICATES, "drp"),
    "shorts": (SHORTS + PREDICATES[:6], "srp"),
    "extrema": (INTEGERS[:10] + 3 * INTEGERS[10:14] + PREDICATES[:6], "rp"),
    "selected": (PAIRS + 3 * [("selp.b16 {}, {}, {}, {};", "h", "hhp")] + PREDICATES[:2], "hwrp"),
    "all": (INTEGERS + PREDICATES + HALVES + SHORTS + PAIRS + FLOATS + LONGS, "hswfdrp"),
}
AVOIDED = [("mul.hi", "sub.s64"), ("neg.H", "mov.b32")]
"""What emit-ptx does not leave together, for ptxas gets it wrong: the first is left out where the second is."""
FOLDED = ("xor", "sub.s")
"""Of two equal operands LLVM makes 0; ptxas then takes some minima of it wrongly."""


@dataclass(frozen=True)
class Step:
    """One instruction: its text, the register that it writes, and those that it reads. The empty text loads. One that
    writes none is a branch to the end of the loop's body."""

    text: str
    result: str
    operands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """Steps before a loop, in it and after it; what the loop carries (start, next); and the registers stored."""

    half: str
    before: tuple[Step, ...]
    inside: tuple[Step, ...]
    after: tuple[Step, ...]
    carried: tuple[tuple[str, str, str], ...]
    trips: int
    stored: tuple[str, ...]

    def ptx(self) -> str:
        slot = {register: 8 * i for i, register in enumerate(self.loads())}
        lines = [f".reg .{kind} %{name}<600>;" for name, kind in REGISTERS.items()]
        lines += ["ld.param.u64 %rd1, [out];", "cvta.to.global.u64 %rd1, %rd1;", "ld.param.u64 %rd2, [in];"]
        lines += ["cvta.to.global.u64 %rd2, %rd2;", "mov.u32 %t1, %tid.x;"]
        lines += [f"mul.wide.u32 %rd3, %t1, {8 * max(len(slot), 1)};", "add.s64 %rd2, %rd2, %rd3;"]
        lines += [f"mul.wide.u32 %rd3, %t1, {8 * len(self.stored)};", "add.s64 %rd1, %rd1, %rd3;"]

        def emit(step: Step) -> None:
            kind = step.result[1:2]
            if step.text:
                lines.append(step.text.replace(".H", f".{self.half}").format(step.result, *step.operands))
            elif kind == "p":
                lines.append(f"ld.global.nc.b32 %t2, [%rd2+{slot[step.result]}];")
                lines.append(f"setp.lt.s32 {step.result}, %t2, 3;")
            else:
                lines.append(f"ld.global.nc.b{8 * BYTES[kind]} {step.result}, [%rd2+{slot[step.result]}];")

        for step in self.before:
            emit(step)
        if self.inside:
            lines += [f"mov.{move(start)} {carry}, {start};" for carry, start, _ in self.carried]
            lines += ["mov.b32 %t3, 0;", "LOOP:"]
            for step in self.inside:
                emit(step)
            lines += [f"mov.{move(last)} {carry}, {last};" for carry, _, last in self.carried]
            lines += ["NEXT:", "add.s32 %t3, %t3, 1;", f"setp.lt.s32 %q1, %t3, {self.trips};", "@%q1 bra LOOP;"]
        for step in self.after:
            emit(step)
        for i, register in enumerate(self.stored):
            if register[1] == "p":
                lines += [f"selp.b32 %t2, 1, 0, {register};", f"st.global.b32 [%rd1+{8 * i}], %t2;"]
            else:
                lines.append(f"st.global.b{8 * BYTES[register[1]]} [%rd1+{8 * i}], {register};")
        body = "\n    ".join(lines)
        return f""".version 8.0
.target {ARCH}
.address_size 64
.visible .entry fuzzed(.param .u64 out, .param .u64 in)
.reqntid {THREADS}, 1, 1
{{
    .reg .b64 %rd<8>;
    .reg .b32 %t<8>;
    .reg .pred %q<4>;
    {body}
    ret;
}}
"""

    def loads(self) -> list[str]:
        return [step.result for part in (self.before, self.inside, self.after) for step in part if not step.text]

    def without_unused(self) -> Kernel:
        """What is stored, and what that needs."""
        needed = set(self.stored)
        after, needed = live(self.after, needed)
        carried = tuple(c for c in self.carried if c[0] in needed)
        while self.inside:  # what a carried number needs may be carried, too
            reads = {last for _, _, last in carried} | needed
            inside, all_needed = live(self.inside, reads)
            more = tuple(c for c in self.carried if c[0] in all_needed or c in carried)
            if more == carried:
                break
            carried = more
        else:
            inside, all_needed = (), needed
        if self.inside and not carried:
            inside, all_needed = (), needed
        starts = {start for _, start, _ in carried}
        before, _ = live(self.before, (all_needed | starts) - {c[0] for c in carried})
        return replace(self, before=before, inside=inside, after=after, carried=carried)


def move(register: str) -> str:
    kind = register[1]
    return "pred" if kind == "p" else f"b{8 * BYTES[kind]}"


def live(steps: tuple[Step, ...], needed: set[str]) -> tuple[tuple[Step, ...], set[str]]:
    kept: list[Step] = []
    needed = set(needed)
    for step in reversed(steps):
        if step.result in needed or not step.result:
            kept.append(step)
            needed -= {step.result}
            needed |= set(step.operands)
    return tuple(reversed(kept)), needed


def make(seed: int) -> Kernel:
    """The kernel of a seed."""
    random = np.random.default_rng(seed)
    profile = list(PROFILES)[random.integers(len(PROFILES))]
    instructions, kinds = PROFILES[profile]
    if random.random() < 0.5:  # a few instructions, often
        some = random.choice(len(instructions), size=min(len(instructions), int(random.integers(4, 12))), replace=False)
        instructions = [instructions[i] for i in some]
    for avoided, beside in AVOIDED:
        if any(text.startswith(beside) for text, _, _ in instructions):
            instructions = [each for each in instructions if not each[0].startswith(avoided)]
    half = str(random.choice(["f16", "bf16"]))
    count = dict.fromkeys(REGISTERS, 0)
    known: dict[str, list[str]] = {kind: [] for kind in REGISTERS}

    def new(kind: str) -> str:
        count[kind] += 1
        return f"%{kind}{count[kind]}"

    def some_steps(number: int) -> list[Step]:
        steps: list[Step] = []
        while len(steps) < number:
            text, result, operands = instructions[random.integers(len(instructions))]
            if not all(known[kind] for kind in operands):
                text, operands = "", ""
                result = str(random.choice(list(kinds)))
            recent = lambda kind: known[kind][-int(min(len(known[kind]), random.integers(1, 12))) :]  # noqa: E731
            read = tuple(str(random.choice(recent(kind))) for kind in operands)
            if text.startswith(FOLDED) and len(set(read)) == 1:
                continue
            step = Step(text, new(result), read)
            known[result].append(step.result)
            steps.append(step)
        return steps

    before: list[Step] = []
    for kind in kinds:
        for _ in range(random.integers(2, 7)):
            before.append(Step("", new(kind)))
            known[kind].append(before[-1].result)
    before += some_steps(int(random.integers(0, 16)))
    if random.random() < 0.4:
        return straight(half, before, some_steps(int(random.integers(4, 30))))
    outside = {kind: list(registers) for kind, registers in known.items()}
    carried: list[tuple[str, str]] = []
    for kind in kinds:
        for _ in range(random.integers(0, 3)):
            carried.append((new(kind), str(random.choice(outside[kind]))))
            known[kind].append(carried[-1][0])
    inside = some_steps(int(random.integers(3, 20)))
    made = {kind: [step.result for step in inside if step.result[1] == kind] for kind in kinds}
    changed = [(c, start, str(random.choice(made[c[1]][-4:]))) for c, start in carried if made[c[1]]]
    kept = {carry for carry, _, _ in changed}
    # One that does not change is no carried number: its start stands for it.
    names = {carry: start for carry, start in carried if carry not in kept}
    inside = [replace(step, operands=tuple(names.get(each, each) for each in step.operands)) for step in inside]
    for _ in range(random.integers(0, 3)):
        place = int(random.integers(0, len(inside) + 1))
        conditions = [*outside["p"], *2 * [step.result for step in inside[:place] if step.result[1:2] == "p"]]
        if conditions:
            inside.insert(place, Step("@{1} bra NEXT;", "", (str(random.choice(conditions)),)))
    known = {kind: [*outside[kind], *(c for c in kept if c[1] == kind)] for kind in known}
    after = some_steps(int(random.integers(0, 10)))
    stored = [*(step.result for step in before if step.text), *kept, *(step.result for step in after)]
    if not changed:
        return straight(half, before, [*(step for step in inside if step.result), *after])
    trips = int(random.integers(2, 9))
    return Kernel(half, tuple(before), tuple(inside), tuple(after), tuple(changed), trips, tuple(stored))


def straight(half: str, before: list[Step], after: list[Step]) -> Kernel:
    stored = [step.result for step in [*before, *after] if step.text]
    return Kernel(half, tuple(before), (), tuple(after), (), 0, tuple(stored))


def numbers(kernel: Kernel, seed: int) -> np.ndarray:
    """What each thread loads, eight bytes a number: mostly small numbers."""
    random = np.random.default_rng([seed, 1])
    loads = kernel.loads()
    given = np.zeros((THREADS, max(len(loads), 1), 8), "uint8")
    for i, register in enumerate(loads):
        small = random.integers(-6, 7, THREADS)
        kind = register[1]
        if kind in "hw":
            small = random.integers(-6, 7, 2 * THREADS) if kind == "w" else small
            bits = (
                small.astype("float16").view("uint16")
                if kernel.half == "f16"
                else small.astype("float32").view("uint32") >> 16
            )
            data = bits.astype("uint16").view("uint8").reshape(THREADS, -1)
        elif kind == "f":
            data = small.astype("float32").view("uint8").reshape(THREADS, 4)
        else:
            wide = random.random() < 0.2
            whole = (
                random.integers(-(2**31), 2**31, THREADS)
                if wide
                else small + random.integers(0, 2) * 8 * np.arange(THREADS)
            )
            data = whole.astype("int64" if kind == "d" else "int32").view("uint8").reshape(THREADS, -1)
        given[:, i, : data.shape[1]] = data
    return given
