#include "runners/replay/formats.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {
namespace {

using nlohmann::json;
using Row = RecordedSpace::Row;

constexpr std::string_view kFormat = "warpath-space";
constexpr double kNsPerMs = 1e6, kNsPerUs = 1e3;

/// Rows with their values still as JSON, by axis name.
struct RawRow {
  std::map<std::string, json> values;
  Row row;
};

std::optional<std::int64_t> as_integer(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>() &&
      std::abs(value.get<double>()) < 1e15) {
    return static_cast<std::int64_t>(value.get<double>());
  }
  return std::nullopt;
}

/// Integers by size, everything else by text.
bool value_less(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  return a.dump() < b.dump();
}

/// Axes from the values that occur; one of a single value is none.
RecordedSpace assemble(const std::string& name,
                       const std::string& device,
                       const std::vector<std::string>& keys,
                       std::vector<RawRow> raw,
                       const std::string& place) {
  std::vector<RecordedSpace::Axis> axes;
  std::vector<Row> rows(raw.size());
  for (const std::string& key : keys) {
    std::vector<json> values;
    for (const RawRow& r : raw) {
      const auto it = r.values.find(key);
      if (it == r.values.end())
        throw bad_input(place, "a row without " + key, "a value of every parameter");
      values.push_back(it->second);
    }
    std::vector<json> distinct = values;
    std::sort(distinct.begin(), distinct.end(), value_less);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() < 2) continue;
    RecordedSpace::Axis axis{.name = key, .texts = {}, .values = {}};
    const bool numbers = std::all_of(distinct.begin(), distinct.end(),
                                     [](const json& v) { return as_integer(v).has_value(); });
    for (std::size_t level = 0; level < distinct.size(); ++level) {
      axis.texts.push_back(distinct[level].is_string() ? distinct[level].get<std::string>()
                                                       : distinct[level].dump());
      axis.values.push_back(numbers ? *as_integer(distinct[level])
                                    : static_cast<std::int64_t>(level));
    }
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const auto it = std::lower_bound(distinct.begin(), distinct.end(), values[i], value_less);
      rows[i].point.push_back(static_cast<Level>(it - distinct.begin()));
    }
    axes.push_back(std::move(axis));
  }
  for (std::size_t i = 0; i < raw.size(); ++i) {
    raw[i].row.point = std::move(rows[i].point);
    rows[i] = std::move(raw[i].row);
  }
  return {name, device, std::move(axes), std::move(rows), place};
}

double number_or(const json& object, const char* key, double otherwise) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : otherwise;
}

std::vector<float> samples_of(const json& list, double factor) {
  std::vector<float> out;
  if (!list.is_array()) return out;
  for (const json& x : list) {
    if (x.is_number()) out.push_back(static_cast<float>(x.get<double>() * factor));
  }
  return out;
}

/// Names of failures in Kernel Tuner and T4 files.
Status failure_status(const std::string& text) {
  if (text.starts_with("Compilation") || text == "compile") return Status::compile_error;
  if (text.starts_with("Invalid") || text == "constraints") return Status::limits_exceeded;
  if (text == "timeout") return Status::timed_out;
  if (text == "correctness") return Status::wrong_result;
  return Status::launch_error;
}

RecordedSpace from_kernel_tuner(const json& file,
                                const std::string& name,
                                const std::string& place) {
  const std::string objective = file.value("objective", "time");
  const auto keys = file.at("tune_params_keys").get<std::vector<std::string>>();
  std::vector<RawRow> rows;
  for (const auto& [key, record] : file.at("cache").items()) {
    RawRow raw;
    for (const std::string& k : keys) raw.values[k] = record.at(k);
    const json& time = record.at(objective);
    if (time.is_number() && std::isfinite(time.get<double>())) {
      raw.row.time_ns = time.get<double>() * kNsPerMs;
      if (record.contains("times")) raw.row.samples_ns = samples_of(record["times"], kNsPerMs);
    } else {
      raw.row.status = failure_status(time.is_string() ? time.get<std::string>() : "");
    }
    raw.row.compile_seconds = number_or(record, "compile_time", 0) * 1e-3;
    raw.row.run_seconds =
        (number_or(record, "verification_time", 0) + number_or(record, "benchmark_time", 0) +
         number_or(record, "framework_time", 0)) *
        1e-3;
    rows.push_back(std::move(raw));
  }
  return assemble(name, file.value("device_name", ""), keys, std::move(rows), place);
}

