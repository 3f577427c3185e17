#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace warpath::testing {

using test::TemporaryFolder;

/// Root of the source tree.
[[nodiscard]] std::filesystem::path source_root();

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

struct ProgramResult {
  int code = -1;  ///< exit status; 128 + signal number if a signal ended it
  std::string out, err;
};

/// The real program, running. Its output goes to files of a temporary folder.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments);
  ~RunningProgram();  ///< kills it if it still runs
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  void signal(int number) const;
  /// What it said on stdout so far.
  [[nodiscard]] std::string out() const { return read_file(folder_ / "out"); }
  /// Polls until `done` returns true; false if it does not within `seconds` or the program ends
  /// before.
  template <class Done>
  bool wait_until(Done done, double seconds = 30) {
    for (int i = 0; i < static_cast<int>(seconds * 100); ++i) {
      if (done()) return true;
      if (ended(10)) return done();
    }
    return false;
  }
  /// Waits for the end; kills the program after `seconds`.
  ProgramResult finish(double seconds = 60);

 private:
  bool ended(int milliseconds);

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
};

[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& arguments);

}  // namespace warpath::testing
