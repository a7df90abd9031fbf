"""Throw-away container engines: a real Podman or Docker in its own folder, with minimal images."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from footplate.testing.process import await_that, free_port

START_DEADLINE_S = 20
PIECE = 1 << 20
LIST_TRIES = 100
LIST_AGAIN_AFTER_S = 0.1
# Everything comes from the host's own /usr, which the tests mount; in the image are only the ways to it.
HOST_TOOLS = "localhost/hosttools:1"
BUSYBOX = "localhost/busybox:1"
NO_SHELL = "localhost/noshell:1"
# Found by trying: root without all its rights can raise no limit, and crun knows no mixed control groups.
_PODMAN_SETTINGS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
pids_limit = 0
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_backend = "netavark"
"""


class ContainerEngineMissing(Exception):  # it states the fact
    """No such container engine can be started here; the text says why."""


class ContainersUnknown(Exception):  # it states the fact
    """The engine cannot list its containers; the text is what it says."""


@dataclass
class ContainerEngine:
    """A running engine; it can be killed and started again on the same folder."""

    kind: str
    folder: Path
    command: Sequence[str]
    environment: Mapping[str, str]
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def socket(self) -> Path:
        return self.folder / "engine.sock"

    def client(self) -> httpx.Client:
        transport = httpx.HTTPTransport(uds=str(self.socket))
        return httpx.Client(transport=transport, base_url="http://engine/v1.40", timeout=60)

    def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self.environment,
                # Podman's helpers leave files where it was started.
                cwd=self.folder,
                start_new_session=True,
            )
        try:
            await_that(self._answers, START_DEADLINE_S, f"{self.kind} answers")
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End the service as a crash would; containers stay."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.kill()

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise ContainerEngineMissing(f"{self.kind} does not start here: {_why(self.output)}")
        # Tried by hand first: the HTTP client leaves a socket behind when nobody listens.
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
        try:
            with self.client() as client:
                return client.get("/version").is_success
        except httpx.TransportError:
            # One that finds out late that it cannot start here has listened already.
            return False

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    def load(self, name: str, rootfs: bytes, **config: Any) -> None:
        """Put an image on this engine that was made without any registry."""
        with self.client() as client:
            archive = image_archive(name, rootfs, config)
            headers = {"Content-Type": "application/x-tar"}
            # In pieces: the client copies what is left of one piece with every packet.
            pieces = (archive[at : at + PIECE] for at in range(0, len(archive), PIECE))
            client.post("/images/load", content=pieces, headers=headers).raise_for_status()

    def containers(self) -> list[dict[str, Any]]:
        """All containers that are there, running or not."""
        with self.client() as client:
            for _ in range(LIST_TRIES):
                answer = client.get("/containers/json", params={"all": "true"})
                if answer.status_code != httpx.codes.INTERNAL_SERVER_ERROR:
                    break
                # Podman stumbles over a container that is being removed.
                time.sleep(LIST_AGAIN_AFTER_S)
            if not answer.is_success:
                raise ContainersUnknown(answer.text)
            found: list[dict[str, Any]] = answer.json()
        return found

    def remove_all(self) -> None:
        with self.client() as client:
            for container in self.containers():
                client.delete(f"/containers/{container['Id']}", params={"force": "true"})

    def remove_image(self, name: str) -> None:
        with self.client() as client:
            client.delete(f"/images/{name}", params={"force": "true"})

    def push(self, name: str, to: str, login: tuple[str, str] | None = None) -> None:
        """Copy an image to a registry."""
        document = {"username": login[0], "password": login[1]} if login else {}
        headers = {"X-Registry-Auth": base64.urlsafe_b64encode(json.dumps(document).encode()).decode()}
        repository, _, tag = to.rpartition(":")
        with self.client() as client:
            params = {"repo": repository, "tag": tag}
            client.post(f"/images/{name}/tag", params=params).raise_for_status()
            params = {"tag": tag, "tlsVerify": "false"}
            answer = client.post(f"/images/{repository}/push", params=params, headers=headers)
            assert answer.is_success, answer.text
            assert '"error"' not in answer.text, answer.text


