# Written by `make generate` from the contract.
from __future__ import annotations

from typing import Literal

from . import types
from ._call import AsyncCall, AsyncPages, Call, Pages





class DeadLetters:
    def __init__(self, call: Call) -> None:
        self._call = call

    def analyse(self, tenant: str, *, period: str | None = None) -> types.DeadLetterAnalysis:
        """Group the dead deliveries by cause."""
        result: types.DeadLetterAnalysis = self._call.send("GET", "/v1/tenants/{tenant}/dead-letters/analysis", {"tenant": tenant}, params={"period": period})
        return result

    def list(self, tenant: str, *, endpoint: str | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, blocking: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Delivery]:
        """List a tenant's dead letters."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/dead-letters", {"tenant": tenant}, params={"endpoint": endpoint, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "blocking": blocking, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})


class AsyncDeadLetters:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def analyse(self, tenant: str, *, period: str | None = None) -> types.DeadLetterAnalysis:
        """Group the dead deliveries by cause."""
        result: types.DeadLetterAnalysis = await self._call.send("GET", "/v1/tenants/{tenant}/dead-letters/analysis", {"tenant": tenant}, params={"period": period})
        return result

    def list(self, tenant: str, *, endpoint: str | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, blocking: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Delivery]:
        """List a tenant's dead letters."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/dead-letters", {"tenant": tenant}, params={"endpoint": endpoint, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "blocking": blocking, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})


class Deliveries:
    def __init__(self, call: Call) -> None:
        self._call = call

    def cancel(self, tenant: str, delivery: str, body: types.CancelRequest | None = None) -> types.Delivery:
        """Cancel a delivery in progress."""
        result: types.Delivery = self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/cancel", {"tenant": tenant, "delivery": delivery}, body=body)
        return result

    def discard(self, tenant: str, delivery: str, body: types.DiscardRequest) -> types.Delivery:
        """Discard a dead delivery."""
        result: types.Delivery = self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/discard", {"tenant": tenant, "delivery": delivery}, body=body)
        return result

    def get(self, tenant: str, delivery: str) -> types.DeliveryDetail:
        """Read a delivery with past and planned attempts."""
        result: types.DeliveryDetail = self._call.send("GET", "/v1/tenants/{tenant}/deliveries/{delivery}", {"tenant": tenant, "delivery": delivery})
        return result

    def list(self, tenant: str, *, endpoint: str | None = None, state: Literal["retrying", "parked", "delivered", "dead", "discarded", "cancelled"] | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Delivery]:
        """List a tenant's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/deliveries", {"tenant": tenant}, params={"endpoint": endpoint, "state": state, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    def replay(self, tenant: str, delivery: str, body: types.ReplayRequest | None = None) -> types.Delivery:
        """Replay a delivery."""
        result: types.Delivery = self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/replay", {"tenant": tenant, "delivery": delivery}, body=body)
        return result


class AsyncDeliveries:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def cancel(self, tenant: str, delivery: str, body: types.CancelRequest | None = None) -> types.Delivery:
        """Cancel a delivery in progress."""
        result: types.Delivery = await self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/cancel", {"tenant": tenant, "delivery": delivery}, body=body)
        return result

    async def discard(self, tenant: str, delivery: str, body: types.DiscardRequest) -> types.Delivery:
        """Discard a dead delivery."""
        result: types.Delivery = await self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/discard", {"tenant": tenant, "delivery": delivery}, body=body)
        return result

    async def get(self, tenant: str, delivery: str) -> types.DeliveryDetail:
        """Read a delivery with past and planned attempts."""
        result: types.DeliveryDetail = await self._call.send("GET", "/v1/tenants/{tenant}/deliveries/{delivery}", {"tenant": tenant, "delivery": delivery})
        return result

    def list(self, tenant: str, *, endpoint: str | None = None, state: Literal["retrying", "parked", "delivered", "dead", "discarded", "cancelled"] | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Delivery]:
        """List a tenant's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/deliveries", {"tenant": tenant}, params={"endpoint": endpoint, "state": state, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    async def replay(self, tenant: str, delivery: str, body: types.ReplayRequest | None = None) -> types.Delivery:
        """Replay a delivery."""
        result: types.Delivery = await self._call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/replay", {"tenant": tenant, "delivery": delivery}, body=body)
        return result


