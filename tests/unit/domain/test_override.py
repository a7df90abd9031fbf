"""What somebody changes of a job document when it is submitted, or submitted again."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.override import override

ROLE = {"command": "run ${{ parameters.rate }}", "cpus": 1}
LONG: dict[str, Any] = {"name": "x", "roles": [ROLE], "env": {"A": "1", "B": "2"}, "tags": ["old"]}


def test_variables_are_merged_and_null_takes_one_out() -> None:
    assert override(LONG, {"env": {"B": None, "C": "3"}})["env"] == {"A": "1", "C": "3"}
    assert override({"name": "x", "command": "y"}, {"env": {"A": "1"}})["env"] == {"A": "1"}


def test_other_fields_are_replaced() -> None:
    assert override(LONG, {"tags": ["new"], "retry": 2}) == {**LONG, "tags": ["new"], "retry": 2}


def test_data_is_added_by_path() -> None:
    document = {**LONG, "data": [{"path": "/a", "storage": "s"}, {"path": "/b", "storage": "s"}]}
    added = override(document, {"data": [{"path": "/b", "storage": "t"}]})["data"]
    assert added == [{"path": "/a", "storage": "s"}, {"path": "/b", "storage": "t"}]


def test_fields_of_a_role_go_into_the_only_role() -> None:
    assert override(LONG, {"cpus": 4, "gpus": 1})["roles"] == [{**ROLE, "cpus": 4, "gpus": 1}]
    assert override({"name": "x", "command": "y"}, {"cpus": 4})["cpus"] == 4


def test_roles_as_a_whole_can_be_replaced() -> None:
    roles = [{"name": "a", "command": "true"}, {"name": "b", "command": "true"}]
    assert override(LONG, {"roles": roles})["roles"] == roles


def test_of_several_roles_none_is_chosen() -> None:
    document = {"name": "x", "roles": [{"name": "a", "command": "1"}, {"name": "b", "command": "2"}]}
    with pytest.raises(InvalidInput) as refused:
        override(document, {"cpus": 2, "gpus": 1, "retry": 1})
    assert [problem.path for problem in refused.value.problems] == ["cpus", "gpus"]


def test_a_parameter_that_nothing_uses_is_refused() -> None:
    assert override(LONG, {"parameters": {"rate": "0.1"}})["parameters"] == {"rate": "0.1"}
    with pytest.raises(InvalidInput, match=r"parameters\.rat: is not used by the job; it uses rate"):
        override(LONG, {"parameters": {"rat": 1}})


@pytest.mark.parametrize("given", [{"env": 5}, {"parameters": [1]}, {"data": {}}, {"cpus": 1, "roles": 7}])
def test_nonsense_is_left_for_the_reader_of_the_fields(given: dict[str, Any]) -> None:
    for document in (LONG, {"name": "x", "roles": 5}, {"name": "x", "env": 3, "parameters": "p"}):
        try:
            override(document, given)
        except InvalidInput as refused:
            assert all(problem.said.code == "set_in_role" for problem in refused.problems)
