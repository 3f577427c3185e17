#include "experiments/init/reached_shapes.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec_load.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/spec_problems.h"
#include "runners/host/judge/trial.h"
#include "runners/host/options.h"

namespace warpath {
namespace {

using json = nlohmann::ordered_json;

std::string shape_path(std::size_t argument) {
  return "/kernel/io/args/" + std::to_string(argument) + "/tensor_spec/shape";
}

/// The guess at `path`; null if there is none.
json* guess_at(json& guesses, const std::string& path) {
  const auto found =
      std::ranges::find_if(guesses, [&](const json& guess) { return guess.at("path") == path; });
  return found == guesses.end() ? nullptr : &*found;
}

/// An integer or expression plus 1.
json one_more(const json& number) {
  if (number.is_number_integer()) return number.get<std::int64_t>() + 1;
  return number.get<std::string>() + " + 1";
}

/// `document`, then with one other guess each: the next enumerators in the place of the first,
/// which may stand for none, and integers of tensors from 1 on, also up to the
/// number that they were below, which are none of 0 where they count so. A kernel may trap on
/// those, or read beside its tensors.
std::vector<json> with_other_guesses(const json& document) {
  constexpr int kMostEnumerators = 8;
  std::vector<json> out{document};
  const std::string otherwise = "; with the usual guess no launch on the host ends";
  for (std::size_t g = 0; g < document.value("guessed", json::array()).size(); ++g) {
    const std::string path = document["guessed"][g].at("path"),
                      why = document["guessed"][g].at("why");
    const auto add = [&](const std::string& at, int value) {
      json& other = out.emplace_back(document);
      other[json::json_pointer(at)] = value;
      other["guessed"][g]["why"] = why + otherwise;
    };
    const json& guessed = document[json::json_pointer(path)];
    if (why == kFirstEnumerator)
      for (int value = 1; value < kMostEnumerators; ++value) add(path, value);
    if (guessed.is_object() && guessed.value("kind", "") == "randint" &&
        guessed.value("low", json(1)) == 0) {
      const json high = one_more(guessed.at("high"));
      add(path + "/low", 1);
      add(path + "/low", 1);
      out.back()[json::json_pointer(path)]["high"] = high;
    }
  }
  return out;
}

/// An extent `factor` times as large.
json times(const json& extent, std::int64_t factor) {
  if (extent.is_number_integer()) return extent.get<std::int64_t>() * factor;
  return std::to_string(factor) + " * (" + extent.get<std::string>() + ")";
}

/// Makes the shapes hold the elements that were reached.
void enlarge(json& document,
             const KernelSpec& spec,
             const Workload& workload,
             const std::map<std::string, std::int64_t>& reached) {
  json guesses = document.value("guessed", json::array());
  for (std::size_t i = 0; i < spec.io.args.size(); ++i) {
    const ArgSpec& arg = spec.io.args[i];
    if (arg.type != ArgType::tensor) continue;
    std::int64_t declared = 1;
    for (const std::int64_t extent : spec.shape_of(arg, workload)) declared *= extent;
    const std::int64_t elements = reached.at(arg.name);
    if (elements <= declared || declared == 0) continue;
    const std::string path = shape_path(i);
    json& shape = document[json::json_pointer(path)];
    shape[0] = times(shape[0], (elements + declared - 1) / declared);
    const std::string why = "a launch on the host reached up to " + std::to_string(elements) +
                            " elements of " + arg.name + " in workload " + workload.name;
    if (json* const guess = guess_at(guesses, path))
      (*guess)["why"] = guess->at("why").get<std::string>() + "; " + why;
    else
      guesses.push_back({{"path", path}, {"why", why}});
  }
  if (!guesses.empty()) document["guessed"] = guesses;
}

}  // namespace

std::vector<KernelSpec> specs_of(const SpecDraft& draft, const std::string& file) {
  try {
    json document = json::parse(draft.spec);
    document["kernel"]["source_code"] = draft.source;
    if (document["reference"].contains("kernel"))
      document["reference"]["kernel"]["source_code"] = draft.source;
    return parse_specs(document.dump(), file, std::filesystem::path(file).parent_path().string());
  } catch (const json::exception&) {
    throw bad_input(file, "", "an answer that leaves it a spec");
  }
}

std::string draft_problem(const SpecDraft& draft, const std::string& file) {
  try {
    for (const KernelSpec& spec : specs_of(draft, file)) {
      const std::vector<std::string> problems = spec_problems(spec);
      if (!problems.empty()) return problems.front();
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::optional<std::string> with_reached_shapes(const SpecDraft& draft,
                                               const std::string& file,
                                               const std::string& program) {
  DeviceFacts host;
  host.runner = "host";
  constexpr double kMostSeconds = 20;  // of trials; each may compile, or never end
  const Stopwatch watch;
  for (json& document : with_other_guesses(json::parse(draft.spec))) {
    SpecDraft tried = draft;
    tried.spec = document.dump();
    if (watch.seconds() > kMostSeconds || !draft_problem(tried, file).empty()) continue;
    const KernelSpec spec = specs_of(tried, file).front();
    const auto workloads = workloads_for(spec, host);
    if (workloads.empty()) break;
    const Workload& workload = *workloads.front();
    const auto reached =
        host::reached_elements(spec, workload, default_options().of<HostOptions>(), program);
    if (!reached) continue;
    enlarge(document, spec, workload, *reached);
    return document.dump(2) + "\n";
  }
  return std::nullopt;
}

}  // namespace warpath
