#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "experiments/study/study_tables.h"

namespace warpath {
namespace {

using nlohmann::json;

std::string evaluations_text(double to) {
  return to > 0 ? format("%.0f", to) : "-";
}

/// "0.71 [0.68, 0.74]"
std::string with_interval(double value, const Interval& interval) {
  return format("%.3f [%.3f, %.3f]", value, interval.low, interval.high);
}

std::string published_text(double score) {
  return std::isfinite(score) ? format("%.3f", score) : "-";
}

std::string score_meaning(const StudyTable& table) {
  std::string out;
  if (table.points > 0)
    out +=
        "Score: exact order-statistic baseline, 0 = uniform search, 1 = the optimum at once, mean "
        "over the budget.";
  if (table.graphs > 0)
    out += std::string(out.empty() ? "" : " ") +
           "Score of a graph of variants: share of the log speed-up of its best over its first, "
           "mean over the budget; 1 = the optimum at once.";
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string served_text(const Study& study) {
  return study.served == Served::mean ? "means" : "single repeats";
}

const std::vector<std::string> kColours{"#0b5fa5", "#c8472b", "#2e8b57", "#8e5bb5",
                                        "#b58900", "#4f7f86", "#a83269", "#7a5c3e",
                                        "#5b6770", "#1f9e9e", "#d0812d", "#6c8a1f"};

/// Curves of all settings over the share of the budget.
std::string curve_svg(const StudyTable& table, std::size_t space) {
  constexpr double kWidth = 420, kHeight = 220, kLeft = 34, kBottom = 22, kLow = -0.5;
  const auto x = [&](double share) { return kLeft + share * (kWidth - kLeft - 8); };
  const auto y = [&](double score) {
    return (1 - std::max(score, kLow)) / (1 - kLow) * (kHeight - kBottom - 8) + 8;
  };
  std::string svg = format("<svg viewBox='0 0 %.0f %.0f' role='img'>", kWidth, kHeight);
  for (const double tick : {-0.5, 0.0, 0.5, 1.0}) {
    svg += format(
        "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='%s'/><text x='2' "
        "y='%.1f'>%.1f</text>",
        x(0), x(1), y(tick), y(tick), tick == 0 ? "zero" : "grid", y(tick) + 4, tick);
  }
  svg += format("<text x='%.1f' y='%.1f'>share of the budget</text>", x(0.36), kHeight - 4);
  for (std::size_t r = table.rows.size(); r-- > 0;) {
    const StudyRow& row = table.rows[r];
    const std::vector<double>& curve = row.cells[space].curve;
    if (curve.empty() || row.peer) continue;
    svg += format("<polyline fill='none' stroke='%s' stroke-width='%s' points='",
                  kColours[r % kColours.size()].c_str(), r == 0 ? "2.6" : "1.2");
    for (std::size_t i = 0; i < curve.size(); ++i)
      svg += format("%.1f,%.1f ", x(static_cast<double>(i + 1) / static_cast<double>(curve.size())),
                    y(curve[i]));
    svg += "'><title>" + escaped(row.label) + "</title></polyline>";
  }
  return svg + "</svg>";
}

/// A bar a row, with its interval.
std::string bars(const StudyTable& table) {
  std::vector<const StudyRow*> rows;
  for (const StudyRow& r : table.rows) {
    if (r.whole) rows.push_back(&r);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StudyRow* a, const StudyRow* b) { return a->score > b->score; });
  const double height = 20.0 * static_cast<double>(rows.size()) + 10;
  const auto x = [](double score) { return 300 + std::clamp(score, -0.6, 1.0) * 300; };
  std::string svg = format("<svg viewBox='0 0 640 %.0f' role='img'>", height);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StudyRow& r = *rows[i];
    const double top = 20.0 * static_cast<double>(i) + 6;
    const double left = std::min(x(0), x(r.score));
    svg += format("<rect x='%.1f' y='%.1f' width='%.1f' height='12' class='%s'/>", left, top,
                  std::abs(x(r.score) - x(0)),
                  &r == &table.rows.front() ? "ours" : (r.peer ? "peer" : "bar"));
    svg += format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='whisker'/>",
                  x(r.interval.low), x(r.interval.high), top + 6, top + 6);
    svg += format("<text x='2' y='%.1f'>", top + 10) + escaped(r.label.substr(0, 34)) + "</text>";
  }
  return svg + "</svg>";
}

}  // namespace

