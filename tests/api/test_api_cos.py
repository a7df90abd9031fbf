"""COS over HTTP: buckets are storages, objects are files, and refusals are those of COS."""

from __future__ import annotations

import base64
import hashlib
import http.client
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

import httpx
import pytest
from apiclient import Api, Hire, fresh
from cloudclients import Cos, Key, key_of, other

from footplate.services import access_keys
from footplate.services.access import Caller


@pytest.fixture(scope="module")
def key(ann: Api) -> Key:
    return key_of(ann)


@pytest.fixture
def cos(ann: Api, key: Key) -> Cos:
    return Cos(ann, key, fresh("bucket"))


def error_of(answer: object, status: int) -> str:
    assert answer.status_code == status, answer.text  # type: ignore[attr-defined]
    root = Xml.fromstring(answer.content)  # type: ignore[attr-defined]
    assert root.tag == "Error"
    assert [one.tag for one in root] == ["Code", "Message", "Resource", "RequestId", "TraceId"]
    return root.findtext("Code") or ""


def keys_of(cos: Cos, **query: str) -> tuple[list[str], list[str], str | None]:
    wanted = {name.replace("_", "-"): value for name, value in query.items()}
    answer = cos.call("GET", query={**wanted, "encoding-type": "url"})
    assert answer.status_code == 200, answer.text
    root = Xml.fromstring(answer.content)
    keys = [unquote(one.text or "") for one in root.findall("Contents/Key")]
    prefixes = [unquote(one.text or "") for one in root.findall("CommonPrefixes/Prefix")]
    more = root.findtext("NextMarker")
    assert (root.findtext("IsTruncated") == "true") == (more is not None)
    return keys, prefixes, None if more is None else unquote(more)


def test_an_object_comes_back_as_it_was_put(cos: Cos, ann: Api) -> None:
    body = b"print('hello')\n"
    digest = base64.b64encode(hashlib.md5(body).digest()).decode()
    put = cos.call("PUT", "code/面 main.py", headers={"content-md5": digest}, content=body)
    assert put.status_code == 200, put.text
    got = cos.call("GET", "code/面 main.py")
    assert (got.status_code, got.content, got.headers["etag"]) == (200, body, put.headers["etag"])
    part = cos.call("GET", "code/面 main.py", headers={"range": "bytes=6-7"})
    assert (part.status_code, part.content) == (206, b"'h")
    path = f"buckets/{cos.bucket}/code/面 main.py"
    assert ann.call("GET", "/storages/home/content", params={"path": path}).content == body


def test_a_head_is_written_with_capital_letters(cos: Cos) -> None:
    cos.call("PUT", "a", content=b"123")
    sent = cos.call("HEAD", "a").request
    connection = http.client.HTTPConnection("127.0.0.1", sent.url.port)
    connection.request("HEAD", "/a", headers=dict(sent.headers))
    answer = connection.getresponse()
    names = {name for name, _ in answer.getheaders()}
    connection.close()
    assert answer.status == 200
    assert {"Content-Length", "ETag", "Last-Modified"} <= names
    assert dict(answer.getheaders())["Content-Length"] == "3"


def test_keys_are_listed_in_their_order(cos: Cos) -> None:
    wanted = ["a-b/c", "a.txt", "a/b", "a/c/d", "a0", "b"]
    for one in reversed(wanted):
        assert cos.call("PUT", one, content=b"x").status_code == 200
    assert keys_of(cos) == (wanted, [], None)
    assert keys_of(cos, prefix="a/") == (["a/b", "a/c/d"], [], None)
    assert keys_of(cos, delimiter="/") == (["a.txt", "a0", "b"], ["a-b/", "a/"], None)
    assert keys_of(cos, prefix="a/", delimiter="/") == (["a/b"], ["a/c/"], None)
    seen, marker = [], ""
    while True:
        keys, _, more = keys_of(cos, max_keys="1", marker=marker)
        seen += keys
        if more is None:
            break
        marker = more
    assert seen == wanted


def test_a_folder_is_an_object_while_it_is_empty(cos: Cos) -> None:
    assert cos.call("PUT", "made/").status_code == 200
    assert keys_of(cos, prefix="made/") == (["made/"], [], None)
    assert cos.call("HEAD", "made/").status_code == 200
    assert cos.call("HEAD", "made").status_code == 404
    cos.call("PUT", "made/x", content=b"1")
    assert keys_of(cos) == (["made/x"], [], None)
    assert cos.call("DELETE", "made/x").status_code == 204
    assert keys_of(cos) == ([], [], None)


def test_many_objects_are_deleted_at_once(cos: Cos) -> None:
    for one in ("d/1", "d/e/2", "keep"):
        cos.call("PUT", one, content=b"x")
    body = (
        b"<Delete>"
        + b"".join(b"<Object><Key>%s</Key></Object>" % one for one in (b"d/1", b"d/e/2", b"no"))
        + b"</Delete>"
    )
    answer = cos.call("POST", query={"delete": ""}, content=body)
    assert answer.status_code == 200, answer.text
    assert len(Xml.fromstring(answer.content).findall("Deleted")) == 3
    assert keys_of(cos) == (["keep"], [], None)
    assert (
        error_of(cos.call("POST", query={"delete": ""}, content=b"<!DOCTYPE x><Delete/>"), 400)
        == "MalformedXML"
    )


