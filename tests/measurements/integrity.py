"""What is accepted of bad and honest kernels, and what is refused by which gate.

Evaluates every kernel of tests/data/integrity, bad and honest, every one of tests/data/honest, and tuned variants of every spec. Each is
judged at confirmation; what is ok there is judged again at the final stage, as everything is that gets reported. A second pass without
the static gates says what the dynamic ones see by themselves. An evaluation that ends without a verdict, and one that there was no time
for, is a row of its own. It may be done in parts: what the file has of the same revision stays. Exit code 1 unless all is refused and
accepted as it should be, and nothing is missing.
"""
import collections
import json
import sys
import time

from measurements.common import DATA, Failed, ROOT, candidates_of, evaluate, joined, names, on, one_of, places, read_lines, revision, say, shared, spread, time_is_over, write_result

MORE = "warpath evaluate"
# Some launches of whole specs take 0.2 s: their verdicts need few samples.
FEW = ["--set", "cuda.min_samples=3", "--set", "cuda.input_sets=2"]


def options(parser):
    shared(parser, "gpus", "runner", "specs", "left", limit=3000.0, seconds=(120.0, "of one evaluation of a list"))
    parser.add_argument("--final", default="all", choices=["all", "bad"], help="bad: only bad kernels that passed confirmation are judged at the final stage (the sanitizer takes seconds each)")
    parser.add_argument("--tuned", default=6, help="variants of each spec; 0: no spec")
    parser.add_argument("--families", type=names, metavar="NAME,NAME", help="folders of tests/data/integrity (default: all; -: none)")
    parser.add_argument("--honest", type=names, metavar="NAME,NAME", help="folders of tests/data/honest (likewise)")
    parser.add_argument("--no-dynamic", action="store_true", help="no second pass")


def judged(args, name, words):
    """The candidates' lines of one `warpath evaluate`."""
    if time_is_over(args):
        raise Failed("the time was over")
    began = time.monotonic()
    lines, _ = evaluate(args, name, words, args.seconds)
    say(f"{name}: {time.monotonic() - began:.0f} s")
    return candidates_of(lines)


def row(family, line, kind, expect=None, stage=None):
    return {"family": family, "name": line["name"], "row": line.get("row", 0), "kind": kind, "expect": expect or line["expect"], "status": line["status"],
            "gate": line.get("failed_gate", ""), "expected_gate": line.get("by_expected_gate", False), "stage": stage or line["stage"],
            **({"why": line["log"].splitlines()[0]} if line["expect"] == "ok" and line["status"] != "ok" and line["log"] else {})}


def again(args, folder, name, lines):
    """The list of a folder with these candidates alone, paths absolute; those without a file differ from the spec's kernel in their launch."""
    wanted = {line["name"] for line in lines}
    absolute = lambda candidate: {"source_file": str(folder / candidate["source_file"])} if "source_file" in candidate else {}
    path = args.work / f"{name}.list.jsonl"
    path.write_text("".join(json.dumps(candidate | absolute(candidate)) + "\n"
                            for candidate in read_lines(folder / "list.jsonl") if candidate["name"] in wanted))
    return path


def at_both_stages(args, folder, spec, kind, words):
    name = folder.name
    first = judged(args, f"{name}.confirmation", ["--input", spec, "--candidates", folder / "list.jsonl", "--stage", "confirmation", *words])
    passed = [line for line in first if line["status"] == "ok" and (args.final == "all" or line["expect"] == "refused")]
    rows = [row(name, line, kind) for line in first if line not in passed]
    if passed:
        last = judged(args, f"{name}.final", ["--input", spec, "--candidates", again(args, folder, name, passed), "--stage", "final", *words])
        rows += [row(name, line, kind) for line in last]
    return rows


def family(args, folder, gpu):
    # Kernels that never end are given up after a second: nothing honest in a family takes a millisecond.
    short = ["--set", "cuda.launch_seconds=1"] if args.runner == "cuda" else []
    rows = at_both_stages(args, folder, folder / "spec.json", "family", gpu + short)
    if not args.no_dynamic:
        lines = judged(args, f"{folder.name}.dynamic", ["--input", folder / "spec.json", "--candidates", folder / "list.jsonl", "--stage", "confirmation",
                                                        "--set", "cuda.screening=screening,-code", *gpu])
        rows += [row(folder.name, line, "dynamic", stage="confirmation without gates on code") for line in lines]
    return rows


