#include "engine/run/events.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

using nlohmann::json;

NodeId node_id(const JsonCursor& cursor) {
  const std::uint64_t id = cursor.unsigned_integer();
  if (id >= index(kNoNode)) cursor.fail("a node number");
  return NodeId{static_cast<std::uint32_t>(id)};
}

Outcome outcome_at(const JsonCursor& cursor) {
  const JsonCursor outcome = cursor.at("outcome");
  return outcome_from_json(outcome.value(), outcome.place());
}

json write(const RunEvent& e) {
  return {{"type", "run"},        {"schema", e.schema}, {"run_id", e.run_id},
          {"name", e.name},       {"runner", e.runner}, {"config", e.config.hex()},
          {"spec", e.spec.hex()}, {"seed", e.seed}};
}

RunEvent read_run(const JsonCursor& c) {
  // Before all else: another version may have other keys.
  const JsonCursor schema = c.at("schema");
  if (schema.unsigned_integer() != kRecordSchema)
    schema.fail("schema " + std::to_string(kRecordSchema) + ": this program reads no other");
  require_only(c, {"type", "schema", "run_id", "name", "runner", "config", "spec", "seed"});
  return {.schema = kRecordSchema,
          .run_id = c.at("run_id").text(),
          .name = c.at("name").text(),
          .runner = c.at("runner").text(),
          .config = hash_from_json(c.at("config")),
          .spec = hash_from_json(c.at("spec")),
          .seed = c.at("seed").unsigned_integer()};
}

json write(const SessionEvent& e) {
  return {{"type", "session"}, {"at", e.at}};
}

SessionEvent read_session(const JsonCursor& c) {
  require_only(c, {"type", "at"});
  return {.at = c.at("at").number()};
}

json write(const BaselineEvent& e) {
  return {{"type", "baseline"},
          {"key", e.key.hex()},
          {"outcome", to_json(e.outcome)},
          {"at", e.at},
          {"seconds", e.seconds}};
}

BaselineEvent read_baseline(const JsonCursor& c) {
  require_only(c, {"type", "key", "outcome", "at", "seconds"});
  return {.key = hash_from_json(c.at("key")),
          .outcome = outcome_at(c),
          .at = c.at("at").number(),
          .seconds = c.at("seconds").number()};
}

json write(const ProposalsEvent& e) {
  json list = json::array();
  for (const Proposal& p : e.proposals) list.push_back(to_json(p));
  return {{"type", "proposals"},
          {"key", e.key.hex()},
          {"proposer", e.proposer},
          {"proposals", std::move(list)}};
}

std::vector<Proposal> proposals_at(const JsonCursor& c) {
  std::vector<Proposal> out;
  const JsonCursor list = c.at("proposals");
  list.require_array();
  for (std::size_t i = 0; i < list.size(); ++i)
    out.push_back(proposal_from_json(list.element(i).value(), list.element(i).place()));
  return out;
}

ProposalsEvent read_proposals(const JsonCursor& c) {
  require_only(c, {"type", "key", "proposer", "proposals"});
  return {.key = hash_from_json(c.at("key")),
          .proposer = c.at("proposer").text(),
          .proposals = proposals_at(c)};
}

json write(const PriorsEvent& e) {
  return {{"type", "priors"}, {"key", e.key.hex()}, {"weights", e.weights}};
}

PriorsEvent read_priors(const JsonCursor& c) {
  require_only(c, {"type", "key", "weights"});
  PriorsEvent e{.key = hash_from_json(c.at("key")), .weights = {}};
  const JsonCursor weights = c.at("weights");
  weights.require_array();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const JsonCursor weight = weights.element(i);
    if (!(weight.number() >= 0)) weight.fail("a weight of at least 0");
    e.weights.push_back(weight.number());
  }
  return e;
}

json write(const ArrivalEvent& e) {
  json out = write(ProposalsEvent{.key = e.key, .proposer = e.proposer, .proposals = e.proposals});
  out["type"] = "arrival";
  out["share"] = e.share;
  out["more"] = e.more;
  return out;
}

ArrivalEvent read_arrival(const JsonCursor& c) {
  require_only(c, {"type", "key", "proposer", "share", "more", "proposals"});
  const JsonCursor share = c.at("share");
  if (!(share.number() >= 0)) share.fail("a share of at least 0");
  return {.key = hash_from_json(c.at("key")),
          .proposer = c.at("proposer").text(),
          .share = share.number(),
          .more = c.at("more").boolean(),
          .proposals = proposals_at(c)};
}