std::string summary_text(const Study& study, const StudyTable& table) {
  std::string out = "# " + study.name + "\n\n";
  out += format("%zu settings, %zu spaces, %llu seeds, %d virtual %s, recorded %s served. ",
                study.settings.size(), table.spaces.size(),
                static_cast<unsigned long long>(study.seeds), study.devices,
                study.devices == 1 ? "device" : "devices", served_text(study).c_str());
  out += score_meaning(table) +
         " Intervals: 95 %, bootstrap over seeds. Difference: " + table.rows.front().label +
         " minus the row, paired over seeds (recorded peers: against its mean); p by sign flips, "
         "Holm-adjusted.\n\n";
  out += "## All spaces\n\n";
  out +=
      "| setting | score | difference | p | mean rank | published form | within 5 % | within 1 % | "
      "evaluations to 95 %, ratio | budget used | tuner ms an evaluation |\n";
  out += "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const StudyRow& r = table.rows[i];
    if (!r.whole) continue;
    out += "| " + r.label + (r.peer ? " (recorded)" : "") + " | " +
           with_interval(r.score, r.interval) + " | ";
    out += i == 0 ? "|" : with_interval(r.difference, r.difference_interval) + " |";
    out += (i == 0 || r.peer) ? " |" : format(" %.4f |", r.p);
    out += r.peer ? " |" : format(" %.2f |", r.rank);
    out += " " + published_text(r.published) + format(" | %.2f | %.2f |", r.hit5, r.hit1);
    out += (i == 0 || r.peer) ? " |" : " " + with_interval(r.ratio95, r.ratio95_interval) + " |";
    out += format(" %.2f |", r.used);
    out += r.peer ? " |\n" : format(" %.3f |\n", r.tuner_ms);
  }
  for (std::size_t s = 0; s < table.spaces.size(); ++s) {
    out += "\n## " + table.spaces[s] +
           format("\n\nBudget %llu; %.0f %% of random descents end within 5 %% of the optimum.\n\n",
                  static_cast<unsigned long long>(table.budgets[s]), 100 * table.ease[s]);
    out +=
        "| setting | score | published form | within 5 % | within 1 % | evaluations to 5 % | to 1 "
        "% | to 95 % | there | regret at half | at the end | at equal clock |\n";
    out += "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const StudyRow& r : table.rows) {
      const StudyCell& c = r.cells[s];
      if (c.scores.empty()) continue;
      out += "| " + r.label + (r.peer ? " (recorded)" : "") + " | " +
             with_interval(c.score, c.interval) + " | " + published_text(c.published) +
             format(" | %.2f | %.2f | ", c.hit5, c.hit1);
      out += r.peer
                 ? format("| | | | | %.4f | |\n", c.regret)
                 : evaluations_text(c.to5) + " | " + evaluations_text(c.to1) +
                       format(" | %.1f [%.1f, %.1f] | %.2f", c.mean95, c.interval95.low,
                              c.interval95.high, c.reached95) +
                       format(" | %.4f | %.4f | %.4f |\n", c.regret_half, c.regret, c.regret_clock);
    }
  }
  return out;
}

std::string curves_csv(const StudyTable& table) {
  std::string out = "label,peer,space,share,evaluations,score\n";
  for (const StudyRow& r : table.rows) {
    for (std::size_t s = 0; s < r.cells.size(); ++s) {
      const std::vector<double>& curve = r.cells[s].curve;
      for (std::size_t i = 0; i < curve.size(); ++i) {
        const double share = static_cast<double>(i + 1) / static_cast<double>(curve.size());
        out += in_one_cell(r.label) + (r.peer ? ",1," : ",0,") + table.spaces[s] +
               format(",%.2f,%.0f,%.6f\n", share,
                      std::max(1.0, std::floor(share * static_cast<double>(table.budgets[s]))),
                      curve[i]);
      }
    }
  }
  return out;
}

