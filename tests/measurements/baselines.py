"""Times, verifies and profiles the kernel of every spec as it stands.

Specs take turns over the GPUs, one at a time on each. Exit code 1 unless all are verified.
"""
from measurements.common import fact, joined, last_line, on, places, read_lines, run, say, shared, spread, write_result

RESULT = "docs/results/gpu-baselines.json"
MORE = "warpath evaluate"


def options(parser):
    shared(parser, "gpus", "runner", "specs", stage="final")


def row(name, line):
    answers = [gate["answer"] for gate in line["verdict"]]
    return {"name": name, "verified": line["status"] == "ok", "status": line["status"], "gates_passed": answers.count("pass"),
            "gates_failed": answers.count("fail"), "gates_not_run": answers.count("not_run"), "median_ms": line.get("time_ms"),
            "interval_ms": line.get("time_ms_interval"), "floor_fraction": fact(line, "floor_fraction"), "run_s": line["run_s"],
            "workloads": line.get("workloads"), "diagnosis": line.get("diagnosis")}


def measure(args):
    def one(spec, gpu):
        file = args.work / f"{spec.stem}.jsonl"
        done = run(["evaluate", *on(gpu), "--input", spec, "--json", file, "--runner", args.runner, "--stage", args.stage, "--profile-every", 1, *args.more])
        lines = [line for line in read_lines(file) if line["baseline"]]
        say(f"{spec.stem}: " + (next((line for line in done.stdout.splitlines() if line.startswith("baseline")), "") if lines
                                else f"exit code {done.returncode}: {last_line(done)}"))
        return [row(spec.stem, line) for line in lines]

    rows = joined(spread(one, args.specs, places(args)))
    verified = sum(row["verified"] for row in rows)
    write_result(args.output, {"kernels": len(rows), "verified": verified}, rows)
    return verified == len(args.specs)