RecordedSpace from_t4(const json& file, const std::string& name, const std::string& place) {
  std::vector<RawRow> rows;
  std::vector<std::string> keys;
  for (const json& result : file.at("results")) {
    RawRow raw;
    for (const auto& [key, value] : result.at("configuration").items()) {
      if (rows.empty()) keys.push_back(key);
      raw.values[key] = value;
    }
    const json& times = result.at("times");
    double measured = 0;
    for (const float s :
         raw.row.samples_ns = samples_of(times.value("runtimes", json::array()), kNsPerMs))
      measured += static_cast<double>(s) * 1e-9;
    double value = NAN;
    const std::string objective = result.contains("objectives") && !result["objectives"].empty()
                                      ? result["objectives"][0].get<std::string>()
                                      : "time";
    for (const json& m : result.at("measurements")) {
      if (m.at("name") == objective && m.at("value").is_number()) value = m["value"].get<double>();
    }
    const std::string invalidity = result.value("invalidity", "correct");
    if (invalidity == "correct" && std::isfinite(value)) {
      raw.row.time_ns = value * kNsPerMs;
    } else {
      raw.row.status = failure_status(invalidity);
      raw.row.samples_ns.clear();
    }
    raw.row.compile_seconds = number_or(times, "compilation", 0) * 1e-3;
    raw.row.run_seconds =
        (number_or(times, "framework", 0) + number_or(times, "validation", 0)) * 1e-3 + measured;
    rows.push_back(std::move(raw));
  }
  const std::string device = file.contains("metadata") ? file["metadata"].value("device", "") : "";
  return assemble(name, device, keys, std::move(rows), place);
}

Status ktt_status(const std::string& text) {
  if (text == "Ok") return Status::ok;
  if (text == "CompilationFailed") return Status::compile_error;
  if (text == "DeviceLimitsExceeded") return Status::limits_exceeded;
  if (text == "ValidationFailed") return Status::wrong_result;
  return Status::launch_error;
}

RecordedSpace from_ktt(const json& file, const std::string& name, const std::string& place) {
  const json& metadata = file.at("Metadata");
  const std::string unit = metadata.value("TimeUnit", "Microseconds");
  const std::map<std::string, double> units{{"Nanoseconds", 1.0},
                                            {"Microseconds", kNsPerUs},
                                            {"Milliseconds", kNsPerMs},
                                            {"Seconds", 1e9}};
  const auto factor = units.find(unit);
  if (factor == units.end())
    throw bad_input(place + ":/Metadata/TimeUnit", unit, "Nanoseconds to Seconds");
  std::vector<RawRow> rows;
  std::vector<std::string> keys;
  for (const json& result : file.at("Results")) {
    RawRow raw;
    for (const json& parameter : result.at("Configuration")) {
      const std::string key = parameter.at("Name");
      if (rows.empty()) keys.push_back(key);
      raw.values[key] = parameter.at("Value");
    }
    raw.row.status = ktt_status(result.value("Status", "Ok"));
    const double total = number_or(result, "TotalDuration", 0) * factor->second;
    if (raw.row.status == Status::ok) raw.row.time_ns = total;
    raw.row.compile_seconds = number_or(result, "TotalOverhead", 0) * factor->second * 1e-9;
    raw.row.run_seconds = total * 1e-9;
    rows.push_back(std::move(raw));
  }
  return assemble(name, metadata.value("Device", ""), keys, std::move(rows), place);
}

