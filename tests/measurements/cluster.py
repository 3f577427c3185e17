"""What a cluster gains and loses: nodes of a Slurm of this machine alone, with evaluations that only wait.

Four nodes against one; members, tasks, nodes, connections and the engine killed, again and again; a queue; frames between engine and member.
Exit code 1 where an outcome is lost, a queue ends a run, or a search does not end with its budget. Needs Debian's slurmctld, slurmd,
slurm-client, munge.
"""
import json
import os
import random
import signal
import subprocess
import time

from measurements.common import ROOT, WARPATH, Failed, begin, digits, execute, fresh, say, write_result
from measurements.slurm_site import Site, kill, missing

MORE = "warpath run"
SPEC = ROOT / "specs/softmax_scaled.json"
SILENCE = 5


def options(parser):
    parser.add_argument("--nodes", default=4, help="of the site")
    parser.add_argument("--delay", default=100.0, metavar="MS", help="of an evaluation, on average")
    parser.add_argument("--builds", default=200, help="of the searches whose pace is taken")
    parser.add_argument("--kills", default=100, help="in one search")
    parser.add_argument("--lanes", default=64, help="of one engine, against one")
    parser.add_argument("--each", default=60, help="builds of a lane")
    parser.add_argument("--queue", default=60.0, metavar="S", help="in which nothing of the search runs")


class Search:
    def __init__(self, args, site, name, members, builds, *words):
        self.site, self.builds, self.folder, self.said = site, builds, fresh(args.work / name), args.work / f"{name}.txt"
        self.words = ["run", "--input", SPEC, "--outdir", self.folder, "--runner", "synthetic", "--set", f"synthetic.delay_ms={args.delay}",
                      "--finalists", 0, "--budget-builds", builds, "--cluster", f"slurm:main:{members}", "--set", "cluster.address=localhost", *words, *args.more]

    def begin(self, *words):
        with open(self.said, "a", encoding="utf-8") as said:
            self.process = begin([WARPATH, *self.words, *words], stdout=said, stderr=subprocess.STDOUT,
                                 env={**os.environ, **(self.site.environment if self.site else {})})
        return self

    def events(self, kind):
        log = self.folder / "kernels/softmax_scaled/events.jsonl"
        text = log.read_bytes() if log.exists() else b""
        return [event for event in map(json.loads, text[:text.rfind(b"\n") + 1].splitlines()) if event["type"] == kind]

    def runs(self):
        return self.process.poll() is None

    def end(self):
        self.process.wait()
        if self.process.returncode not in (0, 2):
            raise Failed(f"exit code {self.process.returncode}; see {self.said}")
        outcomes = self.events("outcome")
        lost = self.builds - sum("members of the cluster were lost" not in event["outcome"]["log"] for event in outcomes)
        return outcomes, lost


def pace(args, site, members):
    """Outcomes a second, between the first and the last."""
    outcomes, lost = Search(args, site, f"pace.{members}", members, args.builds).begin().end()
    times = sorted(event["at"] for event in outcomes)
    return {"part": "pace", "members": members, "outcomes": len(outcomes), "lost": lost, "per_s": digits((len(times) - 1) / (times[-1] - times[0]))}


def lanes(args, count):
    """One engine with so many evaluations at once, in this process alone."""
    search = Search(args, None, f"lanes.{count}", 0, count * args.each, "--set", f"synthetic.lanes={count}", "--set", "synthetic.knobs=12",
                    "--set", "synthetic.levels=8", "--set", "cluster.members=")
    outcomes, lost = search.begin().end()
    times = sorted(event["at"] for event in outcomes)
    return {"part": "lanes", "lanes": count, "outcomes": len(outcomes), "lost": lost, "per_s": digits((len(times) - 1) / (times[-1] - times[0]))}


