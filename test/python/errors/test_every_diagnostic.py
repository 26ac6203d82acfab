"""Each diagnostic of dialects/ and passes/ stands, whole, in a test that provokes it.

A diagnostic is what one statement emits: its texts, in their order, with any text where a value stands. A test has the
diagnostic where a line of the test has all of that. Tests are all files of test/, with strings that Python puts
together on one line; where several statements emit one text, as many lines have that. Passes are reached without Python,
too: each diagnostic stands in a test of lit, as does each of the texts that a statement chooses from.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted(
    file for folder in ("dialects", "passes") for kind in ("*.cpp", "*.h") for file in (ROOT / folder).rglob(kind)
)
# MLIR's functions that emit diagnostics, and those of the passes. `diag << ...` is one statement of several.
EMITTER = re.compile(
    r"emit(?:Op)?(?:Error|Warning|Remark)|\w+Error|attachNote|error|refuse\w*|fail|differ|diag(?:nostic)?"
)
TOKEN = re.compile(r"""\s+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|<<|\w+|.""", re.DOTALL)
# `Twine("a") + b`, and the like: the texts are the diagnostic's own.
TRANSPARENT = {"Twine", "StringRef", "string"}
OPEN, CLOSE = "([{", ")]}"
VALUE = "\0"
SHORTEST = 9

Tokens = list[str]


def plain(text: str) -> str:
    r"""`text` without what C++, Python and regular expressions escape.

    >>> plain(r'expected "a" \(of two\)\n  got')
    'expected "a" (of two) got'
    """
    return re.sub(r"[ \t]+", " ", re.sub(r"""\\([^\w\s])""", r"\1", text.replace("\\n", " ")))


def up_to_end(tokens: Iterable[str]) -> Tokens:
    """`tokens` up to the end of the statement or of the parentheses around it."""
    found: Tokens = []
    depth = 0
    for token in tokens:
        depth += (token in OPEN) - (token in CLOSE)
        if depth < 0 or (depth == 0 and token == ";"):
            break
        found.append(token)
    return found


def statements_of(source: str) -> Iterator[Tokens]:
    """What follows the name of each emitter: its arguments and `<< ...`."""
    tokens = [token for token in TOKEN.findall(re.sub(r"(?m)^\s*//.*$", "", source)) if not token.isspace()]
    for i, token in enumerate(tokens[:-1]):
        if EMITTER.fullmatch(token) and tokens[i + 1] in ("(", "<<"):
            yield up_to_end(itertools.islice(tokens, i + 1, None))


def split(tokens: Tokens, *separators: str) -> list[Tokens]:
    """`tokens` parted at the separators outside of all parentheses.

    >>> split(["a", "+", "f", "(", "b", "+", "c", ")"], "+")
    [['a'], ['f', '(', 'b', '+', 'c', ')']]
    """
    parts: list[Tokens] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in OPEN) - (token in CLOSE)
        if depth == 0 and token in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def message_of(tokens: Tokens) -> str:
    """The text of an expression, with VALUE for each part that is known when it runs."""
    arguments = split(tokens, ",")
    if len(arguments) > 1:
        return VALUE.join(message_of(argument) for argument in arguments)
    if len(split(tokens, "?")) > 1:
        return VALUE
    operands = split(tokens, "<<", "+")
    if len(operands) > 1:
        return "".join(message_of(operand) for operand in operands)
    if tokens and all(token.startswith('"') for token in tokens):
        return "".join(token[1:-1] for token in tokens)
    name = next((i for i, token in enumerate(tokens) if token in OPEN), 0)
    if tokens[name : name + 1] == ["("] and (not tokens[:name] or tokens[name - 1] in TRANSPARENT):
        return message_of(up_to_end(tokens[name + 1 :]))
    return VALUE


def messages_of(source: str) -> Iterator[str]:
    r"""The diagnostics that the statements of `source` emit.

    >>> list(messages_of('emitOpError("expected ") << n << " axes" " in a row, got " << (n ? "one" : "none") << x;'))
    ['expected \x00 axes in a row, got']
    >>> list(messages_of('if (a) return refuse(op, "the sum of " + Twine(name) + " as it is", "another");'))
    ['the sum of \x00 as it is\x00another']
    """
    for statement in statements_of(source):
        # Between what a function of the pass is given and what follows, the function may have words of its own.
        of_call, *others = (message_of(operand) for operand in split(statement, "<<"))
        message = of_call + VALUE + "".join(others)
        message = re.sub(f"{VALUE}+", VALUE, plain(message)).strip(VALUE + " ")
        if len(message) >= SHORTEST:
            yield message


def choices_of(source: str) -> Iterator[str]:
    r"""The texts of diagnostics that are chosen from.

    >>> list(choices_of('emitError("expected ") << (n ? "one loop" : "no loop at all") << ", got " << m;'))
    ['no loop at all']
    """
    for statement in statements_of(source):
        for before, token in zip(statement, statement[1:], strict=False):
            text = plain(token[1:-1])
            if token.startswith('"') and before in "?:" and len(text) >= SHORTEST:
                yield text


@functools.cache
def lines_of_tests(*kinds: str) -> str:
    files = (file for kind in kinds for file in (ROOT / "test").rglob(kind) if file != Path(__file__))
    # In Python a text goes on in the next line's string.
    return plain(re.sub(r"""["']\s*\n\s*[rf]*["']""", "", "\n".join(file.read_text() for file in sorted(files))))


def lines_with(part: str, text: str) -> Iterator[str]:
    end = 0
    while (at := text.find(part, end)) >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[text.rfind("\n", 0, at) + 1 : end]


def count_tests(message: str, *kinds: str) -> int:
    """How many lines of tests have all of `message`."""
    parts = message.split(VALUE)
    lines = "\n".join(lines_with(max(parts, key=len), lines_of_tests(*kinds)))
    return len(re.findall(r"[^\n]{0,300}?".join(map(re.escape, parts)), lines))


@functools.cache
def messages(file: Path) -> tuple[str, ...]:
    return tuple(messages_of(file.read_text()))


@functools.cache
def emitted() -> Counter[str]:
    return Counter(message for file in SOURCES for message in messages(file))


@pytest.mark.sweep
@pytest.mark.parametrize("source", SOURCES, ids=lambda file: file.name)
def test_each_diagnostic_is_provoked_by_a_test(source: Path) -> None:
    diagnostics, choices = dict.fromkeys(messages(source)), dict.fromkeys(choices_of(source.read_text()))
    missing = [one for one in diagnostics if count_tests(one, "*.mlir", "*.py") < emitted()[one]]
    missing += [one for one in diagnostics if count_tests(one, "*.mlir") == 0]
    missing += [one for one in choices if one not in lines_of_tests("*.mlir")]
    missing = [one.replace(VALUE, "…") for one in missing]
    assert not missing, f"too few tests, or none of lit, have these diagnostics of {source.relative_to(ROOT)}"


def rules_of(folder: Path) -> Iterator[str]:
    """The diagnostics that a dialect's table of attributes on other ops stands for (dialects/AttributeRules.h)."""
    headers = "\n".join(file.read_text() for file in folder.glob("*.h"))
    shared = (ROOT / "dialects" / "AttributeRules.h").read_text()
    names = dict(re.findall(r'StringLiteral (k\w+)(?: = |\()"([^"]+)"', headers))
    for file in folder.glob("*.cpp"):
        source = file.read_text()
        texts = dict(re.findall(r'(k\w+)\(("[^"]*")\)', shared + source))
        for table in re.findall(r"AttributeRule k\w*Rules\[\] = \{(.*?)\n\};", source, re.DOTALL):
            for name, *rule in re.findall(r'\{(?:\w+::)?(k\w+),\s*("[^"]*"|k\w+),\s*("[^"]*"|k\w+)', table):
                where, what = (texts.get(text, text)[1:-1] for text in rule)
                yield f'expected "{names[name]}" on {where}'
                yield f'expected "{names[name]}" to be {what}, got'


@pytest.mark.parametrize("dialect", ["Graph", "Program", "Schedule", "TE", "Tile"])
def test_each_rule_of_an_attribute_is_tested(dialect: str) -> None:
    rules = list(rules_of(ROOT / "dialects" / dialect))
    assert rules
    missing = [message for message in rules if message not in lines_of_tests("*.mlir")]
    assert not missing, f"no test has these diagnostics of attributes of {dialect}"


def test_diagnostics_are_found() -> None:
    assert sum(emitted().values()) > 800
