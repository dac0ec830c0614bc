"""Names and values of a command line: headers and variables of the environment.

A value may be a secret, so no message repeats one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from mcp_anyera.cli.trouble import misused

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_HEADER: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+").fullmatch
_SENDABLE: Final = re.compile(r"[\t\x20-\x7e]*").fullmatch
"""RFC 9110 § 5.5, without what servers of our time do not agree on."""


def headers(texts: Iterable[str], from_variables: Iterable[str]) -> dict[str, str]:
    """Return what ``--header`` and ``--header-env`` say.

    Raises:
        Trouble: One is no header, or names a variable that is not set.
    """
    found = [_header(text) for text in texts]
    return dict(found + [_from_variable(text) for text in from_variables])


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise misused("--header takes 'NAME: VALUE'")
    filled = _VARIABLE.sub(lambda found: variable(found[1], "--header"), value)
    return _checked("--header", name, filled)


def _from_variable(text: str) -> tuple[str, str]:
    name, mark, wanted = text.partition("=")
    if not mark:
        raise misused("--header-env takes NAME=VARIABLE")
    return _checked("--header-env", name, variable(wanted, "--header-env"))


def _checked(option: str, name: str, value: str) -> tuple[str, str]:
    # A secret that was read from a file often has the end of its line.
    name, value = name.strip(), value.strip()
    if not _HEADER(name):
        raise misused(f"{option}: what stands before the value is no name of a header")
    if not _SENDABLE(value):
        raise misused(f"{option}: the value of {name} cannot be sent in a header")
    return name, value


def variables(texts: Iterable[str]) -> dict[str, str]:
    """Return what ``--env`` says: ``NAME=VALUE``, or ``NAME`` to pass one on.

    Raises:
        Trouble: There is no name, or a variable that is not set.
    """
    return dict(map(_passed, texts))


def _passed(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not name or "\0" in text:
        raise misused("--env takes NAME=VALUE, or NAME alone")
    return name, value if mark else variable(name, "--env")


def variable(name: str, option: str) -> str:
    """Return a variable of the environment.

    Raises:
        Trouble: It is not set.
    """
    if name not in os.environ:
        raise misused(f"{option}: the variable {name} is not set")
    return os.environ[name]
