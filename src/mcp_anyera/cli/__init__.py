"""The ``anyera`` command.

Each sub-command is a module of this package with ``SUMMARY`` (one line),
``EXAMPLES`` (shown below the options), ``add_arguments(parser)`` and
``run(arguments)``, which returns the exit status. One with ``COMMAND_BEHIND_MARK``
gets its words as ``words``, and what stands behind ``--`` as ``command``. Importing
one must be cheap: what is heavy is imported by ``run``.
"""

from __future__ import annotations

from mcp_anyera.cli.main import main, program

__all__ = ["main", "program"]
