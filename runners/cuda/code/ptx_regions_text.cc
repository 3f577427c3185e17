// JSON and Graphviz of a region graph (runners/cuda/code/ptx_regions.h).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "runners/cuda/code/ptx_regions.h"

namespace warpath::cuda {
namespace {

std::string amounts_text(const char* what, const Amounts& amounts) {
  std::string out;
  for (const auto& [kind, amount] : amounts)
    out += (out.empty() ? std::string(what) + ": " : ", ") + kind + " " + number_text(amount, 4);
  return out.empty() ? "" : out + "\\l";
}

}  // namespace

nlohmann::json to_json(const RegionGraph& graph) {
  auto regions = nlohmann::json::array(), loops = nlohmann::json::array(),
       edges = nlohmann::json::array();
  for (const PtxRegion& r : graph.regions) {
    nlohmann::json region{{"first", r.first},     {"last", r.last},
                          {"loop", r.loop},       {"executions", r.executions},
                          {"ends_by", r.ends_by}, {"classes", r.classes},
                          {"bytes", r.bytes},     {"operations", r.operations}};
    if (!r.time_ns.empty()) region["time_ns"] = r.time_ns;
    regions.push_back(std::move(region));
  }
  for (const PtxLoop& l : graph.loops) {
    loops.push_back({{"first", l.first},
                     {"last", l.last},
                     {"parent", l.parent},
                     {"depth", l.depth},
                     {"trips", l.trips ? nlohmann::json(*l.trips) : nlohmann::json()}});
  }
  for (const RegionEdge& e : graph.edges)
    edges.push_back({{"from", e.from}, {"to", e.to}, {"kind", e.kind}});
  return {{"entry", graph.entry},
          {"regions", std::move(regions)},
          {"loops", std::move(loops)},
          {"edges", std::move(edges)},
          {"critical_path", graph.critical_path},
          {"critical_ns", graph.critical_ns},
          {"warnings", graph.warnings}};
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