json write(const DispatchEvent& e) {
  json path = json::array();
  for (const NodeId id : e.path) path.push_back(index(id));
  json out{{"type", "dispatch"},          {"seq", e.sequence},
           {"node", index(e.node)},       {"parent", index(e.parent)},
           {"key", e.key.hex()},          {"instance", to_json(e.instance)},
           {"source", e.source},          {"path", std::move(path)},
           {"change", to_json(e.change)}, {"incumbent_ns", number_to_json(e.incumbent_ns)}};
  if (!e.shares.empty()) out["shares"] = e.shares;
  return out;
}

DispatchEvent read_dispatch(const JsonCursor& c) {
  require_only(c, {"type", "seq", "node", "parent", "key", "instance", "source", "path", "change",
                   "incumbent_ns", "shares"});
  const JsonCursor instance = c.at("instance");
  const JsonCursor change = c.at("change");
  const JsonCursor path = c.at("path");
  DispatchEvent e{.sequence = c.at("seq").unsigned_integer(),
                  .node = node_id(c.at("node")),
                  .parent = node_id(c.at("parent")),
                  .key = hash_from_json(c.at("key")),
                  .instance = instance_from_json(instance.value(), instance.place()),
                  .source = c.at("source").text(),
                  .path = {},
                  .change = patch_from_json(change.value(), change.place()),
                  .incumbent_ns = any_number(c.at("incumbent_ns"))};
  path.require_array();
  for (std::size_t i = 0; i < path.size(); ++i) e.path.push_back(node_id(path.element(i)));
  if (const auto shares = c.find("shares")) {
    shares->require_object();
    for (const auto& [source, share] : shares->value().items())
      e.shares.emplace(source, shares->at(source).number());
  }
  return e;
}

json write(const OutcomeEvent& e) {
  return {{"type", "outcome"},
          {"seq", e.sequence},
          {"outcome", to_json(e.outcome)},
          {"at", e.at},
          {"seconds", e.seconds}};
}

OutcomeEvent read_outcome(const JsonCursor& c) {
  require_only(c, {"type", "seq", "outcome", "at", "seconds"});
  return {.sequence = c.at("seq").unsigned_integer(),
          .outcome = outcome_at(c),
          .at = c.at("at").number(),
          .seconds = c.at("seconds").number()};
}

json write(const IdleEvent& e) {
  return {{"type", "idle"}, {"seq", e.sequence}};
}

IdleEvent read_idle(const JsonCursor& c) {
  require_only(c, {"type", "seq"});
  return {.sequence = c.at("seq").unsigned_integer()};
}

json write(const HeatEvent& e) {
  return {{"type", "heat"},
          {"key", e.key.hex()},
          {"node", index(e.node)},
          {"reading", e.reading},
          {"outcome", to_json(e.outcome)},
          {"at", e.at},
          {"seconds", e.seconds}};
}

HeatEvent read_heat(const JsonCursor& c) {
  require_only(c, {"type", "key", "node", "reading", "outcome", "at", "seconds"});
  return {.key = hash_from_json(c.at("key")),
          .node = node_id(c.at("node")),
          .reading = c.at("reading").unsigned_integer(),
          .outcome = outcome_at(c),
          .at = c.at("at").number(),
          .seconds = c.at("seconds").number()};
}

json write(const FinalEvent& e) {
  return {{"type", "final"},
          {"key", e.key.hex()},
          {"node", index(e.node)},
          {"outcome", to_json(e.outcome)},
          {"at", e.at},
          {"seconds", e.seconds}};
}

FinalEvent read_final(const JsonCursor& c) {
  require_only(c, {"type", "key", "node", "outcome", "at", "seconds"});
  return {.key = hash_from_json(c.at("key")),
          .node = node_id(c.at("node")),
          .outcome = outcome_at(c),
          .at = c.at("at").number(),
          .seconds = c.at("seconds").number()};
}

}  // namespace

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string encode(const Event& event) {
  return std::visit([](const auto& e) { return write(e).dump(); }, event);
}

Event decode(std::string_view object, const std::string& place) {
  const json document = parse_json(object, place);
  const JsonCursor cursor(document, place);
  const JsonCursor type = cursor.at("type");
  const std::string word = type.text();
  if (word == "run") return read_run(cursor);
  if (word == "session") return read_session(cursor);
  if (word == "baseline") return read_baseline(cursor);
  if (word == "proposals") return read_proposals(cursor);
  if (word == "priors") return read_priors(cursor);
  if (word == "arrival") return read_arrival(cursor);
  if (word == "dispatch") return read_dispatch(cursor);
  if (word == "outcome") return read_outcome(cursor);
  if (word == "idle") return read_idle(cursor);
  if (word == "heat") return read_heat(cursor);
  if (word == "final") return read_final(cursor);
  type.fail("a kind of event");
}

}  // namespace warpath
