#include "engine/run/saved_session.h"

#include "engine/base/error.h"

namespace warpath {

SavedSession::SavedSession(const SavedParts& parts, const RunFolder& folder, bool sync)
    : parts_(parts),
      file_(folder.file("search_state.json")),
      records_(folder.file("variants.records")),
      sync_(sync) {}

void SavedSession::begin() {
  parts_.space.records().begin(records_);
}

void SavedSession::load() {
  std::optional<Snapshot> snapshot = load_snapshot(file_);
  if (!snapshot) return;
  snapshot->kept(kept_);
  snapshot_ = std::move(snapshot);
}

const LogPosition* SavedSession::position() const {
  return snapshot_ ? &snapshot_->log : nullptr;
}

void SavedSession::open_files() {
  parts_.record.require(kept_.files);
  parts_.space.records().resume(records_, kept_.records);
}

void SavedSession::adopt() {
  parts_.space.keep(snapshot_->kept);
  parts_.record.keep(snapshot_->kept);
  parts_.record.continue_from(kept_.files);
  parts_.prior.relearn(kept_.prior, file_.string());
  parts_.campaign.adopt(std::move(*snapshot_), file_.string());
  snapshot_.reset();
}

void SavedSession::save(const LogPosition& at) {
  Kept kept{.records = parts_.space.records().flush(sync_),
            .files = parts_.record.extent(sync_),
            .prior = parts_.prior.learned()};
  const auto keep = [&](StrategyState& state) {
    state(kept);
    parts_.space.keep(state);
    parts_.record.keep(state);
    parts_.campaign.keep(state);
  };
  save_snapshot({.log = at,
                 .graph = parts_.campaign.search().graph(),
                 .state = parts_.campaign.search().state(),
                 .links = parts_.campaign.links(),
                 .keep = keep},
                file_, sync_);
}

}  // namespace warpath
