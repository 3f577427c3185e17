"""On which kernels of public code the moves work. Needs no GPU.

Every kernel of the .cu and .cuh files of the folders (one a repository) gets a synthetic spec, whose source is what `warpath init` keeps of the file:
the kernel and what it names, here and in headers. What a file includes of its own repository is put in its place first, and a library's device
header (.cuh) that another one of the folders has. Every move is asked for what it offers there. Rows are repositories, and what vetoes kernels most often.

With --run each kernel that the host runner can run without the rest of its file is run there on a small synthetic spec, or where that does not fit on
the one that `warpath init` drafts, and then what every move that restructures it makes of it, with the kernel itself as the reference: integers bit by
bit, floats within rounding. Nothing is timed. Kernels are run in an order drawn by their names: those that were run until a limit are a fair sample. With --outdir a later call goes on where one ended.

On another machine: what asks the moves (--program) in bin/ of a bundle, whose lib/ it finds, and a C++ compiler there.
"""
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import statistics
import tempfile

from measurements.common import ROOT, Failed, execute, expect, read_lines, run, say, shared, time_is_over, write_result

ENABLING = {"specialise_shape", "normalise"}  # what others begin with
GUARD = {"point_a_thread"}  # a guard instead of a loop over the grid
POINTS = {"register_block", "vectorize_global_loads"}  # more points a thread, packs of points
ASKING = ROOT / "build/tests/reach_files"
MOST_CHARACTERS = 600_000
ENDED = 124  # the exit status of what took more than its seconds
MOST_COPIES = 3  # of a file in one text


def options(parser):
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="a repository's files")
    parser.add_argument("--program", default=str(ASKING), help="what asks the moves (default: build/tests/reach_files, which is built first)")
    parser.add_argument("--seconds", default=120.0, type=float, help="most time for one file")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, help="files at once")
    parser.add_argument("--run", action="store_true", help="also run what the moves make of the kernels")
    parser.add_argument("--run-share", default=1.0, type=float, help="of the kernels that are run, drawn by their names")
    parser.add_argument("--run-seconds", default=100.0, type=float, help="most time for the runs of one kernel")
    shared(parser, limit=(None, "no kernel is begun to be run after so many seconds"))
    parser.add_argument("--lines", type=pathlib.Path, help="also write every kernel's answer there, a JSON line each")


def flat(path, folders, copies):
    """The text with the includes of these repositories in their places, each behind a guard: which branch of an #if has it is the parser's to say."""
    copies[path] += 1
    guard = "FLAT_" + re.sub("[^A-Za-z0-9]", "_", "_".join(path.parts[-6:]))
    out = [f"#ifndef {guard}", f"#define {guard}"]
    for line in path.read_text(errors="replace").splitlines():
        found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        places = folders if found and found[1].endswith(".cuh") else folders[:1]
        own = found and next(filter(None, (included(found[1], path, folder) for folder in places)), None)
        # host headers fill a text soon; what kernels call stands in device headers
        room = own and (own.suffix == ".cuh" or sum(map(len, out)) < MOST_CHARACTERS)
        if own and copies[own] < MOST_COPIES and room:
            out.append(flat(own, folders, copies))
        elif not own and not re.match(r"\s*#\s*pragma\s+once", line):
            out.append(line)
    return "\n".join(out) + "\n#endif\n"


@functools.cache
def files_by_name(folder):
    found = collections.defaultdict(list)
    for path in folder.rglob("*"):
        if path.is_file():
            found[path.name].append(path)
    return found


def included(name, path, folder):
    for place in (path.parent, folder, folder / "include", folder / "csrc", folder / "src"):
        if (place / name).is_file():
            return (place / name).resolve()
    tails = [p for p in files_by_name(folder).get(pathlib.PurePath(name).name, []) if p.as_posix().endswith("/" + name)]
    return tails[0].resolve() if len(tails) == 1 else None


class File:
    """One with kernels, of a repository."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.name = path.relative_to(folder).as_posix()
        self.own = sorted(set(re.findall(r"__global__[^;{}]*?\b(\w+)\s*\(", re.sub(r"__launch_bounds__\s*\([^)]*\)", "", path.read_text(errors="replace")))))

    def text(self, folders):
        return flat(self.path, [self.folder, *(f for f in folders if f != self.folder)], collections.Counter())[:4 * MOST_CHARACTERS]


def asked(args, file, kernel=None):
    """What the program says of a file's kernels, or of running one of them."""
    with tempfile.TemporaryDirectory() as work:
        text = pathlib.Path(work) / "kernel.cu"
        text.write_text(file.text(args.folders))
        if kernel is None:
            done = execute([args.program, text, *file.own], seconds=args.seconds)
        else:
            done = execute([args.program, "--run", text, kernel], seconds=args.run_seconds)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if kernel is not None:
            lines = [line if line["untouched"] == "ok" else run_as_drafted(args, text, f"{kernel}:{number}", line) for number, line in enumerate(lines, 1)]
    return {"repository": file.folder.name, "file": file.name, "kernel": kernel, "status": done.returncode, "lines": lines}


def run_as_drafted(args, text, kernel, line):
    """The line of a kernel that the synthetic spec does not fit, or what becomes of the spec that `warpath init` drafts, if that fits."""
    if "cannot run on the host" in line["log"]:
        return line
    spec = text.with_name("drafted.json")
    if run(["init", text, kernel, "--output", spec, "--force"], args.run_seconds).returncode != 0:
        return line
    done = execute([args.program, "--spec", spec], seconds=args.run_seconds)
    found = [json.loads(one) for one in done.stdout.splitlines()]
    return {**line, **found[0], "drafted": True} if found and found[0]["untouched"] == "ok" else line


