#include "priors/evidence/signatures.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "priors/evidence/embedded.h"

namespace warpath {
namespace {

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t dot = text.find('.');
    out.emplace_back(text.substr(0, dot));
    text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  }
  return out;
}

bool fits(const std::string& pattern, const std::string& part) {
  return ::fnmatch(pattern.c_str(), part.c_str(), 0) == 0;
}

std::vector<OpcodePattern> patterns(const std::optional<JsonCursor>& view) {
  std::vector<OpcodePattern> out;
  for (std::size_t i = 0; view && i < view->size(); ++i)
    out.emplace_back(view->element(i).text(), view->element(i).place());
  return out;
}

std::vector<std::string> texts(const std::optional<JsonCursor>& view) {
  std::vector<std::string> out;
  for (std::size_t i = 0; view && i < view->size(); ++i) out.push_back(view->element(i).text());
  return out;
}

std::string text_or(const JsonCursor& view, std::string_view key) {
  const auto found = view.find(key);
  return found ? found->text() : "";
}

/// Counts of a feature: in all, and within loops.
struct Count {
  double all = 0, in_loops = 0;
};

Count count(const OpcodeCounts& code, const std::vector<OpcodePattern>& patterns) {
  Count out;
  for (const auto& [opcode, depths] : code) {
    if (std::ranges::none_of(patterns, [&](const OpcodePattern& p) { return p.matches(opcode); }))
      continue;
    for (std::size_t depth = 0; depth < depths.size(); ++depth) {
      out.all += static_cast<double>(depths[depth]);
      if (depth > 0) out.in_loops += static_cast<double>(depths[depth]);
    }
  }
  return out;
}

FeatureReading read(const CodeFeature& feature, const CodeCounts& parent, const CodeCounts& child) {
  const bool machine = !feature.machine.empty() && !parent.tool.empty() && !child.tool.empty();
  const auto counted = [&](const CodeCounts& code) {
    return machine ? count(code.machine, feature.machine) : count(code.ptx, feature.ptx);
  };
  const Count before = counted(parent), after = counted(child);
  return {.feature = feature.id,
          .form = machine ? "machine" : "ptx",
          .before = before.all,
          .after = after.all,
          .before_in_loops = before.in_loops,
          .after_in_loops = after.in_loops};
}

bool grows(const FeatureReading& r) {
  return r.after > r.before || r.after_in_loops > r.before_in_loops;
}
bool shrinks(const FeatureReading& r) {
  return r.after < r.before || r.after_in_loops < r.before_in_loops;
}

std::string reading_text(const FeatureReading& r) {
  std::string out = r.feature + " " + number_text(r.before) + " to " + number_text(r.after);
  if (r.before == r.after && r.before_in_loops != r.after_in_loops)
    out += format(" (in loops %g to %g)", r.before_in_loops, r.after_in_loops);
  return out;
}

std::map<std::string, std::pair<std::int64_t, std::int64_t>> difference(const OpcodeCounts& before,
                                                                        const OpcodeCounts& after) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> out;
  const auto sum = [](const std::vector<std::int64_t>& depths) {
    return std::accumulate(depths.begin(), depths.end(), std::int64_t{0});
  };
  for (const auto& [opcode, depths] : before) out[opcode].first = sum(depths);
  for (const auto& [opcode, depths] : after) out[opcode].second = sum(depths);
  std::erase_if(out, [](const auto& entry) { return entry.second.first == entry.second.second; });
  return out;
}

}  // namespace

OpcodePattern::OpcodePattern(std::string_view text, std::string_view place) {
  std::vector<std::string> parts = parts_of(text);
  if (parts.empty() || parts.front().empty() || parts.front().front() == '!')
    throw bad_input(place, text, "OPCODE.MODIFIER.!MODIFIER");
  opcode_ = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i] == "!")
      throw bad_input(place, text, "OPCODE.MODIFIER.!MODIFIER");
    if (parts[i].front() == '!') {
      without_.push_back(parts[i].substr(1));
    } else {
      with_.push_back(std::move(parts[i]));
    }
  }
}

bool OpcodePattern::matches(std::string_view opcode) const {
  const std::vector<std::string> parts = parts_of(opcode);
  if (parts.empty() || !fits(opcode_, parts.front())) return false;
  const auto has = [&](const std::string& pattern) {
    return std::any_of(parts.begin() + 1, parts.end(),
                       [&](const std::string& part) { return fits(pattern, part); });
  };
  return std::ranges::all_of(with_, has) && std::ranges::none_of(without_, has);
}

