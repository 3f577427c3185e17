"""The default search against every baseline on landscapes of moves with known optima, all with the same priors and in the same order.

Runs experiments/studies/deep.json, whose landscapes the search was developed on, deep_held_out.json and deep_fresh.json, whose families and seeds were not, but whose
results were known, and deep_shapes.json, of groups of other shapes than all of these, which was run when it was done; and idle.json and idle_held_out.json, most of
whose moves change nothing, but look as if they did: the search was developed on the first. On coupled.json, on which it was developed too, what is best at one place
depends on the choice at another. AUC: mean over the evaluations of the best gain so far, final: that at the end, as shares of the optimum's; to95: evaluations until it is 0.95; unchanged: share of the evaluations
that ran the machine code of the variant that they were made from. Intervals are percentile bootstraps over landscapes. Takes no GPU.
"""
import collections
import csv
import json
import math
import random

from measurements.common import Failed, ROOT, expect, names, places_of, run, write_result

STUDIES = ["deep", "deep_held_out", "deep_fresh", "deep_shapes", "idle", "idle_held_out", "coupled"]
SEEN = ("deep", "deep_held_out", "idle", "coupled")  # in the rows only
ENOUGH = 0.95
RESAMPLES = 2000


def options(parser):
    parser.add_argument("--studies", default=STUDIES, type=names, metavar="NAME,NAME", help="of experiments/studies; the first values are the search compared with the others")
    parser.add_argument("--seeds", type=int, metavar="N", help="of each setting (default: the study's own)")


def enough_gain(start_ns, optimum_ns):
    return start_ns * (optimum_ns / start_ns) ** ENOUGH


def values_of(line, optimum_ns, enough_ns):
    """What one run came to."""
    budget, curve = int(line["budget"]), []
    steps = [(int(step[0]), float(step[2])) for step in (part.split(":") for part in line["improvements"].split(";"))]
    start_ns = steps[0][1]
    for at, (begin, reached_ns) in enumerate(steps):
        end = steps[at + 1][0] if at + 1 < len(steps) else budget + 1
        curve += [math.log(start_ns / reached_ns) / math.log(start_ns / optimum_ns)] * (end - begin)
    there = next((at for at, reached_ns in steps if reached_ns <= enough_ns(start_ns, optimum_ns)), budget + 1)
    return {"auc": sum(curve) / budget, "final": curve[-1], "log_to95": math.log(there), "unchanged": int(line["unchanged"]) / int(line["evaluations"])}


def landscapes_of(folder, enough_ns=enough_gain):
    """strategy -> landscape -> means over seeds. enough_ns(start, optimum): a time that counts as there."""
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(folder / "runs.csv", newline="") as file:
        for line in csv.DictReader(file):
            best_ns, regret = float(line["best_ns"]), float(line["regret"])
            runs[line["label"].removeprefix("strategy=")][line["space"]].append(values_of(line, best_ns / (1 + regret), enough_ns))
    return {strategy: {space: {key: sum(one[key] for one in all_of) / len(all_of) for key in all_of[0]} for space, all_of in spaces.items()}
            for strategy, spaces in runs.items()}


def mean(values):
    return sum(values) / len(values)


def interval(values):
    """The mean and its percentile bootstrap of 95 %."""
    draws = random.Random(1)
    means = sorted(mean(draws.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return mean(values), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def lead(ours, theirs, spaces):
    """The first strategy less another, and the ratio of their evaluations, paired over landscapes."""
    out = {}
    for key in ("auc", "final"):
        out |= dict(zip((f"{key}_lead", f"{key}_low", f"{key}_high"), map(places_of, interval([ours[space][key] - theirs[space][key] for space in spaces]))))
    ratio = [math.exp(value) for value in interval([ours[space]["log_to95"] - theirs[space]["log_to95"] for space in spaces])]
    return out | dict(zip(("to95_ratio", "ratio_low", "ratio_high"), map(places_of, ratio)))


def figures_of(results, spaces):
    first, *others = results
    out = {}
    for name in [first, *others]:
        out[name] = {"auc": places_of(mean([results[name][space]["auc"] for space in spaces])),
                     "final": places_of(mean([results[name][space]["final"] for space in spaces])),
                     "to95": places_of(math.exp(mean([results[name][space]["log_to95"] for space in spaces])), 1),
                     "unchanged": places_of(mean([results[name][space]["unchanged"] for space in spaces]))}
        if name != first:
            out[name] |= lead(results[first], results[name], spaces)
    return out


def measure(args):
    figures, rows = {}, []
    for study in args.studies:
        file = ROOT / f"experiments/studies/{study}.json"
        if not file.is_file():
            raise Failed(f"{study}: no study of that name in experiments/studies", 2)
        expect(run(["ablate", file, *(["--seeds", args.seeds] if args.seeds else []), "--outdir", args.work]), study)
        results = landscapes_of(args.work / f"ablations/{study}")
        spaces = list(next(iter(results.values())))
        figures[f"{study}_landscapes"] = len(spaces)
        pooled = figures_of(results, spaces)
        if study not in SEEN:
            figures[study] = pooled
        rows += [{"study": study, "group": "all", "strategy": name, **values} for name, values in pooled.items()]
        for part in (0, 1):  # of "family-prior-seed"
            for group in dict.fromkeys(space.split("-")[part] for space in spaces):
                chosen = [space for space in spaces if space.split("-")[part] == group]
                rows += [{"study": study, "group": group, "strategy": name, **values} for name, values in figures_of(results, chosen).items()]
    write_result(args.output, figures, rows)
