"""UFile: the object store that UAI-Train reads data from and writes outputs to."""
