#include "experiments/setup/spec_problems.h"

#include <algorithm>

#include "engine/base/error.h"
#include "moves/contract/kernel_contract.h"
#include "runners/cuda/compile/headers.h"
#include "runners/host/compile/translate.h"
#include "runners/reference/host_op_reference.h"

namespace warpath {
namespace {

/// A runner, or a library that the spec names, has it or may have it.
bool is_known(const KernelSpec& spec, const std::string& header) {
  if (spec.compiler == DeviceCompiler::nvcc) return true;  // it says itself what it does not find
  const auto allowed = cuda::allowed_includes();
  if (std::ranges::find(allowed, header) != allowed.end() || host::is_allowed_header(header))
    return true;
  return spec.system_headers != nullptr &&
         std::ranges::find(spec.system_headers->files, header, &SystemHeader::name) !=
             spec.system_headers->files.end();
}

}  // namespace

std::vector<std::string> spec_problems(const KernelSpec& spec) {
  std::vector<std::string> problems;
  for (const MissingHeader& missing : spec.missing_headers) {
    if (is_known(spec, missing.name)) continue;
    problems.emplace_back(
        bad_input(missing.place, "#include \"" + missing.name + "\"",
                  "a header beside that file or in one of " + spec.place("/kernel/include_folders"))
            .what());
  }
  for (std::string& problem : contract_problems(spec)) problems.push_back(std::move(problem));
  if (const auto* const use = std::get_if<ReferenceHostOp>(&spec.reference)) {
    try {
      static_cast<void>(make_host_op_reference(spec, *use));
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return problems;
}

void require_no_problems(const KernelSpec& spec) {
  const std::vector<std::string> problems = spec_problems(spec);
  if (problems.empty()) return;
  const std::size_t more = problems.size() - 1;
  throw Error(ErrorCode::bad_input,
              problems.front() + (more == 0 ? ""
                                            : " (and " + std::to_string(more) +
                                                  " more: warpath validate lists them)"));
}

}  // namespace warpath
