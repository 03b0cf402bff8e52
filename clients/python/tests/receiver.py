import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from surehook import VerificationError, verify


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            payload = verify(os.environ["SECRET"], self.headers, body)
        except VerificationError:
            self.send_response(401)
        else:
            print(self.headers["webhook-id"], payload, flush=True)
            self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", 3000), Receiver).serve_forever()
