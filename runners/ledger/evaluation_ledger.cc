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
#include "engine/plugin/device_fields.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/outcome_io.h"
#include "engine/plugin/stage_fields.h"

namespace warpath {
namespace {

using nlohmann::json;
using Mode = EvaluationLedger::Mode;

constexpr std::array<std::pair<std::string_view, Mode>, 3> kModes{
    {{"record", Mode::record}, {"replay", Mode::replay}, {"replay-or-live", Mode::replay_or_live}}};
constexpr std::int64_t kSchema = 1;

/// A line of an evaluation.
struct EvaluationLine {
  Hash128 scene, variant;
  Stage stage = Stage::screening;
  std::uint64_t seed = 0;
  double incumbent_ns = 0;
  Outcome outcome;
};
/// A line of a variant that the runner refused.
struct RefusalLine {
  Hash128 scene, variant;
};

/// The line of a type: its members and "type".
template <class T>
json typed(std::string_view type, const T& line) {
  json out = Codec<T>::write(line);
  out["type"] = type;
  return out;
}

}  // namespace

template <>
struct Description<EvaluationScene>
    : Record<Kept<"runner", &EvaluationScene::runner>,
             Kept<"settings", &EvaluationScene::settings>,
             Kept<"loaded", &EvaluationScene::loaded>,
             Kept<"searched", &EvaluationScene::searched>,
             Kept<"substitute", &EvaluationScene::substitute>,
             Kept<"device", &EvaluationScene::device>,
             Kept<"platform", &EvaluationScene::platform, ValidText>,
             Kept<"lanes", &EvaluationScene::lanes>,
             Kept<"only_tunables", &EvaluationScene::only_tunables>> {};
template <>
struct Description<EvaluationLine>
    : Record<Kept<"scene", &EvaluationLine::scene>,
             Kept<"variant", &EvaluationLine::variant>,
             Kept<"stage", &EvaluationLine::stage>,
             Kept<"seed", &EvaluationLine::seed>,
             Kept<"incumbent_ns", &EvaluationLine::incumbent_ns, AnyNumber>,
             Kept<"outcome", &EvaluationLine::outcome>> {};
template <>
struct Description<RefusalLine>
    : Record<Kept<"scene", &RefusalLine::scene>, Kept<"variant", &RefusalLine::variant>> {};

Hash128 EvaluationScene::id() const {
  json counting = Codec<EvaluationScene>::write(*this);
  counting.erase("lanes");
  counting.erase("only_tunables");
  return hash128(counting.dump());
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
  json line = parse_json(object, place);
  const JsonCursor c(line, place + ":");
  const std::string type = c.at("type").text();
  line.erase("type");
  if (type == "evaluations") {
    if (c.at("schema").integer() != kSchema)
      c.at("schema").fail("schema " + std::to_string(kSchema));
  } else if (type == "scene") {
    const Hash128 id = hash_from_json(c.at("scene"));
    line.erase("scene");
    EvaluationScene scene;
    Codec<EvaluationScene>::read(c, scene);
    if (scene.lanes < 1) c.at("lanes").fail("an integer of at least 1");
    if (scene.id() != id)
      throw bad_input(c.place() + "/scene", id.hex(), "the hash of its members");
    scenes_.push_back(std::move(scene));
  } else if (type == "evaluation") {
    EvaluationLine one;
    Codec<EvaluationLine>::read(c, one);
    outcomes_.insert_or_assign({.scene = one.scene,
                                .variant = one.variant,
                                .stage = one.stage,
                                .seed = one.seed,
                                .incumbent_ns = one.incumbent_ns},
                               std::move(one.outcome));
  } else if (type == "refused") {
    RefusalLine one;
    Codec<RefusalLine>::read(c, one);
    refused_[{one.scene, one.variant}] = true;
  } else {
    throw bad_input(c.place() + "/type", type, "evaluations, scene, evaluation or refused");
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

/// The file is never replaced, because the lock is held on the file itself.
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
    json first = typed("scene", scene);
    first["scene"] = scene.id().hex();
    out_->append(json_text(first), false);
    scenes_.push_back(scene);
  }
  out_->append(json_text(line), true);
}

void EvaluationLedger::add(const EvaluationScene& scene,
                           const RunRequest& request,
                           const Outcome& outcome) {
  const Outcome kept = recordable(outcome);
  const std::lock_guard lock(mutex_);
  append(scene, typed("evaluation", EvaluationLine{.scene = scene.id(),
                                                   .variant = request.key,
                                                   .stage = request.stage,
                                                   .seed = request.seed,
                                                   .incumbent_ns = request.incumbent_ns,
                                                   .outcome = kept}));
  outcomes_.insert_or_assign(entry_of(scene.id(), request), kept);
}

void EvaluationLedger::refuse(const EvaluationScene& scene, const Hash128& variant) {
  const std::lock_guard lock(mutex_);
  if (!refused_.emplace(std::pair{scene.id(), variant}, true).second) return;
  append(scene, typed("refused", RefusalLine{.scene = scene.id(), .variant = variant}));
}

bool EvaluationLedger::refused(const Hash128& scene, const Hash128& variant) const {
  const std::lock_guard lock(mutex_);
  return refused_.contains({scene, variant});
}

}  // namespace warpath
