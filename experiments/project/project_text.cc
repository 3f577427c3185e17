#include "experiments/project/project_text.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/text/source_text.h"
#include "engine/text/tokens.h"
#include "experiments/exchange/solution_text.h"
#include "experiments/project/project_folders.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 50000;
constexpr int kMostRounds = 3;  ///< of headers that the found ones include in turn

bool is_header(const fs::path& file) {
  return file.extension() == ".cuh" || file.extension() == ".h" || file.extension() == ".hpp";
}

/// How many folders two paths have in common.
std::size_t common_folders(const fs::path& a, const fs::path& b) {
  return static_cast<std::size_t>(
      std::distance(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first));
}

/// The headers and CUDA files of a project, the nearest to a file of it first.
std::vector<fs::path> project_files(const fs::path& file, const fs::path& top) {
  std::vector<fs::path> out;
  std::error_code none;
  std::size_t seen = 0;
  for (fs::recursive_directory_iterator
           it(top, fs::directory_options::skip_permission_denied, none),
       end;
       it != end && seen < kMostFiles; it.increment(none)) {
    ++seen;
    if (it->path().filename().string().starts_with('.')) it.disable_recursion_pending();
    if (it->is_regular_file(none) && (is_header(it->path()) || it->path().extension() == ".cu"))
      out.push_back(it->path());
  }
  std::ranges::sort(out, {}, [&](const fs::path& one) {
    return std::pair(-static_cast<std::ptrdiff_t>(common_folders(one, file)), one.string());
  });
  return out;
}

/// The folder in which the nearest file of the project is called `name`, such as "a/x.h".
std::optional<std::string> folder_with(const std::vector<fs::path>& files,
                                       const std::string& name) {
  for (const fs::path& one : files) {
    const std::string path = one.string();
    if (path.size() > name.size() + 1 && path.ends_with("/" + name))
      return path.substr(0, path.size() - name.size() - 1);
  }
  return std::nullopt;
}

/// True if the file includes one that is called like the header.
bool includes(const std::string& text, const std::string& header) {
  for (const Token& token : tokenize(text).tokens) {
    if (token.kind != TokenKind::directive || directive_name(text, token) != "include") continue;
    const std::string line = text.substr(token.begin, token.size());
    const std::size_t close = line.find_last_of("\">"), open = line.find_first_of("\"<");
    if (close == std::string::npos || open >= close) continue;
    const fs::path name = line.substr(open + 1, close - open - 1);
    if (name.filename() == header) return true;
  }
  return false;
}

bool mentions(const std::string& text, const std::string& name) {
  return std::ranges::any_of(tokenize(text).tokens, [&](const Token& token) {
    return token.kind == TokenKind::identifier && spelling(text, token) == name;
  });
}

class ProjectText {
 public:
  ProjectText(std::string file, const std::vector<std::string>& folders)
      : file_(std::move(file)), folders_(folders) {
    const std::vector<std::string> around = project_folders(file_);
    folders_.insert(folders_.end(), around.begin(), around.end());
    for (const std::string& folder : around) {
      if (top_.empty() || folder.size() < top_.size()) top_ = folder;
    }
  }

  FlatSource of(const std::string& file) {
    std::vector<std::string> all = folders_;
    FlatSource out = cuda_text(file, all, AngledHeaders::looked_up);
    for (int round = 0; round < kMostRounds && !out.missing.empty() && !top_.empty(); ++round) {
      const std::size_t before = all.size();
      for (const MissingHeader& missing : out.missing) {
        const auto folder = folder_with(files(), missing.name);
        if (folder && std::ranges::find(all, *folder) == all.end()) all.push_back(*folder);
      }
      if (all.size() == before) break;
      out = cuda_text(file, all, AngledHeaders::looked_up);
    }
    return out;
  }

  /// What an including file makes of the header, one that names the kernel if there is one; nullopt
  /// if none does.
  std::optional<FlatSource> of_including(const std::string& kernel) {
    if (top_.empty() || kernel.empty()) return std::nullopt;
    const std::string own = read_source_file(file_, kMaxSourceFileBytes, file_).text;
    const std::string line = own_line(own, kernel);
    if (line.empty()) return std::nullopt;
    const std::string name = fs::path(file_).filename().string();
    for (const bool named : {true, false}) {
      for (const fs::path& one : files()) {
        if (one.extension() != ".cu") continue;
        const std::string text = read_source_file(one.string(), kMaxSourceFileBytes, file_).text;
        if (text.find(name) == std::string::npos || !includes(text, name)) continue;
        if (mentions(text, kernel) != named) continue;
        FlatSource out = of(one.string());
        if (out.text.find(line) != std::string::npos) return out;
      }
    }
    return std::nullopt;
  }

 private:
  /// The line that first names the kernel: a file that is called alike does not have it.
  static std::string own_line(const std::string& text, const std::string& kernel) {
    const std::size_t at = text.find(kernel);
    if (at == std::string::npos) return "";
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }

  const std::vector<fs::path>& files() {
    if (!files_) files_ = project_files(fs::absolute(file_).lexically_normal(), top_);
    return *files_;
  }

  std::string file_;
  std::vector<std::string> folders_;
  std::string top_;
  std::optional<std::vector<fs::path>> files_;
};

}  // namespace

FlatSource project_text(const std::string& file,
                        const std::string& kernel,
                        const std::vector<std::string>& folders) {
  ProjectText project(file, folders);
  if (is_header(file)) {
    try {
      if (auto out = project.of_including(kernel)) return *std::move(out);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s is read without what includes it: %s\n", file.c_str(), error.what());
    }
  }
  try {
    return project.of(file);
  } catch (const Error& error) {
    FlatSource own = cuda_text(file, folders);
    std::fprintf(stderr, "headers of the project are left out: %s\n", error.what());
    return own;
  }
}

}  // namespace warpath
