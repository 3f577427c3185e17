#pragma once

#include <boost/container/flat_map.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "moves/model/facts_state.h"

namespace warpath::model {

/// The values of integer variables and pointers at the current place of a walk.
class VariableValues {
 public:
  using Environment = boost::container::flat_map<const Declarator*, Value>;

  explicit VariableValues(KernelFacts& facts)
      : facts_(facts), state_(*facts.state), unit_(*facts.unit) {}

  [[nodiscard]] Value value_of(const Declarator& d);
  /// An integer of at least 32 bits, or of a possibly integer type.
  [[nodiscard]] bool is_integer(const Declarator& d) const;
  /// Sets `d` to `value`; a value unknown to the model becomes a new atom.
  void assign(const Declarator& d, Value value);
  /// The same without examining the value.
  void set(const Declarator& d, const Value& value) { environment_[&d] = value; }
  /// Sets `d` to a new, unknown value.
  void forget(const Declarator& d);
  /// Merges two paths: variables with different values become unknown.
  void join(const Environment& other);
  [[nodiscard]] const Environment& now() const { return environment_; }
  /// Goes on with `other`.
  /// @return what held until now
  Environment exchange(Environment other) { return std::exchange(environment_, std::move(other)); }

  /// From now on the name stands for `d` in polynomials.
  void claim(const Declarator& d) { owners_.try_emplace(std::string(d.name), &d); }
  /// True if the name may stand for the loop variable `d`: it stands for nothing else, and no
  /// enclosing loop uses it.
  [[nodiscard]] bool may_count(const Declarator& d) const;
  void begin_loop(const std::string& variable) { active_.insert(variable); }
  void end_loop(const std::string& variable) { active_.erase(variable); }

 private:
  Value initial(const Declarator& d);
  [[nodiscard]] bool is_stable(const Declarator& d) const;
  Polynomial unique(const Declarator& d);
  Value unknown_pointer(const Declarator& d);

  KernelFacts& facts_;
  KernelFacts::State& state_;
  const Unit& unit_;
  Environment environment_;
  std::set<std::string, std::less<>> active_;  // variables of the enclosing loops
  std::map<std::string, const Declarator*, std::less<>> owners_;
};

}  // namespace warpath::model
