#include "runners/cuda/code/ptx_regions.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <charconv>
#include <set>

#include "engine/base/format.h"
#include "engine/json/record_codec.h"
#include "runners/cuda/code/ptx_facts.h"

namespace warpath {

template <>
struct Description<cuda::PtxRegion> : Record<Kept<"first", &cuda::PtxRegion::first>,
                                             Kept<"last", &cuda::PtxRegion::last>,
                                             Kept<"loop", &cuda::PtxRegion::loop>,
                                             Kept<"executions", &cuda::PtxRegion::executions>,
                                             Kept<"ends_by", &cuda::PtxRegion::ends_by>,
                                             Kept<"classes", &cuda::PtxRegion::classes>,
                                             Kept<"bytes", &cuda::PtxRegion::bytes>,
                                             Kept<"operations", &cuda::PtxRegion::operations>,
                                             Sparse<"time_ns", &cuda::PtxRegion::time_ns>> {};
template <>
struct Description<cuda::PtxLoop> : Record<Kept<"first", &cuda::PtxLoop::first>,
                                           Kept<"last", &cuda::PtxLoop::last>,
                                           Kept<"parent", &cuda::PtxLoop::parent>,
                                           Kept<"depth", &cuda::PtxLoop::depth>,
                                           Kept<"trips", &cuda::PtxLoop::trips>> {};
template <>
struct Description<cuda::RegionEdge> : Record<Kept<"from", &cuda::RegionEdge::from>,
                                              Kept<"to", &cuda::RegionEdge::to>,
                                              Kept<"kind", &cuda::RegionEdge::kind>> {};
template <>
struct Description<cuda::RegionGraph>
    : Record<Kept<"entry", &cuda::RegionGraph::entry>,
             Kept<"regions", &cuda::RegionGraph::regions>,
             Kept<"loops", &cuda::RegionGraph::loops>,
             Kept<"edges", &cuda::RegionGraph::edges>,
             Kept<"critical_path", &cuda::RegionGraph::critical_path>,
             Kept<"critical_ns", &cuda::RegionGraph::critical_ns>,
             Kept<"warnings", &cuda::RegionGraph::warnings>> {};

}  // namespace warpath

namespace warpath::cuda {
namespace {

constexpr double kLanes = 32, kWarpgroup = 128;

bool is_async_wait(const PtxInstruction& i) {
  return (i.opcode == "cp" && (i.has("wait_group") || i.has("wait_all"))) ||
         (i.opcode == "wgmma" && i.has("wait_group")) ||
         (i.opcode == "mbarrier" && (i.has("try_wait") || i.has("test_wait")));
}

bool is_async_copy(const PtxInstruction& i) {
  return i.opcode == "cp" && i.has("async") && !i.has("commit_group") && !i.has("mbarrier") &&
         !is_async_wait(i);
}

bool is_barrier(const PtxInstruction& i) {
  return (i.opcode == "bar" || i.opcode == "barrier") && !i.has("arrive");
}
bool is_fence(const PtxInstruction& i) {
  return (i.opcode == "fence" || i.opcode == "membar") && !i.has("async");
}
bool is_branch(const PtxInstruction& i) {
  return i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit";
}

/// 128 bytes a matrix and warp.
double matrix_bytes(const PtxInstruction& instruction) {
  const double matrices = instruction.has("x4") ? 4 : instruction.has("x2") ? 2 : 1;
  return matrices * 128 / kLanes;
}

double number_or(std::string_view text, double otherwise) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

/// 2MNK of "m16n8k16", shared out over the threads that issue it together; 0 without a shape.
double tensor_operations(const PtxInstruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    const std::size_t n = modifier.find('n'), k = modifier.find('k');
    if (!modifier.starts_with('m') || n == std::string_view::npos || k == std::string_view::npos ||
        k < n)
      continue;
    const double product = number_or(modifier.substr(1, n - 1), 0) *
                           number_or(modifier.substr(n + 1, k - n - 1), 0) *
                           number_or(modifier.substr(k + 1), 0);
    if (product > 0) return 2 * product / (instruction.opcode == "wgmma" ? kWarpgroup : kLanes);
  }
  return 0;
}

void count_operations(const PtxInstruction& instruction, std::string_view kind, PtxRegion& region) {
  if (kind == "tensor") {
    if (const double n = tensor_operations(instruction); n > 0) region.operations["tensor"] += n;
    return;
  }
  const bool fused = instruction.opcode == "fma" || instruction.opcode == "mad";
  const double packed =
      instruction.has("f16x2") || instruction.has("bf16x2") || (instruction.has("f32x2")) ? 2 : 1;
  constexpr std::array<std::string_view, 8> kMoves{"mov",  "cvta", "ld",       "st",
                                                   "shfl", "prmt", "isspacep", "nop"};
  if (std::ranges::find(kMoves, instruction.opcode) != kMoves.end()) return;
  if (kind == "int64") kind = "int32";
  for (const std::string_view counted : {"fp32", "fp64", "fp16", "bf16", "int32", "sfu"}) {
    if (kind == counted) region.operations[std::string(kind)] += (fused ? 2 : 1) * packed;
  }
}

void count(const PtxInstruction& instruction, PtxRegion& region) {
  const std::string_view name = op_class(instruction);
  ++region.classes[std::string(name)];
  region.operations["instructions"] += 1;
  if (name == "async_copy") {
    const double bytes =
        instruction.operands.size() > 2 ? number_or(instruction.operands[2], 0) : 0;
    if (bytes > 0) region.bytes["async_copy"] += bytes;
  } else if (name == "global_load" || name == "global_store" || name == "shared_load" ||
             name == "shared_store" || name == "local") {
    const bool matrix = instruction.opcode == "ldmatrix" || instruction.opcode == "stmatrix";
    region.bytes[std::string(name)] +=
        matrix ? matrix_bytes(instruction) : static_cast<double>(access_bytes(instruction));
  } else {
    count_operations(instruction, instruction_class(instruction), region);
  }
}

/// Where regions begin, ascending, the end included.
std::vector<std::size_t> cuts(const PtxFunction& function) {
  std::set<std::size_t> places{0, function.instructions.size()};
  for (const PtxLabel& label : function.labels) places.insert(label.at);
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const PtxInstruction& instruction = function.instructions[i];
    if (is_branch(instruction) || is_barrier(instruction) || is_async_wait(instruction) ||
        is_fence(instruction))
      places.insert(i + 1);
  }
  return {places.begin(), places.end()};
}

