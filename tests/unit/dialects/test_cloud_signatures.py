"""Signatures of TI-ONE, COS, UAI-Train and UFile: those that the real clients made are known again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.dialects.cos import signature as cos
from footplate.dialects.tione import signature as tc3
from footplate.dialects.uai import signature as uai
from footplate.dialects.ufile import signature as ufile

# As tikit 1.9.5 sent it, with the path and the service of an endpoint that is a URL.
CREATED_AT = "1794724142"
LISTED = {
    "Action": "GetUAITrainJobList",
    "Limit": "0",
    "Offset": "0",
    "PublicKey": "ucloudpub",
    "Region": "cn-bj2",
    "TrainJobId": "",
    "Zone": "cn-bj2-04",
}
UPLOAD = (
    "q-sign-algorithm=sha1&q-ak=AKIDtest&q-sign-time=1794724081;1794734141&q-key-time=1794724081;1794734141"
    "&q-header-list=content-length;content-md5;host&q-url-param-list=&q-signature=" + "0" * 40
)


def tc3_request(body: bytes = b"{}") -> tc3.Signed:
    headers = {"content-type": "application/json", "host": "http://127.0.0.1:18731"}
    return tc3.Signed("POST", headers, body, CREATED_AT)


def tc3_authorization(service: str = "tione") -> tc3.Authorization:
    text = (
        f"TC3-HMAC-SHA256 Credential=AKIDtest/2026-11-15/{service}/tc3_request, "
        f"SignedHeaders=content-type;host, Signature={'0' * 64}"
    )
    read = tc3.read(text)
    assert read is not None
    signature = tc3.sign(read, tc3_request(), "secret")
    return replace(read, signature=signature)


@pytest.mark.parametrize("service", ["tione", "http://127", "http://127.0.0.1:80/compat"])
def test_a_service_may_have_slashes(service: str) -> None:
    read = tc3_authorization(service)
    assert (read.key_id, read.date, read.service) == ("AKIDtest", "2026-11-15", service)
    assert tc3.is_signed(read, tc3_request(), "secret")


def test_a_changed_request_is_not_signed() -> None:
    read = tc3_authorization()
    assert not tc3.is_signed(read, tc3_request(b"{ }"), "secret")
    assert not tc3.is_signed(read, tc3_request(), "secret2")
    assert not tc3.is_signed(read, replace(tc3_request(), timestamp="1794724143"), "secret")
    assert not tc3.is_signed(read, replace(tc3_request(), headers={"host": "other"}), "secret")


def test_an_old_request_is_not_timely() -> None:
    at = int(CREATED_AT)
    assert tc3.is_timely(CREATED_AT, "2026-11-15", at + 899)
    assert not tc3.is_timely(CREATED_AT, "2026-11-15", at + 901)
    assert not tc3.is_timely(CREATED_AT, "2026-11-16", at)
    assert not tc3.is_timely("now", "2026-11-15", at)


@given(st.text() | st.text(alphabet="TC3-HMACSHA256 Credential=/,;abc019"))
def test_any_header_is_read_or_refused(text: str) -> None:
    tc3.read(text)
    ufile.read(text, {})
    found = cos.read("q-sign-algorithm=" + text)
    if found is not None:
        found.is_timely(0)
        cos.is_signed(found, cos.Signed("GET", "/", {}, ()), "secret")


def test_a_request_of_the_cos_client_is_signed() -> None:
    """Against the steps that its maker publishes, done by hand here."""
    read = cos.read(UPLOAD)
    assert read is not None
    headers = {"content-length": "9", "content-md5": "3uXEaYn17AkjERiPT+gpww=="}
    request = cos.Signed("PUT", "/data/a b.py", {**headers, "host": "demo.example.com:80"}, ())
    import hashlib
    import hmac

    key = hmac.new(b"secret", b"1794724081;1794734141", "sha1").hexdigest()
    pairs = "content-length=9&content-md5=3uXEaYn17AkjERiPT%2Bgpww%3D%3D&host=demo.example.com"
    digest = hashlib.sha1(f"put\n/data/a b.py\n\n{pairs}\n".encode()).hexdigest()
    text = f"sha1\n1794724081;1794734141\n{digest}\n"
    made = hmac.new(key.encode(), text.encode(), "sha1").hexdigest()
    assert cos.sign(read, request, "secret") == made
    assert cos.is_signed(replace(read, signature=made), request, "secret")
    assert not cos.is_signed(replace(read, signature=made), replace(request, method="GET"), "secret")


def test_parameters_are_signed_by_their_names_in_small_letters() -> None:
    read = cos.Authorization("id", "1;2", "1;2", (), ("partnumber", "uploadid"), "")
    one = cos.Signed("PUT", "/k", {}, (("partNumber", "1"), ("uploadId", "x")))
    other = cos.Signed("PUT", "/k", {}, (("uploadid", "x"), ("partnumber", "1")))
    assert cos.sign(read, one, "s") == cos.sign(read, other, "s")
    assert read.is_timely(2)
    assert not read.is_timely(3)


def test_a_link_is_signed_in_its_query() -> None:
    query = [tuple(part.split("=", 1)) for part in UPLOAD.split("&")]
    assert cos.read("", query) == cos.read(UPLOAD)  # type: ignore[arg-type]
    assert cos.read("", query[1:]) is None  # type: ignore[arg-type]


def test_the_check_value_of_uai_is_made() -> None:
    assert uai.sign(LISTED, "ucloudpriv") == "11f45c6ba7b4e30ebea169ca9bd6544a5aa6855e"


def test_a_parameter_without_a_value_is_signed_by_its_name() -> None:
    signed = {**LISTED, "Signature": "11f45c6ba7b4e30ebea169ca9bd6544a5aa6855e"}
    assert uai.is_signed(signed, "ucloudpriv")
    without = {name: value for name, value in signed.items() if name != "TrainJobId"}
    assert not uai.is_signed(without, "ucloudpriv")
    assert not uai.is_signed(LISTED, "ucloudpriv")


def test_a_link_of_ufile_signs_when_it_ends() -> None:
    link = ufile.read("", {"UCloudPublicKey": "pub", "Expires": "2000", "Signature": "x"})
    assert link is not None
    made = ufile.sign(link, "GET", {"date": "today"}, "b", "k", "priv")
    assert ufile.is_signed(replace(link, signature=made), "GET", {}, "b", "k", "priv")
    assert not ufile.is_signed(replace(link, signature=made, expires="2001"), "GET", {}, "b", "k", "priv")
    assert link.is_timely(2000)
    assert not link.is_timely(2001)
