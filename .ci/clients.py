"""Runs the client that openapi-python-client generated: create, post, read, change one field."""

import os

from python import AuthenticatedClient
from python.api.endpoints import change_endpoint, create_endpoint, get_endpoint
from python.api.events import get_event, post_event
from python.models import EndpointCreate, EndpointFields, EventRequest

client = AuthenticatedClient(base_url=os.environ["API"], token=os.environ["KEY"])
created = create_endpoint.sync("acme", client=client, body=EndpointCreate(url="http://127.0.0.1:9/python", timeout="7s", max_in_flight=3))
accepted = post_event.sync("acme", client=client, body=EventRequest(event_type="order.paid", payload={"order": 4711}))
assert get_event.sync("acme", accepted.id, client=client).payload == {"order": 4711}

before = get_endpoint.sync("acme", created.id, client=client).to_dict()
changed = change_endpoint.sync("acme", created.id, client=client, body=EndpointFields(description="new")).to_dict()
for name in ("version", "updated_at", "description", "slow", "circuit_state"):
    before.pop(name), changed.pop(name, None)
assert before == changed, (before, changed)
print("ok")
