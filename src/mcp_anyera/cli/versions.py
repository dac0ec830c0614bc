"""Which versions are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """Return the versions of this package and of the SDK below it."""
    return {name: _version(name) for name in ("mcp-anyera", "mcp")}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
