"""Studies of experiments/studies, each into a file of its own.

A row a setting and space; the settings over all spaces as figures. Takes no GPU. Without names all that need no files beside them but
graphs. A study that was stopped goes on where it was: name its folder by --outdir.
"""
import json
import re

from measurements.common import Failed, ROOT, digits, expect, names, places_of, run, write_result

RESULT = "docs/results"
STUDIES = "selection backup_beta widening first_play landscapes in_flight moves graph_strategies late".split()
COMPARED = {"behind_first": "difference", "behind_low": "difference_low", "behind_high": "difference_high", "p": "p", "to95_ratio": "to95_ratio",
            "to95_low": "to95_ratio_low", "to95_high": "to95_ratio_high"}


def options(parser):
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="names of studies")
    parser.add_argument("--seeds", type=int, metavar="N", help="of each setting (default: the study's own)")
    parser.add_argument("--spaces", type=names, default=[str(ROOT / "experiments/graphs")], metavar="PATH,PATH", help="files and folders, for studies that name none")


def ablate(args, study, *words, cwd=None):
    """The rows of a study's scores."""
    expect(run(["ablate", study, *words, "--outdir", args.work], cwd=cwd), study.stem)
    return json.loads((args.work / f"ablations/{study.stem}/scores.json").read_text())["rows"]


def over_all(rows):
    return [row for row in rows if row["space"] == "all" and not row.get("recorded")]


def spaces_of(rows):
    return len({row["space"] for row in rows} - {"all"})


def part(row, wanted):
    """Members of a row under other names, rounded."""
    return {name: digits(row.get(key), 3) if key == "p" else places_of(row.get(key)) for name, key in wanted.items()}


def measure(args):
    for name in args.studies or STUDIES:
        file = ROOT / f"experiments/studies/{name.removesuffix('.json')}.json"
        if not file.is_file():
            raise Failed(f"{name}: no study of that name in experiments/studies", 2)
        text = file.read_text()
        given = [] if '"synthetic"' in text or '"landscapes"' in text else ["--spaces", *args.spaces]
        rows = ablate(args, file, *(["--seeds", args.seeds] if args.seeds else []), *given)
        settings = {row["strategy"]: part(row, {"score": "score", "low": "low", "high": "high"} | (COMPARED if at else {})) for at, row in enumerate(over_all(rows))}
        write_result(args.output / f"study-{file.stem}.json",
                     {"spaces": spaces_of(rows), "seeds": args.seeds or int(re.search(r'"seeds": *(\d+)', text)[1]), "settings": settings}, rows)
