#include "runners/ledger/evaluation_ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

using nlohmann::json;
using Mode = EvaluationLedger::Mode;

constexpr std::array<std::pair<std::string_view, Mode>, 3> kModes{
    {{"record", Mode::record}, {"replay", Mode::replay}, {"replay-or-live", Mode::replay_or_live}}};
constexpr std::int64_t kSchema = 1;

/// What tells scenes apart.
json identity(const EvaluationScene& s) {
  return {{"runner", s.runner},
          {"settings", s.settings},
          {"loaded", s.loaded.hex()},
          {"searched", s.searched.hex()},
          {"substitute", s.substitute},
          {"device", to_json(s.device)},
          {"platform", valid_utf8(s.platform)}};
}

json to_json(const EvaluationScene& s) {
  json out = identity(s);
  out["type"] = "scene";
  out["scene"] = s.id().hex();
  out["lanes"] = s.lanes;
  out["only_tunables"] = s.only_tunables;
  return out;
}

EvaluationScene scene_from_json(const JsonCursor& c) {
  require_only(c, {"type", "scene", "runner", "settings", "loaded", "searched", "substitute",
                   "device", "platform", "lanes", "only_tunables"});
  EvaluationScene out{.runner = c.at("runner").text(),
                      .settings = c.at("settings").text(),
                      .loaded = hash_from_json(c.at("loaded")),
                      .searched = hash_from_json(c.at("searched")),
                      .substitute = c.at("substitute").text(),
                      .device = device_from_json(c.at("device")),
                      .platform = c.at("platform").text(),
                      .lanes = static_cast<int>(c.at("lanes").integer()),
                      .only_tunables = c.at("only_tunables").boolean()};
  if (out.lanes < 1) c.at("lanes").fail("an integer of at least 1");
  if (hash_from_json(c.at("scene")) != out.id()) c.at("scene").fail("the hash of its members");
  return out;
}

Stage stage_from_json(const JsonCursor& c) {
  const auto* it = std::ranges::find(kStageNames, c.text());
  if (it == kStageNames.end()) c.fail("screening, confirmation or final");
  return static_cast<Stage>(it - kStageNames.begin());
}

}  // namespace

Hash128 EvaluationScene::id() const {
  return hash128(identity(*this).dump());
}

Mode EvaluationLedger::parse_mode(std::string_view text, std::string_view place) {
  for (const auto& [name, mode] : kModes) {
    if (name == text) return mode;
  }
  throw bad_input(place, text, "record, replay or replay-or-live");
}

EvaluationLedger::EvaluationLedger(std::filesystem::path file, Mode mode)
    : file_(std::move(file)), mode_(mode) {
  std::error_code error;
  bytes_ = std::filesystem::file_size(file_, error);
  if (error) bytes_ = 0;
  if (mode_ == Mode::replay && bytes_ == 0)
    throw bad_input(file_.string(), "", "a ledger of evaluations to replay");
  if (bytes_ > 0) read();
}

EvaluationLedger::~EvaluationLedger() {
  if (lock_ >= 0) ::close(lock_);
}

void EvaluationLedger::read() {
  EventReader reader(file_);
  while (const auto object = reader.next()) read_line(*object, reader.place());
  end_ = reader.position();
}

void EvaluationLedger::read_line(const std::string& object, const std::string& place) {
  const json line = parse_json(object, place);
  const JsonCursor c(line, place + ":");
  const std::string type = c.at("type").text();
  if (type == "evaluations") {
    if (c.at("schema").integer() != kSchema)
      c.at("schema").fail("schema " + std::to_string(kSchema));
  } else if (type == "scene") {
    scenes_.push_back(scene_from_json(c));
  } else if (type == "evaluation") {
    const Entry entry{.scene = hash_from_json(c.at("scene")),
                      .variant = hash_from_json(c.at("variant")),
                      .stage = stage_from_json(c.at("stage")),
                      .seed = c.at("seed").unsigned_integer(),
                      .incumbent_ns = any_number(c.at("incumbent_ns"))};
    outcomes_.insert_or_assign(entry,
                               outcome_from_json(c.at("outcome").value(), c.at("outcome").place()));
  } else if (type == "refused") {
    refused_[{hash_from_json(c.at("scene")), hash_from_json(c.at("variant"))}] = true;
  } else {
    c.at("type").fail("evaluations, scene, evaluation or refused");
  }
}

