"""Is a reported speed-up what one measures?

Searches, then times the reported kernel once more by `warpath evaluate` in a fresh process. A search without a gain is resumed once. Rows of other kernels, of other
seeds, and of the other mode stay in the file if they are of the same revision: a measurement may be done in parts. Exit code 1 where a reported speed-up differs by more than 2 %,
or one is missing without a competitor.
"""
import json
import math
import pathlib
import subprocess
import time

from measurements.common import PAIRS_ALONE, Failed, begin, device, driver, expect, fresh, last_line, on, one_of, read_lines, revision, run, say, shared, spread, time_is_over, write_result

MORE = "both, warpath run and evaluate"
MOST_DIFFERENCE = 0.02

# Two kernels of PyTorch, one bound by arithmetic, one by memory, launched for as long as the process lives.
COMPETITOR = """
import sys, torch
torch.cuda.set_device(int(sys.argv[1]))
a = torch.randn(4096, 4096, device="cuda")
b = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
while True:
    for _ in range(20):
        c = a @ a
        b.fill_(1)
    torch.cuda.synchronize()
    print("busy", flush=True)
"""


def options(parser):
    shared(parser, "specs", "kernels", "python", "left", gpus=("0", "the GPUs to measure on, a search at a time on each"), seeds="10", seconds=4.0, limit=540.0,
           stage=("final", "of the evaluation, which does no more than screen the kernel and time it in pairs"))
    parser.add_argument("--add", action="store_true", help="rows of other revisions stay in the file too; every row names its own")
    parser.add_argument("--merge", type=pathlib.Path, metavar="FILE", help="rows that this measurement wrote elsewhere, newer than the file's")
    parser.add_argument("--more-seconds", type=float, default=25.0, help="for a search that found no gain in its --seconds; not with --compete")
    parser.add_argument("--compete", action="store_true",
                        help="a process that keeps the GPU busy runs beside the searches, finals included, but not beside the evaluation; needs PyTorch")


