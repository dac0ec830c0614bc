from __future__ import annotations

from typing import Any

from mcp_anyera.engine import Dropped, ListenEnded
from tests.engine.conversation import (
    DISCOVER,
    Talk,
    error,
    legacy,
    modern,
    notification,
    request,
    result,
)

K = "io.modelcontextprotocol/"
ALL_LISTS: dict[str, Any] = {
    **DISCOVER,
    "capabilities": {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
    },
}


def ack(name: str, **honoured: Any) -> dict[str, Any]:
    params = {"_meta": {K + "subscriptionId": name}, "notifications": honoured}
    return notification("notifications/subscriptions/acknowledged", params)


def event(name: Any, method: str, **params: Any) -> dict[str, Any]:
    return notification(
        f"notifications/{method}", {"_meta": {K + "subscriptionId": name}, **params}
    )


def watching(**config: Any) -> tuple[Talk, str]:
    talk = modern(discover=ALL_LISTS, **config)
    talk.client_says(notification("notifications/initialized"))
    listen = talk.server_sees(method="subscriptions/listen")
    assert listen["params"]["notifications"] == {
        "toolsListChanged": True,
        "promptsListChanged": True,
        "resourcesListChanged": True,
    }
    assert listen["params"]["_meta"][K + "protocolVersion"] == "2026-07-28"
    return talk, listen["id"]


def subscribed(talk: Talk, uri: str, id_: int = 1) -> str:
    talk.client_says(request(id_, "resources/subscribe", {"uri": uri}))
    return talk.server_sees(method="subscriptions/listen")["id"]


def test_list_changes_reach_a_legacy_session_without_the_subscription_id() -> None:
    talk, name = watching()
    with talk:
        talk.server_says(ack(name, toolsListChanged=True))
        talk.server_says(event(name, "tools/list_changed"))
        assert talk.client_sees() == {
            "jsonrpc": "2.0",
            "method": "notifications/tools/list_changed",
        }
        message = event(name, "prompts/list_changed")
        message["params"]["_meta"]["vendor/x"] = 1
        talk.server_says(message)
        talk.client_sees(params={"_meta": {"vendor/x": 1}})


def test_nobody_listens_where_nothing_is_advertised_or_nobody_cares() -> None:
    bare = {**DISCOVER, "capabilities": {"tools": {"listChanged": 1}, "prompts": True}}
    for talk in (modern(discover=bare), modern(list_changes=False)):
        with talk:
            talk.client_says(notification("notifications/initialized"))


def test_a_change_without_an_id_breaks_the_rule_and_is_still_news() -> None:
    with modern() as talk:
        message = notification("notifications/tools/list_changed")
        talk.server_says(message)
        assert talk.client_sees() is message


def test_a_change_of_a_stream_that_is_over_is_dropped() -> None:
    with modern() as talk:
        for name in ("anyera-listen-9", 7, [1]):
            talk.server_says(event(name, "tools/list_changed"))
            assert talk.notices(Dropped).reason == "its subscription is over"
        talk.server_says(ack("unknown"))
        assert talk.notices(Dropped).reason == "it belongs to no subscription"
        talk.server_says(
            notification("notifications/cancelled", {"requestId": "unknown"})
        )
        assert talk.notices(Dropped).reason == "it names no subscription"
        talk.server_says(notification("notifications/cancelled", {"requestId": [1]}))
        talk.notices(Dropped)


def test_a_subscription_is_answered_after_its_acknowledgement() -> None:
    with modern() as talk:
        name = subscribed(talk, "file:///x")
        assert talk.engine.in_flight == 1
        talk.server_says(ack(name, resourceSubscriptions=["file:///x"]))
        talk.client_sees(id=1, result={})
        talk.server_says(event(name, "resources/updated", uri="file:///x/y"))
        assert talk.client_sees()["params"] == {"uri": "file:///x/y"}
        talk.server_says(ack(name))
    assert talk.engine.deadline is None


def test_a_subscription_that_the_server_leaves_out_is_an_error() -> None:
    with modern() as talk:
        for id_, honoured in ((1, ["other"]), (2, "odd"), (3, None)):
            name = subscribed(talk, "file:///x", id_)
            talk.server_says(ack(name, resourceSubscriptions=honoured))
            if id_ > 1:
                talk.server_sees(method="notifications/cancelled")
            talk.client_fails(
                id_, "the server did not accept a subscription to 'file:///x'", -32602
            )


def test_an_acknowledgement_without_a_filter_honours_nothing() -> None:
    with modern() as talk:
        name = subscribed(talk, "file:///x")
        talk.server_says(
            notification(
                "notifications/subscriptions/acknowledged",
                {"_meta": {K + "subscriptionId": name}},
            )
        )
        talk.client_fails(1, "the server did not accept a subscription to 'file:///x'")


