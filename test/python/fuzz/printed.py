"""Printed kernels of many programs at once: g++ runs them, NVRTC compiles them, and the simulator says what is right."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from fuzz.choices import Choices, Seeded
from fuzz.expressions import arguments, is_same, random_expressions, random_schedule
from source.nvrtc import compile_cuda
from source.on_cpu import compile_on_cpu, run_printed

HEADER = re.compile(r"#include <\w+\.h>\n")


@dataclass
class Printed:
    """A program as it is built for the simulator, and what it computes there."""

    name: str
    text: str
    function: tw.Function
    given: list[NDArray[Any]]
    expected: list[NDArray[Any]]


def make(seed: int) -> Printed | str:
    """The program of a seed, or why it is refused."""
    choices = Choices(Seeded(seed))
    program, made = random_expressions(choices, seed)
    tensors, given = arguments(program, made)
    name = f"seed{seed}"
    try:
        function = tw.build(random_schedule(choices, made), tensors, "sim", name)
    except tw.TilewrightError as error:
        return str(error)
    expected = [array.copy() for array in given]
    function(*expected)
    return Printed(name, program.text, function, given, expected)


def compare(programs: Sequence[Printed], folder: Path) -> dict[str, str]:
    """By the program's name what is wrong with its printed kernels on this machine."""
    wrong: dict[str, str] = {}
    try:
        runs = compile_on_cpu({p.name: p.function for p in programs}, folder)
    except AssertionError as error:
        if len(programs) == 1:
            return {programs[0].name: str(error)}
        for program in programs:
            wrong.update(compare([program], folder_in(folder)))
        return wrong
    for program in programs:
        got = [array.copy() for array in program.given]
        run_printed(program.function, runs[program.name], got)
        if not is_same(got[-1], program.expected[-1]):
            at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(got[-1] != program.expected[-1])))
            wrong[program.name] = f"at {at} expected {program.expected[-1][at]}, got {got[-1][at]}"
    return wrong


def folder_in(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def compile_for_gpu(programs: Sequence[Printed]) -> dict[str, str]:
    """By the program's name why NVRTC refuses its kernels. All together are one program: each in a namespace."""
    headers: dict[str, None] = {}
    parts = []
    for program in programs:
        source = program.function.source("cuda")
        headers.update(dict.fromkeys(HEADER.findall(source)))
        parts.append(f"namespace of_{program.name} {{\n{HEADER.sub('', source)}\n}}\n")
    try:
        compile_cuda("".join([*headers, *parts]), "compute_90")
    except AssertionError as error:
        if len(programs) == 1:
            return {programs[0].name: str(error)}
        return {name: why for program in programs for name, why in compile_for_gpu([program]).items()}
    return {}
