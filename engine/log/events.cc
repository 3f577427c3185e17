#include "engine/log/events.h"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/variant_fields.h"

namespace warpath {
namespace {
using nlohmann::json;
}  // namespace

namespace event_fields {

/// Another version may have other keys: it is read before all else.
struct Schema {
  static void read(const JsonCursor& cursor, std::uint64_t& out) {
    out = cursor.unsigned_integer();
    if (out != kRecordSchema)
      cursor.fail("schema " + std::to_string(kRecordSchema) + ": this program reads no other");
  }
  static json write(std::uint64_t value) { return value; }
};

}  // namespace event_fields

template <>
struct Codec<NodeId> {
  static void read(const JsonCursor& cursor, NodeId& out) {
    const std::uint64_t id = cursor.unsigned_integer();
    if (id >= index(kNoNode)) cursor.fail("a node number");
    out = NodeId{static_cast<std::uint32_t>(id)};
  }
  static json write(NodeId id) { return index(id); }
};

template <>
struct Description<RunEvent> : Record<Kept<"schema", &RunEvent::schema, event_fields::Schema>,
                                      Kept<"run_id", &RunEvent::run_id>,
                                      Kept<"name", &RunEvent::name>,
                                      Kept<"runner", &RunEvent::runner>,
                                      Kept<"config", &RunEvent::config>,
                                      Kept<"spec", &RunEvent::spec>,
                                      Kept<"seed", &RunEvent::seed>> {};
template <>
struct Description<SessionEvent> : Record<Kept<"at", &SessionEvent::at>> {};
template <>
struct Description<BaselineEvent> : Record<Kept<"key", &BaselineEvent::key>,
                                           Kept<"outcome", &BaselineEvent::outcome>,
                                           Kept<"at", &BaselineEvent::at>,
                                           Kept<"seconds", &BaselineEvent::seconds>> {};
template <>
struct Description<ProposalsEvent> : Record<Kept<"key", &ProposalsEvent::key>,
                                            Kept<"proposer", &ProposalsEvent::proposer>,
                                            Kept<"proposals", &ProposalsEvent::proposals>> {};
template <>
struct Description<PriorsEvent>
    : Record<Kept<"key", &PriorsEvent::key>,
             Kept<"weights", &PriorsEvent::weights, Each<NotNegative>>> {};
template <>
struct Description<ArrivalEvent> : Record<Kept<"key", &ArrivalEvent::key>,
                                          Kept<"proposer", &ArrivalEvent::proposer>,
                                          Kept<"share", &ArrivalEvent::share, NotNegative>,
                                          Kept<"more", &ArrivalEvent::more>,
                                          Kept<"proposals", &ArrivalEvent::proposals>> {};
template <>
struct Description<DispatchEvent>
    : Record<Kept<"seq", &DispatchEvent::sequence>,
             Kept<"node", &DispatchEvent::node>,
             Kept<"parent", &DispatchEvent::parent>,
             Kept<"key", &DispatchEvent::key>,
             Kept<"instance", &DispatchEvent::instance>,
             Kept<"source", &DispatchEvent::source>,
             Kept<"path", &DispatchEvent::path>,
             Kept<"change", &DispatchEvent::change>,
             Kept<"incumbent_ns", &DispatchEvent::incumbent_ns, AnyNumber>,
             Sparse<"shares", &DispatchEvent::shares>> {};
template <>
struct Description<OutcomeEvent> : Record<Kept<"seq", &OutcomeEvent::sequence>,
                                          Kept<"outcome", &OutcomeEvent::outcome>,
                                          Kept<"at", &OutcomeEvent::at>,
                                          Kept<"seconds", &OutcomeEvent::seconds>> {};
template <>
struct Description<IdleEvent> : Record<Kept<"seq", &IdleEvent::sequence>> {};
template <>
struct Description<HeatEvent> : Record<Kept<"key", &HeatEvent::key>,
                                       Kept<"node", &HeatEvent::node>,
                                       Kept<"reading", &HeatEvent::reading>,
                                       Kept<"outcome", &HeatEvent::outcome>,
                                       Kept<"at", &HeatEvent::at>,
                                       Kept<"seconds", &HeatEvent::seconds>> {};
template <>
struct Description<FinalEvent> : Record<Kept<"key", &FinalEvent::key>,
                                        Kept<"node", &FinalEvent::node>,
                                        Kept<"outcome", &FinalEvent::outcome>,
                                        Kept<"at", &FinalEvent::at>,
                                        Kept<"seconds", &FinalEvent::seconds>> {};

namespace {

/// The word "type" of each, in the order of Event.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kTypes{
    "run",      "session", "baseline", "proposals", "priors", "arrival",
    "dispatch", "outcome", "idle",     "heat",      "final"};

template <std::size_t... I>
bool read_as(std::string_view type,
             const JsonCursor& cursor,
             Event& out,
             std::index_sequence<I...>) {
  const auto read = [&]<class E>(E& event) { return Codec<E>::read(cursor, event), true; };
  return ((type == kTypes[I] && read(out.emplace<I>())) || ...);
}

}  // namespace

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string encode(const Event& event) {
  json out = std::visit([]<class E>(const E& e) { return Codec<E>::write(e); }, event);
  out["type"] = kTypes[event.index()];
  return out.dump();
}

Event decode(std::string_view object, const std::string& place) {
  json document = parse_json(object, place);
  const JsonCursor cursor(document, place);
  const std::string type = cursor.at("type").text();
  const json word = document["type"];
  document.erase("type");
  Event out;
  if (!read_as(type, cursor, out, std::make_index_sequence<std::variant_size_v<Event>>{}))
    JsonCursor(word, place, "/type").fail("a kind of event");
  return out;
}

}  // namespace warpath
