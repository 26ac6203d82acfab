"""Pages in headless Chromium: scripts drive them, and tell what they find."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
HOSTILE = '</script><img src=x onerror="document.title=1"><!--&amp;\u2028'

# Calls `drive`, and leaves what it finds in the document.
_FIND = """
window.addEventListener("load", async () => {
  const app = window.tilewright, found = {errors: []};
  window.addEventListener("error", (event) => found.errors.push(event.message));
  try { await drive(app, found); } catch (error) { found.errors.push(error.stack); }
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
"""


class Elements(html.parser.HTMLParser):
    """The elements of a page, and the text of its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_data = dict(attrs).get("id") == "data"
        assert not any(name in ("src", "href", "onerror") for name, _ in attrs), attrs

    def handle_endtag(self, tag: str) -> None:
        self._in_data = False

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data += data


def in_browser(page: Path, folder: Path, drive: str) -> dict[str, object]:
    """What the function `drive` finds in a page, which a browser shows. It is put behind the page's scripts."""
    text = page.read_text()
    driven = folder / "driven.html"
    driven.write_text(text.replace("</body>", f"<script>{_FIND}{drive}</script></body>"))
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={folder / 'profile'}", "--window-size=1600,1000", "--virtual-time-budget=20000"]
    ran = subprocess.run([*command, "--dump-dom", driven.as_uri()], capture_output=True, text=True, timeout=600)
    found = re.search(r'<pre id="found">(.*?)</pre>', ran.stdout)
    assert found is not None, ran.stderr[-2000:]
    told = json.loads(html.unescape(found[1]))
    assert told["errors"] == []
    return told
