"""How fast kernels' sources are read: parsed, and parsed with the facts of every kernel. Needs no GPU.

`warpath inspect --parse` on the .cu and .cuh files of all folders (one a repository) together, and of each for its row. Of several readings of the same files
the median counts.
"""
import pathlib
import re

from measurements.common import Failed, cpu, expect, median, run, write_result

LAST = re.compile(r"(\d+) files, (\d+) kernels, (\d+) without opaque span .*, parsed at ([\d.]+) MB/s, with the facts of the kernels ([\d.]+)")


def options(parser):
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="a repository's files")
    parser.add_argument("--times", default=5, help="readings of the same files")


def read(files, times):
    """Counts of the files and what is in them, and rates in megabytes a second."""
    found = []
    for _ in range(times):
        done = expect(run(["inspect", "--parse", *files]), "inspect --parse", codes=(0,))
        found.append(LAST.fullmatch(done.stdout.splitlines()[-1]))
        if not found[-1]:
            raise Failed(f"inspect --parse ended with: {done.stdout.splitlines()[-1]}")
    counts = dict(zip(("files", "kernels", "without_opaque_span"), map(int, found[0].groups()[:3])))
    return counts | {"parsed_mb_per_s": median([float(one[4]) for one in found]), "with_facts_mb_per_s": median([float(one[5]) for one in found])}


def measure(args):
    files = {folder.name: sorted(p for p in folder.resolve().rglob("*") if p.suffix in (".cu", ".cuh") and p.is_file()) for folder in args.folders}
    for name, own in files.items():
        if not own:
            raise Failed(f"{name}: no .cu or .cuh file")
    rows = [{"repository": name} | read(own, args.times) for name, own in sorted(files.items())]
    write_result(args.output, {"cpu": cpu(), "repositories": len(files)} | read([p for own in files.values() for p in own], args.times), rows, device="none")
