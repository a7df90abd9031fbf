"""The fields that say where a job's code comes from, and which revision it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.domain import spec as s
from footplate.domain.fields import Field, Nullable, Record
from footplate.domain.kinds import Flag, Text
from footplate.domain.names import PATH
from footplate.domain.problems import MISSING, Problems, join

MOST_DIFF_CHARS = 20_000
COMMIT = r"[0-9a-f]{40}([0-9a-f]{24})?"


def _check_code(code: Mapping[str, Any], path: str, problems: Problems) -> None:
    has_place = code["storage"] or code["upload"]
    if code["path"] not in ("", MISSING) and not has_place and not code["git"]:
        problems.add(join(path, "path"), "code_path_without_storage")
    if code["git"] and code["storage"]:
        problems.add(join(path, "git"), "code_twice")
    if code["commit"] and not code["git"]:
        problems.add(join(path, "commit"), "commit_without_git")


REVISION = Record(
    s.Revision,
    (
        Field("commit", Text(64, 1, COMMIT, "commit"), "Commit that the code was at."),
        Field("branch", Text(255), "Branch that it was on.", ""),
        Field("dirty", Flag(), "Whether there were changes that were not committed.", False, "is_dirty"),
        Field("diff", Text(MOST_DIFF_CHARS), "These changes, of files that git knows; cut where long.", ""),
    ),
)
CODE = Record(
    s.CodeRef,
    (
        Field(
            "upload",
            Text(71, 0, r"(sha256:[0-9a-f]{64})?", "digest"),
            "Digest of uploaded code; `footplate submit` fills it in from a local folder.",
            "",
        ),
        Field("storage", Text(63), "Storage with the code; read-only for tasks.", ""),
        Field(
            "path",
            PATH,
            "Folder or archive there; without a storage, a local folder that `footplate submit` uploads.",
            "",
        ),
        Field("read_only", Flag(), "Whether tasks may only read their code.", False),
        Field(
            "git",
            Text(1024, 0, r"([a-z]+://[^\s@]+)?", "git_address"),
            "Address of a git repository that the server fetches the code from, at submit.",
            "",
        ),
        Field(
            "commit",
            Text(255, 0, r"([A-Za-z0-9][A-Za-z0-9._/-]*)?", "git_name"),
            "Commit, branch or tag of that repository (default: what it offers first).",
            "",
        ),
        Field(
            "revision",
            Nullable(REVISION),
            "What the code was in git; `footplate submit` fills it in.",
            None,
        ),
    ),
    checks=(_check_code,),
    short="path",
)
