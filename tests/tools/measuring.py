"""What measuring commands share: where things are, running the program on each GPU in turn, how a result file is written.

  WARPATH=/path/to/warpath   the program to measure with (default: ./warpath of the checkout, which builds)
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARPATH = os.environ.get("WARPATH", str(ROOT / "warpath"))
COMMAND = pathlib.Path(sys.argv[0]).name


def say(text):
    print(f"{COMMAND}: {text}", file=sys.stderr, flush=True)


def lines_of(command):
    """Lines that a command prints; none where it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return []


def run(words, seconds=None):
    """The program with these arguments. Ended after `seconds`: exit code 124."""
    try:
        return subprocess.run([WARPATH, *map(str, words)], capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"ended after {seconds:.0f} s")


def last_line(done):
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else ""


def gpus():
    """The GPUs whose turns a command takes: GPUS='0 2', else all of the machine; [''] where there is none."""
    chosen = os.environ.get("GPUS", "").split()
    return chosen or [str(i) for i in range(len(lines_of(["nvidia-smi", "-L"])))] or [""]


def spread(work, items, places):
    """work(item, place) for every item, in order, each on the first of the places that is free. Returns what they return."""
    free = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def one(item):
        place = free.get()
        try:
            return work(item, place)
        finally:
            free.put(place)

    with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(one, items))


def write_result(path, figures, rows):
    """docs/results/NAME.json, whole or not at all."""
    names = collections.Counter(lines_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]))
    head = {"command": f"tests/tools/{COMMAND}",
            "revision": (lines_of([WARPATH, "--version"]) or ["- unknown"])[0].split()[1],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "device": ", ".join(f"{count} x {name}" for name, count in sorted(names.items())) or "none",
            "driver": (lines_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]) or ["none"])[0]}
    inner = json.dumps(figures, indent=2).replace("\n", "\n  ")
    body = ",\n".join("    " + json.dumps(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(head, indent=2)[:-2] + f',\n  "figures": {inner},\n  "rows": [\n{body}\n  ]\n}}\n')
    temporary.replace(path)
    say(f"wrote {path}")
