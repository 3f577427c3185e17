#include "runners/cluster/placement.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "engine/base/error.h"
#include "runners/cluster/slurm.h"
#include "runners/worker/process.h"

namespace warpath::cluster {
namespace {

constexpr int kMostMembers = 10000;

/// `--cluster KIND:WHAT[:COUNT]` taken apart.
struct Members {
  std::string kind, what;
  std::optional<int> count;
};

int count_of(const std::string& flag, const std::string& text, const std::string& whole) {
  const bool digits =
      !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == text.npos;
  const int count = digits ? std::stoi(text) : 0;
  if (count < 1 || count > kMostMembers)
    throw bad_input(flag, whole, "a number of members, 1 to " + std::to_string(kMostMembers));
  return count;
}

Members members_of(const std::string& flag, const std::string& text) {
  const auto colon = text.find(':');
  Members out{.kind = text.substr(0, colon),
              .what = colon == text.npos ? "" : text.substr(colon + 1),
              .count = std::nullopt};
  if ((out.kind != "slurm" && out.kind != "processes" && out.kind != "commands") ||
      out.what.empty())
    throw bad_input(flag, text, "slurm:PARTITION[:N], processes:N or commands:FILE");
  if (out.kind == "processes") out.count = count_of(flag, out.what, text);
  if (const auto second = out.what.find(':'); out.kind == "slurm" && second != out.what.npos) {
    out.count = count_of(flag, out.what.substr(second + 1), text);
    out.what.resize(second);
  }
  return out;
}

std::vector<std::string> words_of(const std::string& line) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The commands of a file: one a line, without blank lines and those that begin with '#'.
std::vector<std::vector<std::string>> commands_in(const std::string& flag,
                                                  const std::string& path) {
  std::ifstream file(path);
  if (!file) throw bad_input(flag, "commands:" + path, "a file that can be read");
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = words_of(line);
    if (!words.empty() && !words.front().starts_with('#')) out.push_back(words);
  }
  if (out.empty()) throw bad_input(flag, "commands:" + path, "a file with a command on a line");
  return out;
}

/// A child process for each member: the member itself, or a command that starts it elsewhere.
class Children final : public Placement {
 public:
  /// `before`: for each member, the words in front of `command`.
  Children(std::string text,
           const std::vector<std::vector<std::string>>& before,
           const MemberCommand& command)
      : text_(std::move(text)), slots_(before.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      slots_[i].argv = before[i];
      slots_[i].argv.insert(slots_[i].argv.end(), command.begin(), command.end());
    }
  }

  [[nodiscard]] int size() const override { return static_cast<int>(slots_.size()); }
  void start(int count) override {
    for (Slot& slot : slots_) {
      if (count == 0) break;
      if (slot.child && !slot.child->ended()) continue;
      slot.child.emplace(ProcessSpec{.argv = slot.argv, .environment = member_environment()});
      --count;
    }
  }
  [[nodiscard]] int alive() override {
    int out = 0;
    for (Slot& slot : slots_) out += slot.child && !slot.child->ended() ? 1 : 0;
    return out;
  }
  [[nodiscard]] std::string last_words() const override { return ""; }
  [[nodiscard]] std::string text() const override { return text_; }

 private:
  struct Slot {
    std::vector<std::string> argv;
    std::optional<Child> child;
  };
  std::string text_;
  std::vector<Slot> slots_;
};

}  // namespace

std::vector<std::string> member_environment() {
  std::vector<std::string> out;
  for (const char* const name :
       {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_PATH", "CUDA_HOME",
        "NVIDIA_VISIBLE_DEVICES", "SSH_AUTH_SOCK", "SLURM_CONF", "WARPATH_CACHE", "WARPATH_LOCKS",
        "XDG_CACHE_HOME"}) {
    if (const char* const value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

void check_placement(const ClusterOptions& options) {
  for (const auto& [flag, text] :
       {std::pair("--cluster", options.members), std::pair("--site", options.kernels)}) {
    if (text.empty()) continue;
    const Members members = members_of(flag, text);
    if (members.kind == "commands") static_cast<void>(commands_in(flag, members.what));
  }
  if (!options.members.empty() && !options.kernels.empty())
    throw bad_input("--site", options.kernels,
                    "no --cluster beside it: each machine searches with its own devices");
}

std::unique_ptr<Placement> make_placement(const ClusterOptions& options,
                                          const MemberCommand& command,
                                          const std::filesystem::path& folder) {
  const bool searches = options.members.empty();
  const char* const flag = searches ? "--site" : "--cluster";
  const std::string& text = searches ? options.kernels : options.members;
  const Members members = members_of(flag, text);
  if (members.kind == "slurm") {
    return slurm_placement({.flag = flag,
                            .partition = members.what,
                            .members = members.count,
                            .arguments = words_of(options.sbatch),
                            .command = command,
                            .folder = folder});
  }
  return std::make_unique<Children>(text,
                                    members.count ? std::vector<std::vector<std::string>>(
                                                        static_cast<std::size_t>(*members.count))
                                                  : commands_in(flag, members.what),
                                    command);
}

}  // namespace warpath::cluster
