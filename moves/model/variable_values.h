#pragma once

#include <map>
#include <set>
#include <string>

#include "moves/model/facts_state.h"

namespace warpath::model {

/// The values of integer variables and pointers at the place where a walk stands.
class VariableValues {
 public:
  using Environment = std::map<const Declarator*, Value>;

  explicit VariableValues(KernelFacts& facts)
      : facts_(facts), state_(*facts.state), unit_(*facts.unit) {}

  [[nodiscard]] Value value_of(const Declarator& d);
  /// An integer of at least 32 bits, or of a type that may be one.
  [[nodiscard]] bool is_integer(const Declarator& d) const;
  /// `d` is set to `value`; what the model does not know becomes an atom of its own.
  void assign(const Declarator& d, Value value);
  /// The same without a look at the value.
  void set(const Declarator& d, const Value& value) { environment_[&d] = value; }
  /// `d` has a new, unknown value.
  void forget(const Declarator& d);
  /// After two paths meet: what they disagree on is unknown.
  void join(const Environment& other);
  [[nodiscard]] const Environment& now() const { return environment_; }
  void restore(const Environment& before) { environment_ = before; }

  /// The name stands for `d` in polynomials from now on.
  void claim(const Declarator& d) { owners_.try_emplace(std::string(d.name), &d); }
  /// The name may stand for the loop variable `d`: it stands for nothing else, and no loop around
  /// uses it.
  [[nodiscard]] bool may_count(const Declarator& d) const;
  void begin_loop(const std::string& variable) { active_.insert(variable); }
  void end_loop(const std::string& variable) { active_.erase(variable); }

 private:
  [[nodiscard]] bool is_stable(const Declarator& d) const;
  Polynomial unique(const Declarator& d);
  Value unknown_pointer(const Declarator& d);

  KernelFacts& facts_;
  KernelFacts::State& state_;
  const Unit& unit_;
  Environment environment_;
  std::set<std::string, std::less<>> active_;  // variables of the loops around
  std::map<std::string, const Declarator*, std::less<>> owners_;
};

}  // namespace warpath::model
