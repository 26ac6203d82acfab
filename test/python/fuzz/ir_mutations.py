"""Structured changes of IR in its generic form, most of which still parse: what a pass meets when IR is edited by hand.

The generic form has one op on a line, its regions indented below it, so ops, operands, attributes and types are found
without a parser.
"""

from __future__ import annotations

import re
from random import Random

__all__ = ["mutated_bytes", "mutated_text"]

_NUMBERS = (
    0, 1, -1, 2, 3, 7, 16, 31, 32, 33, 100, 1024, 1025, 65536, -128, 2**31 - 1, 2**31, 2**32, -(2**31), 2**40, 2**62,
    2**63 - 1, -(2**63),
)  # fmt: skip
_ELEMENTS = ("f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64", "index", "f8E4M3FN", "tf32", "i128")
_SPACES = ("#gpu.address_space<workgroup>", "#gpu.address_space<private>", "#gpu.address_space<global>", "3 : i32", "7")
_VALUES = (
    "unit", '"x"', '""', "3 : i64", "-1 : i64", "0 : index", "1 : i32", "true", "[]", '["x", "y"]', "[1, 2]", "{}",
    "{a = 1}", "1.0 : f32", "array<i64>", "array<i64: 0, 0>", "array<i32: 1, 2, 3>", "@nobody", "f32", "()->()",
    "affine_map<(d0) -> (d0)>", "affine_map<(d0, d1)[s0] -> (d1 floordiv 0, s0)>", "dense<1> : tensor<4xi32>",
    "#gpu.address_space<workgroup>", "#schedule.thread<threadIdx.x>", "#schedule.thread<blockIdx.x>", "loc(unknown)",
)  # fmt: skip

_OP = re.compile(r'^(\s*)(?:(%[\w:, %#]+?) = )?"([\w.]+)"\(([^()]*)\)')
_TYPES = re.compile(r" : \((.*)\) -> (\(.*\)|[^()]+)$")
_SHAPED = re.compile(r"(?:memref|tensor|vector)<[^<>]*(?:<[^<>]*>)?[^<>]*>")
_INTEGER = re.compile(r"(?<![\w%#.^@x])-?\d+(?= : i|, |\]|>|\})")


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets and no string."""
    parts, depth, quoted, begin = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or letter == ">" and text[at - 1 : at] != "-":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    rest = text[begin:].strip()
    return [*parts, rest] if rest else parts


def _end(lines: list[str], at: int) -> int:
    """Behind the op that begins on a line."""
    if not lines[at].rstrip().endswith("({"):
        return at + 1
    indent = len(lines[at]) - len(lines[at].lstrip())
    for end in range(at + 1, len(lines)):
        if lines[end].startswith(" " * indent + "})") and not lines[end].rstrip().endswith("({"):
            return end + 1
    return len(lines)


def _ops(lines: list[str]) -> list[int]:
    return [at for at, line in enumerate(lines) if _OP.match(line) and "builtin.module" not in line]


def _value_types(lines: list[str]) -> dict[str, str]:
    """The types of values, as far as one line says them."""
    found: dict[str, str] = {}
    for at in _ops(lines):
        op, types = _OP.match(lines[at]), _TYPES.search(lines[_end(lines, at) - 1])
        if op is None or types is None:
            continue
        operands, given = [each.strip() for each in op[4].split(",") if each.strip()], _split(types[1])
        if len(operands) == len(given):
            found.update(zip(operands, given))
        if op[2] and ":" not in op[2] and "," not in op[2]:
            found[op[2].strip()] = types[2].strip()
    return found


def _drop(lines: list[str], random: Random) -> None:
    at = random.choice(_ops(lines))
    op, types = _OP.match(lines[at]), _value_types(lines)
    assert op is not None
    name = (op[2] or "").strip()
    end = _end(lines, at)
    if name and (others := [other for other, kind in types.items() if kind == types.get(name) and other != name]):
        other = random.choice(others)
        for i in range(end, len(lines)):
            lines[i] = re.sub(re.escape(name) + r"(?![\w#:])", other, lines[i])
    del lines[at:end]


def _duplicate(lines: list[str], random: Random) -> None:
    at = random.choice(_ops(lines))
    end = _end(lines, at)
    copy, fresh = lines[at:end], f"x{random.randrange(10**6)}_"
    made = set(re.findall(r"^\s*(%[\w]+)(?:, %\w+|:\d+)* = ", "\n".join(copy), re.M))
    made |= set(re.findall(r"\^bb\d+\((%\w+)", "\n".join(copy)))
    for i, line in enumerate(copy):
        copy[i] = re.sub(r"%\w+", lambda name: f"%{fresh}{name[0][1:]}" if name[0] in made else name[0], line)
    lines[end:end] = copy


def _swap_ops(lines: list[str], random: Random) -> None:
    at = random.choice(_ops(lines))
    middle = _end(lines, at)
    if middle < len(lines) and _OP.match(lines[middle]):
        end = _end(lines, middle)
        lines[at:end] = [*lines[middle:end], *lines[at:middle]]


def _move(lines: list[str], random: Random) -> None:
    at = random.choice(_ops(lines))
    end = _end(lines, at)
    moved = lines[at:end]
    del lines[at:end]
    ops = _ops(lines)
    if ops:
        to = random.choice(ops)
        lines[to:to] = moved
    else:
        lines[at:at] = moved


def _operands(lines: list[str], random: Random) -> None:
    """Swaps two operands with their types, or puts another value of the type in an operand's place."""
    ops = [at for at in _ops(lines) if (op := _OP.match(lines[at])) and op[4].strip()]
    if not ops:
        return
    at = random.choice(ops)
    last = _end(lines, at) - 1
    op, types = _OP.match(lines[at]), _TYPES.search(lines[last])
    assert op is not None
    operands = [each.strip() for each in op[4].split(",")]
    if types is None or len(kinds := _split(types[1])) != len(operands):
        return
    kind = random.randrange(4)
    i, j = random.randrange(len(operands)), random.randrange(len(operands))
    if kind == 0:
        operands[i], operands[j] = operands[j], operands[i]
        kinds[i], kinds[j] = kinds[j], kinds[i]
    elif kind == 1:
        others = [value for value, of in _value_types(lines).items() if of == kinds[i]]
        operands[i] = random.choice(others or operands)
    elif kind == 2:
        value, of = random.choice([*_value_types(lines).items()] or [(operands[i], kinds[i])])
        operands[i], kinds[i] = value, of
    elif random.random() < 0.5:
        del operands[i], kinds[i]
    else:
        operands.insert(i, operands[j])
        kinds.insert(i, kinds[j])
    lines[at] = lines[at][: op.start(4)] + ", ".join(operands) + lines[at][op.end(4) :]
    types = _TYPES.search(lines[last])
    if types is not None:
        lines[last] = lines[last][: types.start(1)] + ", ".join(kinds) + lines[last][types.end(1) :]


