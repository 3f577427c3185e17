#include "engine/run/run_identity.h"

#include <nlohmann/json.hpp>
#include <random>

#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"

namespace warpath {
namespace {

using nlohmann::json;

/// Differs for any two runs; nothing else depends on it.
std::string new_run_id() {
  std::random_device entropy;
  return Hasher().add(unix_now()).add(entropy()).add(entropy()).digest().hex();
}

/// Throws Error(bad_input) naming the first of the recorded `options` that this program lacks.
void refuse_removed_options(const JsonCursor& options, const Options& groups) {
  const json known = to_json(groups);
  const auto refuse = [&](const std::string& key, const json& value) {
    throw bad_input(options.place() + "/" + key, value.dump(),
                    "no such option: this program lacks it; continue with the revision that "
                    "environment.json names");
  };
  if (!options.value().is_object()) return;  // overlay_options() says so
  for (const auto& [group, members] : options.value().items()) {
    if (!known.contains(group)) refuse(group, members);
    if (!members.is_object()) continue;
    for (const auto& [key, value] : members.items()) {
      if (!known[group].contains(key)) refuse(group + "/" + key, value);
    }
  }
}

/// False where reading fails.
template <class Read>
bool reads(const Read& read) {
  try {
    return read();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

RunEvent RunIdentity::event() const {
  json spec = to_json(parts_.spec);
  return {.schema = kRecordSchema,
          .run_id = new_run_id(),
          .name = parts_.spec.name,
          .runner = parts_.runner_text,
          .config = config_hash(parts_.options, parts_.runner_text),
          .spec = hash128(spec.dump()),
          .seed = parts_.options.run.seed};
}

void RunIdentity::write_file(const std::string& name, const std::string& text) const {
  write_file_atomically(parts_.folder.file(name), text, parts_.sync);
}

void RunIdentity::write(const RunEvent& run,
                        const std::string& environment_json,
                        const std::map<std::string, std::string>& more) const {
  write_file("input_spec.json", to_json(parts_.spec).dump(2) + "\n");
  write_config(run.config);
  write_file("environment.json", environment_json + "\n");
  write_file("device.json", to_json(parts_.device).dump(2) + "\n");
  for (const auto& [name, text] : more) write_file(name, text);
}

void RunIdentity::write_config(const Hash128& hash) const {
  const json config{
      {"runner", parts_.runner_text}, {"options", to_json(parts_.options)}, {"hash", hash.hex()}};
  write_file("config.json", config.dump(2) + "\n");
}

void RunIdentity::mend(const std::function<void(std::string_view)>& note) const {
  const auto anew = [&](const std::string& name, const std::string& text) {
    write_file(name, text);
    note(parts_.folder.file(name).string() + ": was damaged or missing and is written anew");
  };
  const std::string spec_file = parts_.folder.file("input_spec.json").string();
  const bool same_spec = reads([&] {
    return hash128(read_json_file(spec_file).dump()) == hash128(to_json(parts_.spec).dump());
  });
  if (!same_spec) anew("input_spec.json", to_json(parts_.spec).dump(2) + "\n");
  if (!reads([&] { return recorded_device(parts_.folder.path()).has_value(); }))
    anew("device.json", to_json(parts_.device).dump(2) + "\n");
}

void RunIdentity::refuse_other(const RunEvent& recorded, const std::filesystem::path& path) const {
  const RunEvent mine = event();
  const std::string place = path.string() + ":1:";
  if (recorded.runner != mine.runner)
    throw bad_input(place + "/runner", mine.runner,
                    recorded.runner + ", with which the run was started");
  if (recorded.spec != mine.spec)
    throw bad_input(place + "/spec", mine.spec.hex(),
                    recorded.spec.hex() + ": the spec in input_spec.json, unchanged");
  if (recorded.config == mine.config) return;
  if (const std::string option = changed_option(); !option.empty())
    throw bad_input(place + "/config", option, "the options in config.json");
  throw bad_input(place + "/config", mine.config.hex(),
                  recorded.config.hex() + ": the options in config.json");
}

/// "search.c_puct=2" for the first option that shapes the graph and differs from config.json.
std::string RunIdentity::changed_option() const {
  const auto recorded = recorded_config(parts_.folder.path(), parts_.options);
  const json before = to_json(recorded->options);
  const json now = to_json(parts_.options);
  for (const auto& [group, members] : now.items()) {
    for (const auto& [key, value] : members.items()) {
      if (before[group][key] == value) continue;
      Options changed = overlay_options(recorded->options, json{{group, {{key, value}}}}, "");
      if (config_hash(changed, "") == config_hash(recorded->options, "")) continue;
      return group + "." + key + "=" + value.dump() + " (" + before[group][key].dump() +
             " at the start)";
    }
  }
  return "";
}

Hash128 config_hash(const Options& options, std::string_view runner_text) {
  json shaping = json::object();
  options.for_each([&](const OptionGroupKind& kind, const void* group) {
    if (kind.of == OptionsOf::record || kind.of == OptionsOf::proposals) return;
    json& members = shaping[std::string(kind.name)];
    members.update(kind.to_json(group));
    for (const OptionRow& row : kind.rows()) {
      if (!row.shapes) members.erase(row.key);
    }
  });
  return Hasher().add(shaping.dump()).add(runner_text).digest();
}

std::optional<RecordedConfig> recorded_config(const std::filesystem::path& folder,
                                              const Options& groups) {
  if (!RunFolder::has_run(folder)) return std::nullopt;
  const std::string place = (folder / "config.json").string();
  const json document = read_json_file(place);
  const JsonCursor cursor(document, place);
  require_only(cursor, {"runner", "options", "hash"});
  const JsonCursor options = cursor.at("options");
  refuse_removed_options(options, groups);
  return RecordedConfig{
      .options = overlay_options(groups.defaults(), options.value(), options.place()),
      .runner_text = cursor.at("runner").text()};
}

}  // namespace warpath
