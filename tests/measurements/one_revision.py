"""Every result file that holds a time of a GPU, measured by one program, part by part as long as there is time.

A part is one other measurement, or some of its kernels or seeds; those of one GPU take turns over the GPUs side by side, all others have the machine for themselves.
What is done is kept in the folder (--output) with its revision, so that a later call, on another machine too, goes on with what is left. A part that is not expected
to end within --limit is left out, unless its file keeps what there is of it. Exit code 1 where a part fails or is left. Needs what its parts need: nvcc, compute-sanitizer, a Python with Triton, PyTorch
and CuPy.
"""
import json
import subprocess
import sys
import time

from measurements.common import LADDERS, PAIRS_ALONE, ROOT, Failed, begin, elapsed, finish, names, places, read_lines, revision, say, shared, spread

RESULT = "out/one_revision"
QUICK = ["--", "--finalists", "1", *PAIRS_ALONE]
TAIL = 30  # seconds by which a part may outlast what is expected
SEARCH = 100.0  # and a search with its finals


class Part:
    """`seconds` that it takes of all GPUs together; `alone`: of the machine, whatever there is of GPUs; `goes_on`: where an earlier call ended, so that it may be begun at any time."""

    def __init__(self, name, words, seconds, file=None, alone=False, goes_on=False):
        self.name, self.words, self.seconds, self.alone, self.goes_on = name, words, seconds, alone, goes_on
        self.file = file or f"{words[0].replace('_', '-')}.json"


def parts(args):
    """(those that have the machine for themselves, in order; those of one GPU)."""
    one = [Part("aa", ["aa"], 60), Part("faults", ["faults"], 130), Part("rules", ["rules"], 120),
           Part("resume", ["resume"], 40, "gpu-resume.json")]
    whole = [Part("throughput", ["throughput"], 70, "gpu-throughput.json", alone=True), Part("scaling", ["scaling"], 70, "gpu-scaling.json", alone=True)]
    whole.append(Part("ladders", ["ladders"], 400))
    whole.append(Part("languages", ["languages", "--python", args.python], 400))
    whole.append(Part("integrity", ["integrity", "--tuned", "0"], 2400))

    def idioms(seeds):
        return Part(f"idioms {seeds}", ["idioms", "--seconds", "60", "--seeds", seeds], 12 * 88 * (1 + seeds.count(",")), goes_on=True)

    def truth(seeds, *mode):
        return Part(f"truth {seeds}{' compete' if mode else ''}", ["truth", "--seeds", seeds, *mode, "--limit", "580", *QUICK], 24 * 22)

    whole.append(idioms("1"))
    for seeds in ("1,2", "3,4", "5,6", "7,8", "9,10"):
        whole += [truth(seeds), truth(seeds, "--compete", "--python", args.python)]
    whole.append(Part("use", ["use", "--python", args.python, "--seconds", "12"], 700))
    for kernels in (sorted(LADDERS)[i:i + 4] for i in range(0, len(LADDERS), 4)):
        some = ",".join(kernels)
        whole.append(Part(f"moves {some}", ["moves", "--add", "--seeds", "1", "--seconds", "30", "--python", args.python, "--kernels", some], 280))
    whole.append(Part("sizes", ["sizes"], 24 * 56, goes_on=True))
    whole.append(idioms("2,3"))
    for seed in "12345":
        whole.append(Part(f"live {seed}", ["search_live", "--seeds", f"{seed},{seed}"], 36 * 34, goes_on=True))
    return whole, one


def options(parser):
    shared(parser, "gpus", "python", limit=(1500.0, "no part is begun that may not end by then"))
    parser.add_argument("--parts", type=names, metavar="NAME,NAME", help="measurements: parts of these alone")


def performed(part, args, gpus):
    """Whether the part succeeded; its output goes beside its file."""
    began, words = time.monotonic(), list(part.words)
    more = words[words.index("--"):] if "--" in words else []
    words = words[:len(words) - len(more)]
    if part.goes_on:
        words += ["--left", "--limit", f"{args.limit - elapsed() - SEARCH:.0f}"]
    chosen = [] if part.name == "scaling" else ["--gpus", ",".join(gpus[:1] if part.name == "throughput" else gpus)]
    file = args.output / part.file
    before = file.stat().st_mtime_ns if file.exists() else None
    log = args.output / f"{part.name.replace(' ', '.').replace(',', '_')}.txt"
    with log.open("a") as out:
        process = begin([sys.executable, ROOT / "tests/measure", *words, *chosen, "--output", file, *more], stdout=out, stderr=subprocess.STDOUT)
        code, _, _ = finish(process, max(1.0, args.limit - elapsed() + TAIL))
    took = round(time.monotonic() - began, 1)
    wrote = file.exists() and file.stat().st_mtime_ns != before
    if wrote and code in ((0,) if part.goes_on else (0, 1)):  # 1: measured, and not all as it should be, or not all
        with (args.output / "done.jsonl").open("a") as out:
            out.write(json.dumps({"part": part.name, "revision": revision(), "code": code, "seconds": took}) + "\n")
    say(f"{part.name}: exit code {code}, {took:.0f} s")
    return code == 0


def measure(args):
    gpus = places(args)
    if gpus == [""]:
        raise Failed("there is no GPU here")
    args.output.mkdir(parents=True, exist_ok=True)
    done = {line["part"] for line in read_lines(args.output / "done.jsonl") if line["revision"] == revision()}
    together, single = [[part for part in some if part.name not in done and (not args.parts or part.words[0] in args.parts)] for some in parts(args)]
    left, good = [], []

    def perform(part, where):
        needs = SEARCH if part.goes_on else part.seconds / (1 if part.alone else len(where))
        if elapsed() + needs > args.limit:
            left.append(part.name)
        else:
            good.append(performed(part, args, where))

    for part in (part for part in together if part.alone):
        perform(part, gpus)
    spread(lambda part, gpu: perform(part, [gpu]), single, gpus)
    for part in (part for part in together if not part.alone):
        perform(part, gpus)
    if left:
        say(f"left for another call: {'; '.join(left)}")
    print(f"{sum(good)} of {len(good)} parts as they should be, {len(left)} left, {elapsed():.0f} s")
    return all(good) and not left
