"""What the vault seals, it alone opens, in the same place."""

from __future__ import annotations

import pytest

from footplate.domain.errors import SecretUnreadable
from footplate.services.vault import Vault

VAULT = Vault(b"k" * 32)
LABEL = "user:ada/wandb/value"


@pytest.mark.parametrize("text", ["hunter22", "two\nlines", "密码", "x" * 65_536])
def test_what_was_sealed_opens_again(text: str) -> None:
    sealed = VAULT.seal(text, LABEL)
    assert text.encode() not in sealed
    assert VAULT.unseal(sealed, LABEL) == text


def test_the_same_text_is_sealed_differently_each_time() -> None:
    assert VAULT.seal("hunter22", LABEL) != VAULT.seal("hunter22", LABEL)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(SecretUnreadable, match="another key"):
        Vault(b"j" * 32).unseal(VAULT.seal("hunter22", LABEL), LABEL)


def test_a_value_moved_to_another_place_does_not_open() -> None:
    with pytest.raises(SecretUnreadable):
        VAULT.unseal(VAULT.seal("hunter22", LABEL), "user:bob/wandb/value")


def test_no_byte_can_be_changed() -> None:
    sealed = VAULT.seal("hunter22", LABEL)
    for at in range(len(sealed)):
        changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        with pytest.raises(SecretUnreadable):
            VAULT.unseal(changed, LABEL)


@pytest.mark.parametrize("length", [0, 1, 5, 13, 20])
def test_a_value_cut_short_does_not_open(length: int) -> None:
    with pytest.raises(SecretUnreadable):
        VAULT.unseal(VAULT.seal("hunter22", LABEL)[:length], LABEL)
