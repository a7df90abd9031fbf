"""Batch scripts of Slurm: read, and written again as job documents."""

from footplate.dialects.slurm.translate import Read, translate, translate_text

NAME = "sbatch"

__all__ = ["NAME", "Read", "translate", "translate_text"]
