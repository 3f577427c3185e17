#include "experiments/study/study_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"

namespace warpath {
namespace {

using nlohmann::json;

std::string evaluations_text(double to) {
  return to > 0 ? format("%.0f", to) : "-";
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

std::string served_text(const Study& study) {
  return study.served == Served::mean ? "means" : "single repeats";
}

const std::vector<std::string> kColours{"#0b5fa5", "#c8472b", "#2e8b57", "#8e5bb5",
                                        "#b58900", "#4f7f86", "#a83269", "#7a5c3e",
                                        "#5b6770", "#1f9e9e", "#d0812d", "#6c8a1f"};

std::string svg_head(double width, double height) {
  return format("<svg viewBox='0 0 %.0f %.0f' width='%.0f' role='img'>", width, height, width) +
         "<style>text{font-size:11px;fill:#444}.grid{stroke:#e4e4e4}.zero{stroke:#888}"
         ".bar{fill:#9db8cc}.ours{fill:#0b5fa5}.peer{fill:#d9cdbd}.whisker{stroke:#222}</style>";
}

/// Curves of all settings over the share of the budget.
std::string curve_svg(const StudyTable& table, std::size_t space) {
  constexpr double kWidth = 420, kHeight = 220, kLeft = 34, kBottom = 22, kLow = -0.5;
  const auto x = [&](double share) { return kLeft + share * (kWidth - kLeft - 8); };
  const auto y = [&](double score) {
    return (1 - std::max(score, kLow)) / (1 - kLow) * (kHeight - kBottom - 8) + 8;
  };
  std::string svg = svg_head(kWidth, kHeight);
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
    svg += "'><title>" + markup_text(row.label) + "</title></polyline>";
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
  std::string svg = svg_head(640, height);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StudyRow& r = *rows[i];
    const double top = 20.0 * static_cast<double>(i) + 6;
    const double left = std::min(x(0), x(r.score));
    svg += format("<rect x='%.1f' y='%.1f' width='%.1f' height='12' class='%s'/>", left, top,
                  std::abs(x(r.score) - x(0)),
                  &r == &table.rows.front() ? "ours" : (r.peer ? "peer" : "bar"));
    svg += format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='whisker'/>",
                  x(r.interval.low), x(r.interval.high), top + 6, top + 6);
    svg +=
        format("<text x='2' y='%.1f'>", top + 10) + markup_text(r.label.substr(0, 34)) + "</text>";
  }
  return svg + "</svg>";
}

/// Which colour is whose.
std::string curves_key(const StudyTable& table) {
  std::string out = "<p>";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!table.rows[r].peer)
      out += "<span style='margin-right:1em;color:" + kColours[r % kColours.size()] + "'>&#9632; " +
             markup_text(table.rows[r].label) + "</span>";
  }
  return out + "</p>";
}

std::vector<Document::Row> rows_over_all(const StudyTable& table) {
  std::vector<Document::Row> out{
      {"setting", "score", "difference", "p", "mean rank", "published form", "within 5 %",
       "within 1 %", "evaluations to 95 %, ratio", "budget used", "tuner ms an evaluation"}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const StudyRow& r = table.rows[i];
    if (!r.whole) continue;
    const bool compared = i > 0, tested = i > 0 && !r.peer;
    out.push_back({r.title(), interval_text(r.score, r.interval),
                   compared ? interval_text(r.difference, r.difference_interval) : "",
                   tested ? format("%.4f", r.p) : "", r.peer ? "" : format("%.2f", r.rank),
                   published_text(r.published), format("%.2f", r.hit5), format("%.2f", r.hit1),
                   tested ? interval_text(r.ratio95, r.ratio95_interval) : "",
                   format("%.2f", r.used), r.peer ? "" : format("%.3f", r.tuner_ms)});
  }
  return out;
}

std::vector<Document::Row> rows_of_space(const StudyTable& table, std::size_t space) {
  std::vector<Document::Row> out{{"setting", "score", "published form", "within 5 %", "within 1 %",
                                  "evaluations to 5 %", "to 1 %", "to 95 %", "there",
                                  "regret at half", "at the end", "at equal clock"}};
  for (const StudyRow& r : table.rows) {
    const StudyCell& c = r.cells[space];
    if (c.scores.empty()) continue;
    const auto ours = [&](std::string text) { return r.peer ? "" : std::move(text); };
    out.push_back({r.title(), interval_text(c.score, c.interval), published_text(c.published),
                   format("%.2f", c.hit5), format("%.2f", c.hit1), ours(evaluations_text(c.to5)),
                   ours(evaluations_text(c.to1)), ours(interval_text(c.mean95, c.interval95, 1)),
                   ours(format("%.2f", c.reached95)), ours(format("%.4f", c.regret_half)),
                   format("%.4f", c.regret), ours(format("%.4f", c.regret_clock))});
  }
  return out;
}

}  // namespace

Document study_page(const Study& study, const StudyTable& table) {
  Document page;
  page.heading(1, study.name);
  page.paragraph(format("%zu settings, %zu spaces, %llu seeds, %d virtual %s, recorded %s served. ",
                        study.settings.size(), table.spaces.size(),
                        static_cast<unsigned long long>(study.seeds), study.devices,
                        study.devices == 1 ? "device" : "devices", served_text(study).c_str()) +
                 score_meaning(table) +
                 " Intervals: 95 %, bootstrap over seeds. Difference: " + table.rows.front().label +
                 " minus the row, paired over seeds (recorded peers: against its mean); p by sign "
                 "flips, Holm-adjusted.");
  page.heading(2, "All spaces");
  page.figure(bars(table));
  page.table(rows_over_all(table));
  page.figure(curves_key(table));
  for (std::size_t s = 0; s < table.spaces.size(); ++s) {
    page.heading(2, table.spaces[s]);
    page.paragraph("Budget " + std::to_string(table.budgets[s]) + "; " +
                   percent_text(table.ease[s]) +
                   " of random descents end within 5 % of the optimum.");
    page.figure(curve_svg(table, s));
    page.table(rows_of_space(table, s));
  }
  return page;
}

std::string curves_csv(const StudyTable& table) {
  std::string out = "label,peer,space,share,evaluations,score\n";
  for (const StudyRow& r : table.rows) {
    for (std::size_t s = 0; s < r.cells.size(); ++s) {
      const std::vector<double>& curve = r.cells[s].curve;
      for (std::size_t i = 0; i < curve.size(); ++i) {
        const double share = static_cast<double>(i + 1) / static_cast<double>(curve.size());
        out += csv_field(r.label) + (r.peer ? ",1," : ",0,") + table.spaces[s] +
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

}  // namespace warpath
