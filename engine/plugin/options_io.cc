#include "engine/plugin/options_io.h"

#include <algorithm>
#include <set>

#include "engine/plugin/option_codec.h"

namespace warpath {

using nlohmann::json;

const OptionGroupKind& SearchOptions::kind() {
  return option_group_kind<SearchOptions>();
}
const OptionGroupKind& RunOptions::kind() {
  return option_group_kind<RunOptions>();
}
const OptionGroupKind& TuneOptions::kind() {
  return option_group_kind<TuneOptions>();
}
const OptionGroupKind& RecordOptions::kind() {
  return option_group_kind<RecordOptions>();
}

void Options::add(const OptionGroupKind& kind) {
  if (std::ranges::find(added_, &kind, &Held::kind) != added_.end()) return;
  const auto place = std::ranges::upper_bound(added_, kind.name, {},
                                              [](const Held& held) { return held.kind->name; });
  added_.insert(place, Held{&kind, kind.make()});
}

Options Options::defaults() const {
  Options out;
  for (const Held& held : added_) out.add(*held.kind);
  return out;
}

bool operator==(const Options& a, const Options& b) {
  json in_a = to_json(a.defaults()), in_b = to_json(b.defaults());
  in_a.update(in_b, true);
  in_b = in_a;
  in_a.update(to_json(a), true);
  in_b.update(to_json(b), true);
  return in_a == in_b;
}

std::vector<OptionGroupRef> Options::find(std::string_view name) {
  std::vector<OptionGroupRef> found;
  for_each([&](const OptionGroupKind& kind, const void* group) {
    if (kind.name == name) found.push_back({&kind, const_cast<void*>(group)});  // of this object
  });
  return found;
}

std::vector<OptionRow> option_rows(const Options& groups) {
  std::vector<OptionRow> rows;
  groups.for_each([&](const OptionGroupKind& kind, const void*) {
    const std::vector<OptionRow> more = kind.rows();
    rows.insert(rows.end(), more.begin(), more.end());
  });
  return rows;
}

json to_json(const Options& options) {
  json out = json::object();
  options.for_each([&](const OptionGroupKind& kind, const void* group) {
    out[std::string(kind.name)].update(kind.to_json(group));
  });
  return out;
}

void overlay_group(const std::vector<OptionGroupRef>& parts,
                   const json& overlay,
                   const std::string& place) {
  if (!overlay.is_object()) throw bad_input(place, overlay.dump(), "an object of options");
  std::size_t known = 0;
  for (const auto& [kind, group] : parts) known += kind->overlay(group, overlay, place);
  if (known == overlay.size()) return;
  std::set<std::string> keys;
  for (const auto& [kind, group] : parts) {
    for (const OptionRow& row : kind->rows()) keys.insert(row.key);
  }
  for (const auto& [key, value] : overlay.items()) {
    if (!keys.contains(key))
      throw bad_input(place + "/" + key, value.dump(),
                      "a known option; `warpath options` lists them");
  }
}

Options overlay_options(const Options& base, const json& overlay, std::string_view place) {
  if (!overlay.is_object()) throw bad_input(place, overlay.dump(), "an object of option groups");
  Options out = base;
  for (const auto& [key, value] : overlay.items()) {
    const std::string at = std::string(place) + "/" + key;
    const std::vector<OptionGroupRef> parts = out.find(key);
    if (parts.empty())
      throw bad_input(at, value.dump(), "an option group; `warpath options` lists them");
    overlay_group(parts, value, at);
  }
  return out;
}

Options set_option(const Options& base,
                   std::string_view dotted_key,
                   std::string_view text,
                   std::string_view place) {
  const auto dot = dotted_key.find('.');
  if (dot == std::string_view::npos) throw bad_input(place, dotted_key, "GROUP.KEY=VALUE");
  const std::string group(dotted_key.substr(0, dot));
  const std::string key(dotted_key.substr(dot + 1));
  // A text option takes the words as they are; everything else must be a JSON value.
  json value = json::parse(text, nullptr, false);
  for (const OptionRow& row : option_rows(base)) {
    if (row.group == group && row.key == key && row.type == "text" && !value.is_string())
      value = std::string(text);
  }
  if (value.is_discarded()) value = std::string(text);
  try {
    return overlay_options(base, json{{group, json{{key, value}}}}, "");
  } catch (const Error& e) {
    throw Error(e.code(), std::string(place) + " " + e.what());
  }
}

}  // namespace warpath
