"""Which line of the SDK is installed, without importing it.

The SDK takes longer to import than all else together, and a bridge has no need of
it. Whoever uses the SDK goes through ``mcp_anyera._sdk``, which checks more.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_anyera._sdk import SDK1
else:

    def _is_first_line() -> bool:
        # Only 2.x has its types in a package of their own, and asking the
        # metadata takes longer than all the rest of this module's importers.
        if find_spec("mcp_types") is None:
            return True
        from importlib.metadata import version  # noqa: PLC0415 - see above

        return version("mcp").startswith("1.")

    SDK1 = _is_first_line()

__all__ = ["SDK1"]
