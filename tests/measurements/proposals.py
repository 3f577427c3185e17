"""What becomes of the candidates of tests/data/proposals, given to searches by a file and one by one through `warpath tell`.

What is excellent must win, what is wrong or cheats must be refused: else exit code 1. All gates up to confirmation judge every candidate.
"""
import json
import time

from measurements.common import (DATA, ROOT, expect, fresh, joined, names, on, one_of, places, read_lines, revision, run, say, shared, spread, tasks_of, time_is_over,
                                 with_same_revision, write_result)

MORE = "warpath run"
LISTS = DATA / "proposals"
KEYS = ("kernel", "route", "candidate")


def options(parser):
    shared(parser, "gpus", "runner", "kernels", "left", "limit")
    parser.add_argument("--routes", default="file,tell", type=names, help="file, tell or both")
    parser.add_argument("--each", default=5, type=int, metavar="N", help="candidates told to one run")
    parser.add_argument("--finalists", default=3, help="of a search by file")


def search(args, name, kernel, words):
    """A search; its run folder."""
    judged = ["--set", "cuda.screening=screening,confirmation,-interleaved_pairs"] if args.runner == "cuda" else []
    expect(run(["run", "--input", ROOT / f"specs/{kernel}.json", *words, "--runner", args.runner, "--no-llm", "--seed", 1, "--set", "record.sync=never", *args.more, *judged,
                "--outdir", fresh(args.work / name)]), name)
    return args.work / name / "kernels" / kernel


def tell(folder, run_folder, line):
    """What the program answers to one candidate."""
    source, launch = (run_folder.parents[1] / f"{line['move']}.{kind}" for kind in ("txt", "launch"))
    source.write_text((folder / line["source_file"]).read_text() if "source_file" in line else line.get("blocks", line.get("source")))
    launch.write_text(json.dumps(line.get("launch")))
    done = run(["tell", run_folder, "--node", "baseline", "--move", line["move"], "--source", source, *(["--launch", launch] if "launch" in line else [])])
    return json.loads(expect(done, f"tell {line['move']}").stdout)


def refusal(outcome):
    return next((g["gate"] for g in outcome["verdict"] if g["answer"] == "fail"), None)


def row(kernel, route, candidate, **found):
    return {"kernel": kernel, "route": route, "candidate": candidate["move"], "kind": candidate["why"].split(":")[0], "revision": revision(), **found}


def by_file(args, kernel, wanted, gpu):
    """A row a candidate of a search that took the file."""
    folder = search(args, f"{kernel}.file", kernel, ["--proposals", LISTS / kernel / "list.jsonl", "--budget-builds", len(wanted), "--finalists", args.finalists, *on(gpu)])
    events = read_lines(folder / "events.jsonl")
    outcomes = {e["seq"]: e["outcome"] for e in events if e["type"] == "outcome"}
    dispatched = {e["instance"]["move"]: e for e in events if e["type"] == "dispatch" and e["source"] == "file"}
    summary = json.loads((folder / "best_summary.json").read_text())
    winner = next((move for move, e in dispatched.items() if e["key"] == summary["best_key"]), None)
    for candidate in wanted:
        outcome = outcomes.get(dispatched.get(candidate["move"], {}).get("seq"))
        won = winner == candidate["move"]
        yield row(kernel, "file", candidate, verdict=outcome["status"] if outcome else "not tried", gate=refusal(outcome) if outcome else None,
                  won=won, run_speedup=summary["speedup"] if won else None)


def by_telling(args, kernel, wanted, gpu):
    """A row a candidate told to one run."""
    folder = search(args, f"{kernel}.tell.{wanted[0]['move']}", kernel, ["--budget-builds", 1, "--finalists", 0, *on(gpu)])
    for candidate in wanted:
        answer = tell(LISTS / kernel, folder, candidate)
        verdict = answer.get("verdict", "")
        yield row(kernel, "tell", candidate, verdict=answer.get("status", answer.get("why")),
                  gate=verdict.removeprefix("refused by gate ") if verdict.startswith("refused") else None,
                  won=False, run_speedup=answer["speedup"] if answer.get("status") == "ok" else None)


def with_winners(rows):
    """Of the candidates of a kernel that were told, the fastest won."""
    for kernel in {row["kernel"] for row in rows}:
        told = [row for row in rows if row["kernel"] == kernel and row["route"] == "tell"]
        best = max((row["run_speedup"] for row in told if row["run_speedup"] is not None), default=None)
        for row in told:
            row["won"] = row["run_speedup"] is not None and row["run_speedup"] == best
    return rows


def figures(rows):
    count = lambda kind, **want: sum(row["kind"] == kind and all(row[key] == value for key, value in want.items()) for row in rows)
    bad = [row for row in rows if row["kind"] in ("wrong", "cheating")]
    return {"kernels": len({row["kernel"] for row in rows}), "candidates": len(rows), "excellent": count("excellent"), "excellent_ok": count("excellent", verdict="ok"),
            "searches": len({(row["kernel"], row["route"]) for row in rows}), "won_by_excellent": count("excellent", won=True), "bad": len(bad),
            "bad_accepted": sum(row["verdict"] == "ok" for row in bad), "bad_refused_by_gate": sum(row["gate"] is not None for row in bad),
            "bad_not_compiled": sum(row["gate"] is None and row["verdict"] == "compile_error" for row in bad)}


def parts(args, kernels, routes):
    """(kernel, route, candidates) of every search; with --left of those whose candidates the file does not have all."""
    for kernel in kernels:
        listed = {line["move"]: line for line in read_lines(LISTS / kernel / "list.jsonl")}
        for route in routes:
            left = [move for _, _, move in tasks_of(args, [(kernel, route, move) for move in listed], *KEYS)]
            if route == "file":
                yield from [(kernel, route, list(listed.values()))] if left else []
            else:
                yield from ((kernel, route, [listed[move] for move in left[first:first + args.each]]) for first in range(0, len(left), args.each))


def measure(args):
    kernels = one_of(args.kernels, sorted(path.name for path in LISTS.iterdir() if path.is_dir()), "kernels")
    routes = one_of(args.routes, ["file", "tell"], "routes")

    def give(part, gpu):
        (kernel, route, wanted), began = part, time.monotonic()
        if time_is_over(args):
            return say(f"the time is over: {kernel}, {route}, from {wanted[0]['move']} is left out")
        rows = list(by_file(args, kernel, wanted, gpu) if route == "file" else by_telling(args, kernel, wanted, gpu))
        say(f"{kernel}, {route}, {len(rows)} candidates: done after {time.monotonic() - began:.0f} s")
        return rows

    def write(own):
        rows = with_winners(with_same_revision(args.output, joined(filter(None, own)), *KEYS))
        found = figures(rows)
        write_result(args.output, found, rows)
        return found

    own = spread(give, list(parts(args, kernels, routes)), places(args), write)
    found = write(own)
    return all(own) and found["bad_accepted"] == 0 and found["excellent_ok"] == found["excellent"] and found["won_by_excellent"] == found["searches"]
