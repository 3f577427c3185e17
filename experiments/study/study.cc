#include "experiments/study/study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/options_io.h"
#include "engine/search/search.h"
#include "experiments/setup/option_groups.h"
#include "experiments/study/study_spaces.h"
#include "runners/synthetic/move_landscape.h"

namespace warpath {
namespace {

using nlohmann::json;

const std::vector<std::string> kKeys{"name",       "spaces", "synthetic", "landscapes", "seeds",
                                     "first_seed", "budget", "cutoff",    "most",       "devices",
                                     "served",     "base",   "design",    "samples",    "factors"};

struct Factor {
  std::string name;
  std::vector<json> values;
};

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "search.beta" is shown as "beta".
std::string short_name(const std::string& factor) {
  return factor.substr(factor.find('.') == std::string::npos ? 0 : factor.find('.') + 1);
}

Setting make_setting(const Options& base,
                     const std::vector<Factor>& factors,
                     const std::vector<std::size_t>& choice,
                     const std::string& place) {
  Setting setting{.label = "", .values = {}, .options = base};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const json& value = factors[i].values[choice[i]];
    setting.options = set_option(setting.options, factors[i].name, value_text(value),
                                 place + "/" + factors[i].name);
    setting.values[factors[i].name] = value_text(value);
    if (value_text(value).empty() && factors.size() > 1) continue;
    setting.label +=
        (setting.label.empty() ? "" : " ") + short_name(factors[i].name) + "=" + value_text(value);
  }
  if (setting.label.empty()) setting.label = "default";
  check_search_options(setting.options);
  return setting;
}

std::vector<std::vector<std::size_t>> full_design(const std::vector<Factor>& factors) {
  std::vector<std::vector<std::size_t>> out{std::vector<std::size_t>(factors.size(), 0)};
  for (std::size_t i = factors.size(); i-- > 0;) {
    std::vector<std::vector<std::size_t>> next;
    for (std::size_t v = 0; v < factors[i].values.size(); ++v) {
      for (std::vector<std::size_t> choice : out) {
        choice[i] = v;
        next.push_back(std::move(choice));
      }
    }
    out = std::move(next);
  }
  return out;
}

std::vector<std::vector<std::size_t>> one_at_a_time(const std::vector<Factor>& factors) {
  std::vector<std::vector<std::size_t>> out{std::vector<std::size_t>(factors.size(), 0)};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    for (std::size_t v = 1; v < factors[i].values.size(); ++v) {
      out.push_back(out.front());
      out.back()[i] = v;
    }
  }
  return out;
}

/// The first values, then distinct draws.
std::vector<std::vector<std::size_t>> random_design(const std::vector<Factor>& factors,
                                                    std::uint64_t samples,
                                                    std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> all = full_design(factors);
  Rng rng(seed, "design");
  for (std::size_t i = all.size() - 1; i > 1; --i) std::swap(all[i], all[1 + rng.below(i)]);
  all.resize(std::min<std::size_t>(all.size(), samples));
  return all;
}

/// The first values of all factors, the second values of all, and so on.
std::vector<std::vector<std::size_t>> together(const std::vector<Factor>& factors,
                                               const JsonCursor& place) {
  std::vector<std::vector<std::size_t>> out(factors.empty() ? 1 : factors.front().values.size());
  for (const Factor& f : factors) {
    if (f.values.size() != out.size())
      place.at(f.name).fail("as many values as " + factors.front().name +
                            " has: " + std::to_string(out.size()));
  }
  for (std::size_t v = 0; v < out.size(); ++v) out[v].assign(factors.size(), v);
  return out;
}

std::uint64_t count_or(const JsonCursor& root, std::string_view key, std::uint64_t otherwise) {
  const auto at = root.find(key);
  return at ? at->unsigned_integer() : otherwise;
}

std::vector<std::string> texts(const JsonCursor& root, std::string_view key) {
  std::vector<std::string> out;
  if (const auto at = root.find(key)) {
    at->require_array();
    for (std::size_t i = 0; i < at->size(); ++i) out.push_back(at->element(i).text());
  }
  return out;
}

/// {"families": [...], "priors": [...], "seeds": [first, last]}: every combination.
std::vector<std::string> read_landscapes(const JsonCursor& root) {
  std::vector<std::string> out;
  const auto at = root.find("landscapes");
  if (!at) return out;
  require_only(*at, {"families", "priors", "seeds"});
  const JsonCursor seeds = at->at("seeds");
  seeds.require_array();
  if (seeds.size() != 2) seeds.fail("[first, last]");
  for (const std::string& family : texts(*at, "families")) {
    static_cast<void>(move_family(family, at->place() + "/families"));
    for (const std::string& prior : texts(*at, "priors")) {
      static_cast<void>(move_prior(prior, at->place() + "/priors"));
      for (std::uint64_t seed = seeds.element(0).unsigned_integer();
           seed <= seeds.element(1).unsigned_integer(); ++seed)
        out.push_back(family + "-" + prior + "-" + std::to_string(seed));
    }
  }
  return out;
}

/// `option`: group.name, or a group.
void require_used(std::string_view option, const JsonCursor& at) {
  constexpr std::array<std::string_view, 5> kOthers{"cluster", "cuda", "host", "llm", "synthetic"};
  if (std::ranges::find(kOthers, option.substr(0, option.find('.'))) != kOthers.end())
    at.fail(
        "an option that a study uses, of a group other than cluster, cuda, host, llm and "
        "synthetic");
}

