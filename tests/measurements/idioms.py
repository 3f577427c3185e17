"""How near a search by rules alone comes to what a person made of the same naive kernel.

The kernels are those of tests/data/idioms, or of another folder with the same kinds of files (--folder). Each is searched with every seed, then the
naive kernel, the person's and the best that was found are checked and timed in turn in one process, and the ratios are of that. A row a kernel: the
median over its seeds. Rows of kernels that are not measured now stay in the file; every row names its revision. Exit code 1 where there is no GPU, or a
kernel has no figure.
"""
import re
from pathlib import Path

from measurements.common import (DATA, Failed, digits, expect, fresh, geometric_mean, last_line, median, on, one_of, places, read_lines, revision, run, say, shared,
                                 spread, time_is_over, with_others, write_result)

MORE = "both, warpath run and evaluate"
IDIOMS = DATA / "idioms"


def options(parser):
    parser.add_argument("--folder", type=Path, default=IDIOMS, help="the folder of the kernels (tests/data/idioms)")
    shared(parser, "gpus", "kernels", seeds="3", seconds=60.0, limit=None, stage=("final", "of the evaluation"))


def searched(args, kernel, seed, gpu):
    """The folder of one search's record."""
    folder = fresh(args.work / f"{kernel}.{seed}")
    done = run(["run", "--input", args.folder / f"{kernel}.json", "--outdir", folder, "--runner", "cuda", "--no-llm", "--seed", seed, "--budget-builds", 1000000,
                "--budget-seconds", f"{args.seconds:g}", "--set", "record.sync=never", *args.more, *on(gpu)])
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
    try:
        folder = searched(args, kernel, seed, gpu)
        file = args.work / f"{kernel}.{seed}.jsonl"
        file.unlink(missing_ok=True)
        expect(run(["evaluate", "--input", folder / "input_spec.json", "--candidates", args.folder / f"{kernel}_expert.jsonl", folder, "--runner", "cuda", "--stage",
                    args.stage, "--seed", 1000 + seed, "--json", file, *args.more, *on(gpu)]), f"{kernel}, seed {seed}: evaluate")
        lines = {"naive" if line["baseline"] else "expert" if line["name"] == "expert" else "best": line for line in read_lines(file)}
        for name in ("naive", "expert"):
            if lines[name]["status"] != "ok":
                raise Failed(f"{kernel}, seed {seed}: the {name} kernel: {lines[name]['status']}: {lines[name].get('log', '')[:200]}")
        best = lines.get("best") or lines["naive"]  # nothing was gained: the naive kernel it is
        if best["status"] != "ok":
            raise Failed(f"{kernel}, seed {seed}: the best kernel: {best['status']}: {best.get('log', '')[:200]}")
        found = {"naive_us": 1000 * lines["naive"]["time_ms"], "expert_us": 1000 * lines["expert"]["time_ms"], "best_us": 1000 * best["time_ms"],
                 "bound_us": bound_us(lines["naive"]), "expert_over_ours": best["speedup"] / lines["expert"]["speedup"], "path": path_of(folder)}
    except (Failed, KeyError) as error:  # others are measured all the same
        found = {"why": str(error)}
    say(f"{kernel}, seed {seed}: {found.get('why') or digits(found['expert_over_ours'])}")
    return kernel, found


def row(kernel, found, at):
    known = sorted((one for one in found if "why" not in one), key=lambda one: one["expert_over_ours"])
    middle = known[len(known) // 2] if known else {}
    names = ("naive_us", "expert_us", "best_us", "bound_us", "expert_over_ours")
    return {"kernel": kernel, "seeds": len(known), **{name: digits(median(one[name] for one in known)) for name in names},
            "worst_seed": digits(known[0]["expert_over_ours"]) if known else None, "path": middle.get("path"),
            "why": "; ".join(one["why"] for one in found if "why" in one), "revision": at}


def figures(rows):
    known = [r for r in rows if r["expert_over_ours"]]
    worst = min(known, key=lambda r: r["expert_over_ours"], default=None)
    return {"geomean_expert_over_ours": digits(geometric_mean([r["expert_over_ours"] for r in known])),
            "worst_expert_over_ours": worst and worst["expert_over_ours"], "worst_kernel": worst and worst["kernel"], "kernels": len(known)}


def measure(args):
    kernels, at = one_of(args.kernels, sorted(path.stem for path in args.folder.glob("*.json")), "kernels"), revision()
    if places(args) == [""]:
        raise Failed("there is no GPU here")

    def one(task, gpu):
        seed, kernel = task
        return say(f"the time is over: {kernel}, seed {seed} is left out") if time_is_over(args) else compared(args, kernel, seed, gpu)

    # By seeds: a call that is cut off has some of every kernel.
    done = [pair for pair in spread(one, [(seed, kernel) for seed in args.seeds for kernel in kernels], places(args)) if pair]
    own = [row(kernel, [found for name, found in done if name == kernel], at) for kernel in kernels if any(name == kernel for name, _ in done)]
    rows = with_others(args.output, own, [r["kernel"] for r in own])
    write_result(args.output, figures(rows), rows)
    return all(r["expert_over_ours"] for r in own)
