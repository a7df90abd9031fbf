"""The Python environments of jobs: what they are made of, built once, kept and shared."""
