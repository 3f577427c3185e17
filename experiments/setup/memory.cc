#include "experiments/setup/memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/prior.h"

namespace warpath {
namespace {

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

namespace memory_fields {

/// As a path writes it: "move@site(parameter=value)".
struct InstanceText {
  static void read(const JsonCursor& cursor, MoveInstance& out) {
    out = MoveInstance::parse(cursor.text(), cursor.place());
  }
  static nlohmann::json write(const MoveInstance& instance) { return instance.text(); }
};
/// Present if the trial has a time.
struct Gain {
  static void read(const JsonCursor& cursor, Experience& out) { out.log_gain = cursor.number(); }
  static nlohmann::json write(const Experience& experience) {
    return experience.ok() ? nlohmann::json(experience.log_gain) : nlohmann::json();
  }
};
struct LogGain {
  template <class V>
  static void field(V& v) {
    v.template custom<Gain>({.key = "log_gain", .help = ""});
  }
};

}  // namespace memory_fields

template <>
struct Description<Experience>
    : Record<Kept<"run", &Experience::run>,
             Kept<"kernel", &Experience::kernel>,
             Kept<"device", &Experience::device>,
             Kept<"context", &Experience::context>,
             Kept<"from", &Experience::from>,
             Kept<"move", &Experience::instance, memory_fields::InstanceText>,
             Kept<"status", &Experience::status>,
             memory_fields::LogGain> {};

std::string experience_text(const Experience& experience) {
  return Codec<Experience>::write(experience).dump();
}

Experience parse_experience(const std::string& line, const std::string& place) {
  const nlohmann::json document = parse_json(line, place);
  const JsonCursor c(document, place);
  Experience out;
  Codec<Experience>::read(c, out);
  if (out.ok()) static_cast<void>(c.at("log_gain"));
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
