"""What Tilewright's generated op classes use, which are not checked."""

from typing import Any

_cext: Any
