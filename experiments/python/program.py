"""The program behind the package."""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import List, NoReturn, Optional, Sequence, Union

from .errors import Error, InfrastructureError, InputError

_BUNDLED = pathlib.Path(__file__).resolve().parent / "bundle" / "bin" / "warpath"

PathLike = Union[str, "os.PathLike[str]"]


def program(path: Optional[PathLike] = None) -> str:
    """The program that is used: `path`, the variable WARPATH_PROGRAM, the one in the wheel, the one in PATH, in this order."""
    for candidate in (path, os.environ.get("WARPATH_PROGRAM"), _BUNDLED if _BUNDLED.exists() else None, shutil.which("warpath")):
        if not candidate:
            continue
        if not os.access(candidate, os.X_OK):
            raise InfrastructureError(f"warpath: {os.fspath(candidate)}: no program")
        return os.fspath(candidate)
    raise InfrastructureError("warpath: no program: neither in this package nor in PATH; set WARPATH_PROGRAM")


def specs() -> pathlib.Path:
    """The folder of the specs in the wheel."""
    return _BUNDLED.parents[1] / "specs"


def failure(code: int, stderr: str) -> Error:
    """What the program said when it ended with this code."""
    lines = [line for line in stderr.splitlines() if line.startswith("warpath: ")]
    text = lines[-1] if lines else f"warpath: the program ended with code {code}: {stderr.strip()[-500:]}"
    return InputError(text) if code == 64 else InfrastructureError(text)


def flags(options: dict) -> List[str]:
    """`budget_builds=12` as --budget-builds 12, `deterministic=True` as --deterministic, a list as one flag with several words,
    `set={"search.c_puct": 2}` as --set search.c_puct=2. None and False leave the flag out."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, dict):
            for key, one in value.items():
                words += [flag, f"{key}={one}"]
        elif isinstance(value, (list, tuple)):
            words += [flag, *map(str, value)]
        else:
            words += [flag, os.fspath(value) if hasattr(value, "__fspath__") else str(value)]
    return words


def call(words: Sequence[str], path: Optional[PathLike] = None) -> str:
    """Runs one command and returns its standard output. Raises Error for exit codes other than 0 and 2."""
    done = subprocess.run([program(path), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise failure(done.returncode, done.stderr)
    return done.stdout


def main() -> NoReturn:
    """The command `warpath` of an installed wheel."""
    os.execv(program(), ["warpath", *sys.argv[1:]])
