from __future__ import annotations

import pytest

from mcp_anyera.transports.http.clients import bare_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("https://user:secret@example.com:8/mcp?key=1#x", "https://example.com:8/mcp"),
        ("https://example.com?key=a/b@c", "https://example.com"),
        ("https://example.com?mail=me@home", "https://example.com"),
        ("https://example.com#secret", "https://example.com"),
        ("https://[::1]:8/mcp?a@b", "https://[::1]:8/mcp"),
        ("https://u@v:secret@example.com/@b", "https://example.com/@b"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert bare_url(url) == shown
