"""What libraries take for the tasks of the twelve development kernels: PyTorch, and cuBLAS, cuSPARSE and cuDNN through it.

Runs on the first GPU and prints one JSON line a kernel with the fastest way that worked and its median time. Where a library call does
less than the task (no scale, no epilogue) it is taken all the same: it is a yardstick, not a rival. Needs a Python with PyTorch.
"""
import json
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:  # its help is there without
    torch = None

from measurements.common import Failed, ROOT, one_of, shared

RESULT = None
SPECS = ROOT / "specs"


def options(parser):
    shared(parser, "kernels")


def sizes(kernel):
    """Values of the spec's scalars, as its GPU workload has them."""
    spec = json.loads((SPECS / (kernel + ".json")).read_text())
    values = {arg["name"]: arg["value"] for arg in spec["kernel"]["io"]["args"] if "value" in arg}
    for workload in spec["kernel"].get("workloads", []):
        if workload.get("target") == "gpu":
            values.update(workload.get("scalars", {}))
            break
    return values


def randn(*shape, dtype=None):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype or torch.float32)


def compiled(function):
    return torch.compile(function)


def softmax_scaled(s):
    x = randn(s["N"], s["C"])
    return {"torch.softmax, no scale": lambda: torch.softmax(x, -1)}


def groupnorm_silu(s):
    x, w, b = randn(s["B"], s["C"], s["HW"]), randn(s["C"]), randn(s["C"])
    both = lambda: F.silu(F.group_norm(x, s["G"], w, b))
    fused = compiled(both)
    return {"F.group_norm, F.silu": both, "the same under torch.compile": lambda: fused()}


def hist256(s):
    x = torch.randint(0, 256, (s["n"],), device="cuda", dtype=torch.uint8)
    return {"torch.bincount": lambda: torch.bincount(x, minlength=256), "torch.histc": lambda: torch.histc(x, 256, 0, 255)}


def rowscan(s):
    x = randn(s["N"], s["C"])
    return {"torch.cumsum": lambda: torch.cumsum(x, 1)}


def stencil3d_r4(s):
    x = randn(s["nz"], s["ny"], s["nx"])
    c = torch.rand(5, device="cuda").tolist()

    def star():
        n = [size - 8 for size in x.shape]
        part = lambda z, y, w: x[4 + z:4 + z + n[0], 4 + y:4 + y + n[1], 4 + w:4 + w + n[2]]
        out = x.clone()
        inner = c[0] * part(0, 0, 0)
        for r in range(1, 5):
            inner = inner + c[r] * (part(0, 0, -r) + part(0, 0, r) + part(0, -r, 0) + part(0, r, 0) + part(-r, 0, 0) + part(r, 0, 0))
        out[4:-4, 4:-4, 4:-4] = inner
        return out

    fused = compiled(star)
    return {"shifted sums under torch.compile": lambda: fused()}


def spmv_csr(s):
    n, nonzeros = s["n"], s["NNZ"]
    lengths = torch.full((n,), nonzeros // n, device="cuda", dtype=torch.int64)
    lengths += torch.distributions.Exponential(1.0).sample((n,)).cuda().to(torch.int64) * 4 - 4
    rows = torch.cat([torch.zeros(1, device="cuda", dtype=torch.int64), torch.cumsum(lengths.clamp(min=0), 0)]).to(torch.int32)
    count = int(rows[-1])
    columns = torch.randint(0, n, (count,), device="cuda", dtype=torch.int32)
    matrix = torch.sparse_csr_tensor(rows, columns, randn(count), (n, n))
    x = randn(n)
    return {"cuSPARSE, torch CSR @ vector": lambda: torch.mv(matrix, x)}


def bias_gelu_res(s):
    x, b, r = randn(s["n"] // s["C"], s["C"], dtype=torch.bfloat16), randn(s["C"]), randn(s["n"] // s["C"], s["C"], dtype=torch.bfloat16)
    all_of_it = lambda: (F.gelu(x.float() + b, approximate="tanh") + r.float()).to(torch.bfloat16)
    fused = compiled(all_of_it)
    return {"eager": all_of_it, "torch.compile": lambda: fused()}


def sgemm_tn_batched(s):
    a, b = randn(s["BATCH"], s["K"], s["M"]), randn(s["BATCH"], s["K"], s["N"])
    return {"cuBLAS, torch.bmm fp32": lambda: torch.bmm(a.transpose(1, 2), b)}


def gemm_bf16_nt(s):
    a, b = randn(s["M"], s["K"], dtype=torch.bfloat16), randn(s["N"], s["K"], dtype=torch.bfloat16)
    return {"cuBLAS, torch.mm bf16": lambda: torch.mm(a, b.t())}


def grouped_gemm_bf16(s):
    groups, rows = s["G"], s["ROWS"]
    x, w = randn(rows, s["K"], dtype=torch.bfloat16), randn(groups, s["K"], s["N"], dtype=torch.bfloat16)
    parts = torch.distributions.Dirichlet(torch.full((groups,), 4.0)).sample() * rows
    ends = torch.cumsum(parts, 0).round().to(torch.int32).tolist()
    ends[-1] = rows
    out = torch.empty(rows, s["N"], device="cuda", dtype=torch.bfloat16)

    def loop():
        begin = 0
        for g, end in enumerate(ends):
            torch.mm(x[begin:end], w[g], out=out[begin:end])
            begin = end

    ways = {"cuBLAS, torch.mm a group": loop}
    if hasattr(torch, "_grouped_mm"):
        offsets = torch.tensor(ends, device="cuda", dtype=torch.int32)
        ways["torch._grouped_mm"] = lambda: torch._grouped_mm(x, w, offs=offsets)
    return ways


def int8_scaled_mm(s):
    a = torch.randint(-128, 128, (s["M"], s["K"]), device="cuda", dtype=torch.int8)
    b = torch.randint(-128, 128, (s["N"], s["K"]), device="cuda", dtype=torch.int8)
    return {"cuBLAS, torch._int_mm without the scales": lambda: torch._int_mm(a, b.t())}


def attention_causal(s):
    q, k, v = (randn(1, s["H"], s["T"], s["D"]) for _ in range(3))
    return {"F.scaled_dot_product_attention fp32": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)}


def time_us(work):
    """Median of repeated launches, several a sample where one is short, few where one is long; the level-2 cache holds what the launch
    before touched."""
    work()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def sample(launches):
        begin.record()
        for _ in range(launches):
            work()
        end.record()
        end.synchronize()
        return 1000 * begin.elapsed_time(end) / launches

    once = max(sample(1), 1)
    launches = max(1, min(50, int(2000 / once)))
    for _ in range(4 if once < 1e5 else 0):
        work()
    samples = sorted(sample(launches) for _ in range(max(3, min(25, int(1e6 / once)))))
    return samples[len(samples) // 2]


def fastest(kernel):
    """(microseconds, name) of the fastest way; None if none works."""
    times = []
    for name, work in globals()[kernel](sizes(kernel)).items():
        try:
            times.append((time_us(work), name))
        except Exception as error:  # a way that this version of the library lacks
            print(f"{kernel}: {name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", file=sys.stderr)
    return min(times, default=None)


def measure(args):
    kernels = one_of(args.kernels, sorted(path.stem for path in SPECS.glob("*.json") if path.stem != "schema"), "kernels")
    if not torch:
        raise Failed("this Python has no PyTorch")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for kernel in kernels:
        if best := fastest(kernel):
            print(json.dumps({"kernel": kernel, "us": best[0], "yardstick": best[1], "torch": torch.__version__}), flush=True)
        torch.cuda.empty_cache()
