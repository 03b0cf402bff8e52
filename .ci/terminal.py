"""Draws docs/pictures/terminal.svg: commands of bin/surehook as a terminal shows them.

The commands run against `surehook dev` on one pseudo terminal, and rich draws what the
terminal got. Ids, ports and times differ from run to run.
"""

import os
import pty
import re
import subprocess
import sys
import threading
import time

from rich.console import Console
from rich.text import Text

WIDTH = 118
DEADLINE = 60  # seconds for each output that is waited for
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUREHOOK = os.path.join(ROOT, "bin", "surehook")

# rich's own frame, without the fonts of another host: a picture in a README loads nothing.
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Terminal:
    """A pseudo terminal that several programs share, with all that it got."""

    def __init__(self, env):
        self.env = env
        self.leader, self.follower = pty.openpty()
        self.text = ""
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            got = os.read(self.leader, 65536).decode()
            with self.changed:
                self.text += got.replace("\r\n", "\n")
                self.changed.notify_all()

    def type(self, command):
        """Starts a command, as after a prompt."""
        with self.changed:
            if self.text and not self.text.endswith("\n"):
                self.text += "\n"
            self.text += f"$ {command}\n"
        end = {"stdin": self.follower, "stdout": self.follower, "stderr": self.follower}
        return subprocess.Popen(["bash", "-c", command.removesuffix(" &")], env=self.env, **end)

    def answer(self, text):
        os.write(self.leader, (text + "\n").encode())

    def expect(self, pattern):
        """Waits until the text since the last prompt matches."""
        with self.changed:
            if not self.changed.wait_for(lambda: re.search(pattern, self.text.rpartition("\n$ ")[2]), DEADLINE):
                sys.exit(f"the terminal shows {self.text}; want {pattern}")

    def run(self, command):
        if self.type(command).wait(DEADLINE) != 0:
            sys.exit(f"{command} failed: {self.text}")


def overwritten(line):
    """A line as the terminal shows it: a carriage return begins the line anew."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part):]
    return shown.rstrip()


def draw(text, file):
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))
    for line in map(overwritten, text.rstrip().split("\n")):
        command = line.startswith("$ ")
        console.print(Text(line, style="bold bright_cyan" if command else ""), soft_wrap=False, overflow="fold")
    svg = console.export_svg(title="surehook", code_format=FRAME, unique_id="terminal")
    for word in (ROOT, os.path.expanduser("~"), "http://127.0.0.1:0"):
        if word in svg:
            sys.exit(f"the picture names {word}")
    with open(file, "w") as out:
        out.write("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


def main():
    file = os.path.join(ROOT, "docs", "pictures", "terminal.svg")
    env = {"PATH": os.path.dirname(SUREHOOK) + ":" + os.environ["PATH"], "SUREHOOK_TENANT": "acme", "XDG_CONFIG_HOME": os.path.join(ROOT, "bin", "no-configuration"), "TERM": "xterm"}
    dev = subprocess.Popen([SUREHOOK, "dev", "--port", "0"], stdout=subprocess.PIPE, text=True, env=env)
    listen = None
    try:
        for line in dev.stdout:
            if said := re.match(r"\s*(API|KEY)=(\S+)$", line):
                env[{"API": "SUREHOOK_URL", "KEY": "SUREHOOK_API_KEY"}[said[1]]] = said[2]
            if "SUREHOOK_API_KEY" in env:
                break
        threading.Thread(target=dev.stdout.read, daemon=True).start()
        terminal = Terminal(env)
        listen = terminal.type("surehook listen --port 0 --subscribe 'order.*' --answer 400,200 &")
        terminal.expect("listening on")
        terminal.run("""surehook send order.paid '{"order": 4711}'""")
        terminal.expect("answered 400\n.*\n")
        while "dead" not in subprocess.run([SUREHOOK, "deliveries", "list"], env=env, capture_output=True, text=True).stdout:
            time.sleep(0.05)
        terminal.run("surehook dead-letters list | cut -c 52-126")
        replay = terminal.type("surehook replay")
        terminal.expect(r"\[y/N\] $")
        terminal.answer("y")
        if replay.wait(DEADLINE) != 0:
            sys.exit(terminal.text)
        terminal.expect("answered 200\n.*\n")
        draw(terminal.text, file)
    finally:
        if listen:
            listen.terminate()
            listen.wait()
        dev.terminate()
        dev.wait()


main()
