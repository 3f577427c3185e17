"""Run folders."""

import csv
import dataclasses
import json
import pathlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .errors import InputError
from .events import EventLog
from .expression import evaluate, split
from .program import PathLike


@dataclasses.dataclass(frozen=True)
class Launch:
    """Launch numbers: of one call."""

    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    cluster: Tuple[int, int, int]
    dynamic_smem_bytes: int


@dataclasses.dataclass(frozen=True)
class Argument:
    """A parameter of the kernel."""

    name: str
    type: str  #: "tensor", "int", "float", "bool"
    dtype: str
    role: str  #: of a tensor: "input", "output", "inout"
    value: Any  #: of a scalar: its default; else None


def _read(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"warpath: {path}: missing; expected a run folder, OUT/kernels/NAME") from None
    except (OSError, ValueError) as error:
        raise InputError(f"warpath: {path}: {error}") from None


class Kernel:
    """The best kernel of a run, or its baseline where nothing is better."""

    def __init__(self, folder: pathlib.Path, summary: Mapping[str, Any], spec: Mapping[str, Any]):
        self.folder = folder / "best"
        self.key: str = summary["best_key"]
        #: what its source relies on (docs/run-folder.md, `contract`); None for the baseline
        self.contract: Optional[Dict[str, Any]] = summary["contract"]
        self._shipped = folder / "best_kernel.cu"
        self._spec = spec
        #: lines of the launch and of how it is compiled, by their first word
        self.terms: Dict[str, List[str]] = {}
        for line in (self.folder / "terms").read_text(encoding="utf-8").splitlines():
            word, _, rest = line.partition(" ")
            self.terms.setdefault(word.rstrip(":"), []).append(rest)

    @property
    def source(self) -> str:
        """CUDA C++, with the contract as a comment; of the baseline as it is in the spec."""
        path = self._shipped if self.contract is not None else self.folder / "source.cu"
        return path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """The kernel's name, with template arguments."""
        return self.terms["kernel"][0]

    @property
    def macros(self) -> Dict[str, int]:
        """What it is compiled with."""
        named = (line.partition(" = ") for line in self.terms.get("tunable", []))
        out = {name: int(value) for name, _, value in named}
        for one in self._spec["kernel"]["io"]["args"]:
            if one.get("is_meta") and not one.get("is_size") and one.get("value") is not None:
                out[one["name"]] = int(one["value"])
        return out

    @property
    def compiler_options(self) -> List[str]:
        return self.terms.get("option", [])

    @property
    def steps(self) -> int:
        """Launches besides its own, and scratch buffers, that one call needs."""
        return sum(len(self.terms.get(word, [])) for word in ("before", "after", "scratch"))

    @property
    def structs(self) -> List[str]:
        """Names of the parameters that are structs of arguments."""
        members = [one["member_of"] for one in self._spec["kernel"]["io"]["args"] if one.get("member_of")]
        return list(dict.fromkeys(members))

    @property
    def arguments(self) -> List[Argument]:
        """In the order of the kernel's parameters."""
        out = []
        for one in self._spec["kernel"]["io"]["args"]:
            if one.get("is_meta"):
                continue
            kind = one["type"]
            dtype = one["tensor_spec"]["dtype"] if kind == "tensor" else one.get("dtype") or {"int": "int32", "float": "float32"}.get(kind, "bool")
            out.append(Argument(one["name"], kind, dtype, one.get("role", "input") if kind == "tensor" else "", one.get("value")))
        return out

    def launch(self, **scalars: int) -> Launch:
        """The launch for these values of the spec's integers; those left out have the spec's."""
        numbers: Dict[str, int] = dict(self.macros)
        for one in self._spec["kernel"]["io"]["args"]:
            if one["type"] in ("int", "bool") and one.get("value") is not None:
                numbers[one["name"]] = int(one["value"])
        known = {one["name"] for one in self._spec["kernel"]["io"]["args"] if one["type"] != "tensor"}
        for name, value in scalars.items():
            if name not in known:
                raise InputError(f"warpath: {name}: expected one of the scalars " + ", ".join(sorted(known)))
            if isinstance(value, (int, bool)):
                numbers[name] = int(value)

        def axes(word: str) -> Tuple[int, int, int]:
            x, y, z = (evaluate(one, numbers) for one in split(self.terms[word][0]))
            return x, y, z

        return Launch(axes("grid"), axes("block"), axes("cluster"), evaluate(self.terms["dynamic_smem_bytes"][0], numbers))

    def load(self, backend: str = "auto") -> Callable[..., None]:
        """A function of the kernel's arguments in order, by "cupy" or "cuda" (cuda-python); "auto": the first that is installed. Arrays are of
        CuPy, or anything with __cuda_array_interface__; integers decide the launch. Raises LoadError where it cannot be."""
        from .loading import load

        return load(self, backend)


class Result:
    """What a search found."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        #: best_summary.json (docs/run-folder.md)
        self.summary: Dict[str, Any] = _read(folder / "best_summary.json")
        #: the spec that was searched, its sources inlined
        self.spec: Dict[str, Any] = _read(folder / "input_spec.json")

    def __repr__(self) -> str:
        found = "not measured" if self.speedup is None else f"{self.speedup:.3f}x"
        return f"<warpath.Result {self.name}: {found}, {self.summary['builds']} builds, {self.folder}>"

    name = property(lambda self: self.summary["name"], doc="The spec's name.")
    runner = property(lambda self: self.summary["runner"], doc='"cuda", "host", ...')
    device = property(lambda self: self.summary["device"], doc="What it was measured on.")

    @property
    def speedup(self) -> Optional[float]:
        """Baseline time / best time; None if it could not be measured."""
        return self.summary["speedup"]

    @property
    def interval(self) -> Optional[Tuple[float, float]]:
        """99 % interval of the speed-up; None where baseline and best were not timed alternately."""
        low_high = self.summary["speedup_interval"]
        return None if low_high is None else (low_high[0], low_high[1])

    @property
    def improved(self) -> bool:
        return self.summary["improved"]

    @property
    def verdict(self) -> Dict[str, Any]:
        """{passed, summary, gates} of the best."""
        return self.summary["verdict"]

    @property
    def best(self) -> Kernel:
        return Kernel(self.folder, self.summary, self.spec)

    def events(self) -> List[Dict[str, Any]]:
        """All events of the run; a last one that is not whole is left out."""
        return list(EventLog(self.folder).read_on())

    def variants(self) -> List[Dict[str, str]]:
        """The rows of ledger.csv: one a workload and state of the cache of every outcome."""
        with open(self.folder / "ledger.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def frame(self) -> Any:
        """The same as a pandas frame, figures as numbers. Raises ImportError without pandas."""
        import pandas

        return pandas.read_csv(self.folder / "ledger.csv")


def open_run(folder: PathLike) -> Result:
    """The result of the run in a folder: OUT/kernels/NAME, or OUT if that has one run. Raises InputError if there is none."""
    place = pathlib.Path(folder)
    found: Sequence[pathlib.Path] = [place] if (place / "best_summary.json").exists() else sorted(
        one.parent for one in place.glob("kernels/*/best_summary.json"))
    if len(found) > 1:
        raise InputError(f"warpath: {place}: got {len(found)} runs, expected one of them: " + ", ".join(one.name for one in found))
    return Result(found[0] if found else place)
