"""A small JSON file that several processes may share.

It is read whole and written whole. A writer holds a lock beside the file while it
reads, changes and replaces it, so that no change of another process is lost, and
whoever reads sees the old file or the new one and nothing in between.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

logger: logging.Logger = logging.getLogger("mcp_anyera.memory")

VERSION: Final = 1
"""Of the format; a file of another version is set aside."""

Content = dict[str, Any]


class MemoryFile:
    """One file; what cannot be read or written is reported once and done without."""

    def __init__(self, path: Path, empty: Callable[[], Content]) -> None:
        """Prepare; nothing is read yet.

        Args:
            path: Where it is, or will be.
            empty: Makes the content of a new file.
        """
        self._path = path
        self._empty = empty
        self._warned = False

    def read(self) -> Content:
        """Return the content; a new one where there is none that can be read."""
        try:
            return self._checked(json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return self._empty()
        except OSError as error:
            self._warn("cannot be read or written, so nothing is remembered", error)
        except ValueError as error:
            self._set_aside(error)
        return self._empty()

    def _checked(self, content: Any) -> Content:
        known = cast("Content", content) if isinstance(content, dict) else {}
        if known.get("version") != VERSION or not isinstance(
            known.get("servers"), dict
        ):
            msg = f"it is not of version {VERSION}"
            raise ValueError(msg)
        return known

    def change(self, edit: Callable[[Content], None]) -> Content:
        """Change the content, and return it as it is then.

        Args:
            edit: Changes it in place.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self._path.with_name(self._path.name + ".lock")):
                content = self.read()
                edit(content)
                self._replace(content)
        except OSError as error:
            self._warn("cannot be read or written, so nothing is remembered", error)
            content = self.read()
            edit(content)
        return content

    def _replace(self, content: Content) -> None:
        text = json.dumps(content, indent=1)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(self._path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _set_aside(self, error: Exception) -> None:
        aside = self._path.with_name(self._path.name + ".unreadable")
        with suppress(OSError):
            self._path.replace(aside)
        self._warn(f"cannot be read and was set aside as {aside.name}", error)

    def _warn(self, what: str, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            logger.warning("the era memory %s %s: %s", self._path, what, error)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    with path.open("a+b") as file:
        _lock(file.fileno())
        yield  # closing the file lets go of the lock


if os.name == "nt":  # pragma: no cover - no Windows in the tests

    def _lock(handle: int) -> None:
        import msvcrt  # noqa: PLC0415 - exists there only

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
else:

    def _lock(handle: int) -> None:
        import fcntl  # noqa: PLC0415 - exists there only

        fcntl.flock(handle, fcntl.LOCK_EX)
