#include "experiments/ship/project_file.h"

#include <regex>

#include "engine/base/error.h"
#include "engine/json/json_codec.h"

namespace warpath {

namespace fs = std::filesystem;

namespace {

/// As written.
struct WrittenProject : Project {
  std::string root_text = ".";
};

}  // namespace

template <>
struct Description<WrittenProject> {
  template <class V>
  static void fields(V& v) {
    v(&WrittenProject::root_text, {"root", "folder of the tree, relative to this file"});
    v(&WrittenProject::target_file, {"target_file", "the file that is changed", true});
    v(&WrittenProject::patch, {"patch", "file with the change of target_file"});
    v(&WrittenProject::export_folder, {"export_folder", "new folder that gets the export"});
    v(&WrittenProject::context_files, {"context_files", "files that must stay as they are"});
    v(&WrittenProject::accept_contract, {"accept_contract", "the application keeps the contract"});
    v(&WrittenProject::build_command, {"build_command", "builds the application", true});
    v(&WrittenProject::test_command, {"test_command", "exit code 0: it is right", true});
    v(&WrittenProject::benchmark_command, {"benchmark_command", "what is timed", true});
    v(&WrittenProject::timing_mode, {"timing_mode", "wall, printed or printed_rate"});
    v(&WrittenProject::timing_pattern, {"timing_pattern", "regular expression with one group"});
    v(&WrittenProject::timeout_seconds, {"timeout_seconds", "limit of one command"});
    v(&WrittenProject::pairs, {"pairs", "timings with and without, at least 5"});
    v(&WrittenProject::min_gain, {"min_gain", "least gain, 0.02 is 2 %"});
  }
};

namespace {

/// Throws unless `text` names something below the root; `exists`: a regular file.
void check_path(const Project& project, const JsonCursor& at, bool exists) {
  const std::string text = at.text();
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(project.root / text, error);
  const fs::path inside = whole.lexically_relative(project.root);
  if (text.empty() || fs::path(text).is_absolute() || error || inside.empty() ||
      *inside.begin() == "..")
    at.fail("a path below root, " + project.root.string());
  if (exists && !fs::is_regular_file(whole, error))
    at.fail("a file below " + project.root.string());
  if (exists && fs::is_symlink(project.root / text, error)) at.fail("a file, not a link");
  if (*inside.begin() == ".warpath-deploy") at.fail("a path outside .warpath-deploy");
}

void check_timing(const Project& project, const JsonCursor& root) {
  const bool wall = project.timing_mode == "wall";
  if (!wall && project.timing_mode != "printed" && project.timing_mode != "printed_rate")
    root.at("timing_mode").fail("wall, printed or printed_rate");
  if (wall != project.timing_pattern.empty())
    throw bad_input(root.place() + "/timing_pattern", project.timing_pattern,
                    wall ? "none beside timing_mode wall" : "a regular expression with one group");
  if (wall) return;
  try {
    if (std::regex(project.timing_pattern).mark_count() != 1)
      root.at("timing_pattern").fail("a regular expression with one group");
  } catch (const std::regex_error&) {
    root.at("timing_pattern").fail("a regular expression (ECMAScript) with one group");
  }
}

}  // namespace

Project read_project(const std::string& file) {
  const nlohmann::json document = read_json_file(file);
  const JsonCursor root(document, file);
  WrittenProject text;
  Codec<WrittenProject>::read(root, text);
  std::error_code error;
  text.root = fs::canonical(fs::absolute(file).parent_path() / text.root_text, error);
  if (error || !fs::is_directory(text.root, error))
    throw bad_input(file + ":/root", text.root_text, "a folder, relative to the project file");
  check_path(text, root.at("target_file"), true);
  if (!text.patch.empty()) check_path(text, root.at("patch"), true);
  if (!text.export_folder.empty()) check_path(text, root.at("export_folder"), false);
  for (std::size_t i = 0; i < text.context_files.size(); ++i)
    check_path(text, root.at("context_files").element(i), true);
  for (const char* const command : {"build_command", "test_command", "benchmark_command"}) {
    if (root.at(command).text().empty()) root.at(command).fail("a command of the shell");
  }
  check_timing(text, root);
  if (!(text.timeout_seconds > 0 && text.timeout_seconds <= 1e6))
    root.at("timeout_seconds").fail("seconds, above 0 and at most 1e6");
  if (text.pairs < 5 || text.pairs > 1000) root.at("pairs").fail("an integer from 5 to 1000");
  if (!(text.min_gain >= 0 && text.min_gain <= 10))
    root.at("min_gain").fail("a number from 0 to 10");
  return text;
}

}  // namespace warpath
