#include "experiments/ship/application.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "runners/worker/process.h"

namespace warpath {
namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 20U;
constexpr std::size_t kShownLines = 15;

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

int open_root(const Project& project) {
  return ::open(project.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// The last lines, indented.
std::string tail(const std::string& text) {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; begin > 0 && lines <= kShownLines; --begin)
    if (text[begin - 1] == '\n' && begin != text.size() && ++lines == kShownLines) break;
  std::string out;
  bool fresh = true;
  for (const char c : text.substr(begin)) {
    out += fresh ? "\n  " : "";
    fresh = c == '\n';
    if (!fresh) out += c;
  }
  return out;
}

}  // namespace

Application::Application(const Project& project, std::stop_token stop)
    : project_(project), stop_(std::move(stop)), lock_(open_root(project)) {
  if (lock_ >= 0) ::flock(lock_, LOCK_SH);
}

Application::~Application() {
  if (lock_ >= 0) ::close(lock_);
}

void Application::wait_for_commands(const Project& project, const std::stop_token& stop) {
  const int lock = open_root(project);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(project.timeout_seconds);
  bool held = false;
  while ((held = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) &&
         !stop.stop_requested() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (lock >= 0) ::close(lock);
  if (stop.stop_requested()) throw Interrupted();
  if (held)
    throw environment_error(project.root.string() +
                            ": what a killed deployment started still runs here; end it first");
}

Application::Ran Application::run(const std::string& what, const std::string& command) const {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", command};
  spec.environment = own_environment();
  spec.directory = project_.root.string();
  spec.held = lock_;
  const ProcessResult result = run_process(
      spec, std::chrono::duration<double>(project_.timeout_seconds), kMostOutput, stop_);
  if (result.end == ProcessEnd::stopped) throw Interrupted();
  Ran out{.problem = "", .output = result.output, .seconds = result.seconds};
  const std::string name = what + " (" + command + ") ";
  switch (result.end) {
    case ProcessEnd::exited:
      if (result.code != 0) out.problem = name + "ended with " + std::to_string(result.code);
      break;
    case ProcessEnd::signalled:
      out.problem = name + "was ended by signal " + std::to_string(result.code);
      break;
    case ProcessEnd::timed_out:
      out.problem = name + "took longer than " + number_text(project_.timeout_seconds) + " s";
      break;
    default:
      out.problem = name + "printed more than 64 MiB";
      break;
  }
  if (!out.problem.empty()) out.problem += tail(out.output);
  return out;
}

std::string Application::build() const {
  return run("build_command", project_.build_command).problem;
}

std::string Application::test() const {
  return run("test_command", project_.test_command).problem;
}

double Application::time(std::string& why) const {
  const Ran ran = run("benchmark_command", project_.benchmark_command);
  why = ran.problem;
  if (!why.empty()) return 0;
  if (project_.timing_mode == "wall") return ran.seconds;
  std::smatch match;
  char* end = nullptr;
  if (std::regex_search(ran.output, match, std::regex(project_.timing_pattern))) {
    const std::string text = match[1];
    const double number = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && std::isfinite(number) && number > 0)
      return project_.timing_mode == "printed_rate" ? 1 / number : number;
  }
  why = "benchmark_command (" + project_.benchmark_command + ") printed no number above 0 by " +
        project_.timing_pattern + tail(ran.output);
  return 0;
}

}  // namespace warpath
