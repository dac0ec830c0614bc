"""The only importer of ``mcp``: what differs between its two lines, under one name.

The line is chosen once, by the installed version, and then checked by importing
every name that is needed from it, so that an SDK that lacks one fails here and
says which.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from packaging.version import Version

_SUPPORTED: Final = "mcp-anyera runs on mcp>=1.24,<3"


def _installed() -> Version:
    try:
        return Version(version("mcp"))
    except PackageNotFoundError:
        msg = f"{_SUPPORTED}, and no mcp is installed"
        raise ImportError(msg) from None


SDK_VERSION: Final = _installed()
SDK_LINE: Final = SDK_VERSION.major
SDK1 = SDK_LINE == 1

try:
    if SDK1:
        from mcp_anyera._sdk._v1 import *
    else:
        from mcp_anyera._sdk._v2 import *
except ImportError as error:
    msg = f"{_SUPPORTED}; mcp {SDK_VERSION} lacks something that it needs: {error}"
    raise ImportError(msg) from error
