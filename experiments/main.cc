#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"
#include "experiments/command.h"
#include "experiments/revision.h"

namespace {

using warpath::Command;

/// Every verb of the program.
std::vector<Command> commands() {
  return {warpath::run_command(),     warpath::ablate_command(),  warpath::sweep_command(),    warpath::record_command(), warpath::train_command(), warpath::tactics_command(), warpath::apply_command(),  warpath::evaluate_command(),
          warpath::validate_command(), warpath::attribute_command(), warpath::report_command(), warpath::inspect_command(), warpath::options_command(), warpath::moves_command(),  warpath::priors_command(), warpath::doctor_command(),
          warpath::bundle_command(),   warpath::worker_command(),  warpath::prompt_command(),  warpath::ask_command(),    warpath::tell_command(),   warpath::mcp_command()};
}

void print_overview(std::FILE* to) {
  std::fputs("Finds faster versions of a GPU kernel by Monte Carlo graph search.\n\nusage: warpath COMMAND ...\n\n", to);
  for (const Command& command : commands()) std::fprintf(to, "  %-10s %s\n", command.name.c_str(), command.help.c_str());
  std::fputs(
      "  test       (./warpath test, from a checkout) build and run the test suite\n"
      "\n`warpath COMMAND --help` says more; `warpath --version` names the revision.\n"
      "Exit codes: 0 improved or done, 2 no gain, 3 environment, infrastructure or interrupted, 64 bad usage or input.\n",
      to);
}

int print_help(const Command& command) {
  std::printf("usage: warpath %s %s\n\n%s\n", command.name.c_str(), command.usage.c_str(), command.help.c_str());
  if (!command.flags.empty()) std::printf("\n%s", warpath::help_text(command.flags).c_str());
  return 0;
}

int run_command(const Command& command, std::span<const std::string> words, const warpath::Program& program) {
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

int dispatch(std::span<const std::string> words, const warpath::Program& program) {
  if (words.empty()) {
    print_overview(stderr);
    return static_cast<int>(warpath::ErrorCode::bad_input);
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_overview(stdout);
    return 0;
  }
  if (words[0] == "--version") {
    std::printf("warpath %s\n", std::string(warpath::revision()).c_str());
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == words[0]) return run_command(command, words.subspan(1), program);
    names.push_back(command.name);
  }
  const std::string near = warpath::nearest(words[0], names);
  throw warpath::bad_input("warpath", words[0],
                           near.empty() ? "a command; `warpath --help` lists them" : "a command; did you mean " + near + "?");
}

/// One line, whatever the message holds.
int report(std::string message, int code) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "warpath: %s\n", message.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::error_code ignored;
    const warpath::Program program{std::filesystem::read_symlink("/proc/self/exe", ignored).string(), {argv, argv + argc}};
    return dispatch(std::span(program.words).subspan(argc > 0 ? 1 : 0), program);
  } catch (const warpath::Error& error) {
    return report(error.what(), static_cast<int>(error.code()));
  } catch (const std::exception& error) {
    return report(std::string("unexpected: ") + error.what(), static_cast<int>(warpath::ErrorCode::environment));
  }
}
