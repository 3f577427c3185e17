#include "experiments/report/run_headline.h"

#include <cmath>

#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/plugin/options_io.h"
#include "experiments/console/command_line.h"
#include "experiments/console/document.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/runner_choice.h"
#include "moves/contract/contract_text.h"

namespace warpath {
namespace {

using nlohmann::json;

double number(const json& of, const char* key) {
  if (!of.is_object()) return 0;
  const auto at = of.find(key);
  return at != of.end() && at->is_number() ? at->get<double>() : 0;
}

void add_verdict(const RunMaterial& m, Headline& to) {
  const auto& baseline = m.run.nodes()[0].outcome;
  if (!baseline || baseline->status != Status::ok) {
    to.verdict = baseline ? "not searched: the baseline is " + std::string(name(baseline->status))
                          : "the baseline was not measured";
    return;
  }
  if (!m.summary) {
    to.verdict = "no result yet";
    return;
  }
  const BestSummary& s = *m.summary;
  to.good = s.improved;
  if (!s.measured) {
    to.verdict = "not measured: the device was busy";
    return;
  }
  to.verdict = to.good         ? ratio_text(s.speedup) + " faster"
               : s.speedup > 1 ? "no gain that counts: " + ratio_text(s.speedup)
                               : "no gain: nothing faster than the baseline was found";
  if (s.speedup_interval) {
    to.interval =
        format("[%.3f, %.3f], 99 %% interval", s.speedup_interval->low, s.speedup_interval->high);
    if (s.speedup > 1 && s.speedup_interval->low <= 1)
      to.interval += ", which includes 1: it may be no gain";
  } else if (s.speedup > 1) {
    to.interval = "no interval: not timed in pairs with the baseline";
  }
  to.times = ms_text(s.baseline_ms) + " ms \u2192 " + ms_text(s.best_ms) + " ms";
  const auto label = timing_label(m.run.run().runner);
  if (!label.empty()) to.times += " (" + std::string(label) + ", not a GPU's)";
  if (s.finalists > 0)
    to.times +=
        ", timed again at the end; in the search the best was " + ratio_text(s.searched_speedup);
}

std::string budget_text(const RunMaterial& m) {
  const json& run = m.options.contains("run") ? m.options.at("run") : json();
  std::string out = format("%.0f builds", number(run, "budget_builds"));
  if (const double seconds = number(run, "budget_seconds"); seconds > 0)
    out += ", " + duration_text(seconds);
  if (const double seconds = number(run, "budget_gpu_seconds"); seconds > 0)
    out += ", " + duration_text(seconds) + " on the device";
  if (const double share = number(run, "until"); share > 0)
    out += ", until " + percent_text(share) + " of the bound";
  out += format("; %llu made", static_cast<unsigned long long>(m.run.cost().search.evaluations));
  if (m.summary && !m.summary->stop_reason.empty()) out += " (" + m.summary->stop_reason + ")";
  return out;
}

std::string refused_text(const RunMaterial& m) {
  std::size_t refused = 0, done = 0;
  for (const RecordedNode& node : m.run.nodes()) {
    if (node.build == 0) continue;
    ++done;
    if (is_refusal(node.outcome->status)) ++refused;
  }
  return format("%zu of %zu variants", refused, done);
}

void add_facts(const RunMaterial& m, Headline& to) {
  const auto add = [&](const char* what, const std::string& text) {
    if (!text.empty()) to.facts.emplace_back(what, valid_utf8(text));
  };
  const auto environment = [&](const char* key) {
    return m.environment.is_object() ? m.environment.value(key, "") : std::string();
  };
  const std::string& device = m.run.device().name;
  add("device", device.empty() && m.summary ? m.summary->device : device);
  add("runner", m.run.run().runner);
  add("date", m.run.started() > 0 ? utc_text(m.run.started()) : environment("started"));
  add("revision", environment("revision"));
  add("budget", budget_text(m));
  add("seed", std::to_string(m.run.run().seed));
  add("wall time",
      duration_text(m.run.cost().seconds) +
          (m.run.sessions() > 1
               ? format(", %llu sessions", static_cast<unsigned long long>(m.run.sessions()))
               : ""));
  add("refused", refused_text(m));
  if (!m.summary) return;
  add("verdict of the gates", m.summary->verdict.summary());
  if (m.summary->interrupted) add("interrupted", "yes: --resume continues it");
  if (m.summary->contract && m.summary->contract->narrowed)
    add("holds only for", contract_summary(*m.summary->contract));
}

std::string command_of(const RunMaterial& m) {
  std::vector<std::string> words{
      "./warpath", "run",
      "--input",   (m.folder / "input_spec.json").lexically_normal().string(),
      "--runner",  m.run.run().runner,
      "--outdir",  "out/again"};
  for (std::string& word : option_words(m.options)) words.push_back(std::move(word));
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + quoted_word(word);
  return out;
}

}  // namespace

std::vector<std::string> option_words(const json& options) {
  const json defaults = to_json(default_options());
  std::vector<std::string> words;
  for (const OptionRow& row : option_rows(default_options())) {
    if (!options.contains(row.group) || !options.at(row.group).contains(row.key)) continue;
    const json& value = options.at(row.group).at(row.key);
    if (value == defaults.at(row.group).at(row.key)) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!row.flag.empty() && value == true) {
      words.push_back("--" + row.flag);
    } else if (!row.flag.empty() && !value.is_boolean()) {
      words.insert(words.end(), {"--" + row.flag, text});
    } else {
      words.insert(words.end(), {"--set", row.group + "." + row.key + "=" + text});
    }
  }
  return words;
}

Headline run_headline(const RunMaterial& material) {
  Headline out;
  out.name = material.run.run().name;
  add_verdict(material, out);
  add_facts(material, out);
  out.command = command_of(material);
  return out;
}

std::string headline_html(const Headline& h) {
  std::string out = "<h1>" + markup_text(h.name) + "</h1>\n<p class=\"verdict " +
                    std::string(h.good ? "good" : "soft") + "\">" + markup_text(h.verdict);
  if (!h.interval.empty()) out += "<small>" + markup_text(h.interval) + "</small>";
  out += "</p>\n<p class=\"times\">" + markup_text(h.times) + "</p>\n<dl>\n";
  for (const auto& [what, text] : h.facts)
    out += "<div><dt>" + markup_text(what) + "</dt><dd>" + markup_text(text) + "</dd></div>\n";
  return out + "</dl>\n<div class=\"command\"><code id=\"command\">" + markup_text(h.command) +
         "</code><button type=\"button\" class=\"copy\">copy</button></div>\n";
}

}  // namespace warpath
