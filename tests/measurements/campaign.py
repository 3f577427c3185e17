"""What a long campaign costs: seconds to resume it, bytes on disk and in memory, by the evaluations so far.

A synthetic campaign of each strategy, side by side, is grown from size to size by resuming it. At each size it is resumed after it ended,
and after it was killed (SIGKILL) while it went on. Seconds are from the start of the program until it has recorded that it works on the
run: `cpu` those of a processor, which a busy machine leaves as they are. Memory a node is the most that the program took at that size beyond
the most for a hundred evaluations; own memory is the last that was seen of what the system cannot take away from the program: what lies in
files (docs/run-folder.md) it can. Growing, from the size before: evaluations a second, milliseconds of a processor for each, and every
--apart evaluations how many there are, the memory that the program then has, and of that its own. Needs no GPU.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import threading
import time

from measurements.common import Failed, ROOT, WARPATH, begin, cpu, digits, fresh, say, shared, time_is_over, write_result

RESULT = "docs/results/campaign.json"
MORE = "warpath run"
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
FIGURES = ("evaluations", "resume_s", "resume_cpu_s", "disk_bytes_a_variant", "memory_bytes_a_node", "own_memory_bytes", "growing_cpu_ms")
RESUMED, PROGRESS = re.compile(r"resumed after (\d+)"), re.compile(r"\] (\d+)/\d+ ")
KINDS = {"log": ("events.", ), "tables": ("ledger.csv", "trace.md"), "snapshot": ("search_state.", "variants.records"), "folders": ("variants", "baseline")}


def options(parser):
    shared(parser, limit=(3000.0, "no size is begun after so many seconds"))
    parser.add_argument("--strategies", default="guided,mcgs", help="of search.strategy")
    parser.add_argument("--sizes", default="10000,100000,300000,1000000", help="evaluations, ascending")
    parser.add_argument("--apart", default=100000, metavar="N", help="evaluations between two looks at the memory")
    parser.add_argument("--knobs", default=12, help="tunables of the landscape, of four values each")
    parser.add_argument("--killed-after", default=5.0, metavar="S", help="seconds that a resumed campaign goes on until it is killed")


class Campaign:
    def __init__(self, args, strategy, name):
        self.apart = args.apart
        self.out = fresh(args.work / name)
        self.folder = self.out / "kernels/softmax_scaled"
        self.words = ["run", "--input", ROOT / "specs/softmax_scaled.json", "--outdir", self.out, "--runner", "synthetic", "--finalists", 0, "--set", f"search.strategy={strategy}",
                      "--set", f"synthetic.knobs={args.knobs}", "--set", "record.sync=batch", "--set", "record.memory=false", *args.more]

    def log_size(self):
        return sum(path.stat().st_size for path in self.folder.glob("events.*"))

    def resume(self, budget):
        """The process that resumes it, and its seconds until then: (process, wall, cpu)."""
        before, start = self.log_size(), time.monotonic()
        process = begin([WARPATH, *self.words, "--resume", "--budget-builds", budget], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and self.log_size() == before:
            time.sleep(0.005)
        wall = time.monotonic() - start
        spent = cpu_seconds(process.pid)
        return process, wall, spent

    def grow(self, budget, words=()):
        """To so many evaluations: (what the process used, its seconds, those before, [evaluations, bytes of memory, its own] as it went)."""
        start, before, looks = time.monotonic(), 0, []
        process = begin([WARPATH, *self.words, *words, "--budget-builds", budget], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        for line in process.stderr:
            resumed, done = RESUMED.search(line), PROGRESS.search(line)
            before = int(resumed[1]) if resumed else before
            if done and int(done[1]) // self.apart > (looks[-1][0] // self.apart if looks else before // self.apart):
                looks.append([int(done[1]), *memory_of(process.pid)])
        return ended(process), time.monotonic() - start, before, looks

    def bytes(self):
        """On disk, as blocks, by kind."""
        out = dict.fromkeys([*KINDS, "other"], 0)
        for path in [self.folder, *self.folder.rglob("*")]:
            top = path.relative_to(self.folder).parts[:1]
            kind = next((kind for kind, names in KINDS.items() if top and top[0].startswith(names)), "other")
            out[kind] += path.lstat().st_blocks * 512
        return out


def cpu_seconds(pid):
    """Of a running process, and of its children that ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) / TICK


def memory_of(pid):
    """(Resident, its own of that), in bytes."""
    _, resident, shared_with_files = map(int, pathlib.Path(f"/proc/{pid}/statm").read_text().split()[:3])
    return resident * PAGE, (resident - shared_with_files) * PAGE


def ended(process):
    """What a process used, when it has ended well."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise Failed(f"{' '.join(map(str, process.args))}: exit code {process.returncode}")
    return usage


def rows_of(args, strategy, done):
    campaign, words, base = Campaign(args, strategy, strategy), [], None
    for size in map(int, args.sizes.split(",")):
        if time_is_over(args):
            say(f"{strategy}: {size} evaluations are left out for want of time")
            break
        base = base or Campaign(args, strategy, f"{strategy}.base").grow(100)[0].ru_maxrss * 1024
        used, seconds, before, looks = campaign.grow(size, words)
        memory, grown = used.ru_maxrss * 1024, max(size - before, 1)
        words = ["--resume"]
        disk = campaign.bytes()
        process, wall, spent = campaign.resume(size + size // 10)
        time.sleep(args.killed_after)
        process.kill()
        process.wait()
        again, killed_wall, killed_spent = campaign.resume(size)
        ended(again)
        done({"strategy": strategy, "evaluations": size, "resume_s": digits(wall), "resume_cpu_s": spent, "killed_resume_s": digits(killed_wall),
              "killed_resume_cpu_s": killed_spent, "memory_bytes": memory, "memory_bytes_a_node": digits((memory - base) / size),
              "own_memory_bytes": looks[-1][2] if looks else None,
              "growing_per_s": digits(grown / seconds), "growing_cpu_ms": digits(1e3 * (used.ru_utime + used.ru_stime) / grown), "memory_over_time": looks,
              "disk_bytes_a_variant": digits(sum(disk.values()) / size), **{f"disk_{kind}": value for kind, value in disk.items()}})


def measure(args):
    strategies, rows, lock = args.strategies.split(","), [], threading.Lock()

    def done(row):
        """Written at once: a measurement that is ended from outside has what was measured."""
        with lock:
            rows.append(row)
            rows.sort(key=lambda one: (strategies.index(one["strategy"]), one["evaluations"]))
            largest = {one["strategy"]: {key: one[key] for key in FIGURES} for one in rows}
            write_result(args.output, {"cpu": cpu(), "largest": largest}, rows)

    with concurrent.futures.ThreadPoolExecutor(len(strategies)) as pool:
        list(pool.map(lambda strategy: rows_of(args, strategy, done), strategies))
