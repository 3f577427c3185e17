#include "engine/base/temporary_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

std::string name_head(std::string_view what) {
  return "warpath-" + std::string(what) + "-";
}

}  // namespace

fs::path temporary_root() {
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (error) throw environment_error("no folder for temporary files (TMPDIR): " + error.message());
  return root;
}

TemporaryFolder::TemporaryFolder(std::string_view what) : TemporaryFolder(what, temporary_root()) {}

TemporaryFolder::TemporaryFolder(std::string_view what, const fs::path& root) {
  std::string path = (root / (name_head(what) + std::to_string(::getpid()) + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr)
    throw environment_error("cannot make a folder in " + root.string() + ": " +
                            std::strerror(errno));
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what is left must not end the run
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::remove_leftovers(std::string_view what, const fs::path& root) {
  const std::string head = name_head(what);
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(head)) continue;
    const auto owner = static_cast<pid_t>(std::strtol(name.c_str() + head.size(), nullptr, 10));
    std::error_code ignored;
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(it->path(), ignored);
  }
}

}  // namespace warpath
