import json
from collections.abc import Mapping
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError as VerificationError

__all__ = ["VerificationError", "events", "verify"]


def verify(secrets: str | list[str], headers: Mapping[str, str], body: str | bytes) -> Any:
    """Checks the signature of a request with the library of Standard Webhooks, and returns its JSON.

    ``secrets`` are the secrets (whsec_...) of the endpoint, several in a rotation; ``body`` is the exact text or bytes of
    the request. Raises VerificationError.
    """
    failure = VerificationError("no secret")
    lower = {name.lower(): value for name, value in headers.items()}
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            return Webhook(secret).verify(body, lower)
        except VerificationError as wrong:
            failure = wrong
    raise failure


def events(body: str | bytes) -> list[dict[str, Any]]:
    """Returns the events of a verified batch, the oldest first. The id of each event tells repetitions apart."""
    document = json.loads(body)
    if not isinstance(document, dict) or document.get("type") != "surehook.batch" or not isinstance(document.get("events"), list):
        raise ValueError("the body is not a batch")
    return document["events"]
