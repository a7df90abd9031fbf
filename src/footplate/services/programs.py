"""The programs that are started for a browser: in a task, or beside jobs over what they have made."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

NO_PYTHON, NOT_INSTALLED = 126, 127
JUPYTER, TENSORBOARD, DESKTOP = "jupyter", "tensorboard", "desktop"

# The first lines of the input are secrets of this program alone, and for JupyterLab where packages come from;
# the end of the input ends it.
_FRAME = """
read -r SECRET; read -r OBSCURED; read -r SITE; export SECRET
{begin}
exec 3<&0
{command} </dev/null & pid=$!
(cat <&3 >/dev/null; kill $pid) & wait $pid
"""
# Tasks share the machine's network: whoever asks must know a secret, which does not reach what it runs.
_BOARD = """
import os, sys
from tensorboard import default, program

secret = os.environ.pop("SECRET")

class Guarded(program.WerkzeugServer):
    def __init__(self, app, flags):
        def guarded(environ, start):
            if environ.get("HTTP_X_FOOTPLATE_SECRET") == secret:
                return app(environ, start)
            start("403 Forbidden", [("Content-Length", "0")])
            return [b""]
        super().__init__(guarded, flags)

board = program.TensorBoard(default.get_plugins(), server_class=Guarded)
board.configure(argv=["tensorboard", *sys.argv[1:]])
sys.exit(board.main())
"""

# Run by the Python that it is installed for; where that cannot be told, the platform's own does.
_OWN_BOARD = f"""
BOARD=$(command -v tensorboard) || {{ echo 'tensorboard is not installed'; exit 127; }}
PY=$(sed -n '1s/^#! *//p' "$BOARD"); PY=${{PY#/usr/bin/env }}
"$PY" -c 'from tensorboard import default, program; program.WerkzeugServer' 2>/dev/null || exit 127
GUARD=$(mktemp) && cat > "$GUARD" <<'END'
{_BOARD}
END
"""

# What the site has set for packages, for the installation alone: an image knows none of it.
_UNPACK = """
import base64, json, pathlib, shlex, sys
folder, site = pathlib.Path(sys.argv[1]), json.loads(base64.b64decode(sys.stdin.read()))
variables = site["variables"]
if site["certificates"]:
    (folder / "certificates").write_text(site["certificates"])
    variables.update(dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE"), str(folder / "certificates")))
lines = ["export %s=%s\\n" % (name, shlex.quote(value)) for name, value in variables.items()]
(folder / "variables").write_text("".join(lines))
"""
# Where the task has no JupyterLab, it is installed once for the person: in an environment of its own, with
# the task's Python. The kernel is the task's Python, which finds there only what it lacks itself.
_LAB = (
    f"UNPACK={shlex.quote(_UNPACK)}"
    """
install() {
  if [ -n "$SITE" ]; then
    # Too long to be a word of a command.
    FOLDER=$(mktemp -d) && printf %s "$SITE" | "$PY" -c "$UNPACK" "$FOLDER" || return 1
    . "$FOLDER/variables"
  fi
  if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --clear --python "$PY" "$1" && uv pip install --quiet --python "$1" jupyterlab ipykernel
  elif "$PY" -c 'import ensurepip' >/dev/null 2>&1; then
    "$PY" -m venv "$1" && PIP_USER=0 "$1/bin/python" -m pip install --quiet jupyterlab ipykernel
  else
    "$PY" -m venv --without-pip "$1" &&
      PIP_USER=0 "$PY" -m pip --python "$1/bin/python" install --quiet jupyterlab ipykernel
  fi
}
if command -v jupyter-lab >/dev/null 2>&1; then LAB=jupyter-lab; else
  PY=$(command -v python3 || command -v python) || { echo 'there is no Python'; exit 126; }
  VERSION=$("$PY" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 126
  TOOLS=$HOME; [ -w "${TOOLS:-/nowhere}" ] || TOOLS=/tmp
  TOOLS=$TOOLS/.cache/footplate; BASE=$TOOLS/jupyterlab-$VERSION
  if ! "$BASE/bin/python" -c 'import jupyterlab' >/dev/null 2>&1; then
    mkdir -p "$TOOLS" && MADE=$(mktemp -d "$BASE.XXXXXX") || exit 1
    (install "$MADE") || { rm -rf "$MADE"; exit 1; }
    ln -sfn "$MADE" "$BASE"
  fi
  LIBRARY=$("$BASE/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$BASE/bin/python" - "$BASE" "$PY" "$LIBRARY" <<'END'
import json, pathlib, sys
base, python, site = sys.argv[1:]
code = f"import sys; sys.path.append({site!r}); from ipykernel import kernelapp as a; a.launch_new_instance()"
argv = [python, "-c", code, "-f", "{connection_file}"]
spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
folder = pathlib.Path(base, "share/jupyter/kernels/python3")
folder.mkdir(parents=True, exist_ok=True)
(folder / "kernel.json").write_text(json.dumps(spec))
END
  LAB=$BASE/bin/jupyter-lab
fi
"""
)

# Nobody but who knows the password is let in, and nobody from outside the task's own files talks to it.
_SCREEN = """
command -v Xvnc >/dev/null 2>&1 || { echo 'Xvnc is not installed'; exit 127; }
N=1; while [ -e "/tmp/.X$N-lock" ]; do N=$((N + 1)); done
umask 077; FOLDER=$(mktemp -d); printf "$OBSCURED" > "$FOLDER/password"
(
  while [ ! -S "/tmp/.X11-unix/X$N" ]; do sleep 0.05; done
  export DISPLAY=:$N; unset SECRET
  (for TERMINAL in xterm x-terminal-emulator; do
    command -v $TERMINAL >/dev/null 2>&1 && exec $TERMINAL
  done) &
  for MANAGER in openbox jwm icewm fluxbox xfwm4 metacity twm; do
    command -v $MANAGER >/dev/null 2>&1 && exec $MANAGER
  done
) </dev/null >/dev/null 2>&1 &
"""


@dataclass(frozen=True, slots=True)
class Program:
    """How a service is started in a task: what comes before, its command, and the folder that it shows.

    `package` is what to install where it is not there, and `by` the words that do it.
    """

    command: str
    package: str
    by: str
    path: str = "."
    begin: str = ""

    def script(self, port: int, prefix: str, path: str) -> str:
        """Write what a shell runs; `prefix` is where browsers find it, `path` a word of the shell."""
        words = {"port": port, "prefix": prefix, "bare": prefix.rstrip("/"), "path": path or self.path}
        return _FRAME.format(begin=self.begin, command=self.command.format(**words))


PROGRAMS: Mapping[str, Program] = {
    JUPYTER: Program(
        'JUPYTER_TOKEN=$SECRET "$LAB" --no-browser --allow-root --ip=127.0.0.1 --port={port} '
        "--ServerApp.port_retries=0 --ServerApp.base_url={prefix} --ServerApp.allow_remote_access=True "
        "--ServerApp.root_dir={path}",
        "jupyterlab",
        "pip install jupyterlab",
        begin=_LAB,
    ),
    TENSORBOARD: Program(
        '"$PY" "$GUARD" --logdir {path} --host 127.0.0.1 --port {port} --path_prefix {bare} '
        "--reload_interval 5",
        "tensorboard",
        "pip install tensorboard",
        '"${FOOTPLATE_OUTPUT_DIR:-.}"',
        _OWN_BOARD,
    ),
    DESKTOP: Program(
        'Xvnc ":$N" -rfbport {port} -localhost -nolisten tcp -nolisten local -SecurityTypes VncAuth '
        '-PasswordFile "$FOLDER/password" -BlacklistThreshold 1000000 -AlwaysShared -AcceptSetDesktopSize '
        "-geometry 1280x800 -depth 24",
        "tigervnc-standalone-server",
        "apt install tigervnc-standalone-server jwm xterm",
        begin=_SCREEN,
    ),
}

BOARD_PACKAGES = ("tensorboard>=2.18,<3",)
SECRET_HEADER = b"x-footplate-secret"


def board_command(folder: str, port: int, prefix: str) -> str:
    """Write the command of a TensorBoard beside jobs."""
    options = f"--logdir {folder} --host 127.0.0.1 --port {port} --path_prefix {prefix.rstrip('/')}"
    return f"exec python - {options} --reload_interval 5 <<'END'\n{_BOARD}\nEND"
