#include "experiments/report/run_page.h"

#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "experiments/page_texts.h"
#include "experiments/report/run_facts.h"
#include "experiments/report/run_headline.h"
#include "experiments/report/run_report.h"

namespace warpath {
namespace {

using nlohmann::json;

/// The elements that the scripts fill.
constexpr const char* kCharts = R"(<div class="charts">
<figure id="best_over_builds"></figure><figure id="best_over_seconds"></figure><figure id="roofline"></figure>
</div>
)";
constexpr const char* kGraph = R"(<h2>Search graph</h2>
<div class="tools"><input id="search" type="search" placeholder="key, move, status or gate" aria-label="search the graph">
<span id="found"></span>
<button type="button" id="zoom_best">best</button><button type="button" id="zoom_fit">all</button>
<button type="button" id="zoom_in" aria-label="zoom in">+</button><button type="button" id="zoom_out" aria-label="zoom out">&minus;</button>
<label><input type="checkbox" id="links"> moves between variants that were known</label></div>
<div id="results"></div>
<div class="canvas"><canvas id="graph"></canvas><div id="tip"></div></div>
<div class="legend"><span><i style="background:#c3ccd6"></i>no faster than the baseline</span>
<span><i style="background:#7fa3ca"></i>faster</span><span><i style="background:#174f8f"></i>near the best</span>
<span><i style="background:#c98a12"></i>best, and the path to it</span>
<span><i style="border-color:#cf9c96"></i>refused</span><span><i style="background:#d9b13b"></i>in flight</span>
<span>a layer for each move from the baseline; drag to move, wheel to zoom</span></div>
<div id="node"></div>
)";

std::vector<std::string> all_scripts() {
  return {kLibrary, kFactsScript, kChartsScript, kGraphScript, kNodeScript, kPageScript};
}

json facts_of(const RunMaterial& material, std::uint64_t after) {
  RunFacts facts(material.run, after);
  if (after == 0) facts.add_links(material.graph);
  const std::size_t best = material.run.find("best");
  if (material.attribution && material.attribution->best == material.run.nodes()[best].key)
    facts.add_attribution(*material.attribution);
  return std::move(facts).take();
}

std::string dumped(const json& data) {
  return json_text(data);
}

/// `head`, `rest`: HTML of the parts that a live page renews.
std::string page_of(const std::string& title,
                    const std::string& state,
                    const std::string& head,
                    const std::string& rest,
                    const json& data) {
  Document page;
  page.element("<span id=\"live\">" + markup_text(state) + "</span>\n<header id=\"head\">" + head +
               "</header>\n" + kCharts + kGraph + "<div id=\"rest\">" + rest + "</div>\n");
  return page.html({.title = title + " - warpath",
                    .style = kPageStyle,
                    .data = dumped(data),
                    .scripts = all_scripts()});
}

}  // namespace

std::string run_page(const RunMaterial& material, const std::string& state) {
  json data = facts_of(material, 0);
  data["live"] = !state.empty();
  return page_of(material.run.run().name, state, headline_html(run_headline(material)),
                 run_sections(material).html_body(), data);
}

std::string run_news(const RunMaterial& material, std::uint64_t after, const std::string& state) {
  json out{{"state", state}};
  if (material.run.line() > after) {
    out["head"] = headline_html(run_headline(material));
    out["rest"] = run_sections(material).html_body();
    out["run"] = facts_of(material, after);
  }
  return dumped(out);
}

std::string waiting_page(const std::string& name, const std::string& state) {
  return page_of(name, state, "<h1>" + markup_text(name) + "</h1>", "",
                 {{"nodes", json::array()}, {"live", true}});
}

Document batch_report(const std::vector<RunMaterial>& runs, const std::filesystem::path& from) {
  std::vector<Document::Row> rows{{"name", "speed-up", "99 % interval", "baseline ms", "best ms",
                                   "builds", "refused", "seconds", "runner", "verdict"}};
  std::vector<std::string> links;
  std::size_t improved = 0;
  for (const RunMaterial& material : runs) {
    const Headline headline = run_headline(material);
    if (headline.good) ++improved;
    const auto& s = material.summary;
    const bool known = s && s->baseline_ok, timed = known && s->measured;
    const auto& interval = headline.interval;
    std::size_t refused = 0;
    for (const RecordedNode& node : material.run.nodes())
      if (node.build > 0 && is_refusal(node.outcome->status)) ++refused;
    rows.push_back(
        {headline.name, timed ? format("%.3f", s->speedup) : "-",
         interval.starts_with('[') ? interval.substr(0, interval.find(']') + 1) : "-",
         known ? format("%.4f", s->baseline_ms) : "-", timed ? format("%.4f", s->best_ms) : "-",
         std::to_string(material.run.cost().search.evaluations), std::to_string(refused),
         format("%.0f", material.run.cost().seconds), material.run.run().runner, headline.verdict});
    links.push_back((material.folder / "report.html").lexically_relative(from).string());
  }
  Document out;
  out.heading(1, "Runs");
  out.paragraph(
      format("%zu of %zu kernels are faster. A click on a heading sorts.", improved, runs.size()));
  out.table(std::move(rows), {.kind = "sorted", .links = std::move(links)});
  return out;
}

std::string batch_page(const Document& report) {
  return report.html({.style = kPageStyle, .scripts = {kLibrary, kPageScript}});
}

}  // namespace warpath
