"""Job files of other systems are met by their names."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job
from footplate.wire import documents

PAI_V1 = '{"jobName": "mnist", "image": "x", "taskRoles": [{"name": "main", "taskNumber": 1}]}'
PAI_V2 = "protocolVersion: 2\nname: mnist\ntype: job\ntaskRoles:\n  train: {instances: 1}\n"
FFDL = "name: m\nlearners: 1\ndata_stores: []\nframework: {name: tensorflow, version: '1.5', command: x}\n"
PROPHECIS = f"{FFDL}namespace: ns-test\ncode_selector: codeFile\n"
KUBERNETES = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: m}\n"
BATCH = "#!/bin/bash\n#SBATCH --job-name=m\n#SBATCH --gres=gpu:2\nsrun python train.py\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (PAI_V1, "an OpenPAI v1 job file"),
        (PAI_V2, "an OpenPAI v2 job file"),
        (FFDL, "an FfDL manifest"),
        (PROPHECIS, "a Prophecis manifest"),
        (KUBERNETES, "a Kubernetes manifest"),
        (BATCH, "a Slurm batch script"),
    ],
)
def test_a_job_file_of_another_system_is_named_and_nothing_else_is_said(text: str, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job(documents.load(text, "job"))
    (problem,) = refused.value.problems
    assert str(problem.said) == f"this is {name}, not a Footplate job file"


@pytest.mark.parametrize(
    "more",
    [{"tags": ["ffdl"]}, {"description": "was jobName: mnist, protocolVersion: 2"}, {"env": {"kind": "x"}}],
)
def test_a_job_file_of_ours_is_read_whatever_it_speaks_of(more: dict[str, Any]) -> None:
    assert read_job({"name": "mine", "command": "true", **more}).name == "mine"


def test_a_script_of_ours_with_a_comment_is_no_batch_script() -> None:
    text = "# once: #SBATCH --gres=gpu:2\nname: mine\ncommand: 'true'\n"
    assert documents.load(text, "job") == {"name": "mine", "command": "true"}
