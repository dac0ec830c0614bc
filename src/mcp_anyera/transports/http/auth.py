"""Authentication that says when it is busy with something other than the server.

An OAuth flow sends its user to a browser in the middle of a request. Nobody may
count that as the time of the machine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from mcp_anyera.transports.http.channel import OnHold
from mcp_anyera.transports.http.library import httpx


class WatchedAuth(httpx.Auth):
    """The caller's authentication, for one request."""

    def __init__(self, auth: httpx.Auth, on_hold: OnHold) -> None:
        """Watch a flow.

        Args:
            auth: The caller's own.
            on_hold: Is told ``True`` before and ``False`` after each step of it.
        """
        self._auth = auth
        self._on_hold = on_hold

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Do what the caller's own flow does."""
        flow = self._auth.async_auth_flow(request)
        response: httpx.Response | None = None
        try:
            while True:
                response = yield await self._step(flow, response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    async def _step(
        self,
        flow: AsyncGenerator[httpx.Request, httpx.Response],
        response: httpx.Response | None,
    ) -> httpx.Request:
        self._on_hold(True)  # noqa: FBT003 - the callback has one argument
        try:
            if response is None:
                return await anext(flow)
            return await flow.asend(response)
        finally:
            self._on_hold(False)  # noqa: FBT003 - the same
