"""What becomes of the candidates of tests/data/proposals, given to searches by a file and one by one through `warpath tell`.

What is excellent must win, what is wrong or cheats must be refused: else exit code 1. All gates up to confirmation judge every candidate.
"""
import json
import time

from measurements.common import DATA, ROOT, expect, fresh, joined, names, on, one_of, places, read_lines, run, say, shared, spread, write_result

MORE = "warpath run"
LISTS = DATA / "proposals"


def options(parser):
    shared(parser, "gpus", "runner", "kernels")
    parser.add_argument("--routes", default="file,tell", type=names, help="file, tell or both")
    parser.add_argument("--each", type=int, metavar="N", help="candidates told to one run (default: all of a kernel)")
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
    return {"kernel": kernel, "route": route, "candidate": candidate["move"], "kind": candidate["why"].split(":")[0], **found}


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


def by_telling(args, kernel, wanted, first, gpu):
    """A row a candidate told to one run; who won is known when all runs are over."""
    folder = search(args, f"{kernel}.tell.{first}", kernel, ["--budget-builds", 1, "--finalists", 0, *on(gpu)])
    for candidate in wanted[first:first + (args.each or len(wanted))]:
        answer = tell(LISTS / kernel, folder, candidate)
        verdict = answer.get("verdict", "")
        yield row(kernel, "tell", candidate, verdict=answer.get("status", answer.get("why")),
                  gate=verdict.removeprefix("refused by gate ") if verdict.startswith("refused") else None,
                  won=False, run_speedup=answer["speedup"] if answer.get("status") == "ok" else None)


def figures(rows, kernels, routes):
    count = lambda kind, **want: sum(row["kind"] == kind and all(row[key] == value for key, value in want.items()) for row in rows)
    bad = [row for row in rows if row["kind"] in ("wrong", "cheating")]
    return {"kernels": len(kernels), "candidates": len(rows), "excellent": count("excellent"), "excellent_ok": count("excellent", verdict="ok"),
            "searches": len(kernels) * len(routes), "won_by_excellent": count("excellent", won=True), "bad": len(bad), "bad_accepted": sum(row["verdict"] == "ok" for row in bad),
            "bad_refused_by_gate": sum(row["gate"] is not None for row in bad),
            "bad_not_compiled": sum(row["gate"] is None and row["verdict"] == "compile_error" for row in bad)}


def measure(args):
    kernels = one_of(args.kernels, sorted(path.name for path in LISTS.iterdir() if path.is_dir()), "kernels")
    routes = one_of(args.routes, ["file", "tell"], "routes")
    lists = {kernel: read_lines(LISTS / kernel / "list.jsonl") for kernel in kernels}
    tasks = []
    for kernel in kernels:
        tasks += [(kernel, None)] if "file" in routes else []
        tasks += [(kernel, first) for first in range(0, len(lists[kernel]), args.each or len(lists[kernel]))] if "tell" in routes else []

    def give(task, gpu):
        (kernel, first), began = task, time.monotonic()
        rows = list(by_file(args, kernel, lists[kernel], gpu) if first is None else by_telling(args, kernel, lists[kernel], first, gpu))
        say(f"{kernel}, {'by file' if first is None else f'told from {first + 1}'}: done after {time.monotonic() - began:.0f} s")
        return rows

    rows = joined(spread(give, tasks, places(args)))
    for kernel in kernels:
        told = [row for row in rows if row["kernel"] == kernel and row["route"] == "tell"]
        best = max((row["run_speedup"] for row in told if row["run_speedup"] is not None), default=None)
        for row in told:
            row["won"] = row["run_speedup"] is not None and row["run_speedup"] == best
    found = figures(rows, kernels, routes)
    write_result(args.output, found, rows)
    return found["bad_accepted"] == 0 and found["excellent_ok"] == found["excellent"] and found["won_by_excellent"] == found["searches"]
