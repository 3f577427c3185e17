"""What measurements share: options, running the program on each GPU in turn, statistics, how a result file is written."""
import argparse
import collections
import concurrent.futures
import functools
import glob
import gzip
import itertools
import json
import math
import os
import pathlib
import queue
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / "tests/data"
WARPATH = os.path.abspath(os.environ.get("WARPATH") or ROOT / "warpath")
BEGAN = time.monotonic()
COMMAND = ["tests/measure"]


class Failed(Exception):
    """Ends a measurement, or a part of it, with one line."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def say(text):
    print(f"{' '.join(COMMAND)}: {text}", file=sys.stderr, flush=True)


def elapsed():
    return time.monotonic() - BEGAN


def time_is_over(args):
    return args.limit is not None and elapsed() > args.limit


# ---- Options ----

class Parser(argparse.ArgumentParser):
    """Takes an option's type from its default, says the default, and bad usage in one line."""

    def add_argument(self, *names, **settings):
        default = settings.get("default")
        if default is not None and default != argparse.SUPPRESS:
            settings.setdefault("type", type(default))
            settings["help"] += f" (default: {','.join(map(str, default)) if isinstance(default, list) else default})"
        return super().add_argument(*names, **settings)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def names(text):
    if not text.strip(","):
        raise argparse.ArgumentTypeError("expected names separated by commas")
    return [part for part in text.split(",") if part]


def seeds(text):
    """10: 1 to 10; 3,7: these; 3,3: this one."""
    return list(dict.fromkeys(int(part) for part in names(text))) if "," in text else list(range(1, int(text) + 1))


def glob_of_specs(pattern):
    found = [path for path in sorted(ROOT / name for name in glob.glob(pattern, root_dir=ROOT)) if path.stem != "schema"]
    if not found:
        raise argparse.ArgumentTypeError(f"no file matches {pattern}")
    return found


SHARED = {
    "gpus": {"type": names, "metavar": "0,1", "help": "the GPUs to measure on, side by side where parts do not depend on each other; all of the machine unless given"},
    "runner": {"default": "cuda", "help": "cuda or host"},
    "stage": {"choices": ["screening", "confirmation", "final"], "help": "how thoroughly each is judged"},
    "kernels": {"type": names, "metavar": "NAME,NAME", "help": "these alone"},
    "specs": {"default": "specs/*.json", "type": glob_of_specs, "metavar": "PATTERN", "help": "files of the checkout"},
    "seeds": {"type": seeds, "metavar": "N|N,N", "help": "10: 1 to 10; 3,7: these; 3,3: this one"},
    "seconds": {"type": float, "metavar": "S", "help": "of each search"},
    "limit": {"type": float, "metavar": "S", "help": "no part is begun after so many seconds"},
    "left": {"action": "store_true", "help": "only what the file does not have of the same revision"},
    "python": {"default": "python3", "help": "with the libraries to compare with"},
}


def shared(parser, *chosen, **defaults):
    """Adds options that several measurements have, some with a default or a help of their own: seconds=8.0, limit=(540.0, "help")."""
    for name in [*chosen, *defaults]:
        settings = dict(SHARED[name])
        if name in defaults:
            default, *own = defaults[name] if isinstance(defaults[name], tuple) else (defaults[name],)
            settings |= {"default": default} | ({"help": own[0]} if own else {})
        parser.add_argument("--" + name, **settings)


def one_of(wanted, known, what):
    """The wanted names, all where none is; what is not known is bad usage."""
    for name in wanted or []:
        if name not in known:
            raise Failed(f"--{what}: got {name}, expected some of {' '.join(known)}", 2)
    return wanted or list(known)


def perform(module, name, words):
    """One measurement, from its words to the exit code."""
    COMMAND.append(name)
    words, more = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    taker = getattr(module, "MORE", None)
    parser = Parser(prog=" ".join(COMMAND), description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
                    epilog=taker and f"Words after -- go to {taker}.")
    module.options(parser)
    result = getattr(module, "RESULT", f"docs/results/{name.replace('_', '-')}.json")
    if result:
        parser.add_argument("--output", metavar="FOLDER" if result.endswith("results") else "FILE", help=f"where the result goes (default: {result})")
        parser.add_argument("--outdir", metavar="FOLDER", help="what is written meanwhile stays there; what can go on where it was stopped does")
    args = parser.parse_args(words)
    args.more = more
    if more and not taker:
        parser.error(f"got {' '.join(more)} after --, expected nothing there")
    args.output = result and pathlib.Path(args.output or ROOT / result).resolve()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_all)
    with tempfile.TemporaryDirectory() as folder:
        args.work = pathlib.Path(getattr(args, "outdir", None) or folder).resolve()
        args.work.mkdir(parents=True, exist_ok=True)
        try:
            return 1 if module.measure(args) is False else 0
        except Failed as error:
            say(error)
            return error.code


