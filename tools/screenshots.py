"""Takes the pictures in `docs/images` from a live server with real jobs: `make screenshots`.

The machine that the pictures show has its cards on paper only; everything else happens for real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import console
import httpx
from PIL import Image

from footplate.sdk import settings
from footplate.sdk.client import Client
from footplate.testing.process import FOOTPLATE, PASSWORD, ServerProcess, await_that

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SETTINGS = """
[node]
name = "gpu-01"
address = "10.0.0.11"
cpus = 16
memory = "64GB"
gpus = [{type = "A100", count = 8, memory = "80GB"}]
"""
# So that charts have a curve to draw.
WATCHED_S = 75
DEMO_S = 60
# Two languages, light and dark.
CONTEXTS = 4

Fields = dict[str, Any]

EPOCHS = r"""
import random, sys, time
print("\033[1mResNet-50\033[0m on \033[36mCIFAR-100\033[0m, 4 epochs")
for epoch in range(1, 5):
    for step in range(0, 101, 4):
        done = "█" * (step // 5)
        print(f"\rtrain {epoch}/4 {step:3d}%|{done:<20}| {step * 4}/400", end="", flush=True)
        time.sleep(0.01)
    print()
    loss, accuracy = 2.4 / epoch, 0.41 + 0.12 * epoch
    print(f"epoch {epoch}  loss \033[33m{loss:.4f}\033[0m  accuracy \033[32m{accuracy:.2%}\033[0m")
print("\033[32m✓ best model written to checkpoints/best.pt\033[0m")
"""
TRAINING = r"""
import math, os, sys, time
rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
print(f"\033[1mrank {rank} of {size}\033[0m, master {os.environ.get('MASTER_ADDR', '-')}", flush=True)
held, step, began = [], 0, time.monotonic()
while True:
    step += 1
    until = time.monotonic() + 0.2 + 0.15 * math.sin(step / 9)
    while time.monotonic() < until:
        pass
    time.sleep(0.35)
    if step < 90:
        held.append(bytearray(12 << 20))
    loss = 3.2 * math.exp(-step / 60) + 0.4
    rate = 1180 + 60 * math.sin(step / 5)
    print(f"step {step:5d}  loss \033[33m{loss:.4f}\033[0m  {rate:.0f} tokens/s", flush=True)
"""
TRACEBACK = r"""
import sys
print("loading checkpoint step-12000")
raise RuntimeError("loss is nan at step 12041: lower the learning rate")
"""
HUNGRY = (
    "held = []\nwhile True:\n    held.append(bytearray(8 << 20)); print(len(held) * 8, 'MB', flush=True)\n"
)


def python(source: str) -> str:
    """A command that runs a program which is part of it."""
    return f"exec python3 - <<'END'\n{source}\nEND"


FINISHED: list[Fields] = [
    {
        "name": "resnet50-cifar100",
        "command": python(EPOCHS),
        "gpus": 1,
        "description": "Baseline for the paper",
    },
    {"name": "gpt2-finetune", "command": python(TRACEBACK), "gpus": 1, "retry": 1, "tags": ["nlp"]},
    {"name": "bert-large-squad", "command": python(HUNGRY), "memory": "256MB", "gpus": 2, "tags": ["nlp"]},
    {"name": "tokenise-wiki", "command": "seq -f 'shard %03g written' 1 40", "tags": ["data"]},
    {"name": "eval-clip", "command": "echo zero-shot top-1 0.683"},
]
RUNNING: list[Fields] = [
    {
        "name": "llama-7b-lora",
        "description": "Instruction tuning, two ranks with two cards each",
        "priority": 10,
        "time_limit": "6h",
        "roles": [
            {
                "name": "worker",
                "count": 2,
                "command": python(TRAINING),
                "cpus": 1,
                "memory": "2GB",
                "gpus": 2,
            }
        ],
    },
    {
        "name": "vit-base-imagenet",
        "command": python(TRAINING),
        "cpus": 1,
        "memory": "2GB",
        "gpus": 2,
        "time_limit": "90m",
    },
    {"name": "notebook-wei", "queue": "vision", "command": "sleep 3600", "gpus": 1, "time_limit": "8h"},
]
WAITING: list[Fields] = [
    {"name": "vit-huge-pretrain", "gpus": 8, "cpus": 8, "memory": "32GB", "priority": 5, "time_limit": "2d"},
    {"name": "diffusion-xl", "gpus": 4, "cpus": 4, "memory": "16GB", "time_limit": "12h"},
    {"name": "sweep-lr-07", "gpus": 2, "cpus": 2, "memory": "8GB", "time_limit": "4h"},
    {"name": "detect-coco", "queue": "vision", "gpus": 4, "cpus": 4, "memory": "16GB", "time_limit": "3h"},
]


def submit(client: httpx.Client, fields: Fields) -> str:
    asked = fields if "roles" in fields else {"cpus": 0.5, "memory": "1GB", "command": "sleep 3600", **fields}
    answer = client.post("/jobs", json=asked)
    if answer.is_error:
        sys.exit(f"{asked['name']} was refused: {answer.json()['message']}")
    return str(answer.json()["id"])


def await_state(client: httpx.Client, job_id: str, *states: str) -> None:
    await_that(
        lambda: client.get(f"/jobs/{job_id}").json()["state"] in states,
        within_s=120,
        what=f"{states} of {job_id}",
    )


def furnish(server: ServerProcess, admin: httpx.Client) -> dict[str, str]:
    """Bring in people, queues and jobs; answers with the ids of jobs by name."""
    most = {"cpus": 8, "memory_bytes": 32 << 30, "gpus": 4}
    share = {"cpus": 4, "memory_bytes": 16 << 30, "gpus": 2}
    admin.post(
        "/queues",
        json={"name": "vision", "description": "Image and video", "maximum": most, "share": share},
    ).raise_for_status()
    for name in ("ada", "wei"):
        queues = {"default": "member", "vision": "member"}
        admin.post("/users", json={"name": name, "password": PASSWORD, "queues": queues}).raise_for_status()
    ada, wei = server.client("ada"), server.client("wei")
    people = (admin, ada, wei)
    ids = {}
    for number, fields in enumerate(FINISHED):
        ids[fields["name"]] = submit(people[number % 3], fields)
    for job_id in ids.values():
        await_state(admin, job_id, "SUCCEEDED", "FAILED")
    for number, fields in enumerate(RUNNING):
        ids[fields["name"]] = submit(people[number % 3], fields)
        await_state(admin, ids[fields["name"]], "RUNNING")
    for number, fields in enumerate(WAITING):
        ids[fields["name"]] = submit(people[number % 3], fields)
    return ids


def draw(url: str, ids: dict[str, str], chromium: str, **more: str) -> None:
    node = console.node_folder()
    environment = {
        **os.environ,
        **more,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "FOOTPLATE_URL": url,
        "CHROMIUM": chromium,
        "IMAGES": str(IMAGES),
        "JOBS": json.dumps(ids),
    }
    subprocess.run(
        [node / "node", "tools/screenshots.mjs"], cwd=ROOT / "console", env=environment, check=True
    )


def draw_demo(chromium: str, folder: Path) -> None:
    """Draw what `footplate up --demo` shows, entered by its links."""
    command = [FOOTPLATE, "up", "--demo", "--home", folder, "--port", "0"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert demo.stdout is not None
    try:
        if not any("Ctrl-C ends" in line for line in demo.stdout):
            sys.exit("the demo did not start")
        found = settings.read(folder / "client.toml")
        assert found is not None
        with Client(found.url, found.token) as client:
            ids = {job.name: job.id for job in client.jobs()}
            time.sleep(DEMO_S)
            links = [client.sign_in_link()["link"] for _ in range(CONTEXTS)]
            draw(client.url, ids, chromium, LINKS=json.dumps(links))
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=60)


def stop_jobs(admin: httpx.Client) -> None:
    """Stop what runs, and wait: tasks outlive their server, and these would for ever."""

    def active() -> list[Fields]:
        states = ("QUEUED", "STARTING", "RUNNING", "STOPPING")
        items: list[Fields] = admin.get("/jobs", params={"state": states, "limit": 200}).json()["items"]
        return items

    for job in active():
        admin.post(f"/jobs/{job['id']}/stop", params={"now": "true"})
    await_that(lambda: not active(), within_s=60, what="all jobs have ended", every_s=0.2)


def shrink(picture: Path) -> None:
    """Keep 256 colours of a picture, which is all that a screen full of text needs."""
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def needed() -> str:
    """Find the browser; say what is missing and how to get it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("pictures need a browser: apt install chromium")
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, text=True, check=False).stdout
    if not fonts.strip():
        sys.exit("pictures in Chinese need a font with its characters: apt install fonts-wqy-microhei")
    return chromium


def main() -> None:
    chromium = needed()
    console.build()
    console.install()
    with tempfile.TemporaryDirectory() as folder:
        draw_demo(chromium, Path(folder) / "demo")
    with (
        tempfile.TemporaryDirectory() as folder,
        ServerProcess(Path(folder) / "home", SETTINGS) as server,
        server.client() as admin,
    ):
        try:
            ids = furnish(server, admin)
            print(f"{len(ids)} jobs are there; letting them run for {WATCHED_S} s", flush=True)
            time.sleep(WATCHED_S)
            draw(server.url, ids, chromium, FOOTPLATE_ADMIN_PASSWORD=PASSWORD)
        finally:
            stop_jobs(admin)
    for picture in IMAGES.glob("*.png"):
        shrink(picture)
    total = sum(path.stat().st_size for path in IMAGES.glob("*.png"))
    print(f"{len(list(IMAGES.glob('*.png')))} pictures in docs/images, {total / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
