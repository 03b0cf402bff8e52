import os

from surehook import ProblemError, Surehook, UnreachableError

surehook = Surehook(os.environ["SUREHOOK_URL"], os.environ["SUREHOOK_API_KEY"])

endpoint = surehook.endpoints.create("acme", {"url": "http://127.0.0.1:3000/", "event_types": ["order.*"]})
print(endpoint["id"], endpoint["secret"])

try:
    event = surehook.events.create("acme", {"event_type": "order.paid", "payload": {"order": 4711}, "idempotency_key": "order-4711-paid"})
    print(event["id"], event["deliveries"])
except ProblemError as problem:
    print(problem.status, problem.code, problem.fields)
except UnreachableError as unreachable:
    print(unreachable.host)

for one in surehook.endpoints.list("acme"):
    print(one["url"], one["status"])
