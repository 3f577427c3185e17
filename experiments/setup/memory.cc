#include "experiments/setup/memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/prior.h"
#include "engine/run/run_folder.h"

namespace warpath {
namespace {

using nlohmann::json;

/// Held from construction to the end; the kernel frees it if the process dies.
class MemoryLock {
 public:
  explicit MemoryLock(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX) != 0)
      throw environment_error(file.string() + ": cannot be locked");
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  ~MemoryLock() { ::close(file_); }

 private:
  int file_;
};

}  // namespace

std::string experience_text(const Experience& experience) {
  json out{{"run", experience.run},
           {"kernel", experience.kernel},
           {"device", experience.device},
           {"context", experience.context},
           {"from", experience.from},
           {"move", experience.instance.text()},
           {"status", name(experience.status)}};
  if (experience.ok()) out["log_gain"] = experience.log_gain;
  return out.dump();
}

Experience parse_experience(const std::string& line, const std::string& place) {
  const json document = parse_json(line, place);
  const JsonCursor c(document, place);
  require_only(c, {"run", "kernel", "device", "context", "from", "move", "status", "log_gain"});
  Experience out{.run = c.at("run").text(),
                 .kernel = c.at("kernel").text(),
                 .device = c.at("device").text(),
                 .context = c.at("context").text(),
                 .from = c.at("from").text(),
                 .instance = MoveInstance::parse(c.at("move").text(), c.at("move").place())};
  const std::string status = c.at("status").text();
  const auto it = std::ranges::find(kStatusNames, status);
  if (it == kStatusNames.end()) c.at("status").fail("a status");
  out.status = static_cast<Status>(it - kStatusNames.begin());
  if (out.ok()) out.log_gain = c.at("log_gain").number();
  return out;
}

TacticGraph graph_of(const std::vector<Experience>& experiences) {
  TacticGraph out;
  for (const Experience& experience : experiences) out.add(experience);
  return out;
}

void remember(const std::filesystem::path& outdir,
              const std::vector<Experience>& experiences,
              bool replace_all) {
  std::filesystem::create_directories(outdir);
  const MemoryLock lock(outdir / "memory.lock");
  const std::filesystem::path file = outdir / "memory.jsonl";
  std::set<std::string> runs;
  for (const Experience& experience : experiences) runs.insert(experience.run);
  std::string text;
  TacticGraph graph;
  const auto keep = [&](const Experience& experience, const std::string& line) {
    graph.add(experience);
    text += line + "\n";
  };
  std::ifstream in(replace_all ? std::filesystem::path() : file, std::ios::binary);
  std::string line;
  for (std::size_t n = 1; std::getline(in, line); ++n) {
    const Experience experience = parse_experience(line, file.string() + ":" + std::to_string(n));
    if (!runs.contains(experience.run)) keep(experience, line);
  }
  for (const Experience& experience : experiences) keep(experience, experience_text(experience));
  write_file_atomically(file, text);
  write_file_atomically(outdir / kTacticGraphFile, graph.text());
}

}  // namespace warpath