class Endpoints:
    def __init__(self, call: Call) -> None:
        self._call = call

    def create(self, tenant: str, body: types.EndpointCreate) -> types.EndpointWithSecret:
        """Create an endpoint."""
        result: types.EndpointWithSecret = self._call.send("POST", "/v1/tenants/{tenant}/endpoints", {"tenant": tenant}, body=body)
        return result

    def decisions(self, tenant: str, endpoint: str, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.Decision]:
        """List the decisions about an endpoint."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/decisions", {"tenant": tenant, "endpoint": endpoint}, params={"limit": limit, "cursor": cursor})

    def delete(self, tenant: str, endpoint: str, *, if_match: str | None = None) -> None:
        """Delete an endpoint."""
        self._call.send("DELETE", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint}, params={"If-Match": if_match})

    def deliveries(self, tenant: str, endpoint: str, *, state: Literal["retrying", "parked", "delivered", "dead", "discarded", "cancelled"] | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Delivery]:
        """List an endpoint's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries", {"tenant": tenant, "endpoint": endpoint}, params={"state": state, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    def disable(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Disable an endpoint."""
        result: types.Endpoint = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/disable", {"tenant": tenant, "endpoint": endpoint})
        return result

    def enable(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Enable a disabled endpoint."""
        result: types.Endpoint = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/enable", {"tenant": tenant, "endpoint": endpoint})
        return result

    def end_overlap(self, tenant: str, endpoint: str) -> types.Endpoint:
        """End the overlap of a rotation."""
        result: types.Endpoint = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/end-overlap", {"tenant": tenant, "endpoint": endpoint})
        return result

    def get(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Read an endpoint and the state of the circuit."""
        result: types.EndpointDetail = self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint})
        return result

    def health(self, tenant: str, endpoint: str) -> types.EndpointHealth:
        """Read the health of an endpoint."""
        result: types.EndpointHealth = self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/health", {"tenant": tenant, "endpoint": endpoint})
        return result

    def list(self, tenant: str, *, slow: bool | None = None, signed_by: Literal["new", "both", "old"] | None = None, ids: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Endpoint]:
        """List endpoints."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints", {"tenant": tenant}, params={"slow": slow, "signed_by": signed_by, "ids": ids, "limit": limit, "cursor": cursor})

    def open_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Open an endpoint's circuit."""
        result: types.EndpointDetail = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/open", {"tenant": tenant, "endpoint": endpoint})
        return result

    def pause(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Pause an endpoint."""
        result: types.Endpoint = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/pause", {"tenant": tenant, "endpoint": endpoint})
        return result

    def preview(self, tenant: str, endpoint: str, body: types.PreviewRequest) -> types.Preview:
        """Preview a request."""
        result: types.Preview = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/preview", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    def probe_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Probe an endpoint now."""
        result: types.EndpointDetail = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/probe", {"tenant": tenant, "endpoint": endpoint})
        return result

    def reset_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Close an endpoint's circuit."""
        result: types.EndpointDetail = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/reset", {"tenant": tenant, "endpoint": endpoint})
        return result

    def resume(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Resume a paused endpoint."""
        result: types.Endpoint = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/resume", {"tenant": tenant, "endpoint": endpoint})
        return result

    def rotate_secret(self, tenant: str, endpoint: str, body: types.RotateRequest | None = None) -> types.EndpointWithSecret:
        """Rotate the signing secret."""
        result: types.EndpointWithSecret = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/rotate-secret", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    def stats(self, tenant: str, endpoint: str, *, since: str | None = None, until: str | None = None, by: Literal["hour", "total"] | None = None, group: Literal["type"] | None = None) -> types.Stats:
        """Read the statistics of an endpoint."""
        result: types.Stats = self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/stats", {"tenant": tenant, "endpoint": endpoint}, params={"since": since, "until": until, "by": by, "group": group})
        return result

    def test(self, tenant: str, endpoint: str, body: types.TestRequest | None = None) -> types.Accepted:
        """Send a test event."""
        result: types.Accepted = self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/test", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    def update(self, tenant: str, endpoint: str, body: types.EndpointFields, *, if_match: str | None = None) -> types.Endpoint:
        """Change an endpoint."""
        result: types.Endpoint = self._call.send("PATCH", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint}, params={"If-Match": if_match}, body=body)
        return result


class AsyncEndpoints:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def create(self, tenant: str, body: types.EndpointCreate) -> types.EndpointWithSecret:
        """Create an endpoint."""
        result: types.EndpointWithSecret = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints", {"tenant": tenant}, body=body)
        return result

    def decisions(self, tenant: str, endpoint: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Decision]:
        """List the decisions about an endpoint."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/decisions", {"tenant": tenant, "endpoint": endpoint}, params={"limit": limit, "cursor": cursor})

    async def delete(self, tenant: str, endpoint: str, *, if_match: str | None = None) -> None:
        """Delete an endpoint."""
        await self._call.send("DELETE", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint}, params={"If-Match": if_match})

    def deliveries(self, tenant: str, endpoint: str, *, state: Literal["retrying", "parked", "delivered", "dead", "discarded", "cancelled"] | None = None, event_type: str | None = None, status_class: Literal["none", "2xx", "3xx", "4xx", "5xx"] | None = None, failed_attempt: bool | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Delivery]:
        """List an endpoint's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries", {"tenant": tenant, "endpoint": endpoint}, params={"state": state, "event_type": event_type, "status_class": status_class, "failed_attempt": failed_attempt, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    async def disable(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Disable an endpoint."""
        result: types.Endpoint = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/disable", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def enable(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Enable a disabled endpoint."""
        result: types.Endpoint = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/enable", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def end_overlap(self, tenant: str, endpoint: str) -> types.Endpoint:
        """End the overlap of a rotation."""
        result: types.Endpoint = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/end-overlap", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def get(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Read an endpoint and the state of the circuit."""
        result: types.EndpointDetail = await self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def health(self, tenant: str, endpoint: str) -> types.EndpointHealth:
        """Read the health of an endpoint."""
        result: types.EndpointHealth = await self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/health", {"tenant": tenant, "endpoint": endpoint})
        return result

    def list(self, tenant: str, *, slow: bool | None = None, signed_by: Literal["new", "both", "old"] | None = None, ids: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Endpoint]:
        """List endpoints."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/endpoints", {"tenant": tenant}, params={"slow": slow, "signed_by": signed_by, "ids": ids, "limit": limit, "cursor": cursor})

    async def open_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Open an endpoint's circuit."""
        result: types.EndpointDetail = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/open", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def pause(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Pause an endpoint."""
        result: types.Endpoint = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/pause", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def preview(self, tenant: str, endpoint: str, body: types.PreviewRequest) -> types.Preview:
        """Preview a request."""
        result: types.Preview = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/preview", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    async def probe_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Probe an endpoint now."""
        result: types.EndpointDetail = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/probe", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def reset_circuit(self, tenant: str, endpoint: str) -> types.EndpointDetail:
        """Close an endpoint's circuit."""
        result: types.EndpointDetail = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/reset", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def resume(self, tenant: str, endpoint: str) -> types.Endpoint:
        """Resume a paused endpoint."""
        result: types.Endpoint = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/resume", {"tenant": tenant, "endpoint": endpoint})
        return result

    async def rotate_secret(self, tenant: str, endpoint: str, body: types.RotateRequest | None = None) -> types.EndpointWithSecret:
        """Rotate the signing secret."""
        result: types.EndpointWithSecret = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/rotate-secret", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    async def stats(self, tenant: str, endpoint: str, *, since: str | None = None, until: str | None = None, by: Literal["hour", "total"] | None = None, group: Literal["type"] | None = None) -> types.Stats:
        """Read the statistics of an endpoint."""
        result: types.Stats = await self._call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/stats", {"tenant": tenant, "endpoint": endpoint}, params={"since": since, "until": until, "by": by, "group": group})
        return result

    async def test(self, tenant: str, endpoint: str, body: types.TestRequest | None = None) -> types.Accepted:
        """Send a test event."""
        result: types.Accepted = await self._call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/test", {"tenant": tenant, "endpoint": endpoint}, body=body)
        return result

    async def update(self, tenant: str, endpoint: str, body: types.EndpointFields, *, if_match: str | None = None) -> types.Endpoint:
        """Change an endpoint."""
        result: types.Endpoint = await self._call.send("PATCH", "/v1/tenants/{tenant}/endpoints/{endpoint}", {"tenant": tenant, "endpoint": endpoint}, params={"If-Match": if_match}, body=body)
        return result


