from __future__ import annotations

from typing import Any, Self

import httpx

from ._call import AsyncCall, Call
from ._resources import AsyncResources, Resources


class Surehook(Resources):
    """Calls the API at an address, such as https://hooks.example.com, with a key such as shk_...

    Each call raises a ProblemError when the API refuses it, and an UnreachableError without an answer. Calls without a
    second effect are made up to ``attempts`` times, with about ``wait`` seconds before the second and at most 30 s before
    the others. ``timeout`` is in seconds, because API Gateway answers after 29 s at the latest. Redirects are not followed,
    so the key stays at the address. ``options`` are of httpx.Client, such as ``proxy``, ``verify`` and ``transport``; by
    default it takes the proxies of the environment.
    """

    def __init__(self, address: str, key: str, *, attempts: int = 5, wait: float = 0.5, timeout: float = 35.0, **options: Any) -> None:
        self._http = httpx.Client(**_settings(address, key, timeout), **options)
        super().__init__(Call(self._http, attempts, wait))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSurehook(AsyncResources):
    """Surehook with methods to await, and lists for ``async for``. ``options`` are of httpx.AsyncClient."""

    def __init__(self, address: str, key: str, *, attempts: int = 5, wait: float = 0.5, timeout: float = 35.0, **options: Any) -> None:
        self._http = httpx.AsyncClient(**_settings(address, key, timeout), **options)
        super().__init__(AsyncCall(self._http, attempts, wait))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _settings(address: str, key: str, timeout: float) -> dict[str, Any]:
    return {"base_url": address.rstrip("/"), "headers": {"Authorization": f"Bearer {key}"}, "timeout": timeout, "follow_redirects": False}
