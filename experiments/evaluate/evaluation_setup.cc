#include "experiments/evaluate/evaluation_setup.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/evaluate/evaluation_report.h"

namespace warpath {

std::vector<Flag> spec_flags() {
  return {{.name = "input",
           .value = "SPEC|DIR...",
           .help = "the kernel spec; --name picks one of many",
           .takes = Flag::Takes::several},
          {.name = "name",
           .value = "PATTERN",
           .help = "the spec of this name; * and ? stand for any text"}};
}

KernelSpec wanted_spec(std::string_view command, const Arguments& arguments) {
  if (arguments.values("input").empty()) throw bad_input(command, "", "--input SPEC");
  std::vector<KernelSpec> specs = load_specs(arguments.values("input"));
  std::string names;
  for (const KernelSpec& spec : specs) names += (names.empty() ? "" : ", ") + spec.name;
  const std::string pattern = arguments.value("name").value_or("*");
  std::erase_if(specs, [&](const KernelSpec& spec) {
    return fnmatch(pattern.c_str(), spec.name.c_str(), 0) != 0;
  });
  if (specs.size() != 1)
    throw bad_input("--name", arguments.value("name").value_or(""), "exactly one of " + names);
  return std::move(specs.front());
}

Stage parse_stage(const std::string& text, std::string_view place) {
  const auto it = std::ranges::find(kStageNames, text);
  if (it == kStageNames.end()) throw bad_input(place, text, "screening, confirmation or final");
  return static_cast<Stage>(it - kStageNames.begin());
}

std::size_t parse_count(const std::string& text, std::string_view place, std::size_t least) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < least || out > 1'000'000) {
    throw bad_input(place, text, "a number from " + std::to_string(least) + " to 1000000");
  }
  return out;
}

void EvaluationProgress::show(const EvaluationFigures& figures) {
  status_.show([&](std::size_t width) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return evaluation_line(name_, figures, seconds, width);
  });
}

}  // namespace warpath
