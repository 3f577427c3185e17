"""How many variants a second one GPU verifies, with every screening gate on.

From an empty cache and again from the filled one: 200 configurations of a short kernel and 169 of a long one. For comparison a sample of
the same variants through a fresh Python process each, with nvcc and CuPy (left out where Python, nvcc or CuPy is missing), and, where it is
given, another version of the program on the same lists, in turn.
"""
import json
import os
import time

from measurements.common import DATA, Failed, candidates_of, digits, evaluate, execute, fresh, given_gpus, last_line, median, ratio, say, shared, write_result

RESULT = "docs/results/gpu-throughput.json"
MORE = "warpath evaluate"

# One variant a process, as scripts of this kind do it: compile with nvcc, load, run once, compare with a CuPy reference, time 7 launches.
WORKER = """
import json, subprocess, sys, tempfile
import numpy, cupy
line, source, name = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
launch = line["timings"][0]["launch"]
with tempfile.TemporaryDirectory() as folder:
    major, minor = cupy.cuda.Device().compute_capability[:-1], cupy.cuda.Device().compute_capability[-1]
    flags = ["-D%s=%d" % item for item in line["tunables"].items()]
    subprocess.run(["nvcc", "-cubin", "-arch=sm_%s%s" % (major, minor), "-o", folder + "/k.cubin", source] + flags, check=True)
    kernel = cupy.RawModule(path=folder + "/k.cubin").get_function(name)
rng = numpy.random.default_rng(1)
if name == "fir":
    n = 4190208
    x = cupy.asarray(rng.standard_normal(n + 41, dtype=numpy.float32)); taps = cupy.asarray(rng.standard_normal(42, dtype=numpy.float32))
    out = cupy.full(n, numpy.nan, dtype=numpy.float32)
    arguments = (x, taps, out, numpy.int32(n))
    expected = sum(taps[k].astype(numpy.float64) * x[k:k + n].astype(numpy.float64) for k in range(42))
else:
    m = 2048
    a = cupy.asarray(rng.standard_normal((m, m), dtype=numpy.float32)); b = cupy.asarray(rng.standard_normal((m, m), dtype=numpy.float32))
    out = cupy.full((m, m), numpy.nan, dtype=numpy.float32)
    arguments = (a, b, out, numpy.int32(m), numpy.int32(m), numpy.int32(m))
    expected = a.astype(numpy.float64) @ b.astype(numpy.float64)
kernel(tuple(launch["grid"]), tuple(launch["block"]), arguments, shared_mem=launch["dynamic_smem_bytes"])
assert bool(cupy.allclose(out, expected, rtol=1e-4, atol=1e-3)), "wrong"
begin, end = cupy.cuda.Event(), cupy.cuda.Event()
begin.record()
for _ in range(7):
    kernel(tuple(launch["grid"]), tuple(launch["block"]), arguments, shared_mem=launch["dynamic_smem_bytes"])
end.record(); end.synchronize()
print(cupy.cuda.get_elapsed_time(begin, end) / 7)
"""


def options(parser):
    shared(parser, "runner", "python", gpus=("0", "the one GPU to measure on"))
    parser.add_argument("--sample", default=12, help="variants through Python")
    parser.add_argument("--tunables", default="all", metavar="N", help="variants of each kernel")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier version of the program")


def python_rate(args, kernel, lines):
    """(variants a second of fresh Python processes over a sample, how many); (None, 0) if they cannot run."""
    good = [line for line in candidates_of(lines) if line["status"] == "ok"]
    count = min(args.sample, len(good))
    began, file = time.monotonic(), args.work / "variant.json"
    for line in (good[i * len(good) // args.sample] for i in range(count)):
        file.write_text(json.dumps(line))
        done = execute([args.python, "-c", WORKER, file, DATA / f"throughput/{kernel}.cu", kernel])
        if done.returncode:
            say(f"no comparison with Python: {last_line(done)}")
            return None, 0
    return (digits(count / (time.monotonic() - began)), count) if count else (None, 0)


def rates_of(args, size, kernel, program):
    """(rates by state of the cache, rows, the lines of the cold pass) of one program."""
    name = f"{kernel}.before" if program else kernel
    cache, rates, rows, cold = fresh(args.work / f"cache.{name}"), {}, [], None
    for state in ("cold", "warm"):
        lines, told = evaluate(args, f"{name}.{state}", ["--input", DATA / f"throughput/{kernel}.json", "--tunables", args.tunables, *given_gpus(args)],
                               program=program, WARPATH_CACHE=str(cache))
        rates[state] = {"verified_variants_per_s": told.get("verified_per_s"), "lane_busy": told.get("runner_figures", {}).get("lane_busy")}
        rows.append({"size": size, "kernel": kernel, "cache": state, "program": "before" if program else "this",
                     **{key: told.get(key) for key in ("candidates", "verified", "prepare_s", "baseline_s", "candidates_s")},
                     **rates[state], "with_start_per_s": told.get("verified_per_s_with_start"),
                     "median_time_ms": digits(median(line["time_ms"] for line in candidates_of(lines) if line["status"] == "ok"), 6)})
        cold = cold or lines
    return rates, rows, cold


def measure(args):
    if args.runner == "cuda" and len(args.gpus) != 1:
        raise Failed(f"--gpus: got {','.join(args.gpus)}, expected one", 2)
    rows, found = [], {}
    for size, kernel in (("small", "fir"), ("heavy", "sgemm")):
        found[size], own, cold = rates_of(args, size, kernel, None)
        rows += own
        if args.before:
            earlier, others, _ = rates_of(args, size, kernel, args.before)
            rows += others
            found[size] |= {"before": earlier, "share_of_before": {state: ratio(found[size][state]["verified_variants_per_s"], rates["verified_variants_per_s"])
                                                                   for state, rates in earlier.items()}}
        rate, taken = python_rate(args, kernel, cold)
        found[size] |= {"python_worker_per_s": rate, "python_worker_sample": taken, "ratio_to_python_worker": ratio(own[0]["verified_variants_per_s"], rate)}
    known = [found[size]["ratio_to_python_worker"] for size in ("small", "heavy")]
    write_result(args.output, {**found, "cores": os.cpu_count(), "ratio_to_python_worker": min((ratio for ratio in known if ratio is not None), default=None)}, rows)
