"""How many hardware counters a variant gets and how long they take.

The kernels of specs with tunables, and some of their variants.
"""
from measurements.common import digits, evaluate, fact, given_gpus, median, shared, write_result

MORE = "warpath evaluate"


def options(parser):
    shared(parser, "gpus", "runner", "specs")
    parser.add_argument("--tuned", default=3, help="variants of each spec")


def row(spec, line):
    facts = (line.get("diagnosis") or {}).get("facts", {})
    return {"spec": spec, "name": line["name"], "metrics": sum(known["source"] == "measured" for known in facts.values()), "seconds": fact(line, "counter_seconds")}


def measure(args):
    rows = []
    for spec in args.specs:
        if '"tunables"' in spec.read_text():
            lines, _ = evaluate(args, spec.stem, ["--input", spec, "--tunables", args.tuned, "--profile-every", 1, *given_gpus(args)])
            rows += [row(spec.stem, line) for line in lines if line["status"] == "ok"]
    write_result(args.output, {"variants": len(rows), "metrics": min((row["metrics"] for row in rows), default=0),
                               "median_s": digits(median(row["seconds"] for row in rows), 6)}, rows)
