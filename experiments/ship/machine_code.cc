#include "experiments/ship/machine_code.h"

#include <algorithm>
#include <tuple>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "experiments/setup/option_groups.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/options.h"

namespace warpath {
namespace {

/// 90 of "sm_90a".
int number_of(const std::string& architecture) {
  return std::stoi(architecture.substr(3));
}
/// Code for it runs on no other: sm_90a, sm_100f.
bool is_exact(const std::string& architecture) {
  return architecture.back() == 'a' || architecture.back() == 'f';
}

bool is_architecture(const std::string& text) {
  if (!text.starts_with("sm_") || text.size() < 5 || text.size() > 7) return false;
  const std::string digits = text.substr(3, text.size() - (is_exact(text) ? 4 : 3));
  return digits.size() >= 2 && digits.find_first_not_of("0123456789") == std::string::npos;
}

/// The contract excludes the architecture.
bool excludes(const SourceContract& contract, const std::string& architecture) {
  if (contract.compute_capability == 0) return false;
  const int number = number_of(architecture);
  return contract.exact_architecture
             ? number != contract.compute_capability || !is_exact(architecture)
             : number < contract.compute_capability;
}

/// Machine code before PTX, newer before older, exact before general.
void order(std::vector<MachineCode>& codes) {
  std::ranges::stable_sort(codes, {}, [](const MachineCode& code) {
    return std::tuple(code.is_ptx, -number_of(code.architecture), !is_exact(code.architecture));
  });
}

void compile(const Shipment& shipment,
             const ShippedKernel& kernel,
             const std::string& architecture,
             cuda::CompileService& service,
             CompiledKernel& out) {
  cuda::CompileRequest request =
      cuda::request_for(shipment.spec(), kernel.variant, *kernel.workload, architecture);
  if (&kernel == &shipment.original()) {
    // "i32:16", not "*fp32:16"
    for (std::string& type : request.parameters) {
      if (!type.starts_with('*')) type.resize(std::min(type.find(':'), type.size()));
    }
  }
  const cuda::CodePtr code = service.compile(request);
  if (code->status != Status::ok)
    throw bad_input("--arch", architecture,
                    "an architecture that the " + kernel.name +
                        " kernel compiles for: " + code->log.substr(0, code->log.find('\n')));
  out.codes.push_back({architecture, false, code->cubin});
  out.codes.push_back({architecture, true, code->ptx});
  out.names = kernel.kernels;
  out.names.front() = code->lowered_name;
  out.dynamic_smem_bytes = std::max(out.dynamic_smem_bytes, code->dynamic_smem_bytes);
}

std::string byte_table(const std::string& name, const MachineCode& code) {
  std::string out = "static const unsigned char " + name + "[] __attribute__((aligned(64))) = {";
  std::size_t column = 0;
  const auto add = [&](unsigned char byte) {
    out += (column++ % 32 == 0 ? "\n    " : "") + std::to_string(byte) + ",";
  };
  for (const char byte : code.bytes) add(static_cast<unsigned char>(byte));
  if (code.is_ptx) add(0);
  return out + "\n};\n";
}

std::string image_table(const std::string& which, const CompiledKernel& kernel) {
  std::string tables, rows;
  for (const MachineCode& code : kernel.codes) {
    const std::string name = which + "_" + code.architecture + (code.is_ptx ? "_ptx" : "_cubin");
    tables += byte_table(name, code);
    rows += "    {" + std::to_string(number_of(code.architecture)) + ", " +
            (is_exact(code.architecture) ? "1" : "0") + ", " + (code.is_ptx ? "1" : "0") + ", " +
            name + "},\n";
  }
  return tables + "const struct image " + which + "_images[] = {\n" + rows +
         "    {0, 0, 0, NULL},\n};\n";
}

}  // namespace

std::vector<std::string> chosen_architectures(const Arguments& arguments,
                                              const Shipment& shipment) {
  const auto given = arguments.value("arch");
  if (!given && !shipment.device().arch.empty()) return {shipment.device().arch};
  if (!given) {
    int capability = 80;
    bool exact = false;
    for (const ShippedKernel& kernel : shipment.kernels()) {
      capability = std::max(capability, kernel.contract.compute_capability);
      exact = exact || kernel.contract.exact_architecture;
    }
    return {"sm_" + std::to_string(capability) + (exact ? "a" : "")};
  }
  if (*given == "none") return {};
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= given->size();) {
    const std::size_t end = std::min(given->find(',', begin), given->size());
    const std::string one = given->substr(begin, end - begin);
    if (!is_architecture(one))
      throw bad_input("--arch", *given, "none, or architectures such as sm_90a,sm_80");
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
    begin = end + 1;
  }
  return out;
}

CompiledShipment compile_shipment(const Shipment& shipment,
                                  const std::vector<std::string>& architectures,
                                  const Program& program) {
  CompiledShipment out;
  for (const ShippedKernel& kernel : shipment.kernels())
    out.kernels.push_back({.codes = {}, .names = kernel.kernels});
  if (architectures.empty()) return out;
  const Options options = default_options();
  cuda::CompileService service(cuda::service_options(options.of<CudaOptions>(), program.path, 0));
  for (std::size_t i = 0; i < out.kernels.size(); ++i) {
    const ShippedKernel& kernel = shipment.kernels()[i];
    for (const std::string& architecture : architectures) {
      if (&kernel != &shipment.original() && excludes(kernel.contract, architecture))
        out.excluded.emplace_back(kernel.name, architecture);
      else
        compile(shipment, kernel, architecture, service, out.kernels[i]);
    }
    order(out.kernels[i].codes);
  }
  return out;
}

std::string image_tables(const Shipment& shipment, const CompiledShipment& compiled) {
  std::string out;
  for (std::size_t i = 0; i < compiled.kernels.size(); ++i)
    out += (i == 0 ? "" : "\n") + image_table(shipment.kernels()[i].name, compiled.kernels[i]);
  return out;
}

std::string gencode_options(const CompiledKernel& kernel) {
  std::string out;
  for (const MachineCode& code : kernel.codes) {
    const std::string number = code.architecture.substr(3);
    out += (out.empty() ? "" : " ") +
           ("-gencode arch=compute_" + number + ",code=" + (code.is_ptx ? "compute_" : "sm_")) +
           number;
  }
  return out.empty() ? "-arch=native" : out;
}

std::string cmake_architectures(const CompiledKernel& kernel) {
  std::string out;
  for (const MachineCode& code : kernel.codes) {
    if (!code.is_ptx) out += (out.empty() ? "" : ";") + code.architecture.substr(3);
  }
  return out.empty() ? "native" : out;
}

}  // namespace warpath
