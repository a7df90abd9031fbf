"""The command in Chinese: help, tables, refusals, questions; and in English again after that."""

from __future__ import annotations

import io
import subprocess
import sys

import click
import pytest
from commandline import Command

from footplate.cli.cells import width_of
from footplate.cli.language import language_of, phrase
from footplate.cli.render import show_span
from footplate.cli.translated import speaking, wrap
from footplate.testing.fake_server import FakeServer, Reply, job

ID = "0abcdefghjk1"


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": ""}, "zh"),
        # As for every other program: without a locale, no translation.
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, "en"),
        ({"LANGUAGE": "zh_CN"}, "en"),
    ],
)
def test_a_list_of_languages_comes_first_where_there_is_a_locale(
    environment: dict[str, str], language: str
) -> None:
    assert language_of(environment) == language


@pytest.mark.usefixtures("chinese")
def test_help_is_in_chinese_down_to_options_and_verbs_below(footplate: Command) -> None:
    whole = footplate("--help").out
    assert "用法：" in whole
    assert "提交任务文件或命令。" in whole
    assert "显示此帮助并退出。" in whole
    below = footplate("queues", "--help").out
    assert "授予 USER 在队列中的角色：admin、member 或 viewer。" in below
    option = footplate("queues", "create", "--help").out
    assert "是否接受新任务。" in option
    assert "Options" not in whole + below + option


def test_english_comes_back_after_a_command_in_chinese(
    footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = footplate("submit", "--help").out
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert footplate("submit", "--help").out != before
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert footplate("submit", "--help").out == before


@pytest.mark.usefixtures("chinese")
def test_a_type_that_is_made_for_a_reader_of_chinese_has_the_name_that_all_read() -> None:
    with speaking():
        assert click.Path(dir_okay=False).name == "file"


@pytest.mark.usefixtures("chinese")
def test_a_table_has_chinese_headings_and_its_columns_stay_aligned(
    server: FakeServer, footplate: Command
) -> None:
    server.on("GET /jobs", {"items": [job(name="一号"), job(name="b")], "next_page_token": None})
    head, first, second = footplate("list").out.splitlines()
    assert head.split()[:3] == ["ID", "名称", "状态"]
    columns = {width_of(line[: line.index(word)]) for line, word in ((head, "状态"), (second, "RUNNING"))}
    assert len(columns) == 1
    assert "RUNNING" in first


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lisst",), "没有命令“lisst”；是否想输入 `footplate list`？"),
        (("list", "--limit", "x"), "'--limit' 的值无效：'x' 不是有效的数字。"),
        (("list", "--colour"), "没有选项 '--colour'"),
        (("logs",), "缺少参数 'JOB'"),
        (("submit", "nothing.yaml"), "'nothing.yaml' 不存在。"),
        (("edit", "digits"), "没有要修改的内容：请至少给出其中一个选项：--name, --description, --priority"),
        (("tokens", "create", "ci", "--expires", "soon"), "'--expires' 的值无效：必须"),
    ],
)
def test_what_was_typed_wrongly_is_said_in_chinese(
    footplate: Command, words: tuple[str, ...], said: str
) -> None:
    result = footplate(*words)
    assert result.exit_code == 2
    assert said in result.err


@pytest.mark.usefixtures("chinese")
def test_a_deletion_is_confirmed_and_told_in_chinese(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET /jobs/digits", job(state="SUCCEEDED"))
    server.on(f"DELETE /jobs/{ID}", Reply(204))
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = footplate("delete", "digits")
    assert "把 digits (SUCCEEDED) 移到回收站吗？" in refused.err
    assert "错误： 没有移动任何任务" in refused.err
    assert f"恢复：footplate restore {ID}" in footplate("delete", "digits", "-y").out


@pytest.mark.usefixtures("chinese")
def test_what_programs_read_is_the_same_in_every_language(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET /jobs", {"items": [job()], "next_page_token": None})
    told = footplate("list", "--json").out
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert footplate("list", "--json").out == told


def test_who_reads_english_loads_no_other_language() -> None:
    program = (
        "import sys; from footplate.cli.main import run; run(['--help']);"
        "other = [name for name in sys.modules if 'chinese' in name or 'translated' in name];"
        "assert not other, other"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)


def test_lines_break_by_their_width_and_not_before_a_sign() -> None:
    text = "任务的日志，保存在服务器上。footplate logs"
    lines = wrap(text, 12).splitlines()
    assert max(map(width_of, lines)) <= 12
    assert not any(line.startswith(("，", "。")) for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert wrap("一\n\n二", 20, "  ", "  ", preserve_paragraphs=True) == "  一\n\n  二"


@pytest.mark.usefixtures("chinese")
def test_a_text_that_nobody_has_translated_is_shown_as_it_is() -> None:
    assert phrase("of tomorrow") == "of tomorrow"
    assert phrase("of {day}", day="tomorrow") == "of tomorrow"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.25, "0.25秒"), (59, "59秒"), (63, "1分03秒"), (7500, "2小时05分"), (90000, "1天01小时")],
)
def test_spans_of_time_have_chinese_units(seconds: float, written: str) -> None:
    assert show_span(seconds) == written
