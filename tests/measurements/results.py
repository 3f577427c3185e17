"""Writes docs/results.md, the tables of docs/results/*.json."""
import json

from measurements.common import Failed, ROOT

RESULT = None
MOST_ROWS = 20


def options(parser):
    parser.add_argument("--check", action="store_true", help="writes nothing; exit code 1 if the page is not what would be written")


def cell(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value).replace("|", "\\|")


def flat(value, name=""):
    """(name, value) of every plain value within `value`; lists are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else key)
    elif not isinstance(value, list):
        yield name, value


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(cell(x) for x in row) + " |"


def section(path):
    result = json.loads(path.read_text())
    yield f"## {path.stem}"
    yield ""
    yield (f"`{result['command']}` at {result['revision']}, {result['date']}; device: {result['device']}, "
           f"driver: {result['driver']}. [All of it](results/{path.name}).")
    yield ""
    yield from table(["figure", "value"], flat(result["figures"]))
    rows = [row for row in result["rows"] if isinstance(row, dict)]
    if not rows:
        return
    columns = []
    for row in rows:  # plain values only: what is nested stays in the file
        columns += [key for key, value in row.items() if key not in columns and not isinstance(value, (dict, list))]
    yield ""
    yield from table(columns, ([row.get(key) for key in columns] for row in rows[:MOST_ROWS]))
    if len(rows) > MOST_ROWS:
        yield ""
        yield f"{len(rows) - MOST_ROWS} more rows in the file."


def page():
    lines = ["# Results", "", "Measured figures, one section a file of `docs/results`. Each file was written by the command that it",
             "names; this page was made from them by `tests/measure results`."]
    for path in sorted((ROOT / "docs/results").glob("*.json")):
        lines += ["", *section(path)]
    return "\n".join(lines) + "\n"


def measure(args):
    target, text = ROOT / "docs/results.md", page()
    if not args.check:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        raise Failed(f"{target} is not what docs/results says: run tests/measure results")
