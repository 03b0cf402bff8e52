"""Requests and their repetitions, for the methods in _resources.py."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Generic, TypedDict, TypeVar
from urllib.parse import quote

import httpx
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from ._errors import ProblemError, UnreachableError

T = TypeVar("T")

_MAX_WAIT = 30.0  # seconds, also of a Retry-After
_HEADERS = frozenset({"Idempotency-Key", "If-Match", "traceparent"})  # of the parameters; the others are of the query


class Page(TypedDict, Generic[T]):
    data: list[T]
    next_cursor: str | None


class Pages(Generic[T]):
    """A list. A loop over it yields the items of all pages, and reads a page only when its first item is asked for."""

    def __init__(self, read: Callable[[str | None], Page[T]]) -> None:
        self._read = read

    def page(self) -> Page[T]:
        """Reads one page. Its next_cursor is the cursor of the next one, None at the end."""
        return self._read(None)

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page["data"]
        while page["next_cursor"]:
            page = self._read(page["next_cursor"])
            yield from page["data"]


class AsyncPages(Generic[T]):
    """A list. ``async for`` yields the items of all pages, and reads a page only when its first item is asked for."""

    def __init__(self, read: Callable[[str | None], Coroutine[Any, Any, Page[T]]]) -> None:
        self._read = read

    async def page(self) -> Page[T]:
        """Reads one page. Its next_cursor is the cursor of the next one, None at the end."""
        return await self._read(None)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self.page()
        for item in page["data"]:
            yield item
        while page["next_cursor"]:
            page = await self._read(page["next_cursor"])
            for item in page["data"]:
                yield item


class Call:
    """Sends requests with a client of httpx, and again where that is safe."""

    def __init__(self, http: httpx.Client, attempts: int, wait: float) -> None:
        self._http, self._attempts, self._wait = http, attempts, wait

    def send(self, method: str, path: str, names: dict[str, str], params: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        request = self._http.build_request(**_parts(method, path, names, params, body))
        return Retrying(**_policy(request, self._attempts, self._wait))(self._once, request)

    def _once(self, request: httpx.Request) -> Any:
        try:
            return _result(self._http.send(request))
        except httpx.TransportError as cause:
            raise UnreachableError(request.url.netloc.decode(), cause) from cause

    def pages(self, method: str, path: str, names: dict[str, str], params: Mapping[str, Any]) -> Pages[Any]:
        return Pages(lambda cursor: self.send(method, path, names, params if cursor is None else {**params, "cursor": cursor}))


class AsyncCall:
    """The same with an asynchronous client."""

    def __init__(self, http: httpx.AsyncClient, attempts: int, wait: float) -> None:
        self._http, self._attempts, self._wait = http, attempts, wait

    async def send(self, method: str, path: str, names: dict[str, str], params: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        request = self._http.build_request(**_parts(method, path, names, params, body))
        return await AsyncRetrying(**_policy(request, self._attempts, self._wait))(self._once, request)

    async def _once(self, request: httpx.Request) -> Any:
        try:
            return _result(await self._http.send(request))
        except httpx.TransportError as cause:
            raise UnreachableError(request.url.netloc.decode(), cause) from cause

    def pages(self, method: str, path: str, names: dict[str, str], params: Mapping[str, Any]) -> AsyncPages[Any]:
        return AsyncPages(lambda cursor: self.send(method, path, names, params if cursor is None else {**params, "cursor": cursor}))


def _parts(method: str, path: str, names: dict[str, str], params: Mapping[str, Any] | None, body: Any) -> dict[str, Any]:
    """Returns the parts of a request. Every posted event gets an idempotency key, so the repetitions of a call make one event."""
    given = {name: value for name, value in (params or {}).items() if value is not None}
    headers = {name: given.pop(name) for name in _HEADERS & given.keys()}
    if method == "POST" and path.endswith("/events") and "Idempotency-Key" not in headers and not body.get("idempotency_key"):
        headers["Idempotency-Key"] = str(uuid.uuid4())
    if method == "POST" and path.endswith("/events/batch"):
        body = {**body, "events": [{**event, "idempotency_key": event.get("idempotency_key") or str(uuid.uuid4())} for event in body["events"]]}
    url = path.format(**{name: quote(value, safe="") for name, value in names.items()})
    return {"method": method, "url": url, "params": given, "headers": headers, "json": body}


def _policy(request: httpx.Request, attempts: int, wait: float) -> dict[str, Any]:
    """Returns when a request is sent again: after a 429, which had no effect, and if it has no second effect after a 5xx or no answer."""
    again = request.method in ("GET", "PUT", "DELETE") or request.url.path.endswith(("/events", "/events/batch"))
    if request.method == "POST" and request.url.path.endswith("/replays"):
        again = json.loads(request.content).get("dry_run") is True
    growing = wait_random_exponential(multiplier=wait, max=_MAX_WAIT)

    def temporary(error: BaseException) -> bool:
        if isinstance(error, ProblemError):
            return error.status == 429 or (again and (error.status >= 500 or error.code == "in_progress"))
        return again and isinstance(error, UnreachableError)

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return min(error.retry_after, _MAX_WAIT) if isinstance(error, ProblemError) and error.retry_after else growing(state)

    return {"stop": stop_after_attempt(attempts), "retry": retry_if_exception(temporary), "wait": pause, "reraise": True}


def _result(answer: httpx.Response) -> Any:
    """Returns the JSON of an answer, None for an empty one, and raises a ProblemError for any other than 2xx."""
    if answer.is_success and not answer.content:
        return None
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.is_success and body is not None:
        return body
    if answer.is_success:
        raise ProblemError(answer.status_code, "", "the answer is not JSON: the address is not the API's", {})
    problem = body if isinstance(body, dict) else {}
    fields = {error["field"]: error["message"] for error in problem.get("errors", [])}
    asked = answer.headers.get("retry-after", "")
    detail = problem.get("detail") or problem.get("message") or answer.reason_phrase
    raise ProblemError(answer.status_code, problem.get("code", ""), detail, fields, float(asked) if asked.isdecimal() else 0)
