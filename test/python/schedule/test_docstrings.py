"""Each primitive's docstring: what it requires, the nest before, the call, the nest after, and its other names."""

from __future__ import annotations

import doctest
import inspect

import pytest

from primitives import NO_PRIMITIVES, PRIMITIVES


def test_there_are_as_many_as_there_should_be():
    assert len(PRIMITIVES) > 25
    for owner, others in NO_PRIMITIVES.items():
        assert others <= set(dir(owner))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_sections(name):
    doc = inspect.getdoc(PRIMITIVES[name]) or ""
    assert "Requires: " in doc
    for other in ("TVM", "Halide", "Exo", "MLIR"):
        assert other in doc, f"its name in {other}"
    examples = doctest.DocTestParser().get_examples(doc)
    prints = [number for number, example in enumerate(examples) if example.source == "print(s)\n"]
    assert len(prints) == 2, "the nest before and the nest after"
    before, after = prints
    call = f".{name.split('.')[1]}("
    assert any(call in example.source for example in examples[before:after]), "the call in between"
    assert "for " in examples[before].want and "for " in examples[after].want
    assert not any(example.options for example in examples), "none is left out"
