#include "runners/cuda/code/disassembler.h"

#include <array>
#include <filesystem>

#include "engine/base/temporary_folder.h"
#include "engine/log/run_folder.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/worker/process.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::duration<double> kLimit{60};
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

}  // namespace

Disassembler find_disassembler() {
  const std::array<Disassembler, 2> tools{{{"", "nvdisasm", {"-c"}}, {"", "cuobjdump", {"-sass"}}}};
  for (Disassembler tool : tools) {
    tool.path = toolkit_program(tool.name);
    if (!tool.path.empty()) return tool;
  }
  return {};
}

std::string disassemble(const Disassembler& tool, std::string_view cubin, std::string& why) {
  if (tool.path.empty()) return why = "neither nvdisasm nor cuobjdump is here", "";
  const TemporaryFolder folder("code");
  const fs::path file = folder / "kernel.cubin";
  write_file_atomically(file, cubin, false);
  ProcessSpec process;
  process.argv = {tool.path};
  process.argv.insert(process.argv.end(), tool.arguments.begin(), tool.arguments.end());
  process.argv.push_back(file.string());
  // cuobjdump calls nvdisasm
  process.environment = {"PATH=" + fs::path(tool.path).parent_path().string() + ":/usr/bin:/bin",
                         "LC_ALL=C"};
  ProcessResult result = run_process(process, kLimit, kMostBytes);
  if (result.end == ProcessEnd::exited && result.code == 0) return std::move(result.output);
  why = tool.name + (result.end == ProcessEnd::exited
                         ? " refuses the code: " + result.output.substr(0, result.output.find('\n'))
                         : " did not come to an end");
  return "";
}

}  // namespace warpath::cuda
