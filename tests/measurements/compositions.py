"""What a move that restructures a kernel leaves open of the others: whether they apply in any order.

Of every kernel of specs and of tests/data/idioms each restructuring move is made with its first guess of parameters, and those that the kernel was offered before
are asked again (build/tests/reach_files --after). Some close others for good: one whose place is no more there. A row is a pair that is closed, with
the reason. Runs nothing, takes no GPU.
"""
import json
import pathlib

from measurements.common import DATA, ROOT, Failed, execute, expect, joined, say, shared, write_result
from measurements.reach import share

PROGRAM = ROOT / "build/tests/reach_files"


def options(parser):
    shared(parser, "kernels")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="reach_files")


def lines_of(args, spec):
    done = expect(execute([args.program, "--after", spec]), spec.stem)
    say(f"{spec.stem}: {len(done.stdout.splitlines())} moves made")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(args):
    specs = [path for path in sorted([*ROOT.glob("specs/*.json"), *DATA.glob("idioms/*.json")]) if path.stem != "schema" and (not args.kernels or path.stem in args.kernels)]
    if not args.program.exists():
        raise Failed(f"{args.program}: not there, build it: ninja -C build tests/reach_files")
    lines = joined(lines_of(args, spec) for spec in specs)
    rows = [{"kernel": line["kernel"], "made": line["made"], "closed": name, "why": why} for line in lines for name, why in line["closed"].items()]
    pairs = sum(len(line["open"]) + len(line["closed"]) for line in lines)
    write_result(args.output, {"kernels": len(specs), "pairs": pairs, "open": share(range(pairs - len(rows)), range(pairs))}, rows)
    return pairs > 0
