"""What the priors are worth on recorded graphs of kernels.

That is evaluations until a search reaches 95 % of the speed of the best variant of the graph, by experiments/studies/priors.json on
graphs that `warpath sweep` recorded; writes priors.json. A kernel's learned model and tactic graph come of the other kernels alone, and
how well these predict it is the second result, leave-one-kernel-out.json. Takes no GPU. A study that was stopped goes on where it was:
name its folder by --outdir.
"""
import json
import pathlib
import re

from measurements.common import Failed, ROOT, expect, geometric_mean, places_of, run, write_result
from measurements.studies import ablate, over_all, part

RESULT = "docs/results"
MEANS = {"rank_correlation": 3, "node_correlation": 3, "log_loss": 4, "uniform_log_loss": 4}


def options(parser):
    parser.add_argument("graphs", nargs="*", metavar="GRAPH.gz", help="of two kernels at least (default: those of experiments/graphs)")
    parser.add_argument("--seeds", default=30, metavar="N", help="of each setting")
    parser.add_argument("--study", default="experiments/studies/priors.json", metavar="FILE", help="a file of the checkout")


def write_folds(args, rows):
    mean = lambda key: sum(row[key] for row in rows) / len(rows)
    write_result(args.output / "leave-one-kernel-out.json", {
        "kernels": len(rows), **{key: places_of(mean(key), places) for key, places in MEANS.items()},
        "better_than_uniform_on": sum(row["log_loss"] < row["uniform_log_loss"] for row in rows), "within_two_deviations": places_of(mean("covered"))}, rows)


def write_studies(folder, source):
    """The study, whose first setting is the default with which the others are compared, and once more with uniform first."""
    study = json.loads(source.read_text())
    (folder / "priors.json").write_text(json.dumps(study))
    at = study["factors"]["run.prior"].index("uniform")
    for values in study["factors"].values():
        values.insert(0, values.pop(at))
    (folder / "priors_uniform.json").write_text(json.dumps(study | {"name": "priors_uniform"}))


def setting(row):
    """A prior, and whether it began with a tactic graph."""
    return re.search(r".*prior=(\S+)", row["strategy"])[1] + ("_with_tactic_graph" if "tactics=" in row["strategy"] else "")


def ratios(row, prefix):
    return part(row, {prefix: "to95_ratio", prefix + "_low": "to95_ratio_low", prefix + "_high": "to95_ratio_high"})


def settings(first, second):
    """Of the rows of both studies."""
    by_space = lambda name, key: [row[key] for row in first if row["space"] != "all" and setting(row) == name]
    over_default = {setting(row): ratios(row, "over_default") for row in over_all(first)}
    return {name: {**ratios(row, "over_uniform"), **over_default[name], "to95": places_of(geometric_mean(by_space(name, "to95")), 1),
                   "reached": places_of(sum(by_space(name, "reached95")) / len(by_space(name, "reached95"))), "tuner_ms": places_of(row["tuner_ms"], 2)}
            for row in over_all(second) for name in [setting(row)]}


def measure(args):
    graphs = [pathlib.Path(graph).resolve() for graph in args.graphs] or sorted(ROOT.glob("experiments/graphs/*.graph.gz"))
    if len(graphs) < 2:
        raise Failed("expected graphs of two kernels at least", 2)
    folds, table = args.work / "folds", args.work / "folds.json"
    expect(run(["train", *graphs, "--output", args.work / "prior_model.json", "--folds", folds, "--json", table]), "train")
    expect(run(["tactics", *graphs, "--outdir", args.work, "--folds", folds]), "tactics")
    write_folds(args, json.loads(table.read_text()))
    # The study names files beside it: it runs where the folds are.
    write_studies(args.work, ROOT / args.study)
    first, second = (ablate(args, args.work / name, "--seeds", args.seeds, "--spaces", *graphs, cwd=args.work) for name in ("priors.json", "priors_uniform.json"))
    write_result(args.output / "priors.json", {"kernels": len(graphs), "seeds": args.seeds, "settings": settings(first, second)}, first)
