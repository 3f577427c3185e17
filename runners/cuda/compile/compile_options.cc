#include "runners/cuda/compile/compile_options.h"

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/words.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxOptionBytes = 4096;

bool all_of_name(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && std::ranges::all_of(text, is_word);
}

/// "-DNAME", "-DNAME=VALUE", "-UNAME": `rest` is what follows the letter.
bool is_macro(std::string_view rest) {
  return all_of_name(rest.substr(0, rest.find('=')));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 && std::ranges::all_of(text, is_digit);
}

constexpr WordList kPlainOptions(
    "--use_fast_math -use_fast_math --extra-device-vectorization -extra-device-vectorization "
    "--generate-line-info -lineinfo --device-as-default-execution-space -default-device "
    "--disable-warnings -w --fmad=true --fmad=false -fmad=true -fmad=false --ftz=true "
    "--ftz=false -ftz=true -ftz=false --prec-div=true --prec-sqrt=true --prec-div=false "
    "--prec-sqrt=false");
constexpr std::array<std::string_view, 4> kNumberOptions{
    "--maxrregcount=", "-maxrregcount=", "--diag-suppress=", "-diag-suppress="};
/// Of the assembler; none changes a result.
constexpr WordList kAssemblerOptions(
    "--opt-level=0 --opt-level=1 --opt-level=2 --opt-level=3 --def-load-cache=ca "
    "--def-load-cache=cg --allow-expensive-optimizations=true "
    "--allow-expensive-optimizations=false");
constexpr std::string_view kUsageLevel = "--register-usage-level=";
constexpr std::array<std::string_view, 2> kStandardOptions{"--std=c++", "-std=c++"};

}  // namespace

std::string_view assembler_option(std::string_view option) {
  constexpr std::string_view kPrefix = "--ptxas-options=";
  return option.starts_with(kPrefix) ? option.substr(kPrefix.size()) : "";
}

std::string option_problem(std::string_view option) {
  const std::string shown(option.substr(0, 80));
  if (option.size() > kMaxOptionBytes) return "compiler option '" + shown + "...' is too long";
  if (std::ranges::any_of(option, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return "a compiler option holds a control character";
  }
  if (kPlainOptions.contains(option)) return "";
  const std::string_view assembler = assembler_option(option);
  if (kAssemblerOptions.contains(assembler)) return "";
  if (assembler.starts_with(kUsageLevel) && is_number(assembler.substr(kUsageLevel.size())))
    return "";
  for (const std::string_view prefix : kNumberOptions) {
    if (option.starts_with(prefix) && is_number(option.substr(prefix.size()))) return "";
  }
  for (const std::string_view prefix : kStandardOptions) {
    const std::string_view level = option.starts_with(prefix) ? option.substr(prefix.size()) : "";
    if (level == "11" || level == "14" || level == "17" || level == "20") return "";
  }
  for (const std::string_view prefix : {"-D", "-U", "--define-macro=", "--undefine-macro="}) {
    if (option.starts_with(prefix) && is_macro(option.substr(prefix.size()))) return "";
  }
  return "compiler option '" + shown + "' is not one that a candidate may give";
}

std::string compile_problem(const CompileRequest& request) {
  const std::string_view punctuation = "<>,:() *&-+'.";
  const bool named = !request.kernel.empty() && request.kernel.size() <= kMaxNameBytes &&
                     is_word_start(request.kernel.front()) &&
                     std::ranges::all_of(request.kernel, [&](char c) {
                       return is_word(c) || punctuation.find(c) != std::string_view::npos;
                     });
  if (!named)
    return "kernel name '" + request.kernel.substr(0, 80) +
           "' is no name or template instantiation";
  const std::string_view arch = request.arch;
  const bool real = arch.starts_with("sm_") && arch.size() <= 8 &&
                    std::ranges::all_of(arch.substr(3),
                                        [](char c) { return is_digit(c) || c == 'a' || c == 'f'; });
  if (!real)
    return "architecture '" + std::string(arch.substr(0, 20)) + "' is not of the form sm_90a";
  for (const std::string& option : request.options) {
    if (std::string problem = option_problem(option); !problem.empty()) return problem;
  }
  return "";
}

std::optional<CompileResult> refused_request(const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes)
    return failed_compile(Status::limits_exceeded, "the source exceeds 4 MiB");
  if (const std::string problem = compile_problem(request); !problem.empty())
    return failed_compile(Status::compile_error, problem);
  return std::nullopt;
}

std::vector<std::string> nvrtc_options(const CompileRequest& request, int nvrtc_major) {
  std::vector<std::string> options{"--gpu-architecture=" + request.arch, "-DNDEBUG",
                                   "--ptxas-options=-v"};
  if (nvrtc_major >= 13) options.emplace_back("--no-cache");
  const bool leveled = std::ranges::any_of(request.options, [](const std::string& option) {
    return option.starts_with("--std=") || option.starts_with("-std=");
  });
  if (!leveled) options.emplace_back("--std=c++17");
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

}  // namespace warpath::cuda
