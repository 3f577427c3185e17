#include "experiments/init/captured_draft.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "engine/base/base64.h"
#include "engine/base/compression.h"
#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/spec/expression.h"
#include "experiments/init/thread_layout.h"
#include "experiments/project/kernel_signature.h"

namespace warpath {

using json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostWorkloads = 32;
constexpr std::size_t kMostContentBytes = std::size_t{8} << 20U;

std::string raw(const CapturedParameter& parameter) {
  std::string out;
  for (std::size_t i = 0; i + 1 < parameter.bytes.size(); i += 2)
    out += static_cast<char>(std::stoi(parameter.bytes.substr(i, 2), nullptr, 16));
  return out;
}

template <class T>
T as(const std::string& bytes) {
  T out{};
  std::memcpy(&out, bytes.data(), std::min(sizeof out, bytes.size()));
  return out;
}

/// An integer or boolean of this type; nullopt for other types.
std::optional<std::int64_t> integer_of(DType dtype, const std::string& bytes) {
  switch (dtype) {
    case DType::i64:
      return as<std::int64_t>(bytes);
    case DType::u64:
      return static_cast<std::int64_t>(as<std::uint64_t>(bytes));
    case DType::i32:
      return as<std::int32_t>(bytes);
    case DType::u32:
      return as<std::uint32_t>(bytes);
    case DType::i16:
      return as<std::int16_t>(bytes);
    case DType::u16:
      return as<std::uint16_t>(bytes);
    case DType::i8:
      return as<std::int8_t>(bytes);
    case DType::u8:
    case DType::boolean:
      return as<std::uint8_t>(bytes);
    default:
      return std::nullopt;
  }
}

std::optional<double> real_of(DType dtype, const std::string& bytes) {
  if (dtype == DType::f32) return static_cast<double>(as<float>(bytes));
  if (dtype == DType::f64) return as<double>(bytes);
  return std::nullopt;
}

/// Of the demangled "k<float, 4>(float const*)": float and 4.
std::vector<std::string> template_arguments_of(const CapturedKernel& captured) {
  const std::string& text = captured.signature;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' && depth == 0) break;
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] == '>' && depth == 0) return template_arguments_in(text.substr(0, i + 1));
  }
  return {};
}

/// The launch as host code would say it. Without a grid the text decides what the grid depends on.
HostLaunch host_launch(const CapturedKernel& captured,
                       const CapturedLaunch& launch,
                       const std::vector<KernelParameter>& parameters,
                       bool with_grid) {
  HostLaunch out;
  out.template_arguments = template_arguments_of(captured);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.block[axis] = model::Polynomial(launch.block[axis]);
    if (with_grid) out.grid[axis] = model::Polynomial(launch.grid[axis]);
  }
  out.dynamic_smem_bytes = model::Polynomial(launch.dynamic_smem_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const CapturedParameter& given = launch.parameters[i];
    const KernelParameter& parameter = parameters[i];
    if (parameter.pointer) {
      if (given.is_pointer())
        out.bytes[parameter.name] =
            model::Polynomial(static_cast<std::int64_t>(given.bytes_behind()));
      continue;
    }
    if (const auto integer = integer_of(parameter.dtype, raw(given)))
      out.integers[parameter.name] = *integer;
    if (const auto real = real_of(parameter.dtype, raw(given))) out.numbers[parameter.name] = *real;
  }
  return out;
}

/// Puts launches into a drafted spec.
class CapturedWorkloads {
 public:
  CapturedWorkloads(const std::string& spec,
                    const CapturedKernel& captured,
                    const std::vector<KernelParameter>& parameters,
                    std::filesystem::path folder)
      : spec_(json::parse(spec)),
        captured_(captured),
        parameters_(parameters),
        folder_(std::move(folder)) {
    for (const json& tunable : spec_.value("tunables", json::array()))
      tunables_[tunable["name"]] = tunable["default"];
  }

  /// The first launch whose grid the spec's expressions do not give; null if they give all.
  [[nodiscard]] const CapturedLaunch* surprising(const std::vector<const CapturedLaunch*>& all) {
    for (const CapturedLaunch* const launch : all) {
      const Bindings numbers = bindings(*launch);
      if (grid(numbers) != launch->grid) return launch;
    }
    return nullptr;
  }

