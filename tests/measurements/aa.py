"""One kernel against itself: how often interleaved pairs find no difference where there is none.

Exit code 1 where fewer than 95 % of the answers are "no difference".
"""
from measurements.common import ROOT, candidates_of, evaluate, given_gpus, shared, write_result

MORE = "warpath evaluate"


def options(parser):
    shared(parser, "gpus", "runner")
    parser.add_argument("--spec", default="tests/data/throughput/fir.json", help="its kernel, a file of the checkout")
    parser.add_argument("--times", default=200, help="evaluations")


def answer(line):
    """What the gate found, in a word."""
    details = [gate["detail"] for gate in line["verdict"] if gate["gate"] == "interleaved_pairs"]
    return next((word for word in ("no difference", "faster", "slower") if details and details[0].startswith(word)), "none")


def measure(args):
    lines, told = evaluate(args, "aa", ["--input", ROOT / args.spec, "--repeat", args.times, "--stage", "confirmation", *given_gpus(args)])
    rows = [{"repetition": line["repetition"], "status": line["status"], "answer": answer(line), "speedup": line.get("speedup")} for line in candidates_of(lines)]
    count = {word: sum(row["answer"] == word for row in rows) for word in ("no difference", "faster", "slower", "none")}
    same = count["no difference"] / len(rows) if rows else 0
    write_result(args.output, {"spec": args.spec, "times": len(rows), "no_difference": count["no difference"], "faster": count["faster"], "slower": count["slower"],
                               "without_answer": count["none"], "same_share": same, "wall_s": told.get("wall_s")}, rows)
    return same >= 0.95
