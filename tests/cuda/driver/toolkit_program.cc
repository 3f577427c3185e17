#include "runners/cuda/driver/toolkit_program.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/base/temporary_folder.h"

using warpath::TemporaryFolder;
using warpath::cuda::toolkit_program;

namespace {

namespace fs = std::filesystem;

/// PATH is one folder during its lifetime.
class OnlyPath {
 public:
  explicit OnlyPath(const fs::path& folder) { REQUIRE(::setenv("PATH", folder.c_str(), 1) == 0); }
  ~OnlyPath() { ::setenv("PATH", former_.c_str(), 1); }
  OnlyPath(const OnlyPath&) = delete;
  OnlyPath& operator=(const OnlyPath&) = delete;

 private:
  std::string former_ = std::getenv("PATH");
};

std::string program(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

}  // namespace

TEST_SUITE_BEGIN("toolkit_program");

TEST_CASE("a script that only starts the program of another folder stands for that one") {
  const TemporaryFolder folder;
  const std::string real = program(folder / "toolkit/bin/ptxas of a test",
                                   "\x7f"
                                   "ELF");
  const std::string wrapper = (folder / "bin/ptxas").string();
  const OnlyPath path(folder / "bin");
  const auto found = [&](const std::string& text) {
    program(wrapper, text);
    return toolkit_program("ptxas");
  };
  CHECK(found("#!/bin/sh\n# generated\n\nexec \"" + real + "\" \"$@\"\n") == real);
  CHECK(found("\x7f"
              "ELF") == wrapper);
  // one that does more, or whose program is not known beforehand, is what the user meant
  CHECK(found("#!/bin/sh\nexport A=1\nexec \"" + real + "\" \"$@\"\n") == wrapper);
  CHECK(found("#!/bin/sh\nexec \"$HOME/ptxas\" \"$@\"\n") == wrapper);
  CHECK(found("#!/bin/sh\nexec " + (folder / "absent").string() + " \"$@\"\n") == wrapper);
}

TEST_SUITE_END();
