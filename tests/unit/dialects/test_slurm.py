"""Batch scripts of Slurm as job documents: what is taken over, and what is told."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.dialects.slurm import translate
from footplate.dialects.slurm.arrays import indices_of, loop_over
from footplate.domain.jobfile import read_job

DDP = """\
#!/bin/bash -l
# Train on two nodes.
#SBATCH --job-name=ddp
#SBATCH -N 2 --ntasks-per-node=4
#SBATCH --gres=gpu:a100:4
#SBATCH --cpus-per-task=8     # cores
#SBATCH --mem=128G
#SBATCH -t 1-12:30
##SBATCH --qos=high

module load cuda/12.1
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=29500
echo "rank $SLURM_PROCID"

srun --cpu-bind=none -n 8 --label \\
  python train.py --epochs 3 \\
     --lr 0.1
"""


def document_of(text: str) -> dict[str, Any]:
    document = dict(translate(text, "script").document)
    read_job({**document, "code": None})
    return document


def codes_of(text: str) -> list[str]:
    return [note.code for note in translate(text, "script").notes]


def with_options(*options: str, body: str = "srun python train.py") -> str:
    return "\n".join(["#!/bin/bash", *(f"#SBATCH {option}" for option in options), body])


def test_a_distributed_training_becomes_a_job_of_as_many_tasks() -> None:
    document = document_of(DDP)
    command = document.pop("command")
    assert document == {
        "name": "ddp",
        "code": ".",
        "count": 8,
        "cpus": 8,
        "memory": "32GB",
        "gpus": 1,
        "gpu_type": "A100",
        "time_limit": "1d12h30m",
    }
    assert command == (
        'export SLURM_PROCID="$RANK"\n'
        "# module load cuda/12.1\n"
        "# export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
        "# export MASTER_PORT=29500\n"
        'echo "rank $SLURM_PROCID"\n'
        "\n"
        "python train.py --epochs 3 \\\n"
        "     --lr 0.1"
    )


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["-n 4"], {"count": 4, "cpus": 1}),
        (["-n4", "-c2"], {"count": 4, "cpus": 2}),
        (["--ntasks", "4"], {"count": 4}),
        (["--ntasks=4", "--ntasks=2"], {"count": 2}),
        (["-N 2-4", "--ntasks-per-node=3"], {"count": 6}),
        (["-N 2"], {"count": 2}),
        (["-n 2", "--mem-per-cpu=500", "-c 3"], {"memory": "1500MB"}),
        (["-n 2", "--mem=1G"], {"memory": "512MB"}),
        (["-n 3", "--mem=1G"], {"memory": "342MB"}),
        (["--mem-per-gpu=8G", "-G 2"], {"memory": "16GB", "gpus": 2}),
        (["-n 2", "--gpus-per-task=h100:2"], {"gpus": 2, "gpu_type": "H100"}),
        (["-n 4", "--gpus=4"], {"gpus": 1}),
        (["--gres=gpu"], {"gpus": 1}),
        (["--gres=gpu:2(S:0)"], {"gpus": 2}),
        (["--gpus-per-node=nvidia_a100_80gb:1"], {"gpu_type": "nvidia_a100_80gb"}),
        (["-t 90"], {"time_limit": "1h30m"}),
        (["-t 1:30"], {"time_limit": "1m30s"}),
        (["-t 2:00:00"], {"time_limit": "2h"}),
        (["-t 7-0"], {"time_limit": "7d"}),
        (["-p gpu"], {"queue": "gpu"}),
        (["-p gpu,long"], {"queue": "gpu"}),
        (["--comment='two words'"], {"description": "two words"}),
        (["-J 'a b/c'"], {"name": "a-b-c"}),
        (["--requeue"], {"retry": 1}),
        (["--export=ALL,A=1,B=x=y"], {"env": {"A": "1", "B": "x=y"}}),
        (
            ["--container-image=nvcr.io#nvidia/pytorch:23.10-py3"],
            {"image": "nvcr.io/nvidia/pytorch:23.10-py3"},
        ),
        (["--container-image=docker://python:3.12"], {"image": "python:3.12"}),
        (["--deadline=2030-01-31T18:00"], {"deadline": "2030-01-31T18:00:00"}),
        (["--chdir=sub"], {"code": "sub"}),
    ],
)
def test_an_option_becomes_a_field(options: list[str], wanted: dict[str, Any]) -> None:
    lines = [" ".join(options)] if options[0] == "--ntasks" else options
    document = document_of(with_options(*lines))
    assert {name: document.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("time", ["UNLIMITED", "INFINITE", "0"])
def test_no_limit_of_time_is_none(time: str) -> None:
    assert "time_limit" not in document_of(with_options(f"--time={time}"))


def test_without_srun_the_script_runs_once_with_the_share_of_a_node() -> None:
    text = with_options("-N 2", "--ntasks-per-node=4", "-c 2", "--gres=gpu:4", body="mpirun ./solver")
    document = document_of(text)
    assert (document.get("count"), document["cpus"], document["gpus"]) == (None, 8, 4)
    assert "slurm_runs_once" in codes_of(text)


def test_an_array_is_one_job_with_a_parameter_and_a_loop() -> None:
    text = with_options("--array=0-9:3%2", body="srun python sweep.py $SLURM_ARRAY_TASK_ID")
    document = document_of(text)
    assert document["parameters"] == {"array_task_id": 0}
    assert document["env"] == {"SLURM_ARRAY_TASK_ID": "${{ parameters.array_task_id }}"}
    (note,) = [str(note) for note in translate(text, "x").notes if note.code == "slurm_array"]
    assert "for i in $(seq 0 3 9); do footplate submit" in note


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("3", [3]), ("1,3,5-7", [1, 3, 5, 6, 7]), ("5-1", []), ("x", []), ("0-9:0", []), ("0-999999999", [])],
)
def test_indices_of_an_array(text: str, wanted: list[int]) -> None:
    assert indices_of(text) == wanted


def test_a_loop_over_indices() -> None:
    assert loop_over([1, 2, 3]) == "for i in $(seq 1 3)"
    assert loop_over([1, 5, 6]) == "for i in 1 5 6"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (with_options("--mail-type=END"), "slurm_option_unmapped"),
        (with_options("--qos high"), "slurm_option_unmapped"),
        (with_options("--exclusive"), "slurm_option_unmapped"),
        (with_options("--gres=gpu:1,nvme:1"), "slurm_option_unmapped"),
        (with_options("--time=soon"), "slurm_option_unmapped"),
        (with_options("--container-image=/images/x.sqsh"), "slurm_option_unmapped"),
        (with_options("--array=all"), "slurm_option_unmapped"),
        (with_options("--deadline=tomorrow"), "slurm_option_unmapped"),
        (with_options("--ntasks=many"), "slurm_value_unreadable"),
        (with_options("--mem=lots"), "slurm_value_unreadable"),
        (with_options("--gpus=?"), "slurm_value_unreadable"),
        (with_options("--mem=0"), "slurm_all_memory"),
        (with_options("--mem=0"), "slurm_default_memory"),
        (with_options("-n 4", "--gres=gpu:2"), "slurm_gpus_not_shared"),
        (with_options("--dependency=afterok:1"), "slurm_dependency"),
        (with_options("--output=%x.out"), "slurm_output"),
        (with_options("--export=HOME"), "slurm_export"),
        (with_options("--export=CUDA_VISIBLE_DEVICES=0"), "slurm_export"),
        (with_options("--chdir=/data/run"), "slurm_chdir"),
        (with_options("--comment='open"), "slurm_line_unreadable"),
        (with_options("hetjob"), "slurm_components"),
        (with_options(body="echo\n#SBATCH --time=1"), "slurm_line_late"),
        ("echo hello", "slurm_no_options"),
        (with_options(body="srun a\nsrun b"), "slurm_several_srun"),
        (with_options(body="srun --multi-prog steps.conf"), "slurm_option_unmapped"),
        (with_options(body="scancel $SLURM_JOB_ID"), "slurm_tool"),
        (with_options(body="echo $SLURM_UMASK"), "slurm_variable_unmapped"),
        (with_options(body="echo $SLURM_ARRAY_TASK_ID"), "slurm_variable_unmapped"),
    ],
)
def test_what_cannot_be_taken_over_is_told(text: str, code: str) -> None:
    assert code in codes_of(text)
    document_of(text)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("srun python a.py", "python a.py"),
        ("srun -n 4 -N2 --mpi=pmix python a.py -n 3", "python a.py -n 3"),
        ("srun --ntasks 4 --unbuffered python a.py", "python a.py"),
        ("srun --export='ALL,A=1 2' python a.py", "python a.py"),
        ("time srun python a.py", "time python a.py"),
        ("srun a & srun b & wait", "a & b & wait"),
        ("if srun -l ./check; then echo yes; fi", "if ./check; then echo yes; fi"),
        ("x=$(srun hostname)", "x=$(hostname)"),
        ("echo not-srun ./srun $srun", "echo not-srun ./srun $srun"),
        ("# srun python a.py", "# srun python a.py"),
    ],
)
def test_what_srun_starts_stands_alone(line: str, wanted: str) -> None:
    assert document_of(with_options(body=f"true\n{line}"))["command"] == f"true\n{wanted}"


def test_the_first_line_is_heeded() -> None:
    assert document_of("#!/bin/bash -e\n#SBATCH -n 1\ntrue")["command"] == "set -e\ntrue"
    assert document_of("#!/usr/bin/env python3\n#SBATCH -n 1\nprint(1)")["command"] == (
        "exec python3 /dev/stdin <<'END_OF_SCRIPT'\nprint(1)\nEND_OF_SCRIPT"
    )


def test_a_script_of_windows_is_read_too() -> None:
    document = document_of("#!/bin/bash\r\n#SBATCH --time=10\r\n\r\npython a.py\r\n")
    assert (document["time_limit"], document["command"]) == ("10m", "python a.py")


def test_an_empty_script_is_a_job_that_does_nothing() -> None:
    assert document_of("")["command"] == "true"


@pytest.mark.parametrize("text", [DDP, with_options(body="for i in 1 2; do\n  srun -n 2 echo $i\ndone")])
def test_the_commands_are_still_a_script(text: str) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    checked = subprocess.run(
        [bash, "-n"], input=document_of(text)["command"], text=True, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


PIECES = (*"0:%,;|=-'\"\\\n", "#SBATCH", "-n", "--ntasks=", "4", "-N", "2-3", "--mem=", "1G", "--gres=gpu:")
WORDS = st.sampled_from(
    (*PIECES, "a100", "--array=", "1-3", "srun", "$SLURM_PROCID", "--time=", "1-2:3", "A=1")
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_no_script_makes_the_translation_fail(text: str) -> None:
    translation = translate(text, "x")
    assert translation.document["command"]
    assert all(str(note) for note in translation.notes)
