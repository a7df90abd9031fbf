"""Job files of other systems, read into ours."""