class Competitor:
    """A process on the GPU that knows nothing of locks; does nothing without --compete."""

    def __init__(self, args, gpu):
        self.process = None
        if args.compete:
            self.process = begin([args.python, "-c", COMPETITOR, gpu], stdout=subprocess.PIPE, text=True)
            if not self.process.stdout.readline():
                raise Failed("the competing process does not start: it needs PyTorch")
            # What it prints must not fill the pipe.
            begin(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process:
            self.process.kill()
            self.process.wait()


def search(args, spec, seed, gpu):
    """(exit code, seconds, its summary, run folder, whether it was resumed) of one search."""
    folder, began, resumed = fresh(args.work / f"{spec.stem}.{seed}"), time.monotonic(), False

    def searched(seconds, *words):
        with Competitor(args, gpu):
            done = run(["run", "--input", spec, "--outdir", folder, "--runner", "cuda", "--no-llm", "--seed", seed, "--budget-builds", 1000000,
                        "--budget-seconds", f"{seconds:g}", "--set", "record.sync=never", *args.more, *on(gpu), *words])
        found = next(folder.glob("kernels/*/best_summary.json"), None)
        if done.returncode not in (0, 2, 3) or not found:
            raise Failed(f"{spec.stem}, seed {seed}: exit code {done.returncode}: {last_line(done)}")
        return done.returncode, json.loads(found.read_text()), found.parent

    code, summary, place = searched(args.seconds)
    if not is_reported(summary) and summary["baseline_ok"] and not args.compete:
        code, summary, place = searched(args.seconds + args.more_seconds, "--resume")
        resumed = True
    return code, time.monotonic() - began, summary, place, resumed


def is_reported(summary):
    return summary["baseline_ok"] and summary["finalists"] > 0 and summary.get("measured", True) and summary["speedup"] > 1


def timed_alone(args, folder, name, seed, gpu):
    """(speed-up, its interval, milliseconds, why there are none) of the reported kernel in a fresh process."""
    file = args.work / f"{name}.{seed}.jsonl"
    expect(run(["evaluate", "--input", folder / "input_spec.json", "--candidates", folder, "--runner", "cuda", "--stage", args.stage, "--seed", 1000 + seed,
                "--json", file, *PAIRS_ALONE, *args.more, *on(gpu)]), f"{name}, seed {seed}: evaluate")
    line = next((line for line in read_lines(file) if not line.get("baseline")), {"status": "nothing"})
    first = (line.get("log") or "").split("\n")[0]
    return (line.get("speedup"), line.get("speedup_interval"), line.get("time_ms"), "" if line["status"] == "ok" else f"evaluate: {line['status']}: {first}")


def unreported(summary):
    if not summary["baseline_ok"]:
        return summary["stop_reason"]
    return "; ".join(f"{d['gate'] or d['status']}: {d['detail']}" for d in summary.get("dismissed", [])[:2]) or "no gain"


def row(args, spec, seed, gpu):
    empty = {"kernel": spec.stem, "seed": seed, "compete": args.compete, "revision": revision(), "device": device(), "reported": None, "alone": None, "difference": None,
             "reported_interval": None, "alone_interval": None, "reported_ms": None, "alone_ms": None, "searched": None, "run_s": None, "alone_s": None, "search_s": args.seconds, "resumed": False,
             "exit": None, "why": "", "driver": driver()}
    try:
        code, took, summary, folder, resumed = search(args, spec, seed, gpu)
        found = empty | {"searched": summary["searched_speedup"], "run_s": round(took, 1), "exit": code, "resumed": resumed}
        if is_reported(summary):
            began = time.monotonic()
            found |= {"reported": summary["speedup"], "reported_interval": summary["speedup_interval"], "reported_ms": summary["best_ms"]}
            found["alone"], found["alone_interval"], found["alone_ms"], found["why"] = timed_alone(args, folder, spec.stem, seed, gpu)
            found["alone_s"] = round(time.monotonic() - began, 1)
            if not found["why"]:
                found["difference"] = abs(math.log(found["reported"] / found["alone"]))
        else:
            found["why"] = unreported(summary)
    except Failed as error:  # others are measured all the same
        found = empty | {"why": str(error)}
    say(f"{spec.stem}, seed {seed}: reported {shown(found['reported'])}, alone {shown(found['alone'])}, in {found['run_s'] or 0:.0f} s {found['why']}")
    return found


def shown(value):
    return "-" if value is None else f"{value:.4f}"


def figures(rows):
    def part(chosen):
        known = [r["difference"] for r in chosen if r["difference"] is not None]
        return {"count": len(chosen), "reported": sum(r["reported"] is not None for r in chosen), "unreported": sum(r["reported"] is None for r in chosen),
                "not_timed_alone": sum(r["reported"] is not None and r["alone"] is None for r in chosen),
                "worst_difference": max(known, default=None), "above_2_percent": sum(d > MOST_DIFFERENCE for d in known),
                "longest_run_s": max((r["run_s"] for r in chosen if r["run_s"]), default=None)}
    return {"alone": part([r for r in rows if not r["compete"]]), "beside_a_competitor": part([r for r in rows if r["compete"]])}


def print_table(kernels, rows):
    print(f"{'kernel':20} {'seeds':>5} {'reported':>8} {'worst':>8} {'longest s':>9}")
    for kernel in kernels:
        chosen = [r for r in rows if r["kernel"] == kernel]
        known = [r["difference"] for r in chosen if r["difference"] is not None]
        print(f"{kernel:20} {len(chosen):5} {sum(r['reported'] is not None for r in chosen):8} {f'{100 * max(known):.2f} %' if known else '-':>8} "
              f"{max((r['run_s'] or 0 for r in chosen), default=0):9.1f}")


def key(r):
    return r["kernel"], r["seed"], r["compete"]


def rows_in(path):
    """By key. Each names the revision and the device that measured it."""
    try:
        found = json.loads(path.read_text())
        if found["command"] != "tests/measure truth":
            raise Failed(f"{path}: got a file of {found['command']}, expected one of this measurement", 2)
    except (OSError, ValueError, LookupError) as error:
        raise Failed(f"{path}: expected a result of this measurement ({error})", 2) from error
    return {key(r): r | {name: found.get(name) for name in ("revision", "device", "driver") if name not in r} for r in found["rows"]}


def measure(args):
    specs = {path.stem: path for path in args.specs}
    kernels = one_of(args.kernels, specs, "kernels")

    def one(task, gpu):
        seed, kernel = task
        if time_is_over(args):
            return say(f"the time is over: {kernel}, seed {seed} is left out")
        return row(args, specs[kernel], seed, gpu)

    rows = rows_in(args.output) if args.output.exists() else {}
    rows |= rows_in(args.merge) if args.merge else {}
    known = {(r["seed"], r["kernel"]) for r in rows.values() if args.left and r["compete"] == args.compete and r["revision"] == revision()}
    # By seeds: a call that is cut off has some of every kernel.
    tasks = [task for task in ((seed, kernel) for seed in args.seeds for kernel in kernels) if task not in known]
    own = [found for found in spread(one, tasks, args.gpus) if found]
    rows |= {key(r): r for r in own}
    rows = [rows[one] for one in sorted(rows) if args.add or rows[one]["revision"] == revision()]
    every = lambda name: "; ".join(sorted({r[name] for r in rows if r[name]}))
    write_result(args.output, figures(rows), rows, device=every("device"), driver=every("driver"))
    print_table(kernels, own)
    print(json.dumps(figures(own)["beside_a_competitor" if args.compete else "alone"]))
    different = any((r["difference"] or 0) > MOST_DIFFERENCE for r in own)
    return not different and (args.compete or all(r["reported"] is not None and r["alone"] is not None for r in own))
