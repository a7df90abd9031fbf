"""Lets a program speak to a Footplate server where it names hosts of some clouds.

Python runs this at its start, so that it must cost nothing: what the program imports is changed when it
imports it, by the module beside this one.
"""

import sys

HOOKED = (
    "requests.adapters",
    "httpx",
    "urllib3.poolmanager",
    "http.client",
    "aiohttp.client_reqrep",
    "uaitrain",
)


class Redirecting:
    """Finds the modules that are changed when they are imported, and leaves all others to those behind it."""

    @staticmethod
    def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def]  # typing costs more than this
        if name not in HOOKED:
            return None
        for finder in sys.meta_path:
            found = None if finder is Redirecting else finder.find_spec(name, path, target)
            if found is not None and found.loader is not None:
                run = changing(found.loader.exec_module)  # type: ignore[no-untyped-call]
                setattr(found.loader, "exec_module", run)  # noqa: B010  # a type checker refuses the other way
                return found
        return None


def changing(run):  # type: ignore[no-untyped-def]
    """What loads a module as before, and then changes it."""

    def exec_module(module):  # type: ignore[no-untyped-def]
        run(module)
        import footplate_redirecting  # type: ignore[import-not-found]  # it lies beside this file

        footplate_redirecting.change(module)

    return exec_module


def run_next() -> None:
    """Run the module of this name that Python would have run without us."""
    import os
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # pathlib would cost more
    behind = [place for place in sys.path if os.path.abspath(place or ".") != here]  # noqa: PTH100
    found = PathFinder.find_spec("sitecustomize", behind)
    if found is not None and found.loader is not None:
        found.loader.exec_module(sys.modules[__name__])


sys.meta_path.insert(0, Redirecting)
run_next()