SignatureTable SignatureTable::parse(std::string_view text, const std::string& file) {
  SignatureTable table;
  const nlohmann::json document = parse_json(text, file);
  const JsonCursor root(document, file);
  require_only(root, {"features", "moves"});
  const JsonCursor features = root.at("features");
  std::set<std::string> known;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const JsonCursor row = features.element(i);
    require_only(row, {"id", "note", "machine", "ptx"});
    CodeFeature feature{.id = row.at("id").text(),
                        .note = text_or(row, "note"),
                        .machine = patterns(row.find("machine")),
                        .ptx = patterns(row.find("ptx"))};
    if (!known.insert(feature.id).second) row.at("id").fail("an id that no row before has");
    if (feature.ptx.empty())
      row.fail("patterns for PTX: machine code is not there as text everywhere");
    table.features_.push_back(std::move(feature));
  }
  const auto found = [&](const std::optional<JsonCursor>& view) {
    std::vector<const CodeFeature*> out;
    for (std::size_t i = 0; view && i < view->size(); ++i) {
      const auto it = std::ranges::find(table.features_, view->element(i).text(), &CodeFeature::id);
      if (it == table.features_.end()) view->element(i).fail("the id of a feature");
      out.push_back(&*it);
    }
    return out;
  };
  const JsonCursor moves = root.at("moves");
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const JsonCursor row = moves.element(i);
    require_only(row, {"move", "site", "gains", "loses", "changes", "numbers", "differs", "note"});
    MoveSignature signature{.move = row.at("move").text(),
                            .site = text_or(row, "site"),
                            .gains = found(row.find("gains")),
                            .loses = found(row.find("loses")),
                            .changes = found(row.find("changes")),
                            .numbers = texts(row.find("numbers")),
                            .differs = row.find("differs") && row.at("differs").boolean(),
                            .note = text_or(row, "note")};
    const bool twice = std::ranges::any_of(table.signatures_, [&](const MoveSignature& s) {
      return s.move == signature.move && s.site == signature.site;
    });
    if (twice) row.at("move").fail("one row a move and site");
    if (signature.gains.empty() && signature.loses.empty() && signature.changes.empty() &&
        signature.numbers.empty() && !signature.differs) {
      row.fail("something that the move leaves in the code");
    }
    table.signatures_.push_back(std::move(signature));
  }
  return table;
}

const SignatureTable& SignatureTable::built_in() {
  static const SignatureTable table = [] {
    const EmbeddedText data = embedded_signatures();
    return parse(data.text, std::string(data.name));
  }();
  return table;
}

const MoveSignature* SignatureTable::find(std::string_view move, std::string_view site) const {
  const MoveSignature* best = nullptr;
  for (const MoveSignature& signature : signatures_) {
    if (signature.move != move || !site.starts_with(signature.site)) continue;
    if (best == nullptr || signature.site.size() > best->site.size()) best = &signature;
  }
  return best;
}

CodeEvidence SignatureTable::compare(const MoveInstance& instance,
                                     const CodeCounts& parent,
                                     const CodeCounts& child) const {
  const bool machine = !parent.tool.empty() && !child.tool.empty();
  CodeEvidence out{.realised = std::nullopt,
                   .why = "",
                   .arch = child.arch,
                   .tool = machine ? child.tool : "",
                   .readings = {},
                   .difference = {}};
  out.difference =
      machine ? difference(parent.machine, child.machine) : difference(parent.ptx, child.ptx);
  if (!parent.key.empty() && parent.key == child.key) {
    out.realised = false;
    out.why = "machine code and launch are those of the variant before";
    return out;
  }
  const MoveSignature* const signature = find(instance.move, instance.site);
  if (signature == nullptr) {
    out.why = "the table has no signature of " + instance.move;
    return out;
  }
  const auto take = [&](const std::vector<const CodeFeature*>& features, const auto& shows) {
    for (const CodeFeature* const feature : features) {
      out.readings.push_back(read(*feature, parent, child));
      out.readings.back().shows = shows(out.readings.back());
    }
  };
  take(signature->gains, grows);
  take(signature->loses, shrinks);
  take(signature->changes, [](const FeatureReading& r) { return grows(r) || shrinks(r); });
  for (const std::string& number : signature->numbers) {
    const auto before = parent.numbers.find(number), after = child.numbers.find(number);
    if (before == parent.numbers.end() && after == child.numbers.end()) continue;
    FeatureReading reading{.feature = number, .form = "number"};
    if (before != parent.numbers.end()) reading.before = before->second;
    if (after != child.numbers.end()) reading.after = after->second;
    reading.shows = reading.before != reading.after;
    out.readings.push_back(reading);
  }
  out.realised = signature->differs;
  std::string shown, looked_for;
  for (const FeatureReading& r : out.readings) {
    std::string& list = r.shows ? shown : looked_for;
    list += (list.empty() ? "" : ", ") + reading_text(r);
    out.realised = *out.realised || r.shows;
  }
  if (*out.realised) {
    out.why = shown.empty() ? "the machine code or the launch differs" : shown;
  } else {
    out.why = "nothing of it is in the code: " + looked_for;
  }
  return out;
}

std::string difference_text(const CodeEvidence& evidence, std::size_t most) {
  std::vector<std::pair<std::string, std::pair<std::int64_t, std::int64_t>>> rows(
      evidence.difference.begin(), evidence.difference.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::abs(a.second.second - a.second.first) > std::abs(b.second.second - b.second.first);
  });
  std::string out;
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    out += (out.empty() ? "" : ", ") + rows[i].first + " " + std::to_string(rows[i].second.first) +
           " to " + std::to_string(rows[i].second.second);
  }
  if (rows.size() > most) out += ", ...";
  return out;
}

}  // namespace warpath
