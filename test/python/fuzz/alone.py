"""Each pass alone on changed IR of any stage: an error that says something, or a result; no crash, and no hang.

A seed says everything: which input, what is changed, which passes. Seeds run in child processes, which say what they
are about to do, so that the parent knows what ended one.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import tilewright
from fuzz.ir_mutations import mutated_bytes, mutated_text

__all__ = ["Crash", "Input", "case_of", "inputs", "opt", "passes", "run_seeds"]

ROOT = Path(__file__).parent.parent.parent.parent
CPU_SECONDS, MEMORY = 20, 6 << 30
OTHERS = 6  # passes that an input is given beside those that its test is about


@dataclass(frozen=True, slots=True)
class Input:
    """One module of a lit test or a golden file, and the pipelines that its test runs."""

    name: str
    text: str
    pipelines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Crash:
    """What ended a process."""

    seed: int
    name: str
    pipeline: str
    signal: str


@cache
def passes() -> tuple[str, ...]:
    """The pipeline of each pass alone, and of each edge."""
    found = []
    nest = {"ModuleOp": "{}", "GPUModuleOp": "gpu.module({})", "GPUFuncOp": "gpu.module(gpu.func({}))",
            "FuncOp": "func.func({})", "LLVMFuncOp": "gpu.module(llvm.func({}))", None: "{}"}  # fmt: skip
    for file in sorted(ROOT.glob("passes/*/Passes.td")):
        for name, anchor in re.findall(
            r'^def \w+ : Pass<"([\w-]+)"(?:, "(?:[\w:]*::)?(\w+)")?>', file.read_text(), re.M
        ):
            found.append(f"builtin.module({nest[anchor or None].format(name)})")
    edges = ["te linalg cuda", "linalg loops cuda", "loops gpu cuda", "gpu nvvm cuda", "gpu host cuda", "te gpu sim",
             "linalg host cpu", "te nvvm cuda"]  # fmt: skip
    for edge in edges:
        begin, end, target = edge.split()
        found.append(f"builtin.module(tilewright-pipeline{{from={begin} to={end} target={target} arch=sm_90a}})")
    return (*found, "builtin.module(gpu-to-sim{checks=true})")


def _of_test(text: str) -> tuple[str, ...]:
    """The pipelines that a lit test's RUN lines name."""
    known = {name: pipeline for pipeline in passes() for name in re.findall(r"\w+-[\w-]+", pipeline)}
    found = []
    for line in re.findall(r"RUN:(.*)", text):
        found += [known[name] for each in re.findall(r"[\w-]+", line) if (name := each.lstrip("-")) in known]
    return tuple(dict.fromkeys(found))


@cache
def inputs() -> tuple[Input, ...]:
    """All modules of the lit tests and of the golden files."""
    found = []
    for file in sorted((*ROOT.glob("test/lit/**/*.mlir"), *ROOT.glob("test/golden/*.mlir"))):
        if "Output" in file.parts:
            continue
        text = file.read_text()
        pipelines = _of_test(text)
        for number, part in enumerate(re.split(r"^// -----.*$", text, flags=re.M)):
            if "{" in part or '"' in part:
                found.append(Input(f"{file.relative_to(ROOT / 'test')}#{number}", part, pipelines))
    return tuple(found)


def _context():
    """A context that has loaded nothing: a pass must say which dialects it makes ops of."""
    from mlir.ir import Context, DialectRegistry

    from tilewright.native.capsule import capsule_pointer
    from tilewright.native.library import library

    registry = DialectRegistry()
    library().tilewrightRegisterDialects(capsule_pointer(registry._CAPIPtr))
    made = Context(load_on_create_dialects=[])  # pyright: ignore[reportCallIssue]
    made.append_dialect_registry(registry)
    made.enable_multithreading(False)
    return made


@cache
def _forms(index: int) -> tuple[str, bytes]:
    """An input in its generic form and as bytecode; one that is no valid IR as it stands."""
    import io

    from mlir import ir

    one = inputs()[index]
    try:
        with _context():
            module = ir.Module.parse(one.text)
            text = module.operation.get_asm(print_generic_op_form=True)
            data = io.BytesIO()
            module.operation.write_bytecode(data)
            return text, data.getvalue()
    except Exception:
        return one.text, one.text.encode()


def case_of(seed: int) -> tuple[str, bytes, list[str]]:
    """What a seed stands for: the input's name, the changed IR, and the pipelines to give it."""
    random = Random(seed)
    index = random.randrange(len(inputs()))
    one = inputs()[index]
    text, data = _forms(index)
    if random.random() < 0.15:
        changed = mutated_bytes(data, random)
    else:
        changed = mutated_text(text, random).encode()
    own = list(one.pipelines)
    return one.name, changed, [*own, *(each for each in random.sample(passes(), OTHERS) if each not in own)]


