"""The suites about language models against their loopback server, the fuzzed ones for as long as they are told.

Needs no GPU and no network. Exit code 1 where a suite fails or crashes, or a figure that must be 0 is not.
"""
import os
import pathlib
import re
import time

from measurements.common import Failed, ROOT, execute, expect, printed_figure, run, say, shared, write_result

SUITES = [*(("test_priors", name) for name in ("llm_wire", "llm_client", "llm_probe", "llm_proposer", "llm_fuzz")),
          *(("test_experiments", name) for name in ("llm_run", "mcp", "doctor", "proposals")), ("test_runners", "ledger")]


def options(parser):
    shared(parser, seconds=(600.0, "of fuzzing, for each of three suites"))
    parser.add_argument("--tests", default=str(ROOT / "build/tests"), metavar="FOLDER", help="where the test programs are")


def count(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def suite(tests, program, name, seconds):
    """One row, and the log."""
    say(f"{program} {name}")
    began = time.monotonic()
    done = execute([tests / program, f"--test-suite={name}"], WARPATH_FUZZ_SECONDS=f"{seconds:g}", WARPATH_PROGRAM=str(tests.parent / "experiments/warpath"))
    log = done.stdout + done.stderr
    return {"suite": name, "cases": count(r"test cases: *(\d+)", log), "assertions": count(r"assertions: *(\d+)", log),
            "failed_assertions": count(r"assertions:.*?(\d+) failed", log), "exit_code": done.returncode, "seconds": round(time.monotonic() - began, 1)}, log


def measure(args):
    tests = pathlib.Path(args.tests).resolve()
    expect(run(["--version"]), "warpath", codes=(0,))
    for program in {program for program, _ in SUITES}:
        if not os.access(tests / program, os.X_OK):
            raise Failed(f"no {program} in {tests}: ninja -C build tests/{program}")
    done = [suite(tests, program, name, args.seconds) for program, name in SUITES]
    rows, log = [row for row, _ in done], "\n".join(text for _, text in done)
    figure = lambda name: printed_figure(log, name)
    found = {"cases": sum(row["cases"] for row in rows), "suites_failed": sum(row["exit_code"] != 0 for row in rows),
             "fuzz_inputs": {name: figure(f"fuzz_inputs_{name}") for name in ("sse", "extract", "blocks")}, "fuzz_seconds": args.seconds,
             "crashes": sum(row["exit_code"] >= 128 for row in rows), "budget_overruns": figure("budget_overruns"), "kill_points": figure("llm_kill_points"),
             "repeated_paid_calls": figure("repeated_paid_calls"), "garbage_pairs": figure("garbage_pairs"), "garbage_worse": figure("garbage_worse")}
    write_result(args.output, found, rows)
    return all(found[name] == 0 for name in ("suites_failed", "crashes", "budget_overruns", "repeated_paid_calls", "garbage_worse"))