@contextmanager
def running_podman() -> Iterator[ContainerEngine]:
    """Start Podman's service; raise `ContainerEngineMissing` where that cannot be."""
    _require("podman", "runc", "conmon")
    with _folder("fp-podman-") as folder:
        (folder / "containers.conf").write_text(_PODMAN_SETTINGS)
        storage = f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n'
        (folder / "storage.conf").write_text(storage)
        (folder / "registries.conf").write_text('[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n')
        (folder / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        command = ["podman", "--tmpdir", f"{folder}/tmp", "system", "service", "--time=0"]
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(folder),
            "CONTAINERS_CONF": f"{folder}/containers.conf",
            "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
            "CONTAINERS_REGISTRIES_CONF": f"{folder}/registries.conf",
        }
        with _running(
            ContainerEngine("podman", folder, [*command, f"unix://{folder}/engine.sock"], environment)
        ) as engine:
            yield engine


@contextmanager
def running_docker() -> Iterator[ContainerEngine]:
    """Start Docker's daemon; raise `ContainerEngineMissing` where that cannot be."""
    _require("dockerd", "containerd", "runc")
    with _folder("fp-docker-") as folder:
        settings = {
            "hosts": [f"unix://{folder}/engine.sock"],
            "data-root": f"{folder}/data",
            "exec-root": f"{folder}/exec",
            "pidfile": f"{folder}/pid",
            "containerd": f"{folder}/containerd.sock",
            "exec-opts": ["native.cgroupdriver=cgroupfs"],
            "insecure-registries": ["127.0.0.0/8"],
            # Tests use the host's network: nothing of the machine's firewall is touched.
            "bridge": "none",
            "iptables": False,
            "live-restore": True,
        }
        (folder / "daemon.json").write_text(json.dumps(settings))
        command = ["dockerd", "--config-file", f"{folder}/daemon.json"]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
        with (
            _running_containerd(folder, environment),
            _running(ContainerEngine("docker", folder, command, environment)) as engine,
        ):
            yield engine


@contextmanager
def _running_containerd(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Start the part of Docker that keeps containers, by itself, so that the daemon can be killed alone."""
    # The part for Kubernetes takes long to start and to end.
    (folder / "containerd.toml").write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
    places = {"root": "contents", "state": "state", "address": "containerd.sock", "config": "containerd.toml"}
    command = ["containerd", *(f"--{option}={folder}/{name}" for option, name in places.items())]
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)

    def listens() -> bool:
        if process.poll() is not None:
            said = (folder / "output").read_text(errors="replace")
            raise ContainerEngineMissing(f"containerd does not start here: {_why(said)}")
        return (folder / "containerd.sock").exists()

    try:
        await_that(listens, START_DEADLINE_S, "containerd answers")
        yield
    finally:
        process.terminate()
        process.wait()


def _why(output: str) -> str:
    """The line that tells most of why a service has ended: the last one with a fault, no stack of a panic."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [
        line for line in lines if any(word in line for word in ("panic:", "fatal", "failed", "Error:"))
    ]
    return (telling or lines or ["it said nothing"])[-1][:300]


@contextmanager
def _running(engine: ContainerEngine) -> Iterator[ContainerEngine]:
    engine.start()
    try:
        yield engine
    finally:
        if not engine._answers():
            engine.start()
        # Podman that was killed during a removal may be unable to list its containers ever after.
        with suppress(ContainersUnknown):
            engine.remove_all()
        engine.stop()


