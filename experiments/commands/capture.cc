#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "experiments/capture/application.h"
#include "experiments/capture/capture_log.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/environment.h"
#include "register_commands.h"
#include "runners/worker/process.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSourceBytes = std::size_t{8} << 20U;

/// What the command line asks for, checked before the application starts.
struct CaptureRequest {
  std::vector<std::string> command, sources, contents;
  fs::path folder;
  double share = kCapturedShare;
};

fs::path folder_for(const Arguments& arguments, const std::string& program) {
  const fs::path folder =
      arguments.value("output").value_or(("out/capture" / fs::path(program).filename()).string());
  std::error_code error;
  if (fs::exists(folder, error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    throw bad_input("--output", folder.string(), "a folder that is empty or not there yet");
  return folder;
}

CaptureRequest request_of(const Arguments& arguments) {
  CaptureRequest out{.command = arguments.words(),
                     .sources = arguments.values("sources"),
                     .contents = arguments.values("contents"),
                     .folder = folder_for(arguments, arguments.words()[0])};
  if (find_program(out.command[0]).empty())
    throw bad_input("warpath capture", out.command[0], "a program that can be started");
  for (const std::string& file : out.sources)
    static_cast<void>(read_text_file(file, kMostSourceBytes, "--sources"));
  for (const std::string& one : out.contents) {
    const std::size_t colon = one.find(':');
    const std::string index = colon == std::string::npos ? "" : one.substr(colon + 1);
    if (colon == 0 || index.empty() || index.size() > 4 ||
        index.find_first_not_of("0123456789") != std::string::npos ||
        one.find(',') != std::string::npos)
      throw bad_input("--contents", one, "KERNEL:PARAMETER, the parameter counted from 0");
  }
  if (const auto text = arguments.value("share")) out.share = share_from(*text);
  return out;
}

/// A name for a kernel's files that no other has.
std::vector<std::string> file_names(const Capture& capture, std::size_t count) {
  std::map<std::string, int> taken;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = capture.kernels[i].kernel;
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    if (name.empty()) name = "unnamed";
    const int number = ++taken[name];
    out.push_back(number == 1 ? name : name + "_" + std::to_string(number));
  }
  return out;
}

std::string total_launches(const CapturedKernel& kernel) {
  std::uint64_t sum = 0;
  for (const CapturedLaunch& one : kernel.launches) sum += one.launches;
  return std::to_string(sum);
}

/// Writes a spec for the kernel from the first of the sources that has it; empty if none has, or
/// one line why there is none.
std::string spec_from_sources(const CaptureRequest& request,
                              const Program& program,
                              const CapturedKernel& kernel,
                              const fs::path& launches,
                              const fs::path& spec) {
  std::string why;
  for (const std::string& source : request.sources) {
    const std::string text = read_text_file(source, kMostSourceBytes, "--sources");
    if (text.find(kernel.kernel) == std::string::npos) continue;
    ProcessSpec command;
    command.argv = {program.path, "init",
                    source,       kernel.kernel,
                    "--launches", launches.string(),
                    "--share",    number_text(request.share),
                    "--output",   spec.string()};
    const ProcessResult made = run_process(command, std::chrono::minutes(2), 1 << 16);
    if (made.end == ProcessEnd::exited && made.code == 0) return spec.string();
    why = made.output.substr(0, made.output.find('\n'));
  }
  return why;
}

void print_summary(const Capture& capture, std::size_t count) {
  std::vector<std::vector<std::string>> rows{{"kernel", "launches", "ms", "share", "shapes"}};
  for (std::size_t i = 0; i < count; ++i) {
    const CapturedKernel& kernel = capture.kernels[i];
    rows.push_back({kernel.kernel.empty() ? "?" : kernel.kernel, total_launches(kernel),
                    capture.timed ? ms_text(kernel.time_ns / 1e6) : "-",
                    capture.timed ? percent_text(kernel.share, 1) : "-",
                    std::to_string(kernel.launches.size())});
  }
  std::fputs(aligned_text(rows, {1, 2, 3, 4}).c_str(), stdout);
  if (count < capture.kernels.size())
    std::printf("%zu kernels more\n", capture.kernels.size() - count);
  if (!capture.timed) std::printf("no launch was timed; kernels are in order of launches\n");
  if (capture.graph_launches > 0)
    std::printf(
        "%llu launches of CUDA graphs: their kernels are counted once, when the graph was made\n",
        static_cast<unsigned long long>(capture.graph_launches));
  if (capture.unfinished > 0)
    std::printf("%zu processes were killed: their last launches may be missing\n",
                capture.unfinished);
}

int capture(const Arguments& arguments, const Program& program) {
  const CaptureRequest request = request_of(arguments);
  const fs::path library = capture_library(program.path);
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) throw environment_error(request.folder.string() + ": " + error.message());
  const fs::path folder = fs::absolute(request.folder);
  const int code = run_application({.command = request.command,
                                    .library = library,
                                    .folder = folder,
                                    .contents = request.contents});
  const Capture found = read_capture(folder);
  if (found.kernels.empty()) {
    std::fprintf(stderr,
                 "warpath: %s: no launch of a CUDA kernel was seen (docs/capture.md has what "
                 "cannot be)\n",
                 request.command[0].c_str());
    return code;
  }
  const std::size_t count = kernels_in_share(found, request.share);
  const std::vector<std::string> names = file_names(found, count);
  print_summary(found, count);
  for (std::size_t i = 0; i < count; ++i) {
    const fs::path file = request.folder / (names[i] + ".launches.json");
    write_file_atomically(file, launches_text(found.kernels[i]));
    std::string line = file.string();
    if (!request.sources.empty()) {
      const fs::path spec = request.folder / (names[i] + ".json");
      const std::string made = spec_from_sources(request, program, found.kernels[i], file, spec);
      line = made.empty() ? line + ": in none of the sources" : made;
    }
    std::printf("%s\n", line.c_str());
  }
  return code;
}

}  // namespace

void register_command_capture(CommandRegistry& registry) {
  registry.push_back(
      {.name = "capture",
       .usage = "[--output DIR] [--share 0.9] -- COMMAND...",
       .help = "runs an application and records its CUDA launches: shapes, scalars, times; writes "
               "those that make up the time, as specs where the sources are given",
       .flags = {{"output", "DIR", "where to (default: out/capture/COMMAND)"},
                 {"share", "SHARE", "of the device time that is written (default: 0.9)"},
                 {"sources", "FILE.cu",
                  "where the kernels stand: a spec is written for each that is found there",
                  Flag::Takes::several},
                 {"contents", "KERNEL:PARAMETER",
                  "record also what this parameter, counted from 0, points to: of index tensors, "
                  "before the first launch of each shape",
                  Flag::Takes::several}},
       .least_words = 1,
       .most_words = 100000,
       .run = capture});
}

}  // namespace warpath
