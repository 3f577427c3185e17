"""Builds the PyTorch operators of an exported folder, calls them on a workload's inputs and times both kernels in turn.

    called_by_torch.py FOLDER NAME SPEC.json      prints one JSON object
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
from torch.utils import cpp_extension

TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64,
         "int8": torch.int8, "uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64}


def build(folder, name):
    """With the compiler alone, since a machine may have neither CMake nor Ninja."""
    library = folder / f"build/lib{name}_torch.so"
    places = cpp_extension.library_paths() + [str(pathlib.Path(torch.__file__).parent / "lib")]
    cuda = pathlib.Path(os.environ["CUDA"])
    command = ["c++", "-std=c++17", "-O1", "-fPIC", "-shared", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}", f"-I{folder}",
               *(f"-isystem{path}" for path in [*cpp_extension.include_paths(), cuda / "include"]), str(folder / f"{name}_torch.cc"), "-o", str(library),
               f"-L{folder}/build", f"-l{name}", f"-Wl,-rpath,{folder}/build", *(f"-L{path}" for path in places), "-lc10", "-lc10_cuda", "-ltorch",
               "-ltorch_cpu", "-ltorch_cuda"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("the operators do not compile: " + next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:]))
    return library


def tensors_and_numbers(spec, device):
    """The arguments of the first workload for a GPU, in the kernel's order."""
    workload = next((one for one in spec["kernel"]["workloads"] if one.get("target", "any") != "host"), {})
    numbers = {one["name"]: one["value"] for one in spec["kernel"]["io"]["args"] if "value" in one} | workload.get("scalars", {})
    arguments = []
    for one in spec["kernel"]["io"]["args"]:
        if one["type"] != "tensor":
            arguments.append(numbers[one["name"]])
            continue
        shape = [int(eval(str(extent), {"__builtins__": {}}, numbers)) for extent in one["tensor_spec"]["shape"]]
        kind = TYPES[one["tensor_spec"]["dtype"]]
        arguments.append(torch.randn(shape, device=device).to(kind) if kind.is_floating_point else torch.ones(shape, dtype=kind, device=device))
    written = [i for i, one in enumerate(spec["kernel"]["io"]["args"]) if one.get("role") in ("output", "inout")]
    return arguments, written


def block(launch, arguments, launches):
    """Milliseconds of a launch, each between events of its own; and of all of them, for which the device rests."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(launches)]
    launch(*arguments)
    for begin, end in events:
        begin.record()
        launch(*arguments)
        end.record()
    torch.cuda.synchronize()
    total = sum(begin.elapsed_time(end) for begin, end in events)
    time.sleep(min(total, 50) * 1e-3)
    return total / launches


def milliseconds(launch, arguments):
    """Of a launch, as the claimed times were taken: in blocks of some 10 ms with rests between them, once two blocks agree."""
    now, before = block(launch, arguments, 10), 0
    launches, settling = min(max(int(10 / now), 8), 64), 250 / now
    while settling > 0 and abs(now - before) >= 0.005 * before:
        before, now, settling = now, block(launch, arguments, launches), settling - launches
    return block(launch, arguments, launches)


def main():
    folder, name, spec = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], json.loads(pathlib.Path(sys.argv[3]).read_text())
    torch.ops.load_library(str(build(folder, name)))
    operators = getattr(torch.ops, name)
    arguments, written = tensors_and_numbers(spec, "cuda")
    before = [arguments[i].clone() for i in written]
    results, statuses, times = {}, {}, {True: [], False: []}
    for best in (False, True):
        for i, value in zip(written, before):
            arguments[i].copy_(value)
        operators.enable(best)
        statuses[best] = operators.launch(*arguments)
        results[best] = [arguments[i].clone() for i in written]
    for _ in range(9):
        for best in (False, True):
            operators.enable(best)
            times[best].append(milliseconds(operators.launch, arguments))
    agree = all(torch.allclose(a.float(), b.float(), rtol=1e-2, atol=1e-3) for a, b in zip(results[True], results[False]))
    print(json.dumps({"agree": agree, "best_launched": statuses == {False: 1, True: 0}, "count": list(operators.count()),
                      "original_ms": statistics.median(times[False]), "best_ms": statistics.median(times[True])}))


main()
