"""Drop-in means measured parity: what ``mcp.Client`` of SDK 2.x has, ours has too."""

from __future__ import annotations

import inspect
from typing import Any

import mcp
import pytest

import mcp_anyera
from mcp_anyera import Client
from mcp_anyera._sdk import SDK1

THEIRS: Any = getattr(mcp, "Client", None)

OTHER_DEFAULTS = {
    # Ours defers to the SDK's own default, which 1.x has no type for.
    "cache",
}
OTHER_PARAMETERS = {
    # These four take ``cache_mode`` through ``**native``, which 1.x has not.
    ("list_tools", "cache_mode"),
    ("list_prompts", "cache_mode"),
    ("list_resources", "cache_mode"),
    ("list_resource_templates", "cache_mode"),
    ("read_resource", "cache_mode"),
}

two = pytest.mark.skipif(SDK1, reason="mcp 1.x has no Client to compare with")


@two
def test_every_parameter_of_the_sdks_client_is_ours_with_the_same_default() -> None:
    ours = inspect.signature(Client).parameters
    for name, parameter in inspect.signature(THEIRS).parameters.items():
        assert name in ours, name
        assert ours[name].kind is parameter.kind, name
        if name not in OTHER_DEFAULTS:
            assert ours[name].default == parameter.default, name


@two
def test_every_public_member_of_the_sdks_client_is_ours() -> None:
    for name, member in inspect.getmembers(THEIRS):
        # The dataclass keeps parameters with a default as attributes; ours does not.
        if name.startswith("_") or name in inspect.signature(THEIRS).parameters:
            continue
        ours = inspect.getattr_static(Client, name)
        assert isinstance(ours, property) is isinstance(
            inspect.getattr_static(THEIRS, name), property
        ), name
        if callable(member):
            check_parameters(name, member, getattr(Client, name))


def check_parameters(name: str, theirs: Any, ours: Any) -> None:
    known = inspect.signature(ours).parameters
    for parameter in inspect.signature(theirs).parameters.values():
        if (name, parameter.name) in OTHER_PARAMETERS:
            continue
        assert parameter.name in known, (name, parameter.name)
        assert known[parameter.name].kind is parameter.kind, (name, parameter.name)
        assert known[parameter.name].default == parameter.default, (
            name,
            parameter.name,
        )


@pytest.mark.skipif(not SDK1, reason="mcp 2.x has a use for them")
def test_what_only_2_x_has_is_refused_by_name_on_1_x() -> None:
    with pytest.raises(
        TypeError,
        match=r"cache= needs mcp 2\.x, and mcp 1\.x is installed; leave it out",
    ):
        Client(["x"], cache=None)


def test_the_front_door_is_what_it_says() -> None:
    assert mcp_anyera.__all__ == sorted(mcp_anyera.__all__)
    for name in mcp_anyera.__all__:
        assert getattr(mcp_anyera, name) is not None
        assert name in dir(mcp_anyera)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = mcp_anyera.nothing  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]


@pytest.mark.parametrize(
    "name", sorted(set(mcp_anyera.__all__) - {"Era", "MessageHandler"})
)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(mcp_anyera, name))


def test_callbacks_come_in_one_way_only() -> None:
    async def answer(context: Any, params: Any) -> Any: ...

    registry = mcp_anyera.Callbacks()
    with pytest.raises(
        TypeError,
        match="callbacks= was given beside elicitation_callback; put them into it",
    ):
        Client(["x"], callbacks=registry, elicitation_callback=answer)
    with pytest.raises(
        ValueError, match="elicitation_modes takes 'form', 'url' or both"
    ):
        Client(["x"], elicitation_modes=["voice"])
    with pytest.raises(
        ValueError, match="elicitation_modes takes 'form', 'url' or both"
    ):
        Client(["x"], elicitation_modes=[])


def test_a_mode_or_a_level_that_names_nothing_is_refused_at_once() -> None:
    with pytest.raises(
        ValueError,
        match="mode must be 'auto', 'legacy', 'modern' or a protocol revision",
    ):
        Client(["x"], mode="new")
    with pytest.raises(ValueError, match="log_level must be one of debug, info"):
        Client(["x"], log_level="loud")  # pyright: ignore[reportArgumentType]


def test_a_server_that_is_nothing_to_connect_to_is_refused() -> None:
    with pytest.raises(TypeError, match="server must be a URL, StdioServerParameters"):
        Client(3)  # pyright: ignore[reportArgumentType]
