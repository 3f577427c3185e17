#include "runners/cluster/slurm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "runners/worker/process.h"

namespace warpath::cluster {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Its controller answers at once, or is being restarted.
constexpr std::chrono::seconds kCommandLimit{60};
constexpr std::size_t kMostOutput = std::size_t{8} << 20U;

/// The first line of what a command of Slurm complains of, without the command's name in front.
std::string first_complaint(const std::string& output, const std::string& command) {
  std::string line = output.substr(0, output.find('\n'));
  if (line.starts_with(command + ": ")) line.erase(0, command.size() + 2);
  return line.empty() ? "failed" : line;
}

/// What a command of Slurm printed. Throws Error(environment) if it failed.
std::string said_by(const std::vector<std::string>& argv) {
  const ProcessResult result =
      run_process({.argv = argv, .environment = member_environment()}, kCommandLimit, kMostOutput);
  if (result.end == ProcessEnd::exited && result.code == 0) return result.output;
  throw environment_error(argv.front() + ": " +
                          (result.end == ProcessEnd::timed_out
                               ? "no answer within a minute"
                               : first_complaint(result.output, argv.front())));
}

/// Words as one line for a shell.
std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += out.empty() ? "'" : " '";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'";
  }
  return out;
}

/// A process of its own that cancels jobs once this one has ended, whatever ended it: it reads
/// their numbers from a pipe until its end.
class Canceller {
 public:
  Canceller()
      : pipe_(::popen("trap '' INT TERM HUP; jobs=; while read -r job; do jobs=\"$jobs $job\"; "
                      "done; [ -z \"$jobs\" ] || exec scancel -- $jobs 2>/dev/null",
                      "we")) {
    if (pipe_ == nullptr) throw environment_error("sh: cannot be started");
  }
  ~Canceller() { ::pclose(pipe_); }
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;
  void watch(const std::string& job) {
    std::fprintf(pipe_, "%s\n", job.c_str());
    std::fflush(pipe_);
  }

 private:
  std::FILE* pipe_;
};

class SlurmPlacement final : public Placement {
 public:
  explicit SlurmPlacement(SlurmWish wish) : wish_(std::move(wish)) {
    // also tells whether there is such a partition
    const std::string nodes =
        said_by({"sinfo", "--noheader", "--partition=" + wish_.partition, "--format=%D"});
    std::stringstream counts(nodes);
    int all = 0;
    for (int count = 0; counts >> count;) all += count;
    if (all == 0)
      throw bad_input(wish_.flag, "slurm:" + wish_.partition, "a partition that has nodes");
    size_ = wish_.members.value_or(all);
  }

  [[nodiscard]] int size() const override { return size_; }

  void start(int count) override {
    std::vector<std::string> argv{"sbatch",
                                  "--parsable",
                                  "--partition=" + wish_.partition,
                                  "--array=1-" + std::to_string(count),
                                  "--ntasks=1",
                                  "--requeue",
                                  "--job-name=warpath",
                                  "--output=" + (wish_.folder / "member-%A_%a.log").string()};
    argv.insert(argv.end(), wish_.arguments.begin(), wish_.arguments.end());
    argv.push_back("--wrap=exec " + shell_line(wish_.command));
    const std::string said = last_line(said_by(argv));
    const std::string job = said.substr(0, said.find(';'));  // NUMBER[;CLUSTER]
    if (job.empty() || job.find_first_not_of("0123456789") != job.npos)
      throw environment_error("sbatch: answered " + said + " instead of the number of a job");
    canceller_.watch(job);
    jobs_.push_back(job);
    alive_ += count;
    asked_ = Clock::now();
  }

  [[nodiscard]] int alive() override {
    // A controller serves a whole site: it is asked more rarely the longer nothing changes.
    if (jobs_.empty() || Clock::now() - asked_ < pause_) return alive_;
    asked_ = Clock::now();
    std::string list;
    for (const std::string& job : jobs_) list += (list.empty() ? "" : ",") + job;
    std::string said;
    try {
      said = said_by({"squeue", "--noheader", "--array", "--format=%A", "--jobs=" + list});
    } catch (const Error&) {
      // It is busy or being restarted; or there was one job, and it is forgotten.
      if (++unanswered_ < kMostUnanswered) return alive_;
    }
    unanswered_ = 0;
    const auto lines = static_cast<int>(std::count(said.begin(), said.end(), '\n'));
    pause_ = lines == alive_ ? std::min(2 * pause_, kLongestPause) : kFirstPause;
    alive_ = lines;
    return alive_;
  }

  [[nodiscard]] std::string last_words() const override {
    std::error_code error;
    fs::path newest;
    fs::file_time_type when = fs::file_time_type::min();
    for (const auto& entry : fs::directory_iterator(wish_.folder, error)) {
      if (entry.path().extension() != ".log" || entry.file_size(error) == 0) continue;
      if (const auto time = entry.last_write_time(error); time >= when)
        when = time, newest = entry.path();
    }
    std::ostringstream text;
    text << std::ifstream(newest).rdbuf();
    return last_line(text.str());
  }

  [[nodiscard]] std::string text() const override { return "slurm:" + wish_.partition; }

 private:
  static constexpr std::chrono::milliseconds kFirstPause{1000}, kLongestPause{15000};
  static constexpr int kMostUnanswered = 5;

  const SlurmWish wish_;
  int size_ = 0;
  Canceller canceller_;
  std::vector<std::string> jobs_;
  int alive_ = 0, unanswered_ = 0;
  Clock::time_point asked_;
  std::chrono::milliseconds pause_ = kFirstPause;
};

}  // namespace

std::unique_ptr<Placement> slurm_placement(SlurmWish wish) {
  return std::make_unique<SlurmPlacement>(std::move(wish));
}

}  // namespace warpath::cluster