  std::string write(const std::vector<const CapturedLaunch*>& all, double share_left_out) {
    state_values(*all.front());
    json workloads = json::array();
    for (const CapturedLaunch* const launch : all)
      workloads.push_back(workload(*launch, workloads.size() + 1));
    for (const json& one : spec_["kernel"]["workloads"]) {
      if (one.value("target", "") == "host") workloads.push_back(one);
    }
    spec_["kernel"]["workloads"] = workloads;
    json out;
    for (const auto& [key, value] : spec_.items()) {
      if (key == "guessed") out["objective"] = "weighted";
      out[key] = value;
    }
    char text[160];
    std::snprintf(text, sizeof text, ", captured in %zu shapes on %s%s", all.size(),
                  captured_.device.empty() ? "a GPU" : captured_.device.c_str(),
                  share_left_out > 0.0005 ? ", rarer ones left out" : "");
    out["description"] = out["description"].get<std::string>() + text;
    return out.dump(2) + "\n";
  }

 private:
  [[nodiscard]] json& args() { return spec_["kernel"]["io"]["args"]; }

  static std::int64_t evaluate(const json& expression, const Bindings& numbers) {
    if (expression.is_number_integer()) return expression.get<std::int64_t>();
    return Expression::parse(expression.get<std::string>(), "captured")
        .evaluate(numbers, "captured");
  }

  [[nodiscard]] std::array<std::int64_t, 3> grid(const Bindings& numbers) {
    std::array<std::int64_t, 3> out{1, 1, 1};
    const json& said = spec_["kernel"]["io"]["launch"]["grid"];
    try {
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (said.contains(kLaunchAxes[axis]))
          out[axis] = evaluate(said[kLaunchAxes[axis]], numbers);
    } catch (const Error&) {
      return {0, 0, 0};  // of a size that the launch does not determine
    }
    return out;
  }

