#include "moves/contract/contract_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/dtype.h"

namespace warpath {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::string triple_text(const std::array<Expression, 3>& t) {
  return "(" + t[0].text() + ", " + t[1].text() + ", " + t[2].text() + ")";
}

/// Names of the pointers for which `holds`, joined.
template <class Predicate>
std::vector<std::string> names_of(const std::vector<SourceContract::Pointer>& pointers,
                                  Predicate holds) {
  std::vector<std::string> out;
  for (const auto& p : pointers) {
    if (holds(p)) out.push_back(p.argument);
  }
  return out;
}

/// The text of a kernel in another language, behind its contract and the values it was compiled
/// with as comments.
std::string commented_source(const Variant& variant,
                             const SourceContract& contract,
                             const std::string& mark) {
  std::string out;
  const auto add = [&](const std::string& line) {
    std::string text = line;
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    out += mark + text + "\n";
  };
  add("What " + variant.kernel_name + " relies on:");
  for (const std::string& line : contract_lines(contract)) add("  " + line);
  for (const auto& [name, value] : contract.macros) add("  " + name + " = " + value);
  return out + variant.source;
}

}  // namespace

std::string contract_architecture(const SourceContract& c) {
  if (c.compute_capability == 0) return {};
  return "sm_" + std::to_string(c.compute_capability) + (c.exact_architecture ? "a" : "");
}

std::vector<std::string> contract_lines(const SourceContract& c) {
  std::vector<std::string> out;
  if (!c.unread.empty())
    out.push_back("the source could not be read (" + c.unread +
                  "): rely on nothing but what was verified");
  for (const SourceContract::Fixed& f : c.sizes)
    out.push_back(f.argument + (f.values.size() == 1 ? " = " : " one of ") +
                  joined(f.values, ", ") + " only: the source does not follow this argument");
  for (const std::string& name : c.ignored)
    out.push_back(name + " as in the verified workloads only: the source does not read it");
  for (std::int64_t bytes = SourceContract::kMostAlignment; bytes >= 8; bytes /= 2) {
    const auto names = names_of(
        c.pointers, [&](const SourceContract::Pointer& p) { return p.alignment_bytes == bytes; });
    if (!names.empty())
      out.push_back(joined(names, ", ") + " aligned to " + std::to_string(bytes) + " bytes");
  }
  const auto apart = names_of(c.pointers, [](const SourceContract::Pointer& p) { return p.apart; });
  if (!apart.empty())
    out.push_back(joined(apart, ", ") + (apart.size() == 1 ? " overlaps" : " overlap") +
                  " no other argument");
  if (c.compute_capability > 0)
    out.push_back("device: " + contract_architecture(c) +
                  (c.exact_architecture ? " and no other architecture" : " or later"));
  if (c.dynamic_smem_bytes > SourceContract::kFreeSharedBytes)
    out.push_back(std::to_string(c.dynamic_smem_bytes) +
                  " bytes of dynamic shared memory: set "
                  "cudaFuncAttributeMaxDynamicSharedMemorySize before the launch");
  out.push_back(
      "launch: grid " + triple_text(c.launch.grid) + ", block " + triple_text(c.launch.block) +
      (std::ranges::any_of(c.launch.cluster, [](const Expression& e) { return e.text() != "1"; })
           ? ", cluster " + triple_text(c.launch.cluster)
           : "") +
      ", dynamic shared memory " + c.launch.dynamic_smem_bytes.text() +
      (c.callers_launch ? ": the caller's own, which no variant changes" : ""));
  std::vector<std::string> defined;
  for (const auto& [name, value] : c.macros) defined.push_back(name + "=" + value);
  if (!defined.empty()) out.push_back("compiled with: " + joined(defined, " "));
  for (const auto& [workload, values] : c.verified)
    out.push_back("verified" + (c.device.empty() ? "" : " on " + c.device) + ", workload " +
                  workload + (values.empty() ? "" : ": " + values));
  return out;
}

