from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine.detection import (
    AskAgain,
    Finding,
    Legacy,
    Modern,
    NoCommonGround,
    classify,
)
from tests.engine.conversation import error, result

UNSUPPORTED = -32022


def discover(versions: Any) -> dict[str, Any]:
    return result(1, {"supportedVersions": versions})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (discover(["2026-07-28"]), Modern),
        (discover(["2025-11-25", "2026-07-28"]), Modern),
        (discover(["2025-11-25"]), Legacy),
        (discover(["2024-11-05", 7, None]), Legacy),
        (discover(["1999-01-01"]), NoCommonGround),
        (discover([]), Legacy),
        (discover([5]), Legacy),
        (discover("2026-07-28"), Legacy),
        (result(1, {"hello": 1}), Legacy),
        (result(1, "odd"), Legacy),
        (error(1, UNSUPPORTED, data={"supported": ["2026-07-28"]}), AskAgain),
        (error(1, UNSUPPORTED, data={"supported": ["2025-11-25"]}), Legacy),
        (error(1, UNSUPPORTED, data={"supported": ["1999-01-01"]}), NoCommonGround),
        (error(1, UNSUPPORTED, data={"supported": "x"}), Legacy),
        (error(1, UNSUPPORTED, data="x"), Legacy),
        (error(1, UNSUPPORTED), Legacy),
        (error(1, -32020), NoCommonGround),
        (error(1, -32021), NoCommonGround),
        (error(1, -32601), Legacy),
        (error(1, -32602, data={"supported": ["2026-07-28"]}), Legacy),
        (error(1, -32004), Legacy),
        (error(1, 0), Legacy),
        ({"id": 1, "error": "text"}, Legacy),
        ({"id": 1, "error": {"code": True, "message": "x"}}, Legacy),
    ],
)
def test_only_positive_evidence_makes_a_server_modern(
    reply: dict[str, Any], expected: type[Finding]
) -> None:
    assert isinstance(classify(reply), expected)


def test_the_newest_common_revision_is_taken() -> None:
    found = classify(discover(["2025-11-25", "2026-07-28", "2099-01-01"]))
    assert isinstance(found, Modern)
    assert found.revision == "2026-07-28"


def test_no_common_revision_names_both_lists() -> None:
    found = classify(discover(["1999-01-01", "2099-01-01"]))
    assert found == NoCommonGround(
        "no revision in common: it offers 1999-01-01, 2099-01-01; this library knows "
        "2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05"
    )