def drawn(file, kernel):
    """Where in the order of runs a kernel stands, from 0 to 1."""
    return random.Random(f"{file.name} {kernel}").random()


def answers(args, what, parts, limited=False):
    """What asked() says of each (file, kernel), in order, as far as the limit leaves time for it; what an earlier call wrote is not asked again."""
    kept = args.work / f"{what}.jsonl"
    known = {(one["repository"], one["file"], one["kernel"]): one for one in read_lines(kept)}

    def answer(part):
        file, kernel = part
        key = (file.folder.name, file.name, kernel)
        if key not in known and not (limited and time_is_over(args)):
            known[key] = asked(args, file, kernel)
            with kept.open("a") as out:
                out.write(json.dumps(known[key]) + "\n")
        return known.get(key)

    found = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one in pool.map(answer, parts):
            found += [one] if one else []
            if one and len(found) % 50 == 0:
                say(f"{what}: {len(found)} of {len(parts)}")
    return found


def cause(veto):
    """A veto without what is particular to one kernel."""
    return re.sub(r"line \d+", "a line", re.sub(r"calls .*, whose", "calls a function, whose", re.sub(r"(address of|^)\w+ (is volatile|goes)", r"\1... \2", veto)))


def share(part, whole):
    return round(len(part) / max(1, len(whole)), 4)


def figures(rows):
    known = [r for r in rows if r["specified"]]
    structural = [r for r in known if set(r["structural"]) - ENABLING]
    return {"kernels": len(rows), "specified": len(known), "without_veto": share([r for r in known if not r["veto"]], known),
            "without_veto_normal": share([r for r in known if not r["normal_veto"]], known), "any_move": share([r for r in known if r["moves"]], known),
            "structural": share(structural, known), "beyond_points": share([r for r in structural if set(r["structural"]) - ENABLING - POINTS], known),
            "beyond_points_and_guard": share([r for r in structural if set(r["structural"]) - ENABLING - POINTS - GUARD], known)}


def run_figures(rows):
    """What became of the kernels and of the moves' results that were run."""
    asked = [r["run"] for r in rows if r["run"]]
    runs = [run for one in asked for run in one["runs"]]
    status = collections.Counter(run["status"] for run in runs)
    return {"kernels_run": sum(1 for one in asked if one["untouched"] == "ok"), "kernels_not_run": sum(1 for one in asked if one["untouched"] != "ok"),
            "results_run": len(runs) - status["not_applicable"], "results_ok": status["ok"],
            "results_wrong": sum(status[one] for one in ("wrong_result", "rejected", "crashed", "timed_out")),
            "results_not_compiled": sum(status[one] for one in ("compile_error", "launch_error", "limits_exceeded"))}


def measure(args):
    # no build has it by itself: an old one would give old figures
    if args.program == str(ASKING):
        expect(execute(["ninja", "-C", ASKING.parent.parent, f"tests/{ASKING.name}"]), "the build of what asks the moves", (0,))
    files = []
    args.folders = [folder.resolve() for folder in args.folders]
    for folder in args.folders:
        paths = [p for p in sorted(folder.rglob("*")) if p.suffix in (".cu", ".cuh") and p.is_file() and "__global__" in p.read_text(errors="replace")]
        if not paths:
            raise Failed(f"{folder}: no .cu or .cuh file with a kernel")
        files += [File(path, folder) for path in paths]
    offers = answers(args, "files", [(file, None) for file in files])
    places = sorted((drawn(file, kernel), number, kernel) for number, file in enumerate(files) for kernel in file.own)
    parts = [(files[number], kernel) for place, number, kernel in places if place < args.run_share]
    runs = answers(args, "runs", parts, limited=True) if args.run else []
    too_long = [one for one in runs if one["status"] == ENDED]
    problems = [f"{one['repository']}/{one['file']}: {one['kernel'] or 'its kernels'}: exit status {one['status']}"
                for one in offers + runs if one["status"] != 0 and one not in too_long]
    own = {(file.folder.name, file.name): file.own for file in files}
    of_runs = {(one["repository"], one["file"], line["kernel"], line["line"]): line for one in runs for line in one["lines"]}
    rows = [{**line, "repository": one["repository"], "file": one["file"], "run": of_runs.get((one["repository"], one["file"], line["kernel"], line["line"]))}
            for one in offers for line in one["lines"] if line["kernel"] in own[one["repository"], one["file"]]]
    for problem in problems:
        say(problem)
    for row, run in ((r, run) for r in rows if r["run"] for run in r["run"]["runs"] if run["status"] not in ("ok", "not_applicable")):
        say(f"{row['repository']}/{row['file']}: {row['kernel']}: {run['step']}: {run['status']}: {run['log'][:160]}")
    if args.lines:
        args.lines.write_text("".join(json.dumps(r) + "\n" for r in rows))
    moves = collections.Counter(move for r in rows for move in r["moves"])
    total = {**figures(rows), "asking_failed": len(problems), "median_seconds_of_a_node": round(statistics.median([r["seconds"] for r in rows if r["specified"]] or [0]), 4),
             **({"run_share": share(runs, places), "kernels_too_long": len(too_long)} | run_figures(rows) if args.run else {}), "kernels_of_a_move": dict(sorted(moves.items()))}
    causes = collections.Counter(cause(r["veto"]) for r in rows if r["veto"])
    table = [{"repository": name, **figures([r for r in rows if r["repository"] == name])} for name in sorted({r["repository"] for r in rows})]
    write_result(args.output, total, table + [{"veto": veto, "kernels": count} for veto, count in causes.most_common(12)], device="none")
    return not problems and not total.get("results_wrong") and not total.get("results_not_compiled")
