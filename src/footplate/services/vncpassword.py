"""The file in which a VNC server looks for its password: obscured with a key that everybody knows."""

from __future__ import annotations

# The well-known key of the protocol, each byte with its bits in reverse.
_KEY = bytes.fromhex("e84ad660c4721ae0")
_BLOCK = 8


def obscured(password: str) -> str:
    """Write the content of the file as octal escapes, which any `printf` understands."""
    # Loaded when used.
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    padded = password.encode()[:_BLOCK].ljust(_BLOCK, b"\0")
    # Three times with the same key is once.
    block = Cipher(TripleDES(_KEY * 3), modes.ECB()).encryptor().update(padded)  # noqa: S305  # as the protocol has it
    return "".join(f"\\{byte:03o}" for byte in block)
