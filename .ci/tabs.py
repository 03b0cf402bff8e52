"""Runs the blocks of docs/api.md in the other languages, one after the other, as TestAPI runs those of the shell.

.ci/tabs.py API KEY FOLDER LANGUAGE COMMAND...: writes the program of the language into the folder, and runs the command there.
The receiver refuses every request, so that deliveries are dead at once.
"""

import http.server
import os
import pathlib
import re
import subprocess
import sys
import threading

WAIT = {
    "go": 'for { d, err := surehook.Deliveries.Get(ctx, "acme", delivery.Id); if err != nil { log.Fatal(err) }; if d.State == "dead" { break } }',
    "ts": 'while ((await surehook.deliveries.get("acme", delivery!.id)).state !== "dead");',
    "python": 'while surehook.deliveries.get("acme", delivery["id"])["state"] != "dead":\n    pass',
}
START = {
    "go": 'package main\n\nimport (\n"context"\n"fmt"\n"log"\n"os"\n"time"\n\n"MODULE/client"\n"MODULE/client/openapi"\n)\n\nfunc main() {\nctx := context.Background()\n',
    "ts": "",
    "python": "import contextlib\nimport os\n\nfrom surehook import ProblemError\n",
}
END = {"go": "}\n", "ts": "", "python": ""}
# A line that changes something may be refused here with a 409, and no other.
EACH = {
    "go": (r"(?m)^((?:\w+, )?err :?= (?!.*// 409).*)$", r"\1\nif err != nil { log.Fatal(err) }"),
    "ts": (r"(?m);( // 409.*)$", r".catch(() => undefined);\1"),
    "python": (r"(?m)^(.*  # 409.*)$", r"with contextlib.suppress(ProblemError):\n    \1"),
}


class Refusing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(403)
        self.end_headers()

    def log_message(self, *_):
        pass


def program(language, module):
    page = pathlib.Path(__file__).parent.parent / "docs/api.md"
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 10, f"docs/api.md has {len(blocks)} blocks of {language}"
    blocks.insert(2, WAIT[language] + "\n")
    return START[language].replace("MODULE", module) + re.sub(*EACH[language], "".join(blocks)) + END[language]


def main():
    api, key, folder, language, *command = sys.argv[1:]
    suffix = {"go": "main.go", "ts": "tabs.ts", "python": "tabs.py"}[language]
    module = re.match(r"module (\S+)", (pathlib.Path(__file__).parent.parent / "go.mod").read_text())[1]
    (pathlib.Path(folder) / suffix).write_text(program(language, module))
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    env = os.environ | {"API": api, "KEY": key, "URL": f"http://127.0.0.1:{receiver.server_address[1]}/hooks"}
    done = subprocess.run(" ".join(command), shell=True, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    sys.exit(done.stdout if done.returncode else 0)


main()
