#pragma once

#include <any>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/plugin/option_group.h"
#include "engine/plugin/run_options.h"
#include "engine/plugin/search_options.h"

namespace warpath {

/// All options: the groups of the search, and those owned by plug-ins. `--set search.c_puct=2` sets
/// any member; flags are shorthands. A value type.
struct Options {
  SearchOptions search;
  RunOptions run;
  PriorOptions prior;
  TuneOptions tune;
  RecordOptions record;

  /// The group of a plug-in, initially at its defaults. Not for the groups above.
  template <class Group>
  [[nodiscard]] Group& of() {
    add(Group::kind());
    return *std::any_cast<Group>(&added_.find(Group::kGroup)->second.value);
  }
  template <class Group>
  [[nodiscard]] const Group& of() const {
    static const Group kDefaults;
    const auto it = added_.find(Group::kGroup);
    return it == added_.end() ? kDefaults : *std::any_cast<Group>(&it->second.value);
  }
  /// Makes the options of `kind` settable by name, at their defaults. Idempotent.
  void add(const OptionGroupKind& kind);

  /// The same groups, every option at its default.
  [[nodiscard]] Options defaults() const;
  /// A group missing on one side compares as its defaults.
  friend bool operator==(const Options& a, const Options& b);

  /// visit(kind, pointer to the group) for every group: those of the search, then by name.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    visit(SearchOptions::kind(), static_cast<const void*>(&search));
    visit(RunOptions::kind(), static_cast<const void*>(&run));
    visit(PriorOptions::kind(), static_cast<const void*>(&prior));
    visit(TuneOptions::kind(), static_cast<const void*>(&tune));
    visit(RecordOptions::kind(), static_cast<const void*>(&record));
    for (const auto& [name, held] : added_)
      visit(*held.kind, static_cast<const void*>(held.kind->address(held.value)));
  }
  /// The group of that name, mutable; null if there is none.
  [[nodiscard]] std::pair<const OptionGroupKind*, void*> find(std::string_view name);

 private:
  struct Held {
    const OptionGroupKind* kind;
    mutable std::any value;  // `address` takes no const; nothing else changes it
  };
  std::map<std::string, Held, std::less<>> added_;
};

}  // namespace warpath