def test_another_uri_is_a_new_stream_and_the_old_one_ends_when_it_is_there() -> None:
    with modern() as talk:
        first = subscribed(talk, "a")
        talk.server_says(ack(first, resourceSubscriptions=["a"]))
        talk.client_sees(id=1)
        talk.client_says(request(2, "resources/subscribe", {"uri": "b"}))
        second = talk.server_sees(
            params={"notifications": {"resourceSubscriptions": ["a", "b"]}}
        )["id"]
        talk.server_says(event(first, "resources/updated", uri="a"))
        talk.client_sees(method="notifications/resources/updated")
        talk.server_says(ack(second, resourceSubscriptions=["a", "b"]))
        talk.server_sees(method="notifications/cancelled", params={"requestId": first})
        talk.client_sees(id=2)
        talk.server_says(event(first, "resources/updated", uri="a"))
        talk.notices(Dropped)


def test_two_subscriptions_in_a_row_are_both_answered_by_the_second_stream() -> None:
    with modern() as talk:
        first = subscribed(talk, "a", 1)
        talk.client_says(request(2, "resources/subscribe", {"uri": "b"}))
        talk.server_sees(method="notifications/cancelled", params={"requestId": first})
        second = talk.server_sees(method="subscriptions/listen")["id"]
        talk.server_says(ack(second, resourceSubscriptions=["a", "b"]))
        talk.client_sees(id=1)
        talk.client_sees(id=2)


def test_unsubscribing_opens_a_smaller_stream_and_the_last_one_ends_it() -> None:
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.server_says(ack(name, resourceSubscriptions=["a"]))
        talk.client_sees(id=1)
        name2 = subscribed(talk, "b", 2)
        talk.server_says(ack(name2, resourceSubscriptions=["a", "b"]))
        talk.server_sees(params={"requestId": name})
        talk.client_sees(id=2)
        talk.client_says(request(3, "resources/unsubscribe", {"uri": "a"}))
        name3 = talk.server_sees(
            params={"notifications": {"resourceSubscriptions": ["b"]}}
        )["id"]
        talk.client_sees(id=3, result={})
        talk.client_says(request(4, "resources/unsubscribe", {"uri": "b"}))
        talk.server_sees(method="notifications/cancelled", params={"requestId": name3})
        talk.server_sees(method="notifications/cancelled", params={"requestId": name2})
        talk.client_sees(id=4)
        talk.client_says(request(5, "resources/unsubscribe", {"uri": "never"}))
        talk.client_sees(id=5, result={})
    assert talk.engine.deadline is None


def test_unsubscribing_while_the_subscription_is_pending_answers_both() -> None:
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.client_says(request(2, "resources/unsubscribe", {"uri": "a"}))
        talk.server_sees(method="notifications/cancelled", params={"requestId": name})
        talk.client_sees(id=1, result={})
        talk.client_sees(id=2, result={})


def test_a_uri_that_is_given_up_while_another_waits_is_answered_by_the_next_stream() -> (
    None
):
    with modern() as talk:
        first = subscribed(talk, "a", 1)
        talk.client_says(request(2, "resources/subscribe", {"uri": "b"}))
        talk.server_sees(params={"requestId": first})
        second = talk.server_sees()["id"]
        talk.client_says(request(3, "resources/unsubscribe", {"uri": "a"}))
        talk.server_sees(params={"requestId": second})
        third = talk.server_sees(
            params={"notifications": {"resourceSubscriptions": ["b"]}}
        )["id"]
        talk.client_sees(id=3)
        talk.server_says(ack(third, resourceSubscriptions=["b"]))
        talk.client_sees(id=1, result={})
        talk.client_sees(id=2, result={})


def test_a_subscription_that_cannot_be_is_refused_here() -> None:
    with modern(discover={**DISCOVER, "capabilities": {"resources": {}}}) as talk:
        for method in ("resources/subscribe", "resources/unsubscribe"):
            talk.client_says(request(1, method, {"uri": "a"}))
            talk.client_fails(
                1, "the server does not offer resource subscriptions", -32601
            )
    with modern() as talk:
        talk.client_says(request(1, "resources/subscribe", {"uri": 7}))
        talk.client_fails(
            1, "resources/subscribe needs a uri string in its params", -32602
        )
    with modern(discover={**DISCOVER, "capabilities": {}}) as talk:
        talk.client_says(request(1, "resources/subscribe", {"uri": "a"}))
        talk.client_fails(1, "the server does not offer resource subscriptions", -32601)


