#include "experiments/capture/captured_kernel.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "experiments/capture/captured_kernel_io.h"

namespace warpath {

double CapturedLaunch::median_ns() const {
  return samples_ns.empty() ? 0 : median(samples_ns);
}

double share_from(const std::string& text) {
  char* end = nullptr;
  const double share = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(share > 0 && share <= 1))
    throw bad_input("--share", text, "a number above 0, at most 1");
  return share;
}

void name_kernel(CapturedKernel& kernel) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(kernel.symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 && demangled != nullptr ? demangled.get() : kernel.symbol;
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(kUnnamed)) != std::string::npos;)
    name.erase(at, kUnnamed.size());
  if (name.starts_with("void ")) name = name.substr(5);
  kernel.signature = name;
  name = name.substr(0, name.find_first_of("<("));
  const std::size_t colons = name.rfind("::");
  kernel.kernel = colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string launches_text(const CapturedKernel& kernel) {
  return Codec<CapturedKernel>::write(kernel).dump(2) + "\n";
}

CapturedKernel read_launches(const std::filesystem::path& file) {
  const nlohmann::json document = read_json_file(file.string());
  CapturedKernel out;
  const JsonCursor root(document, file.string());
  Codec<CapturedKernel>::read(root, out);
  if (out.launches.empty()) root.at("launches").fail("at least one launch");
  for (std::size_t i = 0; i < out.launches.size(); ++i) {
    const JsonCursor launch = root.at("launches").element(i);
    for (std::size_t j = 0; j < out.launches[i].parameters.size(); ++j) {
      const CapturedParameter& one = out.launches[i].parameters[j];
      const JsonCursor at = launch.at("parameters").element(j);
      const bool digits = one.bytes.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!digits || one.bytes.size() != 2 * one.size)
        at.at("bytes").fail("two hexadecimal digits for each of " + std::to_string(one.size) +
                            " bytes");
      for (const auto& [position, bytes, offset] : one.pointers) {
        if (position + 8 > one.size || offset >= bytes)
          at.at("pointers").fail("positions within the parameter and offsets within allocations");
      }
    }
  }
  return out;
}

}  // namespace warpath
