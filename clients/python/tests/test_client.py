"""Runs against `make dev`: SUREHOOK_URL and SUREHOOK_API_KEY name the server, FLAKY is a server in trouble before it."""

import asyncio
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from surehook import AsyncSurehook, ProblemError, Surehook, VerificationError, events, types, verify

FOLDER = Path(__file__).parent
KEY = os.environ["SUREHOOK_API_KEY"]


class Sink(NamedTuple):
    url: str
    came: list[tuple[dict[str, str], bytes]]
    arrived: threading.Event


@pytest.fixture(scope="module")
def api() -> Surehook:
    return Surehook(os.environ["SUREHOOK_URL"], KEY)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A receiver on loopback: its URL and the requests that came."""
    came: list[tuple[dict[str, str], bytes]] = []
    arrived = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()
            arrived.set()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Sink(f"http://127.0.0.1:{server.server_address[1]}/", came, arrived)
    server.shutdown()


def test_creates_posts_reads_changes_and_verifies(api: Surehook, sink: Sink) -> None:
    created = api.endpoints.create("python", {"url": sink.url, "timeout": "7s"})
    accepted = api.events.create("python", {"event_type": "order.paid", "payload": {"order": 4711}})
    assert accepted["deliveries"] == 1
    assert sink.arrived.wait(30)
    headers, body = sink.came[0]
    assert verify([created["secret"]], headers, body)["data"] == {"order": 4711}
    with pytest.raises(VerificationError):
        verify(created["secret"], headers, body + b" ")
    assert api.events.get("python", accepted["id"])["payload"] == {"order": 4711}

    before = api.endpoints.get("python", created["id"])
    changed = api.endpoints.update("python", created["id"], {"description": "new"}, if_match=f'"{before["version"]}"')
    unchanged = {name: value for name, value in before.items() if name in changed and name not in ("version", "updated_at", "description")}
    assert {name: value for name, value in changed.items() if name in unchanged} == unchanged
    assert changed["description"] == "new"
    with pytest.raises(ProblemError) as raised:
        api.endpoints.update("python", created["id"], {"description": "newer"}, if_match=f'"{before["version"]}"')
    assert raised.value.status == 412

    api.endpoints.create("python", {"url": sink.url, "uid": "second"})
    assert created["id"] in [e["id"] for e in api.endpoints.list("python", limit=1)]
    page = api.endpoints.list("python", limit=1).page()
    assert len(page["data"]) == 1 and page["next_cursor"]
    api.endpoints.delete("python", "second")


def test_a_problem_names_the_field(api: Surehook) -> None:
    with pytest.raises(ProblemError) as raised:
        api.events.create("python", {"event_type": "a b", "payload": 1})
    assert (raised.value.status, raised.value.code, list(raised.value.fields)) == (400, "invalid", ["event_type"])


def test_asyncio(sink: Sink) -> None:
    async def use() -> None:
        async with AsyncSurehook(os.environ["SUREHOOK_URL"], KEY) as api:
            created = await api.endpoints.create("asyncio", {"url": sink.url})
            await api.endpoints.create("asyncio", {"url": sink.url, "uid": "second"})
            accepted = await api.events.create("asyncio", {"event_type": "order.paid", "payload": {"order": 4711}})
            assert accepted["deliveries"] == 2
            assert created["id"] in [e["id"] async for e in api.endpoints.list("asyncio", limit=1)]
            assert (await api.endpoints.list("asyncio", limit=1).page())["next_cursor"]
            with pytest.raises(ProblemError):
                await api.events.create("asyncio", {"event_type": "a b", "payload": 1})

    asyncio.run(use())


def test_each_event_is_there_once_though_five_of_six_requests_fail() -> None:
    api = Surehook(os.environ["FLAKY"], KEY, attempts=6, wait=0.001, timeout=2)
    ids = {api.events.create("python-flaky", {"event_type": "a", "payload": 1})["id"]}
    batch = api.events.create_batch("python-flaky", {"events": [{"event_type": "a", "payload": 1}, {"event_type": "b", "payload": 2}]})
    ids.update(cast(types.Accepted, item)["id"] for item in batch["data"])
    found = [event["id"] for event in api.events.list("python-flaky", limit=2)]
    assert sorted(found) == sorted(ids) and len(found) == 3


def test_asyncio_though_five_of_six_requests_fail() -> None:
    async def use() -> None:
        async with AsyncSurehook(os.environ["FLAKY"], KEY, attempts=6, wait=0.001, timeout=2) as api:
            event = await api.events.create("asyncio-flaky", {"event_type": "a", "payload": 1})
            assert [e["id"] async for e in api.events.list("asyncio-flaky")] == [event["id"]]

    asyncio.run(use())


def test_events_of_a_batch() -> None:
    assert events({"type": "webhook.batch", "events": [{"id": "evt_1"}]}) == [{"id": "evt_1"}]
    with pytest.raises(ValueError):
        events({})


def test_the_readme_shows_the_programs() -> None:
    for name in ("example.py", "example_async.py", "receiver.py"):
        assert f"```python\n{(FOLDER / name).read_text()}```" in (FOLDER.parent / "README.md").read_text(), name