std::string score_json(const Study& study, const StudyTable& table) {
  json rows = json::array();
  for (const StudyRow& r : table.rows) {
    for (std::size_t s = 0; s < r.cells.size(); ++s) {
      const StudyCell& c = r.cells[s];
      if (c.scores.empty()) continue;
      rows.push_back({{"strategy", r.label},
                      {"recorded", r.peer},
                      {"space", table.spaces[s]},
                      {"runs", c.scores.size()},
                      {"score", c.score},
                      {"low", c.interval.low},
                      {"high", c.interval.high},
                      {"published", c.published},
                      {"hit5", c.hit5},
                      {"hit1", c.hit1},
                      {"evaluations_to_5", c.to5 > 0 ? json(c.to5) : json()},
                      {"evaluations_to_1", c.to1 > 0 ? json(c.to1) : json()},
                      {"to95", r.peer ? json() : json(c.mean95)},
                      {"to95_low", r.peer ? json() : json(c.interval95.low)},
                      {"to95_high", r.peer ? json() : json(c.interval95.high)},
                      {"reached95", r.peer ? json() : json(c.reached95)},
                      {"budget", table.budgets[s]},
                      {"budget_used", c.used},
                      {"tuner_ms", r.peer ? json() : json(c.tuner_ms)}});
    }
    if (r.whole) {
      rows.push_back({{"strategy", r.label},
                      {"recorded", r.peer},
                      {"space", "all"},
                      {"score", r.score},
                      {"low", r.interval.low},
                      {"high", r.interval.high},
                      {"published", r.published},
                      {"hit5", r.hit5},
                      {"hit1", r.hit1},
                      {"budget_used", r.used},
                      {"difference", r.difference},
                      {"difference_low", r.difference_interval.low},
                      {"difference_high", r.difference_interval.high},
                      {"to95_ratio", r.peer ? json() : json(r.ratio95)},
                      {"to95_ratio_low", r.peer ? json() : json(r.ratio95_interval.low)},
                      {"to95_ratio_high", r.peer ? json() : json(r.ratio95_interval.high)},
                      {"p", r.peer ? json() : json(r.p)},
                      {"tuner_ms", r.peer ? json() : json(r.tuner_ms)}});
    }
  }
  return json{{"study", study.name}, {"seeds", study.seeds}, {"rows", rows}}.dump(1) + "\n";
}

std::string report_html(const Study& study, const StudyTable& table) {
  std::string out =
      "<!doctype html><html lang='en'><meta charset='utf-8'><title>" + escaped(study.name) +
      "</title><style>body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em "
      "auto;padding:0 1em;color:#222}"
      "svg{width:100%;height:auto}svg "
      "text{font-size:11px;fill:#444}.grid{stroke:#e4e4e4}.zero{stroke:#888}.bar{fill:#9db8cc}."
      "ours{fill:#0b5fa5}"
      ".peer{fill:#d9cdbd}.whisker{stroke:#222}.spaces{display:grid;grid-template-columns:repeat("
      "auto-fill,minmax(380px,1fr));gap:1em}"
      "figure{margin:0}figcaption{font-weight:600}table{border-collapse:collapse}td,th{padding:."
      "15em .6em;text-align:right}"
      "td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f5f7f9}.key "
      "span{margin-right:1em;white-space:nowrap}</style><h1>" +
      escaped(study.name) + "</h1><p>";
  out += format("%zu spaces, %llu seeds. ", table.spaces.size(),
                static_cast<unsigned long long>(study.seeds)) +
         score_meaning(table);
  out += "</p><h2>Score over all spaces</h2>" + bars(table) +
         "<table><tr><th>setting<th>score<th>95 % interval<th>difference<th>p<th>mean "
         "rank<th>within 5 %<th>within 1 %<th>ms</tr>";
  for (const StudyRow& r : table.rows) {
    if (!r.whole) continue;
    out += "<tr><td>" + escaped(r.label) + (r.peer ? " (recorded)" : "") +
           format("<td>%.3f<td>%.3f to %.3f<td>%.3f<td>", r.score, r.interval.low, r.interval.high,
                  r.difference);
    out += (r.peer ? std::string("<td>") : format("%.4f<td>%.2f", r.p, r.rank)) +
           format("<td>%.2f<td>%.2f<td>%.3f</tr>", r.hit5, r.hit1, r.tuner_ms);
  }
  out += "</table><h2>Score by share of the budget</h2><p class='key'>";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!table.rows[r].peer)
      out += "<span style='color:" + kColours[r % kColours.size()] + "'>&#9632; " +
             escaped(table.rows[r].label) + "</span>";
  }
  out += "</p><div class='spaces'>";
  for (std::size_t s = 0; s < table.spaces.size(); ++s) {
    out += "<figure><figcaption>" + escaped(table.spaces[s]) +
           format(", %llu evaluations", static_cast<unsigned long long>(table.budgets[s])) +
           "</figcaption>" + curve_svg(table, s) + "</figure>";
  }
  return out + "</div></html>\n";
}

}  // namespace warpath
