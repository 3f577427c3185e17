"""Searches."""

import json
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, Iterator, Optional

from .errors import InputError
from .events import EventLog
from .program import PathLike, failure, flags, program
from .result import Result, open_run

_POLL_SECONDS = 0.05


class Search:
    """A search that runs. Iterating over it gives its events (docs/run-folder.md, events.jsonl) as they are recorded, until it ends; `result`
    waits for the end. As a context manager it stops the search on leaving."""

    def __init__(self, spec: PathLike, outdir: PathLike, path: Optional[PathLike], options: Dict[str, Any]):
        self.outdir = pathlib.Path(outdir)
        self._errors = tempfile.TemporaryFile(mode="w+")
        words = ["run", "--input", str(spec), "--outdir", str(outdir), *flags(options)]
        self._process = subprocess.Popen([program(path), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors)
        self._ended = threading.Lock()
        self._code: Optional[int] = None
        self._stopping = False

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def folder(self) -> Optional[pathlib.Path]:
        """The run folder, once there is one."""
        found = sorted(self.outdir.glob("kernels/*/events.jsonl"))
        return found[0].parent if found else None

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        log: Optional[EventLog] = None
        while True:
            ended = not self.running
            folder = self.folder()
            if log is None and folder is not None:
                log = EventLog(folder)
            if log is not None:
                yield from log.read_on()
            if ended:
                return
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Asks the search to finish what is in flight; what it has found so far is its result. To ask again changes nothing."""
        if self.running and not self._stopping:
            self._stopping = True
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> int:
        """The program's exit code: 0 improved, 2 no gain. Raises Error for any other, unless the search was stopped and has a result."""
        code = self._process.wait()
        with self._ended:
            if self._code is None:
                self._errors.seek(0)
                self._text = self._errors.read()
                self._errors.close()
                self._code = code
        if code not in (0, 2) and not self._interrupted():
            raise failure(code, self._text)
        return code

    def _interrupted(self) -> bool:
        folder = self.folder()
        summary = folder / "best_summary.json" if folder else None
        return bool(summary and summary.exists() and json.loads(summary.read_text()).get("interrupted"))

    def result(self) -> Result:
        """Waits for the end. Raises Error as `wait` does."""
        self.wait()
        folder = self.folder()
        if folder is None:
            raise failure(3, self._text)
        return open_run(folder)

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._process.wait()


def start(spec: PathLike, *, outdir: Optional[PathLike] = None, program: Optional[PathLike] = None, **options: Any) -> Search:
    """Starts a search of one spec. `outdir`: where its run folder goes (a new temporary folder); `options` are the flags of `warpath run` with
    underscores: runner="host", budget_builds=12, set={"search.c_puct": 2}."""
    document = pathlib.Path(spec)
    if not document.is_file():
        raise InputError(f"warpath: {document}: expected a file with one spec")
    if options.get("input") or options.get("help"):
        raise InputError("warpath: the spec is the first argument of run and start")
    place = pathlib.Path(outdir) if outdir is not None else pathlib.Path(tempfile.mkdtemp(prefix="warpath-run-"))
    if not options.get("resume") and any(place.glob("kernels/*/events.jsonl")):
        raise InputError(f"warpath: {place}: contains a run; give another outdir, or resume=True")
    return Search(document, place, program, options)


def run(spec: PathLike, *, outdir: Optional[PathLike] = None, program: Optional[PathLike] = None, **options: Any) -> Result:
    """Searches one spec and returns what was found; see `start`."""
    return start(spec, outdir=outdir, program=program, **options).result()