def test_a_cancelled_subscription_is_not_answered() -> None:
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.client_says(notification("notifications/cancelled", {"requestId": 1}))
        assert talk.engine.in_flight == 0
        talk.server_says(ack(name, resourceSubscriptions=["a"]))


def test_an_acknowledgement_that_never_comes_is_an_error() -> None:
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.time_passes(10)
        talk.server_sees(method="notifications/cancelled", params={"requestId": name})
        talk.client_sees(
            id=1, error={"message": "subscription failed: no acknowledgement"}
        )
        talk.server_says(result(name))
        talk.notices(Dropped)


def test_a_stream_that_ends_comes_back_and_announces_what_may_have_changed() -> None:
    talk, name = watching()
    with talk:
        talk.server_says(ack(name))
        talk.server_says(result(name))
        ended = talk.notices(ListenEnded)
        assert ended == ListenEnded("the server ended it", 1.0)
        talk.server_says(notification("notifications/cancelled", {"requestId": name}))
        talk.notices(Dropped)
        talk.time_passes(1)
        again = talk.server_sees(method="subscriptions/listen")["id"]
        assert again != name
        talk.server_says(ack(again))
        for kind in ("tools", "prompts", "resources"):
            talk.client_sees(method=f"notifications/{kind}/list_changed")


def test_a_cancellation_ends_a_stream_as_well_and_the_result_that_follows_is_late() -> (
    None
):
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.server_says(ack(name, resourceSubscriptions=["a"]))
        talk.client_sees(id=1)
        talk.server_says(notification("notifications/cancelled", {"requestId": name}))
        assert talk.notices(ListenEnded).reason == "the server cancelled it"
        talk.server_says(result(name))
        talk.notices(Dropped)
        talk.time_passes(1)
        again = talk.server_sees(method="subscriptions/listen")["id"]
        talk.server_says(ack(again, resourceSubscriptions=["a"]))
        talk.client_sees(method="notifications/resources/updated", params={"uri": "a"})


def test_a_stream_that_never_comes_about_is_given_up_in_the_end() -> None:
    talk, name = watching()
    with talk:
        pauses = list[float | None]()
        for _ in range(8):
            talk.server_says(error(name, -32603))
            pauses.append(talk.notices(ListenEnded).retry_in)
            if pauses[-1] is not None:
                talk.time_passes(pauses[-1])
                name = talk.server_sees(method="subscriptions/listen")["id"]
        assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, None]
        assert talk.engine.deadline is None


def test_a_server_without_listen_is_left_in_peace() -> None:
    talk, name = watching()
    with talk:
        talk.server_says(error(name, -32601))
        assert talk.notices(ListenEnded) == ListenEnded(
            "the server has no subscriptions/listen", None
        )
        assert talk.engine.deadline is None
    with modern() as talk:
        name = subscribed(talk, "a")
        talk.server_says(error(name, -32601, "no listen"))
        talk.client_sees(id=1, error={"code": -32601, "message": "no listen"})
        talk.notices(ListenEnded)


def test_the_end_of_an_old_stream_does_not_disturb_the_new_one() -> None:
    with modern() as talk:
        first = subscribed(talk, "a", 1)
        talk.server_says(ack(first, resourceSubscriptions=["a"]))
        talk.client_sees(id=1)
        second = subscribed(talk, "b", 2)
        talk.server_says(result(first))
        talk.server_says(ack(second, resourceSubscriptions=["a", "b"]))
        talk.client_sees(id=2)
        talk.client_sees(params={"uri": "a"})
        talk.client_sees(params={"uri": "b"})
    with modern() as talk:
        first = subscribed(talk, "a", 1)
        talk.server_says(ack(first, resourceSubscriptions=["a"]))
        talk.client_sees(id=1)
        second = subscribed(talk, "b", 2)
        talk.server_says(error(second, -32601, "no"))
        talk.client_sees(id=2, error={"message": "no"})
        talk.notices(ListenEnded)
        talk.server_says(error(first, -32601))
        talk.notices(ListenEnded)


def test_a_server_that_dies_fails_what_waits() -> None:
    with modern() as talk:
        subscribed(talk, "a")
        talk.server_ends("gone")
        talk.client_sees(
            id=1, error={"code": -32000, "message": "connection closed: gone"}
        )
        assert talk.engine.deadline is None


def test_on_a_legacy_wire_subscriptions_are_the_servers_own() -> None:
    with legacy() as talk:
        talk.client_says(request(1, "resources/subscribe", {"uri": "a"}))
        talk.server_sees(method="resources/subscribe", params={"uri": "a"})


def test_a_client_side_that_leaves_ends_the_streams() -> None:
    talk, name = watching()
    with talk:
        talk.client_leaves()
        talk.server_sees(method="notifications/cancelled", params={"requestId": name})
    assert talk.engine.deadline is None