@contextmanager
def _folder(prefix: str) -> Iterator[Path]:
    if os.geteuid() != 0:
        raise ContainerEngineMissing("only root can start a container engine of its own for the tests")
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))  # a socket's path must be short
    try:
        yield folder
    finally:
        _end_leftovers(folder)
        for mount in reversed(_mounts_below(folder)):
            subprocess.run(["umount", "--lazy", mount], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _end_leftovers(folder: Path) -> None:
    """End what an engine that was killed has left: its helpers name the folder in their arguments."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            try:
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in words:
                os.kill(int(process.name), signal.SIGKILL)


def _mounts_below(folder: Path) -> list[str]:
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [path for path in mounted if Path(path).is_relative_to(folder)]


def _require(*programs: str) -> None:
    for program in programs:
        if shutil.which(program, path=f"{os.defpath}:/usr/sbin:/sbin") is None:
            raise ContainerEngineMissing(f"{program} is not installed")


def host_tools() -> bytes:
    """A root folder of which all programs are the host's, to be mounted at /usr."""
    folders = ("usr", "etc", "tmp", "var", "root")
    return _tar({name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")}, folders, {})


def busybox() -> bytes:
    """A root folder with a static busybox and nothing else."""
    program = shutil.which("busybox")
    if program is None:
        raise ContainerEngineMissing("busybox is not installed: the package is called busybox-static")
    if b"/ld-linux" in Path(program).read_bytes()[:4096]:
        raise ContainerEngineMissing(
            "busybox needs libraries here: the package busybox-static has one without"
        )
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    links = {f"bin/{name}": "busybox" for name in listed if name != "busybox"}
    return _tar(links, ("bin", "etc", "tmp"), {"bin/busybox": Path(program).read_bytes()})


def no_shell() -> bytes:
    return _tar({}, ("etc",), {"hello": b"#!/bin/true\n"})


def _tar(links: Mapping[str, str], folders: Sequence[str], files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in folders:
            tar.addfile(_entry(name, type=tarfile.DIRTYPE, mode=0o1777 if name == "tmp" else 0o755))
        for name, target in links.items():
            tar.addfile(_entry(name, type=tarfile.SYMTYPE, linkname=target))
        for name, content in files.items():
            tar.addfile(_entry(name, size=len(content), mode=0o755), io.BytesIO(content))
    return out.getvalue()


def _entry(name: str, **fields: Any) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    for field_name, value in fields.items():
        setattr(entry, field_name, value)
    return entry


def image_archive(name: str, rootfs: bytes, config: Mapping[str, Any]) -> bytes:
    """Write an image of one layer the way that every engine can load it."""
    digest = hashlib.sha256(rootfs).hexdigest()
    described = json.dumps(
        {
            "architecture": "amd64" if os.uname().machine == "x86_64" else "arm64",
            "os": "linux",
            "config": {"Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], **config},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created_by": "footplate tests"}],
        }
    ).encode()
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files = {
        "config.json": described,
        "layer.tar": rootfs,
        "manifest.json": json.dumps(manifest).encode(),
    }
    return _tar({}, (), files)


@dataclass(frozen=True)
class Registry:
    """A running registry of images."""

    address: str


LOGIN = ("ann", "sesame")
# What `htpasswd -B` writes for that login.
_PASSWORD_FILE = "ann:$2b$04$bSRFHvHGPffAAZ.ZJxg3zeW6Fuv5Ed1xwk85UN7mNkehSQRWBwoOa\n"


@contextmanager
def running_registry(folder: Path, is_private: bool = False) -> Iterator[Registry]:
    """Start a registry on loopback; a private one wants to see `LOGIN`."""
    program = shutil.which("docker-registry")
    if program is None:
        raise ContainerEngineMissing("docker-registry is not installed")
    address = f"127.0.0.1:{free_port()}"
    settings: dict[str, Any] = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
        "http": {"addr": address},
    }
    folder.mkdir(parents=True, exist_ok=True)
    if is_private:
        (folder / "users").write_text(_PASSWORD_FILE)
        settings["auth"] = {"htpasswd": {"realm": "tests", "path": str(folder / "users")}}
    (folder / "settings.yml").write_text(json.dumps(settings))
    process = subprocess.Popen(
        [program, "serve", str(folder / "settings.yml")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        await_that(lambda: _serves(address), what="the registry answers")
        yield Registry(address)
    finally:
        process.terminate()
        process.wait()


def _serves(address: str) -> bool:
    try:
        return httpx.get(f"http://{address}/v2/").status_code in (200, 401)
    except httpx.TransportError:
        return False