def _number(lines: list[str], random: Random) -> None:
    found = [(at, number) for at, line in enumerate(lines) for number in _INTEGER.finditer(line)]
    if found:
        at, number = random.choice(found)
        old = int(number[0])
        new = random.choice((*_NUMBERS, old + 1, old - 1, -old, old * 2))
        lines[at] = lines[at][: number.start()] + str(new) + lines[at][number.end() :]


def _attributes(line: str) -> list[tuple[int, int]]:
    """Where the dictionaries of attributes stand on a line."""
    found, starts = [], []
    quoted = False
    for at, letter in enumerate(line):
        if letter == '"' and line[at - 1 : at] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if letter == "{":
            starts.append(at + 1)
        elif letter == "}" and starts:
            begin = starts.pop()
            if line[begin:at].strip():
                found.append((begin, at))
    return found


def _attribute(lines: list[str], random: Random) -> None:
    """Drops an attribute, gives it another value, copies one from elsewhere, or renames one."""
    places = [(at, *place) for at, line in enumerate(lines) for place in _attributes(line)]
    if not places:
        return
    at, begin, end = random.choice(places)
    entries = _split(lines[at][begin:end])
    i, kind = random.randrange(len(entries)), random.randrange(5)
    name, _, _ = entries[i].partition(" = ")
    if kind == 0:
        del entries[i]
    elif kind == 1:
        entries[i] = f"{name} = {random.choice(_VALUES)}"
    else:
        other, first, last = random.choice(places)
        foreign = random.choice(_split(lines[other][first:last]))
        its_name, _, value = foreign.partition(" = ")
        if kind == 2 and value:
            entries[i] = f"{name} = {value}"
        elif kind == 3 and its_name not in [entry.partition(" = ")[0] for entry in entries]:
            entries.append(foreign)
        elif its_name != name:
            entries[i] = entries[i].replace(name, its_name, 1)
    lines[at] = lines[at][:begin] + ", ".join(entries) + lines[at][end:]