def test_parts_are_joined_in_any_order(cos: Cos) -> None:
    assert b"<Upload>" not in cos.call("GET", query={"uploads": "", "prefix": "big"}).content
    begun = cos.call("POST", "big/file", query={"uploads": ""})
    upload = Xml.fromstring(begun.content).findtext("UploadId") or ""
    tags = {}
    for number, content in ((2, b"second"), (1, b"first "), (3, b"!"), (2, b"SECOND")):
        sent = cos.call(
            "PUT", "big/file", query={"partNumber": str(number), "uploadId": upload}, content=content
        )
        assert sent.status_code == 200, sent.text
        tags[number] = sent.headers["etag"]
    assert cos.call("HEAD", "big/file").status_code == 404

    def complete(parts: dict[int, str]) -> object:
        listed = "".join(
            f"<Part><PartNumber>{n}</PartNumber><ETag>{tag}</ETag></Part>" for n, tag in parts.items()
        )
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        return cos.call("POST", "big/file", query={"uploadId": upload}, content=body)

    ordered = dict(sorted(tags.items()))
    assert error_of(complete({**ordered, 3: '"00"'}), 400) == "InvalidPart"
    assert error_of(complete({**ordered, 4: '"00"'}), 400) == "InvalidPart"
    done = complete(ordered)
    assert done.status_code == 200, done.text  # type: ignore[attr-defined]
    assert cos.call("GET", "big/file").content == b"first SECOND!"
    assert error_of(complete(ordered), 404) == "NoSuchUpload"


def test_an_upload_that_was_cut_goes_on_with_the_parts_that_have_come(cos: Cos, hire: Hire) -> None:
    ids = []
    for content in (b"old", b"first "):
        begun = cos.call("POST", "cut/file", query={"uploads": ""})
        ids.append(Xml.fromstring(begun.content).findtext("UploadId") or "")
        where = {"partNumber": "1", "uploadId": ids[-1]}
        assert cos.call("PUT", "cut/file", query=where, content=content).status_code == 200
    cos.call("PUT", "cut/file", query={"partNumber": "3", "uploadId": ids[1]}, content=b"third")
    query = {"uploads": "", "prefix": "cut/", "encoding-type": "url"}
    known = Xml.fromstring(cos.call("GET", query=query).content).findall("Upload")
    # Clients go on with the last.
    assert [(one.findtext("Key"), one.findtext("UploadId")) for one in known] == [
        ("cut/file", ids[0]),
        ("cut/file", ids[1]),
    ]
    first = Xml.fromstring(cos.call("GET", "cut/file", query={"uploadId": ids[1], "max-parts": "1"}).content)
    assert (first.findtext("IsTruncated"), first.findtext("NextPartNumberMarker")) == ("true", "1")
    rest = {"uploadId": ids[1], "part-number-marker": "1"}
    second = Xml.fromstring(cos.call("GET", "cut/file", query=rest).content)
    assert (second.findtext("IsTruncated"), second.find("NextPartNumberMarker")) == ("false", None)
    (one,) = second.findall("Part")
    digest = hashlib.md5(b"third").hexdigest()
    assert [one.findtext(name) for name in ("PartNumber", "ETag", "Size")] == ["3", f'"{digest}"', "5"]
    other = replace(cos, key=key_of(hire(default="member")))
    assert error_of(other.call("GET", "cut/file", query=rest), 404) == "NoSuchUpload"
    assert b"<Upload>" not in other.call("GET", query=query).content


def test_objects_are_copied_within_a_bucket_and_to_another(cos: Cos, hire: Hire) -> None:
    cos.call("PUT", "from/ä b.txt", content=b"copied")
    host = f"{cos.bucket}.{cos.suffix}"
    source = {"x-cos-copy-source": f"{host}/from/%C3%A4%20b.txt"}
    made = cos.call("PUT", "to/c.txt", headers=source)
    tag = Xml.fromstring(made.content).findtext("ETag")
    assert (made.status_code, tag) == (200, cos.call("HEAD", "to/c.txt").headers["etag"])
    assert cos.call("GET", "to/c.txt").content == b"copied"
    elsewhere = replace(cos, bucket="elsewhere-1256580188")
    assert elsewhere.call("PUT", "c.txt", headers=source).status_code == 200
    assert elsewhere.call("GET", "c.txt").content == b"copied"
    assert cos.call("PUT", "from/ä b.txt", headers=source).status_code == 200
    missing = {"x-cos-copy-source": f"{host}/nothing"}
    assert error_of(cos.call("PUT", "to/d.txt", headers=missing), 404) == "NoSuchKey"
    stranger = replace(cos, key=key_of(hire(default="member")))
    assert error_of(stranger.call("PUT", "mine.txt", headers=source), 404) == "NoSuchKey"


