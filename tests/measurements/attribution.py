"""What each move on the way to the best kernel of a search is worth.

Runs `warpath run`, `attribute` and `report` of some kernels; a row a move with its verdict, its interval, the inverse's, and what the
code shows. With --outdir the run folders stay, with report.md and report.html. Exit code 1 where a kernel could not be searched or
attributed.
"""
import time

from measurements.common import Failed, ROOT, expect, fresh, joined, on, places, places_of, read_lines, run, say, shared, spread, write_result

MORE = "warpath run"
VERDICTS = ("effective", "neutral", "harmful", "not_realised", "invalid", "unmeasured")


def options(parser):
    shared(parser, "gpus", "runner", kernels="softmax_scaled,rowscan,sgemm_tn_batched")
    parser.add_argument("--builds", default=200, help="of each search")
    parser.add_argument("--repeat", default=5, help="evaluations of each variant without a move")


def explain(args, kernel, gpu):
    """The moves of one kernel's best; none where nothing was gained."""
    began, folder, file = time.monotonic(), fresh(args.work / "kernels" / kernel), args.work / f"{kernel}.jsonl"
    found = expect(run(["run", "--input", ROOT / f"specs/{kernel}.json", "--runner", args.runner, "--outdir", args.work, "--budget-builds", args.builds,
                        *args.more, *on(gpu)]), f"{kernel}: run")
    if found.returncode != 0:
        say(f"{kernel}: nothing was gained")
        return []
    done = expect(run(["attribute", folder, "--repeat", args.repeat, "--json", file, *on(gpu)]), f"{kernel}: attribute", codes=(0,))
    run(["report", folder])
    moves = read_lines(file)
    say(f"{kernel}: {len(moves)} moves after {time.monotonic() - began:.0f} s\n{done.stdout}")
    return [row(kernel, move) for move in moves]


def comparison(ablation, prefix=""):
    """Speed-up and interval of one comparison; None without a time."""
    timed = bool(ablation) and ablation.get("status") == "ok" and "interval" in ablation
    low, high = ablation["interval"] if timed else (None, None)
    return {prefix + "speedup": places_of(ablation["speedup"] if timed else None, 4), prefix + "low": places_of(low, 4), prefix + "high": places_of(high, 4)}


def row(kernel, move):
    code = move.get("code") or {}
    return {"kernel": kernel, "move": move["move"], "verdict": move["verdict"], "also_without": move["without"].get("also_without", []), **comparison(move["without"]),
            **comparison(move.get("reverse"), "undone_"), "whole": comparison(move.get("whole")), "control": comparison(move.get("control")),
            "realised": code.get("realised"), "tool": code.get("tool", ""), "seen": code.get("why", "")}


def measure(args):
    failed = []

    def one(kernel, gpu):
        try:
            return explain(args, kernel, gpu)
        except Failed as error:  # others are measured all the same
            say(error)
            failed.append(kernel)
            return []

    rows = joined(spread(one, args.kernels, places(args)))
    if not rows:
        raise Failed("no row")
    write_result(args.output, {"kernels": len({row["kernel"] for row in rows}), "moves": len(rows),
                               **{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}}, rows)
    return not failed
