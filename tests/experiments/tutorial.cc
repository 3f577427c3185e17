// Carries docs/tutorial.md out: its files, its commands in order, and what it says that they print.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <optional>

#include "runners/worker/process.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

struct Command {
  std::string text;
  std::vector<std::string> printed;  ///< lines, "..." for any number of any lines
};

/// The fenced blocks of a page: files to write, commands to run.
struct Page {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<Command> commands;
};

Page read_page(const fs::path& path) {
  Page out;
  std::string kind;
  for (const std::string& line : lines_of(read_file(path))) {
    if (line.starts_with("```")) {
      kind = kind.empty() ? line.substr(3) : "";
      if (kind.starts_with("cuda ")) out.files.emplace_back(kind.substr(5), "");
    } else if (kind.starts_with("cuda ")) {
      out.files.back().second += line + "\n";
    } else if (kind == "console") {
      if (line.starts_with("$ ")) {
        out.commands.push_back({.text = line.substr(2), .printed = {}});
      } else {
        out.commands.back().printed.push_back(line);
      }
    }
  }
  return out;
}

/// Numbers may be others; "..." at the end stands for any rest.
bool is_like(const std::string& line, std::string pattern) {
  const bool open = pattern.ends_with("...");
  if (open) pattern.resize(pattern.size() - 3);
  const auto is_number = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  };
  std::size_t i = 0;
  for (std::size_t k = 0; k < pattern.size();) {
    if (i == line.size() || is_number(pattern[k]) != is_number(line[i])) return false;
    if (!is_number(pattern[k])) {
      if (pattern[k++] != line[i++]) return false;
      continue;
    }
    while (k < pattern.size() && is_number(pattern[k])) ++k;
    while (i < line.size() && is_number(line[i])) ++i;
  }
  return open || i == line.size();
}

/// The first line of the page that the output does not have in its place.
std::optional<std::string> missing(const std::vector<std::string>& output,
                                   const std::vector<std::string>& printed) {
  auto at = output.begin();
  bool skips = false;
  for (const std::string& line : printed) {
    if (line == "...") {
      skips = true;
      continue;
    }
    if (skips)
      at = std::find_if(at, output.end(), [&](const std::string& o) { return is_like(o, line); });
    if (at == output.end() || !is_like(*at, line)) return line;
    ++at;
    skips = false;
  }
  if (!skips && at != output.end() && !at->empty()) return "the end";
  return std::nullopt;
}

}  // namespace

TEST_SUITE_BEGIN("tutorial");

TEST_CASE("the tutorial can be followed to the letter") {
  const TemporaryFolder folder;
  const Page page = read_page(source_root() / "docs" / "tutorial.md");
  REQUIRE(page.files.size() == 1);
  REQUIRE(page.commands.size() >= 7);
  for (const auto& [name, text] : page.files) write_file(folder / name, text);
  const std::string program = std::getenv("WARPATH_PROGRAM");
  fs::create_directory(folder / "bin");
  fs::create_symlink(program, folder / "bin" / "warpath");
  for (const Command& command : page.commands) {
    CAPTURE(command.text);
    warpath::ProcessSpec spec;
    spec.argv = {"sh", "-c", "cd '" + folder.path().string() + "' && " + command.text};
    spec.environment = {"PATH=" + (folder / "bin").string() + ":/usr/local/bin:/usr/bin:/bin",
                        "LC_ALL=C.UTF-8", "HOME=" + folder.path().string()};
    const auto result = warpath::run_process(spec, std::chrono::seconds(120), 1 << 20);
    CAPTURE(result.output);
    CHECK(result.code == 0);
    const auto absent = missing(lines_of(result.output), command.printed);
    CHECK_MESSAGE(!absent, "not printed: ", absent.value_or(""));
  }
}

TEST_CASE("what a page claims is compared, but for numbers and what it leaves out") {
  const std::vector<std::string> output{"a 1.5 b", "c", "d 22"};
  CHECK(!missing(output, {"a 2 b", "...", "d 1"}));
  CHECK(!missing(output, {"...", "d ..."}));
  CHECK(missing(output, {"a b", "..."}) == "a b");
  CHECK(missing(output, {"a 1 b", "d 1"}) == "d 1");
  CHECK(missing(output, {"a 1 b", "c"}) == "the end");
}

TEST_SUITE_END();
