#include "moves/propose/move_script.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "moves/propose/example.h"

namespace warpath {
namespace {

constexpr std::size_t kMostNames = 8;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool agrees(const MoveInstance& instance, const MoveInstance& wanted) {
  if (!wanted.site.empty() && instance.site != wanted.site) return false;
  return std::ranges::all_of(wanted.parameters, [&](const auto& parameter) {
    const auto own = instance.parameters.find(parameter.first);
    return own != instance.parameters.end() && own->second == parameter.second;
  });
}

/// "a, b, c", at most kMostNames of them.
std::string list(const std::set<std::string>& names) {
  std::string out;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == kMostNames) return out + ", ...";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

std::optional<AppliedStep> attempt(const Move& move,
                                   const MoveContext& context,
                                   MoveInstance instance,
                                   std::string& why) {
  std::optional<Variant> variant = move.apply(context, instance, why);
  if (!variant || !satisfies_constraints(context.spec, *variant, why)) return std::nullopt;
  return AppliedStep{std::move(instance), std::move(*variant)};
}

/// Names of `wanted` that neither the instance nor the domain at its site has.
std::set<std::string> unknown_parameters(const Move& move,
                                         const MoveContext& context,
                                         const MoveInstance& instance,
                                         const MoveInstance& wanted) {
  std::set<std::string> known;
  for (const auto& [name, value] : instance.parameters) known.insert(name);
  for (const Tunable& tunable : move.domain(context, instance.site)) known.insert(tunable.name);
  std::set<std::string> out;
  for (const auto& [name, value] : wanted.parameters) {
    if (!known.contains(name))
      out.insert(name + " (there is " + (known.empty() ? "none" : list(known)) + ")");
  }
  return out;
}

/// An instance of the move as its example has it, for one that lists none: with a site and
/// parameters a move gives its reason, without them its usage.
std::optional<MoveInstance> exemplary(const Move& move) {
  for (const EmbeddedExample& embedded : embedded_examples()) {
    if (embedded.move != move.name()) continue;
    const MoveExample example = parse_example(embedded.text, std::string(embedded.move));
    if (!example.given.empty()) return example.step;
    const Variant before = baseline_variant(example.spec);
    const DeviceFacts device = example_device();
    for (MoveInstance& instance :
         move.enumerate({.spec = example.spec, .variant = before, .device = device})) {
      if (agrees(instance, example.step)) return std::move(instance);
    }
    return example.step;
  }
  return std::nullopt;
}

}  // namespace

MoveTable::MoveTable(const MoveRegistry& registry) {
  for (const auto& [name, entry] : registry.entries()) moves_.emplace(name, entry.make());
}

const Move* MoveTable::find(std::string_view name) const {
  const auto it = moves_.find(name);
  return it == moves_.end() ? nullptr : it->second.get();
}

std::vector<std::string> MoveTable::names() const {
  std::vector<std::string> out;
  for (const auto& [name, move] : moves_) out.push_back(name);
  return out;
}

std::vector<MoveInstance> parse_move_script(std::string_view text, std::string_view place) {
  std::vector<MoveInstance> out;
  std::string step;
  bool in_comment = false;
  const auto finish = [&] {
    if (!step.empty())
      out.push_back(MoveInstance::parse(
          step.ends_with("()") ? step.substr(0, step.size() - 2) : step, place));
    step.clear();
  };
  for (const char c : text) {
    if (c == '\n') in_comment = false;
    if (c == '#') in_comment = true;
    if (in_comment) continue;
    if (c == ';' || c == '\n') {
      finish();
    } else if (!is_blank(c)) {
      step += c;
    }
  }
  finish();
  return out;
}

std::optional<AppliedStep> apply_step(const Move& move,
                                      const MoveContext& context,
                                      const MoveInstance& wanted,
                                      std::string& why) {
  const std::vector<MoveInstance> listed = move.enumerate(context);
  std::string first_why;
  for (const MoveInstance& instance : listed) {
    if (!agrees(instance, wanted)) continue;
    if (auto step = attempt(move, context, instance, why)) return step;
    if (first_why.empty()) first_why = why;
  }
  if (!first_why.empty()) return why = first_why, std::nullopt;
  const auto at_site = std::ranges::find_if(
      listed, [&](const MoveInstance& i) { return wanted.site.empty() || i.site == wanted.site; });
  MoveInstance instance{std::string(move.name()), wanted.site, wanted.parameters};
  if (at_site != listed.end()) {
    const std::set<std::string> unknown = unknown_parameters(move, context, *at_site, wanted);
    if (!unknown.empty()) return why = "no parameter " + *unknown.begin(), std::nullopt;
    instance = *at_site;
    for (const auto& [name, value] : wanted.parameters) instance.parameters[name] = value;
  }
  // nothing is listed there: with all its parameters the move says why
  std::string borrowed;  // the example's site, of which a person knows nothing
  if (at_site == listed.end()) {
    if (const auto shown = exemplary(move); shown && listed.empty()) {
      if (instance.site.empty()) instance.site = borrowed = shown->site;
      // at another site the move may have other parameters
      if (instance.site == shown->site) {
        for (const auto& [name, value] : shown->parameters)
          instance.parameters.try_emplace(name, value);
      }
    }
    for (const Tunable& parameter : move.domain(context, instance.site))
      instance.parameters.try_emplace(parameter.name, parameter.default_value);
  }
  auto step = attempt(move, context, std::move(instance), why);
  if (!step && !borrowed.empty()) {
    const std::size_t at = why.find(" at " + borrowed);
    if (at != std::string::npos) why.erase(at, 4 + borrowed.size());
  }
  if (!step && at_site == listed.end() && !listed.empty()) {
    std::set<std::string> sites;
    for (const MoveInstance& i : listed) sites.insert(i.site);
    why += " (it applies at " + list(sites) + ")";
  }
  return step;
}

}  // namespace warpath
