"""Half good, half faulty candidates in random order: what becomes of each.

Every good one must be measured, none may get lost, no faulty one may pass, no time limit may be exceeded by more than a second: else exit
code 1. The candidates are written for the spec tests/data/integrity/twice, every one a source of its own.
"""
import collections
import json
import random

from measurements.common import DATA, candidates_of, evaluate, fresh, given_gpus, shared, write_result

MORE = "warpath evaluate"
HEAD = """extern "C" __global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
"""
GOOD = "  if (i < n) y[i] = 2.0f * x[i];\n"
# A body after HEAD; @ is a number that makes every source another one, MARK a statement with it. With members beside the source.
MARK = "  if (n == -@) y[0] = @.0f;\n"
BODIES = {
    "illegal_store": (GOOD + MARK + "  if (i == 0) y[1LL << 40] = 1.0f;\n}", {}),
    "illegal_load": (MARK + "  if (i < n) y[i] = 2.0f * x[i + (1LL << 38)];\n}", {}),
    "trap": (GOOD + MARK + "  if (i == n / 2) __trap();\n}", {}),
    "hang": (GOOD + MARK + "  while (*(volatile const float*)x == *(volatile const float*)x) {}\n}", {}),
    "shared_memory": (GOOD + MARK + "}", {"launch": {"dynamic_smem_bytes": 300000}}),
    "threads": (GOOD + MARK + "}", {"launch": {"grid": {"x": "ceil_div(n, 4096)"}, "block": {"x": 4096}}}),
    "registers": (MARK + """  float v[180];
#pragma unroll
  for (int k = 0; k < 180; ++k) v[k] = ((volatile const float*)x)[(i + 977 * k) % n];
  float s = 0;
#pragma unroll
  for (int k = 0; k < 180; ++k) { s = s * v[k] + v[179 - k]; asm volatile("" ::: "memory"); }
  if (i < n) y[i] = 2.0f * x[i] + (s == 1.5f ? 1.0f : 0.0f);
}""", {"launch": {"grid": {"x": "ceil_div(n, 1024)"}, "block": {"x": 1024}}, "compiler_options": ["--maxrregcount=255"]}),
    "printf": (GOOD + MARK + '  for (int k = 0; k < 1000; ++k) printf("flood %d %d\\n", i, k);\n}', {}),
    "syntax": (GOOD + "  this is { no C++ @;\n", {}),
    "error_directive": (GOOD + "}", {}),
    "template_bomb": (GOOD + MARK + "  if (n == -1) y[0] = T<@, 40>::v;\n}", {}),
    "memory_bomb": (GOOD + "  M<30>::t all;\n  (void)all;\n}", {}),
    "log_flood": (GOOD + MARK + "  W4\n}", {}),
    "deep_stack": (MARK + "  if (i < n) y[i] = 2.0f * x[i] + down(x, n) * 1e-30f;\n}", {}),
    "not_a_number": (MARK + "  if (i < n) y[i] = 0.0f / 0.0f;\n}", {}),
    "overwrites_neighbours": (GOOD + MARK + "  if (i < 1024) y[n + (2 << 20) + 4 * i] = 1.0f;\n}", {}),
}
BEFORE = {
    "printf": 'extern "C" __device__ int printf(const char*, ...);\n',
    "error_directive": "#error number @\n",
    "template_bomb": """template <unsigned long long A, unsigned long long B> struct T { static const unsigned v = T<A * 2, B - 1>::v + T<A * 2 + 1, B - 1>::v; };
template <unsigned long long A> struct T<A, 0> { static const unsigned v = 1; };
""",
    "memory_bomb": """template <int... I> struct L {};
template <class A, class B> struct C;
template <int... I, int... J> struct C<L<I...>, L<J...>> { typedef L<I..., J...> t; };
template <int N> struct M { typedef typename C<typename M<N - 1>::t, typename M<N - 1>::t>::t t; };
template <> struct M<0> { typedef L<@> t; };
""",
    "log_flood": "#define W0 int a = undeclared;\n" + "".join(f"#define W{i + 1}{f' W{i}' * 8}\n" for i in range(4)),
    "deep_stack": """__device__ __noinline__ float down(const float* x, int d) { volatile float f[64]; f[d & 63] = x[d & 1023]; """
                  """return d <= 0 ? f[0] : down(x, d - 1) + f[d & 63] * 1e-30f; }
""",
}


def options(parser):
    shared(parser, "gpus", "runner")
    parser.add_argument("--count", default=400, help="candidates")
    parser.add_argument("--seed", default=1, help="of their order")
    parser.add_argument("--launch-seconds", default=1.0, help="limit of a launch")
    parser.add_argument("--compile-seconds", default=5.0, help="limit of a compilation")


def candidate(number):
    """Good with an odd number, else faulty in turn."""
    if number % 2:
        return {"name": f"good_{number}", "expect": "ok", "source": HEAD + GOOD + f"  if (n == -{number}) y[0] = {number}.0f;\n}}"}
    kind = list(BODIES)[number // 2 % len(BODIES)]
    body, members = BODIES[kind]
    return {"name": f"{kind}_{number}", "expect": "refused", "source": (BEFORE.get(kind, "") + HEAD + body).replace("@", str(number)), **members}


def overrun(line, args):
    """By how much a limit was exceeded, in seconds."""
    compiled, ran = line.get("compile_s", 0), line.get("run_s", 0)
    launch = ran - args.launch_seconds if line["status"] == "timed_out" and compiled < args.compile_seconds else 0
    return max(compiled - args.compile_seconds, launch, 0)


def measure(args):
    planned = [candidate(number) for number in range(1, args.count + 1)]
    random.Random(args.seed).shuffle(planned)
    file = args.work / "list.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in planned))
    lines, told = evaluate(args, "faults", ["--input", DATA / "integrity/twice/spec.json", "--candidates", file, *given_gpus(args), "--set",
                                            f"{args.runner}.launch_seconds={args.launch_seconds}", "--set", f"{args.runner}.compile_seconds={args.compile_seconds}"],
                           WARPATH_CACHE=str(fresh(args.work / "cache")))
    ends = collections.defaultdict(list)
    for line in candidates_of(lines):
        ends[line["name"].rsplit("_", 1)[0], line["status"]].append(line)
    rows = [{"kind": kind, "status": status, "count": len(lines), "longest_compile_s": round(max(line.get("compile_s", 0) for line in lines), 3),
             "longest_run_s": round(max(line.get("run_s", 0) for line in lines), 3),
             "worst_overrun_s": round(max(overrun(line, args) for line in lines), 3)} for (kind, status), lines in sorted(ends.items())]
    found = {"candidates": len(planned), "good": sum(line["expect"] == "ok" for line in planned), "measured": len(ends["good", "ok"]),
             "lost": len(planned) - sum(row["count"] for row in rows), "faulty_accepted": sum(row["count"] for row in rows if row["kind"] != "good" and row["status"] == "ok"),
             "wall_s": told.get("wall_s"), "worst_overrun_s": max((row["worst_overrun_s"] for row in rows), default=None),
             "launch_seconds": args.launch_seconds, "compile_seconds": args.compile_seconds}
    write_result(args.output, found, rows)
    return found["measured"] == found["good"] and found["lost"] == found["faulty_accepted"] == 0 and (found["worst_overrun_s"] or 0) <= 1
