#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// External proposals: by a language model, a file, a person. No option affects the replay of a
/// log, which contains the answers.
struct LlmOptions {
  static constexpr std::string_view kGroup = "llm";
  static constexpr OptionsOf kOf = OptionsOf::proposals;
  static const OptionGroupKind& kind();

  std::string model = "";
  std::string base_url = "";
  std::string profile = "";
  std::string key_env = "";
  std::string key_file = "";
  std::string cassette = "";
  std::string cassette_mode = "replay-or-live";
  int in_flight = 4;
  std::int64_t calls = 200;
  std::int64_t input_tokens = 4'000'000;
  std::int64_t output_tokens = 1'000'000;
  double money = 5;
  double seconds = 0;
  bool unpriced = false;
  double share = 0.5;
  double reach = 0.7;
  int moves = 4;
  int by_hand = 2;
  int repairs = 3;
  int offered = 60;
  bool operator==(const LlmOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = LlmOptions;
    v(&O::model,
      OptionText{"model", "language model that proposes moves; empty: none", "", "llm-model"},
      AnyValue{});
    v(&O::base_url,
      OptionText{
          "base_url",
          "of its server; empty: OPENAI_BASE_URL where the profile uses it, else the profile's", "",
          "llm-base-url"},
      AnyValue{});
    v(&O::profile,
      OptionText{
          "profile",
          "name of a provider (docs/llm.md) or a JSON file that describes one; empty: openai", "",
          "llm-profile"},
      AnyValue{});
    v(&O::key_env,
      OptionText{"key_env",
                 "name of the environment variable that holds the key; empty: the profile's", "",
                 "llm-key-env"},
      AnyValue{});
    v(&O::key_file,
      OptionText{"key_file", "file (mode 600) that holds the key, where the variable is not set",
                 "", "llm-key-file"},
      AnyValue{});
    v(&O::cassette,
      OptionText{"cassette", "file of recorded calls; empty: llm.jsonl in the run folder", "",
                 "llm-cassette"},
      AnyValue{});
    v(&O::cassette_mode,
      OptionText{"cassette_mode",
                 "live, record, replay (an unknown call ends the run) or replay-or-live",
                 "docs/llm.md", "llm-cassette-mode"},
      OneOf{"live", "record", "replay", "replay-or-live"});
    v(&O::in_flight, OptionText{"in_flight", "most requests at once", "", "llm-in-flight"},
      Range{1, 256});
    v(&O::calls,
      OptionText{"calls", "most requests that are sent, retries included", "", "llm-calls"},
      Range<std::int64_t>{0, 1'000'000'000});
    v(&O::input_tokens,
      OptionText{"input_tokens", "most tokens that are sent", "", "llm-input-tokens"},
      Range<std::int64_t>{0, 1'000'000'000'000});
    v(&O::output_tokens,
      OptionText{"output_tokens", "most tokens that are answered, reasoning included", "",
                 "llm-output-tokens"},
      Range<std::int64_t>{0, 1'000'000'000'000});
    v(&O::money,
      OptionText{"money", "most that may be spent, in the profile's currency", "", "llm-money"},
      Range{0.0, 1e9});
    v(&O::seconds,
      OptionText{"seconds", "wall seconds of a session after which nothing is asked; 0: no limit",
                 "", "llm-seconds"},
      Range{0.0, 1e9});
    v(&O::unpriced,
      OptionText{"unpriced",
                 "ask although the profile has no prices: the limit on money has no effect", "",
                 "llm-unpriced"},
      AnyValue{});
    v(&O::share,
      OptionText{
          "share",
          "most of all evaluations that its proposals may take, as long as the search has others",
          "docs/llm.md"},
      Range{0.0, 1.0});
    v(&O::reach,
      OptionText{"reach",
                 "nodes are asked about that are at most this log ratio behind the best so far",
                 "a factor of 2"},
      Range{0.0, 100.0});
    v(&O::moves, OptionText{"moves", "most proposals of one answer", "docs/llm.md"}, Range{1, 64});
    v(&O::by_hand,
      OptionText{"by_hand", "most of them that are written out as source", "docs/llm.md"},
      Range{0, 64});
    v(&O::repairs,
      OptionText{"repairs", "most further attempts at a source that failed, by the same move",
                 "docs/llm.md"},
      Range{0, 10});
    v(&O::offered, OptionText{"offered", "most legal moves that a prompt lists", "docs/llm.md"},
      Range{1, 1000});
  }
};
static_assert(kFullyDescribed<LlmOptions>);

}  // namespace warpath
