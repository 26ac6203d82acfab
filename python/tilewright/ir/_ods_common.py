"""What the generated op classes import from beside themselves: the stock bindings' helpers."""

from mlir.dialects._ods_common import *  # noqa: F401,F403  # pyright: ignore[reportWildcardImportFromLibrary]
from mlir.dialects._ods_common import _cext as _cext  # pyright: ignore[reportPrivateUsage]
