"""How well the search strategies find the optimum of recorded spaces, and how well other programs did on the same.

Runs experiments/studies/strategies.json over the spaces and the trajectories in the folders given. Takes no GPU. A study that was stopped
goes on where it was: name its folder by --outdir.
"""
import pathlib

from measurements.common import ROOT, places_of, write_result
from measurements.studies import ablate, part, spaces_of


def options(parser):
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="of recorded spaces")
    parser.add_argument("--seeds", default=100, metavar="N", help="of each strategy")
    parser.add_argument("--study", default="experiments/studies/strategies.json", metavar="FILE", help="a file of the checkout")


def recorded(rows):
    """Other programs over the spaces that each was recorded on, beside the default (the first strategy) on the same ones."""
    rows = [row for row in rows if row["space"] != "all"]
    own = {row["space"]: row["score"] for row in rows if row["strategy"] == rows[0]["strategy"]}
    out = {}
    for name in dict.fromkeys(row["strategy"] for row in rows if row["recorded"]):
        pairs = [(row["score"], own[row["space"]]) for row in rows if row["recorded"] and row["strategy"] == name]
        out[name] = {"spaces": len(pairs), "score": places_of(sum(score for score, _ in pairs) / len(pairs)),
                     "default": places_of(sum(ours for _, ours in pairs) / len(pairs)), "default_ahead_on": sum(ours > score for score, ours in pairs)}
    return out


def measure(args):
    rows = ablate(args, ROOT / args.study, "--seeds", args.seeds, "--spaces", *[pathlib.Path(folder).resolve() for folder in args.folders])
    settings = {row["strategy"].removeprefix("strategy="):
                part(row, {"score": "score", "low": "low", "high": "high", "within_5": "hit5"}
                     | ({"lead": "difference", "lead_low": "difference_low", "lead_high": "difference_high"} if at else {}))
                for at, row in enumerate(row for row in rows if row["space"] == "all")}
    write_result(args.output, {"spaces": spaces_of(rows), "seeds": args.seeds, "settings": settings, "recorded": recorded(rows)}, rows)
