"""What a second size costs: the speed-up that a search reaches for a size alone, and for the same size beside another one.

Every spec is searched as it is and with one more workload, whose greatest size is half as large, in the same seconds and with the same seed. Compared are the
speed-ups of the first size: what a variant made for both sizes, with versions where one kernel cannot be made for them, loses. Rows of other kernels and seeds
stay in the file if they are of the same revision. Exit code 1 where a search ends without a row, or both sizes cost more than 5 % in the mean.
"""
import copy
import json

from measurements.common import (Failed, digits, fresh, geometric_mean, last_line, on, one_of, places, revision, run, say, shared, spread, tasks_of,
                                 time_is_over, with_same_revision, write_result)

MORE = "warpath run"
LEAST = 0.95


def options(parser):
    shared(parser, "gpus", "runner", "specs", "kernels", "left", seeds="1", seconds=30.0, limit=None)


def two_sizes(path, target):
    """(the spec with the scored workloads of a target alone, the same with one of them again at another size, that one's name and the other's)."""
    spec = json.loads(path.read_text())
    for part in (spec["kernel"], spec["reference"].get("kernel", {})):
        if "source_file" in part:
            part["source_file"] = str(path.parent / part["source_file"])
    kernel = spec["kernel"]
    scored = [one for one in kernel["workloads"] if one["target"] == target and one.get("role", "score") == "score"][:1]
    if not scored:
        raise Failed(f"{path}: no scored workload for {target}")
    given = scored[0].get("scalars", {})
    sizes = {arg["name"]: given.get(arg["name"], arg["value"]) for arg in kernel["io"]["args"]
             if arg["type"] == "int" and "value" in arg and not arg.get("is_meta")}
    name = max(sizes, key=sizes.get)
    kernel["workloads"] = scored
    both = copy.deepcopy(spec)
    both["kernel"]["workloads"] = [*scored, {**scored[0], "name": "half", "scalars": {**scored[0].get("scalars", {}), name: sizes[name] // 2}}]
    return spec, both, scored[0]["name"]


def speedup(args, name, spec, seed, workload, gpu):
    """(of one size, how many versions there are, builds)"""
    folder = fresh(args.work / name)
    file = args.work / f"{name}.json"
    file.write_text(json.dumps(spec))
    done = run(["run", "--input", file, "--outdir", folder, "--runner", args.runner, "--no-llm", "--seed", seed, "--budget-builds", 1000000, "--budget-seconds",
                f"{args.seconds:g}", "--finalists", 1, "--set", "record.sync=never", *args.more, *on(gpu)])
    found = next(folder.glob("kernels/*/best_summary.json"), None)
    if done.returncode not in (0, 2) or not found:
        raise Failed(f"{name}: exit code {done.returncode}: {last_line(done)}")
    summary = json.loads(found.read_text())
    if summary["sizes"]:
        gained = next(one["speedup"] for one in summary["sizes"] if one["workload"] == workload)
    else:  # of one size the whole speaks
        gained = summary["speedup"]
    return gained, len(summary["versions"]), summary["builds"]


def row(args, path, seed, gpu):
    try:
        one, both, workload = two_sizes(path, "gpu" if args.runner == "cuda" else "host")
        alone, _, builds = speedup(args, f"{path.stem}.{seed}.one", one, seed, workload, gpu)
        beside, versions, builds_both = speedup(args, f"{path.stem}.{seed}.both", both, seed, workload, gpu)
    except Failed as error:  # others are measured all the same
        return say(error)
    say(f"{path.stem}, seed {seed}: {alone:.4g} alone, {beside:.4g} beside another size")
    return {"kernel": path.stem, "seed": seed, "revision": revision(), "alone": digits(alone), "beside": digits(beside), "ratio": digits(beside / alone),
            "versions": versions, "builds_alone": builds, "builds_beside": builds_both}


def measure(args):
    specs = {path.stem: path for path in args.specs}
    kernels = one_of(args.kernels, specs, "kernels")

    def one(task, gpu):
        seed, kernel = task
        return say(f"the time is over: {kernel}, seed {seed} is left out") if time_is_over(args) else row(args, specs[kernel], seed, gpu)

    def write(own):
        rows = with_same_revision(args.output, own, "kernel", "seed")
        ratios = [r["ratio"] for r in rows]
        write_result(args.output, {"searches": 2 * len(rows), "geomean": digits(geometric_mean(ratios)), "least": min(ratios, default=None),
                                   "least_kernel": min(rows, key=lambda r: r["ratio"], default={}).get("kernel")}, rows)
        return geometric_mean(ratios) or 0

    tasks = tasks_of(args, [(seed, kernel) for seed in args.seeds for kernel in kernels], "seed", "kernel")
    own = spread(one, tasks, places(args), write)
    return all(own) and write(own) >= LEAST
