"""How near a search by rules alone comes to what a person made of the same naive kernel.

The kernels are those of tests/data/idioms, or of another folder with the same kinds of files (--folder). Each is searched with every seed, and what is found
judged by all gates. Then the naive kernel, the person's and the best that was found are screened and timed in turn in one process, and the ratios are of that. Rows of other kernels
and seeds stay in the file if they are of the same revision: a measurement may be done in parts. Exit code 1 where there is no GPU, or a search has no figure.
"""
import re
from pathlib import Path

from measurements.common import (DATA, PAIRS_ALONE, Failed, digits, expect, fresh, geometric_mean, last_line, median, on, one_of, places, read_lines, revision, run, say, shared,
                                 spread, tasks_of, time_is_over, with_same_revision, write_result)

MORE = "both, warpath run and evaluate"
IDIOMS = DATA / "idioms"


def options(parser):
    parser.add_argument("--folder", type=Path, default=IDIOMS, help="the folder of the kernels (tests/data/idioms)")
    shared(parser, "gpus", "kernels", "left", seeds="3", seconds=60.0, limit=None)


def searched(args, kernel, seed, gpu):
    """The folder of one search's record."""
    folder = fresh(args.work / f"{kernel}.{seed}")
    done = run(["run", "--input", args.folder / f"{kernel}.json", "--outdir", folder, "--runner", "cuda", "--no-llm", "--seed", seed, "--budget-builds", 1000000,
                "--budget-seconds", f"{args.seconds:g}", "--finalists", 1, "--set", "record.sync=never", *args.more, *on(gpu)])
    found = next(folder.glob("kernels/*/best_summary.json"), None)
    if done.returncode not in (0, 2) or not found:
        raise Failed(f"{kernel}, seed {seed}: exit code {done.returncode}: {last_line(done)}")
    return found.parent


def path_of(folder):
    """The moves to the best kernel."""
    lines = expect(run(["inspect", folder, "best"]), f"{folder}: inspect").stdout.splitlines()
    steps = [re.match(r"  [0-9a-f]{12}\s+\S+\s+(\S+)$", line) for line in lines[:next((i for i, line in enumerate(lines) if line.startswith("status")), 0)]]
    return "; ".join(step[1] for step in steps if step and step[1] != "baseline")


def bound_us(line):
    bounds = ((line.get("diagnosis") or {}).get("time_bound_ns") or {}).values()
    return max((bound["value"] / 1000 for bound in bounds if bound["value"]), default=None)


def compared(args, kernel, seed, gpu):
    """One search, and the three kernels side by side."""
    found = {"kernel": kernel, "seed": seed, "naive_us": None, "expert_us": None, "best_us": None, "bound_us": None, "expert_over_ours": None, "path": None, "why": "",
             "revision": revision()}
    try:
        folder = searched(args, kernel, seed, gpu)
        file = args.work / f"{kernel}.{seed}.jsonl"
        file.unlink(missing_ok=True)
        expect(run(["evaluate", "--input", folder / "input_spec.json", "--candidates", args.folder / f"{kernel}_expert.jsonl", folder, "--runner", "cuda", "--stage", "final",
                    "--seed", 1000 + seed, "--json", file, *PAIRS_ALONE, *args.more, *on(gpu)]), f"{kernel}, seed {seed}: evaluate")
        lines = {"naive" if line["baseline"] else "expert" if line["name"] == "expert" else "best": line for line in read_lines(file)}
        for name in ("naive", "expert"):
            if lines[name]["status"] != "ok":
                raise Failed(f"{kernel}, seed {seed}: the {name} kernel: {lines[name]['status']}: {lines[name].get('log', '')[:200]}")
        best = lines.get("best") or lines["naive"]  # nothing was gained: the naive kernel it is
        if best["status"] != "ok":
            raise Failed(f"{kernel}, seed {seed}: the best kernel: {best['status']}: {best.get('log', '')[:200]}")
        times = {"naive_us": 1000 * lines["naive"]["time_ms"], "expert_us": 1000 * lines["expert"]["time_ms"], "best_us": 1000 * best["time_ms"],
                 "bound_us": bound_us(lines["naive"]), "expert_over_ours": best["speedup"] / lines["expert"]["speedup"]}
        found |= {name: digits(value) for name, value in times.items()} | {"path": path_of(folder)}
    except (Failed, KeyError) as error:  # others are measured all the same
        found["why"] = str(error)
    say(f"{kernel}, seed {seed}: {found['why'] or found['expert_over_ours']}")
    return found


def figures(rows):
    """Of a kernel the median over its seeds."""
    of = {kernel: digits(median(r["expert_over_ours"] for r in rows if r["kernel"] == kernel and r["expert_over_ours"])) for kernel in sorted({r["kernel"] for r in rows})}
    known = {kernel: value for kernel, value in of.items() if value}
    return {"geomean_expert_over_ours": digits(geometric_mean(list(known.values()))), "worst_expert_over_ours": min(known.values(), default=None),
            "worst_kernel": min(known, key=known.get, default=None), "kernels": len(known), "searches": len(rows),
            "searches_failed": sum(not r["expert_over_ours"] for r in rows), **{f"expert_over_ours_{kernel}": value for kernel, value in of.items()}}


def measure(args):
    kernels = one_of(args.kernels, sorted(path.stem for path in args.folder.glob("*.json")), "kernels")
    if places(args) == [""]:
        raise Failed("there is no GPU here")

    def one(task, gpu):
        seed, kernel = task
        return say(f"the time is over: {kernel}, seed {seed} is left out") if time_is_over(args) else compared(args, kernel, seed, gpu)

    def write(own):
        rows = with_same_revision(args.output, own, "kernel", "seed")
        write_result(args.output, figures(rows), rows)

    # By seeds: a call that is cut off has some of every kernel.
    tasks = tasks_of(args, [(seed, kernel) for seed in args.seeds for kernel in kernels], "seed", "kernel")
    own = spread(one, tasks, places(args), write)
    write(own)
    return all(r and r["expert_over_ours"] for r in own)
