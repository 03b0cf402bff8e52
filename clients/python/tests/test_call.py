"""Needs no server: the transport is a list of answers, and no test waits."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from surehook import AsyncSurehook, ProblemError, Surehook, UnreachableError, types

Answer = tuple[int | None, dict[str, str]]  # a status of None is no answer
Use = Callable[[Surehook], Any]


class Answers(httpx.MockTransport):
    """Answers with one after the other, and keeps the requests."""

    def __init__(self, answers: list[Answer]) -> None:
        self.requests: list[httpx.Request] = []

        def respond(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            status, headers = answers[min(len(self.requests), len(answers)) - 1]
            if status is None:
                raise httpx.ConnectError("none", request=request)
            return httpx.Response(status, headers=headers, json={"id": "evt_1"} if status < 300 else {"message": "Slow Down"})

        super().__init__(respond)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    return waited


EVENT: types.EventRequest = {"event_type": "a", "payload": 1}
KEYED: types.EventRequest = {**EVENT, "idempotency_key": "mine"}
CASES: list[tuple[Use, list[Answer], type[Exception] | None, int]] = [
    (lambda s: s.pipeline.health(), [(503, {}), (200, {})], None, 2),
    (lambda s: s.pipeline.health(), [(None, {})], UnreachableError, 3),
    (lambda s: s.pipeline.health(), [(404, {})], ProblemError, 1),
    (lambda s: s.pipeline.health(), [(307, {"location": "/elsewhere"})], ProblemError, 1),
    (lambda s: s.endpoints.create("a", {"url": "https://example.com"}), [(503, {})], ProblemError, 1),
    (lambda s: s.endpoints.create("a", {"url": "https://example.com"}), [(None, {})], UnreachableError, 1),
    (lambda s: s.endpoints.create("a", {"url": "https://example.com"}), [(429, {"retry-after": "2"}), (201, {})], None, 2),
    (lambda s: s.events.create("a", EVENT), [(500, {}), (202, {})], None, 2),
    (lambda s: s.events.create("a", KEYED), [(500, {}), (202, {})], None, 2),
    (lambda s: s.replays.preview("a", {"filter": {}}), [(500, {}), (200, {})], None, 2),
    (lambda s: s.replays.create("a", {"filter": {}, "dry_run": True}), [(500, {})], ProblemError, 1),
    (lambda s: s.endpoints.update("a", "e", {}), [(500, {})], ProblemError, 1),
]


@pytest.mark.parametrize(("use", "answers", "failure", "tries"), CASES)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_repetitions(use: Use, answers: list[Answer], failure: type[Exception] | None, tries: int, asynchronous: bool, waits: list[float]) -> None:
    transport = Answers(answers)

    def call() -> None:
        if not asynchronous:
            use(Surehook("https://api", "shk_x", attempts=3, transport=transport))
            return

        async def wait() -> None:
            surehook: Any = AsyncSurehook("https://api", "shk_x", attempts=3, transport=transport)
            await use(surehook)

        asyncio.run(wait())

    if failure is None:
        call()
    else:
        with pytest.raises(failure):
            call()
    assert (len(transport.requests), len(waits)) == (tries, tries - 1)
    assert len({(r.headers.get("idempotency-key"), r.content) for r in transport.requests}) == 1
    if "retry-after" in answers[0][1]:
        assert waits == [2.0]


def test_keys() -> None:
    transport = Answers([(202, {})])
    surehook = Surehook("https://api", "shk_x", transport=transport)
    surehook.events.create("a", EVENT)
    surehook.events.create("a", KEYED)
    surehook.events.create_batch("a", {"events": [{"event_type": "a", "payload": 1}, {"event_type": "a", "payload": 1, "idempotency_key": "mine"}]})
    assert [len(r.headers.get("idempotency-key", "")) for r in transport.requests] == [36, 0, 0]
    keys = [event["idempotency_key"] for event in json.loads(transport.requests[2].content)["events"]]
    assert (len(keys[0]), keys[1]) == (36, "mine")


def test_another_answer_than_json_is_no_answer_of_the_api() -> None:
    surehook = Surehook("https://api", "shk_x", transport=httpx.MockTransport(lambda _: httpx.Response(200, text="<p>sign in</p>")))
    with pytest.raises(ProblemError, match="not JSON"):
        surehook.pipeline.health()


def test_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(UnreachableError, match="no answer from api.invalid: .*(refused|failed)"):
        Surehook("http://api.invalid", "shk_x", attempts=1).pipeline.health()
