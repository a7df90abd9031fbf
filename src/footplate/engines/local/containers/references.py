"""How images are named: registry, repository, tag or digest, or the bare id."""

from __future__ import annotations

HOME_OF_SHORT_NAMES = "docker.io"


def split_reference(reference: str) -> tuple[str, str]:
    """Part an image's name from its tag or digest; without either it is the latest."""
    tagged, _, digest = reference.partition("@")
    name, colon, tag = tagged.rpartition(":")
    # A colon before a slash belongs to the registry's port.
    if not colon or "/" in tag:
        name, tag = tagged, "latest"
    return name, digest or tag


def full_name(reference: str) -> str:
    """Write a name as both engines mean it, however much of it was left out."""
    name, tag = split_reference(reference)
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"{HOME_OF_SHORT_NAMES}/library/{name}"
    elif not ("." in first or ":" in first or first == "localhost"):
        name = f"{HOME_OF_SHORT_NAMES}/{name}"
    return f"{name}@{tag}" if ":" in tag else f"{name}:{tag}"


def has_no_registry(reference: str) -> bool:
    """Tell whether an image must have been built or loaded here; `localhost` with a port is a registry."""
    return reference.startswith("localhost/")


def is_id_of(reference: str, image_id: str) -> bool:
    """Tell whether an image was named by its id, or by the beginning of it."""
    return image_id.removeprefix("sha256:").startswith(reference.removeprefix("sha256:"))
