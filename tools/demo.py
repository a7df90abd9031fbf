"""The demonstration: a platform of its own, one real distributed training on it, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".demo"
FOOTPLATE = Path(sys.executable).parent / "footplate"
JOB = ROOT / "examples" / "digits" / "job.yaml"


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def start_platform() -> subprocess.Popen[str]:
    """Start the platform on a free port and wait for the line that says it is ready."""
    server = subprocess.Popen(
        [str(FOOTPLATE), "up", "--home", str(HOME), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=(HOME / "server.log").open("a"),
        text=True,
    )
    assert server.stdout is not None
    for line in server.stdout:
        print(line.rstrip(), flush=True)
        if "is ready at" in line:
            return server
    sys.exit(f"the platform did not start; see {HOME / 'server.log'}")


def train() -> int:
    environment = {**os.environ, "FOOTPLATE_HOME": str(HOME)}
    for name in (
        "FOOTPLATE_URL",
        "FOOTPLATE_TOKEN",
        "FOOTPLATE_USER",
        "FOOTPLATE_PASSWORD",
        "FOOTPLATE_CONFIG",
    ):
        environment.pop(name, None)
    command = [str(FOOTPLATE), "submit", str(JOB), "--again", "--follow"]
    say(f"footplate submit {JOB.relative_to(ROOT)} --follow")
    return subprocess.run(command, env=environment, check=False).returncode


def stop(server: subprocess.Popen[str]) -> None:
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main() -> int:
    began = time.monotonic()
    HOME.mkdir(mode=0o700, exist_ok=True)
    say("Starting Footplate with its embedded database and engine")
    server = start_platform()
    try:
        code = train()
    except KeyboardInterrupt:
        code = 130
    finally:
        stop(server)
    if code != 0:
        say(f"The training did not succeed (exit code {code}); the server's log is {HOME / 'server.log'}")
        return code
    say(f"Done in {time.monotonic() - began:.0f} s, and the platform is stopped again.")
    print("Keep it up with:      make up  (the first time it also builds the web console: a minute, 4 MB)")
    print("Its console is then:  http://127.0.0.1:8750/")
    print("Your first job:       .venv/bin/footplate submit --name hello --follow -- echo hello")
    return 0


if __name__ == "__main__":
    sys.exit(main())
