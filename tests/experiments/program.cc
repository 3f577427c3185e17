#include "tests/experiments/program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace warpath::testing {

std::filesystem::path source_root() {
  return WARPATH_SOURCE_ROOT;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  REQUIRE(file.good());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) {
  const char* const program = std::getenv("WARPATH_PROGRAM");
  REQUIRE_MESSAGE(program != nullptr, "WARPATH_PROGRAM is not set: run these tests through meson");
  std::vector<std::string> words{"warpath"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (folder_ / "out").c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder_ / "err").c_str(), flags, 0600);
  const int error = posix_spawn(&pid_, program, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(error == 0);
}

RunningProgram::~RunningProgram() {
  if (reaped_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
}

void RunningProgram::signal(int number) const {
  kill(pid_, number);
}

bool RunningProgram::ended(int milliseconds) {
  if (!reaped_) reaped_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  if (!reaped_) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return reaped_;
}

ProgramResult RunningProgram::finish(double seconds) {
  const bool in_time = wait_until([this] { return ended(0); }, seconds);
  if (!in_time) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
    reaped_ = true;
  }
  ProgramResult result{.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_),
                       .out = read_file(folder_ / "out"),
                       .err = read_file(folder_ / "err")};
  CHECK_MESSAGE(in_time,
                "the program did not end within " << seconds << " s; it said: " << result.err);
  return result;
}

ProgramResult run_program(const std::vector<std::string>& arguments) {
  return RunningProgram(arguments).finish();
}

}  // namespace warpath::testing