def _shape(kind: str, random: Random) -> str:
    """A shaped type with another extent, element, rank or memory space."""
    choice = random.randrange(5)
    extents = list(re.finditer(r"(?<=[<x])(\d+|\?)(?=x)", kind))
    element = re.search(r"(?<=[<x])([fib]\w+|index)(?=[,>])", kind)
    if choice == 0 and extents:
        at = random.choice(extents)
        new = random.choice(("?", "0", "1", "2", "5", "64", "1000003", "4294967296", "9223372036854775807"))
        return kind[: at.start()] + new + kind[at.end() :]
    if choice == 1 and element:
        return kind[: element.start()] + random.choice(_ELEMENTS) + kind[element.end() :]
    if choice == 2 and extents:
        at = random.choice(extents)
        return kind[: at.start()] + kind[at.end() + 1 :]
    if choice == 3 and element:
        return kind[: element.start()] + random.choice(("3x", "?x", "0x", "1x")) + kind[element.start() :]
    head, comma, _ = kind.rstrip(">").partition(",")
    return f"{head}>" if comma and random.random() < 0.5 else f"{head}, {random.choice(_SPACES)}>"


def _type(lines: list[str], random: Random) -> None:
    """Another type, of everything that has it or in one place."""
    text = "\n".join(lines)
    shaped = list(_SHAPED.finditer(text))
    if shaped and random.random() < 0.7:
        kind = random.choice(shaped)
        new = _shape(kind[0], random)
        text = text.replace(kind[0], new) if random.random() < 0.8 else text[: kind.start()] + new + text[kind.end() :]
    else:
        present = [element for element in _ELEMENTS if re.search(rf"\b{element}\b", text)]
        if not present:
            return
        text = re.sub(rf"(?<![\w.%@#\"]){random.choice(present)}\b(?!\")", random.choice(_ELEMENTS), text)
    lines[:] = text.split("\n")


def _name(lines: list[str], random: Random) -> None:
    """Another op of the same form, or another symbol."""
    at = random.choice(_ops(lines))
    op = _OP.match(lines[at])
    assert op is not None
    if random.random() < 0.5:
        others = [other[3] for i in _ops(lines) if (other := _OP.match(lines[i]))]
        extra = ["arith.addi", "arith.mulf", "arith.divsi", "memref.load", "scf.yield", "func.return", "gpu.barrier"]
        lines[at] = lines[at][: op.start(3)] + random.choice([*others, *extra]) + lines[at][op.end(3) :]
    else:
        text = "\n".join(lines)
        symbols = re.findall(r"@[\w$.]+", text)
        if symbols:
            place = random.choice(list(re.finditer(r"@[\w$.]+", text)))
            text = text[: place.start()] + random.choice([*symbols, "@nobody"]) + text[place.end() :]
            lines[:] = text.split("\n")


def _empty(lines: list[str], random: Random) -> None:
    """Takes ops out of a region: all but the last one, or all."""
    regions = [at for at in _ops(lines) if lines[at].rstrip().endswith("({")]
    if regions:
        at = random.choice(regions)
        end = _end(lines, at)
        inner = [i for i in range(at + 1, end - 1) if _OP.match(lines[i])]
        if inner:
            keep = random.random() < 0.7
            indent = min(len(lines[i]) - len(lines[i].lstrip()) for i in inner)
            top = [i for i in inner if len(lines[i]) - len(lines[i].lstrip()) == indent]
            last = top[-1]
            del lines[top[0] : last if keep else _end(lines, last)]


_CHANGES = (
    _drop, _duplicate, _swap_ops, _move, _operands, _operands, _number, _number, _number, _attribute, _attribute,
    _attribute, _type, _type, _name, _empty,
)  # fmt: skip


def mutated_text(text: str, random: Random) -> str:
    """The IR with one to three changes; one in twenty is cut off somewhere instead."""
    if random.random() < 0.05:
        return text[: random.randrange(len(text) + 1)]
    lines = text.split("\n")
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        if _ops(lines):
            random.choice(_CHANGES)(lines, random)
    return "\n".join(lines)


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """Bytecode with one to four bytes changed, or a piece left out or doubled."""
    changed = bytearray(data)
    if random.random() < 0.15:
        begin = random.randrange(len(changed))
        end = min(len(changed), begin + random.randrange(1, 40))
        changed[begin:end] = b"" if random.random() < 0.5 else bytes(changed[begin:end]) * 2
        return bytes(changed)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(changed))
        changed[at] = random.choice((changed[at] ^ (1 << random.randrange(8)), 0, 255, random.randrange(256)))
    return bytes(changed)
