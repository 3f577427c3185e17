#include "experiments/ship/export_folder.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/hash.h"
#include "engine/base/temporary_folder.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/ship/binding_code.h"
#include "experiments/ship/c_arguments.h"
#include "experiments/ship/plan_code.h"
#include "experiments/ship/template_text.h"
#include "experiments/ship/test_code.h"
#include "experiments/ship_templates.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + c_literal(name);
  return out;
}

/// Names of the kernels, defined as names of their own, and the addresses of those launched.
void rename_kernels(const ShippedKernel& kernel, const std::string& prefix, Placeholders& out) {
  std::string renames, addresses;
  for (const std::string& name : kernel.defined)
    renames += "#define " + name + " " + prefix + name + "\n";
  for (const std::string& name : kernel.kernels)
    addresses += (addresses.empty() ? "(const void*)&" : ", (const void*)&") + name;
  out["RENAMES"] = renames;
  out["ADDRESSES"] = addresses;
  out["COUNT"] = std::to_string(kernel.kernels.size());
}

/// Placeholders that several files share.
Placeholders common(const Shipment& shipment, const CompiledShipment& compiled) {
  const KernelSpec& spec = shipment.spec();
  const ShippedKernel &best = shipment.best(), &original = shipment.original();
  const bool headers = spec.system_headers != nullptr;
  std::vector<std::string> steps(best.kernels.begin() + 1, best.kernels.end());
  return {
      {"NAME", shipment.name()},
      {"TITLE", shipment.name() + ", exported by Warpath; provenance.json says from where."},
      {"PARAMETERS", c_parameters(spec)},
      {"VALUES", c_names(spec)},
      {"CALL", c_names(spec)},
      {"BEST_COUNT", std::to_string(best.kernels.size())},
      {"ORIGINAL_COUNT", std::to_string(original.kernels.size())},
      {"STEPS", steps.empty() ? "none" : joined(steps, ", ")},
      {"FIELDS", argument_fields(spec)},
      {"TENSORS", tensor_sizes(spec)},
      {"KERNELS", kernel_plan(shipment, "original") + kernel_plan(shipment, "best")},
      {"BEST_NAMES", list_of(compiled.best.names)},
      {"ORIGINAL_NAMES", list_of(compiled.original.names)},
      {"BEST_GENCODE", gencode_options(compiled.best)},
      {"ORIGINAL_GENCODE", gencode_options(compiled.original)},
      {"BEST_ARCHITECTURES", cmake_architectures(compiled.best)},
      {"ORIGINAL_ARCHITECTURES", cmake_architectures(compiled.original)},
      {"BEST_FLAGS", nvcc_options(best)},
      {"ORIGINAL_FLAGS", nvcc_options(original)},
      {"MAKE_HEADERS", headers ? " -Iheaders" : ""},
      {"CMAKE_HEADERS", headers ? " -I${CMAKE_CURRENT_SOURCE_DIR}/headers" : ""},
      {"HEADERS", headers ? "| `headers/` | of libraries, as the kernels include them |\n" : ""}};
}

std::string readme(const Shipment& shipment,
                   const CompiledShipment& compiled,
                   const TestCode& test,
                   Placeholders values) {
  const std::string_view label = timing_label(shipment.run().run().runner);
  std::string contract;
  for (const std::string& line : contract_lines(shipment)) contract += "- " + line + "\n";
  contract.pop_back();
  std::vector<std::string> architectures;
  for (const MachineCode& code : compiled.original.codes) {
    if (!code.is_ptx) architectures.push_back(code.architecture);
  }
  std::string code = architectures.empty() ? ": none" : ", for " + joined(architectures, ", ");
  if (!compiled.without_best.empty())
    code += "; the best kernel cannot run on " + joined(compiled.without_best, ", ");
  values["SPEEDUP"] = ratio_text(shipment.speedup(), shipment.interval());
  values["DEVICE"] = shipment.device().name;
  values["TIMINGS"] = label.empty() ? "" : " (" + std::string(label) + ", not a GPU's)";
  values["CONTRACT"] = contract;
  values["CODE"] = code;
  values["DATA"] = test.files.empty() ? "" : ", `data/`";
  values["SCRATCH"] = shipment.best().variant.scratch.empty()
                          ? ""
                          : ", but for scratch memory, in the order of the stream";
  std::string out = fill_template(kReadmeTemplate, values);
  if (!test.left_out.empty()) out += "\nNot in the test: " + joined(test.left_out, "; ") + ".\n";
  return out;
}