class EventTypes:
    def __init__(self, call: Call) -> None:
        self._call = call

    def delete(self, event_type: str, *, if_match: str | None = None) -> None:
        """Delete an event type."""
        self._call.send("DELETE", "/v1/event-types/{type}", {"type": event_type}, params={"If-Match": if_match})

    def get(self, event_type: str) -> types.EventType:
        """Read an event type."""
        result: types.EventType = self._call.send("GET", "/v1/event-types/{type}", {"type": event_type})
        return result

    def list(self, *, limit: int | None = None, cursor: str | None = None, group: str | None = None, archived: bool | None = None) -> Pages[types.EventType]:
        """List event types."""
        return self._call.pages("GET", "/v1/event-types", {}, params={"limit": limit, "cursor": cursor, "group": group, "archived": archived})

    def set(self, event_type: str, body: types.EventTypeFields, *, if_match: str | None = None) -> types.EventType:
        """Create or replace an event type."""
        result: types.EventType = self._call.send("PUT", "/v1/event-types/{type}", {"type": event_type}, params={"If-Match": if_match}, body=body)
        return result


class AsyncEventTypes:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def delete(self, event_type: str, *, if_match: str | None = None) -> None:
        """Delete an event type."""
        await self._call.send("DELETE", "/v1/event-types/{type}", {"type": event_type}, params={"If-Match": if_match})

    async def get(self, event_type: str) -> types.EventType:
        """Read an event type."""
        result: types.EventType = await self._call.send("GET", "/v1/event-types/{type}", {"type": event_type})
        return result

    def list(self, *, limit: int | None = None, cursor: str | None = None, group: str | None = None, archived: bool | None = None) -> AsyncPages[types.EventType]:
        """List event types."""
        return self._call.pages("GET", "/v1/event-types", {}, params={"limit": limit, "cursor": cursor, "group": group, "archived": archived})

    async def set(self, event_type: str, body: types.EventTypeFields, *, if_match: str | None = None) -> types.EventType:
        """Create or replace an event type."""
        result: types.EventType = await self._call.send("PUT", "/v1/event-types/{type}", {"type": event_type}, params={"If-Match": if_match}, body=body)
        return result


