#include "tests/support/triton_interpreter.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/arguments.h"
#include "runners/worker/process.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace warpath::test {
namespace {

constexpr double kSecondsOfAll = 300;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

ProcessResult python(std::vector<std::string> arguments) {
  const std::string own = variable("WARPATH_PYTHON");
  arguments.insert(arguments.begin(), own.empty() ? "python3" : own);
  return run_process({.argv = std::move(arguments),
                      .environment = {"PATH=" + variable("PATH"), "HOME=" + variable("HOME"),
                                      "PYTHONDONTWRITEBYTECODE=1", "OPENBLAS_NUM_THREADS=1"}},
                     std::chrono::duration<double>(kSecondsOfAll), std::size_t{16} << 20U);
}

json json_of(const ScalarValue& value) {
  return std::visit([](auto one) { return json(one); }, value);
}

/// Position of the entry with this key; `made` where there is none yet.
template <class Make>
std::size_t find_or_add(std::map<std::string, std::size_t>& known,
                        json& list,
                        const std::string& key,
                        Make make) {
  const auto [it, is_new] = known.try_emplace(key, list.size());
  if (is_new) list.push_back(make());
  return it->second;
}

}  // namespace

std::string TritonInterpreter::problem() {
  const ProcessResult done = python({"-c", "import numpy, triton"});
  return done.end == ProcessEnd::exited && done.code == 0 ? "" : last_line(done.output);
}

std::size_t TritonInterpreter::add_inputs(const KernelSpec& spec, const Workload& workload) {
  std::string key = spec.source;
  for (const auto& [name, value] : scalar_values(spec, workload))
    key += "\n" + name + "=" + json_of(value).dump();
  return find_or_add(known_inputs_, inputs_, key, [&] {
    json arguments = json::array();
    for (const ArgSpec& arg : spec.io.args) {
      json one{{"name", arg.name}, {"constant", arg.is_meta}};
      if (arg.type == ArgType::tensor) {
        const Tensor tensor = materialize(spec, arg, workload);
        const std::string file =
            folder_ / ("input" + std::to_string(inputs_.size()) + "_" + arg.name);
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(tensor.bytes.data()),
                   static_cast<std::streamsize>(tensor.bytes.size()));
        one["file"] = file, one["shape"] = tensor.shape, one["dtype"] = info(tensor.dtype).name;
      } else {
        one["value"] = json_of(scalar_value(arg, workload).value());
      }
      arguments.push_back(std::move(one));
    }
    const Tolerance& tolerance = spec.tolerance_of("");
    return json{{"kernel", spec.kernel_name},
                {"arguments", std::move(arguments)},
                {"atol", tolerance.exact ? 1e-30 : tolerance.atol},
                {"rtol", tolerance.exact ? 0 : tolerance.rtol}};
  });
}

std::size_t TritonInterpreter::add(const KernelSpec& spec,
                                   const Workload& workload,
                                   const Variant& variant) {
  const Variant& own = version_for(spec, variant, workload);
  json constants(own.tunables);
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.is_meta) constants[arg.name] = json_of(scalar_value(arg, workload).value());
  }
  const std::string text = hash128(own.source).hex() + ".py";
  json launch{{"inputs", add_inputs(spec, workload)},
              {"text", folder_ / text},
              {"kernel", own.kernel_name},
              {"constants", std::move(constants)},
              {"grid", evaluate(launch_for(spec, own, workload),
                                spec.bindings(workload, own.tunables), "launch")
                           .grid}};
  return find_or_add(known_launches_, launches_, launch.dump(), [&] {
    put_text(folder_ / text, own.source);
    return launch;
  });
}

std::vector<InterpretedLaunch> TritonInterpreter::run() const {
  const fs::path tests = fs::path(WARPATH_SOURCE_ROOT) / "tests";
  put_text(folder_ / "launches.json", json{{"inputs", inputs_}, {"launches", launches_}}.dump());
  const ProcessResult done =
      python({(tests / "support/triton_interpreter.py").string(), folder_ / "launches.json",
              (tests / "data/triton/references.py").string()});
  std::vector<InterpretedLaunch> out;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) {
    const json one = json::parse(line, nullptr, false);
    if (one.is_object()) out.push_back({one.at("end"), one.at("written"), one.at("error")});
  }
  if (out.size() != launches_.size())
    throw environment_error("Triton's interpreter ended early: " + last_line(done.output));
  return out;
}

}  // namespace warpath::test
