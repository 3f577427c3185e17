"""What it is worth to compile the first proposals of a node and rank them by what that tells, before any is measured.

Runs experiments/studies/draft.json on recorded graphs of kernels: searches with the prior drafted against the same with tactics, which it is without drafts. The
model that ranks a kernel's proposals was trained on the other kernels alone. to95: evaluations until 95 % of the speed of the graph's best, ratio: those with drafts
over those without, its interval a percentile bootstrap over graphs, which are few. What is compiled and not measured does not count as an evaluation. node_correlation
and log_loss: how well a model predicts a kernel that it was not trained on, and uniform_log_loss a prior that knows only how often moves improve. default_over: evaluations of
the default, which drafts, over those of each other strategy without drafts and with them. Takes no GPU.
"""
import json
import pathlib

from measurements.common import Failed, ROOT, expect, places_of, run, write_result
from measurements.search_deep import ENOUGH, figures_of, landscapes_of, lead, mean


def options(parser):
    parser.add_argument("graphs", nargs="*", metavar="GRAPH.gz", help="of two kernels at least (default: those of experiments/searched_graphs)")
    parser.add_argument("--seeds", type=int, metavar="N", help="of each setting (default: the study's own)")


def named(setting):
    return dict(part.split("=") for part in setting.split())


def default_over_others(results, spaces):
    """strategy -> evaluations of the default, which drafts, over those of the strategy without drafts, and the same with them."""
    settings = {(named(setting)["strategy"], named(setting)["prior"]): setting for setting in results}
    default = results[settings["auto", "drafted"]]
    ratio = lambda other: {key.removeprefix("to95_"): value for key, value in lead(default, results[other], spaces).items() if "ratio" in key}
    return {strategy: {name: ratio(settings[strategy, prior]) for name, prior in (("without", "tactics"), ("with", "drafted"))}
            for strategy, prior in settings if prior == "drafted" and strategy != "auto"}


def with_and_without(results, spaces):
    """strategy -> its evaluations with drafts and without."""
    out = {}
    for setting in results:
        if named(setting)["prior"] != "drafted":
            continue
        without = setting.replace("drafted", "tactics")
        pair = figures_of({name: results[name] for name in (setting, without)}, spaces)
        found = lead(results[setting], results[without], spaces)
        out[named(setting)["strategy"]] = {"with": pair[setting]["to95"], "without": pair[without]["to95"],
                                           **{key.removeprefix("to95_"): found[key] for key in ("to95_ratio", "ratio_low", "ratio_high", "auc_lead", "final_lead")}}
    return out


def measure(args):
    graphs = [pathlib.Path(graph).resolve() for graph in args.graphs] or sorted(ROOT.glob("experiments/searched_graphs/*.graph.gz"))
    if len(graphs) < 2:
        raise Failed("expected graphs of two kernels at least", 2)
    table, study = args.work / "folds.json", args.work / "draft.json"
    expect(run(["train", *graphs, "--drafts", "--output", args.work / "draft_model.json", "--folds", args.work / "folds", "--json", table]), "train")
    study.write_text((ROOT / "experiments/studies/draft.json").read_text())  # it names files beside it
    expect(run(["ablate", study, *(["--seeds", args.seeds] if args.seeds else []), "--spaces", *graphs, "--outdir", args.work], cwd=args.work), study.stem)
    results = landscapes_of(args.work / "ablations/draft", lambda start_ns, optimum_ns: optimum_ns / ENOUGH)
    spaces = list(next(iter(results.values())))
    folds = json.loads(table.read_text())
    rows = [{"group": group, "strategy": name, **values} for group, chosen in {"all": spaces, **{space: [space] for space in spaces}}.items()
            for name, values in with_and_without(results, chosen).items()]
    write_result(args.output, {
        "graphs": len(spaces), "settings": with_and_without(results, spaces), "default_over": default_over_others(results, spaces),
        **{key: places_of(mean([fold[key] for fold in folds])) for key in ("node_correlation", "log_loss", "uniform_log_loss")}}, rows + folds)
