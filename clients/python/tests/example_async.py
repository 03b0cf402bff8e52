import asyncio
import os

from surehook import AsyncSurehook


async def main() -> None:
    async with AsyncSurehook(os.environ["SUREHOOK_URL"], os.environ["SUREHOOK_API_KEY"]) as surehook:
        event = await surehook.events.create("acme", {"event_type": "order.shipped", "payload": {"order": 4711}})
        print(event["id"], event["deliveries"])
        async for endpoint in surehook.endpoints.list("acme"):
            print(endpoint["url"], endpoint["status"])


asyncio.run(main())