  /// Values of all integers: tunables, parameters, and sizes that only the grid shows.
  [[nodiscard]] Bindings bindings(const CapturedLaunch& launch) {
    Bindings out = tunables_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].pointer) continue;
      if (const auto value = integer_of(parameters_[i].dtype, raw(launch.parameters[i])))
        out[parameters_[i].name] = *value;
    }
    for (const json& arg : args()) {
      if (!arg.value("is_size", false)) continue;
      const std::string name = arg["name"];
      out[name] = arg["value"];
      bool solved = false;
      for (std::size_t axis = 0; axis < 3 && !solved; ++axis)
        solved = by_grid(name, axis, launch, out);
      if (!solved && by_buffer(name, launch, out)) by_room_.insert(name);
    }
    return out;
  }

  /// `name` is the extent of the grid on this axis, or as many threads as it has.
  bool by_grid(const std::string& name,
               std::size_t axis,
               const CapturedLaunch& launch,
               Bindings& out) {
    const json& said = spec_["kernel"]["io"]["launch"]["grid"];
    if (!said.contains(kLaunchAxes[axis]) || !said[kLaunchAxes[axis]].is_string()) return false;
    const Expression expression =
        Expression::parse(said[kLaunchAxes[axis]].get<std::string>(), "captured");
    if (!expression.names().contains(name)) return false;
    for (const std::int64_t step : {std::int64_t{1}, launch.block[axis]}) {
      Bindings tried = out;
      tried[name] = launch.grid[axis] * step;
      if (evaluate(said[kLaunchAxes[axis]], tried) != launch.grid[axis]) continue;
      out = tried;
      return true;
    }
    return false;
  }

  /// `name` is an extent of a tensor: as much as its buffer has room for.
  bool by_buffer(const std::string& name, const CapturedLaunch& launch, Bindings& out) {
    std::size_t parameter = 0;
    for (const json& arg : args()) {
      if (arg.value("is_meta", false)) continue;
      const CapturedParameter& given = launch.parameters[parameter++];
      if (arg["type"] != "tensor" || !given.is_pointer()) continue;
      auto bytes = static_cast<std::int64_t>(info(parameters_[parameter - 1].dtype).size_bytes);
      bool found = false;
      for (const json& extent : arg["tensor_spec"]["shape"]) {
        if (extent == name) {
          found = true;
        } else {
          bytes *= evaluate(extent, out);
        }
      }
      const auto room = static_cast<std::int64_t>(given.bytes_behind());
      if (!found || bytes < 1 || room < bytes) continue;
      out[name] = room / bytes;
      return true;
    }
    return false;
  }

  /// Values of the arguments, as far as a launch shows them.
  [[nodiscard]] json scalars(const CapturedLaunch& launch) {
    const Bindings numbers = bindings(launch);
    json out = json::object();
    std::size_t i = 0;
    for (const json& arg : args()) {
      const std::string name = arg["name"];
      if (arg.value("is_size", false)) out[name] = numbers.at(name);
      if (arg.value("is_meta", false)) continue;
      const KernelParameter& parameter = parameters_[i];
      const std::string bytes = raw(launch.parameters[i++]);
      if (parameter.pointer) continue;
      if (const auto real = real_of(parameter.dtype, bytes); real && std::isfinite(*real))
        out[name] = *real;
      if (parameter.dtype == DType::boolean)
        out[name] = numbers.at(name) != 0;
      else if (numbers.contains(name))
        out[name] = numbers.at(name);
    }
    return out;
  }

  /// The most important launch gives the arguments their values, which are then no guesses.
  void state_values(const CapturedLaunch& launch) {
    std::set<std::string> known;
    const json values = scalars(launch);
    json rooms = json::array();
    for (std::size_t i = 0; i < args().size(); ++i) {
      json& arg = args()[i];
      if (!values.contains(arg["name"].get<std::string>())) continue;
      const std::string name = arg["name"],
                        path = "/kernel/io/args/" + std::to_string(i) + "/value";
      for (json& one : spec_["kernel"]["workloads"]) {  // the host keeps its own size
        if (arg["type"] == "int" && !one["scalars"].contains(name))
          one["scalars"][name] = arg["value"];
      }
      arg["value"] = values[name];
      known.insert(path);
      if (by_room_.contains(name))
        rooms.push_back({{"path", path}, {"why", "as many as the captured buffer has room for"}});
    }
    json left = json::array();
    for (const json& guess : spec_["guessed"]) {
      const std::string path = guess["path"];
      if (!known.contains(path) && !path.starts_with("/kernel/io/launch/grid"))
        left.push_back(guess);
    }
    left.insert(left.end(), rooms.begin(), rooms.end());
    spec_["guessed"] = left;
    if (launch.cluster != std::array<std::int64_t, 3>{1, 1, 1})
      spec_["kernel"]["io"]["launch"]["cluster"] = axes(launch.cluster);
  }

  static json axes(const std::array<std::int64_t, 3>& numbers) {
    return {{"x", numbers[0]}, {"y", numbers[1]}, {"z", numbers[2]}};
  }

  json workload(const CapturedLaunch& launch, std::size_t number) {
    json out = {{"name", "captured_" + std::to_string(number)},
                {"target", "gpu"},
                {"weight", launch.launches},
                {"scalars", scalars(launch)}};
    const Bindings numbers = bindings(launch);
    json said;
    if (grid(numbers) != launch.grid) said["grid"] = axes(launch.grid);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const json& block = spec_["kernel"]["io"]["launch"]["block"];
      const std::int64_t threads =
          block.contains(kLaunchAxes[axis]) ? evaluate(block[kLaunchAxes[axis]], numbers) : 1;
      if (threads != launch.block[axis]) said["block"] = axes(launch.block);
    }
    const json& smem = spec_["kernel"]["io"]["launch"].value("dynamic_smem_bytes", json(0));
    if (evaluate(smem, numbers) != launch.dynamic_smem_bytes)
      said["dynamic_smem_bytes"] = launch.dynamic_smem_bytes;
    if (!said.is_null()) out["launch"] = said;
    tensors(launch, numbers, number, out);
    return out;
  }

  /// Compares sizes of tensors with those of the buffers, and takes contents over.
  void tensors(const CapturedLaunch& launch,
               const Bindings& numbers,
               std::size_t number,
               json& out) {
    std::size_t parameter = 0;
    for (std::size_t i = 0; i < args().size(); ++i) {
      const json& arg = args()[i];
      if (arg.value("is_meta", false)) continue;
      const CapturedParameter& given = launch.parameters[parameter++];
      if (arg["type"] != "tensor" || !given.is_pointer()) continue;
      json shape = json::array();
      std::int64_t bytes =
          static_cast<std::int64_t>(info(parameters_[parameter - 1].dtype).size_bytes);
      for (const json& extent : arg["tensor_spec"]["shape"]) {
        shape.push_back(evaluate(extent, numbers));
        bytes *= shape.back().get<std::int64_t>();
      }
      const std::string path = "/kernel/io/args/" + std::to_string(i) + "/tensor_spec/shape";
      if (bytes > static_cast<std::int64_t>(given.bytes_behind()))
        spec_["guessed"].push_back(
            {{"path", path},
             {"why", "in workload captured_" + std::to_string(number) + " it has " +
                         std::to_string(bytes) + " bytes, the captured buffer " +
                         std::to_string(given.bytes_behind())}});
      if (given.contents.empty()) continue;
      const std::string file = (folder_ / given.contents).string();
      std::string content = read_text_file(file, std::size_t{1} << 30U, file);
      if (bytes > static_cast<std::int64_t>(std::min(content.size(), kMostContentBytes))) continue;
      content.resize(static_cast<std::size_t>(bytes));
      const auto packed = zlib_deflate(std::as_bytes(std::span(content)));
      json tensor = arg["tensor_spec"];
      tensor.erase("init");
      tensor["data"] = {{"data_b64", base64_encode(packed)},
                        {"compress", "zlib"},
                        {"dtype", tensor["dtype"]},
                        {"shape", shape}};
      out["tensors"][arg["name"].get<std::string>()] = tensor;
    }
  }

  json spec_;
  const CapturedKernel& captured_;
  const std::vector<KernelParameter>& parameters_;
  std::filesystem::path folder_;
  Bindings tunables_;
  std::set<std::string> by_room_;  // sizes that a buffer says
};

