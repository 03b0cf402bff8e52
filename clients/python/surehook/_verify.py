import json
from collections.abc import Iterable
from typing import Any, Protocol

from standardwebhooks.webhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError as VerificationError

__all__ = ["VerificationError", "events", "verify"]


class Headers(Protocol):
    """The headers of a request, as a dictionary or as a server holds them."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify(secrets: str | list[str], headers: Headers, body: str | bytes) -> Any:
    """Checks the signature of a request with the library of Standard Webhooks, and returns the payload: the JSON of the body,
    or its text if it is not JSON.

    ``secrets`` are the secrets (whsec_...) of the endpoint, several in a rotation; ``body`` is the exact text or bytes of
    the request. Raises VerificationError.
    """
    failure = VerificationError("no secret")
    given = dict(headers.items())
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            Webhook(secret.strip()).verify(body, given, json_parse=False)
        except VerificationError as wrong:
            failure = wrong
        except ValueError as malformed:  # a signature or a body of a stranger
            failure = VerificationError(f"malformed: {malformed}")
        else:
            return _payload(body)
    raise failure


def _payload(body: str | bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body if isinstance(body, str) else body.decode()


def events(batch: Any) -> list[dict[str, Any]]:
    """Returns the events of a verified batch, the oldest first. The id of each event tells repetitions apart."""
    found = batch.get("events") if isinstance(batch, dict) and batch.get("type") == "webhook.batch" else None
    if not isinstance(found, list):
        raise ValueError("the payload is not a batch")
    return found
