#include "experiments/evaluate/evaluation_setup.h"

#include <fnmatch.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/evaluate/evaluation_report.h"

namespace warpath {

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

std::size_t parse_count(const std::string& text, std::string_view place) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1 || out > 1'000'000) {
    throw bad_input(place, text, "a number from 1 to 1000000");
  }
  return out;
}

EvaluationProgress::EvaluationProgress(std::string name)
    : name_(std::move(name)), terminal_(isatty(STDERR_FILENO) == 1) {}

void EvaluationProgress::show(const EvaluationFigures& figures) {
  const auto now = Clock::now();
  if (now - last_ <
      (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000)))
    return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n",
               evaluation_line(name_, figures, seconds, width()).c_str());
  std::fflush(stderr);
  drawn_ = terminal_;
}

void EvaluationProgress::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

std::size_t EvaluationProgress::width() const {
  winsize size{};
  if (!terminal_) return SIZE_MAX;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20 ? 80 : size.ws_col - 1U;
}

}  // namespace warpath
