"""Warpath: finds faster versions of a GPU kernel.

    import warpath
    result = warpath.run("softmax.json", runner="cuda", budget_builds=100)
    print(result.speedup, result.interval, result.verdict["summary"])
    kernel = result.best.load()         # by CuPy or cuda-python
    kernel(output, x, 0.125, rows, cols)
"""

from .errors import Error, InfrastructureError, InputError, LoadError
from .program import call, specs
from .result import Argument, Kernel, Launch, Result
from .result import open_run as open
from .search import Search, run, start

__all__ = ["Argument", "Error", "InfrastructureError", "InputError", "Kernel", "Launch", "LoadError", "Result", "Search", "call", "open", "run",
           "specs", "start"]
