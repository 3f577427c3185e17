// What the program says to a shell, to man, and to who starts it without a word.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "register_commands.h"
#include "runners/worker/process.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
using Words = std::vector<std::string>;

namespace {

/// The output of a command, which must succeed.
std::string output_of(const Words& argv) {
  warpath::ProcessSpec spec;
  spec.argv = argv;
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  const auto result = warpath::run_process(spec, std::chrono::seconds(30), 1 << 20);
  CAPTURE(result.output);
  CHECK(result.code == 0);
  return result.output;
}

/// What bash offers where the last of the words is being written.
Words offered(const std::filesystem::path& script, const Words& words) {
  std::string line = "source '" + script.string() + "'; COMP_WORDS=(";
  for (const std::string& word : words) line += "'" + word + "' ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
          "; _warpath; printf '%s\\n' \"${COMPREPLY[@]}\"";
  Words out;
  for (const std::string& found : lines_of(output_of({"bash", "-c", line}))) {
    if (!found.empty()) out.push_back(found);
  }
  return out;
}

bool has(const Words& words, const std::string& wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

}  // namespace

TEST_SUITE_BEGIN("shell_help");

TEST_CASE("bash completes commands, flags of the command, words that a flag takes, else files") {
  const TemporaryFolder folder;
  const std::filesystem::path script = folder / "warpath.bash";
  write_file(script, run_program({"completion", "bash"}).out);
  CHECK(offered(script, {"warpath", "val"}) == Words{"validate"});
  CHECK(offered(script, {"warpath", "help", "comp"}) == Words{"completion"});
  CHECK(offered(script, {"warpath", "run", "--budget-b"}) == Words{"--budget-builds"});
  CHECK(offered(script, {"warpath", "run", "--isolation", ""}) == Words{"process", "none"});
  CHECK(offered(script, {"warpath", "run", "--isolation", "n"}) == Words{"none"});
  CHECK(offered(script, {"warpath", "run", "--input", "specs/"}).empty());
  CHECK(offered(script, {"warpath", "no_such_command", "--"}).empty());
  warpath::CommandRegistry commands;
  warpath::register_commands(commands);
  const Words names = offered(script, {"warpath", ""});
  for (const warpath::Command& command : commands) {
    CAPTURE(command.name);
    CHECK(has(names, command.name));
    const Words flags = offered(script, {"warpath", command.name, "--"});
    CHECK(flags.size() == command.flags.size() + 1);
    for (const warpath::Flag& flag : command.flags) CHECK(has(flags, "--" + flag.name));
  }
}

TEST_CASE("zsh reads its script") {
  if (!std::filesystem::exists("/usr/bin/zsh")) {
    MESSAGE("zsh is not installed: only what the script holds is looked at");
  } else {
    const TemporaryFolder folder;
    write_file(folder / "_warpath", run_program({"completion", "zsh"}).out);
    output_of({"zsh", "-n", (folder / "_warpath").string()});
  }
  const std::string script = run_program({"completion", "zsh"}).out;
  CHECK(script.starts_with("#compdef warpath\n"));
  CHECK(script.find(":NAME:(process none)'") != std::string::npos);
}

TEST_CASE("a shell that is not known is named") {
  const ProgramResult result = run_program({"completion", "fish"});
  CHECK(result.code == 64);
  CHECK(result.err == "warpath: warpath completion: got fish, expected bash or zsh\n");
}

TEST_CASE("the manual page names every command and flag, and troff has nothing against it") {
  const TemporaryFolder folder;
  const std::string page = run_program({"manual"}).out;
  write_file(folder / "warpath.1", page);
  warpath::CommandRegistry commands;
  warpath::register_commands(commands);
  for (const warpath::Command& command : commands) {
    CAPTURE(command.name);
    CHECK(page.find(".SS warpath " + command.name) != std::string::npos);
  }
  CHECK(page.find("\n.B \\-\\-budget\\-builds \\fIN\\fR\n") != std::string::npos);
  if (!std::filesystem::exists("/usr/bin/groff")) {
    MESSAGE("groff is not installed");
    return;
  }
  const std::string warnings =
      output_of({"groff", "-man", "-ww", "-z", "-Tutf8", (folder / "warpath.1").string()});
  CHECK(warnings == "");
}

TEST_CASE("without a word the program says what to do first, and every step is a command") {
  const ProgramResult result = run_program({});
  CHECK(result.code == 64);
  CHECK(result.out == "");
  CHECK(result.err.find("usage: warpath COMMAND") != std::string::npos);
  for (const warpath::BeginnersStep& step : warpath::kBeginnersSteps) {
    CHECK(result.err.find(std::string(step.command)) != std::string::npos);
    const std::string command(step.command.substr(8, step.command.find(' ', 8) - 8));
    CHECK(run_program({command, "--help"}).code == 0);
  }
}

TEST_SUITE_END();