std::string end_of(const PtxInstruction& last, bool at_end) {
  if (is_branch(last)) return "branch";
  if (is_barrier(last)) return "barrier";
  if (is_async_wait(last)) return "async_wait";
  if (is_fence(last)) return "fence";
  return at_end ? "end" : "label";
}

/// Fills regions, loops and edges of one function.
class Builder {
 public:
  Builder(const PtxFunction& function,
          const PtxLaunch& launch,
          const RegionRates& rates,
          RegionGraph& graph)
      : function_(function), launch_(launch), rates_(rates), graph_(graph) {}

  void build() {
    graph_.entry = function_.name;
    graph_.loops = ptx_loops(function_, launch_);
    for (std::size_t i = 0; i < graph_.loops.size(); ++i) {
      if (!graph_.loops[i].trips)
        graph_.warnings.push_back("loop " + std::to_string(i) +
                                  " has no known trip count and counts once");
    }
    const std::vector<std::size_t> places = cuts(function_);
    for (std::size_t i = 0; i + 1 < places.size(); ++i) add_region(places[i], places[i + 1]);
    for (std::size_t r = 0; r < graph_.regions.size(); ++r) connect(static_cast<int>(r));
    for (std::size_t r = 0; r < graph_.regions.size(); ++r) {
      if (graph_.regions[r].ends_by == "async_wait") connect_copies(static_cast<int>(r));
    }
    find_critical_path();
  }

 private:
  void add_region(std::size_t first, std::size_t last) {
    PtxRegion region;
    region.first = first;
    region.last = last;
    for (std::size_t i = first; i < last; ++i) count(function_.instructions[i], region);
    region.ends_by =
        end_of(function_.instructions[last - 1], last == function_.instructions.size());
    for (std::size_t l = 0; l < graph_.loops.size(); ++l) {  // inner loops come later
      if (graph_.loops[l].first <= first && last <= graph_.loops[l].last + 1) {
        region.loop = static_cast<int>(l);
        region.executions *= graph_.loops[l].trips.value_or(1);
      }
    }
    add_times(region);
    graph_.regions.push_back(std::move(region));
  }

