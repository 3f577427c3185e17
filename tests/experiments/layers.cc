#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/experiments/program.h"

using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

/// Folder -> what its files may include.
const std::map<std::string, std::set<std::string>> kMayInclude{
    {"engine", {"engine"}},
    {"moves", {"engine", "moves"}},
    {"priors", {"engine", "priors"}},
    {"runners", {"engine", "runners"}},
    {"experiments", {"engine", "moves", "priors", "runners", "experiments"}},
    {"tests", {"engine", "moves", "priors", "runners", "experiments", "tests"}}};

/// Folder -> its rooms, subfolders or single headers: what stands in one may include what stands in
/// it or in one before it. Other files of the folder are above all rooms. Rooms of plug-ins
/// (moves/catalogue, runners/cuda/gates, search policies) see the rooms of what they plug into.
const std::vector<std::pair<std::string, std::vector<std::string>>> kRooms{
    {"engine", {"portable", "base", "json", "text", "spec", "plugin", "search", "log", "run"}},
    {"moves",
     {"syntax", "model", "edit", "launch", "contract", "normal", "rows", "blocks", "points",
      "tiles", "attention", "triton", "patch", "propose", "catalogue"}},
    {"priors", {"options", "evidence", "tactics", "llm"}},
    {"runners",
     {"worker", "inputs", "reference", "host", "cuda", "synthetic", "replay", "ledger", "cluster"}},
    {"runners/host", {"options", "compile", "execute", "judge"}},
    {"runners/cuda",
     {"options", "driver", "code", "counters", "plan", "compile", "measure", "lanes", "finalists"}},
    {"experiments",
     {"setup", "console", "propose", "evaluate", "study", "report", "agent", "capture", "exchange",
      "project", "init", "ship", "commands"}}};

/// All .h and .cc files of a folder of the tree, relative to the root. The shim of the host runner
/// is left out: kernels include it, the program does not. So are the texts below tests/data.
std::vector<fs::path> sources_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
    const fs::path path = fs::relative(entry.path(), source_root());
    if (path.string().find("/shim/") != std::string::npos ||
        path.string().starts_with("tests/data/"))
      continue;
    if (path.extension() == ".h" || path.extension() == ".cc") files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  return files;
}

/// The names between quotes of all lines `#include "..."`, in order.
std::vector<std::string> own_includes(const fs::path& file) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(read_file(source_root() / file))) {
    if (!line.starts_with("#include \"")) continue;
    names.push_back(line.substr(10, line.find('"', 10) - 10));
  }
  return names;
}

/// The folder of an included name; register_<plural>.h, which Meson makes, is of its plug-ins'.
std::string folder_of(const std::string& name) {
  static const std::map<std::string, std::string> kRegisters{
      {"register_moves.h", "moves"},      {"register_priors.h", "priors"},
      {"register_runners.h", "runners"},  {"register_gates.h", "runners"},
      {"register_host_ops.h", "runners"}, {"register_commands.h", "experiments"}};
  if (const auto it = kRegisters.find(name); it != kRegisters.end()) return it->second;
  return name.starts_with("register_") ? "engine" : name.substr(0, name.find('/'));
}

}  // namespace

TEST_SUITE_BEGIN("layers");

TEST_CASE(
    "includes only point left: engine, then moves, priors and runners, then experiments, then "
    "tests") {
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& file : sources_in(folder)) {
      for (const std::string& name : own_includes(file)) {
        CAPTURE(file.string());
        CAPTURE(name);
        CHECK(allowed.count(folder_of(name)) == 1);
      }
    }
  }
}

TEST_CASE("within a folder includes point to rooms that come before") {
  for (const auto& [folder, rooms] : kRooms) {
    // the first room after the folder; -1: none, or a header that the build makes
    const auto room_of = [&](const std::string& path) {
      if (!path.starts_with(folder + "/") || !fs::exists(source_root() / path)) return -1;
      const std::string rest = path.substr(folder.size() + 1);
      const auto found =
          std::find(rooms.begin(), rooms.end(), rest.substr(0, rest.find_first_of("/.")));
      const bool above = found == rooms.end() && rest.find('/') == std::string::npos;
      if (above) return static_cast<int>(rooms.size());
      return found == rooms.end() ? -1 : static_cast<int>(found - rooms.begin());
    };
    for (const fs::path& file : sources_in(folder)) {
      const int own = room_of(file.string());
      if (own < 0) continue;
      for (const std::string& name : own_includes(file)) {
        CAPTURE(file.string());
        CAPTURE(name);
        CHECK(room_of(name) <= own);
      }
    }
  }
}

