"""Kernels in Triton, PTX and CuTe: their default configurations against tuned ones, and that bad ones are refused.

Searches every spec in the folders of specs, whose baseline is the default configuration: finalists are timed in pairs with it by the engine. Then judges the
kernels of tests/data/triton, honest and bad. Needs a Python with Triton (--python, WARPATH_PYTHON or python3), and the headers of CUTLASS as specs/cute/cutlass.
Exit code 1 unless each best is verified and no slower than the default, and all is refused and accepted as it should be.
"""
import json

from measurements.common import DATA, Failed, ROOT, candidates_of, digits, evaluate, expect, geometric_mean, on, one_of, places, run, say, shared, spread, write_result


def options(parser):
    shared(parser, "gpus", "runner", python=("", "with Triton"), kernels=None, seconds=(25.0, "of each search"), specs="specs/*/*.json")
    parser.add_argument("--no-cheats", action="store_true", help="the searches alone")


def searched(args, spec, words):
    name = spec.stem
    outdir = args.work / name
    expect(run(["run", "--input", spec, "--outdir", outdir, "--runner", args.runner, "--budget-seconds", args.seconds, "--budget-builds", 100000,
                "--no-llm", *words], args.seconds * 4 + 60), f"the search of {name}")
    folder = next((outdir / "kernels").iterdir())
    best = json.loads((folder / "best_summary.json").read_text())
    terms = folder / "best/terms"
    say(f"{name}: default {best['baseline_ms']} ms, tuned {best['best_ms']} ms, {best['speedup']} times as fast")
    return {"kernel": name, "language": spec.parent.name, "default_ms": digits(best["baseline_ms"]), "tuned_ms": digits(best["best_ms"]), "speedup": digits(best["speedup"]),
            "interval": best["speedup_interval"] and [digits(end) for end in best["speedup_interval"]], "builds": best["builds"],
            "by_status": best["by_status"], "verified": bool((best["verdict"] or {}).get("passed")), "terms": terms.read_text().splitlines() if terms.exists() else [],
            "stopped": best["stop_reason"]}


def row(args, spec, words):
    try:
        return searched(args, spec, words)
    except Failed as error:  # the others are measured all the same
        say(error)
        return {"kernel": spec.stem, "language": spec.parent.name, "failed": str(error), "verified": False}


def measure(args):
    words, specs, where = ["--set", f"cuda.python={args.python}"] if args.python else [], {spec.stem: spec for spec in args.specs}, places(args)
    rows = spread(lambda name, gpu: row(args, specs[name], [*words, *on(gpu)]), one_of(args.kernels, specs, "kernels"), where)
    faults = [row["kernel"] for row in rows if not row["verified"] or (row["speedup"] or 0) < 1]
    speedups = [row["speedup"] for row in rows if row.get("speedup")]
    figures = {"kernels": len(rows), "speedup": {row["kernel"]: row.get("speedup") for row in rows}, "geomean": digits(geometric_mean(speedups))}
    if not args.no_cheats:
        args.more = [*words, *on(where[0])]
        lines, _ = evaluate(args, "cheats", ["--input", ROOT / "specs/triton/softmax.json", "--candidates", DATA / "triton/list.jsonl", "--stage", "confirmation"], 120)
        judged = [{"candidate": line["name"], "expect": line["expect"], "status": line["status"], "gate": line.get("failed_gate", ""),
                   "log": (line["log"].splitlines() or [""])[0]} for line in candidates_of(lines)]
        faults += [row["candidate"] for row in judged if (row["status"] == "ok") != (row["expect"] == "ok")]
        figures |= {"refused": sum(row["status"] != "ok" for row in judged), "to_be_refused": sum(row["expect"] != "ok" for row in judged)}
        rows += judged
    write_result(args.output, figures | {"faults": faults}, rows)
    return not faults
