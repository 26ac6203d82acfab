"""The site: `python tools/build-site.py` builds it with Sphinx."""

import inspect
from importlib.util import find_spec

import tilewright
from tilewright import ops

project = "Tilewright"
version = release = tilewright.__version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx_copybutton",
]  # fmt: skip
exclude_patterns = ["conf.py", "_templates"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"Tilewright {release}"
html_copy_source = False
# The language of a code block, followed by what tests do with it, as in ```python no-run.
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
# `name` in docstrings is code, whether it can be linked or not.
default_role = "code"
# The pages of frameworks need not have them installed.
autodoc_mock_imports = [name for name in ("functorch", "onnx", "torch") if find_spec(name) is None]
autodoc_typehints = "none"  # signatures have them as they are written
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def _prepare(app, what, name, obj, options, lines):
    """Docstrings as Sphinx wants them: the example that ends one is a section, where there are others before it, and a
    word may follow `code` at once."""
    import re

    def code(match):
        return match[1] or match[2] + ("\\ " + match[3] if match[3] else "")

    text = [re.sub(r"(``.*?``)|(`[^`]+`)(\w?)", code, line) for line in lines]
    sections = [at for at, line in enumerate(text) if line and set(line) == {"-"}]
    examples = [at for at, line in enumerate(text) if line.startswith(">>> ")]
    if sections and examples and examples[0] > sections[0]:
        text[examples[0] : examples[0]] = ["Examples", "--------"]
    lines[:] = text


def _as_function(operator):
    """An operation as Sphinx documents it: a function, whose arrays are of any library."""
    function = operator.__wrapped__
    signature = inspect.signature(function)
    parameters = [
        one.replace(annotation=str(one.annotation).replace("Operand", "Array")) for one in signature.parameters.values()
    ]
    function.__signature__ = signature.replace(parameters=parameters, return_annotation="Array")
    return function


def setup(app):
    for name in ops.__all__:
        if isinstance(operator := getattr(ops, name), ops.Operator):
            setattr(ops, name, _as_function(operator))
    app.connect("autodoc-process-docstring", _prepare, priority=1)  # before napoleon
