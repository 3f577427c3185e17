"""Varied kernels through every move, in worker processes: failures contained, deaths of the engine.

The engine is started for some mutants at a time; one that does not end by itself is a death of the engine. Exit code 1 where there was
one. Needs no GPU.
"""
import collections
import json
import os
import sys

from measurements.common import ROOT, execute, say, write_result


def options(parser):
    parser.add_argument("--program", default=str(ROOT / "build/tests/fuzz_moves"), help="the engine")
    parser.add_argument("--mutants", default=100000, help="in all")
    parser.add_argument("--seed", default=1, help="of the first")
    parser.add_argument("--part", default=2000, help="mutants of one start")
    parser.add_argument("--workers", default=os.cpu_count() or 1, help="processes")


def reason(line):
    """(move, what failed) of a line `MUTANT: MOVE...: WHAT`."""
    words = line.split(": ", 2)
    return words[1].split("@")[0].split("(")[0].split(" ")[0], words[2] if len(words) > 2 else ""


def measure(args):
    figures, reasons, deaths = collections.Counter(), collections.Counter(), 0
    for first in range(args.seed, args.seed + args.mutants, args.part):
        done = execute([args.program, min(args.part, args.seed + args.mutants - first), first, args.workers])
        if done.returncode not in (0, 1):
            deaths += 1
            say(f"from seed {first}: exit status {done.returncode}\n{done.stderr[-2000:]}")
            continue
        for key, value in json.loads(done.stdout).items():
            figures[key] += value
        print(done.stderr, file=sys.stderr, end="")
        reasons.update(map(reason, done.stderr.splitlines()))
        say(f"{figures['mutants']} mutants, {figures['applied']} applied, {figures['failures_contained']} failures")
    write_result(args.output, {**figures, "engine_deaths": deaths},
                 [{"move": move, "reason": what, "count": count} for (move, what), count in sorted(reasons.items())], device="none")
    return deaths == 0
