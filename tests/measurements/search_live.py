"""The default search against other strategies on a device, with the same moves, order of moves and inner tuning, and unless one is named the same prior.

Searches every spec by every strategy with every seed, without finals. Compared is the best speed-up that the search itself measured after so many builds and after
the seconds of the search, and how many builds and seconds 95 % of the best that any of them found took: the ratio of the default's to the other's, a mean over
seeds, then over kernels; intervals are percentile bootstraps over kernels.
Rows of other kernels, seeds and strategies stay in the file if they are of the same revision: a measurement may be done in parts. What --outdir has of a search of
that revision that ended is not searched again. Exit code 1 where a search ends without a row.
"""
import csv
import json
import math

from measurements.common import (Failed, digits, fresh, last_line, log_lines, names, on, one_of, places, revision, run, say, shared, spread, tasks_of,
                                 time_is_over, with_same_revision, write_result)
from measurements.search_deep import interval

MORE = "warpath run"
MARKS = (100, 1000)  # builds


def options(parser):
    shared(parser, "gpus", "runner", "specs", "kernels", "left", seeds="5", seconds=30.0, limit=None)
    parser.add_argument("--strategies", default=["auto", "beam", "ils"], type=names, metavar="NAME,NAME",
                        help="the first is compared with the others; NAME+PRIOR is one with another prior")


def best_after(folder):
    """[(seconds since the search began, best speed-up so far)] by builds; the baseline is no build."""
    with open(folder / "ledger.csv", newline="") as file:
        speedups = {line["sequence"]: float(line["objective_speedup"]) for line in csv.DictReader(file) if line["status"] == "ok"}
    out, best, began = [], 1.0, None
    for event in map(json.loads, log_lines(folder)):
        if event["type"] == "baseline":
            began = event["at"]
        elif event["type"] == "outcome":
            best = max(best, speedups.get(str(event["seq"]), 0.0))
            out.append((event["at"] - began, best))
    return out


def improvements(steps):
    """[builds, seconds, speed-up] of each that was better than all before it."""
    out = []
    for at, (seconds, best) in enumerate(steps):
        if best > (out[-1][2] if out else 1.0):
            out.append([at + 1, round(seconds, 1), digits(best)])
    return out


def with_to_95(rows, seconds):
    """The rows with the builds and the seconds that 95 % of the best of their kernel and seed took; where it was not found one build more than there were."""
    best = {}
    for r in rows:
        best[r["kernel"], r["seed"]] = max([best.get((r["kernel"], r["seed"]), 1.0), *(step[2] for step in r["improvements"])])
    there = [next((step for step in r["improvements"] if step[2] >= 0.95 * best[r["kernel"], r["seed"]]), (r["builds"] + 1, seconds)) for r in rows]
    return [r | {"builds_to_95": step[0], "seconds_to_95": max(step[1], 0.1)} for r, step in zip(rows, there)]


def ended(args, folder):
    """True if this program's search is there, and had its seconds."""
    summary = next(folder.glob("kernels/*/best_summary.json"), None)
    if not summary:
        return False
    summary, config, machine = (json.loads(summary.with_name(name).read_text()) for name in ("best_summary.json", "config.json", "environment.json"))
    return not summary["interrupted"] and config["options"]["run"]["budget_seconds"] == args.seconds and machine["revision"] == revision()


def search(args, spec, seed, strategy, gpu, folder):
    """What the search said, if it failed."""
    fresh(folder)
    strategy, _, prior = strategy.partition("+")
    done = run(["run", "--input", spec, "--outdir", folder, "--runner", args.runner, "--no-llm", "--seed", seed, "--budget-builds", 1000000, "--budget-seconds",
                f"{args.seconds:g}", "--finalists", 0, "--set", "record.sync=never", "--set", "search.draws=ordered", "--set", f"search.strategy={strategy}",
                *(["--prior", prior] if prior else []), *args.more, *on(gpu)])
    return "" if done.returncode in (0, 2) else f"exit code {done.returncode}: {last_line(done)}"


def row(args, spec, seed, strategy, gpu):
    folder = args.work / f"{spec.stem}.{seed}.{strategy}"
    failure = "" if ended(args, folder) else search(args, spec, seed, strategy, gpu, folder)
    if failure:
        say(f"{spec.stem}, seed {seed}, {strategy}: {failure}")
        return None
    steps = best_after(next(folder.glob("kernels/*")))
    found = {"kernel": spec.stem, "seed": seed, "strategy": strategy, "revision": revision(), "builds": len(steps),
             **{f"after_{mark}_builds": digits(steps[mark - 1][1]) if len(steps) >= mark else None for mark in MARKS},
             "improvements": improvements(steps),
             "after_the_seconds": digits(max((best for at, best in steps if at <= args.seconds), default=1.0))}
    say(f"{spec.stem}, seed {seed}, {strategy}: {found['after_the_seconds']} after {len(steps)} builds")
    return found


def lead(rows, key, first, other):
    """The ratio of the first strategy to another over the kernels and seeds that both have, its interval, and how many kernels those are."""
    of = {(r["kernel"], r["seed"], r["strategy"]): math.log(r[key]) for r in rows if r[key]}
    by_kernel = {}
    for kernel, seed, strategy in of:
        if strategy == first and (kernel, seed, other) in of:
            by_kernel.setdefault(kernel, []).append(of[kernel, seed, first] - of[kernel, seed, other])
    if not by_kernel:
        return None
    ratios = [digits(math.exp(value)) for value in interval([sum(one) / len(one) for one in by_kernel.values()])]
    return dict(zip(("ratio", "low", "high", "kernels"), [*ratios, len(by_kernel)]))


def figures(rows, strategies):
    first, *others = strategies
    return {"searches": len(rows), "seeds": len({r["seed"] for r in rows}),
            **{key: {other: lead(rows, key, first, other) for other in others} for key in ("after_the_seconds", "builds_to_95", "seconds_to_95", *(f"after_{mark}_builds" for mark in MARKS))}}


def measure(args):
    specs = {path.stem: path for path in args.specs}
    kernels = one_of(args.kernels, specs, "kernels")
    if len(args.strategies) < 2:
        raise Failed("--strategies: expected two at least", 2)

    def one(task, gpu):
        seed, kernel, strategy = task
        return say(f"the time is over: {kernel}, seed {seed}, {strategy} is left out") if time_is_over(args) else row(args, specs[kernel], seed, strategy, gpu)

    def write(own):
        rows = with_to_95(with_same_revision(args.output, own, "kernel", "seed", "strategy"), args.seconds)
        write_result(args.output, figures(rows, args.strategies), rows)

    tasks = tasks_of(args, [(seed, kernel, strategy) for seed in args.seeds for kernel in kernels for strategy in args.strategies], "seed", "kernel", "strategy")
    own = spread(one, tasks, places(args), write)
    write(own)
    return all(own)
