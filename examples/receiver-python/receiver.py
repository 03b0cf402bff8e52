"""A webhook receiver on 127.0.0.1.

Standard Webhooks' public library verifies each request; the receiver answers 204
to a new event and to a repeated event.

    SECRET=whsec_... python receiver.py     (PORT=3000; 0 chooses a free port)
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

MAX_BODY = 1 << 20  # bytes; a payload has at most 256 KiB

webhook = Webhook(os.environ["SECRET"])

# The ids of handled events. Use a table with a unique key instead: Surehook
# delivers at least once, and this set is empty after a restart.
handled: set[str] = set()
lock = Lock()


def handle(event: str, message: dict[str, Any]) -> None:
    # The envelope of Standard Webhooks: type, timestamp and data.
    print(message["type"], event, json.dumps(message["data"], separators=(",", ":")), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds without a byte

    def do_POST(self) -> None:
        self.send_response(self.answer())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self) -> int:
        # An error in this method closes the connection, and Surehook tries again.
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAX_BODY:
            self.close_connection = True
            return 413
        body = self.rfile.read(length)  # the exact bytes: a signature covers the bytes and not the parsed JSON
        if self.path != "/hooks":
            return 404
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError as err:
            print("refused:", err, file=sys.stderr, flush=True)
            return 401
        event = self.headers["webhook-id"]
        with lock:
            if event not in handled:
                handle(event, json.loads(body))
                handled.add(event)  # after the work: a failure before this line brings the event again
        return 204

    def log_message(self, *_: object) -> None:
        """Print no line for each request."""


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT") or 3000)), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/hooks", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
