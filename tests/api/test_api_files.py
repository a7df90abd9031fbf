"""Files of storages over REST: what people do with their own, and what they never see of others."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile

import pytest
from apiclient import Api, Data, Hire, fresh

from footplate.services import uploadsweep
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served
from footplate.wire import storagefiles as w

HOME = "/storages/home"


def put(api: Api, path: str, content: bytes = b"content", **params: object) -> Data:
    return api.ok("PUT", f"{HOME}/content", w.EntryBody, params={"path": path, **params}, content=content)


def read(api: Api, path: str, **headers: str) -> bytes:
    answer = api.call("GET", f"{HOME}/content", params={"path": path}, headers=headers)
    assert answer.status_code in (200, 206), answer.text
    return answer.content


def names(api: Api, path: str = "", storage: str = HOME) -> list[str]:
    listed = api.ok("GET", f"{storage}/entries", w.Entries, params={"path": path})
    return [one["name"] for one in listed["items"]]


def tar_of(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(mode="w", fileobj=out) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def test_a_newcomer_has_a_private_home_and_what_everybody_shares(ann: Api) -> None:
    seen = {one["name"]: one for one in ann.ok("GET", "/storages")["items"]}
    assert seen["home"]["per_user"]
    assert not seen["home"]["read_only"]
    assert not seen["shared"]["read_only"]
    assert seen["shared"]["origin"] == "database"
    assert names(ann, storage="/storages/shared") == []


def test_a_file_is_written_read_and_listed(ann: Api) -> None:
    folder = fresh("d")
    made = put(ann, f"{folder}/a b/ü.txt", b"hello")
    assert (made["name"], made["path"], made["size_bytes"]) == ("ü.txt", f"{folder}/a b/ü.txt", 5)
    assert read(ann, f"/{folder}//a b/./ü.txt") == b"hello"
    assert names(ann, folder) == ["a b"]
    assert names(ann, f"{folder}/a b") == ["ü.txt"]


def test_ranges_tags_and_heads(ann: Api) -> None:
    path = fresh("file")
    put(ann, path, b"0123456789")
    assert read(ann, path, Range="bytes=2-4") == b"234"
    assert read(ann, path, Range="bytes=-3") == b"789"
    ann.refused("GET", f"{HOME}/content", 416, params={"path": path}, headers={"Range": "bytes=10-"})
    answer = ann.call("HEAD", f"{HOME}/content", params={"path": path})
    assert (answer.headers["content-length"], answer.content) == ("10", b"")
    tag = answer.headers["etag"]
    same = ann.call("GET", f"{HOME}/content", params={"path": path}, headers={"If-None-Match": tag})
    assert same.status_code == 304
    put(ann, path, b"abcdefghij")
    # What has changed since the first part is sent whole.
    assert read(ann, path, Range="bytes=2-4", **{"If-Range": tag}) == b"abcdefghij"


def test_an_empty_file_is_a_file(ann: Api) -> None:
    path = fresh("empty")
    assert put(ann, path, b"")["size_bytes"] == 0
    assert read(ann, path) == b""


def test_what_is_read_cannot_run_as_a_page_of_the_server(ann: Api) -> None:
    path = fresh("page") + ".html"
    put(ann, path, b"<script>alert(1)</script>")
    answer = ann.call("GET", f"{HOME}/content", params={"path": path, "inline": True})
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_an_image_is_shown_when_asked_for(ann: Api) -> None:
    path = fresh("image") + ".png"
    put(ann, path, b"\x89PNG\r\n\x1a\n rest")
    answer = ann.call("GET", f"{HOME}/content", params={"path": path, "inline": True})
    assert answer.headers["content-disposition"].startswith("inline")
    assert answer.headers["content-type"] == "image/png"


def test_a_wrong_digest_keeps_the_old_file(ann: Api) -> None:
    path = fresh("file")
    put(ann, path, b"old")
    digest = {"X-Content-SHA256": hashlib.sha256(b"something else").hexdigest()}
    ann.refused(
        "PUT", f"{HOME}/content", 422, "sha256", params={"path": path}, headers=digest, content=b"new"
    )
    assert read(ann, path) == b"old"


def test_the_same_name_again_replaces_refuses_or_goes_to_a_new_sub_folder(ann: Api) -> None:
    folder = fresh("d")
    put(ann, f"{folder}/x", b"1")
    put(ann, f"{folder}/x", b"2")
    assert read(ann, f"{folder}/x") == b"2"
    params = {"path": f"{folder}/x", "if_exists": "refuse"}
    ann.refused("PUT", f"{HOME}/content", 409, params=params, content=b"3")
    made = [put(ann, f"{folder}/x", content, if_exists="subfolder")["path"] for content in (b"4", b"5")]
    assert made == [f"{folder}/2/x", f"{folder}/3/x"]
    assert [read(ann, path) for path in (f"{folder}/x", *made)] == [b"2", b"4", b"5"]


def test_pages_of_a_folder_hold_every_name_once(ann: Api) -> None:
    folder = fresh("d")
    files = {f"{number:03}": b"" for number in range(25)}
    done = ann.ok("POST", f"{HOME}/batch", w.Unpacked, params={"path": folder}, content=tar_of(**files))
    assert done["n_files"] == 25
    seen: list[str] = []
    token = None
    while True:
        page = ann.ok(
            "GET",
            f"{HOME}/entries",
            w.Entries,
            params={"path": folder, "limit": 10, **({"page_token": token} if token else {})},
        )
        seen += [one["name"] for one in page["items"]]
        token = page["next_page_token"]
        if token is None:
            break
    assert seen == sorted(files)
    ann.refused("GET", f"{HOME}/entries", 422, "page_token", params={"page_token": "a"})


def test_an_upload_in_pieces_appears_when_it_is_whole(ann: Api) -> None:
    path, content = fresh("large"), bytes(range(256)) * 40
    body = {"path": path, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    upload = ann.ok("POST", f"{HOME}/uploads", w.UploadBody, status=201, json=body)
    at = f"{HOME}/uploads/{upload['id']}"
    for offset in range(0, len(content), 4096):
        piece = content[offset : offset + 4096]
        headers = {"X-Content-SHA256": hashlib.sha256(piece).hexdigest()}
        told = ann.ok("PATCH", at, w.UploadBody, params={"offset": offset}, headers=headers, content=piece)
        assert told["done_bytes"] == offset + len(piece)
        ann.refused("GET", f"{HOME}/entry", 404, params={"path": path})
    assert [one["id"] for one in ann.ok("GET", f"{HOME}/uploads", w.Uploads)["items"]] == [upload["id"]]
    assert ann.ok("POST", f"{at}/finish", w.EntryBody)["size_bytes"] == len(content)
    assert read(ann, path) == content
    ann.refused("GET", at, 404)
    assert names(ann).count(".footplate") == 0


def test_a_piece_that_came_damaged_or_elsewhere_does_not_count(ann: Api) -> None:
    upload = ann.ok("POST", f"{HOME}/uploads", status=201, json={"path": fresh("f"), "size_bytes": 6})
    at = f"{HOME}/uploads/{upload['id']}"
    wrong = {"X-Content-SHA256": hashlib.sha256(b"xyz").hexdigest()}
    ann.refused("PATCH", at, 422, params={"offset": 0}, headers=wrong, content=b"abc")
    assert ann.ok("GET", at)["done_bytes"] == 0
    ann.ok("PATCH", at, params={"offset": 0}, content=b"abc")
    ann.refused("PATCH", at, 409, params={"offset": 0}, content=b"abc")
    ann.refused("PATCH", at, 413, params={"offset": 3}, content=b"defg")
    ann.refused("POST", f"{at}/finish", 409)
    ann.ok("PATCH", at, params={"offset": 3}, content=b"def")
    path = ann.ok("POST", f"{at}/finish")["path"]
    assert read(ann, path) == b"abcdef"


def test_a_cancelled_upload_leaves_nothing(ann: Api) -> None:
    upload = ann.ok("POST", f"{HOME}/uploads", status=201, json={"path": fresh("f"), "size_bytes": 6})
    assert ann.call("DELETE", f"{HOME}/uploads/{upload['id']}").status_code == 204
    ann.refused("PATCH", f"{HOME}/uploads/{upload['id']}", 404, params={"offset": 0}, content=b"abc")


def test_files_and_folders_are_moved_copied_measured_and_deleted(ann: Api) -> None:
    top = fresh("d")
    put(ann, f"{top}/a/1", b"one")
    put(ann, f"{top}/a/deep/2", b"twoo")

    def relocate(verb: str, source: str, target: str, storage: str = "home", **more: object) -> Data:
        body = {
            "source": f"{top}/{source}",
            "target": {"storage": storage, "path": f"{top}/{target}"},
            **more,
        }
        return ann.ok("POST", f"{HOME}/{verb}", json=body)

    assert relocate("copy", "a", "b") == {"n_files": 2, "n_folders": 1, "size_bytes": 7}
    assert relocate("move", "b", "c/d")["path"] == f"{top}/c/d"
    assert names(ann, top) == ["a", "c"]
    assert read(ann, f"{top}/c/d/deep/2") == b"twoo"
    relocate("copy", "a", "e", storage="shared")
    assert names(ann, f"{top}/e", "/storages/shared") == ["1", "deep"]
    relocate("move", "c", "f", storage="shared")
    assert names(ann, top) == ["a"]
    used = ann.ok("GET", f"{HOME}/usage", w.FolderUse, params={"path": top})
    assert used == {"n_files": 2, "n_folders": 2, "size_bytes": 7}
    ann.refused("DELETE", f"{HOME}/entries", 409, params={"path": top})
    assert ann.call("DELETE", f"{HOME}/entries", params={"path": top, "recursive": True}).status_code == 204
    ann.refused("GET", f"{HOME}/entry", 404, params={"path": top})


def test_what_would_be_lost_is_not_moved_to_another_storage(ann: Api, server: Served) -> None:
    top = fresh("d")
    put(ann, f"{top}/a", b"one")
    (folder,) = server.home.glob(f"storages/home/*/{top}")
    (folder / "link").symlink_to("a")
    body = {"source": top, "target": {"storage": "shared", "path": top}}
    ann.refused("POST", f"{HOME}/move", 409, says="link", json=body)
    assert names(ann, top) == ["a", "link"]
    assert top not in names(ann, storage="/storages/shared")
    (folder / "link").unlink()
    ann.ok("POST", f"{HOME}/move", json=body)
    assert names(ann, top, "/storages/shared") == ["a"]
    assert top not in names(ann)


@pytest.mark.parametrize("verb", ["move", "copy"])
def test_nothing_is_replaced_unasked_nor_put_into_itself(ann: Api, verb: str) -> None:
    top = fresh("d")
    for name in ("a/x", "b/x", "file"):
        put(ann, f"{top}/{name}", name.encode())

    def refuse(source: str, target: str) -> None:
        body = {"source": f"{top}/{source}", "target": {"storage": "home", "path": f"{top}/{target}"}}
        ann.refused("POST", f"{HOME}/{verb}", 409, json=body)

    refuse("a/x", "b/x")
    refuse("a", "b")
    refuse("a", "a/inner")
    refuse("a", "a")
    refuse("file", "a")
    assert read(ann, f"{top}/b/x") == b"b/x"


def test_a_folder_comes_as_an_archive(ann: Api) -> None:
    top = fresh("d")
    put(ann, f"{top}/1", b"one")
    put(ann, f"{top}/deep/run.sh", b"two", is_executable=True)
    answer = ann.call("GET", f"{HOME}/archive", params={"path": top})
    assert answer.headers["content-disposition"].endswith(f"{top}.tar.gz")
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(answer.content))) as tar:
        found = {member.name: member for member in tar.getmembers()}
    assert sorted(found) == [f"{top}/1", f"{top}/deep", f"{top}/deep/run.sh"]
    assert found[f"{top}/deep/run.sh"].mode == 0o755
    ann.refused("GET", f"{HOME}/archive", 409, params={"path": f"{top}/1"})


def test_previews_show_text_tables_and_images(ann: Api) -> None:
    def shown(name: str, content: bytes) -> Data:
        path = f"{fresh('p')}/{name}"
        put(ann, path, content)
        return ann.ok("GET", f"{HOME}/preview", w.PreviewBody, params={"path": path})

    assert shown("notes.md", "# Ü\n".encode())["text"] == "# Ü\n"
    table = shown("data.csv", b"a;b\n1;2\n")
    assert (table["kind"], table["rows"], table["is_cut"]) == ("table", [["a", "b"], ["1", "2"]], False)
    assert shown("x.bin", b"\0\1\2")["kind"] == "binary"
    assert shown("x.txt", b"\xff\xd8\xff rest")["media_type"] == "image/jpeg"
    long = shown("long.txt", "ü".encode() * 200_000)
    assert long["is_cut"]
    assert set(long["text"]) == {"ü"}


@pytest.mark.parametrize(
    "path", ["../x", "a/../../x", "a/..", "..", "a\0b", ".footplate/x", "a/.footplate", "x" * 300]
)
def test_paths_that_lead_out_or_are_none_are_refused_everywhere(ann: Api, path: str) -> None:
    asked = {"path": path}
    for method, route in (
        ("GET", "entries"),
        ("GET", "entry"),
        ("GET", "usage"),
        ("GET", "preview"),
        ("GET", "content"),
        ("GET", "archive"),
        ("PUT", "content"),
        ("POST", "batch"),
        ("DELETE", "entries"),
    ):
        ann.refused(method, f"{HOME}/{route}", 422, "path", params=asked)
    ann.refused("POST", f"{HOME}/folders", 422, "path", json=asked)
    ann.refused("POST", f"{HOME}/uploads", 422, "path", json={**asked, "size_bytes": 1})
    put(ann, "something")
    for verb in ("move", "copy"):
        body = {"source": "something", "target": {"storage": "shared", "path": path}}
        ann.refused("POST", f"{HOME}/{verb}", 422, "target.path", json=body)


def test_a_tar_cannot_write_elsewhere_nor_bring_links_and_giants(ann: Api) -> None:
    folder = {"path": fresh("d")}

    def odd(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
        out = io.BytesIO()
        with tarfile.open(mode="w", fileobj=out) as tar:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, size, "/etc/passwd"
            tar.addfile(info, io.BytesIO(b"x" * size))
        return out.getvalue()

    def refused(status: int, field: str, content: bytes) -> None:
        """Streamed, and whole with a digest."""
        digest = {"X-Content-SHA256": hashlib.sha256(content).hexdigest()}
        ann.refused("POST", f"{HOME}/batch", status, field, params=folder, content=content)
        ann.refused("POST", f"{HOME}/batch", status, field, params=folder, content=content, headers=digest)

    for content in (odd("../x"), odd("a/../../x"), odd("l", tarfile.SYMTYPE), odd("l", tarfile.LNKTYPE)):
        refused(422, "tar", content)
    refused(413, "tar", odd("big", size=9 * 1024**2))
    refused(422, "body", b"no tar at all" * 100)
    refused(422, "body", tar_of(a=b"x" * 5000)[:2000])


def test_of_a_tar_with_a_wrong_digest_nothing_is_written(ann: Api) -> None:
    folder, tar = {"path": fresh("d")}, tar_of(a=b"1", b=b"2")
    for sent, status, field in ((tar[:-1] + b"x", 422, "sha256"), (tar + bytes(17 * 1024**2), 413, "body")):
        digest = {"X-Content-SHA256": hashlib.sha256(tar).hexdigest()}
        ann.refused("POST", f"{HOME}/batch", status, field, params=folder, content=sent, headers=digest)
    ann.refused("GET", f"{HOME}/entry", 404, params=folder)
    done = ann.ok("POST", f"{HOME}/batch", w.Unpacked, params=folder, content=tar, headers=digest)
    assert done == {"n_files": 2, "size_bytes": 2}
    assert read(ann, f"{folder['path']}/b") == b"2"


ROUTES = (
    ("GET", "entry"),
    ("GET", "entries"),
    ("GET", "usage"),
    ("GET", "preview"),
    ("GET", "content"),
    ("HEAD", "content"),
    ("GET", "archive"),
    ("DELETE", "entries"),
)


def test_nobody_sees_private_files_of_others_by_any_route(ann: Api, hire: Hire, admin: Api) -> None:
    folder = fresh("mine")
    put(ann, f"{folder}/x", b"mine")
    upload = ann.ok("POST", f"{HOME}/uploads", status=201, json={"path": fresh("f"), "size_bytes": 3})
    for other in (hire(default="member"), admin):
        for method, route in ROUTES:
            for path in (folder, f"{folder}/x", f"../{ann.name}-1/{folder}/x"):
                answer = other.call(method, f"{HOME}/{route}", params={"path": path})
                assert answer.status_code in (404, 422), (method, route, path)
        for verb in ("copy", "move"):
            body = {"source": f"{folder}/x", "target": {"storage": "shared", "path": fresh("stolen")}}
            other.refused("POST", f"{HOME}/{verb}", 404, json=body)
        at = f"{HOME}/uploads/{upload['id']}"
        other.refused("GET", at, 404)
        other.refused("PATCH", at, 404, params={"offset": 0}, content=b"abc")
        other.refused("POST", f"{at}/finish", 404)
        other.refused("DELETE", at, 404)
        assert other.ok("GET", f"{HOME}/uploads")["items"] == []
        assert folder not in names(other)
    assert read(ann, f"{folder}/x") == b"mine"


def test_strangers_get_nothing(nobody: Api) -> None:
    for method, route in ROUTES:
        assert nobody.call(method, f"{HOME}/{route}", params={"path": "x"}).status_code == 401


def test_a_person_of_a_name_that_was_removed_finds_an_empty_home(hire: Hire, admin: Api) -> None:
    before = hire(default="member")
    put(before, "secret")
    admin.call("DELETE", f"/users/{before.name}")
    account = {"name": before.name, "password": "a long enough password", "queues": {"default": "member"}}
    admin.ok("POST", "/users", status=201, json=account)
    later = Api(before.served, before.served.sign_in(before.name, "a long enough password"), before.name)
    assert names(later) == []
    later.close()


def test_uploads_that_nobody_went_on_with_are_swept_after_a_week(
    ann: Api, server: Served, clock: FakeClock
) -> None:
    upload = ann.ok("POST", f"{HOME}/uploads", status=201, json={"path": fresh("f"), "size_bytes": 6})
    assert server.run(uploadsweep.sweep(server.parts.platform)) == 0
    (part,) = server.home.glob(f"storages/home/*/.footplate/{upload['id']}")
    os.utime(part, (clock.now(), clock.now()))
    clock.advance(uploadsweep.KEPT_S + 60)
    assert server.run(uploadsweep.sweep(server.parts.platform)) >= 1
    assert not part.exists()
    ann.refused("GET", f"{HOME}/uploads/{upload['id']}", 404)
