from collections.abc import Callable, Iterator
from typing import Any


def pages(read: Callable[..., Any], *args: Any, **query: Any) -> Iterator[Any]:
    """Yields the items of all pages of a list, such as ``pages(list_endpoints.sync, "acme", client=api)``."""
    cursor: dict[str, str] = {}
    while True:
        page = read(*args, **query, **cursor)
        yield from page.data
        if not page.next_cursor:
            return
        cursor = {"cursor": page.next_cursor}
