#include "moves/model/variable_values.h"
#include "moves/syntax/words.h"

namespace warpath::model {

Value VariableValues::value_of(const Declarator& d) {
  const auto found = environment_.find(&d);
  return found != environment_.end() ? found->second : initial(d);
}

/// Its value where nothing has set it.
Value VariableValues::initial(const Declarator& d) {
  Value out;
  if (d.is_array() || d.is_pointer()) {
    out.array = array_of(facts_, d);
    out.full = out.source = 0;
  } else if (d.function == nullptr) {
    const auto constant = unit_.constants().find(d.name);
    const bool known = constant != unit_.constants().end() && !unit_.bindings().contains(d.name);
    out.full = out.source = known ? Polynomial(constant->second) : Polynomial::name(d.name);
  } else if (is_integer(d)) {
    out.full = out.source = Polynomial::name(d.name);
  }
  return out;
}

bool VariableValues::is_integer(const Declarator& d) const {
  if (d.is_pointer() || d.is_array()) return false;
  const std::string type = unit_.resolved_type(unit_.plain_text(d.type));
  if (type == "auto" || d.has(kAuto)) return true;
  if (is_integer_type(type)) return size_of_type(type) >= 4;  // narrow ones wrap
  return size_of_type(type) == 0;
}

bool VariableValues::is_stable(const Declarator& d) const {
  return !state_.write_counts.contains(&d);
}

namespace {

/// Nothing ever gives it a value, and so its name says none: a loop may have an index of that name.
bool is_idle(const Declarator& d) {
  return d.init_form == InitForm::none && d.stmt != nullptr && d.stmt->is(StmtKind::declaration) &&
         d.stmt->parent != nullptr && d.stmt->parent->is(StmtKind::block);
}

}  // namespace

void VariableValues::assign(const Declarator& d, Value value) {
  if (d.is_array() && !d.points()) return;
  if (!d.points()) {
    if (value.is_pointer() && (d.has(kAuto) || d.reference)) {
      environment_[&d] = value;
      return;
    }
    if (!is_integer(d)) {
      value = Value{};
    } else if (!value.full.is_known()) {
      const bool named = is_stable(d) && !is_idle(d);
      value.full = value.source = named ? unique(d) : fresh_atom(state_, d.name);
    }
    value.array = -1;
    if (is_stable(d) && !is_idle(d) && !d.name.empty()) value.source = Polynomial::name(d.name);
  } else if (!value.is_pointer()) {
    value = unknown_pointer(d);
  }
  environment_[&d] = value;
}

/// The atom of a variable that is set once: its name, as long as no other variable took it.
Polynomial VariableValues::unique(const Declarator& d) {
  if (active_.contains(d.name)) return fresh_atom(state_, d.name);
  const auto [owner, fresh] = owners_.try_emplace(std::string(d.name), &d);
  return fresh || owner->second == &d ? Polynomial::name(d.name) : fresh_atom(state_, d.name);
}

Value VariableValues::unknown_pointer(const Declarator& d) {
  Value out;
  out.array = array_of(facts_, d);
  Array& array = facts_.arrays[static_cast<std::size_t>(out.array)];
  if (!d.is_parameter && array.declarator == &d && array.space == Space::global)
    array.escapes = true;
  out.full = out.source =
      d.is_parameter ? fresh_atom(state_, std::string(d.name) + "_offset") : Polynomial(0);
  return out;
}

void VariableValues::forget(const Declarator& d) {
  if (d.is_array() && !d.points()) return;
  if (d.points()) {
    Value before = value_of(d);
    before.full = before.source = fresh_atom(state_, std::string(d.name) + "_offset");
    environment_[&d] = before;
  } else if (is_integer(d)) {
    Value out;
    out.full = out.source = fresh_atom(state_, d.name);
    environment_[&d] = out;
  } else {
    environment_[&d] = Value{};
  }
}

/// After two paths meet: what they disagree on is unknown.
void VariableValues::join(const Environment& other) {
  const auto outlives = [](const Declarator& d) { return d.is_parameter || d.function == nullptr; };
  for (const auto& [d, value] : other) {
    if (!environment_.contains(d)) environment_.emplace(d, outlives(*d) ? initial(*d) : value);
  }
  Environment untouched;  // by the other path alone
  for (const auto& [d, value] : environment_) {
    if (!other.contains(d) && outlives(*d)) untouched.emplace(d, initial(*d));
  }
  for (auto& [d, value] : environment_) {
    const bool touched = other.contains(d);
    if (!touched && !untouched.contains(d)) continue;
    const Value& there = (touched ? other : untouched).at(d);
    if (there.array != value.array) {
      value = d->is_pointer() ? unknown_pointer(*d) : Value{};
    } else if (!(there.full == value.full) && (value.full.is_known() || there.full.is_known())) {
      forget(*d);
    } else {
      if (!(there.source == value.source)) value.source = value.full;
    }
  }
}
bool VariableValues::may_count(const Declarator& d) const {
  const auto owner = owners_.find(d.name);
  return !active_.contains(d.name) && (owner == owners_.end() || owner->second == &d);
}

}  // namespace warpath::model