RecordedSpace from_own(const json& file, const std::string& name, const std::string& place) {
  if (file.value("version", 0) != 1)
    throw bad_input(place + ":/version", file.value("version", json()).dump(), "1");
  std::vector<RecordedSpace::Axis> axes;
  for (const json& a : file.at("axes")) {
    RecordedSpace::Axis axis{
        .name = a.at("name"), .texts = a.at("texts"), .values = a.at("values")};
    if (axis.texts.size() != axis.values.size())
      throw bad_input(place + ":/axes", axis.name, "as many texts as values");
    axes.push_back(std::move(axis));
  }
  const json& points = file.at("points");
  std::vector<Row> rows(points.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint64_t number = points[i].get<std::uint64_t>();
    rows[i].point.resize(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
      rows[i].point[a] = static_cast<Level>(number % axes[a].values.size());
      number /= axes[a].values.size();
    }
    const json& time = file.at("time_ns").at(i);
    if (time.is_number()) {
      rows[i].time_ns = time.get<double>();
    } else {
      const auto it = std::find(kStatusNames.begin(), kStatusNames.end(), time.get<std::string>());
      if (it == kStatusNames.end() || it == kStatusNames.begin()) {
        throw bad_input(place + ":/time_ns/" + std::to_string(i), time.dump(),
                        "a time or the name of a failure");
      }
      rows[i].status = static_cast<Status>(it - kStatusNames.begin());
    }
    if (file.contains("samples_ns")) rows[i].samples_ns = samples_of(file["samples_ns"].at(i), 1);
    rows[i].compile_seconds = file.at("compile_seconds").at(i).get<double>();
    rows[i].run_seconds = file.at("run_seconds").at(i).get<double>();
  }
  return {file.value("name", name), file.value("device", ""), std::move(axes), std::move(rows),
          place};
}

/// The file of an unfinished Kernel Tuner run lacks its closing brackets.
json parsed(const std::string& text, const std::string& place) {
  json file = json::parse(text, nullptr, false);
  if (!file.is_discarded()) return file;
  const auto end = text.find_last_not_of(" \t\r\n,");
  if (end != std::string::npos) file = json::parse(text.substr(0, end + 1) + "}}", nullptr, false);
  if (file.is_discarded()) throw bad_input(place, "text that is no JSON", "a recorded space");
  return file;
}

/// "folder-file" without endings: a folder holds the spaces of one kernel, one file per device.
std::string name_of(const std::filesystem::path& file) {
  const std::string stem = file.filename().string().substr(0, file.filename().string().find('.'));
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return folder.empty() ? stem : folder + "-" + stem;
}

}  // namespace

RecordedSpace parse_space(const std::string& text,
                          const std::string& name,
                          const std::string& place) {
  const json file = parsed(text, place);
  try {
    if (file.value("format", "") == kFormat) return from_own(file, name, place);
    if (file.contains("cache")) return from_kernel_tuner(file, name, place);
    if (file.contains("Results")) return from_ktt(file, name, place);
    if (file.contains("results")) return from_t4(file, name, place);
  } catch (const json::exception& e) {
    throw bad_input(place, e.what(), "a recorded space with the keys of its format");
  }
  throw bad_input(place, "JSON of another kind",
                  "a Kernel Tuner cache, T4 or KTT results, or a space of our own");
}

RecordedSpace load_space(const std::filesystem::path& file) {
  return parse_space(read_maybe_gzip(file, "a recorded space"), name_of(file), file.string());
}

std::shared_ptr<const Recording> load_recording(const std::filesystem::path& file) {
  const std::string text = read_maybe_gzip(file, "a recorded space");
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (first.find(kGraphFormat) != std::string_view::npos)
    return std::make_shared<RecordedGraph>(parse_graph(text, name_of(file), file.string()));
  return std::make_shared<RecordedSpace>(parse_space(text, name_of(file), file.string()));
}

std::string space_text(const RecordedSpace& space) {
  json out{{"format", kFormat}, {"version", 1}, {"name", space.name()}, {"device", space.device()}};
  for (std::size_t i = 0; i < space.axes(); ++i) {
    const RecordedSpace::Axis& axis = space.axis(i);
    out["axes"].push_back({{"name", axis.name}, {"texts", axis.texts}, {"values", axis.values}});
  }
  bool sampled = false;
  for (const Row& row : space.rows()) sampled = sampled || !row.samples_ns.empty();
  for (const Row& row : space.rows()) {
    out["points"].push_back(space.number(row.point));
    out["time_ns"].push_back(row.status == Status::ok ? json(row.time_ns) : json(name(row.status)));
    if (sampled) out["samples_ns"].push_back(row.samples_ns);
    out["compile_seconds"].push_back(row.compile_seconds);
    out["run_seconds"].push_back(row.run_seconds);
  }
  return out.dump();
}

void save_space(const RecordedSpace& space, const std::filesystem::path& file) {
  write_file_atomically(file, gzip(space_text(space), Effort::most), true);
}

}  // namespace warpath
