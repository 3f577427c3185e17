#include "moves/propose/file_proposer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/variant_io.h"
#include "moves/patch/patch.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kBaseline = "baseline";

}  // namespace

ForeignProposal foreign_proposal(std::string_view line,
                                 const std::string& place,
                                 const std::filesystem::path& folder) {
  const json value = parse_json(line, place);
  const JsonCursor c(value, place + ":");
  require_only(c, {"at", "move", "site", "parameters", "source", "source_file", "blocks", "launch",
                   "gain", "weight", "why"});
  ForeignProposal out;
  out.place = place;
  if (const auto at = c.find("at")) out.at = at->text();
  if (out.at != kBaseline && !Hash128::parse(out.at))
    c.at("at").fail("baseline or the whole key of a node");
  Proposal& p = out.proposal;
  p.instance.move = c.at("move").text();
  if (const auto site = c.find("site")) p.instance.site = site->text();
  if (const auto parameters = c.find("parameters")) {
    parameters->require_object();
    for (const auto& [name, unused] : parameters->value().items())
      p.instance.parameters[name] = parameters->at(name).integer();
  }
  for (const char* key : {"source", "source_file", "blocks"}) {
    const auto text = c.find(key);
    if (!text) continue;
    if (!out.text.empty()) text->fail("one of source, source_file and blocks");
    out.text = key == std::string_view("source_file")
                   ? read_text_file((folder / text->text()).string(), kMaxPatchBytes, text->place())
                   : any_text(*text);
    if (out.text.empty()) text->fail("a text");
  }
  if (const auto launch = c.find("launch")) {
    static_cast<void>(launch_from_json(launch->value(), launch->place()));
    out.launch = launch->value().dump();
  }
  if (const auto gain = c.find("gain")) {
    if (!(gain->number() > 0)) gain->fail("a speed-up above 0");
    p.predicted_log_gain = std::log(gain->number());
  }
  if (const auto weight = c.find("weight")) {
    p.weight = weight->number();
    if (!(p.weight > 0)) weight->fail("a number above 0");
  }
  if (const auto why = c.find("why")) p.why = why->text();
  return out;
}

std::vector<ForeignProposal> read_proposals(const std::string& file) {
  const std::string text = read_text_file(file, kMaxJsonBytes, file);
  std::vector<ForeignProposal> out;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    ++number;
    at = end + 1;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    out.push_back(foreign_proposal(line, file + ":" + std::to_string(number),
                                   std::filesystem::path(file).parent_path()));
  }
  if (out.empty()) throw bad_input(file, "", "a proposal a line");
  return out;
}

namespace {

/// What `text` and `launch` make of the parent.
Variant written_out(const ForeignProposal& foreign, const Variant& parent) {
  Variant out = parent;
  if (!foreign.text.empty()) {
    std::string why;
    auto source = apply_patch(parent.source, foreign.text, why);
    if (!source)
      throw bad_input(foreign.place, foreign.proposal.instance.text(),
                      "a text that applies: " + why);
    out.source = std::move(*source);
  }
  if (!foreign.launch.empty())
    out.launch = launch_from_json(parse_json(foreign.launch, foreign.place), foreign.place);
  return out;
}

}  // namespace

MadeProposal made_for(const ForeignProposal& foreign,
                      const MoveContext& at,
                      const MoveTable& moves) {
  MadeProposal out{.proposal = foreign.proposal, .variant = {}};
  MoveInstance& instance = out.proposal.instance;
  std::string why;
  if (!foreign.text.empty() || !foreign.launch.empty()) {
    out.variant = written_out(foreign, at.variant);
    if (!satisfies_constraints(at.spec, out.variant, why))
      throw bad_input(foreign.place, instance.text(), "what the constraints allow: " + why);
    instance.parameters.insert_or_assign(std::string(kTextParameter), text_parameter(out.variant));
    out.proposal.variant = out.variant;
  } else {
    const Move* const move = moves.find(instance.move);
    if (move == nullptr)
      throw bad_input(foreign.place, instance.move,
                      "a registered move (`warpath moves`), or a source");
    auto step = apply_step(*move, at, instance, why);
    if (!step) throw bad_input(foreign.place, instance.text(), "a move that applies: " + why);
    instance = std::move(step->instance);
    out.variant = std::move(step->variant);
  }
  if (variant_key(out.variant) == variant_key(at.variant))
    throw bad_input(foreign.place, instance.text(), "a change");
  return out;
}

FileProposer::FileProposer(std::string name,
                           std::vector<ForeignProposal> proposals,
                           const Hash128& root,
                           const MoveTable& moves)
    : name_(std::move(name)), moves_(moves) {
  for (ForeignProposal& p : proposals) {
    const Hash128 key = p.at == kBaseline ? root : *Hash128::parse(p.at);
    proposals_.emplace(key, std::move(p));
  }
}

std::vector<Hash128> FileProposer::wishes() const {
  std::vector<Hash128> out;
  for (const auto& [key, proposal] : proposals_) out.push_back(key);
  return out;
}

void FileProposer::offer(const Offer& offer) {
  const auto [begin, end] = proposals_.equal_range(offer.context.node_key);
  if (begin == end) return;
  Arrival arrival{.key = offer.context.node_key, .share = 1, .proposals = {}};
  for (auto it = begin; it != end; ++it) {
    try {
      arrival.proposals.push_back(made_for(it->second, offer.context.at, moves_).proposal);
    } catch (const Error& e) {
      refusals_.emplace_back(e.what());
    }
  }
  proposals_.erase(begin, end);
  ready_.push_back(std::move(arrival));
}

}  // namespace warpath
