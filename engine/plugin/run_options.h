#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

struct RunOptions {
  static constexpr std::string_view kGroup = "run";
  static constexpr OptionsOf kOf = OptionsOf::search;
  static const OptionGroupKind& kind();

  std::int64_t budget_builds = 100;
  std::uint64_t seed = 1;
  double min_speedup = 0.98;
  double min_gain = 0.02;
  int finalists = 3;
  int final_candidates = 0;
  std::string prior = "drafted";
  std::string without_moves = "";
  bool operator==(const RunOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = RunOptions;
    v(&O::budget_builds,
      OptionText{"budget_builds", "evaluations of one kernel, baseline excluded", "",
                 "budget-builds"}
          .shaping_nothing(),
      Range<std::int64_t>{1, 1'000'000'000});
    v(&O::seed, OptionText{"seed", "root of every random stream", "", "seed"}, AnyValue{});
    v(&O::min_speedup,
      OptionText{"min_speedup", "floor on every guard workload's baseline/candidate",
                 "per-shape floor, docs/search.md"},
      Range{0.0, 100.0});
    v(&O::min_gain,
      OptionText{"min_gain",
                 "least gain over the baseline that counts as improved (exit code 0), if its 99 % "
                 "interval is above 1 too",
                 "2 %: above timing noise", "min-gain"},
      Range{0.0, 100.0});
    v(&O::finalists,
      OptionText{"finalists",
                 "the best of the search that are judged and timed again at the end, for the "
                 "report; 0: none",
                 "docs/run-folder.md", "finalists"}
          .shaping_nothing(),
      Range{0, 1000});
    v(&O::final_candidates,
      OptionText{"final_candidates",
                 "so many of the best are measured again, by sequential halving, to say who the "
                 "finalists are; 0: the search says",
                 "docs/search.md", "final-candidates"}
          .shaping_nothing(),
      Range{0, 1000});
    v(&O::prior, OptionText{"prior", "registered prior over proposals", "", "prior"}, AnyValue{});
    v(&O::without_moves,
      OptionText{"without_moves",
                 "moves that rules do not propose, separated by commas: what are they worth?",
                 "docs/studies.md"},
      AnyValue{});
  }
};
static_assert(kFullyDescribed<RunOptions>);

struct TuneOptions {
  static constexpr std::string_view kGroup = "tune";
  static constexpr OptionsOf kOf = OptionsOf::search;
  static const OptionGroupKind& kind();

  int builds = 6;
  double share = 0.25;
  double reach = 0.7;
  double margin = 0.05;
  int patience = 3;
  int polish_after = 20;
  double polish_share = 0.05;
  bool operator==(const TuneOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = TuneOptions;
    v(&O::builds,
      OptionText{"builds",
                 "most evaluations that tune the parameters of one move at one site of one node; "
                 "0: no inner tuning",
                 "docs/search.md", "tune-builds"},
      Range{0, 10000});
    v(&O::share,
      OptionText{
          "share",
          "most of all evaluations that may be inner tuning, as long as the search has others",
          "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::reach,
      OptionText{
          "reach",
          "moves are tuned whose first result is at most this log ratio behind the best so far",
          "a factor of 2"},
      Range{0.0, 100.0});
    v(&O::margin,
      OptionText{
          "margin",
          "log ratio behind its site's best from which a value ends the tuning in its direction",
          "above timing noise"},
      Range{0.0, 100.0});
    v(&O::patience,
      OptionText{"patience",
                 "a site is tuned no further after so many results in a row without a better one",
                 "docs/search.md"},
      Range{1, 10000});
    v(&O::polish_after,
      OptionText{"polish_after",
                 "the best variant is polished, by options of the compiler, after so many results "
                 "in a row without a better one",
                 "docs/search.md"},
      Range{1, 1'000'000});
    v(&O::polish_share,
      OptionText{"polish_share",
                 "most of all evaluations that may polish, as long as the search has others; 0: no "
                 "polishing",
                 "docs/search.md"},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<TuneOptions>);

struct RecordOptions {
  static constexpr std::string_view kGroup = "record";
  static constexpr OptionsOf kOf = OptionsOf::record;
  static const OptionGroupKind& kind();

  std::string sync = "always";
  std::int64_t snapshot_every = 500;
  bool keep_variants = true;
  std::int64_t most_variants = 1000;
  std::int64_t segment_kib = 16384;
  bool memory = true;
  std::string evaluations = "";
  std::string evaluations_mode = "replay-or-live";
  bool operator==(const RecordOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = RecordOptions;
    v(&O::sync,
      OptionText{"sync",
                 "events.jsonl reaches the disk: always (each outcome), batch (each second), never",
                 ""},
      OneOf{"always", "batch", "never"});
    v(&O::snapshot_every, OptionText{"snapshot_every", "outcomes between snapshots", ""},
      Range<std::int64_t>{1, 1'000'000'000});
    v(&O::keep_variants,
      OptionText{"keep_variants", "write a folder a variant; the log alone suffices to resume", ""},
      AnyValue{});
    v(&O::most_variants,
      OptionText{"most_variants",
                 "keep_variants: so many folders; later variants are in the log alone, but for the "
                 "best",
                 "docs/run-folder.md"},
      Range<std::int64_t>{0, 1'000'000'000});
    v(&O::segment_kib,
      OptionText{"segment_kib", "events.jsonl of this size is compressed, and a new one begun",
                 "docs/run-folder.md"},
      Range<std::int64_t>{1, 1'000'000'000});
    v(&O::memory,
      OptionText{"memory",
                 "add what the run tried to OUTDIR/memory.jsonl and tactic_graph.json when it ends",
                 "docs/priors.md"},
      AnyValue{});
    v(&O::evaluations,
      OptionText{"evaluations", "file of recorded evaluations; empty: none", "docs/llm.md",
                 "evaluations"},
      AnyValue{});
    v(&O::evaluations_mode,
      OptionText{"evaluations_mode",
                 "record, replay (nothing is evaluated; an unknown evaluation ends the run) or "
                 "replay-or-live",
                 "docs/llm.md", "evaluations-mode"},
      OneOf{"record", "replay", "replay-or-live"});
  }
};
static_assert(kFullyDescribed<RecordOptions>);

}  // namespace warpath
