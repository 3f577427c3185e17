#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/base/detailed_error.h"
#include "experiments/setup/revision.h"
#include "register_commands.h"

namespace {

using warpath::Command;

/// Every verb of the program.
std::vector<Command> commands() {
  std::vector<Command> out;
  warpath::register_commands(out);
  return out;
}

void print_overview() {
  std::printf("%s\n\nusage: warpath COMMAND ...\n\n",
              std::string(warpath::kProgramSummary).c_str());
  for (const Command& command : commands())
    std::printf("  %-10s %s\n", command.name.c_str(), command.help.c_str());
  std::printf(
      "  test       (./warpath test, from a checkout) build and run the test suite\n"
      "\n`warpath COMMAND --help` says more; `warpath --version` names the revision.\n"
      "Exit codes: %s\n",
      std::string(warpath::kExitCodes).c_str());
}

/// What to do next, for who gave no command.
void print_first_steps() {
  std::string out =
      std::string(warpath::kProgramSummary) + "\n\nusage: warpath COMMAND ..., to begin with\n\n";
  for (const warpath::BeginnersStep& step : warpath::kBeginnersSteps) {
    std::string line = "  " + std::string(step.command);
    line.resize(std::max<std::size_t>(line.size() + 2, 38), ' ');
    out += line + std::string(step.purpose) + "\n";
  }
  out += "\n`warpath --help` lists all commands.\n";
  std::fputs(out.c_str(), stderr);
}

int print_help(const Command& command) {
  std::printf("usage: warpath %s %s\n\n%s\n", command.name.c_str(), command.usage.c_str(),
              command.help.c_str());
  if (!command.flags.empty()) std::printf("\n%s", warpath::help_text(command.flags).c_str());
  return 0;
}

int run_command(const Command& command,
                std::span<const std::string> words,
                const warpath::Program& program) {
  const std::string name = "warpath " + command.name;
  const warpath::Arguments arguments = warpath::parse_arguments(name, command.flags, words);
  if (arguments.has("help")) return print_help(command);
  const std::size_t given = arguments.words().size();
  if (given < command.least_words) throw warpath::bad_input(name, "", command.usage);
  if (given > command.most_words) {
    throw warpath::bad_input(name, arguments.words()[command.most_words],
                             command.most_words == 0 ? "only flags here" : command.usage);
  }
  return command.run(arguments, program);
}

Command command_named(const std::string& name) {
  std::vector<std::string> names;
  for (Command& command : commands()) {
    if (command.name == name) return std::move(command);
    names.push_back(command.name);
  }
  const std::string near = warpath::nearest(name, names);
  throw warpath::bad_input("warpath", name,
                           near.empty() ? "a command; `warpath --help` lists them"
                                        : "a command; did you mean " + near + "?");
}

int help_of(const std::string& name) {
  return print_help(command_named(name));
}

int dispatch(std::span<const std::string> words, const warpath::Program& program) {
  if (words.empty()) {
    print_first_steps();
    return static_cast<int>(warpath::ErrorCode::bad_input);
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    if (words[0] == "help" && words.size() > 1) return help_of(words[1]);
    print_overview();
    return 0;
  }
  if (words[0] == "--version") {
    std::printf("warpath %s\n", std::string(warpath::revision()).c_str());
    return 0;
  }
  return run_command(command_named(words[0]), words.subspan(1), program);
}

int report(const std::exception& error) {
  std::fprintf(stderr, "warpath: %s\n", warpath::message_of(error).c_str());
  std::fputs(warpath::details_text(error, "  ").c_str(), stderr);
  const auto* own = dynamic_cast<const warpath::Error*>(&error);
  return static_cast<int>(own != nullptr ? own->code() : warpath::ErrorCode::environment);
}

/// If a standard descriptor is closed, the next opened file would take its number and receive every
/// message.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    // the lowest that is free: this one
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

/// Makes a write beyond a limit (ulimit -f) fail with an error instead of ending the program. Uses
/// a handler because an ignored signal would stay ignored in started programs.
void survive_file_limits() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

/// Flushes the output. Returns 3 if that fails, unless the command failed anyway.
int flushed(int code) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return code;
  return report(warpath::environment_error(std::string("standard output cannot be written: ") +
                                           std::strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  survive_file_limits();
  try {
    std::error_code ignored;
    const warpath::Program program{
        std::filesystem::read_symlink("/proc/self/exe", ignored).string(), {argv, argv + argc}};
    return flushed(dispatch(std::span(program.words).subspan(argc > 0 ? 1 : 0), program));
  } catch (const std::exception& error) {
    return report(error);
  }
}
