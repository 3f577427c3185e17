#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/found_kernels.h"
#include "register_commands.h"

namespace warpath {
namespace {

using nlohmann::json;

/// "N=512,C=256"
Bindings parse_sizes(const std::string& text) {
  Bindings out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    std::int64_t value = 0;
    const char* const from = part.data() + std::min(part.size(), equals + 1);
    const auto read = std::from_chars(from, part.data() + part.size(), value);
    if (equals == std::string::npos || equals == 0 || read.ec != std::errc{} ||
        read.ptr != part.data() + part.size() || !out.emplace(part.substr(0, equals), value).second)
      throw bad_input("--sizes", text, "NAME=INTEGER,NAME=INTEGER, each name once");
    at = end + 1;
  }
  return out;
}

std::string_view text_of(Serves serves) {
  switch (serves) {
    case Serves::no:
      return "no";
    case Serves::measured:
      return "measured";
    case Serves::own:
      return "the spec's own kernel";
    case Serves::within:
      return "within the verified range";
    case Serves::outside:
      return "outside the verified range";
  }
  return "";
}

/// "C 256, N 100 to 512"
std::string range_text(const FoundKernel& kernel) {
  std::string out;
  for (const auto& [name, range] : kernel.verified) {
    out += (out.empty() ? "" : ", ") + name + " " + std::to_string(range.first);
    if (range.second != range.first) out += " to " + std::to_string(range.second);
  }
  return out.empty() ? "nothing" : out;
}

std::string speedup_text(const FoundKernel& kernel) {
  std::vector<double> all;
  for (const FoundKernel::Size& size : kernel.sizes) {
    if (size.speedup > 0) all.push_back(size.speedup);
  }
  if (all.empty()) return "-";
  const auto [least, most] = std::ranges::minmax(all);
  return least == most ? ratio_text(least) : ratio_text(least) + " to " + ratio_text(most);
}

json to_json(const FoundKernel& kernel, std::optional<Serves> serving) {
  json verified = json::object(), sizes = json::array();
  for (const auto& [name, range] : kernel.verified) verified[name] = {range.first, range.second};
  for (const FoundKernel::Size& size : kernel.sizes)
    sizes.push_back({{"workload", size.workload},
                     {"values", size.values},
                     {"time_ms", size.time_ms > 0 ? json(size.time_ms) : json()},
                     {"speedup", size.speedup > 0 ? json(size.speedup) : json()}});
  return {{"run", kernel.run.string()},
          {"kernel", kernel.kernel},
          {"identity", kernel.identity.hex()},
          {"device", kernel.device},
          {"runner", kernel.runner},
          {"when", kernel.when},
          {"file", kernel.file.empty() ? json() : json((kernel.run / kernel.file).string())},
          {"verified", verified},
          {"sizes", sizes},
          {"serves", serving ? json(text_of(*serving)) : json()}};
}

int find(const Arguments& arguments, const Program&) {
  const std::string folder = arguments.words().empty() ? "out" : arguments.words().front();
  std::optional<Bindings> sizes;
  if (const auto text = arguments.value("sizes")) sizes = parse_sizes(*text);
  std::set<Hash128> identities;
  if (const auto file = arguments.value("input")) {
    for (const KernelSpec& spec : load_specs({*file})) identities.insert(kernel_identity(spec));
  }
  const auto name = arguments.value("kernel"), device = arguments.value("device");
  std::vector<std::string> notes;
  std::vector<std::vector<std::string>> rows{
      {"kernel", "device", "for", "file", "speed-up", "verified", "run"}};
  if (sizes) rows.front().insert(rows.front().begin() + 3, "serves");
  json found = json::array();
  std::filesystem::path answered;  // the run whose kernel for the sizes was found
  for (const FoundKernel& kernel : found_kernels(folder, notes)) {
    if ((name && kernel.kernel != *name) || (device && kernel.device != *device)) continue;
    if (!identities.empty() && !identities.contains(kernel.identity)) continue;
    std::optional<Serves> serving;
    if (sizes) {
      if (kernel.run == answered) continue;  // a later kernel of its list is not reached
      serving = serves(kernel, *sizes);
      if (*serving == Serves::no) continue;
      answered = kernel.run;
    }
    found.push_back(to_json(kernel, serving));
    rows.push_back({kernel.kernel, kernel.device + " (" + kernel.runner + ")",
                    condition_text(kernel.when),
                    kernel.file.empty() ? "the spec's own" : kernel.file, speedup_text(kernel),
                    range_text(kernel), kernel.run.string()});
    if (sizes) rows.back().insert(rows.back().begin() + 3, std::string(text_of(*serving)));
  }
  for (const std::string& note : notes) std::fprintf(stderr, "warpath: %s\n", note.c_str());
  if (arguments.has("json")) {
    std::printf("%s\n", json_text(found, 2).c_str());
  } else if (found.empty()) {
    std::printf("nothing found below %s\n", folder.c_str());
  } else {
    std::printf("%s", aligned_text(rows).c_str());
  }
  return found.empty() ? kNotAsExpected : 0;
}

}  // namespace

void register_command_find(CommandRegistry& registry) {
  registry.push_back(
      {.name = "find",
       .usage = "[FOLDER]",
       .help = "which kernels earlier runs below FOLDER (out) have for a kernel, a device and "
               "sizes, and for which sizes they are verified",
       .flags = {{"input", "FILE", "runs of this spec's kernel, whatever its sizes"},
                 {"kernel", "NAME", "runs of specs of this name"},
                 {"device", "NAME", "measured on this device, named exactly"},
                 {"sizes", "N=1,M=2", "the kernel of each run that would be launched for these"},
                 {"json", "", "as JSON", Flag::Takes::nothing}},
       .least_words = 0,
       .most_words = 1,
       .run = find});
}

}  // namespace warpath
