#include "experiments/exchange/solution_text.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/temporary_folder.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSolutionBytes = std::size_t{8} << 20U;
constexpr const char* kKernel = "__global__";

/// A literal's text; `begin`: after its opening quotes. Moves `begin` behind the closing ones.
std::string literal(const std::string& text,
                    std::size_t& begin,
                    const std::string& quotes,
                    bool raw) {
  std::string out;
  while (begin < text.size() && text.compare(begin, quotes.size(), quotes) != 0) {
    const char c = text[begin++];
    if (c != '\\' || begin == text.size()) {
      out += c;
      continue;
    }
    const char next = text[begin++];
    if (raw)
      out += {c, next};
    else if (next == 'n' || next == 't')
      out += next == 'n' ? '\n' : '\t';
    else if (next == '\\' || next == '"' || next == '\'')
      out += next;
    else if (next != '\n')  // a line that goes on
      out += {c, next};
  }
  begin += quotes.size();
  return out;
}

/// Of the first kernel, up to its parameters: a text that repeats it is another version.
std::string head_of(const std::string& text) {
  const std::size_t begin = text.find(kKernel);
  return text.substr(begin, text.find('(', begin) + 1 - begin);
}

FlatSource solution_source(const fs::path& file,
                           const std::vector<std::string>& folders,
                           AngledHeaders angled) {
  const nlohmann::json document = read_json_file(file.string());
  const JsonCursor sources = JsonCursor(document, file.string()).at("sources");
  sources.require_array();
  const TemporaryFolder scratch("solution");
  fs::path found;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const JsonCursor path = sources.element(i).at("path");
    const fs::path name = fs::path(path.text()).lexically_normal();
    if (name.empty() || name.is_absolute() || *name.begin() == "..")
      path.fail("a path below the solution's folder");
    const std::string content = sources.element(i).at("content").text();
    std::error_code error;
    fs::create_directories((scratch.path() / name).parent_path(), error);
    write_file_atomically(scratch.path() / name, content, false);
    const bool entry = name.extension() != ".h" && name.extension() != ".cuh";
    if (content.find(kKernel) != std::string::npos && (found.empty() || entry))
      found = scratch.path() / name;
  }
  if (found.empty()) sources.fail("a source with a __global__ function");
  return found.extension() == ".py" ? cuda_text(found, folders, angled)
                                    : flat_source_file(found.string(), folders, angled);
}

}  // namespace

std::string cuda_literals(const std::string& python) {
  std::string out;
  for (std::size_t at = 0; at < python.size();) {
    const char c = python[at];
    if (c == '#') {
      at = std::min(python.find('\n', at), python.size());
      continue;
    }
    if (c != '"' && c != '\'') {
      ++at;
      continue;
    }
    const bool raw = at > 0 && (python[at - 1] == 'r' || python[at - 1] == 'R');
    const std::string three(3, c);
    const std::string quotes = python.compare(at, 3, three) == 0 ? three : std::string(1, c);
    at += quotes.size();
    const std::string text = literal(python, at, quotes, raw);
    if (text.find(kKernel) == std::string::npos) continue;
    const std::string name = head_of(text);
    if (out.find(name) == std::string::npos) out += text + "\n";
  }
  return out;
}

FlatSource cuda_text(const fs::path& file,
                     const std::vector<std::string>& folders,
                     AngledHeaders angled) {
  if (file.extension() == ".json") return solution_source(file, folders, angled);
  if (file.extension() != ".py") return flat_source_file(file.string(), folders, angled);
  const std::string text =
      cuda_literals(read_text_file(file.string(), kMostSolutionBytes, file.string()));
  if (text.empty())
    throw bad_input(file.string(), "no kernel", "a string literal with a __global__ function");
  return flat_source(text, file.string(), folders, angled);
}

}  // namespace warpath
