"""The path of moves that a person would take from each of the twelve naive kernels, rung by rung.

Each is built, verified, and timed in turn with the baseline.
"""
from measurements.common import LADDERS, apply, digits, elapsed, joined, on, one_of, places, revision, shared, spread, with_others, write_result

MORE = "warpath apply"


def options(parser):
    shared(parser, "gpus", "runner", "kernels", stage="confirmation")
    parser.add_argument("--add", action="store_true", help="rows of kernels that are not measured now stay in the file; every row names its revision")


def row(kernel, line, at):
    ok = not line["refusal"] and line["status"] == "ok"
    timed = {"time_us": digits(1000 * line["time_ms"]), "interval_us": [digits(1000 * end) for end in line["time_ms_interval"]], "speedup": digits(line["speedup"]),
             "step_speedup": digits(line["speedup_over_previous"]), "bound_us": digits(1000 * line["bound_ms"]), "bound_fraction": digits(line["bound_fraction"])} if ok else {}
    return {"kernel": kernel, "rung": line["rung"], "step": line["step"], "status": "refused" if line["refusal"] else line["status"], **timed,
            "reason": line["refusal"] or ("" if ok else line["log"][:200]), "revision": at}


def measure(args):
    kernels, at = one_of(args.kernels, LADDERS, "kernels"), revision()

    def climb(kernel, gpu):
        return [row(kernel, line, at) for line in apply(args, kernel, kernel, LADDERS[kernel], ["--keep-going", "--runner", args.runner, "--stage", args.stage, *on(gpu)])]

    rows = joined(spread(climb, kernels, places(args)))
    if args.add:
        rows = with_others(args.output, rows, kernels)
    count = lambda status: sum(row["status"] == status for row in rows)
    tops = {f"speedup_{r['kernel']}": max((row["speedup"] for row in rows if row["kernel"] == r["kernel"] and row["status"] == "ok"), default=0)
            for r in rows if r["rung"] == 0}
    write_result(args.output, {"kernels": len(tops), "rungs": len(rows), "ok": count("ok"), "refused_steps": count("refused"), "seconds": int(elapsed()), **tops}, rows)
