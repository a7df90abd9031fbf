"""What clients of COS send as XML: read, or refused as not being XML."""

from __future__ import annotations

import contextlib
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.dialects.cos import answers
from footplate.dialects.cos.answers import Asked, Listed, NotXml


def test_the_parts_of_an_object_are_read() -> None:
    part = "<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part.format(1, 'aa')}{part.format(2, 'bb')}</CompleteMultipartUpload>"
    assert answers.parts_to_join(body.encode()) == [(1, "aa"), (2, "bb")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<CompleteMultipartUpload/>",
        b"<Delete><Object><Key>a</Key></Object></Delete>",
        b"<CompleteMultipartUpload><Part><PartNumber>0</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>",
        b"<CompleteMultipartUpload><Part><ETag>a</ETag></Part></CompleteMultipartUpload>",
        b'<!DOCTYPE a [<!ENTITY b "c">]><CompleteMultipartUpload/>',
    ],
)
def test_what_is_not_a_list_of_parts_is_refused(body: bytes) -> None:
    with pytest.raises(NotXml):
        answers.parts_to_join(body)


@given(st.binary() | st.text(alphabet='<>/DeltObjcKy ab&;!"').map(str.encode))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(NotXml):
        answers.keys_to_delete(body)
    with contextlib.suppress(NotXml):
        answers.parts_to_join(body)


@given(st.text(), st.booleans())
def test_any_key_is_written_as_xml(key: str, is_encoded: bool) -> None:
    found = [Listed(key, 1, "tag", 0.0), Listed(key, is_prefix=True)]
    with contextlib.suppress(UnicodeEncodeError):
        page = answers.listing("b", Asked(key, is_encoded=is_encoded), found, True)
        Xml.fromstring(page)
    Xml.fromstring(answers.error("Code", key, key, "id"))


def test_the_next_page_is_told_of_only_where_there_is_one() -> None:
    assert b"NextMarker" not in answers.listing("b", Asked(), [Listed("a")], False)
    assert b"<NextMarker>a</NextMarker>" in answers.listing("b", Asked(), [Listed("a")], True)
