#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "experiments/console/interrupt.h"
#include "experiments/ship/application.h"
#include "experiments/ship/deployment.h"
#include "experiments/ship/tree_change.h"
#include "register_commands.h"

namespace warpath {
namespace {

constexpr int kRolledBack = 1;
constexpr int kFailed = static_cast<int>(ErrorCode::environment);

void say(const std::string& line) {
  std::fprintf(stderr, "warpath: %s\n", line.c_str());
}

int revert(const Project& project) {
  const InterruptWatch interrupt;
  try {
    if (!TreeChange::is_kept(project)) Application::wait_for_commands(project, interrupt.stop());
  } catch (const Interrupted&) {
    say("interrupted; nothing was touched");
    return kFailed;
  }
  TreeChange::revert(project);
  std::printf("%s: as it was before the deployment\n", project.target_file.c_str());
  std::fflush(stdout);
  try {
    const std::string why = Application(project, interrupt.stop()).build();
    if (why.empty()) return 0;
    say("the restored tree: " + why);
  } catch (const Interrupted&) {
    say("the restored tree was not built");
  }
  return kFailed;
}

std::string timed(const Deployment& done) {
  return done.speedup > 0 ? ratio_text(done.speedup, done.interval) + " over " +
                                std::to_string(done.best.size()) + " pairs"
                          : "not timed";
}

int deploy_run(const Arguments& arguments, const Program& program) {
  const auto file = arguments.value("project");
  if (!file) throw bad_input("warpath deploy", "", "--project FILE.json");
  const Project project = read_project(*file);
  if (arguments.has("revert")) return revert(project);
  if (arguments.words().empty()) throw bad_input("warpath deploy", "", "RUN, a run folder");
  const std::string& folder = arguments.words()[0];
  if (TreeChange::has_change(project))
    throw bad_input(project.root.string(), "a tree with a deployment",
                    "--revert to take it back first");
  // a patch calls the launcher, which chooses among kernels; in place there can be one
  const Shipment shipment(folder,
                          project.patch.empty() ? Shipment::Of::best : Shipment::Of::portfolio);
  if (shipment.spec().kernel_type == KernelType::ptx)
    throw bad_input(folder, "a run whose kernels are PTX",
                    "one in CUDA C++ or Triton: warpath export writes PTX with a launcher");
  if (!shipment.refusal().empty()) {
    say(folder + ": " + shipment.refusal() + "; nothing is deployed");
    return kNotAsExpected;
  }
  FolderFiles exported;
  if (!project.export_folder.empty()) {
    refuse_existing(project.at(project.export_folder));
    exported = export_files(
        shipment, compile_shipment(shipment, chosen_architectures(arguments, shipment), program));
  }
  const InterruptWatch interrupt;
  const Deployment done =
      deploy(project, shipment, std::move(exported), say, interrupt.stop(), interrupt.abandon());
  if (done.end == Deployment::End::deployed) {
    std::printf("%s: %s: deployed\n", project.target_file.c_str(), timed(done).c_str());
    return 0;
  }
  say(done.why);
  const bool back = done.end == Deployment::End::rolled_back;
  std::printf("%s: %s: %s\n", project.target_file.c_str(), timed(done).c_str(),
              back ? "rolled back" : "failed, restored");
  return back ? kRolledBack : kFailed;
}

}  // namespace

void register_command_deploy(CommandRegistry& registry) {
  registry.push_back(
      {.name = "deploy",
       .usage = "RUN --project FILE.json | --revert --project FILE.json",
       .help = "put the best kernel of a recorded run into an application's tree, and keep it "
               "there if the application builds, passes its test and is faster in its own timing; "
               "exit codes: 0 deployed, 1 rolled back, 2 no gain, 3 infrastructure",
       .flags = {{.name = "project",
                  .value = "FILE.json",
                  .help = "files and commands of the application (docs/deploy.md)"},
                 {.name = "revert",
                  .value = "",
                  .help = "take back what was deployed, or left behind by a deployment that died",
                  .takes = Flag::Takes::nothing},
                 {.name = "arch",
                  .value = "ARCH,...",
                  .help = "architectures of the export folder (that of the run's device)"}},
       .least_words = 0,
       .most_words = 1,
       .run = deploy_run});
}

}  // namespace warpath
