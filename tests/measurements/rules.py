"""Whether each rule of the matrix is the strongest finding on the kernel that was made for it.

The kernels are those of tests/data/bottlenecks, evaluated with hardware counters. A row a kernel: what fired of the matrix with its
strength, strongest first, of the report patterns, and the facts behind. A kernel that fails or takes too long is a row without findings.
"""
import time

from measurements.common import DATA, digits, elapsed, fact, last_line, on, one_of, places, read_lines, run, say, shared, spread, write_result

MORE = "warpath evaluate"
FACTS = """dram_throughput sm_throughput l2_throughput l1_throughput dram_read_bytes dram_written_bytes l1_hit_rate l2_hit_rate achieved_occupancy ipc issued_share
stall_long_scoreboard stall_short_scoreboard stall_mio_throttle stall_math_pipe_throttle stall_lg_throttle stall_barrier stall_wait stall_membar stall_not_selected""".split()


def options(parser):
    shared(parser, "gpus", "runner", seconds=(40.0, "of each kernel at most"), limit=(140.0, "of all kernels together: one under way then is ended"),
           kernels=(None, "rules of tests/data/bottlenecks"))


def row(rule, line, code):
    facts = (line.get("diagnosis") or {}).get("facts", {})
    listed = lambda group: {one["rule"]: round(one["strength"], 3) for one in line.get("findings") or [] if one["set"] == group}
    matrix, values = listed("matrix"), {name: fact(line, name) for name in FACTS}
    top = next(iter(matrix), "")
    return {"rule": rule, "status": line.get("status", "failed"), "exit_code": code, "time_ms": line.get("time_ms"),
            "counters": sum(known["source"] == "measured" for known in facts.values()), "top": top, "fired": rule in matrix, "as_intended": top == rule,
            "matrix": matrix, "report": listed("report"), "facts": {name: digits(value) for name, value in values.items() if value is not None}}


def judge(args, rule, gpu):
    """One kernel. Whatever comes of it is a row: a kernel that fails does not end the others' measurement."""
    began, file = time.monotonic(), args.work / f"{rule}.jsonl"
    file.unlink(missing_ok=True)
    done = run(["evaluate", "--input", DATA / f"bottlenecks/{rule}.json", "--json", file, "--runner", args.runner, "--profile-every", 1, *args.more, *on(gpu)],
               max(min(args.seconds, args.limit - elapsed()), 0.01))
    found = row(rule, next(iter(read_lines(file)), {}), done.returncode)
    say(f"{rule}: exit code {done.returncode} after {time.monotonic() - began:.0f} s {f'on GPU {gpu}' if gpu else ''}{last_line(done) if done.returncode else ''}")
    say(f"{rule} [{found['status']}] -> {found['top']}  {found['matrix']}")
    return found


def measure(args):
    rules = one_of(args.kernels, sorted(path.stem for path in (DATA / "bottlenecks").glob("*.json")), "kernels")
    rows = spread(lambda rule, gpu: judge(args, rule, gpu), rules, places(args))
    count = lambda key, value: sum(row[key] == value for row in rows)
    write_result(args.output, {"kernels": len(rows), "ok": count("status", "ok"), "with_counters": sum(row["counters"] >= 10 for row in rows),
                               "fired": count("fired", True), "fired_as_top": count("as_intended", True), "confused": count("as_intended", False)}, rows)