# ---- Processes ----

RUNNING = set()
ENDING = threading.Event()


def end_all(number, _frame):
    """Nothing that was begun goes on when the command ends."""
    ENDING.set()
    for process in list(RUNNING):
        process.terminate()
    sys.exit(128 + number)


def begin(command, **settings):
    if ENDING.is_set():
        raise Failed("interrupted")
    try:
        process = subprocess.Popen(list(map(str, command)), **settings)
    except OSError as error:
        raise Failed(error) from error
    RUNNING.add(process)
    return process


def finish(process, seconds=None):
    """(exit code, what it printed, what it complained of); 128 + N after signal N, 124 if it had to be ended after `seconds`."""
    try:
        out, err = process.communicate(timeout=seconds)
        return process.returncode if process.returncode >= 0 else 128 - process.returncode, out or "", err or ""
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return 124, "", f"ended after {seconds:.0f} s"
    finally:
        RUNNING.discard(process)


def execute(command, seconds=None, cwd=None, **environment):
    """A command to its end."""
    process = begin(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", cwd=cwd, env={**os.environ, **environment})
    return subprocess.CompletedProcess(command, *finish(process, seconds))


def run(words, seconds=None, cwd=None, program=None, **environment):
    """The program, or another one, with these arguments."""
    return execute([program or WARPATH, *words], seconds, cwd, **environment)


def lines_of(command):
    """Lines that a command prints; none where it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return []


def last_line(done):
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else ""


def expect(done, what, codes=(0, 2)):
    if done.returncode not in codes:
        raise Failed(f"{what}: exit code {done.returncode}: {last_line(done)}")
    return done


def places(args):
    """The GPUs whose turns a measurement takes; [''] where there is none, or none is needed."""
    if getattr(args, "runner", "cuda") != "cuda":
        return [""]
    return args.gpus or [str(i) for i in range(len(lines_of(["nvidia-smi", "-L"])))] or [""]


def on(gpu):
    return ["--gpus", gpu] if gpu else []


def given_gpus(args):
    """For a measurement that leaves its GPUs to the program."""
    return on(",".join(args.gpus or []))


def spread(work, items, where, done=None):
    """work(item, place) for every item, in order, each on the first of the places that is free. Returns what they return.

    done(results): after each, all so far, None for the others: a measurement that is ended from outside has written them."""
    results, lock = {}, threading.Lock()
    free = queue.SimpleQueue()
    for place in where:
        free.put(place)

    def one(index, item):
        place = free.get()
        try:
            result = work(item, place)
        finally:
            free.put(place)
        with lock:
            results[index] = result
            if done:
                done([results.get(i) for i in range(len(items))])
        return result

    with concurrent.futures.ThreadPoolExecutor(len(where)) as pool:
        return list(pool.map(one, itertools.count(), items))


def joined(lists):
    return list(itertools.chain.from_iterable(lists))


def fresh(folder):
    """The path of a folder, without what an earlier call left there."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def read_lines(path):
    """The values of a file of JSON lines; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []


def log_lines(folder):
    """The lines of a kernel's log in a run folder, those of its compressed segments first."""
    for path in [*sorted(folder.glob("events.*.jsonl.gz")), folder / "events.jsonl"]:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as log:
            yield from log


def evaluate(args, name, words, seconds=None, program=None, **environment):
    """One `warpath evaluate`, of another program if one is given: (its lines, its figures). Statuses other than expected are results; any other failure ends the measurement."""
    lines, figures = args.work / f"{name}.jsonl", args.work / f"{name}.figures.json"
    words = [*words, "--runner", args.runner, *args.more]
    say(f"{name}: warpath evaluate {' '.join(map(str, words))}")
    expect(run(["evaluate", *words, "--json", lines, "--figures", figures], seconds, program=program, **environment), name)
    return read_lines(lines), json.loads(figures.read_text())


# Of the stages after screening no more than times in pairs with the baseline: for what a search has judged by all gates.
PAIRS_ALONE = ["--set", "cuda.confirmation=", "--set", "cuda.final=interleaved_pairs"]


def candidates_of(lines):
    return [line for line in lines if not line["baseline"]]


LADDERS = json.loads((DATA / "ladders.json").read_text())


def apply(args, name, kernel, moves, words):
    """`warpath apply` of one path: its lines. Rungs that are not ok and refused steps are results; any other failure ends the measurement."""
    file = args.work / f"{name}.jsonl.new"
    file.unlink(missing_ok=True)
    words = ["--input", ROOT / "specs", "--name", kernel, *(["--moves", moves] if moves else []), *words, *args.more]
    say(f"{name}: warpath apply {' '.join(map(str, words))}")
    done = run(["apply", *words, "--json", file])
    if done.returncode != 64 or not read_lines(file):
        expect(done, name)
    print(done.stdout, file=sys.stderr, end="")
    return read_lines(file.rename(args.work / f"{name}.jsonl"))


# ---- Statistics ----

def digits(value, count=4):
    """A number with so many significant digits."""
    return None if value is None else float(f"{value:.{count}g}")


def places_of(value, count=3):
    """A number with so many places."""
    return None if value is None else round(value, count)


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio(a, b):
    """None unless both are positive."""
    return digits(a / b) if (a or 0) > 0 and (b or 0) > 0 else None


def fact(line, name):
    """A fact of an evaluation's diagnosis."""
    return ((line.get("diagnosis") or {}).get("facts", {}).get(name) or {}).get("value")


# ---- Results ----

def cpu():
    found = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return found[0] if found else "unknown"


def printed_figure(log, name):
    """The sum of what tests printed as `figure NAME VALUE`."""
    found = [json.loads(words[2]) for words in map(str.split, log.splitlines()) if words[:2] == ["figure", name] and len(words) > 2]
    return sum(found) if found else None


@functools.cache
def revision():
    """The program's. Asked once: the signal that ends a measurement ends a program just asked as well, and rows would be of an unknown revision."""
    return (lines_of([WARPATH, "--version"]) or ["- unknown"])[0].split()[1]


@functools.cache
def device():
    """The GPUs of this machine, as "2 x NAME"; "none". Asked once: a query beside a measurement would disturb it."""
    cards = collections.Counter(lines_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]))
    return ", ".join(f"{count} x {name}" for name, count in sorted(cards.items())) or "none"