class Events:
    def __init__(self, call: Call) -> None:
        self._call = call

    def attempts(self, tenant: str, event: str, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.Attempt]:
        """List an event's attempts."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events/{event}/attempts", {"tenant": tenant, "event": event}, params={"limit": limit, "cursor": cursor})

    def create(self, tenant: str, body: types.EventRequest, *, idempotency_key: str | None = None, traceparent: str | None = None) -> types.Accepted:
        """Post an event."""
        result: types.Accepted = self._call.send("POST", "/v1/tenants/{tenant}/events", {"tenant": tenant}, params={"Idempotency-Key": idempotency_key, "traceparent": traceparent}, body=body)
        return result

    def create_batch(self, tenant: str, body: types.BatchRequest, *, traceparent: str | None = None) -> types.BatchResult:
        """Post up to 100 events."""
        result: types.BatchResult = self._call.send("POST", "/v1/tenants/{tenant}/events/batch", {"tenant": tenant}, params={"traceparent": traceparent}, body=body)
        return result

    def deliveries(self, tenant: str, event: str, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.Delivery]:
        """List an event's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events/{event}/deliveries", {"tenant": tenant, "event": event}, params={"limit": limit, "cursor": cursor})

    def erase_payload(self, tenant: str, event: str) -> None:
        """Erase the payload of an event."""
        self._call.send("DELETE", "/v1/tenants/{tenant}/events/{event}/payload", {"tenant": tenant, "event": event})

    def get(self, tenant: str, event: str) -> types.Event:
        """Read an event with the payload."""
        result: types.Event = self._call.send("GET", "/v1/tenants/{tenant}/events/{event}", {"tenant": tenant, "event": event})
        return result

    def list(self, tenant: str, *, event_type: str | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.EventSummary]:
        """List a tenant's events."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events", {"tenant": tenant}, params={"event_type": event_type, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    def replay(self, tenant: str, event: str, body: types.ReplayRequest | None = None, *, endpoint: str | None = None) -> types.EventReplay:
        """Replay all deliveries of an event."""
        result: types.EventReplay = self._call.send("POST", "/v1/tenants/{tenant}/events/{event}/replay", {"tenant": tenant, "event": event}, params={"endpoint": endpoint}, body=body)
        return result


class AsyncEvents:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    def attempts(self, tenant: str, event: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Attempt]:
        """List an event's attempts."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events/{event}/attempts", {"tenant": tenant, "event": event}, params={"limit": limit, "cursor": cursor})

    async def create(self, tenant: str, body: types.EventRequest, *, idempotency_key: str | None = None, traceparent: str | None = None) -> types.Accepted:
        """Post an event."""
        result: types.Accepted = await self._call.send("POST", "/v1/tenants/{tenant}/events", {"tenant": tenant}, params={"Idempotency-Key": idempotency_key, "traceparent": traceparent}, body=body)
        return result

    async def create_batch(self, tenant: str, body: types.BatchRequest, *, traceparent: str | None = None) -> types.BatchResult:
        """Post up to 100 events."""
        result: types.BatchResult = await self._call.send("POST", "/v1/tenants/{tenant}/events/batch", {"tenant": tenant}, params={"traceparent": traceparent}, body=body)
        return result

    def deliveries(self, tenant: str, event: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Delivery]:
        """List an event's deliveries."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events/{event}/deliveries", {"tenant": tenant, "event": event}, params={"limit": limit, "cursor": cursor})

    async def erase_payload(self, tenant: str, event: str) -> None:
        """Erase the payload of an event."""
        await self._call.send("DELETE", "/v1/tenants/{tenant}/events/{event}/payload", {"tenant": tenant, "event": event})

    async def get(self, tenant: str, event: str) -> types.Event:
        """Read an event with the payload."""
        result: types.Event = await self._call.send("GET", "/v1/tenants/{tenant}/events/{event}", {"tenant": tenant, "event": event})
        return result

    def list(self, tenant: str, *, event_type: str | None = None, idempotency_key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.EventSummary]:
        """List a tenant's events."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/events", {"tenant": tenant}, params={"event_type": event_type, "idempotency_key": idempotency_key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    async def replay(self, tenant: str, event: str, body: types.ReplayRequest | None = None, *, endpoint: str | None = None) -> types.EventReplay:
        """Replay all deliveries of an event."""
        result: types.EventReplay = await self._call.send("POST", "/v1/tenants/{tenant}/events/{event}/replay", {"tenant": tenant, "event": event}, params={"endpoint": endpoint}, body=body)
        return result