TEST_CASE(
    "the library that applications are given includes nothing of the program, and is not "
    "included") {
  const std::string room = "runners/cuda/capture/";
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& file : sources_in(folder)) {
      for (const std::string& name : own_includes(file)) {
        CAPTURE(file.string());
        CAPTURE(name);
        CHECK(name.starts_with(room) == file.string().starts_with(room));
      }
    }
  }
}

TEST_CASE("docs/architecture.md names the rooms in their order") {
  const std::string page = read_file(source_root() / "docs/architecture.md");
  for (const auto& [folder, rooms] : kRooms) {
    std::string named;
    for (const std::string& room : rooms) named += (named.empty() ? "`" : " `") + room + "`";
    CAPTURE(folder);
    CHECK(page.find("| [" + folder + "](../" + folder + "/README.md) | " + named) !=
          std::string::npos);
  }
}

TEST_CASE("a type that a header defines is the only one of its name in its namespace") {
  const std::regex type("^(?:struct|class|enum class) (\\w+)(?: final)?(?: : [^;]*)? ?\\{");
  const std::regex space("^namespace ([\\w:]+) \\{");
  std::map<std::string, std::string> defined;
  for (const auto& [folder, allowed] : kMayInclude) {
    if (folder == "tests") continue;
    for (const fs::path& file : sources_in(folder)) {
      if (file.extension() != ".h") continue;
      std::string within;
      for (const std::string& line : lines_of(read_file(source_root() / file))) {
        std::smatch found;
        if (std::regex_search(line, found, space)) within = found[1];
        if (!std::regex_search(line, found, type)) continue;
        const std::string name = within + "::" + found[1].str();
        const auto [at, is_new] = defined.emplace(name, file.string());
        CHECK_MESSAGE(is_new, name, " is in ", file.string(), " and ", at->second);
      }
    }
  }
  CHECK(defined.size() > 500);
}

TEST_CASE("no folder has more than 40 sources and their headers") {
  for (const auto& [folder, allowed] : kMayInclude) {
    std::map<std::string, std::set<std::string>> stems;
    for (const fs::path& file : sources_in(folder))
      stems[file.parent_path().string()].insert(file.stem().string());
    for (const auto& [place, names] : stems) {
      CAPTURE(place);
      CHECK(names.size() <= 40);
    }
  }
}

TEST_CASE("every folder with files says in a README what it is for") {
  for (const auto& [folder, allowed] : kMayInclude) {
    if (folder == "tests") continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      if (!entry.is_regular_file()) continue;
      CAPTURE(entry.path().string());
      CHECK(fs::exists(entry.path().parent_path() / "README.md"));
    }
  }
}

TEST_CASE("the README of a folder names every header in it") {
  for (const auto& [folder, allowed] : kMayInclude) {
    if (folder == "tests") continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cuh") continue;
      const std::string readme = read_file(entry.path().parent_path() / "README.md");
      const std::regex name("`[^`]*\\b" + entry.path().stem().string() + "\\b[^`]*`");
      CAPTURE(entry.path().string());
      CHECK(std::regex_search(readme, name));
    }
  }
}

TEST_CASE("plug-ins do not include each other") {
  const std::string lists = read_file(source_root() / "meson.build");
  for (const auto& where :
       std::map<std::string, std::string>{{"selection", "engine/search/selection"},
                                          {"backup", "engine/search/backup"},
                                          {"widening", "engine/search/widening"},
                                          {"stop", "engine/search/stop"},
                                          {"strategy", "engine/search/strategy"},
                                          {"move", "moves/catalogue"},
                                          {"prior", "priors"},
                                          {"runner", "runners"},
                                          {"gate", "runners/cuda/gates"},
                                          {"host_op", "runners/reference/ops"},
                                          {"command", "experiments/commands"}}) {
    const std::string &kind = where.first, &folder = where.second;
    std::smatch list;
    CAPTURE(kind);
    REQUIRE(std::regex_search(lists, list, std::regex("'" + kind + R"(': \[([^\]]*)\])")));
    const std::string names = list[1];
    // the plug-in that owns a file, a runner everything in its folder; empty if there is none
    const auto plugin_of = [&](const std::string& file) {
      if (!file.starts_with(folder + "/")) return std::string();
      const std::string rest = file.substr(folder.size() + 1);
      const std::string name = rest.substr(0, rest.find_first_of(kind == "runner" ? "/" : "."));
      return names.find("'" + name + "'") == std::string::npos ? std::string() : name;
    };
    std::size_t plugin_files = 0;
    for (const fs::path& file : sources_in(folder)) {
      const std::string own = plugin_of(file.string());
      if (own.empty()) continue;
      ++plugin_files;
      for (const std::string& name : own_includes(file)) {
        const std::string other = plugin_of(name);
        CAPTURE(file.string());
        CAPTURE(name);
        CHECK((other.empty() || other == own));
      }
    }
    CHECK(plugin_files > 0);
  }
}

