"""lit over the dialects and passes: `lit test/lit`. The tools are the installed package's, or the tree's own build."""

import os
from pathlib import Path

import lit.formats
import llvm

import tilewright

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Output"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get("TILEWRIGHT_LIT_OUTPUT", os.path.join(os.path.dirname(__file__), "Output"))
tools = [Path(tilewright.__file__).parent / "_lib", Path(list(llvm.__path__)[0]) / "bin"]
config.environment["PATH"] = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
