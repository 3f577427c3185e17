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
  StrategyState state(snapshot->kept, 0, file_.string());
  state(kept_);
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
  const std::string bytes = std::move(snapshot_->kept);
  const auto nodes = static_cast<std::uint32_t>(snapshot_->arenas.nodes.size());
  StrategyState state(bytes, nodes, file_.string());
  state(kept_);
  parts_.space.keep(state);
  parts_.record.keep(state);
  parts_.record.continue_from(kept_.files);
  parts_.prior.relearn(kept_.prior, file_.string());
  parts_.campaign.adopt(std::move(*snapshot_), state, file_.string());
  state.require_end();
  snapshot_.reset();
}

void SavedSession::save(const LogPosition& at) {
  Kept kept{.records = parts_.space.records().flush(sync_),
            .files = parts_.record.extent(sync_),
            .prior = parts_.prior.learned()};
  StrategyState state;
  state(kept);
  parts_.space.keep(state);
  parts_.record.keep(state);
  parts_.campaign.keep(state);
  save_snapshot({.log = at,
                 .arenas = parts_.campaign.search().graph().arenas(),
                 .state = parts_.campaign.search().state(),
                 .links = parts_.campaign.links(),
                 .kept = state.take()},
                file_, sync_);
}

}  // namespace warpath
