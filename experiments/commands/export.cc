#include <cstdio>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/ship/export_folder.h"
#include "experiments/ship/solution_files.h"
#include "register_commands.h"

namespace warpath {
namespace {

/// What `--as` asks for; nullopt without it.
std::optional<SolutionRequest> wanted_solution(const Arguments& arguments) {
  const auto format = arguments.value("as"), definition = arguments.value("definition");
  if (!format) {
    for (const char* const flag : {"definition", "workloads", "author"}) {
      if (arguments.has(flag))
        throw bad_input(std::string("--") + flag, *arguments.value(flag), "--as beside it");
    }
    return std::nullopt;
  }
  if (!definition) throw bad_input("--as", *format, "--definition beside it");
  if (arguments.has("arch"))
    throw bad_input("--arch", *arguments.value("arch"), "no machine code in a solution");
  SolutionRequest out{.format = solution_format(*format, "--as"),
                      .definition = read_definition(*definition),
                      .workloads = {},
                      .author = arguments.value("author").value_or("warpath")};
  out.workloads = read_workloads(out.definition, arguments.value("workloads"));
  return out;
}

int export_solution(const Shipment& shipment,
                    const SolutionRequest& request,
                    const std::filesystem::path& target,
                    const Program& program) {
  const FolderFiles files =
      solution_files(shipment, compile_shipment(shipment, {}, program), request);
  write_new_folder(target, files);
  for (const auto& [name, text] : files) std::printf("%s\n", (target / name).c_str());
  return 0;
}

int export_run(const Arguments& arguments, const Program& program) {
  const std::filesystem::path target = arguments.words()[1];
  refuse_existing(target);
  const auto wanted = wanted_solution(arguments);
  const Shipment shipment(arguments.words()[0],
                          wanted ? Shipment::Of::best : Shipment::Of::portfolio);
  const KernelType type = shipment.spec().kernel_type;
  if (wanted && type != KernelType::cuda)
    throw bad_input(arguments.words()[0], "a run whose kernels are not CUDA C++",
                    "one with kernel_type cuda for --as");
  if (!shipment.refusal().empty()) {
    std::fprintf(stderr, "warpath: %s: %s; nothing is exported\n", arguments.words()[0].c_str(),
                 shipment.refusal().c_str());
    return kNotAsExpected;
  }
  if (wanted) return export_solution(shipment, *wanted, target, program);
  const std::vector<std::string> architectures = chosen_architectures(arguments, shipment);
  if (type == KernelType::ptx && architectures.empty())
    throw bad_input("--arch", "none",
                    "an architecture: a kernel in PTX is launched as machine code");
  const CompiledShipment compiled = compile_shipment(shipment, architectures, program);
  for (const auto& [kernel, architecture] : compiled.excluded)
    std::fprintf(stderr, "warpath: the %s kernel cannot run on %s: the original is there\n",
                 kernel.c_str(), architecture.c_str());
  const FolderFiles files = export_files(shipment, compiled);
  write_new_folder(target, files);
  const std::string heading = timing_heading(shipment.run().run().runner);
  const std::string test = type == KernelType::cuda || !architectures.empty()
                               ? "make -C " + target.string() + " test"
                               : "python -c 'import " + shipment.name() + "'";
  std::printf("%s%s: %zu files, %s; %s\n", heading.c_str(), target.string().c_str(), files.size(),
              ratio_text(shipment.speedup(), shipment.interval()).c_str(), test.c_str());
  return 0;
}

}  // namespace

void register_command_export(CommandRegistry& registry) {
  registry.push_back(
      {.name = "export",
       .usage = "RUN DIR [--arch ARCH,... | --as FORMAT --definition FILE]",
       .help = "make a folder that runs without this program: the best kernel of a recorded run, "
               "or those of its portfolio, with launchers for C, the CUDA runtime and driver, "
               "apache-tvm-ffi and PyTorch, the "
               "original where none of them may be launched, and a test",
       .flags = {{.name = "arch",
                  .value = "ARCH,...",
                  .help = "architectures to compile for, such as sm_90a,sm_80; none: no machine "
                          "code (that of the run's device)"},
                 {.name = "as",
                  .value = "FORMAT",
                  .help = "instead, a solution for a benchmark: flashinfer-trace, sol-execbench "
                          "or kernelbench"},
                 {.name = "definition", .value = "FILE", .help = "with --as: of the problem"},
                 {.name = "workloads", .value = "FILE", .help = "with --as: of the definition"},
                 {.name = "author",
                  .value = "NAME",
                  .help = "with --as: of the solution (warpath)"}},
       .least_words = 2,
       .most_words = 2,
       .run = export_run});
}

}  // namespace warpath
