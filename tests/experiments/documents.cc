// The documents name commands and flags that exist.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "register_commands.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

using Flags = std::set<std::string>;

const std::map<std::string, Flags>& flags_by_command() {
  static const auto all = [] {
    std::map<std::string, Flags> out;
    warpath::CommandRegistry commands;
    warpath::register_commands(commands);
    for (const warpath::Command& command : commands) {
      Flags& flags = out[command.name];
      flags.insert("--help");
      for (const warpath::Flag& flag : command.flags) flags.insert("--" + flag.name);
    }
    return out;
  }();
  return all;
}

/// What a page says to type: console lines, shell blocks, and spans of code that begin with the
/// program; lines of a span are joined.
std::vector<std::string> typed(const std::string& page) {
  std::vector<std::string> out;
  std::string kind, prose;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) {
      kind = kind.empty() ? line.substr(3) + "." : "";
    } else if (kind.empty()) {
      prose += line + " ";
    } else if (line.starts_with("$ ") || kind == "sh.") {
      out.push_back(line);
    }
  }
  for (std::size_t begin = 0; (begin = prose.find('`', begin)) != std::string::npos;) {
    const std::size_t end = prose.find('`', begin + 1);
    if (end == std::string::npos) break;
    out.push_back(prose.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return out;
}

/// What is wrong with the calls of the program in a line; empty if nothing is.
std::string problem_of(const std::string& line) {
  static const std::regex call(R"((^|\$ |[|;&(] ?)([\w./]*/)?warpath ([a-z]+)([^|;)#&]*))"),
      flag("--[a-z][a-z0-9-]*");
  for (std::sregex_iterator at(line.begin(), line.end(), call), none; at != none; ++at) {
    const std::string command = (*at)[3], all = (*at)[4], rest = all.substr(0, all.find(" -- "));
    if (command == "test" || command == "help") continue;
    const auto known = flags_by_command().find(command);
    if (known == flags_by_command().end()) return "no command " + command;
    for (std::sregex_iterator f(rest.begin(), rest.end(), flag); f != none; ++f) {
      if (!known->second.contains(f->str())) return command + " has no flag " + f->str();
    }
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("documents");

TEST_CASE("every command and flag that a page says to type exists") {
  int calls = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_root())) {
    const std::string place = fs::relative(entry.path(), source_root()).string();
    if (entry.path().extension() != ".md" || place.starts_with("build") ||
        place.starts_with("out/") || place.starts_with("."))
      continue;
    const std::string page = read_file(entry.path());
    for (const std::string& line : typed(page)) {
      CAPTURE(place);
      CAPTURE(line);
      const std::string problem = problem_of(line);
      // unless the page is the one that shows how to add it
      const bool adds = problem.starts_with("no command ") &&
                        page.find("commands/" + problem.substr(11) + ".cc") != std::string::npos;
      CHECK((adds || problem == ""));
      calls += line.find("warpath ") != std::string::npos ? 1 : 0;
    }
  }
  CHECK(calls >= 60);
}

TEST_CASE("a command or flag that is not there is found") {
  CHECK(problem_of("./warpath run --input x --seed 1") == "");
  CHECK(problem_of("warpath walk") == "no command walk");
  CHECK(problem_of("$ warpath run --inputs x") == "run has no flag --inputs");
  CHECK(problem_of("./warpath capture -- ./application --steps 1") == "");
  CHECK(problem_of("make build/experiments/warpath here") == "");
  CHECK(problem_of("cd x; ./warpath inspect RUN --seed 1 | head") == "inspect has no flag --seed");
  CHECK(typed("a `warpath\nrun` b\n```sh\n./warpath run\n```\n").size() == 2);
}

TEST_SUITE_END();