  void add_times(PtxRegion& region) const {
    const double runs = region.executions * launch_.threads();
    const auto add = [&](const std::string& resource, double amount) {
      const auto rate = rates_.find(resource);
      if (rate == rates_.end() || rate->second <= 0 || amount <= 0) return;
      region.time_ns[resource] = runs * amount / rate->second * 1e9;
      region.longest_ns = std::max(region.longest_ns, region.time_ns[resource]);
    };
    const auto bytes = [&](const char* kind) {
      const auto it = region.bytes.find(kind);
      return it == region.bytes.end() ? 0.0 : it->second;
    };
    add("dram", bytes("global_load") + bytes("global_store") + bytes("async_copy"));
    add("smem", bytes("shared_load") + bytes("shared_store") + bytes("async_copy"));
    for (const auto& [kind, amount] : region.operations) add(kind, amount);
  }

  [[nodiscard]] int region_at(std::size_t instruction) const {
    const auto after = std::ranges::upper_bound(graph_.regions, instruction, {}, &PtxRegion::first);
    return static_cast<int>(after - graph_.regions.begin()) - 1;
  }

  void connect(int r) {
    const PtxRegion& region = graph_.regions[static_cast<std::size_t>(r)];
    const PtxInstruction& last = function_.instructions[region.last - 1];
    const bool falls = region.last < function_.instructions.size();
    if (last.opcode == "bra" && !last.operands.empty()) {
      const auto target = label_target(function_, last.operands.back());
      if (target && *target < function_.instructions.size()) {
        const int to = region_at(*target);
        graph_.edges.push_back({r, to, to <= r ? "back" : "flow"});
      }
    }
    const bool leaves = is_branch(last) && last.guard.empty();
    if (!falls || leaves) return;
    const std::string& by = region.ends_by;
    graph_.edges.push_back({r, r + 1,
                            by == "barrier" || by == "async_wait" ? by
                            : by == "fence"                       ? "mem_fence"
                                                                  : "flow"});
  }

  /// Copies and tensor products that run on while the thread goes on.
  [[nodiscard]] bool starts_something(const PtxRegion& region) const {
    for (std::size_t i = region.first; i < region.last; ++i) {
      const PtxInstruction& instruction = function_.instructions[i];
      if (is_async_copy(instruction) ||
          (instruction.opcode == "wgmma" && instruction.has("mma_async")))
        return true;
    }
    return false;
  }

  void connect_copies(int wait) {
    const auto in_loop_of = [&](int a, int b) {
      const int loop = graph_.regions[static_cast<std::size_t>(b)].loop;
      if (loop < 0) return false;
      const PtxLoop& around = graph_.loops[static_cast<std::size_t>(loop)];
      const PtxRegion& region = graph_.regions[static_cast<std::size_t>(a)];
      return around.first <= region.first && region.last <= around.last + 1;
    };
    bool found = false;
    for (int r = 0; r < static_cast<int>(graph_.regions.size()); ++r) {
      const PtxRegion& region = graph_.regions[static_cast<std::size_t>(r)];
      if (!starts_something(region)) continue;
      if (r > wait && !in_loop_of(r, wait)) continue;
      graph_.edges.push_back({r, wait, "async_dep"});
      found = true;
    }
    if (!found)
      graph_.warnings.push_back("region " + std::to_string(wait) +
                                " waits and nothing was started");
  }

  void find_critical_path() {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
    const std::size_t n = graph_.regions.size();
    Graph control(n);
    for (const RegionEdge& edge : graph_.edges) {
      if (edge.kind != "back" && edge.from < edge.to)
        boost::add_edge(static_cast<std::size_t>(edge.from), static_cast<std::size_t>(edge.to),
                        control);
    }
    std::vector<std::size_t> reversed;
    boost::topological_sort(control, std::back_inserter(reversed));
    std::vector<double> longest(n);
    std::vector<int> next(n, -1);
    for (const std::size_t r : reversed) {  // successors come first
      const auto [begin, end] = boost::adjacent_vertices(r, control);
      for (auto it = begin; it != end; ++it) {
        if (next[r] >= 0 && longest[*it] <= longest[static_cast<std::size_t>(next[r])]) continue;
        next[r] = static_cast<int>(*it);
      }
      longest[r] = graph_.regions[r].longest_ns +
                   (next[r] < 0 ? 0 : longest[static_cast<std::size_t>(next[r])]);
    }
    if (n == 0) return;
    graph_.critical_ns = longest[0];
    for (int r = 0; r >= 0; r = next[static_cast<std::size_t>(r)])
      graph_.critical_path.push_back(r);
  }

