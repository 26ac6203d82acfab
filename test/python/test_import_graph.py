"""Which package of tilewright imports which: each imports from those before it in `LAYERS` alone."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tilewright

PACKAGE = Path(tilewright.__file__).parent
# From the bottom up. Within a line imports have one direction, too.
LAYERS = (
    {"errors", "guards"},
    {"error", "tvm_compat", "messages", "native", "storage", "transform"},
    {"dtypes", "ir", "cache"},
    {"devices"},
    {"target"},
    {"runtime"},
    {"nd", "te", "backend", "tir"},
    {"report", "instructions", "aot", "records"},
    {"compiler"},
    {"schedules", "rules", "bisection", "contrib"},
    {"ops", "testing", "tuning", "auto_schedule", "graph", "viewer", "onnx", "torch", "models"},
    {"cli"},
    {"__main__"},
)


def modules() -> dict[str, Path]:
    """The modules of the package by their dotted names within it; a package goes by its own."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def _imports(module: str) -> tuple[tuple[str, int, bool], ...]:
    """The modules of the package that a module imports, the lines, and whether they stand in functions."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [part for part in package if part]

    def visit(node: ast.AST, in_function: bool) -> Iterator[tuple[str, int, bool]]:
        for child in ast.iter_child_nodes(node):
            if is_for_types(child):
                continue
            if isinstance(child, ast.ImportFrom) and child.level:
                base = ".".join((*package[: len(package) - child.level + 1], *filter(None, [child.module])))
                for alias in child.names:
                    name = f"{base}.{alias.name}".lstrip(".")
                    yield (name if name in MODULES else base), child.lineno, in_function
            yield from visit(child, in_function or isinstance(child, (ast.FunctionDef, ast.Lambda)))

    return tuple(visit(ast.parse(path.read_text()), False))


def imports(module: str, *, deferred: bool) -> Iterator[tuple[str, int]]:
    """The modules of the package that a module imports, and the lines; `deferred` ones stand in functions."""
    return ((name, line) for name, line, in_function in _imports(module) if deferred or not in_function)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_from_lower_layers(module: str) -> None:
    """In functions as well as at the top. The root stands outside: it shows what the others have."""
    package = module.partition(".")[0]
    if not package:
        return
    height = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    assert package in height, f"{package}: expected its layer in LAYERS"
    for name, line in imports(module, deferred=True):
        other = name.partition(".")[0]
        if other and other != package:
            assert height[other] <= height[package], f"{module}:{line} imports {name}, which is made on top of it"


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Nodes that lead back to the first of them, or none."""
    done: set[str] = set()

    def follow(node: str, above: list[str]) -> list[str]:
        if node in above:
            return above[above.index(node) :]
        if node in done:
            return []
        done.add(node)
        return next((found for one in sorted(graph[node]) if (found := follow(one, [*above, node]))), [])

    return next((found for node in sorted(graph) if (found := follow(node, []))), [])


def test_modules_have_no_cycles_when_they_are_imported() -> None:
    graph = {module: {name for name, _ in imports(module, deferred=False)} & MODULES.keys() for module in MODULES}
    assert cycle(graph) == []


def test_packages_have_no_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        package = module.partition(".")[0]
        others = {name.partition(".")[0] for name, _ in imports(module, deferred=True)}
        graph.setdefault(package, set()).update(one for one in others if one not in ("", package))
    del graph[""]
    assert cycle(graph) == []


def test_a_cycle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
