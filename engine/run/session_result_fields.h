#pragma once

// The fields of best_summary.json that a session writes. Include only from .cc files.

#include <string>

#include "engine/plugin/outcome_fields.h"
#include "engine/run/session_result.h"

namespace warpath {

template <>
struct Codec<Interval>
    : RowOf<Interval, Column<&Interval::low, AnyNumber>, Column<&Interval::high, AnyNumber>> {};

template <>
struct Description<Dismissal>
    : Record<Kept<"key", &Dismissal::key>,
             Kept<"move", &Dismissal::move>,
             Kept<"status", &Dismissal::status>,
             Kept<"gate", &Dismissal::gate>,
             Kept<"detail", &Dismissal::detail>,
             Kept<"searched_speedup", &Dismissal::searched_speedup, AnyNumber>> {};

namespace session_result_fields {

/// Null unless something could be measured.
template <RecordKey key, auto member, class As>
struct IfMeasured {
  struct Value {
    static void read(const JsonCursor& at, auto& out) { As::read(at, out.*member); }
    static nlohmann::json write(const auto& result) {
      return result.measured ? As::write(result.*member) : nlohmann::json();
    }
  };
  template <class V>
  static void field(V& v) {
    v.template custom<Value>({.key = key.text, .help = "", .required = kWrites<V>});
  }
};

/// {status: number}
struct Counts {
  static void read(const JsonCursor& at, StatusCounts& out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = at.at(kStatusNames[i]).unsigned_integer();
  }
  static nlohmann::json write(const StatusCounts& counts) {
    auto out = nlohmann::json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) out[std::string(kStatusNames[i])] = counts[i];
    return out;
  }
};

/// {passed, summary, gates}: the first two follow from the gates.
struct Judged {
  static void read(const JsonCursor& at, Verdict& out) {
    Codec<Verdict>::read(at.at("gates"), out);
  }
  static nlohmann::json write(const Verdict& verdict) {
    return {{"passed", verdict.passed()},
            {"summary", verdict.summary()},
            {"gates", Codec<Verdict>::write(verdict)}};
  }
};

}  // namespace session_result_fields

/// The fields of a SessionResult, or of a type derived from it with `More` of its own. Speed-up,
/// time and interval are null where nothing could be measured.
template <class... More>
using SessionResultRecord =
    Record<Kept<"name", &SessionResult::name>,
           Kept<"runner", &SessionResult::runner>,
           Kept<"device", &SessionResult::device>,
           Kept<"baseline_ok", &SessionResult::baseline_ok>,
           Kept<"baseline_ms", &SessionResult::baseline_ms, AnyNumber>,
           session_result_fields::IfMeasured<"best_ms", &SessionResult::best_ms, AnyNumber>,
           session_result_fields::IfMeasured<"speedup", &SessionResult::speedup, AnyNumber>,
           session_result_fields::IfMeasured<"speedup_interval",
                                             &SessionResult::speedup_interval,
                                             Codec<std::optional<Interval>>>,
           Kept<"searched_speedup", &SessionResult::searched_speedup, AnyNumber>,
           Kept<"finalists", &SessionResult::finalists>,
           Kept<"measured", &SessionResult::measured>,
           Kept<"dismissed", &SessionResult::dismissed>,
           Kept<"left_out", &SessionResult::left_out>,
           Kept<"improved", &SessionResult::improved>,
           Kept<"best_key", &SessionResult::best_key>,
           Kept<"builds", &SessionResult::builds>,
           Kept<"by_status", &SessionResult::by_status, session_result_fields::Counts>,
           Kept<"verdict", &SessionResult::verdict, session_result_fields::Judged>,
           Kept<"fingerprint", &SessionResult::fingerprint>,
           Kept<"seed", &SessionResult::seed>,
           Kept<"seconds", &SessionResult::seconds, AnyNumber>,
           Kept<"stop_reason", &SessionResult::stop_reason>,
           Kept<"interrupted", &SessionResult::interrupted>,
           More...>;

template <>
struct Description<SessionResult> : SessionResultRecord<> {};

}  // namespace warpath