/// The launches that count, and the share of the time that they leave out.
std::vector<const CapturedLaunch*> chosen(const CapturedKernel& captured,
                                          double share,
                                          double& left_out) {
  std::vector<const CapturedLaunch*> out;
  left_out = 1;
  for (const CapturedLaunch& launch : captured.launches) {
    if (launch.others || launch.launches == 0) continue;
    if (out.size() == kMostWorkloads || 1 - left_out >= share * (1 - 1e-9)) break;
    out.push_back(&launch);
    left_out -= launch.weight;
  }
  return out;
}

}  // namespace

SpecDraft draft_captured(const model::Unit& unit,
                         const model::Function& kernel,
                         DraftOptions options,
                         const CapturedKernel& captured,
                         const std::filesystem::path& file,
                         double share) {
  if (captured.kernel != kernel.name)
    throw bad_input(file.string() + ":/kernel", captured.kernel,
                    "launches of " + std::string(kernel.name));
  double left_out = 0;
  std::vector<const CapturedLaunch*> launches = chosen(captured, share, left_out);
  if (launches.empty())
    throw bad_input(file.string() + ":/launches", "", "a launch whose shape is known");
  std::string why;
  const auto parameters = kernel_parameters(
      unit, kernel, template_arguments(unit, kernel, template_arguments_of(captured), 1), why);
  if (!parameters) return draft_spec(unit, kernel, options);  // which says why it cannot be
  for (const CapturedLaunch* const launch : launches) {
    if (launch->parameters.size() != parameters->size())
      throw bad_input(file.string() + ":/launches",
                      std::to_string(launch->parameters.size()) + " parameters",
                      "the " + std::to_string(parameters->size()) + " of " + captured.kernel +
                          "; drivers tell them from CUDA 12.4 on");
  }
  const std::filesystem::path folder = file.parent_path();
  options.launch = host_launch(captured, *launches.front(), *parameters, false);
  SpecDraft draft = draft_spec(unit, kernel, options);
  CapturedWorkloads workloads(draft.spec, captured, *parameters, folder);
  if (workloads.surprising(launches) == nullptr) {
    draft.spec = workloads.write(launches, left_out);
    return draft;
  }
  options.launch = host_launch(captured, *launches.front(), *parameters, true);
  draft = draft_spec(unit, kernel, options);
  draft.spec =
      CapturedWorkloads(draft.spec, captured, *parameters, folder).write(launches, left_out);
  return draft;
}

}  // namespace warpath