  const PtxFunction& function_;
  const PtxLaunch& launch_;
  const RegionRates& rates_;
  RegionGraph& graph_;
};

double total(const std::vector<PtxRegion>& regions,
             Amounts PtxRegion::* amounts,
             std::string_view kind) {
  double sum = 0;
  for (const PtxRegion& region : regions) {
    const auto it = (region.*amounts).find(kind);
    if (it != (region.*amounts).end()) sum += region.executions * it->second;
  }
  return sum;
}

std::string amounts_text(const char* what, const Amounts& amounts) {
  std::string out;
  for (const auto& [kind, amount] : amounts)
    out += (out.empty() ? std::string(what) + ": " : ", ") + kind + " " + number_text(amount, 4);
  return out.empty() ? "" : out + "\\l";
}

}  // namespace

double RegionGraph::bytes(std::string_view kind) const {
  return total(regions, &PtxRegion::bytes, kind);
}
double RegionGraph::operations(std::string_view kind) const {
  return total(regions, &PtxRegion::operations, kind);
}

std::string_view op_class(const PtxInstruction& i) {
  if (is_async_wait(i)) return "async_wait";
  if (is_async_copy(i)) return "async_copy";
  if (i.opcode == "mbarrier") return "mbarrier";
  if (is_barrier(i) || i.opcode == "bar" || i.opcode == "barrier") return "barrier";
  if (i.opcode == "fence" || i.opcode == "membar") return "fence";
  const std::string_view kind = instruction_class(i);
  if (kind == "load_global") return "global_load";
  if (kind == "store_global") return "global_store";
  if (kind == "load_shared") return "shared_load";
  if (kind == "store_shared") return "shared_store";
  if (kind == "load_local" || kind == "store_local") return "local";
  if (kind == "load_constant") return "data_move";
  if (kind == "atomic" || kind == "sfu" || kind == "tensor") return kind;
  if (kind == "shuffle" || kind == "vote") return "warp_transfer";
  // the last: groups are closed, prefetches
  if (kind == "branch" || kind == "compare" || kind == "async_copy") return "control";
  if (i.opcode == "mov" || i.opcode == "cvt" || i.opcode == "prmt") return "data_move";
  if (kind == "int64" || i.opcode == "cvta") return "address";
  if (kind == "fp32" || kind == "fp64" || kind == "fp16" || kind == "bf16" || kind == "int32")
    return "compute";
  return "other";
}

RegionGraph region_graph(const PtxFunction& function,
                         const PtxLaunch& launch,
                         const RegionRates& rates) {
  RegionGraph graph;
  if (!function.instructions.empty()) Builder(function, launch, rates, graph).build();
  return graph;
}

nlohmann::json to_json(const RegionGraph& graph) {
  return Codec<RegionGraph>::write(graph);
}

std::string to_dot(const RegionGraph& graph) {
  std::string out = "digraph regions {\n  node [shape=box, fontname=monospace];\n";
  for (std::size_t i = 0; i < graph.regions.size(); ++i) {
    const PtxRegion& r = graph.regions[i];
    std::string label = "region " + std::to_string(i) + ", instructions " +
                        std::to_string(r.first) + " to " + std::to_string(r.last - 1) +
                        (r.loop < 0 ? "" : ", loop " + std::to_string(r.loop)) + ", x" +
                        number_text(r.executions, 4) + ", to " + r.ends_by + "\\l";
    label += amounts_text("bytes", r.bytes) + amounts_text("operations", r.operations) +
             amounts_text("ns", r.time_ns);
    const bool critical =
        std::ranges::find(graph.critical_path, static_cast<int>(i)) != graph.critical_path.end();
    out += "  r" + std::to_string(i) + " [label=\"" + label + "\"" +
           (critical && graph.critical_ns > 0 ? ", penwidth=2" : "") + "];\n";
  }
  for (const RegionEdge& e : graph.edges) {
    out += "  r" + std::to_string(e.from) + " -> r" + std::to_string(e.to) + " [label=\"" + e.kind +
           "\"" + (e.kind == "async_dep" ? ", style=dashed" : "") + "];\n";
  }
  return out + "}\n";
}

}  // namespace warpath::cuda
