"""Takes results home, and files as they are: exports built and tested, an application deployed to and captured, portfolios of twelve shapes, the wheel; a kernel that only nvcc compiles.

Parts take turns over the GPUs; a part that fails is a row that says why. Needs nvcc; PyTorch, CuPy and pip as far as --python has them.
Exit code 1 unless every part is as it should be: times of exports within 2 % of the claim, a captured time within 10 %, a portfolio that
is no slower than the best single kernel and at no shape below 0.98.
"""
import csv
import json
import os
import pathlib
import re
import shutil

from measurements.common import (DATA, Failed, ROOT, WARPATH, digits, execute, expect, last_line, log_lines, on, places, ratio, read_lines, run, say, shared,
                                 spread, time_is_over, write_result)

EXPORTED = ["softmax_scaled", "bias_gelu_res", "sgemm_tn_batched"]
SHAPES = {
    "softmax_scaled": [{"N": elements // columns, "C": columns} for elements in (1 << 20, 1 << 22, 1 << 24) for columns in (128, 512, 2048, 4096)],
    "bias_gelu_res": [{"n": elements, "C": columns} for elements in (1 << 18, 1 << 21, 1 << 24, 1 << 26) for columns in (512, 1024, 4096)],
}
PARTS = [*(f"portfolio {name}" for name in SHAPES), *(f"export {name}" for name in EXPORTED), "deploy", "capture", "wheel", "nvcc"]
FLOOR = 0.98


def options(parser):
    shared(parser, "gpus", "runner", "python", seconds=(20.0, "of each search; of one for a portfolio two and a half times as many"), limit=400.0)
    parser.add_argument("--parts", default=PARTS, type=lambda text: text.split(","), metavar="PART,PART", help="these alone")


def nvcc():
    found = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.access(found, os.X_OK):
        raise Failed("no nvcc on PATH, and NVCC names none")
    return pathlib.Path(found)


def seen(gpu):
    return {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}


def search(args, spec, outdir, gpu, seconds, *words):
    done = expect(run(["run", "--input", spec, "--outdir", outdir, "--runner", args.runner, *on(gpu), "--budget-seconds", seconds,
                       "--budget-builds", 100000, "--no-llm", *words], seconds * 4 + 60), f"the search of {spec}")
    folder = next((outdir / "kernels").iterdir())
    say(last_line(done))
    return folder, json.loads((folder / "best_summary.json").read_text())


def close(measured, claimed, share):
    return bool(measured and claimed) and abs(measured / claimed - 1) <= share


def exported(folder, out, name, gpu):
    """What the test of an exported run prints, built there and timed."""
    expect(run(["export", folder, out]), "the export", (0,))
    expect(execute(["make", "-s", "-j4", "-C", out, f"NVCC={nvcc()}", f"CUDA={nvcc().parent.parent}"], 120), "make", (0,))
    return expect(execute([out / f"build/{name}_test", "--time"], 60, **seen(gpu)), "the exported test", (0,)).stdout


def export(args, name, gpu):
    spec, work = ROOT / f"specs/{name}.json", args.work / f"export-{name}"
    folder, best = search(args, spec, work, gpu, args.seconds)
    out, cuda = work / "exported", str(nvcc().parent.parent)
    tested = exported(folder, out, name, gpu)
    found = re.search(r"original ([\d.]+) ms, best ([\d.]+) ms", tested)
    times = [float(found[1]), float(found[2])] if found else [None, None]
    row = {"claimed_ms": digits(best["best_ms"]), "claimed_speedup": digits(best["speedup"]), "tested": "pass" in tested, "tested_ms": times[1],
           "tested_speedup": ratio(*times), "tested_of_claim": ratio(times[1], best["best_ms"])}
    torch = execute([args.python, DATA / "use/called_by_torch.py", out, name, spec], 150, CUDA=cuda, **seen(gpu))
    called = json.loads(torch.stdout.splitlines()[-1]) if torch.returncode == 0 else {}
    row |= {"torch_ms": digits(called.get("best_ms")), "torch_agrees": called.get("agree", False) and called["best_launched"],
            "torch_of_claim": ratio(called.get("best_ms"), best["best_ms"])}
    if torch.returncode:
        row["torch_failed"] = last_line(torch)
    row["good"] = row["tested"] and row["torch_agrees"] and close(times[1], best["best_ms"], 0.02) and close(called.get("best_ms"), best["best_ms"], 0.02)
    return row


def application_spec(folder):
    """The spec of the application's kernel, whose launch is the application's."""
    tensor = {"shape": ["n"], "dtype": "float32"}
    launch = {"grid": {"x": "ceil_div(n, 256)"}, "block": {"x": 256}}
    spec = {"name": "weighted_mean", "launch": "fixed",
            "kernel": {"source_file": "weighted_mean.cu", "metadata": {"kernel_name": "weighted_mean"}, "io": {"args": [
                {"name": "y", "type": "tensor", "role": "output", "tensor_spec": tensor},
                {"name": "x", "type": "tensor", "role": "input", "tensor_spec": {**tensor, "init": {"kind": "randint", "low": -8, "high": 8}}},
                {"name": "n", "type": "int", "value": 1 << 20}, {"name": "count", "type": "int", "value": 2048}], "launch": launch},
                "workloads": [{"name": "app"}, {"name": "other", "role": "regress", "scalars": {"n": 70001, "count": 64}}]},
            "reference": {"kernel": {"source_file": "weighted_mean.cu", "kernel_name": "weighted_mean", "launch": launch}}}
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(DATA / "use/weighted_mean.cu", folder)
    (folder / "weighted_mean.json").write_text(json.dumps(spec))
    return folder / "weighted_mean.json"


def application(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("weighted_mean.cu", "application.cu"):
        shutil.copy(DATA / "use" / name, folder)
    return folder


def deploy(args, gpu):
    """A given candidate, so that what is searched here is not the question: once where it is faster, once in an application that gets slower by it."""
    work = args.work / "deploy"
    spec, proposals = application_spec(work / "spec"), work / "better.jsonl"
    proposals.write_text(json.dumps({"move": "once", "blocks": (DATA / "use/better.txt").read_text()}) + "\n")
    expect(run(["run", "--input", spec, "--outdir", work / "out", "--runner", args.runner, *on(gpu), "--budget-builds", 1, "--finalists", 1, "--no-llm",
                "--proposals", proposals], 90), "the run", (0,))
    row = {}
    for name, flags in (("kept", ""), ("rolled_back", "$(grep -q 'for (int k' weighted_mean.cu || echo -DLAUNCHES=40000)")):
        app = application(work / name)
        before = (app / "weighted_mean.cu").read_bytes()
        project = work / f"{name}.json"
        project.write_text(json.dumps({
            "root": name, "target_file": "weighted_mean.cu", "context_files": ["application.cu"], "build_command": f"'{nvcc()}' -O2 {flags} application.cu -o app",
            "test_command": "./app test", "benchmark_command": "./app bench", "timing_mode": "printed", "timing_pattern": "took ([0-9.]+) ms",
            "timeout_seconds": 60, "pairs": 5, "accept_contract": True}))
        done = run(["deploy", work / "out/kernels/weighted_mean", "--project", project], 150, **seen(gpu))
        row[name] = {"exit_code": done.returncode, "said": (done.stdout.strip().splitlines() or [last_line(done)])[-1],
                     "unchanged": (app / "weighted_mean.cu").read_bytes() == before}
    reverted = run(["deploy", "--revert", "--project", work / "kept.json"], 60, **seen(gpu))
    row["reverted"] = reverted.returncode == 0 and (work / "kept/weighted_mean.cu").read_bytes() == (DATA / "use/weighted_mean.cu").read_bytes()
    row["good"] = row["kept"]["exit_code"] == 0 and not row["kept"]["unchanged"] and row["rolled_back"]["exit_code"] == 1 and \
        row["rolled_back"]["unchanged"] and row["reverted"]
    return row


def capture(args, gpu):
    work = args.work / "capture"
    app = application(work / "app")
    expect(execute([nvcc(), "-O2", "application.cu", "-o", "app"], 60, app), "nvcc", (0,))
    out = work / "captured"
    expect(run(["capture", "--output", out, "--sources", app / "weighted_mean.cu", "--", app / "app", "bench"], 60, **seen(gpu)), "the capture", (0,))
    launches = json.loads((out / "weighted_mean.launches.json").read_text())["launches"]
    samples = sorted(launches[0]["samples_ns"][1:])
    captured = samples[len(samples) // 2] / 1e6
    lines = work / "lines.jsonl"
    expect(run(["evaluate", "--input", out / "weighted_mean.json", "--runner", args.runner, *on(gpu), "--json", lines], 90), "the spec", (0,))
    line = read_lines(lines)[0]
    return {"launches": sum(one["launches"] for one in launches), "captured_ms": digits(captured), "spec_ms": digits(line["time_ms"]), "status": line["status"],
            "of_captured": ratio(line["time_ms"], captured), "good": line["status"] == "ok" and close(line["time_ms"], captured, 0.1)}


def for_some_sizes(folder):
    """The keys of the kernels that have versions: as the log says what each variant changes, and what it leaves as it was."""
    versions, keys = {}, set()
    for line in log_lines(folder):
        event = json.loads(line) if '"dispatch"' in line else {}
        if event.get("type") != "dispatch":
            continue
        change = event["change"]
        has = bool(change["versions"]) if "versions" in change else versions.get(event["parent"], False)
        versions[event["node"]] = has
        if has:
            keys.add(event["key"])
    return keys


def best_single(folder):
    """The largest speed-up, by the objective, of a kernel that is one for all sizes; of the search."""
    special, best = for_some_sizes(folder), None
    with (folder / "ledger.csv").open() as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and row["valid"] == "1" and row["objective_speedup"] and row["key"] not in special:
                best = max(best or 0, float(row["objective_speedup"]))
    return best


def portfolio(args, name, gpu):
    spec = json.loads((ROOT / f"specs/{name}.json").read_text())
    spec["kernel"]["workloads"] = [{"name": "_".join(map(str, shape.values())), "scalars": shape} for shape in SHAPES[name]]
    work = args.work / f"portfolio-{name}"
    work.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "specs").glob(f"{name}*.cu"):
        shutil.copy(file, work)
    (work / "spec.json").write_text(json.dumps(spec))
    folder, _ = search(args, work / "spec.json", work / "out", gpu, 2.5 * args.seconds, "--finalists", 1)
    chosen = json.loads((folder / "portfolio.json").read_text())
    single = best_single(folder)
    least = min(size["speedup"] for size in chosen["sizes"])
    row = {"shapes": len(chosen["sizes"]), "kernels": len(chosen["kernels"]), "speedup": digits(chosen["speedup"]), "best_single": digits(single),
           "of_best_single": ratio(chosen["speedup"], single), "least_speedup": digits(least), "largest_loss": digits(max(size["loss"] for size in chosen["sizes"])),
           "decisions": [kernel["decision"] for kernel in chosen["kernels"]]}
    tested = exported(folder, work / "exported", name, gpu)
    # of the workloads that a kernel other than the spec's serves, by the exported launcher
    times = re.findall(r"workload (\w+)\n(?:.*\n)*?  original ([\d.]+) ms, best ([\d.]+) ms", tested)
    of_claim = [ratio(float(best), size["time_ms"]) for shape, _, best in times for size in chosen["sizes"] if size["workload"] == shape]
    row |= {"exported": "pass" in tested, "exported_shapes": len(times), "exported_of_claim": [min(of_claim, default=None), max(of_claim, default=None)]}
    row["good"] = single is not None and chosen["speedup"] >= single and least >= FLOOR and row["exported"] and len(times) > 0
    return row


def wheel(args, gpu):
    work = args.work / "wheel"
    expect(execute([args.python, ROOT / "experiments/python/build_wheel", WARPATH, work / "dist"], 60), "build_wheel", (0,))
    # A folder of its own, beside the CuPy that --python has.
    expect(execute([args.python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", work / "env",
                    next((work / "dist").glob("*.whl"))], 60), "pip install", (0,))
    done = expect(execute([args.python, DATA / "use/called_by_cupy.py", ROOT / "specs/softmax_scaled.json", 30], 150, work,
                          PYTHONPATH=str(work / "env"), **seen(gpu)), "the package", (0,))
    called = json.loads(done.stdout.splitlines()[-1])
    row = {"installed": str(work / "env") in called["package"], "speedup": digits(called["speedup"]), "agrees": called["agree"],
           "largest_error": digits(called["largest_error"]), "claimed_ms": digits(called["claimed_ms"]), "cupy_ms": digits(called["best_ms"])}
    row["good"] = row["installed"] and row["agrees"]
    return row


def only_nvcc(args, gpu):
    """The application's kernel beside a function of the host, which NVRTC refuses: searched with nvcc, its time beside that by NVRTC."""
    times = {}
    for backend in ("nvrtc", "nvcc"):
        work = args.work / f"by-{backend}"
        file = application_spec(work)
        if backend == "nvcc":
            spec = json.loads(file.read_text())
            spec["kernel"]["metadata"]["backend"] = backend
            spec["kernel"]["source_file"] = "host.cu"
            file.write_text(json.dumps(spec))
            text = (work / "weighted_mean.cu").read_text()
            (work / "host.cu").write_text("#include <cstdio>\n#include <vector>\n" + text + 'void of_the_host(const std::vector<int>& x) { std::printf("%zu", x.size()); }\n')
        lines = work / "lines.jsonl"
        expect(run(["evaluate", "--input", file, "--runner", args.runner, *on(gpu), "--json", lines, "--set", f"cuda.nvcc={nvcc()}"], 90), backend, (0,))
        line = read_lines(lines)[0]
        times[backend] = line["time_ms"] if line["status"] == "ok" else None
    _, best = search(args, work / "weighted_mean.json", work / "out", gpu, args.seconds / 2, "--set", f"cuda.nvcc={nvcc()}", "--finalists", 1)
    return {"nvrtc_ms": digits(times["nvrtc"]), "nvcc_ms": digits(times["nvcc"]), "of_nvrtc": ratio(times["nvcc"], times["nvrtc"]),
            "builds": best["builds"], "ok": best["by_status"]["ok"], "searched_speedup": digits(best["speedup"]),
            "good": None not in times.values() and best["by_status"]["compile_error"] < best["builds"] / 2}


def measure(args):
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        raise Failed(f"--parts: got {unknown[0]}, expected some of {', '.join(PARTS)}", 2)

    def one(part, gpu):
        what, _, name = part.partition(" ")
        if time_is_over(args):
            return {"name": part, "good": False, "failed": "not begun: the limit of time was reached"}
        try:
            row = {"export": export, "portfolio": portfolio}[what](args, name, gpu) if name else {"deploy": deploy, "capture": capture, "wheel": wheel, "nvcc": only_nvcc}[what](args, gpu)
        except (Failed, OSError, ValueError, KeyError, IndexError, StopIteration) as error:
            row = {"good": False, "failed": f"{type(error).__name__}: {error}"}
        say(f"{part}: {json.dumps(row)}")
        return {"name": part, **row}

    def write(rows):
        rows = [row for row in rows if row]
        write_result(args.output, {"parts": len(rows), "good": sum(row["good"] for row in rows),
                                   "not_good": [row["name"] for row in rows if not row["good"]]}, rows)
        return rows

    rows = write(spread(one, args.parts, places(args), write))
    for row in rows:
        print(f"{row['name']:28} {'good' if row['good'] else 'NOT GOOD':9}", *(f"{key}={value}" for key, value in row.items() if key not in ("name", "good", "decisions")))
    return all(row["good"] for row in rows)
