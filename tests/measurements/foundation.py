"""A fresh clone of the last commit: its set-up, its suite, a short search of every spec.

Searches on the host runner; in the suite a run is killed and resumed at 100 points. Every figure is read from what these commands printed
or wrote. Takes about half an hour on two cores, and no GPU. WARPATH is not used.
"""
import json
import os
import time

from measurements.common import Failed, ROOT, cpu, execute, expect, lines_of, printed_figure, say, write_result

KILL_POINTS = 100


def options(_parser):
    pass


def timed(command, clone, **environment):
    """What a command of the clone did, and its seconds."""
    say(" ".join(map(str, command)))
    began = time.monotonic()
    done = execute(command, cwd=clone, **environment)
    return done, round(time.monotonic() - began, 1)


def missing_packages(clone):
    lines = (clone / "warpath").read_text().splitlines()
    first = lines.index("packages=(")
    packages = " ".join(lines[first + 1:lines.index(")", first)]).split()
    # dpkg does not list what it has never seen.
    return len(packages) - lines_of(["dpkg-query", "-W", "-f", "${db:Status-Status}\\n", *packages]).count("installed")


def figure(log, name):
    found = printed_figure(log, name)
    if found is None:
        raise Failed(f"no test printed {name}")
    return found


def measure(args):
    if lines_of(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"]):
        raise Failed("commit first: the figures belong to a revision")
    clone = args.work / "warpath"
    expect(execute(["git", "clone", "-q", "--", ROOT, clone]), "the clone failed", codes=(0,))
    missing = missing_packages(clone)
    done, setup_s = timed(["./warpath", "--version"], clone)
    expect(done, "the set-up failed", codes=(0,))
    done, test_s = timed(["./warpath", "test"], clone, WARPATH_KILL_POINTS=str(KILL_POINTS))
    expect(done, "the suite failed", codes=(0,))
    cases = done.stdout.strip().splitlines()[-1]
    log = (clone / "build/meson-logs/testlog.txt").read_text(errors="replace")
    batch, batch_s = timed(["./warpath", "run", "--input", "specs", "--runner", "host", "--budget-builds", 8, "--outdir", args.work / "out"], clone)
    expect(batch, "the batch failed")
    rows = [json.loads(path.read_text()) for path in sorted(args.work.glob("out/kernels/*/best_summary.json"))]
    write_result(args.output, {
        "setup_s": setup_s, "packages_missing_before": missing, "test_s": test_s, "tests": cases, "batch_s": batch_s,
        "kernels_verified": sum(row["baseline_ok"] for row in rows), "kill_points": figure(log, "kill_points"), "outcomes_lost": figure(log, "outcomes_lost"),
        "bad_inputs": figure(log, "bad_inputs"), "host_conformance_kernels": figure(log, "host_conformance_kernels")},
        rows, revision=lines_of(["git", "-C", clone, "rev-parse", "HEAD"])[0], device=f"{cpu()}, {os.cpu_count()} cores (host runner: CPU timings)")
    print(batch.stdout, end="")
