"""Writes docs/results.md: of each file of docs/results its leading figures and first rows."""
import json

from measurements.common import Failed, ROOT, say

RESULT = None
MOST_FIGURES = 16
MOST_WORDS = 6000
HEAD = """# Results

Measured figures, one section a file of `docs/results`: what leads it, and its first rows. The files have all of it. Each names the command
that wrote it; `tests/measure results` made this page of them.
"""


def options(parser):
    parser.add_argument("--check", action="store_true", help="writes nothing; exit code 1 if the page is not what would be written")


def cell(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value).replace("|", "\\|")


def plain(value):
    return not isinstance(value, (dict, list))


def flat(value, name=""):
    """(name, value) of every plain value within `value`; lists are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else key)
    elif not isinstance(value, list):
        yield name, value


def table(rows, most_rows=3, most_columns=5):
    """The first rows and columns of plain values, what a row is about in front."""
    columns = list(dict.fromkeys(key for row in rows for key, value in row.items() if plain(value)))
    columns = sorted(columns, key=lambda column: column not in ("name", "kernel"))[:most_columns]
    lines = [columns, ["---"] * len(columns), *([cell(row.get(key)) for key in columns] for row in rows[:most_rows])]
    return ["", *("| " + " | ".join(line) + " |" for line in lines)] if columns else []


def is_table(value):
    """Of figures: many things by name, each with figures of its own."""
    return isinstance(value, dict) and value and all(isinstance(inner, dict) and any(map(plain, inner.values())) for inner in value.values())


def section(path):
    result = json.loads(path.read_text())
    figures, rows = result["figures"], [row for row in result["rows"] if isinstance(row, dict)]
    tables = {name: [{name: key, **inner} for key, inner in value.items()] for name, value in figures.items() if is_table(value)}
    known = list(flat({name: value for name, value in figures.items() if name not in tables}))
    listed = "; ".join(f"{name} {cell(value)}" for name, value in known[:MOST_FIGURES])
    lines = ["", f"## {path.stem}", "", f"`{result['command']}` at {result['revision'][:12]}, {result['date'][:10]}; {result['device']}. [File](results/{path.name}), "
             f"{len(result['rows'])} rows.", "", listed + (f"; {len(known) - MOST_FIGURES} more." if len(known) > MOST_FIGURES else ".")]
    return lines + ([line for rows in tables.values() for line in table(rows, 6, 8)] if tables else table(rows))


def measure(args):
    lines = [line for path in sorted((ROOT / "docs/results").glob("*.json")) for line in section(path)]
    page, target = HEAD + "\n".join(lines) + "\n", ROOT / "docs/results.md"
    if len(page.split()) > MOST_WORDS:
        raise Failed(f"the page would have {len(page.split())} words, more than {MOST_WORDS}")
    if args.check:
        if not target.exists() or target.read_text() != page:
            raise Failed(f"{target} is not what docs/results says: run tests/measure results")
    else:
        target.write_text(page)
        say(f"wrote {target}, {len(page.split())} words")