TEST_CASE(
    "the engine knows neither CUDA nor HTTP, and only one file of the tree includes libcurl") {
  int curl_files = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    if (folder == "tests") continue;
    for (const fs::path& file : sources_in(folder)) {
      const std::string text = read_file(source_root() / file);
      CAPTURE(file.string());
      if (text.find("#include <curl/") != std::string::npos) ++curl_files;
      const bool sees_cuda =
          std::regex_search(text, std::regex("#include <(cuda|nvrtc|cupti)[A-Za-z_]*\\.h>"));
      CHECK((!sees_cuda || file.string().starts_with("runners/cuda/")));
    }
  }
  CHECK(curl_files <= 1);
}

TEST_CASE(
    "a source file includes its own header first, so that the header is known to compile alone") {
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& file : sources_in(folder)) {
      fs::path header = file;
      header.replace_extension(".h");
      if (file.extension() != ".cc" || !fs::exists(source_root() / header)) continue;
      CAPTURE(file.string());
      const auto includes = own_includes(file);
      REQUIRE_FALSE(includes.empty());
      CHECK(includes.front() == header.string());
      const std::string text = read_file(source_root() / file);
      CHECK(text.find("#include") == text.find("#include \"" + header.string()));
    }
  }
}

TEST_CASE(
    "every test file is listed in tests/meson.build, and every suite is a test of the build") {
  const std::string list = read_file(source_root() / "tests/meson.build");
  const fs::path build = fs::path(std::getenv("WARPATH_PROGRAM")).parent_path().parent_path();
  std::set<std::string> known;
  for (const auto& test : nlohmann::json::parse(read_file(build / "meson-info/intro-tests.json")))
    known.insert(test.at("name").get<std::string>());
  const std::regex suite("TEST_SUITE(_BEGIN)?\\(\"([^\"]+)\"\\)");
  for (const fs::path& file : sources_in("tests")) {
    if (file.extension() != ".cc" || file.parent_path() == "tests/bench") continue;
    CAPTURE(file.string());
    const std::string name = file.filename().string() + "'";
    CHECK(
        (list.find("'" + name) != std::string::npos || list.find("/" + name) != std::string::npos));
    const std::string text = read_file(source_root() / file);
    for (std::sregex_iterator match(text.begin(), text.end(), suite), end; match != end; ++match) {
      const std::string suite_name = (*match)[2];
      CAPTURE(suite_name);
      CHECK(known.contains(suite_name));
    }
  }
}

TEST_CASE("docs/architecture.md follows a variant from function to function, in 25 hops") {
  const std::string page = read_file(source_root() / "docs/architecture.md");
  const std::regex row(R"(\| \d+ \| `(\w+)` \| `([\w/.]+)` \|)");
  std::string callers;
  int hops = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it, ++hops) {
    const std::string name = (*it)[1], file = (*it)[2];
    CAPTURE(file);
    CAPTURE(name);
    const std::string text = read_file(source_root() / file);
    const std::regex defined("[ :]" + name + R"(\([^;]*\{)"), called("[ .>:!]" + name + R"(\()");
    CHECK(std::regex_search(text, defined));
    const std::sregex_iterator first(text.begin(), text.end(), called);
    if (hops > 0) CHECK((std::regex_search(callers, called) || std::distance(first, {}) > 1));
    callers += text;
  }
  CHECK(hops == 25);
}

TEST_CASE("no file is longer than 500 lines") {
  constexpr std::size_t kMost = 500;
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& file : sources_in(folder)) {
      CAPTURE(file.string());
      CHECK(lines_of(read_file(source_root() / file)).size() <= kMost);
    }
  }
}

TEST_SUITE_END();
