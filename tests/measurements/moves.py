"""How far rules alone climb: searches from each naive kernel, beside what libraries take for the same tasks.

That is what `yardsticks` prints, on the same machine in this call. Several GPUs search side by side. With --outdir searches that ended
are not run again: a measurement may be done in parts. Rows say how many seeds they have.
"""
import json
import os

from measurements.common import LADDERS, ROOT, digits, elapsed, execute, fresh, last_line, median, on, one_of, places, ratio, revision, run, say, shared, spread, \
    time_is_over, with_others, write_result

MORE = "warpath run"
# What is asked of a kernel: a share of the yardstick's speed; of attention a speed-up over the naive kernel; of the others 0.8 of the bound, or the yardstick's speed.
WANTED = {"sgemm_tn_batched": 0.65, "gemm_bf16_nt": 0.5, "grouped_gemm_bf16": 0.5, "int8_scaled_mm": 0.4}


def options(parser):
    shared(parser, "gpus", "runner", "kernels", "limit", "python", seeds="3", seconds=60.0)
    parser.add_argument("--builds", default=2000, help="of each search at most")
    parser.add_argument("--add", action="store_true", help="rows of kernels that are not measured now stay in the file; every row names its revision and its limit")


def summary(args, kernel, seed):
    """What a search says at its end; empty if it did not end."""
    path = args.work / f"{kernel}.{seed}/kernels/{kernel}/best_summary.json"
    return json.loads(path.read_text()) if path.exists() else {}


def search(args, task, gpu, workers):
    kernel, seed = task
    if summary(args, kernel, seed).get("stop_reason") or time_is_over(args):
        return
    device = [*on(gpu), "--set", f"cuda.compile_workers={workers}"] if gpu else []
    done = run(["run", "--input", ROOT / "specs", "--name", kernel, "--runner", args.runner, "--seed", seed, "--budget-builds", args.builds,
                "--budget-seconds", f"{args.seconds:g}", "--outdir", fresh(args.work / f"{kernel}.{seed}"), *device, *args.more])
    say(f"{kernel}, seed {seed}: exit code {done.returncode}: {last_line(done)}")


def bound_us(args, kernel, seed):
    """The largest bound of a resource on the best kernel."""
    path = args.work / f"{kernel}.{seed}/kernels/{kernel}/best/outcome.json"
    diagnosis = (json.loads(path.read_text()).get("diagnosis") if path.exists() else None) or {}
    largest = max((bound["value"] for bound in diagnosis.get("time_bound_ns", {}).values()), default=0)
    return digits(largest / 1000, 6) if largest > 0 else None


def yardsticks(args, kernels):
    """By kernel: what libraries take; empty where they cannot be asked."""
    if args.runner != "cuda":
        return {}
    done = execute([args.python, ROOT / "tests/measure", "yardsticks", "--kernels", ",".join(kernels)])
    if done.returncode:
        say(f"no yardsticks: {last_line(done)}")
    return {line["kernel"]: line for line in map(json.loads, done.stdout.splitlines())}


def row(args, kernel, yardstick, at):
    ended = [(seed, summary(args, kernel, seed)) for seed in args.seeds]
    ended = [(seed, found) for seed, found in ended if found]
    best = [1000 * found["best_ms"] for _, found in ended if found["best_ms"] > 0]
    middle, naive = median(best), median(1000 * found["baseline_ms"] for _, found in ended if found["baseline_ms"] > 0)
    bound = median(bound_us(args, kernel, seed) for seed, _ in ended)
    return {"kernel": kernel, "naive_us": digits(naive, 6), "best_us": digits(middle, 6), "best_us_worst": digits(max(best, default=None), 6),
            "speedup": ratio(naive, middle), "bound_us": bound, "bound_fraction": ratio(bound, middle), "yardstick_us": digits(yardstick.get("us"), 6),
            "yardstick_ratio": ratio(yardstick.get("us"), middle), "yardstick": yardstick.get("yardstick", ""), "builds": median(found["builds"] for _, found in ended),
            "seconds": median(found["seconds"] for _, found in ended), "seeds": len(best), "seconds_at_most": args.seconds, "revision": at}


def reached(row):
    if row["kernel"] == "attention_causal":
        return (row["speedup"] or 0) >= 15
    if row["kernel"] in WANTED:
        return (row["yardstick_ratio"] or 0) >= WANTED[row["kernel"]]
    return (row["bound_fraction"] or 0) >= 0.8 or (row["yardstick_ratio"] or 0) >= 1


def measure(args):
    kernels, where, at = one_of(args.kernels, LADDERS, "kernels"), places(args), revision()
    workers = max(os.cpu_count() // len(where) - 1, 1)
    spread(lambda task, gpu: search(args, task, gpu, workers), [(kernel, seed) for kernel in kernels for seed in args.seeds], where)
    beside = yardsticks(args, kernels)
    rows = [row(args, kernel, beside.get(kernel, {}), at) for kernel in kernels]
    if args.add:
        rows = with_others(args.output, rows, kernels)
    write_result(args.output, {"kernels": len(rows), "searched": sum(row["best_us"] is not None for row in rows), "targets_reached": sum(map(reached, rows)),
                               "seeds": len(args.seeds), "builds_at_most": args.builds, "seconds_at_most": args.seconds, "gpus": len(where), "seconds": int(elapsed())}, rows)
