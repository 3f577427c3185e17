"""How fast the search itself is, without kernels, and what a key and a line of the log cost.

The programs of tests/bench/bench_search.cc and bench_record.cc. All figures but default_playouts_per_s, that of the default strategy of moves at 100,000
nodes, are of search.strategy=mcgs. Takes no GPU.
"""
import json
import os
import pathlib

from measurements.common import Failed, ROOT, cpu, digits, execute, expect, write_result

MORE = "the benchmarks (--benchmark_filter=...)"
MEMBERS = {"items_per_second", "selections", "bytes_per_node", "edges_per_node", "evaluations", "duplicates", "found"}
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
LARGE, MIDDLE, SPARSE = (f"bm_search/{size}/1000000" for size in ("large", "middle", "sparse"))
GROWN = ("10000", "10000000/iterations:1")
TO_OPTIMUM = "bm_to_optimum/{}/iterations:1"


def options(parser):
    parser.add_argument("--tests", default=str(ROOT / "build/tests"), metavar="FOLDER", help="where the benchmarks are")


def benchmarks(program, words):
    """A row a benchmark, of the members that mean something here."""
    if not os.access(program, os.X_OK):
        raise Failed(f"{program}: no such program; ./warpath test builds it")
    done = expect(execute([program, "--benchmark_format=json", *words]), program.name, codes=(0,))
    return [{"name": one["name"], "seconds": digits(one["real_time"] * UNITS[one["time_unit"]], 6),
             **{key: digits(value, 6) for key, value in one.items() if key in MEMBERS}} for one in json.loads(done.stdout or "{}").get("benchmarks", [])]


def measure(args):
    rows = [row for name in ("bench_record", "bench_search") for row in benchmarks(pathlib.Path(args.tests).resolve() / name, args.more)]
    if not rows:
        raise Failed("no benchmark ran")
    of = lambda name, key: next((row.get(key) for row in rows if row["name"] == name), None)

    def slower(size):
        """How many times the selections a second of ten thousand nodes are those of ten million."""
        few, many = (of(f"bm_search/{size}/{nodes}", "selections") for nodes in GROWN)
        return digits(few / many) if few and many else None

    events = of("bm_replay/1000000", "items_per_second")
    write_result(args.output, {
        "cpu": cpu(), "nodes": 1000000, "selections_per_s": of(LARGE, "selections"), "playouts_per_s": of(LARGE, "items_per_second"),
        "bytes_per_node": of(LARGE, "bytes_per_node"), "edges_per_node": of(LARGE, "edges_per_node"),
        "bytes_per_node_middle": of(MIDDLE, "bytes_per_node"), "edges_per_node_middle": of(MIDDLE, "edges_per_node"),
        "bytes_per_node_sparse": of(SPARSE, "bytes_per_node"), "edges_per_node_sparse": of(SPARSE, "edges_per_node"),
        "ten_million_slower": slower("large"), "ten_million_slower_sparse": slower("sparse"),
        "snapshot_load_s": of("bm_load/1000000", "seconds"), "snapshot_save_s": of("bm_save/1000000", "seconds"),
        "replay_s": digits(1e6 / events) if events else None,
        "default_playouts_per_s": of("bm_search/by_default/100000", "items_per_second"),
        "evaluations_to_optimum_graph": of(TO_OPTIMUM.format("graph"), "evaluations"), "evaluations_to_optimum_tree": of(TO_OPTIMUM.format("tree"), "evaluations"),
        "duplicates_in_tree": of(TO_OPTIMUM.format("tree"), "duplicates")}, rows)
