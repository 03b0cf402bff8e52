"""The small face of the generated client: keys of idempotency, repetitions and problems."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from .openapi import AuthenticatedClient

_MAX_WAIT = 30.0  # seconds, also of a Retry-After


class Problem(Exception):
    """An error of the API. The code is empty for a request refused by API Gateway."""

    def __init__(self, status: int, code: str, detail: str, fields: dict[str, str]) -> None:
        self.status, self.code, self.detail, self.fields = status, code, detail, fields
        wrong = "".join(f"; {field} {message}" for field, message in fields.items())
        super().__init__(f"{status} {code or 'from API Gateway'}: {detail}{wrong}")


class _Again(Exception):
    """An answer, or none, after which the request may be sent again."""

    def __init__(self, answer: httpx.Response | None, failure: httpx.TransportError | None) -> None:
        self.answer, self.failure = answer, failure


def connect(
    address: str,
    key: str,
    *,
    attempts: int = 5,
    wait: float = 0.5,
    timeout: float = 35.0,
    transport: httpx.BaseTransport | None = None,
) -> AuthenticatedClient:
    """Returns a client for the generated functions, such as ``post_event.sync``.

    Every function raises a Problem for a status of 400 or more, and httpx.TransportError without an answer. Calls without
    a second effect are made up to ``attempts`` times, with ``wait`` seconds before the second and at most 30 s before
    the others. An attempt lasts at most ``timeout`` seconds: API Gateway answers after 29 s at the latest. Redirects are
    not followed, so the key stays at the address.
    """
    return AuthenticatedClient(
        base_url=address.rstrip("/"),
        token=key,
        timeout=httpx.Timeout(timeout),
        follow_redirects=False,
        httpx_args={
            "transport": _Repeating(transport or httpx.HTTPTransport(), attempts, wait),
            "event_hooks": {"response": [_raise_problem]},
        },
    )


class _Repeating(httpx.BaseTransport):
    """Gives each posted event a key, and sends requests again."""

    def __init__(self, transport: httpx.BaseTransport, attempts: int, wait: float, sleep: Callable[[float], None] | None = None) -> None:
        self._transport, self._growing = transport, wait_random_exponential(multiplier=wait, max=_MAX_WAIT)
        self._attempts, self._sleep = attempts, sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request = _with_keys(request)
        again = _repeatable(request)

        def attempt() -> httpx.Response:
            try:
                answer = self._transport.handle_request(request)
            except httpx.TransportError as failure:
                if not again:
                    raise
                raise _Again(None, failure) from failure
            if answer.status_code == 429 or (answer.status_code >= 500 and again):
                raise _Again(answer, None)
            return answer

        retrying = Retrying(
            retry=retry_if_exception_type(_Again), stop=stop_after_attempt(self._attempts), wait=self._wait, before_sleep=_close, reraise=True,
            **({"sleep": self._sleep} if self._sleep else {}),
        )
        try:
            return retrying(attempt)
        except _Again as last:
            if last.answer is not None:
                return last.answer
            raise (last.failure or httpx.TransportError("no answer")) from None

    def _wait(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.answer.headers.get("retry-after", "") if isinstance(failure, _Again) and failure.answer is not None else ""
        return min(float(asked), _MAX_WAIT) if asked.isdecimal() else self._growing(state)

    def close(self) -> None:
        self._transport.close()


def _close(state: RetryCallState) -> None:
    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, _Again) and failure.answer is not None:
        failure.answer.close()


def _body(request: httpx.Request) -> dict[str, Any]:
    body = json.loads(request.read() or b"{}")
    return body if isinstance(body, dict) else {}


def _with_keys(request: httpx.Request) -> httpx.Request:
    """Gives every posted event without an idempotency key a random one: the repetitions of one call make one event."""
    if request.method != "POST":
        return request
    if request.url.path.endswith("/events") and "idempotency-key" not in request.headers and not _body(request).get("idempotency_key"):
        request.headers["idempotency-key"] = str(uuid.uuid4())
    if request.url.path.endswith("/events/batch"):
        body = _body(request)
        body["events"] = [{**event, "idempotency_key": event.get("idempotency_key") or str(uuid.uuid4())} for event in body.get("events", [])]
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        return httpx.Request(request.method, request.url, headers=headers, json=body, extensions=request.extensions)
    return request


def _repeatable(request: httpx.Request) -> bool:
    """Reports whether a second request has no second effect."""
    if request.method != "POST":
        return request.method in ("GET", "PUT", "DELETE")
    if request.url.path.endswith(("/events", "/events/batch")):
        return True  # with keys
    return request.url.path.endswith("/replays") and _body(request).get("dry_run") is True


def _raise_problem(response: httpx.Response) -> None:
    if response.status_code < 400:
        return
    response.read()
    try:
        body = response.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    fields = {error["field"]: error["message"] for error in body.get("errors", [])}
    raise Problem(response.status_code, body.get("code", ""), body.get("detail") or body.get("message") or response.reason_phrase, fields)