class Keys:
    def __init__(self, call: Call) -> None:
        self._call = call

    def caller(self) -> types.Caller:
        """Read who calls."""
        result: types.Caller = self._call.send("GET", "/v1/caller", {})
        return result

    def create(self, body: types.KeyCreate) -> types.KeyWithText:
        """Create an API key."""
        result: types.KeyWithText = self._call.send("POST", "/v1/keys", {}, body=body)
        return result

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.Key]:
        """List API keys."""
        return self._call.pages("GET", "/v1/keys", {}, params={"limit": limit, "cursor": cursor})

    def revoke(self, key: str) -> None:
        """Revoke an API key."""
        self._call.send("DELETE", "/v1/keys/{key}", {"key": key})


class AsyncKeys:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def caller(self) -> types.Caller:
        """Read who calls."""
        result: types.Caller = await self._call.send("GET", "/v1/caller", {})
        return result

    async def create(self, body: types.KeyCreate) -> types.KeyWithText:
        """Create an API key."""
        result: types.KeyWithText = await self._call.send("POST", "/v1/keys", {}, body=body)
        return result

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Key]:
        """List API keys."""
        return self._call.pages("GET", "/v1/keys", {}, params={"limit": limit, "cursor": cursor})

    async def revoke(self, key: str) -> None:
        """Revoke an API key."""
        await self._call.send("DELETE", "/v1/keys/{key}", {"key": key})


