#include "experiments/setup/environment.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "engine/base/format.h"
#include "engine/base/processor_name.h"
#include "engine/json/record_codec.h"
#include "engine/log/events.h"
#include "experiments/setup/revision.h"

namespace warpath {

template <>
struct Description<Environment> : Record<Kept<"revision", &Environment::revision>,
                                         Kept<"build_compiler", &Environment::build_compiler>,
                                         Kept<"cpu", &Environment::cpu>,
                                         Kept<"cores", &Environment::cores>,
                                         Kept<"memory_mib", &Environment::memory_mib>,
                                         Kept<"kernel", &Environment::kernel>,
                                         Kept<"started", &Environment::started>> {};

namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

Environment probe_environment() {
  utsname system{};
  uname(&system);
  const auto page_bytes = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  return {.revision = std::string(revision()),
#ifdef __clang__
          .build_compiler = __VERSION__,
#else
          .build_compiler = "g++ " __VERSION__,
#endif
          .cpu = processor_name(),
          .cores = usable_cores(),
          .memory_mib = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes >> 20U,
          .kernel = std::string(system.sysname) + " " + system.release + " " + system.machine,
          .started = utc_text(unix_now())};
}

std::string to_json_text(const Environment& environment) {
  return Codec<Environment>::write(environment).dump(2);
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace warpath
