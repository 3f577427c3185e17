"""The size and shape of the tree at two revisions, as a reader meets them. Needs no GPU.

With --build each is built from nothing, first the program alone, then with all tests; the wall and CPU seconds
are taken on what cores there are, without ccache. The machine should be idle.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

from measurements.common import ROOT, Failed, execute, say, write_result

PRODUCT = ["engine", "moves", "priors", "runners", "experiments"]
SOURCES = {".cc", ".h", ".cuh"}


def options(parser):
    parser.add_argument("--before", default="529440f", help="a revision")
    parser.add_argument("--after", default="HEAD", help="another one")
    parser.add_argument("--build", action="store_true", help="build each, too")
    parser.add_argument("--only-after", action="store_true", help="the figures before are those of the result file, which must be of that revision")


def lines(files):
    return sum(text.count(b"\n") for text in (file.read_bytes() for file in files))


def sources(tree, folders):
    """Those of C++, without the kernels of tests/data."""
    return [file for folder in folders for file in (tree / folder).rglob("*")
            if file.suffix in SOURCES and "tests/data/" not in file.as_posix()]


def described_options(files):
    return sum(len(re.findall(r"OptionText\{\s*\"", file.read_text())) for file in files)


EQUAL_TOKENS = 60


def pairs_of_equal_places(files):
    """Pairs of runs of at least EQUAL_TOKENS equal tokens, each as long as it goes, however the lines are broken. Comments and includes are left out."""
    texts = [re.findall(r"\w+|[^\w\s]", re.sub(r"//.*|^#\s*(?:include|pragma).*", "", file.read_text(errors="replace"), flags=re.M)) for file in files]
    places = {}
    for which, text in enumerate(texts):
        for at in range(len(text) - EQUAL_TOKENS + 1):
            places.setdefault(hash(tuple(text[at:at + EQUAL_TOKENS])), []).append((which, at))
    def goes_back(a, b):
        return a[1] > 0 and b[1] > 0 and texts[a[0]][a[1] - 1] == texts[b[0]][b[1] - 1]
    return sum(not goes_back(a, b) for equal in places.values() for i, a in enumerate(equal) for b in equal[:i])


def figures_of(tree):
    product, tests = sources(tree, PRODUCT), sources(tree, ["tests"])
    folders = {}
    for file in product + tests:
        folders[file.parent] = folders.get(file.parent, 0) + 1
    wide = [line for file in product for line in file.read_text(errors="replace").splitlines() if len(line) > 100]
    largest = max(folders, key=folders.get)
    return {"lines_of_product": lines(product), "characters_of_product": sum(file.stat().st_size for file in product), "lines_of_tests": lines(tests), "lines_over_100_columns": len(wide), "pairs_of_equal_places": pairs_of_equal_places(product),
            "longest_file_lines": max(lines([file]) for file in product), "largest_folder": largest.relative_to(tree).as_posix(),
            "files_of_largest_folder": folders[largest], "options_in_engine": described_options(sources(tree, ["engine"])),
            "options": described_options(product), "lists_of_plug_ins": len(list(tree.rglob("register*.in"))) // 2,
            "lines_of_measuring_scripts": lines([f for f in (tree / "tests").rglob("*") if f.is_file() and re.search(r"tests/(tools|measurements|measure$)", f.as_posix())]),
            "hops_of_a_variant": len(re.findall(r"^\| \d+ \|", (tree / "docs/architecture.md").read_text(), re.M)) if (tree / "docs/architecture.md").exists() else None,
            "words_of_results_page": len((tree / "docs/results.md").read_text().split())}


def seconds(commands):
    """Wall and CPU seconds of commands, one after another, without ccache."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "CCACHE_DISABLE": "1"})
        if done.returncode:
            raise Failed(f"{command[0]}: {done.stdout[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": round(time.monotonic() - began, 1), "cores": len(os.sched_getaffinity(0)),
            "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)}


def built(tree):
    """What `warpath run` and `warpath test` build first, each from nothing."""
    def cold(name, *targets):
        folder = tree / f"build_{name}"
        figures = seconds([["meson", "setup", folder, tree], ["ninja", "-C", folder, *targets]])
        shutil.rmtree(folder)
        return figures
    return {"seconds_of_first_build_program": cold("program", "experiments/warpath"),
            "seconds_of_first_build_everything": cold("everything", "all", "meson-test-prereq")}


def measured_before(args):
    """The figures in the result file, with the time at which they were measured."""
    if not args.output.exists():
        raise Failed(f"{args.output}: no such file, so nothing was measured before")
    known = json.loads(args.output.read_text())
    before = known["figures"]["before"]
    if not before["revision"].startswith(args.before):
        raise Failed(f"{args.output}: its figures before are of {before['revision']}, not of {args.before}")
    return {"date": known["date"], **before}  # its own date, if it was taken over before


def measure(args):
    figures = {"before": measured_before(args)} if args.only_after else {}
    for when, revision in (("before", args.before), ("after", args.after)):
        if when in figures:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "tree"
            tree.mkdir()
            done = subprocess.run(f"git -C '{ROOT}' archive '{revision}' | tar x -C '{tree}'", shell=True, capture_output=True, text=True, check=False)
            if done.returncode or not (tree / "meson.build").exists():
                raise Failed(f"no tree of {revision}: {done.stderr.strip()}")
            named = execute(["git", "-C", ROOT, "rev-parse", "--short=12", revision]).stdout.strip()
            figures[when] = {"revision": named, **figures_of(tree), **(built(tree) if args.build else {})}
            say(f"{when}: {figures[when]}")
    write_result(args.output, figures, [], device="none")
    return True