std::string contract_summary(const SourceContract& c) {
  if (!c.narrowed) return {};
  std::vector<std::string> parts;
  if (!c.unread.empty()) parts.emplace_back("the source could not be read");
  for (const SourceContract::Fixed& f : c.sizes)
    parts.push_back(f.argument + " = " + joined(f.values, " or "));
  for (const std::string& name : c.ignored) parts.push_back(name + " not read");
  const auto aligned =
      names_of(c.pointers, [](const SourceContract::Pointer& p) { return p.alignment_bytes >= 8; });
  if (!aligned.empty()) parts.push_back(joined(aligned, ", ") + " aligned");
  const auto apart = names_of(c.pointers, [](const SourceContract::Pointer& p) { return p.apart; });
  if (!apart.empty()) parts.push_back(joined(apart, ", ") + " apart");
  if (c.compute_capability > 0) parts.push_back(contract_architecture(c));
  return joined(parts, "; ");
}

std::string shipped_source(const KernelSpec& spec,
                           const Variant& variant,
                           const SourceContract& contract) {
  if (spec.kernel_type != KernelType::cuda)
    return commented_source(variant, contract,
                            spec.kernel_type == KernelType::triton ? "# " : "// ");
  // Comments and strings contain text from specs, which must not end them.
  const auto harmless = [](std::string text) {
    for (char& c : text) {
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;)
      text.replace(at, 2, "* ");
    return text;
  };
  std::string identifier;
  for (const char c : variant.kernel_name)
    identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  std::string out = "/* What " + harmless(variant.kernel_name) +
                    " relies on; launched otherwise its results are undefined.\n";
  for (const std::string& line : contract_lines(contract)) out += " *   " + harmless(line) + "\n";
  out += " * " + identifier + "_contract(), at the end, checks arguments on the host.\n */\n";
  for (const auto& [name, value] : contract.macros)
    out += "#ifndef " + name + "\n#define " + name + " " + harmless(value) + "\n#endif\n";
  if (contract.compute_capability > 0) {
    const std::string least = std::to_string(contract.compute_capability * 10);
    out += "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ " +
           std::string(contract.exact_architecture ? "!=" : "<") + " " + least +
           "\n#error \"needs " + contract_architecture(contract) + "\"\n#endif\n";
  }
  out += variant.source;
  if (out.back() != '\n') out += '\n';
  std::string parameters, checks;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.is_meta || arg.type == ArgType::string) continue;
    if (arg.type == ArgType::tensor) {
      parameters += (parameters.empty() ? "" : ", ") + ("const void* " + arg.name);
      const auto it =
          std::ranges::find(contract.pointers, arg.name, &SourceContract::Pointer::argument);
      if (it == contract.pointers.end()) continue;
      if (it->alignment_bytes > 1)
        checks += "  if (reinterpret_cast<unsigned long long>(" + arg.name + ") % " +
                  std::to_string(it->alignment_bytes) + " != 0) return \"" + arg.name +
                  " is not aligned to " + std::to_string(it->alignment_bytes) + " bytes\";\n";
      for (const ArgSpec& other : spec.io.args) {
        if (it->apart && other.type == ArgType::tensor && other.name != arg.name)
          checks += "  if (" + arg.name + " == " + other.name + ") return \"" + arg.name + " and " +
                    other.name + " are one buffer\";\n";
      }
      continue;
    }
    const std::string type(info(arg.dtype).cuda_type);
    const bool half = arg.dtype == DType::f16 || arg.dtype == DType::bf16;
    parameters +=
        (parameters.empty() ? "" : ", ") + (half ? std::string("float") : type) + " " + arg.name;
    const auto it = std::ranges::find(contract.sizes, arg.name, &SourceContract::Fixed::argument);
    if (it == contract.sizes.end()) continue;
    std::vector<std::string> equal;
    for (const std::string& value : it->values)
      equal.push_back(arg.name + " != static_cast<" + (half ? std::string("float") : type) + ">(" +
                      value + ")");
    checks += "  if (" + joined(equal, " && ") + ") return \"" + arg.name + " is not " +
              joined(it->values, " or ") + "\";\n";
  }
  out +=
      "\n#if !defined(__CUDACC_RTC__)\n/// Null, or what of these arguments is outside the "
      "contract above.\nstatic inline const char* " +
      identifier + "_contract(" + parameters + ") {\n";
  for (const ArgSpec& arg : spec.io.args) {
    if (!arg.is_meta && arg.type != ArgType::string) out += "  (void)" + arg.name + ";\n";
  }
  return out + checks + "  return nullptr;\n}\n#endif\n";
}

}  // namespace warpath
