"""Every move on every kernel where it applies.

At the naive kernel and at every rung of its ladder each instance that a move lists is made, built and judged by itself. Counts a move:
listed, refused by the move, accepted (all gates passed), and what became of the others. With --outdir what was judged is not judged
again: a measurement may be done in parts, or side by side. Equal variants count once: other rungs list them again.
"""
import collections
import os
import sys

from measurements.common import LADDERS, apply, elapsed, joined, names, on, one_of, places, read_lines, shared, spread, time_is_over, write_result

MORE = "warpath apply"
STATUSES = ("ok", "refused", "not_applicable", "compile_error", "launch_error", "limits_exceeded", "wrong_result", "rejected", "timed_out", "crashed")
KINDS = {"accepted": ["ok"], "refused": ["refused"], "not_applicable": ["not_applicable"], "wrong": ["wrong_result", "rejected", "crashed", "timed_out"],
         "not_built": ["compile_error", "launch_error", "limits_exceeded"]}
Judged = collections.namedtuple("Judged", "move runner kernel status key")


def options(parser):
    shared(parser, "gpus", "kernels", "limit", stage="screening")
    parser.add_argument("--runners", default="host,cuda", type=names, help="what judges")
    parser.add_argument("--most", default=4, help="instances of a move at a rung")
    parser.add_argument("--rungs", default="all", choices=["all", "0"], help="0: the naive kernel alone")


def paths(args, kernel):
    """The path to each rung of a kernel's ladder, the empty one first."""
    steps = LADDERS[kernel].split("; ")
    return ["; ".join(steps[:rung]) for rung in range(len(steps) + 1 if args.rungs == "all" else 1)]


def judge(args, task, gpu, workers):
    """All instances at one rung, in a file of its own."""
    runner, kernel, rung, path = task
    name = f"{runner}.{kernel}.{rung}"
    if (args.work / f"{name}.jsonl").exists() or time_is_over(args):
        return
    device = [*on(gpu), "--set", f"cuda.compile_workers={workers}"] if runner == "cuda" and gpu else []
    for line in apply(args, name, kernel, path, ["--runner", runner, "--stage", args.stage, "--each", "all", "--most", args.most, *device]):
        if line["aside"] and not line["refusal"] and line["status"] not in ("ok", "not_applicable"):
            print(f"{kernel}: {line['step']}: {line['status']}: {line['log'][:160]}", file=sys.stderr)


def judged(path):
    runner, kernel, _ = path.stem.split(".")
    return [Judged(line["move"], runner, kernel, "refused" if line["refusal"] else line["status"], line["key"]) for line in read_lines(path) if line["aside"]]


def row(move, seen, runners):
    out = {"move": move, "kernels": len({one.kernel for one in seen})}
    for runner in runners:
        count = collections.Counter(one.status for one in seen if one.runner == runner)
        out[f"{runner}_listed"] = count.total()
        out |= {f"{runner}_{'accepted' if status == 'ok' else status}": count[status] for status in STATUSES if status in STATUSES[:2] or count[status]}
    return out


def measure(args):
    where = places(args)
    workers = max(os.cpu_count() // (len(where) + 1), 2)
    tasks = [(runner, kernel, rung, path) for runner in args.runners for kernel in one_of(args.kernels, LADDERS, "kernels") for rung, path in enumerate(paths(args, kernel))]
    spread(lambda task, gpu: judge(args, task, gpu, workers), tasks, where)
    files = sorted(args.work.glob("*.*.*.jsonl"))
    seen = sorted(set(joined(map(judged, files))))
    rows = [row(move, [one for one in seen if one.move == move], args.runners) for move in sorted({one.move for one in seen})]
    found = {"moves": len(rows), "rungs": len(files), "rungs_of": len(tasks), "seconds": int(elapsed())}
    for runner in args.runners:
        own = [one.status for one in seen if one.runner == runner]
        found |= {f"{runner}_listed": len(own)} | {f"{runner}_{kind}": sum(map(own.count, statuses)) for kind, statuses in KINDS.items()}
    write_result(args.output, found, rows)