def _run(content: bytes, pipeline: str | None) -> str:
    """What becomes of it: "result", "error", or "silent" for an error that says nothing; of no pipeline, "parsed", or
    "given up" where the reader would end the process."""
    from mlir import ir
    from mlir.passmanager import PassManager

    from tilewright.errors import CompileError
    from tilewright.ir.diagnostics import MLIRError
    from tilewright.ir.reading import check_readable

    if pipeline is None:
        try:
            check_readable(content, "the case")  # as all that takes IR from outside does
        except CompileError:
            return "given up"
    with _context() as made:
        said = []

        def take(diagnostic: ir.Diagnostic) -> bool:
            said.append(diagnostic.severity)  # its text may be no text at all, of a name that was changed
            return True

        made.attach_diagnostic_handler(take)
        made.emit_error_diagnostics = True
        try:
            module = ir.Module.parse(content)
        except MLIRError:
            return "not parsed"
        except ValueError:
            return "not parsed"
        if pipeline is None:
            return "parsed"
        try:
            PassManager.parse(pipeline).run(module.operation)
        except MLIRError:
            return "error" if said else "silent"
        return "result"


def _child(seeds: Sequence[int], at: tuple[int, int], out: int) -> None:
    """Runs the cases of seeds from one place on; says what it does on a pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.dup2(null, 1)

    def say(*what: object) -> None:
        os.write(out, ("\t".join(map(str, what)) + "\n").encode())

    def run(seed: int, number: int, name: str, content: bytes, pipeline: str | None) -> str:
        say("try", seed, number, name, pipeline or "")
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        try:
            outcome = _run(content, pipeline)
        except MemoryError:
            outcome = "no memory"
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        say("got", outcome)
        return outcome

    for seed in seeds:
        if seed < at[0]:
            continue
        first = at[1] if seed == at[0] else 0
        name, content, pipelines = case_of(seed)
        if first == 0 and run(seed, 0, name, content, None) != "parsed":
            continue
        for number, pipeline in enumerate(pipelines, 1):
            if number >= first:
                run(seed, number, name, content, pipeline)


def run_seeds(seeds: Sequence[int], counts: Counter[str]) -> Iterator[Crash]:
    """Runs the cases of seeds, in order, counting what became of them; yields what ended a process."""
    at = (seeds[0], 0) if seeds else (0, 0)
    while True:
        reading, writing = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if not child:
            os.close(reading)
            code = 1
            try:
                _child(seeds, at, writing)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        tried: list[str] = []
        with os.fdopen(reading, errors="replace") as lines:
            for line in lines:
                kind, *rest = line.rstrip("\n").split("\t")
                if kind == "try":
                    tried = rest
                else:
                    counts[rest[0]] += 1
                    if rest[0] in ("silent", "no memory"):
                        yield Crash(int(tried[0]), tried[2], tried[3], rest[0])
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return
        ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status >> 8}"
        counts["crash" if ended != "SIGVTALRM" else "hang"] += 1
        if not tried:
            raise RuntimeError(f"a child ended with {ended} before its first case")
        yield Crash(int(tried[0]), tried[2], tried[3], ended)
        number = int(tried[1])
        # IR that cannot be read is given to no pass.
        at = (int(tried[0]) + 1, 0) if number == 0 else (int(tried[0]), number + 1)
        if at[0] > seeds[-1]:
            return


def opt(content: bytes, pipeline: str, seconds: float = 60.0) -> tuple[int, str]:
    """The exit status of tilewright-opt on the case, negative for a signal, and what it says."""
    tool = Path(tilewright.__file__).parent / "_lib" / "tilewright-opt"
    with tempfile.NamedTemporaryFile(suffix=".mlir") as file:
        file.write(content)
        file.flush()
        command = [str(tool), file.name, "-o", os.devnull]
        if pipeline:
            command.append(f"--pass-pipeline={pipeline}")
        try:
            done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return -int(signal.SIGVTALRM), "a hang"
    return done.returncode, done.stderr.decode(errors="replace")


def where(said: str) -> str:
    """The place of a crash: the assertion and the first functions of this project's, or of MLIR's."""
    assertion = re.search(r"Assertion `(.*?)' failed", said) or re.search(
        r"LLVM ERROR: (.*)|UNREACHABLE executed at (.*)", said
    )
    frames = re.findall(r"#\d+ 0x\w+ (.*?)(?: \(/|$)", said, re.M)
    noise = re.compile(
        r"llvm::sys|SignalHandler|pthread_kill|^raise|^abort$|^assert|^gsignal|^__|report_|unreachable|^_nl_load_domain"
    )
    names = [name for frame in frames if not noise.search(name := frame.split("(")[0].split(" ./")[0].strip())]
    ours = [name for name in names if "tilewright" in name][:2]
    return f"{assertion[0] if assertion else ''} @ {' < '.join(names[:3])} | {' < '.join(ours)}"
