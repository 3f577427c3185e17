#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "experiments/capture/application.h"
#include "experiments/setup/environment.h"
#include "experiments/setup/revision.h"
#include "register_commands.h"
#include "runners/worker/process.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

/// Libraries that belong to the system's own loader and must not be mixed with another's.
bool belongs_to_glibc(const std::string& file_name) {
  constexpr std::array<std::string_view, 12> kNames{
      "ld-linux", "linux-vdso",    "linux-gate", "libc.so",      "libm.so",    "libmvec.so",
      "libdl.so", "libpthread.so", "librt.so",   "libresolv.so", "libutil.so", "libanl.so"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view name) { return file_name.starts_with(name); });
}

/// The shared libraries that this process runs with, as the loader found them, those of glibc left
/// out.
std::vector<fs::path> loaded_libraries() {
  std::vector<fs::path> libraries;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const fs::path path = info->dlpi_name;
        if (path.is_absolute() && !belongs_to_glibc(path.filename().string()))
          static_cast<std::vector<fs::path>*>(out)->push_back(path);
        return 0;
      },
      &libraries);
  return libraries;
}

/// The specs that belong to this program: in a bundle, an installation, a build folder inside the
/// source tree, or here.
fs::path own_specs(const fs::path& program) {
  const fs::path folder = program.parent_path();
  for (const fs::path& place : {folder / "../specs", folder / "../share/warpath/specs",
                                folder / "../../specs", fs::path("specs")}) {
    if (fs::exists(place / "schema.json")) return fs::weakly_canonical(place);
  }
  throw bad_input("warpath bundle", "", "--specs FOLDER: none lies beside the program");
}

/// Copies the content of files, whatever links lead to them; the name of the target is the one
/// given.
void take_along(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) throw environment_error(to.string() + ": cannot be written: " + error.message());
}

/// Takes debugging information out of `file` where the system has a tool for it: the program
/// shrinks to a tenth.
void shrink(const fs::path& file) {
  const std::string strip = find_program("strip");
  if (strip.empty()) return;
  ProcessSpec command;
  command.argv = {strip, "--strip-debug", file.string()};
  // a program that stays large still runs
  static_cast<void>(run_process(command, std::chrono::minutes(1), 1 << 16));
}

void write_launcher(const fs::path& folder) {
  const fs::path path = folder / "warpath";
  std::ofstream file(path);
  file << "#!/bin/sh\n"
          "# Starts the program of this folder from anywhere. It finds lib/ by its own place, not "
          "by the environment.\n"
          "exec \"$(dirname -- \"$(readlink -f -- \"$0\")\")/bin/warpath\" \"$@\"\n";
  file.close();
  if (!file) throw environment_error(path.string() + ": cannot be written");
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                            fs::perms::others_read | fs::perms::others_exec);
}

void write_readme(const fs::path& folder) {
  std::ofstream file(folder / "README.md");
  file << "# Warpath, revision " << revision() << "\n\n"
       << "Runs where it lies: `./warpath doctor`, `./warpath run --input specs`. Needs Linux with "
          "a glibc no older than that of the\n"
          "machine it was built on; for GPUs also NVIDIA's driver and NVRTC (`libnvrtc`, in `lib/` "
          "or where CUDA_PATH points); for\n"
          "the host runner a C++ compiler. `lib/libstdc++.so.6` and `lib/libgcc_s.so.1` may be "
          "deleted where the system's own are newer.\n";
  file.close();
  if (!file) throw environment_error((folder / "README.md").string() + ": cannot be written");
}

std::uintmax_t bytes_in(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  return bytes;
}

int bundle(const Arguments& arguments, const Program& program) {
  const fs::path folder = arguments.words().front();
  if (folder.empty()) throw bad_input("warpath bundle", "\"\"", "the name of a folder");
  std::error_code error;
  if (fs::exists(folder, error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    throw bad_input("warpath bundle", folder.string(), "a folder that is empty or not there yet");
  }
  const fs::path specs =
      arguments.has("specs") ? fs::path(*arguments.value("specs")) : own_specs(program.path);
  if (!fs::is_directory(specs, error)) throw bad_input("--specs", specs.string(), "a folder");
  const std::vector<fs::path> libraries = loaded_libraries();
  take_along(program.path, folder / "bin" / "warpath");
  shrink(folder / "bin" / "warpath");
  for (const fs::path& library : libraries)
    take_along(fs::canonical(library), folder / "lib" / library.filename());
  take_along(specs, folder / "specs");
  try {
    const fs::path capture = capture_library(program.path);
    take_along(capture, folder / "lib" / capture.filename());
    shrink(folder / "lib" / capture.filename());
  } catch (const Error&) {
    // built without the CUDA headers: `warpath capture` says so
  }
  write_launcher(folder);
  write_readme(folder);
  std::printf("%s: the program, %zu libraries, specs; %llu MiB\n", folder.string().c_str(),
              libraries.size(),
              static_cast<unsigned long long>((bytes_in(folder) + (1U << 20U) - 1) >> 20U));
  return 0;
}

}  // namespace

void register_command_bundle(CommandRegistry& registry) {
  registry.push_back(
      {.name = "bundle",
       .usage = "DIR [--specs FOLDER]",
       .help = "make a folder that runs on another machine: the program, the libraries it needs, "
               "the specs",
       .flags = {{.name = "specs",
                  .value = "FOLDER",
                  .help = "the specs to take along (those of this program)"}},
       .least_words = 1,
       .most_words = 1,
       .run = bundle});
}

}  // namespace warpath
