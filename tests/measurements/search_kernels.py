"""The default search against every baseline on recorded graphs of kernels, all with the same prior and in the same order.

Runs experiments/studies/kernels.json. The graph's best is the best variant that its moves lead to. AUC: mean over the evaluations of ln(baseline / best so far),
final: that at the end, as shares of the graph's best; to95: evaluations until 95 % of its speed; several_moves: the graphs on which no single move comes so far, so that
a search is more than the order of the first moves; unchanged: share of the evaluations that ran the machine code of the variant that they were made from. The
search was not developed on kernels that are held out, but for the number of the root's first moves and the share of inner tuning. The figures are the default's
evaluations to 95 % over those of each other strategy, without drafts; the rows have all. Intervals are percentile bootstraps over graphs, which are few. Takes no GPU.
"""
import gzip
import json
import pathlib

from measurements.common import Failed, ROOT, expect, run, write_result
from measurements.search_deep import ENOUGH, figures_of, landscapes_of

DEVELOPED_ON = ("bias_gelu_res", "sgemm_tn_batched", "softmax_scaled", "stencil3d_r4")


FOLDERS = ("searched_graphs", "climbed_graphs")  # of experiments


def options(parser):
    parser.add_argument("graphs", nargs="*", metavar="GRAPH.gz", help="of kernels (default: those of experiments/searched_graphs and climbed_graphs)")
    parser.add_argument("--seeds", type=int, metavar="N", help="of each strategy (default: the study's own)")


def takes_several_moves(graph):
    """(its name, whether no variant one move away is at 95 % of the speed of the best that moves lead to)"""
    with gzip.open(graph, "rt") as file:
        head, *variants = map(json.loads, file)
    times, targets = [one.get("time_ns") for one in variants], [[action[3] for action in one.get("actions", [])] for one in variants]
    rows, seen = [0], {0}
    for row in rows:
        new = [] if times[row] is None else [target for target in dict.fromkeys(targets[row]) if target not in seen]
        rows += new
        seen |= set(new)
    fastest = min(times[row] for row in rows if times[row])
    return head["name"], not any(times[row] and times[row] * ENOUGH <= fastest for row in targets[0])


def measure(args):
    graphs = ([pathlib.Path(graph).resolve() for graph in args.graphs] or
              sorted(graph for folder in FOLDERS for graph in ROOT.glob(f"experiments/{folder}/*.graph.gz")))
    several = dict(map(takes_several_moves, graphs))
    study = ROOT / "experiments/studies/kernels.json"
    expect(run(["ablate", study, *(["--seeds", args.seeds] if args.seeds else []), "--spaces", *graphs, "--outdir", args.work]), study.stem)
    results = landscapes_of(args.work / "ablations/kernels", lambda start_ns, optimum_ns: optimum_ns / ENOUGH)
    spaces = list(next(iter(results.values())))
    if len(spaces) != len(graphs):
        raise Failed(f"{len(graphs)} graphs, of which {len(spaces)} were searched")
    groups = {"all": spaces, "developed": [space for space in spaces if space in DEVELOPED_ON], "held_out": [space for space in spaces if space not in DEVELOPED_ON],
              "several_moves": [space for space in spaces if several[space]]}
    groups = {name: figures_of(results, chosen) for name, chosen in groups.items() if chosen}
    groups |= {space: figures_of(results, [space]) for space in spaces}
    rows = [{"group": group, "strategy": name, **values} for group, figures in groups.items() for name, values in figures.items()]
    write_result(args.output, {"graphs": len(spaces), **{name: {other: values.get("to95_ratio") for other, values in groups[name].items() if other != next(iter(results))}
                                                         for name in ("all", "held_out", "several_moves") if name in groups}}, rows)