/// provenance.json: that of the shipment, and what is in the folder.
std::string provenance(const Shipment& shipment,
                       const CompiledShipment& compiled,
                       const FolderFiles& files) {
  nlohmann::json out = nlohmann::json::parse(shipment.provenance_json());
  nlohmann::json architectures = nlohmann::json::array();
  for (const MachineCode& code : compiled.best.codes) {
    if (!code.is_ptx) architectures.push_back(code.architecture);
  }
  out["best_kernel_architectures"] = architectures;
  for (const auto& [name, text] : files) out["files"][name] = hash128(text).hex();
  return json_text(out, 2) + "\n";
}

}  // namespace

std::string nvcc_options(const ShippedKernel& kernel) {
  std::string out = "-std=c++17";
  for (const std::string& option : kernel.options) {
    if (option.find("std=") != std::string::npos)
      out = option;
    else if (option.find("default-") == std::string::npos)
      out += " " + option;
  }
  return out;
}

FolderFiles export_files(const Shipment& shipment, const CompiledShipment& compiled) {
  const std::string& name = shipment.name();
  const TestCode test = test_code(shipment);
  Placeholders values = common(shipment, compiled);
  FolderFiles out;
  const auto add = [&](const std::string& file, const char* text) {
    values["GUARD"] = capitals(file);
    std::ranges::replace(values["GUARD"], '.', '_');
    out.emplace_back(file, fill_template(text, values));
  };
  add(name + ".h", kApiTemplate);
  add(name + "_sizes.h", kSizesTemplate);
  add(name + "_plan.h", kPlanTemplate);
  add(name + "_state.h", kStateHeaderTemplate);
  add(name + "_state.c", kStateTemplate);
  add(name + "_images.h", kImagesHeaderTemplate);
  add(name + "_driver.c", kDriverTemplate);
  add(name + "_runtime.c", kRuntimeTemplate);
  for (const auto& [which, kernel] :
       {std::pair<std::string, const ShippedKernel&>{"best", shipment.best()},
        {"original", shipment.original()}}) {
    values["WHICH"] = which;
    rename_kernels(kernel, name + "_" + which + "_", values);
    add(name + "_" + which + ".cu", kKernelsTemplate);
    out.emplace_back(which + "_kernel.cu", kernel.source);
  }
  if (shipment.spec().system_headers != nullptr) {
    for (const SystemHeader& header : shipment.spec().system_headers->files)
      out.emplace_back("headers/" + header.name, header.text);
  }
  out.emplace_back(name + "_images.c",
                   "#include \"" + name + "_images.h\"\n\n" + image_tables(compiled));
  for (const auto& [which, kernel] :
       {std::pair<std::string, const CompiledKernel&>{"best", compiled.best},
        {"original", compiled.original}}) {
    for (const MachineCode& code : kernel.codes)
      out.emplace_back(
          "code/" + which + "." + code.architecture + (code.is_ptx ? ".ptx" : ".cubin"),
          code.bytes);
  }
  Placeholders binding = tvm_ffi_code(shipment.spec());
  binding["NAME"] = name;
  out.emplace_back(name + "_tvm_ffi.cc", fill_template(kTvmFfiTemplate, binding));
  binding = torch_code(shipment.spec());
  binding["NAME"] = name;
  out.emplace_back(name + "_torch.cc", fill_template(kTorchTemplate, binding));
  values["WORKLOADS"] = test.text;
  add(name + "_test.cc", kTestTemplate);
  out.emplace_back("portable.h", kPortableText);
  for (const auto& file : test.files) out.push_back(file);
  add("Makefile", kMakefileTemplate);
  add("CMakeLists.txt", kCmakeTemplate);
  out.emplace_back("README.md", readme(shipment, compiled, test, values));
  out.emplace_back("provenance.json", provenance(shipment, compiled, out));
  return out;
}

void refuse_existing(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::exists(fs::symlink_status(folder, error)))
    throw bad_input("DIR", folder.empty() ? "\"\"" : folder.string(), "the name of a new folder");
}

void write_new_folder(const fs::path& folder, const FolderFiles& files) {
  refuse_existing(folder);
  const fs::path target = fs::absolute(folder).lexically_normal();
  const fs::path named = target.has_filename() ? target : target.parent_path();
  std::error_code error;
  fs::create_directories(named.parent_path(), error);
  if (error) throw environment_error(folder.string() + ": cannot be made: " + error.message());
  const TemporaryFolder made("export", named.parent_path());
  for (const auto& [name, text] : files) {
    fs::create_directories((made / name).parent_path(), error);
    write_file_atomically(made / name, text, false);
  }
  fs::permissions(made.path(), fs::perms(0755), error);
  fs::rename(made.path(), named, error);
  if (error) throw environment_error(folder.string() + ": cannot be made: " + error.message());
}

}  // namespace warpath
