#include "experiments/report/graph_file.h"

#include <algorithm>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <cstdio>
#include <functional>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"
#include "engine/search/graph_boost.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/setup/search_graph.h"

namespace warpath {
namespace {

constexpr std::string_view kPlace = "--graph";

/// [nodes]: true for those at most `radius` edges away from `node`, whichever way they point.
std::vector<bool> neighbourhood(const Graph& graph, NodeId node, std::size_t radius) {
  std::vector<bool> out(graph.node_count());
  std::vector<NodeId> ring{node};
  out[index(node)] = true;
  for (std::size_t i = 0; i < radius && !ring.empty(); ++i) {
    std::vector<NodeId> next;
    const auto reach = [&](NodeId v) {
      if (!out[index(v)]) next.push_back(v);
      out[index(v)] = true;
    };
    for (const NodeId v : ring) {
      for (auto [e, last] = out_edges(v, graph); e != last; ++e) reach(graph[*e].target);
      for (auto [e, last] = in_edges(v, graph); e != last; ++e) reach(graph[*e].source);
    }
    ring = std::move(next);
  }
  return out;
}

std::string status_of(const RecordedNode& node) {
  return node.outcome ? std::string(name(node.outcome->status)) : "in_flight";
}

/// Both formats hold text: a byte that is not of UTF-8 or is a control character becomes a sign.
std::string shown(const std::string& text) {
  std::string out = valid_utf8(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return out;
}

/// What is written of each node and edge. Property maps refer to `run` and `of`.
boost::dynamic_properties properties(const RecordedRun& run, const SearchGraph& of) {
  const std::size_t best = run.find("best");
  std::vector<bool> on_path(run.nodes().size());
  for (const std::size_t i : run.path(best)) on_path[i] = true;
  boost::dynamic_properties out;
  const auto of_node = [&](const std::string& name, const auto& get) {
    out.property(name, boost::make_function_property_map<NodeId>(get));
  };
  const auto of_edge = [&](const std::string& name, const auto& get) {
    out.property(name, boost::make_function_property_map<EdgeId>(get));
  };
  const auto record = [&run](NodeId v) -> const RecordedNode& { return run.nodes()[index(v)]; };
  of_node("id", [](NodeId v) { return index(v); });
  of_node("key", [=](NodeId v) { return record(v).key.hex(); });
  of_node("move", [=](NodeId v) { return shown(record(v).move); });
  of_node("status", [=](NodeId v) { return status_of(record(v)); });
  of_node("speedup", [=](NodeId v) { return record(v).speedup; });
  out.property("visits", node_map(of.graph, &Node::visits));
  of_node("best", [=](NodeId v) { return index(v) == best; });
  of_node("on_best_path", [=](NodeId v) -> bool { return on_path[index(v)]; });
  of_edge("move", [&of](EdgeId e) { return shown(of.moves[index(e)]); });
  of_edge("prior", [&of](EdgeId e) { return of.graph[e].prior.value(); });
  out.property("visits", edge_map(of.graph, &Edge::visits));
  return out;
}

/// What Graphviz draws beside.
void add_looks(const RecordedRun& run, const SearchGraph& of, boost::dynamic_properties& to) {
  to.property("label", boost::make_function_property_map<NodeId>([&run](NodeId v) {
                const RecordedNode& node = run.nodes()[index(v)];
                return node.key.short_hex() + "\n" +
                       (node.speedup > 0 ? ratio_text(node.speedup) : status_of(node));
              }));
  to.property("label", boost::make_function_property_map<EdgeId>(
                           [&of](EdgeId e) { return shown(of.moves[index(e)]); }));
}

template <class Part>
std::string text_of(const Part& part, bool graphml, const RecordedRun& run, const SearchGraph& of) {
  boost::dynamic_properties written = properties(run, of);
  std::ostringstream out;
  if (graphml) {
    boost::write_graphml(out, part, NodeIndexMap{}, written);
  } else {
    add_looks(run, of, written);
    boost::write_graphviz_dp(out, part, written, "id");
  }
  return std::move(out).str();
}

}  // namespace

std::vector<Flag> graph_flags() {
  return {{"graph", "FILE", "instead: write the search graph of RUN to FILE.dot or FILE.graphml",
           Flag::Takes::one},
          {"around", "NODE", "with --graph: only what is near this node", Flag::Takes::one},
          {"radius", "N", "with --around: most edges from there, in either direction (2)",
           Flag::Takes::one}};
}

void write_graph_file(const std::filesystem::path& folder, const Arguments& arguments) {
  const std::string file = *arguments.value("graph");
  const bool graphml = file.ends_with(".graphml");
  if (!graphml && !file.ends_with(".dot"))
    throw bad_input(kPlace, file, "FILE.dot or FILE.graphml");
  const auto around = arguments.value("around");
  if (arguments.has("radius") && !around)
    throw bad_input("--radius", *arguments.value("radius"), "it beside --around NODE");
  const std::size_t radius = parse_count(arguments.value("radius").value_or("2"), "--radius");
  const RecordedRun run(folder);
  const SearchGraph of = recorded_search_graph(folder, run);
  const NodeId centre{static_cast<std::uint32_t>(around ? run.find(*around) : 0)};
  const std::vector<bool> kept = around ? neighbourhood(of.graph, centre, radius)
                                        : std::vector<bool>(of.graph.node_count(), true);
  const auto keeps_node = [&](NodeId v) -> bool { return kept[index(v)]; };
  const auto keeps_edge = [](EdgeId) { return true; };  // whose ends are kept
  const boost::filtered_graph<Graph, std::function<bool(EdgeId)>, std::function<bool(NodeId)>> part(
      of.graph, keeps_edge, keeps_node);
  write_file_atomically(file, text_of(part, graphml, run, of));
  const auto [edge, last] = edges(part);
  std::printf("%s: %td nodes, %td edges\n", file.c_str(), std::ranges::count(kept, true),
              std::distance(edge, last));
  if (!of.gap.empty()) std::fprintf(stderr, "warpath: %s\n", of.gap.c_str());
}

}  // namespace warpath
