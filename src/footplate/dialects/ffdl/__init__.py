"""Manifests of FfDL and of Prophecis, which is a fork of it."""

from footplate.dialects.ffdl.manifest import FFDL, PROPHECIS, translate_ffdl, translate_prophecis

__all__ = ["FFDL", "PROPHECIS", "translate_ffdl", "translate_prophecis"]
