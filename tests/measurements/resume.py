"""What a killed run keeps.

The engine is killed (SIGKILL) in the middle of a search and resumed, again and again until the search has its budget. Then, on a GPU, a
search whose device workers are killed one after the other. Lost: events that a log held before the kill and does not hold, byte for byte,
after it. Exit code 1 where one is lost, or a search does not end with its budget.
"""
import collections
import random
import subprocess
import time

from measurements.common import ROOT, WARPATH, begin, finish, fresh, given_gpus, lines_of, read_lines, say, shared, write_result

RESULT = "docs/results/gpu-resume.json"
MORE = "warpath run"


def options(parser):
    shared(parser, "gpus", "runner")
    parser.add_argument("--spec", default="tests/data/throughput/sgemm.json", help="a file of the checkout")
    parser.add_argument("--builds", default=120, help="of a search")
    parser.add_argument("--kills", default=3, help="of the engine, and of workers")
    parser.add_argument("--apart", default=0.7, metavar="S", help="seconds between two kills of workers")


class Search:
    """A search in a folder of its own, begun as often as it is killed."""

    def __init__(self, args, name):
        spec = ROOT / args.spec
        self.folder, self.said = fresh(args.work / name), args.work / f"{name}.txt"
        self.log = self.folder / "kernels" / spec.stem / "events.jsonl"
        self.words = ["run", "--input", spec, "--outdir", self.folder, "--runner", args.runner, "--budget-builds", args.builds, "--finalists", 0,
                      *args.more, *given_gpus(args)]

    def begin(self, *words):
        with open(self.said, "w", encoding="utf-8") as said:
            self.process = begin([WARPATH, *self.words, *words], stdout=said, stderr=subprocess.STDOUT)

    def runs(self):
        return self.process.poll() is None

    def wait_for(self, condition):
        while self.runs() and not condition():
            time.sleep(0.05)

    def kept(self):
        """The log up to its last line feed."""
        text = self.log.read_bytes() if self.log.exists() else b""
        return text[:text.rfind(b"\n") + 1]

    def outcomes(self):
        return self.kept().count(b'"type":"outcome"')


def lost_between(before, after):
    if after.startswith(before):
        return 0
    gone = collections.Counter(before.splitlines()) - collections.Counter(after.splitlines())
    return max(gone.total(), 1)


def kill_engine(args):
    """The rows of its sessions, and whether the search ended with its budget."""
    search, rows, before, words = Search(args, "engine"), [], b"", []
    while True:
        search.begin(*words)
        words = ["--resume"]
        if len(rows) < args.kills:
            # Killed when this session has recorded something, at a moment that nobody chose.
            search.wait_for(lambda: search.kept().count(b"\n") >= before.count(b"\n") + 6)
            time.sleep(random.randrange(10) / 10)
            search.process.kill()
        code, after = finish(search.process)[0], search.kept()
        rows.append({"killed": "engine", "session": len(rows) + 1, "exit_code": code, "outcomes": search.outcomes(), "lost_events": lost_between(before, after)})
        before = after
        if code != 137:
            return rows, ended(args, search, code, "the engine was")


def ended(args, search, code, what):
    """The search ended by itself, with every build of its budget."""
    good = code in (0, 2) and search.outcomes() == args.builds
    if not good:
        say(f"after {what} killed: {search.said.read_text(errors='replace').strip()[-200:]}")
    return good


def kill_workers(args):
    """The row of the search, and whether it ended with its budget."""
    search, kills = Search(args, "worker"), 0
    search.begin()
    search.wait_for(lambda: search.outcomes() >= 5)
    while kills < args.kills and search.runs():
        for worker in lines_of(["pgrep", "-P", str(search.process.pid), "-f", "worker device"])[:1]:
            kills += subprocess.run(["kill", "-KILL", worker], stderr=subprocess.DEVNULL, check=False).returncode == 0
        time.sleep(args.apart)
    code = finish(search.process)[0]
    crashed = [event["outcome"] for event in read_lines(search.log) if event["type"] == "outcome" and event["outcome"]["status"] == "crashed"]
    return {"killed": "worker", "kills": kills, "exit_code": code, "outcomes": search.outcomes(), "outcomes_crashed": len(crashed),
            "logs": [outcome.get("log", "")[:100] for outcome in crashed]}, ended(args, search, code, "workers were")


def measure(args):
    rows, engine_finished = kill_engine(args)
    found = {"builds": args.builds, "engine_kills": len(rows) - 1, "lost_events": sum(row["lost_events"] for row in rows), "engine_finished": engine_finished,
             "worker_kills": 0, "worker_finished": None, "worker_outcomes_crashed": None}
    if args.runner == "cuda":
        row, found["worker_finished"] = kill_workers(args)
        rows.append(row)
        found |= {"worker_kills": row["kills"], "worker_outcomes_crashed": row["outcomes_crashed"]}
    write_result(args.output, found, rows)
    return found["lost_events"] == 0 and engine_finished and found["worker_finished"] is not False
