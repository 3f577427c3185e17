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
#include "experiments/ship/python_code.h"
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

/// Of a file with a kernel's text.
std::string extension(const KernelSpec& spec) {
  return spec.kernel_type == KernelType::triton ? ".py"
         : spec.kernel_type == KernelType::ptx  ? ".ptx"
                                                : ".cu";
}

/// A text a kernel of the shipment, joined.
template <typename Text>
std::string each(const Shipment& shipment, const std::string& between, const Text& text) {
  std::vector<std::string> out;
  for (const ShippedKernel& kernel : shipment.kernels()) out.push_back(text(kernel));
  return joined(out, between);
}

bool has_code(const CompiledShipment& compiled) {
  return std::ranges::any_of(compiled.kernels,
                             [](const CompiledKernel& kernel) { return !kernel.codes.empty(); });
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

/// What the launchers and the plan need of the kernels, in the order in which they are tried.
void add_kernels(const Shipment& shipment, const CompiledShipment& compiled, Placeholders& out) {
  const std::string& name = shipment.name();
  const auto all = [&](const std::string& between, const auto& text) {
    return each(shipment, between, text);
  };
  const auto listed = [&](const std::string& before, const std::string& after) {
    return all(", ", [&](const ShippedKernel& kernel) { return before + kernel.name + after; });
  };
  std::string tries, decisions, names, tables;
  for (std::size_t i = 0; i < shipment.kernels().size(); ++i) {
    const ShippedKernel& kernel = shipment.kernels()[i];
    const std::string& k = kernel.name;
    tables += (i == 0 ? "" : "\n") + ("static const char* const " + k) + "_names[] = {" +
              list_of(compiled.kernels[i].names) + "};";
    if (&kernel == &shipment.original()) continue;
    names += (i == 0 ? "\"" : ", \"") + k + "\"";
    const std::string lines = joined(contract_lines(kernel), "; ");
    decisions += (i == 0 ? "Tried in this order:" : "") + ("\n//   " + k) + "_kernel" +
                 extension(shipment.spec()) + ": " + (lines.empty() ? "any arguments" : lines);
    tries += (i == 0 ? "" : "\n") + ("    why = can_run(" + k) + "[0]) ? " + k +
             "_refuses(a) : \"no machine code of the " + k +
             " kernel for this device\";\n    if (why == NULL) return ended(" + name + "_hit, \"" +
             k + "\", run_" + k + "(" + k + ", a, stream), \"\");";
  }
  out["KERNEL_COUNT"] = std::to_string(shipment.kernels().size());
  out["KERNEL_NAMES"] = names;
  out["DECISIONS"] = decisions;
  out["TRIES"] = tries;
  out["NAME_TABLES"] = tables;
  out["KERNELS"] = all("", [&](const ShippedKernel& kernel) {
    const auto at = static_cast<std::size_t>(&kernel - shipment.kernels().data());
    return kernel_plan(shipment, kernel, compiled.kernels[at].dynamic_smem_bytes);
  });
  out["KERNEL_PARAMETERS"] = listed("const kernel_t* ", "");
  out["KERNEL_ARRAYS"] = listed(name + "_", "_kernels");
  out["KERNEL_MEMBERS"] = listed("kernels->", "");
  out["MODULES"] = listed("&kernels->", "_module");
  out["MODULE_MEMBERS"] = listed("*", "_module");
  out["FILE_PARAMETERS"] = listed("const char* ", "");
  out["FILES"] = listed("", "");
  out["ENTRIES"] = listed(name + "_", "_kernels[0]");
  out["KERNEL_FILES"] = listed(name + "_", ".cu");
  out["SOURCE_FILES"] = listed("`", "_kernel" + extension(shipment.spec()) + "`");
  out["UNIT_FILES"] = listed("`" + name + "_", ".cu`");
  out["CODES"] = all(", ", [](const ShippedKernel& kernel) {
    return "{" + kernel.name + "_images, " + kernel.name + "_names, " +
           std::to_string(kernel.kernels.size()) + "}";
  });
  out["FUNCTION_MEMBERS"] = all("\n", [](const ShippedKernel& kernel) {
    const std::vector<std::string> steps(kernel.kernels.begin() + 1, kernel.kernels.end());
    return "  struct CUfunc_st* " + kernel.name + "[" + std::to_string(kernel.kernels.size()) +
           "];" + (steps.empty() ? "" : "  // entry first, then: " + joined(steps, ", "));
  });
  out["KERNEL_ADDRESSES"] = all("\n", [&](const ShippedKernel& kernel) {
    return "extern const void* const " + name + "_" + kernel.name + "_kernels[" +
           std::to_string(kernel.kernels.size()) + "];";
  });
  out["IMAGE_TABLES"] = all("\n", [&](const ShippedKernel& kernel) {
    const std::string table = kernel.name + "_images";
    return "#define " + table + " " + name + "_" + table + "\nextern const struct image " + table +
           "[];";
  });
}

/// How the kernels are compiled by nvcc: rules for make and CMake.
void add_builds(const Shipment& shipment, const CompiledShipment& compiled, Placeholders& out) {
  const std::string& name = shipment.name();
  const bool headers = shipment.spec().system_headers != nullptr;
  std::vector<std::string> variables, rules, libraries;
  out["LAUNCHER"] = "runtime";
  out["LINK_DRIVER"] = out["CMAKE_DRIVER"] = "";
  out["CMAKE_LANGUAGES"] = "C CXX CUDA";
  if (shipment.spec().kernel_type != KernelType::cuda) {
    // machine code alone: nvcc compiles nothing
    out["LAUNCHER"] = "context";
    out["LINK_DRIVER"] = " -L$(CUDA)/lib64/stubs -lcuda";
    out["CMAKE_DRIVER"] = " CUDA::cuda_driver";
    out["CMAKE_LANGUAGES"] = "C CXX";
    out["MAKE_VARIABLES"] = out["MAKE_RULES"] = out["CMAKE_KERNELS"] = "";
    out["MAKE_OBJECTS"] = "build/" + name + "_driver.o build/" + name + "_images.o";
    out["CMAKE_OBJECTS"] = name + "_driver.c " + name + "_images.c";
    return;
  }
  for (std::size_t i = 0; i < shipment.kernels().size(); ++i) {
    const ShippedKernel& kernel = shipment.kernels()[i];
    const CompiledKernel& code = compiled.kernels[i];
    const std::string unit = name + "_" + kernel.name, make = capitals(kernel.name);
    const std::string flags = nvcc_options(kernel);
    variables.push_back(make + "_GENCODE ?= " + gencode_options(code) + "\n" + make +
                        "_FLAGS = " + flags + (headers ? " -Iheaders" : ""));
    rules.push_back("build/" + unit + ".o: " + unit + ".cu " + kernel.name +
                    "_kernel.cu | build\n\t$(NVCC) $(" + make + "_GENCODE) $(" + make +
                    "_FLAGS) -DNDEBUG -O3 -Xcompiler -fPIC -c $< -o $@");
    libraries.push_back("add_library(" + unit + " OBJECT " + unit + ".cu)\nset_target_properties(" +
                        unit + " PROPERTIES CUDA_ARCHITECTURES \"" + cmake_architectures(code) +
                        "\")\ntarget_compile_options(" + unit + " PRIVATE -DNDEBUG " + flags +
                        (headers ? " -I${CMAKE_CURRENT_SOURCE_DIR}/headers" : "") + ")");
  }
  out["MAKE_VARIABLES"] = joined(variables, "\n");
  out["MAKE_RULES"] = joined(rules, "\n");
  out["CMAKE_KERNELS"] = joined(libraries, "\n");
  out["MAKE_OBJECTS"] = each(shipment, " ", [&](const ShippedKernel& kernel) {
    return "build/" + name + "_" + kernel.name + ".o";
  });
  out["CMAKE_OBJECTS"] = each(shipment, " ", [&](const ShippedKernel& kernel) {
    return "$<TARGET_OBJECTS:" + name + "_" + kernel.name + ">";
  });
}

/// Placeholders that several files share.
Placeholders common(const Shipment& shipment, const CompiledShipment& compiled) {
  const KernelSpec& spec = shipment.spec();
  Placeholders out{
      {"NAME", shipment.name()},
      {"TITLE", shipment.name() + ", exported by Warpath; provenance.json says from where."},
      {"PARAMETERS", c_parameters(spec)},
      {"VALUES", c_names(spec)},
      {"CALL", c_names(spec)},
      {"FIELDS", argument_fields(spec)},
      {"TENSORS", tensor_sizes(spec)},
      {"HEADERS", spec.system_headers != nullptr
                      ? "| `headers/` | of libraries, as the kernels include them |\n"
                      : ""}};
  add_kernels(shipment, compiled, out);
  add_builds(shipment, compiled, out);
  return out;
}

/// When which kernel is launched, for people.
std::string contract_text(const Shipment& shipment) {
  const bool several = shipment.kernels().size() > 2;
  std::string out;
  for (const ShippedKernel& kernel : shipment.kernels()) {
    if (&kernel == &shipment.original()) continue;
    if (several || !kernel.by_finals)
      out += "`" + kernel.name + "_kernel" + extension(shipment.spec()) + "`" +
             (kernel.by_finals ? "" : ", judged and timed by the search, not by finals") + "\n\n";
    for (const std::string& line : contract_lines(kernel)) out += "- " + line + "\n";
    if (several) out += "\n";
  }
  while (out.ends_with("\n")) out.pop_back();
  return out;
}

/// How a kernel in another language than CUDA C++ is used from Python, and as machine code.
void add_use(const Shipment& shipment, const CompiledShipment& compiled, Placeholders& values) {
  const std::string& name = shipment.name();
  const bool is_triton = shipment.spec().kernel_type == KernelType::triton;
  const auto row = [&](const std::string& files, const std::string& what) {
    values["ROWS"] += "| " + files + " | " + what + " |\n";
  };
  values["LANGUAGE"] = is_triton ? "Triton" : "PTX";
  if (is_triton) {
    values["USE"] += "    import " + name + "\n    " + name + ".launch(" + values.at("CALL") +
                     ")  # on tensors of PyTorch\n\n";
    row("`" + name + ".py`",
        "launches them through Triton: tunables and sizes as they were measured");
  }
  if (has_code(compiled)) {
    values["USE"] +=
        "From C and C++, with neither Python nor nvcc:\n\n    make CUDA=/usr/local/cuda && "
        "make CUDA=/usr/local/cuda test\n    " +
        name + "_launch(" + values.at("CALL") + ", stream);\n\n";
    row("`" + name + ".h`", "the launchers, for C and C++: what they return, counters");
    row("`" + name + "_context.c`, `" + name + "_driver.c`, `" + name + "_images.c`",
        "for the current context, and for one that is given; the machine code: `lib" + name +
            ".so`, through the driver API");
    row("`" + name + "_plan.h`, `" + name + "_sizes.h`, `" + name + "_state.c`",
        "grids, blocks, shared memory and the contract as C; counters");
    row("`code/`", "machine code (`.cubin`) and PTX of the kernels" + values.at("CODE"));
    row("`" + name + "_tvm_ffi.cc`, `" + name + "_torch.cc`",
        "for apache-tvm-ffi (`make tvm_ffi`) and PyTorch (`cmake -DWITH_TORCH=ON`)");
    row("`" + name + "_test.cc`, `portable.h`" + values.at("DATA"),
        "launches them on the inputs of the spec and compares them with the original within its "
        "tolerance; `--time` times them");
  }
}

std::string readme(const Shipment& shipment,
                   const CompiledShipment& compiled,
                   const TestCode& test,
                   Placeholders values) {
  const std::string_view label = timing_label(shipment.run().run().runner);
  const bool several = shipment.kernels().size() > 2;
  std::vector<std::string> architectures;
  for (const MachineCode& code : compiled.kernels.back().codes) {
    if (!code.is_ptx) architectures.push_back(code.architecture);
  }
  std::string code = architectures.empty() ? ": none" : ", for " + joined(architectures, ", ");
  for (const auto& [kernel, architecture] : compiled.excluded)
    code += "; the " + kernel + " kernel cannot run on " + architecture;
  values["SPEEDUP"] = ratio_text(shipment.speedup(), shipment.interval());
  values["DEVICE"] = shipment.device().name;
  values["TIMINGS"] = label.empty() ? "" : " (" + std::string(label) + ", not a GPU's)";
  values["WHAT"] =
      several ? std::to_string(shipment.kernels().size() - 1) + " kernels for different sizes"
              : "A kernel";
  values["CONTRACT_TITLE"] =
      several ? "The contracts, in the order in which they are tried" : "The contract";
  values["CONTRACT"] = contract_text(shipment);
  values["CODE"] = code;
  values["DATA"] = test.files.empty() ? "" : ", `data/`";
  const bool scratch = std::ranges::any_of(shipment.kernels(), [](const ShippedKernel& kernel) {
    return !kernel.variant.scratch.empty();
  });
  values["SCRATCH"] = scratch ? ", but for scratch memory, in the order of the stream" : "";
  const bool is_cuda = shipment.spec().kernel_type == KernelType::cuda;
  if (!is_cuda) add_use(shipment, compiled, values);
  std::string out = fill_template(is_cuda ? kReadmeTemplate : kTextReadmeTemplate, values);
  if (!test.left_out.empty()) out += "\nNot in the test: " + joined(test.left_out, "; ") + ".\n";
  return out;
}

/// provenance.json: that of the shipment, and what is in the folder.
std::string provenance(const Shipment& shipment,
                       const CompiledShipment& compiled,
                       const FolderFiles& files) {
  nlohmann::json out = nlohmann::json::parse(shipment.provenance_json());
  for (std::size_t i = 0; i + 1 < compiled.kernels.size(); ++i) {
    nlohmann::json& architectures = out["kernels"][i]["architectures"] = nlohmann::json::array();
    for (const MachineCode& code : compiled.kernels[i].codes) {
      if (!code.is_ptx) architectures.push_back(code.architecture);
    }
  }
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
  const KernelSpec& spec = shipment.spec();
  const bool is_cuda = spec.kernel_type == KernelType::cuda;
  const TestCode test = test_code(shipment);
  Placeholders values = common(shipment, compiled);
  FolderFiles out;
  const auto add = [&](const std::string& file, const char* text) {
    values["GUARD"] = capitals(file);
    std::ranges::replace(values["GUARD"], '.', '_');
    out.emplace_back(file, fill_template(text, values));
  };
  for (const ShippedKernel& kernel : shipment.kernels())
    out.emplace_back(kernel.name + "_kernel" + extension(spec), kernel.source);
  if (spec.kernel_type == KernelType::triton)
    out.emplace_back(name + ".py", python_launcher(shipment));
  if (is_cuda || has_code(compiled)) {
    add(name + ".h", kApiTemplate);
    add(name + "_sizes.h", kSizesTemplate);
    add(name + "_plan.h", kPlanTemplate);
    add(name + "_state.h", kStateHeaderTemplate);
    add(name + "_state.c", kStateTemplate);
    add(name + "_images.h", kImagesHeaderTemplate);
    add(name + "_driver.c", kDriverTemplate);
    add(name + (is_cuda ? "_runtime.c" : "_context.c"),
        is_cuda ? kRuntimeTemplate : kContextTemplate);
    for (const ShippedKernel& kernel : shipment.kernels()) {
      if (!is_cuda) break;
      values["WHICH"] = kernel.name;
      rename_kernels(kernel, name + "_" + kernel.name + "_", values);
      add(name + "_" + kernel.name + ".cu", kKernelsTemplate);
    }
    if (spec.system_headers != nullptr) {
      for (const SystemHeader& header : spec.system_headers->files)
        out.emplace_back("headers/" + header.name, header.text);
    }
    out.emplace_back(name + "_images.c",
                     "#include \"" + name + "_images.h\"\n\n" + image_tables(shipment, compiled));
    for (std::size_t i = 0; i < compiled.kernels.size(); ++i) {
      for (const MachineCode& code : compiled.kernels[i].codes)
        out.emplace_back("code/" + shipment.kernels()[i].name + "." + code.architecture +
                             (code.is_ptx ? ".ptx" : ".cubin"),
                         code.bytes);
    }
    Placeholders binding = tvm_ffi_code(spec);
    binding["NAME"] = name;
    out.emplace_back(name + "_tvm_ffi.cc", fill_template(kTvmFfiTemplate, binding));
    binding = torch_code(spec);
    binding["NAME"] = name;
    out.emplace_back(name + "_torch.cc", fill_template(kTorchTemplate, binding));
    values["WORKLOADS"] = test.text;
    add(name + "_test.cc", kTestTemplate);
    out.emplace_back("portable.h", kPortableText);
    for (const auto& file : test.files) out.push_back(file);
    add("Makefile", kMakefileTemplate);
    add("CMakeLists.txt", kCmakeTemplate);
  }
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
