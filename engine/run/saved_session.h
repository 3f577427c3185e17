#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/log/event_log.h"
#include "engine/plugin/prior.h"
#include "engine/run/campaign.h"
#include "engine/run/kernel_space.h"
#include "engine/run/record.h"
#include "engine/run/snapshot.h"

namespace warpath {

/// The parts of a session that a snapshot holds. They are fresh when it is read.
struct SavedParts {
  KernelSpace& space;
  Campaign& campaign;
  RunRecord& record;
  Prior& prior;
};

/// search_state.json of a run folder and the files beside it: the whole state of a session, so that
/// a resume repeats only what followed. Not thread-safe.
class SavedSession {
 public:
  /// References must outlive it. `sync`: what is written is on the disk on return.
  SavedSession(const SavedParts& parts, const RunFolder& folder, bool sync);

  /// A run begins, or its whole log is replayed: the parts begin with nothing.
  void begin();
  /// Reads the snapshot, if there is one; throws Error(bad_input) if it cannot be used.
  void load();
  /// Where the snapshot stands; null: none was loaded.
  [[nodiscard]] const LogPosition* position() const;
  /// Throws Error(bad_input), and nothing has changed, if a file beside it does not fit.
  void open_files();
  /// Then brings the parts to its state. Throws Error(bad_input) if it contradicts itself.
  void adopt();
  void forget() { snapshot_.reset(); }

  /// `at`: the log's end, which is synced.
  void save(const LogPosition& at);

 private:
  /// What Snapshot::kept reads first; the state of the parts follows.
  struct Kept {
    RecordStore::Extent records;
    RunRecord::Extent files;
    std::string prior;
    void keep(StrategyState& state) { state(records.bytes, records.sum, files, prior); }
  };

  SavedParts parts_;
  std::filesystem::path file_, records_;
  bool sync_;
  std::optional<Snapshot> snapshot_;
  Kept kept_;
};

}  // namespace warpath
