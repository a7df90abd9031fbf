"""What a task is shown of the machine's files, as it is described to the process that arranges it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from footplate.engines.local.confine.confinement import kept_of_run
from footplate.engines.local.confine.targets import bad_target, overlapping, resolve, shadows
from footplate.engines.local.confine.view import ViewRules, compose, outermost

TASK = {
    "folder": "/home/fp/jobs/abcde/abcdefg/attempt-0/main-0",
    "work_folder": "/home/fp/jobs/abcde/abcdefg/attempt-0/main-0/work",
    "env": {},
    "environment": None,
    "shm_bytes": 64,
}


def request(*mounts: dict[str, Any]) -> dict[str, Any]:
    job = "/home/fp/jobs/abcde/abcdefg"
    return {
        "folder": f"{job}/attempt-0",
        "folders": [f"{job}/checkpoints", f"{job}/output"],
        "writable": [f"{job}/checkpoints", f"{job}/output"],
        "code_is_read_only": False,
        "person_folder": None,
        "mounts": list(mounts),
    }


def test_the_home_folder_is_covered_but_for_the_own_job() -> None:
    view = compose(ViewRules(home="/home/fp"), request(), TASK, ())
    assert view["covers"] == ["/home/fp"]
    assert view["keeps"] == ["/home/fp/jobs/abcde/abcdefg"]
    assert view["tmp"] == "/home/fp/jobs/abcde/abcdefg/attempt-0/main-0/tmp"
    assert view["shm_bytes"] == 64


def test_the_folder_of_a_person_and_what_is_closed_are_told_apart() -> None:
    rules = ViewRules(home="/root/.footplate", closed=("/root", "/run"), has_accounts=True)
    asked = {**request(), "person_folder": "/root/.footplate/people/ann-1"}
    view = compose(rules, asked, TASK, (), cards=("/dev/card0",))
    assert rules.covers == ("/root", "/run")
    assert view["covers"] == ["/root"]
    assert view["keeps"] == ["/root/.footplate/people/ann-1"]
    assert view["devices"] == ["/dev/card0"]


CLOSED = ViewRules(home="/srv/fp", keeps=("/root/venv", "/usr"), closed=("/root", "/run"))


def test_what_hides_nothing_of_a_job_is_covered_once_for_all() -> None:
    assert CLOSED.common_covers == ("/root", "/run")
    assert CLOSED.common_keeps == ("/root/venv",)
    view = compose(CLOSED, request(), TASK, ())
    assert (view["covers"], view["uncovers"]) == (["/srv/fp"], [])
    assert "/root/venv" not in view["keeps"]


def test_a_common_cover_is_made_anew_for_whoever_sees_more_of_it() -> None:
    view = compose(CLOSED, request(), {**TASK, "environment": "/root/torch"}, ())
    assert (view["covers"], view["uncovers"]) == (["/srv/fp", "/root"], ["/root"])
    assert {"/root/venv", "/root/torch"} <= set(view["keeps"])


def test_all_covers_are_made_anew_for_a_task_with_mounts() -> None:
    mount = {"source": "/a", "inner": "", "target": "/root/data", "read_only": True}
    view = compose(CLOSED, request(mount), TASK, ())
    assert view["covers"] == ["/srv/fp", "/root", "/run"]
    assert view["uncovers"] == ["/root", "/run"]
    assert "/root/venv" in view["keeps"]


def test_without_root_nothing_is_covered_for_all() -> None:
    rules = ViewRules("user", home="/srv/fp", keeps=("/root/venv",), closed=("/root",))
    assert rules.common_covers == rules.common_keeps == ()
    assert compose(rules, request(), TASK, ())["covers"] == ["/srv/fp", "/root"]


def test_where_people_have_no_accounts_their_records_are_kept_from_them_by_mounts() -> None:
    job = "/home/fp/jobs/abcde/abcdefg"
    view = compose(ViewRules(home="/home/fp"), request(), TASK, ())
    assert view["unwritable"] == [job]
    assert view["writable"] == [TASK["work_folder"], f"{job}/checkpoints", f"{job}/output"]
    assert compose(ViewRules(home="/home/fp", has_accounts=True), request(), TASK, ())["unwritable"] == []


def test_a_home_below_tmp_is_hidden_with_it() -> None:
    asked = request()
    asked = {**asked, "folder": "/tmp/fp/jobs/a/b/attempt-0", "folders": ["/tmp/fp/jobs/a/b/output"]}
    view = compose(ViewRules(home="/tmp/fp"), asked, TASK, ())
    assert view["covers"] == []
    assert view["keeps"] == ["/tmp/fp/jobs/a/b"]


def test_folders_that_do_not_lie_in_one_job_are_kept_one_by_one() -> None:
    asked = {**request(), "folder": "/home/fp/attempt-0", "folders": ["/home/fp/output"]}
    view = compose(ViewRules(home="/home/fp"), asked, TASK, ())
    assert view["keeps"] == ["/home/fp/attempt-0", "/home/fp/output"]


def test_the_interpreter_and_a_jobs_environment_stay_visible() -> None:
    rules = ViewRules(home="/home/fp", keeps=("/tmp/venv", "/usr"))
    task = {**TASK, "environment": "/home/fp/envs/torch", "env": {"VIRTUAL_ENV": "/home/fp/other"}}
    assert compose(rules, request(), task, ())["keeps"][1:] == ["/tmp/venv", "/home/fp/envs/torch"]


def test_mounts_are_described_without_a_look_at_the_host(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    mount = {"source": "/a", "inner": "b", "target": str(tmp_path / "link"), "read_only": True}
    view = compose(ViewRules(home="/home/fp", keeps=("/opt/venv",)), request(mount), TASK, ())
    assert view["mounts"] == [("/a", "b", str(tmp_path / "link"), True)]
    assert view["own"] == ["/home/fp", "/opt/venv"]
    assert view["free"] == request()["folders"]


def test_only_folders_that_lack_a_target_are_built_anew(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    targets = [str(tmp_path / "there"), str(tmp_path / "not" / "there"), "/no-such-folder/x", "/tmp/x"]
    assert shadows(targets, ("/tmp",) if not str(tmp_path).startswith("/tmp") else ("/tmp/x",))[0] == "/"
    assert str(tmp_path) in shadows(targets, ())


def test_what_lies_within_another_path_is_left_out() -> None:
    assert outermost(["/a/b", "/a", "/ab", "/a/b/c", "/ab"]) == ["/a", "/ab"]


@pytest.mark.parametrize("target", ["/", "x", "/a/../b", "/proc", "/proc/1", "/sys/x", "/dev/shm", "/tmp"])
def test_some_targets_can_never_be_mounted(target: str) -> None:
    assert bad_target(target)


def test_the_system_of_an_image_may_be_covered_and_the_platform_may_not() -> None:
    assert bad_target("/usr", ("/srv/fp",), in_image=True) is None
    assert bad_target("/srv/fp/jobs", ("/srv/fp",), in_image=True) is not None
    assert bad_target("/proc/self", ("/srv/fp",), in_image=True) is not None


@pytest.mark.parametrize("target", ["/data", "/opt/ml/input/data/train", "/tmp/x", "/job/hostfile"])
def test_the_targets_that_foreign_jobs_expect_can_be_mounted(target: str) -> None:
    assert bad_target(target) is None


@pytest.mark.parametrize(
    "target",
    [
        "/.footplate-old-root",
        "/.footplate-old-root/etc",
        "/usr",
        "/usr/bin/env",
        "/etc/passwd",
        "/var/tmp/data",
        "/proc/self",
        "/dev/shm",
        "/tmp",
        "/srv/fp",
        "/srv/fp/jobs",
        "/srv",
        "/opt/footplate",
        "/opt/footplate/venv/lib",
        "data",
        "/data/../etc",
    ],
)
def test_nothing_is_mounted_over_the_system_or_the_platform(target: str) -> None:
    assert bad_target(target, own=("/srv/fp", "/opt/footplate/venv")) is not None


@pytest.mark.parametrize("target", ["/data", "/opt/ml/input/data/x", "/mnt/data", "/srv/fp-data", "/tmp/x"])
def test_paths_that_jobs_expect_can_be_had(target: str) -> None:
    assert bad_target(target, own=("/srv/fp", "/opt/footplate/venv")) is None


@pytest.mark.parametrize("place", ["/proc", "/usr/lib", "/srv/fp/jobs"])
def test_a_link_of_the_host_is_no_way_around(tmp_path: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(PermissionError):
        resolve(str(tmp_path / "link"), own=("/srv/fp",))
    assert resolve(str(tmp_path / "data"), own=("/srv/fp",)) == str(tmp_path.resolve() / "data")


@pytest.mark.parametrize("target", ["//usr", "/./etc", "/proc/", "//proc/self"])
def test_more_slashes_are_no_way_around(target: str) -> None:
    assert bad_target(target) is not None


def test_paths_of_which_one_lies_in_the_other_are_found() -> None:
    assert overlapping(["/data", "/data2", "/data-x", "/opt/ml"]) is None
    assert overlapping(["/data/a/b", "/opt", "/data/a"]) == ("/data/a", "/data/a/b")
    assert overlapping(["/data", "/data-x", "/data/a"]) == ("/data", "/data/a")
    assert overlapping(["/data", "//data/"]) == ("/data", "/data")


def test_how_names_are_looked_up_stays_visible(tmp_path: Path) -> None:
    place = Path("/run/user")
    if not place.is_dir():
        place = next(
            (path for path in Path("/run").iterdir() if path.is_dir() and not path.is_symlink()), place
        )
    (tmp_path / "resolv.conf").symlink_to(place / "resolv.conf")
    assert str(place) in kept_of_run(tmp_path / "resolv.conf")
    (tmp_path / "own.conf").touch()
    assert str(tmp_path) not in kept_of_run(tmp_path / "own.conf")