std::vector<Factor> read_factors(const JsonCursor& root) {
  std::vector<Factor> factors;
  const auto at = root.find("factors");
  if (!at) return factors;
  at->require_object();
  for (const auto& [name, values] : at->value().items()) {
    if (!values.is_array() || values.empty())
      at->at(name).fail("a list of values, the one to compare with first");
    require_used(name, at->at(name));
    factors.push_back({name, values.get<std::vector<json>>()});
  }
  return factors;
}

}  // namespace

Study load_study(const std::filesystem::path& file) {
  const json document = read_json_file(file.string());
  const JsonCursor root(document, file.string());
  root.require_object();
  for (const auto& [key, value] : document.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      throw bad_input(root.place() + ":/" + key, value.dump(),
                      "a key of a study; docs/studies.md lists them");
  }
  Study study;
  study.name = root.find("name") ? root.at("name").text() : file.stem().string();
  for (const std::string& path : texts(root, "spaces"))
    study.spaces.push_back(file.parent_path() / path);
  study.synthetic = texts(root, "synthetic");
  study.landscapes = read_landscapes(root);
  study.seeds = count_or(root, "seeds", study.seeds);
  study.first_seed = count_or(root, "first_seed", study.first_seed);
  study.budget = count_or(root, "budget", study.budget);
  study.most = count_or(root, "most", study.most);
  study.devices = static_cast<int>(count_or(root, "devices", 1));
  if (study.seeds == 0) root.at("seeds").fail("at least 1");
  if (study.most == 0) root.at("most").fail("at least 1");
  if (study.devices < 1 || study.devices > 4096) root.at("devices").fail("1 to 4096");
  if (const auto at = root.find("cutoff")) study.cutoff = at->number();
  if (!(study.cutoff > 0 && study.cutoff < 1)) root.at("cutoff").fail("a number between 0 and 1");
  if (const auto at = root.find("served")) {
    if (at->text() != "mean" && at->text() != "draw") at->fail("mean or draw");
    study.served = at->text() == "draw" ? Served::draw : Served::mean;
  }
  Options base = default_options();
  if (const auto at = root.find("base")) {
    base = overlay_options(base, at->value(), at->place());
    for (const auto& [group, unused] : at->value().items()) require_used(group, at->at(group));
  }
  const std::vector<Factor> factors = read_factors(root);
  for (const Factor& f : factors) study.factors.push_back(f.name);
  const std::string design = root.find("design") ? root.at("design").text() : "full";
  std::vector<std::vector<std::size_t>> choices;
  if (design == "full") {
    choices = full_design(factors);
  } else if (design == "one_at_a_time") {
    choices = one_at_a_time(factors);
  } else if (design == "together") {
    choices = together(factors, factors.empty() ? root : root.at("factors"));
  } else if (design == "random") {
    choices = random_design(factors, root.at("samples").unsigned_integer(), study.first_seed);
  } else {
    root.at("design").fail("full, one_at_a_time, together or random");
  }
  for (const auto& choice : choices)
    study.settings.push_back(make_setting(base, factors, choice, root.place() + ":/factors"));
  study.text = document.dump();
  return study;
}

StudySpace scaled(std::shared_ptr<const Recording> recording, const Study& study) {
  std::vector<double> valid;
  double cost = 0;
  const std::vector<std::uint32_t> reachable = recording->reachable();
  for (const std::uint32_t i : reachable) {
    const Recording::Row& row = recording->rows()[i];
    if (row.status == Status::ok) valid.push_back(row.time_ns);
    cost += row.compile_seconds + row.run_seconds;
  }
  if (valid.empty()) throw bad_input(recording->name(), "no point that runs", "at least one");
  const std::size_t points = reachable.size();
  ScoreScale scale(valid, points - valid.size());
  const bool drawable = recording->drawable();
  // The expected cost of uniform draws is undefined for a graph, which cannot be drawn from.
  const std::uint64_t usual = drawable ? std::min(study.most, scale.budget(study.cutoff))
                                       : static_cast<std::uint64_t>(RunOptions{}.budget_builds);
  const std::uint64_t budget =
      std::min(study.budget > 0 ? study.budget : usual, recording->variants());
  std::vector<double> baseline = drawable ? scale.baseline(budget) : std::vector<double>{};
  const double start = drawable ? 0 : recording->rows().front().time_ns;
  return {std::move(recording),
          std::move(scale),
          budget,
          std::move(baseline),
          cost / static_cast<double>(points),
          start};
}

double StudySpace::score_at(std::uint64_t evaluations, double reached_ns) const {
  const double optimum = scale.optimum();
  if (start_ns > 0)
    return start_ns > optimum ? std::log(start_ns / reached_ns) / std::log(start_ns / optimum) : 1;
  const double room = baseline[evaluations - 1] - optimum;
  return room > 0 ? (baseline[evaluations - 1] - reached_ns) / room : 0;
}

double StudySpace::score(std::span<const double> best) const {
  if (start_ns <= 0) return scale.score(best, baseline);
  double sum = 0;
  for (std::uint64_t m = 1; m <= budget; ++m)
    sum += score_at(m, best.empty() ? start_ns : best[std::min<std::size_t>(best.size(), m) - 1]);
  return sum / static_cast<double>(budget);
}

}  // namespace warpath
