#pragma once

#include <any>
#include <string_view>
#include <vector>

#include "engine/plugin/option_group.h"
#include "engine/plugin/run_options.h"
#include "engine/plugin/search_options.h"

namespace warpath {

/// All options: the groups of the search, and those owned by plug-ins, which are groups of their
/// own or parts of these. `--set search.c_puct=2` sets any member; flags are shorthands. A value
/// type.
struct Options {
  SearchOptions search;
  RunOptions run;
  TuneOptions tune;
  RecordOptions record;

  /// The options of a plug-in, initially at their defaults. Not for the groups above.
  template <class Group>
  [[nodiscard]] Group& of() {
    add(Group::kind());
    return *held<Group>();
  }
  template <class Group>
  [[nodiscard]] const Group& of() const {
    static const Group kDefaults;
    const Group* const group = held<Group>();
    return group == nullptr ? kDefaults : *group;
  }
  /// Makes the options of `kind` settable by name, at their defaults. Idempotent.
  void add(const OptionGroupKind& kind);
  /// Those of every plug-in of a Registry.
  template <class Registry>
  void add_all(const Registry& registry) {
    for (const auto& [name, entry] : registry.entries()) {
      for (const OptionGroupKind* const kind : entry.options) add(*kind);
    }
  }

  /// The same groups, every option at its default.
  [[nodiscard]] Options defaults() const;
  /// A group missing on one side compares as its defaults.
  friend bool operator==(const Options& a, const Options& b);

  /// visit(kind, pointer to the group) for every group, and for every part of one: those of the
  /// search, then by name.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    visit(SearchOptions::kind(), static_cast<const void*>(&search));
    visit(RunOptions::kind(), static_cast<const void*>(&run));
    visit(TuneOptions::kind(), static_cast<const void*>(&tune));
    visit(RecordOptions::kind(), static_cast<const void*>(&record));
    for (const Held& held : added_)
      visit(*held.kind, static_cast<const void*>(held.kind->address(held.value)));
  }
  /// The group of that name and its parts, mutable; empty if there is none.
  [[nodiscard]] std::vector<OptionGroupRef> find(std::string_view name);

 private:
  struct Held {
    const OptionGroupKind* kind;
    mutable std::any value;  // `address` takes no const; nothing else changes it
  };
  /// Null where no such group was added.
  template <class Group>
  [[nodiscard]] Group* held() const {
    for (const Held& one : added_) {
      if (Group* const group = std::any_cast<Group>(&one.value)) return group;
    }
    return nullptr;
  }

  std::vector<Held> added_;  // by name, parts of one group in the order in which they were added
};

}  // namespace warpath