def test_what_a_bucket_has_not_is_not_answered_with_its_list(cos: Cos) -> None:
    answer = cos.call("GET", query={"versioning": ""})
    assert Xml.fromstring(answer.content).tag == "VersioningConfiguration"
    for name in ("acl", "versions", "cors"):
        assert error_of(cos.call("GET", query={name: ""}), 405) == "MethodNotAllowed"


def test_an_upload_in_parts_can_be_given_up(cos: Cos) -> None:
    begun = cos.call("POST", "gone", query={"uploads": ""})
    upload = Xml.fromstring(begun.content).findtext("UploadId") or ""
    where = {"partNumber": "1", "uploadId": upload}
    assert cos.call("PUT", "gone", query=where, content=b"x").status_code == 200
    assert cos.call("DELETE", "gone", query={"uploadId": upload}).status_code == 204
    assert error_of(cos.call("PUT", "gone", query=where, content=b"x"), 404) == "NoSuchUpload"


def test_a_body_with_another_digest_is_not_kept(cos: Cos) -> None:
    digest = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    assert (
        error_of(cos.call("PUT", "x", headers={"content-md5": digest}, content=b"this"), 400) == "BadDigest"
    )
    assert error_of(cos.call("GET", "x"), 404) == "NoSuchKey"


def test_what_is_not_signed_by_the_key_is_refused(cos: Cos, ann: Api) -> None:
    assert error_of(replace(cos, key=other(cos.key)).call("GET"), 403) == "SignatureDoesNotMatch"
    assert error_of(replace(cos, key=Key("nobody", "x")).call("GET"), 403) == "SignatureDoesNotMatch"
    gone = key_of(ann)
    assert replace(cos, key=gone).call("GET").status_code == 200
    ann.served.run(access_keys.remove(ann.served.parts.platform, Caller(ann.name), gone.id))
    assert error_of(replace(cos, key=gone).call("GET"), 403) == "SignatureDoesNotMatch"


def test_a_request_of_yesterday_is_refused(cos: Cos, ann: Api) -> None:
    old = cos.call("GET").request
    # The window of a signature ends after less than three hours.
    ann.served.clock.advance(11_000)  # type: ignore[attr-defined]
    assert error_of(httpx.get(old.url, headers=dict(old.headers)), 403) == "RequestTimeTooSkewed"


def test_other_peoples_buckets_look_as_if_there_were_none(cos: Cos, admin: Api, hire: Hire) -> None:
    name = fresh("team")
    admin.ok(
        "POST",
        "/storages",
        status=201,
        json={"name": name, "kind": "folder", "users": [admin.name], "read_only": False},
    )
    mine = Cos(admin, key_of(admin), name)
    assert mine.call("PUT", "secret.txt", content=b"x").status_code == 200
    theirs = replace(cos, bucket=name)
    assert error_of(theirs.call("GET"), 404) == "NoSuchBucket"
    assert error_of(theirs.call("GET", "secret.txt"), 404) == "NoSuchBucket"
    assert error_of(theirs.call("PUT", "secret.txt", content=b"y"), 404) == "NoSuchBucket"
    # Two people's buckets of one name are two buckets.
    bob = hire(default="member")
    cos.call("PUT", "mine", content=b"x")
    assert keys_of(replace(cos, api=bob, key=key_of(bob))) == ([], [], None)


def test_a_bucket_with_the_number_of_an_account_is_the_storage_without_it(admin: Api) -> None:
    name = fresh("data")
    admin.ok("POST", "/storages", status=201, json={"name": name, "kind": "folder", "read_only": False})
    mine = Cos(admin, key_of(admin), f"{name}-1256580188")
    assert mine.call("PUT", "x", content=b"1").status_code == 200
    assert admin.call("GET", f"/storages/{name}/content", params={"path": "x"}).content == b"1"


def test_one_who_may_only_read_cannot_write(cos: Cos, admin: Api) -> None:
    name = fresh("open")
    storage = {"name": name, "kind": "folder", "read_only": False, "writers": [f"user:{admin.name}"]}
    admin.ok("POST", "/storages", status=201, json=storage)
    assert error_of(replace(cos, bucket=name).call("PUT", "x", content=b"y"), 403) == "AccessDenied"


def test_buckets_are_listed(cos: Cos) -> None:
    cos.call("PUT", "x", content=b"1")
    answer = replace(cos, bucket="").call("GET", query={"marker": "", "max-keys": "2000"})
    names = [one.text for one in Xml.fromstring(answer.content).findall("Buckets/Bucket/Name")]
    assert {cos.bucket, "home", "shared"} <= set(names)


def test_a_key_does_not_lead_out_of_its_bucket(cos: Cos) -> None:
    assert error_of(cos.call("PUT", ".footplate/x", content=b"x"), 400) == "InvalidArgument"
    body = b"<Delete><Object><Key>../up</Key></Object></Delete>"
    answer = cos.call("POST", query={"delete": ""}, content=body)
    assert Xml.fromstring(answer.content).findtext("Error/Code") == "InvalidArgument"
