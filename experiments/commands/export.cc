#include <cstdio>

#include "engine/base/format.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/ship/export_folder.h"
#include "register_commands.h"

namespace warpath {
namespace {

int export_run(const Arguments& arguments, const Program& program) {
  const std::filesystem::path target = arguments.words()[1];
  refuse_existing(target);
  const Shipment shipment(arguments.words()[0]);
  if (!shipment.refusal().empty()) {
    std::fprintf(stderr, "warpath: %s: %s; nothing is exported\n", arguments.words()[0].c_str(),
                 shipment.refusal().c_str());
    return kNotAsExpected;
  }
  const CompiledShipment compiled =
      compile_shipment(shipment, chosen_architectures(arguments, shipment), program);
  for (const std::string& architecture : compiled.without_best)
    std::fprintf(stderr, "warpath: the best kernel cannot run on %s: the original is there\n",
                 architecture.c_str());
  const FolderFiles files = export_files(shipment, compiled);
  write_new_folder(target, files);
  const std::string heading = timing_heading(shipment.run().run().runner);
  std::printf("%s%s: %zu files, %s; make -C %s test\n", heading.c_str(), target.string().c_str(),
              files.size(), ratio_text(shipment.speedup(), shipment.interval()).c_str(),
              target.string().c_str());
  return 0;
}

}  // namespace

void register_command_export(CommandRegistry& registry) {
  registry.push_back(
      {.name = "export",
       .usage = "RUN DIR [--arch ARCH,...]",
       .help = "make a folder that runs without this program: the best kernel of a recorded run "
               "with launchers for C, the CUDA runtime and driver, apache-tvm-ffi and PyTorch, the "
               "original where the best may not be launched, and a test",
       .flags = {{.name = "arch",
                  .value = "ARCH,...",
                  .help = "architectures to compile for, such as sm_90a,sm_80; none: no machine "
                          "code (that of the run's device)"}},
       .least_words = 2,
       .most_words = 2,
       .run = export_run});
}

}  // namespace warpath
