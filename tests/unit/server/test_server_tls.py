"""Certificate files as a server takes them: a pair or nothing, and the newest pair that is whole."""

from __future__ import annotations

import asyncio
import logging
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from footplate.domain.errors import InvalidInput
from footplate.server.settings import load
from footplate.server.tls import Tls, Told
from footplate.testing.certificates import Authority, Pair, private_bytes


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def refused(cert: Path, key: Path) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as caught:
        Tls(cert, key)
    (problem,) = caught.value.problems
    return problem.path, problem.message


def test_files_that_are_no_pair_are_refused_by_name(authority: Authority, tmp_path: Path) -> None:
    good, other = authority.issue("a.example.org"), authority.issue("b.example.org", into="other")
    nothing, nonsense = tmp_path / "nothing.pem", tmp_path / "nonsense.pem"
    nonsense.write_text("hello")
    assert refused(nothing, good.key) == ("tls_cert", f"{nothing} cannot be read: No such file or directory")
    assert refused(good.cert, nothing) == ("tls_key", f"{nothing} cannot be read: No such file or directory")
    assert refused(nonsense, good.key)[0] == "tls_cert"
    assert refused(good.cert, nonsense)[0] == "tls_key"
    assert refused(good.cert, other.key) == (
        "tls_key",
        f"{other.key} is not the key of the certificate {good.cert}",
    )


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked_for_it(
    authority: Authority, tmp_path: Path
) -> None:
    locked = tmp_path / "locked.key"
    locked.write_bytes(private_bytes(ec.generate_private_key(ec.SECP256R1()), "a passphrase"))
    field, message = refused(authority.issue("a.example.org").cert, locked)
    assert field == "tls_key"
    assert "passphrase" in message


@pytest.mark.parametrize(("given", "missing"), [("tls_cert", "tls_key"), ("tls_key", "tls_cert")])
def test_half_a_pair_in_the_settings_is_refused(tmp_path: Path, given: str, missing: str) -> None:
    (tmp_path / "settings.toml").write_text(f'{given} = "server.pem"\n')
    with pytest.raises(InvalidInput, match=f"{missing}: is missing"):
        load(tmp_path, {})


def test_files_are_looked_for_in_the_home_folder_and_the_address_has_tls(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('tls_cert = "server.pem"\ntls_key = "/etc/keys/server.key"\n')
    settings = load(tmp_path, {})
    assert settings.tls_files == (tmp_path / "server.pem", Path("/etc/keys/server.key"))
    assert settings.url == "https://127.0.0.1:8750"


async def shown_to_a_client(tls: Tls, authority: Authority, host: str | None) -> str:
    """The first name of the certificate that a new connection gets; without a host it names none."""

    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0, ssl=tls.context)
    context = ssl.create_default_context(cafile=str(authority.file))
    context.check_hostname = False
    async with server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=host or "")
        told = writer.get_extra_info("ssl_object").getpeercert()
        writer.close()
    return str(told["subjectAltName"][0][1])


@pytest.mark.parametrize("host", ["a.example.org", None])
def test_renewed_files_are_used_for_new_connections(authority: Authority, host: str | None) -> None:
    pair = authority.issue("old.example.org")
    tls = Tls(pair.cert, pair.key)
    assert asyncio.run(shown_to_a_client(tls, authority, host)) == "old.example.org"
    assert not tls.renew()
    authority.issue("new.example.org")
    assert tls.renew()
    assert asyncio.run(shown_to_a_client(tls, authority, host)) == "new.example.org"


def test_half_written_files_leave_the_old_pair_in_use_until_they_are_whole(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    pair: Pair = authority.issue("old.example.org")
    tls = Tls(pair.cert, pair.key)
    new = authority.issue("new.example.org", into="new")
    pair.cert.write_bytes(new.cert.read_bytes())
    assert not tls.renew()
    assert "is not the key of the certificate" in caplog.text
    assert asyncio.run(shown_to_a_client(tls, authority, "x.org")) == "old.example.org"
    pair.key.write_bytes(new.key.read_bytes())
    assert tls.renew()
    assert asyncio.run(shown_to_a_client(tls, authority, "x.org")) == "new.example.org"


def test_what_clients_will_refuse_is_told_at_start(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    pair = authority.issue("train.example.org", days=90)
    tls = Tls(pair.cert, pair.key)
    with caplog.at_level(logging.WARNING):
        tls.warn("https://train.example.org")
        assert caplog.text == ""
        tls.warn("https://127.0.0.1:8750")
        assert (
            "clients will refuse https://127.0.0.1:8750: the certificate is for train.example.org"
            in caplog.text
        )
        assert "public_url" in caplog.text
        tls.warn("https://train.example.org", datetime.now(UTC) + timedelta(days=80))
        assert "ends soon" in caplog.text


@pytest.mark.parametrize(
    ("name", "host", "is_covered"),
    [
        ("a.example.org", "A.example.org", True),
        ("*.example.org", "a.example.org", True),
        ("*.example.org", "a.b.example.org", False),
        ("*.example.org", "example.org", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("a.example.org", "b.example.org", False),
    ],
)
def test_names_of_certificates_cover_hosts(name: str, host: str, is_covered: bool) -> None:
    assert Told((name,), datetime.now(UTC)).covers(host) is is_covered