def honest(args, folder, gpu):
    own = folder / "spec.json"
    return at_both_stages(args, folder, own if own.exists() else ROOT / f"specs/{folder.name}.json", "honest set", gpu + FEW)


def tuned(args, spec, gpu):
    lines = judged(args, f"{spec.stem}.tuned", ["--input", spec, "--tunables", args.tuned, "--stage", "confirmation", *FEW, *gpu])
    return [row(spec.stem, line, "tuned", expect="ok") for line in lines]


def chosen(wanted, folder, what):
    known = {path.name: path for path in sorted((DATA / folder).iterdir()) if path.is_dir()}
    return [] if wanted == ["-"] else [known[name] for name in sorted(one_of(wanted, known, what))]


def figures(rows):
    seen = [r for r in rows if r["kind"] != "dynamic" and r["status"] != "missing"]
    dynamic = [r for r in rows if r["kind"] == "dynamic" and r["expect"] == "refused"]
    bad = [r for r in seen if r["expect"] == "refused"]
    good = [r for r in seen if r["expect"] == "ok"]
    honest_set = [r for r in good if r["kind"] == "honest set"]
    return {"false_accepts": sum(r["status"] == "ok" for r in bad), "false_rejects": sum(r["status"] != "ok" for r in good),
            "missing": sum(r["status"] == "missing" for r in rows), "rows": len({r["row"] for r in seen if r["kind"] == "family"}), "bad": len(bad),
            "honest": sum(r["kind"] == "family" for r in good), "tuned": sum(r["kind"] == "tuned" for r in good), "honest_set": len(honest_set),
            "honest_refused": sum(r["status"] != "ok" for r in honest_set), "refused_by_a_listed_gate": sum(r["expected_gate"] for r in bad),
            "accepted_without_static_gates": sum(r["status"] == "ok" for r in dynamic) if dynamic else None,
            "refused_by": dict(sorted(collections.Counter(r["gate"] or r["status"] for r in bad if r["status"] != "ok").items()))}


PART = {"dynamic": "family", "honest set": "honest"}  # kinds of rows that another kind of part has, too


def measured_before(args):
    """The file's rows of the same revision and runner, by (kind of part, its name); without those that are missing."""
    before = json.loads(args.output.read_text()) if args.output.exists() else {"revision": None}
    found = collections.defaultdict(list)
    for r in before["rows"] if before["revision"] == revision() else []:
        if r.get("runner", "cuda") == args.runner:
            found[PART.get(r["kind"], r["kind"]), r["family"]].append(r)
    return {part: rows for part, rows in found.items() if all(r["status"] != "missing" for r in rows)}


def measure(args):
    parts = [(family, folder) for folder in chosen(args.families, "integrity", "families")] + [(honest, folder) for folder in chosen(args.honest, "honest", "honest")]
    parts += [(tuned, spec) for spec in args.specs if args.tuned and '"tunables"' in spec.read_text()]
    before = measured_before(args)
    name = lambda part: (part[0].__name__, part[1].stem)
    if args.left:
        parts = [part for part in parts if name(part) not in before]
    if not parts:
        raise Failed("nothing to measure")

    def one(part, gpu):
        kind, place = part
        try:
            return kind(args, place, on(gpu))
        except Failed as error:
            say(f"{place.stem}: {error}")
            return missing(part, str(error))

    def missing(part, why):
        kind, place = part
        return [{"family": place.stem, "name": "", "row": 0, "kind": kind.__name__, "expect": "", "status": "missing", "gate": why,
                 "expected_gate": False, "stage": ""}]

    def write(lists):
        own = {name(part): missing(part, "ended from outside") if found is None else found for found, part in zip(lists, parts)}
        # What there was no time for does not take the place of what was measured.
        own = {part: found for part, found in own.items() if part not in before or all(r["status"] != "missing" for r in found)}
        rows = [r | {"runner": args.runner} for r in joined((before | own).values())]
        write_result(args.output, figures(rows), rows)
        return rows

    rows = write(spread(one, parts, places(args), write))
    found = figures(rows)
    for r in rows:
        if r["kind"] != "dynamic" and (r["status"] == "missing" or (r["expect"] == "ok") != (r["status"] == "ok")):
            print(json.dumps(r), file=sys.stderr)
    return found["false_accepts"] == found["false_rejects"] == found["missing"] == 0