const EvaluationScene& EvaluationLedger::scene(const Hash128& spec,
                                               const std::string& runner,
                                               const std::optional<std::string>& settings) const {
  const std::lock_guard lock(mutex_);
  const EvaluationScene* found = nullptr;
  std::string known;
  for (const EvaluationScene& s : scenes_) {
    if (s.loaded != spec && s.searched != spec) continue;
    known +=
        (known.empty() ? "" : "; ") + s.runner + " on " + s.device.name + " with " + s.settings;
    if ((!runner.empty() && s.runner != runner) || (settings && s.settings != *settings)) continue;
    if (found != nullptr)
      throw bad_input(file_.string(), known,
                      "evaluations of this spec with one runner on one device");
    found = &s;
  }
  if (found != nullptr) return *found;
  throw bad_input(file_.string(),
                  (runner.empty() ? "any runner" : runner) + (settings ? " with " + *settings : ""),
                  known.empty() ? "evaluations of this spec: there are none"
                                : "what was recorded of this spec: " + known);
}

EvaluationLedger::Entry EvaluationLedger::entry_of(const Hash128& scene,
                                                   const RunRequest& request) {
  return {.scene = scene,
          .variant = request.key,
          .stage = request.stage,
          .seed = request.seed,
          .incumbent_ns = request.incumbent_ns};
}

std::optional<Outcome> EvaluationLedger::find(const Hash128& scene,
                                              const RunRequest& request) const {
  const std::lock_guard lock(mutex_);
  const auto it = outcomes_.find(entry_of(scene, request));
  return it == outcomes_.end() ? std::nullopt : std::optional(it->second);
}

std::string EvaluationLedger::nearest(const Hash128& scene, const RunRequest& request) const {
  const std::lock_guard lock(mutex_);
  std::size_t same_scene = 0;
  std::string same_variant;
  for (const auto& [entry, outcome] : outcomes_) {
    if (entry.scene != scene) continue;
    ++same_scene;
    if (entry.variant != request.key || !same_variant.empty()) continue;
    same_variant = std::string(name(entry.stage)) + ", seed " + std::to_string(entry.seed) +
                   ", racing " + std::to_string(entry.incumbent_ns) + " ns";
  }
  if (!same_variant.empty()) return "this variant was evaluated otherwise: " + same_variant;
  return "none of " + std::to_string(same_scene) +
         " evaluations is of this variant: the search went another way than the recorded one, or "
         "further";
}

/// The file is never replaced: the lock is on what is written.
void EvaluationLedger::open() {
  const std::lock_guard lock(mutex_);
  if (out_) return;
  lock_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0)
    throw environment_error(file_.string() +
                            ": cannot be opened for writing: " + std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    throw bad_input(file_.string(), "a ledger that another process writes", "one that is free");
  if (std::filesystem::file_size(file_) != bytes_)
    throw bad_input(file_.string(), "a ledger that another process has written meanwhile",
                    "one that is free");
  if (end_.lines == 0) end_ = EventReader(file_).position();
  out_ = std::make_unique<EventWriter>(file_, end_, SyncRule::batch);
  if (end_.lines == 0)
    out_->append(json{{"type", "evaluations"}, {"schema", kSchema}}.dump(), false);
}

void EvaluationLedger::append(const EvaluationScene& scene, const json& line) {
  WARPATH_CHECK(out_ != nullptr);  // `open` comes first
  const bool known =
      std::ranges::any_of(scenes_, [&](const EvaluationScene& s) { return s.id() == scene.id(); });
  if (!known) {
    out_->append(to_json(scene).dump(-1, ' ', false, json::error_handler_t::replace), false);
    scenes_.push_back(scene);
  }
  out_->append(line.dump(-1, ' ', false, json::error_handler_t::replace), true);
}

void EvaluationLedger::add(const EvaluationScene& scene,
                           const RunRequest& request,
                           const Outcome& outcome) {
  const Outcome kept = recordable(outcome);
  const std::lock_guard lock(mutex_);
  append(scene, {{"type", "evaluation"},
                 {"scene", scene.id().hex()},
                 {"variant", request.key.hex()},
                 {"stage", std::string(name(request.stage))},
                 {"seed", request.seed},
                 {"incumbent_ns", number_to_json(request.incumbent_ns)},
                 {"outcome", warpath::to_json(kept)}});
  outcomes_.insert_or_assign(entry_of(scene.id(), request), kept);
}

void EvaluationLedger::refuse(const EvaluationScene& scene, const Hash128& variant) {
  const std::lock_guard lock(mutex_);
  if (!refused_.emplace(std::pair{scene.id(), variant}, true).second) return;
  append(scene, {{"type", "refused"}, {"scene", scene.id().hex()}, {"variant", variant.hex()}});
}

bool EvaluationLedger::refused(const Hash128& scene, const Hash128& variant) const {
  const std::lock_guard lock(mutex_);
  return refused_.contains({scene, variant});
}

}  // namespace warpath