class Pipeline:
    def __init__(self, call: Call) -> None:
        self._call = call

    def changes(self, *, action: str | None = None, target: str | None = None, key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Audit]:
        """List the changes outside of the tenants."""
        return self._call.pages("GET", "/v1/audit", {}, params={"action": action, "target": target, "key": key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    def health(self) -> types.Health:
        """Read the health of the pipeline."""
        result: types.Health = self._call.send("GET", "/v1/health", {})
        return result

    def search(self, *, q: str) -> types.FoundList:
        """Find a record of any tenant by an id, or tenants by a prefix."""
        result: types.FoundList = self._call.send("GET", "/v1/search", {}, params={"q": q})
        return result

    def stats(self, *, by: Literal["hour", "total"] | None = None, group: Literal["tenant"] | None = None) -> types.PipelineStats:
        """Read the statistics of all tenants."""
        result: types.PipelineStats = self._call.send("GET", "/v1/stats", {}, params={"by": by, "group": group})
        return result


class AsyncPipeline:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    def changes(self, *, action: str | None = None, target: str | None = None, key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Audit]:
        """List the changes outside of the tenants."""
        return self._call.pages("GET", "/v1/audit", {}, params={"action": action, "target": target, "key": key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    async def health(self) -> types.Health:
        """Read the health of the pipeline."""
        result: types.Health = await self._call.send("GET", "/v1/health", {})
        return result

    async def search(self, *, q: str) -> types.FoundList:
        """Find a record of any tenant by an id, or tenants by a prefix."""
        result: types.FoundList = await self._call.send("GET", "/v1/search", {}, params={"q": q})
        return result

    async def stats(self, *, by: Literal["hour", "total"] | None = None, group: Literal["tenant"] | None = None) -> types.PipelineStats:
        """Read the statistics of all tenants."""
        result: types.PipelineStats = await self._call.send("GET", "/v1/stats", {}, params={"by": by, "group": group})
        return result


class PortalLinks:
    def __init__(self, call: Call) -> None:
        self._call = call

    def create(self, tenant: str, body: types.PortalLinkRequest | None = None) -> types.PortalLink:
        """Create a link to the portal of a tenant."""
        result: types.PortalLink = self._call.send("POST", "/v1/tenants/{tenant}/portal-links", {"tenant": tenant}, body=body)
        return result

    def end(self, tenant: str, key: str) -> None:
        """End a link to the portal of a tenant."""
        self._call.send("DELETE", "/v1/tenants/{tenant}/portal-links/{key}", {"tenant": tenant, "key": key})


class AsyncPortalLinks:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def create(self, tenant: str, body: types.PortalLinkRequest | None = None) -> types.PortalLink:
        """Create a link to the portal of a tenant."""
        result: types.PortalLink = await self._call.send("POST", "/v1/tenants/{tenant}/portal-links", {"tenant": tenant}, body=body)
        return result

    async def end(self, tenant: str, key: str) -> None:
        """End a link to the portal of a tenant."""
        await self._call.send("DELETE", "/v1/tenants/{tenant}/portal-links/{key}", {"tenant": tenant, "key": key})


class PortalSessions:
    def __init__(self, call: Call) -> None:
        self._call = call

    def end(self, tenant: str) -> None:
        """Sign out of the portal."""
        self._call.send("DELETE", "/v1/tenants/{tenant}/portal-session", {"tenant": tenant})

    def open(self, tenant: str, body: types.PortalCode) -> types.PortalSession:
        """Take the code of a portal link for its key."""
        result: types.PortalSession = self._call.send("POST", "/v1/tenants/{tenant}/portal-session", {"tenant": tenant}, body=body)
        return result


class AsyncPortalSessions:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def end(self, tenant: str) -> None:
        """Sign out of the portal."""
        await self._call.send("DELETE", "/v1/tenants/{tenant}/portal-session", {"tenant": tenant})

    async def open(self, tenant: str, body: types.PortalCode) -> types.PortalSession:
        """Take the code of a portal link for its key."""
        result: types.PortalSession = await self._call.send("POST", "/v1/tenants/{tenant}/portal-session", {"tenant": tenant}, body=body)
        return result


class Rejects:
    def __init__(self, call: Call) -> None:
        self._call = call

    def list(self, *, limit: int | None = None) -> types.RejectList:
        """List wrong messages of the events queue."""
        result: types.RejectList = self._call.send("GET", "/v1/rejects", {}, params={"limit": limit})
        return result

    def redrive(self) -> types.Redriven:
        """Send all rejects to the events queue again."""
        result: types.Redriven = self._call.send("POST", "/v1/rejects/redrive", {})
        return result


class AsyncRejects:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def list(self, *, limit: int | None = None) -> types.RejectList:
        """List wrong messages of the events queue."""
        result: types.RejectList = await self._call.send("GET", "/v1/rejects", {}, params={"limit": limit})
        return result

    async def redrive(self) -> types.Redriven:
        """Send all rejects to the events queue again."""
        result: types.Redriven = await self._call.send("POST", "/v1/rejects/redrive", {})
        return result


class Replays:
    def __init__(self, call: Call) -> None:
        self._call = call

    def cancel(self, tenant: str, replay: str) -> types.ReplayProgress:
        """Cancel a replay job."""
        result: types.ReplayProgress = self._call.send("POST", "/v1/tenants/{tenant}/replays/{replay}/cancel", {"tenant": tenant, "replay": replay})
        return result

    def create(self, tenant: str, body: types.ReplayStart) -> types.Replay:
        """Replay the deliveries selected by a filter."""
        result: types.Replay = self._call.send("POST", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, body={**body, "dry_run": False})
        return result

    def get(self, tenant: str, replay: str) -> types.ReplayProgress:
        """Read a replay job with the progress."""
        result: types.ReplayProgress = self._call.send("GET", "/v1/tenants/{tenant}/replays/{replay}", {"tenant": tenant, "replay": replay})
        return result

    def list(self, tenant: str, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.Replay]:
        """List replay jobs."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, params={"limit": limit, "cursor": cursor})

    def preview(self, tenant: str, body: types.ReplayStart) -> types.ReplayPreview:
        """Replay the deliveries selected by a filter, as a dry run."""
        result: types.ReplayPreview = self._call.send("POST", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, body={**body, "dry_run": True})
        return result


class AsyncReplays:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    async def cancel(self, tenant: str, replay: str) -> types.ReplayProgress:
        """Cancel a replay job."""
        result: types.ReplayProgress = await self._call.send("POST", "/v1/tenants/{tenant}/replays/{replay}/cancel", {"tenant": tenant, "replay": replay})
        return result

    async def create(self, tenant: str, body: types.ReplayStart) -> types.Replay:
        """Replay the deliveries selected by a filter."""
        result: types.Replay = await self._call.send("POST", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, body={**body, "dry_run": False})
        return result

    async def get(self, tenant: str, replay: str) -> types.ReplayProgress:
        """Read a replay job with the progress."""
        result: types.ReplayProgress = await self._call.send("GET", "/v1/tenants/{tenant}/replays/{replay}", {"tenant": tenant, "replay": replay})
        return result

    def list(self, tenant: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Replay]:
        """List replay jobs."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, params={"limit": limit, "cursor": cursor})

    async def preview(self, tenant: str, body: types.ReplayStart) -> types.ReplayPreview:
        """Replay the deliveries selected by a filter, as a dry run."""
        result: types.ReplayPreview = await self._call.send("POST", "/v1/tenants/{tenant}/replays", {"tenant": tenant}, body={**body, "dry_run": True})
        return result


class Tenants:
    def __init__(self, call: Call) -> None:
        self._call = call

    def attention(self, tenant: str, *, limit: int | None = None, cursor: str | None = None) -> Pages[types.AttentionEndpoint]:
        """List a tenant's endpoints that need attention."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/attention", {"tenant": tenant}, params={"limit": limit, "cursor": cursor})

    def changes(self, tenant: str, *, action: str | None = None, target: str | None = None, key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Audit]:
        """List the changes of a tenant."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/audit", {"tenant": tenant}, params={"action": action, "target": target, "key": key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    def delete_limits(self, tenant: str) -> None:
        """Remove all limits of a tenant."""
        self._call.send("DELETE", "/v1/tenants/{tenant}/limits", {"tenant": tenant})

    def egress(self, tenant: str) -> types.Egress:
        """Read where requests can come from, and where deliveries can go."""
        result: types.Egress = self._call.send("GET", "/v1/tenants/{tenant}/egress", {"tenant": tenant})
        return result

    def erase(self, tenant: str) -> types.Erasure:
        """Erase a tenant."""
        result: types.Erasure = self._call.send("DELETE", "/v1/tenants/{tenant}", {"tenant": tenant})
        return result

    def erasure(self, tenant: str, erasure: str) -> types.Erasure:
        """Read the erasure of a tenant."""
        result: types.Erasure = self._call.send("GET", "/v1/tenants/{tenant}/erasures/{erasure}", {"tenant": tenant, "erasure": erasure})
        return result

    def health(self, tenant: str, *, search: str | None = None, limit: int | None = None) -> types.TenantHealth:
        """Read the health of a tenant's endpoints."""
        result: types.TenantHealth = self._call.send("GET", "/v1/tenants/{tenant}/health", {"tenant": tenant}, params={"search": search, "limit": limit})
        return result

    def limits(self, tenant: str) -> types.TenantLimits:
        """Read the limits of a tenant."""
        result: types.TenantLimits = self._call.send("GET", "/v1/tenants/{tenant}/limits", {"tenant": tenant})
        return result

    def list(self, *, prefix: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[types.Tenant]:
        """List tenants."""
        return self._call.pages("GET", "/v1/tenants", {}, params={"prefix": prefix, "limit": limit, "cursor": cursor})

    def search(self, tenant: str, *, q: str) -> types.FoundList:
        """Find a record of the tenant by an id or a name."""
        result: types.FoundList = self._call.send("GET", "/v1/tenants/{tenant}/search", {"tenant": tenant}, params={"q": q})
        return result

    def set_limits(self, tenant: str, body: types.TenantLimits) -> types.TenantLimits:
        """Replace the limits of a tenant."""
        result: types.TenantLimits = self._call.send("PUT", "/v1/tenants/{tenant}/limits", {"tenant": tenant}, body=body)
        return result

    def stats(self, tenant: str, *, since: str | None = None, until: str | None = None, by: Literal["hour", "total"] | None = None, group: Literal["endpoint", "type"] | None = None) -> types.Stats:
        """Read the statistics of a tenant."""
        result: types.Stats = self._call.send("GET", "/v1/tenants/{tenant}/stats", {"tenant": tenant}, params={"since": since, "until": until, "by": by, "group": group})
        return result


class AsyncTenants:
    def __init__(self, call: AsyncCall) -> None:
        self._call = call

    def attention(self, tenant: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.AttentionEndpoint]:
        """List a tenant's endpoints that need attention."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/attention", {"tenant": tenant}, params={"limit": limit, "cursor": cursor})

    def changes(self, tenant: str, *, action: str | None = None, target: str | None = None, key: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Audit]:
        """List the changes of a tenant."""
        return self._call.pages("GET", "/v1/tenants/{tenant}/audit", {"tenant": tenant}, params={"action": action, "target": target, "key": key, "since": since, "until": until, "limit": limit, "cursor": cursor})

    async def delete_limits(self, tenant: str) -> None:
        """Remove all limits of a tenant."""
        await self._call.send("DELETE", "/v1/tenants/{tenant}/limits", {"tenant": tenant})

    async def egress(self, tenant: str) -> types.Egress:
        """Read where requests can come from, and where deliveries can go."""
        result: types.Egress = await self._call.send("GET", "/v1/tenants/{tenant}/egress", {"tenant": tenant})
        return result

    async def erase(self, tenant: str) -> types.Erasure:
        """Erase a tenant."""
        result: types.Erasure = await self._call.send("DELETE", "/v1/tenants/{tenant}", {"tenant": tenant})
        return result

    async def erasure(self, tenant: str, erasure: str) -> types.Erasure:
        """Read the erasure of a tenant."""
        result: types.Erasure = await self._call.send("GET", "/v1/tenants/{tenant}/erasures/{erasure}", {"tenant": tenant, "erasure": erasure})
        return result

    async def health(self, tenant: str, *, search: str | None = None, limit: int | None = None) -> types.TenantHealth:
        """Read the health of a tenant's endpoints."""
        result: types.TenantHealth = await self._call.send("GET", "/v1/tenants/{tenant}/health", {"tenant": tenant}, params={"search": search, "limit": limit})
        return result

    async def limits(self, tenant: str) -> types.TenantLimits:
        """Read the limits of a tenant."""
        result: types.TenantLimits = await self._call.send("GET", "/v1/tenants/{tenant}/limits", {"tenant": tenant})
        return result

    def list(self, *, prefix: str | None = None, limit: int | None = None, cursor: str | None = None) -> AsyncPages[types.Tenant]:
        """List tenants."""
        return self._call.pages("GET", "/v1/tenants", {}, params={"prefix": prefix, "limit": limit, "cursor": cursor})

    async def search(self, tenant: str, *, q: str) -> types.FoundList:
        """Find a record of the tenant by an id or a name."""
        result: types.FoundList = await self._call.send("GET", "/v1/tenants/{tenant}/search", {"tenant": tenant}, params={"q": q})
        return result

    async def set_limits(self, tenant: str, body: types.TenantLimits) -> types.TenantLimits:
        """Replace the limits of a tenant."""
        result: types.TenantLimits = await self._call.send("PUT", "/v1/tenants/{tenant}/limits", {"tenant": tenant}, body=body)
        return result

    async def stats(self, tenant: str, *, since: str | None = None, until: str | None = None, by: Literal["hour", "total"] | None = None, group: Literal["endpoint", "type"] | None = None) -> types.Stats:
        """Read the statistics of a tenant."""
        result: types.Stats = await self._call.send("GET", "/v1/tenants/{tenant}/stats", {"tenant": tenant}, params={"since": since, "until": until, "by": by, "group": group})
        return result


class Resources:
    """The operations of the API by what they act on."""

    def __init__(self, call: Call) -> None:
        self.dead_letters = DeadLetters(call)
        self.deliveries = Deliveries(call)
        self.endpoints = Endpoints(call)
        self.event_types = EventTypes(call)
        self.events = Events(call)
        self.keys = Keys(call)
        self.pipeline = Pipeline(call)
        self.portal_links = PortalLinks(call)
        self.portal_sessions = PortalSessions(call)
        self.rejects = Rejects(call)
        self.replays = Replays(call)
        self.tenants = Tenants(call)


class AsyncResources:
    """The operations of the API by what they act on; each returns an awaitable or asynchronous pages."""

    def __init__(self, call: AsyncCall) -> None:
        self.dead_letters = AsyncDeadLetters(call)
        self.deliveries = AsyncDeliveries(call)
        self.endpoints = AsyncEndpoints(call)
        self.event_types = AsyncEventTypes(call)
        self.events = AsyncEvents(call)
        self.keys = AsyncKeys(call)
        self.pipeline = AsyncPipeline(call)
        self.portal_links = AsyncPortalLinks(call)
        self.portal_sessions = AsyncPortalSessions(call)
        self.rejects = AsyncRejects(call)
        self.replays = AsyncReplays(call)
        self.tenants = AsyncTenants(call)