@functools.cache
def driver():
    return (lines_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]) or ["none"])[0]


def with_others(path, rows, kernels):
    """The rows and those of other kernels that the file has, in order of kernels. Each names the revision that measured it."""
    before = json.loads(path.read_text()) if path.exists() else {"rows": []}
    others = [{**row, "revision": row.get("revision", before["revision"])} for row in before["rows"] if row["kernel"] not in kernels]
    return sorted(rows + others, key=lambda row: row["kernel"])


def with_same_revision(path, own, *keys):
    """These rows and the file's others of the same revision, told apart and ordered by the values of `keys`. None in place of a row is left out."""
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = {tuple(r[key] for key in keys): r for r in before + own if r and r["revision"] == revision()}
    return [rows[key] for key in sorted(rows)]


def tasks_of(args, tasks, *keys):
    """Of these, tuples of the values of `keys`, with --left those that the file has no row of the same revision of."""
    known = {tuple(r[key] for key in keys) for r in with_same_revision(args.output, [], *keys)} if args.left else set()
    return [task for task in tasks if task not in known]


def write_result(path, figures, rows, **head):
    """A file of docs/results, whole or not at all."""
    head = {"command": " ".join(COMMAND), "revision": head.get("revision") or revision(), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "device": head.get("device") or device(),
            "driver": head.get("driver") or driver()}
    inner = json.dumps(figures, indent=2).replace("\n", "\n  ")
    body = ",\n".join("    " + json.dumps(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(head, indent=2)[:-2] + f',\n  "figures": {inner},\n  "rows": [\n{body}\n  ]\n}}\n')
    temporary.replace(path)
    say(f"wrote {path}")
    print(json.dumps(figures, indent=2))
