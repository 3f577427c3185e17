#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/background.h"
#include "engine/log/run_folder.h"
#include "engine/run/campaign.h"
#include "engine/run/trace.h"

namespace warpath {

/// The file of a variant's kernel, by its place in kernels_of(): "source.cu", "source_1.cu".
[[nodiscard]] std::string version_file(std::string_view stem, std::size_t version);
/// Everything of a variant except its sources, one item per line, so that a diff shows it.
[[nodiscard]] std::string terms_text(const Variant& variant);
/// Unified diff of the sources, a part for each kernel; a stem is that of a file: "source".
[[nodiscard]] std::string source_diff(const Variant& parent,
                                      const Variant& child,
                                      std::string_view parent_stem,
                                      std::string_view child_stem);
/// Unified diff of terms and sources; empty if the variants are equal.
[[nodiscard]] std::string variant_diff(const Variant& parent, const Variant& child);

/// The files of a run that follow from its events: ledger.csv, trace.md, baseline/, variants/,
/// best. Receives every event, live or replayed, but for those before a snapshot. Nothing is
/// written before publish(), which brings the files up to date with the events so far, whatever a
/// crash left; from then on every event is written at once, folders a little later. Not
/// thread-safe.
class RunRecord {
 public:
  /// References must outlive the record.
  RunRecord(const RunFolder& folder,
            const Campaign& campaign,
            RecordNames names,
            const Options& options);

  // Each is called after the campaign has applied (or restored) the event.
  void add(const SessionEvent& event);
  void add(const BaselineEvent& event);
  void add(const DispatchEvent& event);
  void add(const OutcomeEvent& event, const Campaign::Applied& applied);
  void add(const FinalEvent& event, const Finals::Applied& applied);
  void add(const HeatEvent& event, const Finals::Applied& applied);

  void publish();
  /// Returns when the folders of variants are written; a thread of their own writes them, since the
  /// disk is slow. Throws Error(environment) if one could not be.
  void finish() { background_.finish(); }

  /// How much of trace.md and ledger.csv is of the events so far.
  struct Extent {
    std::uint64_t trace_bytes = 0, ledger_bytes = 0;
    void keep(StrategyState& state) { state(trace_bytes, ledger_bytes); }
  };
  /// Once published; what is in the files then is on the disk, if `sync`.
  [[nodiscard]] Extent extent(bool sync) const;
  /// Throws Error(bad_input) "FILE: ..." if a file has less.
  void require(const Extent& extent) const;
  /// The state beside the files, for a snapshot. One that was read goes on in files that contain
  /// `extent`.
  void keep(StrategyState& state);
  void continue_from(const Extent& extent);

 private:
  void write(const std::string& trace, const std::string& ledger);
  /// `sequence`: its text in the ledger.
  template <class E>
  void add_final(const E& event, const std::string& sequence, const Finals::Applied& applied);
  /// "baseline" or "variants/<key>".
  [[nodiscard]] std::string folder_of(NodeId node) const;
  /// Its folder, unless it is there.
  void write_node(NodeId node);
  /// How many variants have folders beside the best ones: the first ones evaluated.
  [[nodiscard]] std::size_t most_folders() const;
  void publish_file(const char* name, std::uint64_t kept, const std::string& text) const;
  void point_best();

  const RunFolder& folder_;
  const Campaign& campaign_;
  RecordNames names_;
  const Options& options_;
  bool published_ = false;
  std::string trace_;   // until published
  std::string ledger_;  // until published
  Extent before_;       // of the files, before these texts
  Extent extent_;
  int session_ = 0;
  NodeId pointed_ = kNoNode;                            // by the link `best`
  std::map<std::uint64_t, std::vector<NodeId>> paths_;  // of dispatches in flight
  Background background_;
};

}  // namespace warpath
