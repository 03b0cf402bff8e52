import os
import uuid

import httpx

from surehook import Problem, connect, pages
from surehook.openapi.api.endpoints import create_endpoint, list_endpoints
from surehook.openapi.api.events import post_event
from surehook.openapi.models import EndpointCreate, EventRequest

api = connect(os.environ["API"], os.environ["KEY"])

created = create_endpoint.sync("acme", client=api, body=EndpointCreate(url="http://127.0.0.1:9/hooks", uid=f"orders-{uuid.uuid4().hex[:8]}", event_types=["order.*"]))
print(created.id, created.secret)

try:
    accepted = post_event.sync("acme", client=api, body=EventRequest(event_type="order.paid", payload={"order": 4711}, idempotency_key=f"order-4711-paid-{created.id}"))
    print(accepted.id, accepted.deliveries)
except Problem as problem:
    print(problem.status, problem.code, problem.fields)
except httpx.TransportError as unreachable:
    print(unreachable)

for endpoint in pages(list_endpoints.sync, "acme", client=api):
    print(endpoint.uid, endpoint.status)