def kills(args, site):
    """One search to which everything happens."""
    search = Search(args, site, "kills", args.nodes, 12 * args.kills, "--set", f"cluster.silence_seconds={SILENCE}").begin()
    dice, done = random.Random(1), {"process": 0, "silence": 0, "task": 0, "node": 0, "engine": 0}
    site.wait_for(lambda: len(search.events("outcome")) > 10, "outcomes")
    while sum(done.values()) < args.kills and search.runs():
        kind = dice.choices(list(done), [10, 4, 6, 3, 1])[0]
        members, jobs = site.members(), site.jobs()
        if kind in ("process", "silence") and members:
            kill(dice.choice(members), signal.SIGKILL if kind == "process" else signal.SIGSTOP)
        elif kind == "task" and jobs:
            site.told("scancel", dice.choice(jobs))
        elif kind == "node":
            site.break_down(dice.choice(site.names()))
        elif kind == "engine":
            search.process.kill()
            search.process.wait()
            search.begin("--resume")
        else:
            continue
        done[kind] += 1
        before = len(search.events("outcome"))
        end = time.monotonic() + 60
        while search.runs() and len(search.events("outcome")) < before + 2 and time.monotonic() < end:
            time.sleep(0.1)
    outcomes, lost = search.end()
    text = search.said.read_text()
    return {"part": "kills", "kills": sum(done.values()), **{f"kills_of_{kind}": count for kind, count in done.items()}, "outcomes": len(outcomes), "lost": lost,
            "members_lost": text.count(": lost "), "members_joined": text.count(" joined, ")}


def queue(args, site):
    """All nodes are taken when the search begins; later one is free, then the others."""
    blockers = site.told("sbatch", "--parsable", f"--array=1-{args.nodes}", "--output=/dev/null", "--wrap=sleep 3600").strip()
    site.wait_for(lambda: len(site.told("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%i").splitlines()) == args.nodes, "the others' jobs")
    search = Search(args, site, "queue", args.nodes, args.builds).begin()
    began = time.monotonic()
    time.sleep(args.queue)
    waited = search.runs()
    site.told("scancel", f"{blockers}_1")
    site.wait_for(lambda: len(search.events("outcome")) > 10, "outcomes")
    first = time.monotonic() - began - args.queue
    site.told("scancel", blockers)
    outcomes, lost = search.end()
    return {"part": "queue", "seconds": args.queue, "waited": waited, "seconds_from_a_node_to_10_outcomes": digits(first, 3), "outcomes": len(outcomes), "lost": lost,
            "joined_late": search.said.read_text().count(" joined, ") - 1}


def frames(args):
    """A frame to a member and back, over TCP on this machine."""
    done = execute([ROOT / "build/tests/bench_wire", "--benchmark_filter=bm_member_frame", "--benchmark_format=json"])
    if done.returncode:
        raise Failed("needs build/tests/bench_wire: ninja -C build tests/bench_wire")
    rows = json.loads(done.stdout)["benchmarks"]
    return [{"part": "frame", "bytes": int(row["name"].split("/")[1]), "ms": digits(row["real_time"] / 1e3, 3)} for row in rows]


def measure(args):
    if missing():
        raise Failed(f"not here: {' '.join(missing())}")
    rows = [*frames(args), lanes(args, 1), lanes(args, args.lanes)]
    with Site(fresh(args.work / "site"), args.nodes) as site:
        for part in (lambda: pace(args, site, 1), lambda: pace(args, site, args.nodes), lambda: queue(args, site), lambda: kills(args, site)):
            rows.append(part())
            say(json.dumps(rows[-1]))
    of = {row["part"]: row for row in rows}
    one, all_ = (row["per_s"] for row in rows if row["part"] == "pace")
    lane, many = (row["per_s"] for row in rows if row["part"] == "lanes")
    figures = {"nodes": args.nodes, "pace_over_one": digits(all_ / one, 3), "delay_ms": args.delay, "lanes": args.lanes, "lanes_over_one": digits(many / lane, 3), "kills": of["kills"]["kills"], "outcomes_lost": sum(row.get("lost", 0) for row in rows),
               "queue_s": args.queue, "waited": of["queue"]["waited"], "frame_64_KiB_ms": next(row["ms"] for row in rows if row.get("bytes") == 64 << 10)}
    write_result(args.output, figures, rows)
    return figures["outcomes_lost"] == 0 and figures["waited"] and of["kills"]["kills"] >= args.kills
