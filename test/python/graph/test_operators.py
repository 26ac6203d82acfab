"""The dialect and the functions that define its operators belong together."""

from __future__ import annotations

from tilewright.graph.operators import OPERATORS
from tilewright.ir import _graph_ops_gen as generated

# What is no operator on tensors.
STRUCTURE = {"constant", "weight", "group", "yield"}


def _ops() -> dict[str, type]:
    classes = (each for each in vars(generated).values() if isinstance(each, type))
    return {
        each.OPERATION_NAME.removeprefix("graph."): each for each in classes if hasattr(each, "OPERATION_NAME")
    }  # fmt: skip


def test_every_operator_is_an_op_and_the_other_way_round():
    assert set(OPERATORS) == set(_ops()) - STRUCTURE


def test_attributes_have_the_names_of_keyword_arguments():
    for name, operator in OPERATORS.items():
        missing = [each for each in operator.attributes if not isinstance(vars(_ops()[name]).get(each), property)]
        assert not missing, name
