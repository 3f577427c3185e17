"""How many variants a second one, two and four GPUs verify: as many of these as there are, of one process, and as members of a cluster with a GPU each.

The space is that of the throughput's long kernel with more values of its tunables, 441 configurations: the 169 of the other would keep
four GPUs busy for less than a second. A cluster has a search of these in place of the list; compared is the second half of the same search on one GPU, each with
what it compiled in its first turn: with empty caches the processors of one machine, which compile for all its members, would be compared with themselves.
"""
import json

from measurements.common import DATA, Failed, digits, evaluate, expect, fresh, on, places, ratio, read_lines, run, shared, write_result

RESULT = "docs/results/gpu-scaling.json"
MORE = "warpath evaluate"
TIMES = 3  # searches of each way that count
VALUES = {"BK": [8, 16, 32, 64], "TM": [2, 4, 8], "TN": [2, 4, 8]}


def options(parser):
    shared(parser, "gpus", "runner")


def larger_space():
    spec = json.loads((DATA / "throughput/sgemm.json").read_text())
    for tunable in spec["tunables"]:
        tunable["values"] = VALUES.get(tunable["name"], tunable["values"])
    for place in (spec["kernel"], spec["reference"]["kernel"]):
        place["source_file"] = str(DATA / "throughput" / place["source_file"])
    return spec


def search_rate(args, spec, name, words):
    """Outcomes a second of the second half of a search of the whole space: by then all members have joined."""
    out = fresh(args.work / name)
    expect(run(["run", "--input", spec, "--outdir", out, "--runner", args.runner, "--no-llm", "--set", "search.strategy=guided", "--budget-builds", 441, "--finalists", 0,
                *words],
               WARPATH_CACHE=str(args.work / f"cache.{name}")), name)
    outcomes = [event for log in sorted(out.glob("kernels/*/events.jsonl")) for event in read_lines(log) if event["type"] == "outcome"]
    times = sorted(event["at"] for event in outcomes)[len(outcomes) // 2:]
    return {"kernel": "sgemm", "cache": "warm", "verified": sum(event["outcome"]["status"] == "ok" for event in outcomes), "candidates": len(outcomes),
            "verified_per_s": digits((len(times) - 1) / (times[-1] - times[0]))}


def cluster_rows(args, spec, gpus):
    """The search on one GPU, and on a member for each, in turn: the median of three after one that fills the cache."""
    commands = args.work / "members.txt"
    commands.write_text("".join(f"env CUDA_VISIBLE_DEVICES={gpu}\n" for gpu in gpus))
    ways = {0: on(gpus[0]), len(gpus): ["--cluster", f"commands:{commands}", "--set", "cluster.address=localhost"]}
    for members in ways:
        fresh(args.work / f"cache.search.{members}")
    found = [{members: search_rate(args, spec, f"search.{members}", words) for members, words in ways.items()} for _ in range(1 + TIMES)][1:]
    rows = [{**sorted((turn[members] for turn in found), key=lambda row: row["verified_per_s"])[TIMES // 2], "gpus": max(members, 1), "members": members} for members in ways]
    return [{**row, "ratio_to_one": ratio(row["verified_per_s"], rows[0]["verified_per_s"])} for row in rows]


def measure(args):
    gpus = places(args)
    if len(gpus) < 2:
        raise Failed(f"needs at least two GPUs, got {' '.join(gpus) or 'none'}")
    spec, rows = args.work / "sgemm.json", []
    spec.write_text(json.dumps(larger_space()))
    for count in (count for count in (1, 2, 4) if count <= len(gpus)):
        cache = fresh(args.work / f"cache.{count}")
        for state in ("cold", "warm"):
            _, told = evaluate(args, f"sgemm.{count}.{state}", ["--input", spec, "--tunables", "all", *on(",".join(gpus[:count]))], WARPATH_CACHE=str(cache))
            rate = told.get("verified_per_s")
            one = next((row["verified_per_s"] for row in rows if row["cache"] == state), rate)
            rows.append({"kernel": "sgemm", "cache": state, "gpus": count, "verified": told.get("verified"), "candidates": told.get("candidates"), "verified_per_s": rate,
                         "lane_busy": told.get("runner_figures", {}).get("lane_busy"), "ratio_to_one": ratio(rate, one)})
    rows += cluster_rows(args, spec, gpus)
    of = lambda count: next((row["ratio_to_one"] for row in rows if row["cache"] == "warm" and row["gpus"] == count), None)
    write_result(args.output, {"kernel": "sgemm", "cache": "warm", "two": of(2), "four": of(4), "members": len(gpus), "members_over_one": rows[-1]["ratio_to_one"]}, rows)
