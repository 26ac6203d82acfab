#!/usr/bin/env python3
"""Builds the site of the documentation, and the tutorial's pages as notebooks.

    pip install '.[docs]' && python tools/build-site.py [--out build/site]

The site works from its folder, without a server and without a network, the search too. A warning is an error: a link
to a page that is not there, a name that the package does not have.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def for_notebook(page: str) -> str:
    """A page of the tutorial whose cells are its Python alone, with links that hold beside the site's pages.

    Commands for a terminal stay text. jupytext makes a cell of a block of bash, which would run in the notebook's
    folder.

    >>> for_notebook("[next](02-launch.md), [stages](../stages.md#gpu), [file](../../python/a.py)")
    '[next](02-launch.ipynb), [stages](../stages.html#gpu), file (python/a.py)'
    """
    page = re.sub(r"^```bash$", "```console", page, flags=re.MULTILINE)
    page = re.sub(r"\]\((\d\d-[\w-]+)\.md", r"](\1.ipynb", page)
    page = page.replace("](index.md", "](../tutorial/index.html")
    page = re.sub(r"\]\((\.\./[\w/-]+)\.md", r"](\1.html", page)
    return re.sub(r"\[([^\]]*)\]\(\.\./\.\./([^)]*)\)", r"\1 (\2)", page)


def build(out: Path) -> None:
    """The site in `out`, an HTML page for each page of docs/, and `out`/notebooks."""
    try:
        import jupytext  # pyright: ignore[reportMissingImports]
        import sphinx  # noqa: F401  # pyright: ignore[reportMissingImports, reportUnusedImport]
    except ImportError as error:
        sys.exit(f"build-site.py: {error.name} is not installed: pip install '.[docs]'")

    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "docs"
        shutil.copytree(ROOT / "docs", pages)  # what Sphinx generates stays out of the tree
        beside = ("python", "test", "bench", "runtime")
        changes = (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](")
        for link in beside:
            changes = changes.replace(f"]({link}/", f"](../{link}/")
        (pages / "changelog.md").write_text(changes)
        release = (pages / "release.md").read_text()
        (pages / "release.md").write_text(release.replace("](../CHANGELOG.md)", "](changelog.md)"))
        for link in beside:
            (Path(folder) / link).symlink_to(ROOT / link)
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-j", "auto"]
        done = subprocess.run([*command, str(pages), str(out)])
        if done.returncode:
            sys.exit(done.returncode)
    notebooks = out / "notebooks"
    notebooks.mkdir()
    for page in sorted((ROOT / "docs" / "tutorial").glob("[0-9]*.md")):
        jupytext.write(jupytext.reads(for_notebook(page.read_text()), "md"), notebooks / f"{page.stem}.ipynb")
    shutil.rmtree(out / ".doctrees", ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="the folder of the site")
    arguments = parser.parse_args()
    build(arguments.out)
    print(arguments.out / "index.html")


if __name__ == "__main__":
    main()
