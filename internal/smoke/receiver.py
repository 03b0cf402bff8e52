"""The receiver of `make smoke`: verifies each request and records it.

The table has one script per path: the statuses to answer with, of which the
last one repeats, and the endpoint's secret. A path without a script gets 404,
and the challenge of a deployment with OWNERSHIP gets its answer.
"""

import base64
import hashlib
import hmac
import json
import os
import time

import boto3

TOLERANCE = 300  # seconds between the request's timestamp and now, as in Standard Webhooks
TABLE = boto3.resource("dynamodb").Table(os.environ["TABLE"])


def genuine(secret, headers, body, now):
    """Whether a signature of the request was made with the secret, and recently."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(now - int(sent)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(want, got) for got in headers.get("webhook-signature", "").split())


def handler(event, context):
    now, path = time.time(), event["rawPath"]
    if path == "/clock":
        return {"statusCode": 200, "body": json.dumps({"ms": int(now * 1000)})}
    body = event.get("body", "").encode()
    if event.get("isBase64Encoded"):
        body = base64.b64decode(body)
    if event["headers"].get("x-webhook-event") == "webhook.challenge":
        return {"statusCode": 200, "body": json.dumps({"challenge": json.loads(body)["data"]["challenge"]})}
    try:
        script = TABLE.update_item(
            Key={"path": path, "at": "script"},
            UpdateExpression="ADD seen :one",
            ConditionExpression="attribute_exists(answers)",
            ExpressionAttributeValues={":one": 1},
            ReturnValues="ALL_NEW",
        )["Attributes"]
    except TABLE.meta.client.exceptions.ConditionalCheckFailedException:
        return {"statusCode": 404}
    answers, seen = script["answers"], int(script["seen"])
    verified = genuine(script["secret"], event["headers"], body, now)
    status = int(answers[min(seen, len(answers)) - 1]) if verified else 401
    TABLE.put_item(
        Item={
            "path": path,
            "at": f"request#{int(now * 1000):013d}#{seen:04d}",
            "id": event["headers"].get("webhook-id", ""),
            "ms": int(now * 1000),
            "verified": verified,
            "status": status,
            "body": body.decode("utf-8", "replace")[:4096],
        }
    )
    return {"statusCode": status}
