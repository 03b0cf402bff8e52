"""Runs against `make dev`: API and KEY name the server."""

import http.server
import os
import pathlib
import runpy
import threading

import httpx
import pytest

from surehook import Problem, VerificationError, connect, events, pages, verify
from surehook._client import _Repeating
from surehook.openapi.api.endpoints import change_endpoint, create_endpoint, get_endpoint, list_endpoints
from surehook.openapi.api.events import get_event, post_event, post_events
from surehook.openapi.models import BatchEvent, BatchRequest, EndpointCreate, EndpointFields, EventRequest

folder = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def api():
    return connect(os.environ["API"], os.environ["KEY"])


@pytest.fixture
def receiver():
    """A receiver on loopback: its URL and the requests that came."""
    came, arrived = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            came.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()
            arrived.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", came, arrived
    server.shutdown()


def test_creates_posts_reads_changes_and_verifies(api, receiver):
    url, came, arrived = receiver
    created = create_endpoint.sync("python", client=api, body=EndpointCreate(url=url, timeout="7s"))
    accepted = post_event.sync("python", client=api, body=EventRequest(event_type="order.paid", payload={"order": 4711}))
    assert accepted.deliveries == 1
    assert arrived.wait(30)
    headers, body = came[0]
    assert verify([created.secret], headers, body)["data"] == {"order": 4711}
    with pytest.raises(VerificationError):
        verify(created.secret, headers, body + b" ")
    assert get_event.sync("python", accepted.id, client=api).payload == {"order": 4711}

    before = get_endpoint.sync("python", created.id, client=api).to_dict()
    changed = change_endpoint.sync("python", created.id, client=api, body=EndpointFields(description="new")).to_dict()
    for name in ("version", "updated_at", "description", "slow", "circuit_state", "signed_by", "condition"):
        before.pop(name, None), changed.pop(name, None)
    assert before == changed
    assert created.id in [e.id for e in pages(list_endpoints.sync, "python", client=api, limit=1)]


def test_a_batch_has_keys(api):
    accepted = post_events.sync("python", client=api, body=BatchRequest(events=[BatchEvent(event_type="a", payload=1), BatchEvent(event_type="b", payload=2)]))
    assert len({item.id for item in accepted.data}) == 2


def test_a_problem_names_the_field(api):
    with pytest.raises(Problem) as raised:
        post_event.sync("python", client=api, body=EventRequest(event_type="a b", payload=1))
    assert (raised.value.status, raised.value.code, list(raised.value.fields)) == (400, "invalid", ["event_type"])


def repeated(method, path, answers, **sent):
    """Returns the last answer or exception, the requests and the waits of one call. An answer of None is none."""
    requests, waits = [], []

    def respond(request):
        requests.append(request)
        status, headers = answers[len(requests) - 1]
        if status is None:
            raise httpx.ConnectError("none", request=request)
        return httpx.Response(status, headers=headers)

    transport = _Repeating(httpx.MockTransport(respond), 3, 0.5, waits.append)
    with httpx.Client(transport=transport, base_url="https://api") as client:
        try:
            return client.request(method, path, **sent).status_code, requests, waits
        except httpx.TransportError as failure:
            return type(failure), requests, waits


@pytest.mark.parametrize(
    ("method", "path", "answers", "sent", "want", "tries"),
    [
        ("GET", "/v1/health", [(503, {}), (200, {})], {}, 200, 2),
        ("GET", "/v1/health", [(None, {}), (None, {}), (None, {})], {}, httpx.ConnectError, 3),
        ("GET", "/v1/health", [(404, {})], {}, 404, 1),
        ("POST", "/v1/tenants/a/endpoints", [(503, {})], {"json": {}}, 503, 1),
        ("POST", "/v1/tenants/a/endpoints", [(None, {})], {"json": {}}, httpx.ConnectError, 1),
        ("POST", "/v1/tenants/a/endpoints", [(429, {"retry-after": "2"}), (201, {})], {"json": {}}, 201, 2),
        ("POST", "/v1/tenants/a/events", [(500, {}), (202, {})], {"json": {"event_type": "a"}}, 202, 2),
        ("POST", "/v1/tenants/a/replays", [(500, {}), (200, {})], {"json": {"dry_run": True}}, 200, 2),
        ("POST", "/v1/tenants/a/replays", [(500, {})], {"json": {}}, 500, 1),
        ("PATCH", "/v1/tenants/a/endpoints/e", [(500, {})], {"json": {}}, 500, 1),
    ],
)
def test_repetitions(method, path, answers, sent, want, tries):
    got, requests, waits = repeated(method, path, answers, **sent)
    assert (got, len(requests), len(waits)) == (want, tries, tries - 1)
    assert len({r.headers.get("idempotency-key") for r in requests}) == 1
    if answers[0][1]:
        assert waits == [2.0]


def test_events_of_a_batch():
    assert events(b'{"type": "surehook.batch", "events": [{"id": "evt_1"}]}') == [{"id": "evt_1"}]
    with pytest.raises(ValueError):
        events("{}")


def test_the_readme_shows_the_example_and_it_runs():
    example = (folder / "example.py").read_text()
    assert f"```python\n{example}```" in (folder.parent / "README.md").read_text()
    runpy.run_path(str(folder / "example.py"))
