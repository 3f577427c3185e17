"""How many variants a second one, two and four GPUs verify: as many of these as there are.

The space is that of the throughput's long kernel with more values of its tunables, 441 configurations: the 169 of the other would keep
four GPUs busy for less than a second.
"""
import json

from measurements.common import DATA, Failed, evaluate, fresh, on, places, ratio, shared, write_result

RESULT = "docs/results/gpu-scaling.json"
MORE = "warpath evaluate"
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
    of = lambda count: next((row["ratio_to_one"] for row in rows if row["cache"] == "warm" and row["gpus"] == count), None)
    write_result(args.output, {"kernel": "sgemm", "cache": "warm", "two": of(2), "four": of(4)}, rows)
