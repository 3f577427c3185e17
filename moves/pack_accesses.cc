#include "moves/pack_accesses.h"

#include <algorithm>
#include <set>

#include "moves/hinted_access.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::size_t kMostBytes = 16;

/// Names declared in the statements, at any depth.
std::set<std::string, std::less<>> declared_in(const std::vector<const Stmt*>& body) {
  std::set<std::string, std::less<>> out;
  for (const Stmt* s : body) {
    walk(*s, [&](const Stmt& inner) {
      for (const Declarator* d : inner.declarators) out.insert(std::string(d->name));
      return true;
    });
  }
  return out;
}

/// The index with integer locals that the body declares folded in.
Polynomial expanded(const KernelFacts& facts, const std::vector<const Stmt*>& body, Polynomial index) {
  for (int depth = 0; depth < 8 && index.is_known(); ++depth) {
    bool changed = false;
    for (const Stmt* s : body) {
      for (const Declarator* d : s->declarators) {
        if (d->value() == nullptr || d->is_pointer() || !index.mentions(d->name)) continue;
        index = index.substituted(d->name, facts.source_polynomial(*d->value()));
        changed = true;
      }
    }
    if (!changed) break;
  }
  return index;
}

/// Steps by one with the variable, and is a multiple of `alignment` where the variable is one of `width`. `folded` is the same
/// index with all locals folded in, which may show factors that their names hide.
bool steps_by_one(const KernelFacts& facts, const Polynomial& index, const Polynomial& folded, const std::string& variable, std::int64_t width,
                  std::int64_t alignment) {
  if (!index.is_known()) return false;
  if (index.affine_in(variable)) {
    if (!(index.coefficient_of(variable).constant() == 1)) return false;
    return is_multiple(facts, index.without(variable), alignment) ||
           (folded.is_known() && folded.affine_in(variable) && folded.coefficient_of(variable).constant() == 1 && is_multiple(facts, folded.without(variable), alignment));
  }
  // A remainder that the pack does not cross: (i + rest) % C with C and rest multiples of the width.
  for (const Polynomial::Term& term : index.terms()) {
    if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0]->op != "%") continue;
    const Atom& atom = *term.factors[0];
    const Polynomial rest = index.without(atom.text);
    const Polynomial &inner = atom.operands[0], &period = atom.operands[1];
    if (rest.mentions(variable) || period.mentions(variable) || !inner.affine_in(variable)) continue;
    return inner.coefficient_of(variable).constant() == 1 && is_multiple(facts, inner.without(variable), width) &&
           is_multiple(facts, period, width) && is_multiple(facts, rest, alignment);
  }
  return false;
}

std::string address_of(const KernelFacts& facts, const Access& access, const Polynomial& index, const std::set<std::string, std::less<>>& inner) {
  bool uses_inner = !access.expr->is(ExprKind::subscript);
  for (const std::string& name : inner) uses_inner = uses_inner || mentions(*access.expr, name);
  if (!uses_inner) return "&" + facts.unit->plain_text(access.expr->span);
  for (const std::string& name : inner) {
    if (index.mentions(name)) return "";
  }
  return "&" + facts.arrays[static_cast<std::size_t>(access.array)].name + "[" + index.text() + "]";
}

/// A place that could be one memory with another, in the same body.
std::string conflict(const KernelFacts& facts, const std::vector<const Access*>& accesses, const std::vector<Polynomial>& indices) {
  for (std::size_t w = 0; w < accesses.size(); ++w) {
    if (!accesses[w]->writes() || accesses[w]->kind == AccessKind::atomic) continue;
    if (facts.arrays[static_cast<std::size_t>(accesses[w]->array)].space != Space::global) continue;
    for (std::size_t r = 0; r < accesses.size(); ++r) {
      if (r == w) continue;
      const int a = accesses[w]->array, b = accesses[r]->array;
      const bool apart = a == b ? indices[w] == indices[r] : !facts.may_alias(a, b);
      if (!apart && !accesses[r]->reads()) return "stores to " + facts.arrays[static_cast<std::size_t>(a)].name + " stand at two places of it";
      if (!apart) return "a store to " + facts.arrays[static_cast<std::size_t>(a)].name + " could change a load of " + facts.arrays[static_cast<std::size_t>(b)].name;
    }
  }
  return "";
}

/// Takes the accesses into the pack that reach its elements from inner loops and branches; false if one of them cannot be: memory
/// and the pack would hold different values.
bool take_others(const KernelFacts& facts, Pack& pack, const std::vector<const Access*>& accesses, const std::vector<Polynomial>& indices,
                 const std::set<std::string, std::less<>>& inner) {
  const std::vector<const Access*> own = pack.accesses;
  const int array = own.front()->array;
  const auto place = [&](const Access* a) { return static_cast<std::size_t>(std::find(accesses.begin(), accesses.end(), a) - accesses.begin()); };
  const Polynomial& index = indices[place(own.front())];
  const bool named_inside = std::any_of(inner.begin(), inner.end(), [&](const std::string& name) { return index.mentions(name); });
  const auto first_store = std::find_if(own.begin(), own.end(), [](const Access* a) { return a->writes(); });
  const std::size_t stored_from = first_store == own.end() ? accesses.size() : place(*first_store);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& other = *accesses[i];
    if (std::find(own.begin(), own.end(), &other) != own.end() || !(pack.store || other.writes())) continue;
    if (other.array != array && !facts.may_alias(array, other.array)) continue;
    const bool same = other.array == array && indices[i] == index && !named_inside;
    if (!same || replaceable(other) == nullptr || other.vector_width != 1) return false;
    // Stored as a whole, the pack must have been stored to by every element.
    if (other.writes() && first_store == own.end()) return false;
    pack.accesses.push_back(&other);
    pack.load = pack.load || (other.reads() && i < stored_from);
  }
  return true;
}

}  // namespace

std::string vector_type(std::string_view type, std::size_t element_bytes, std::size_t bytes) {
  const std::size_t count = bytes / std::max<std::size_t>(element_bytes, 1);
  if (count * element_bytes != bytes || count < 2) return "";
  if (type == "float" || type == "double" || type == "int") {
    return count == 2 || (count == 4 && type != "double") ? std::string(type) + std::to_string(count) : "";
  }
  switch (bytes) {
    case 2: return "unsigned short";
    case 4: return "unsigned int";
    case 8: return "uint2";
    case 16: return "uint4";
    default: return "";
  }
}

std::string statements_text(const Unit& unit, const std::vector<const Stmt*>& body, const std::vector<Edit>& edits) {
  if (body.empty()) return "";
  const Stmt& first = *body.front();
  std::size_t begin = (first.pragma != nullptr ? first.pragma : &first)->span.begin;
  std::size_t end = body.back()->span.end;
  const std::string_view source = unit.source();
  // Comments above the first statement and behind the last one are its own.
  begin = std::min(begin, whole_lines(unit, {begin, end}, true).begin);
  const std::size_t line_end = std::min(source.find('\n', end), source.size());
  const std::size_t comment = source.find_first_not_of(" \t", end);
  if (comment != std::string_view::npos && source.substr(comment, 2) == "//" && comment < line_end) end = line_end;
  std::string text(begin - line_begin(source, begin), ' ');
  text += substituted(unit, {begin, end}, edits);
  return unindented(text);
}

std::optional<PackPlan> plan_packs(const KernelFacts& facts, const std::vector<const Stmt*>& body, std::string_view variable, std::int64_t width,
                                   std::string& why) {
  PackPlan plan{std::string(variable), width, {}};
  std::vector<const Access*> accesses;
  std::vector<Polynomial> indices;
  std::set<std::string> written;
  for (const Stmt* s : body) {
    for (const std::string& name : facts.names_written(*s)) written.insert(name);
    for (const Access* access : facts.accesses_in(*s)) {
      accesses.push_back(access);
      indices.push_back(expanded(facts, body, access->source_index));
    }
  }
  if (written.contains(plan.variable)) return why = "the body changes " + plan.variable, std::nullopt;
  if (const std::string problem = conflict(facts, accesses, indices); !problem.empty()) return why = problem, std::nullopt;
  const auto inner = declared_in(body);
  const std::size_t guards = facts.guards_at(*body.back()).size();  // of an early return before it, too
  const Stmt* const around = enclosing_loop(*body.front());
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = *accesses[i];
    const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || access.vector_width != 1 || replaceable(access) == nullptr) continue;
    if (array.element_bytes == 0 || array.element_bytes > 8 || array.escapes || !array.dtype) continue;
    const std::size_t bytes = std::min(kMostBytes, array.element_bytes * static_cast<std::size_t>(width));
    if (vector_type(array.type, array.element_bytes, bytes).empty() || array.alignment_bytes < static_cast<std::int64_t>(bytes)) continue;
    if (enclosing_loop(*access.stmt) != around || access.guards.size() != guards || !is_always_evaluated(*access.expr)) continue;
    const auto alignment = static_cast<std::int64_t>(bytes / array.element_bytes);
    if (!steps_by_one(facts, indices[i], access.index, plan.variable, width, alignment)) continue;
    bool moving = false;
    for (const std::string& name : written) moving = moving || (indices[i].mentions(name) && !inner.contains(name));
    if (moving) continue;
    const auto known = std::find_if(plan.packs.begin(), plan.packs.end(), [&](const Pack& p) {
      return p.array == &array && expanded(facts, body, p.accesses[0]->source_index) == indices[i];
    });
    Pack* pack = known == plan.packs.end() ? nullptr : &*known;
    if (pack == nullptr) {
      std::string address = address_of(facts, access, indices[i], inner);
      if (address.empty()) continue;
      pack = &plan.packs.emplace_back(Pack{&array, {}, std::move(address), array.type, array.element_bytes, false, false});
    }
    pack->accesses.push_back(&access);
    pack->load = pack->load || (access.reads() && !(pack->store && !pack->load));  // what was stored before needs no load
    pack->store = pack->store || access.writes();
  }
  const std::size_t found = plan.packs.size();
  std::erase_if(plan.packs, [&](Pack& pack) {
    const bool whole = take_others(facts, pack, accesses, indices, inner);
    if (!whole) why = pack.array->name + " is used where it cannot be a pack";
    return !whole;
  });
  if (plan.packs.empty() && found > 0) return std::nullopt;
  if (plan.packs.empty()) return why = "no access steps by one element with " + plan.variable + " from aligned places", std::nullopt;
  return plan;
}

std::string packed_body(const KernelFacts& facts, const PackPlan& plan, const std::vector<const Stmt*>& body, const std::vector<const Stmt*>& prefix,
                        std::string_view width_name, Rewrite& rewrite) {
  const Unit& unit = *facts.unit;
  const std::string v = rewrite.fresh("v");
  std::vector<Edit> edits;
  std::string loads, stores;
  std::set<std::string> names;
  for (const Pack& pack : plan.packs) {
    const std::string local = rewrite.fresh(pack.array->name + "_pack");
    const std::size_t bytes = std::min(kMostBytes, pack.element_bytes * static_cast<std::size_t>(plan.width));
    const std::size_t chunks = pack.element_bytes * static_cast<std::size_t>(plan.width) / bytes;
    const std::string type = vector_type(pack.type, pack.element_bytes, bytes);
    loads += "alignas(" + std::to_string(bytes) + ") " + pack.type + " " + local + "[" + std::string(width_name) + "];\n";
    const bool is_const = pack.array->is_const || !pack.array->written;
    for (std::size_t c = 0; c < chunks; ++c) {
      const std::string at = chunks == 1 ? "" : "[" + std::to_string(c) + "]", star = chunks == 1 ? "*" : "";
      const std::string here = star + "reinterpret_cast<" + type + "*>(" + local + ")" + at;
      const std::string there = "reinterpret_cast<" + type + "*>(" + pack.address + ")" + at;
      const std::string from = star + (is_const ? "reinterpret_cast<const " + type + "*>(" + pack.address + ")" + at : there);
      if (pack.load) loads += here + " = " + from + ";\n";
      if (pack.store) stores += star + there + " = " + here + ";\n";
    }
    for (const Access* access : pack.accesses) edits.push_back({replaceable(*access)->span.begin, replaceable(*access)->span.end, local + "[" + v + "]"});
  }
  std::vector<Edit> renames;
  for (const Stmt* s : body) rename_variable(*s, plan.variable, plan.variable + " + " + v, renames);
  for (const Stmt* s : prefix) rename_variable(*s, plan.variable, plan.variable + " + " + v, renames);
  for (Edit& rename : renames) {
    const bool covered = std::any_of(edits.begin(), edits.end(), [&](const Edit& e) { return e.begin <= rename.begin && rename.end <= e.end; });
    if (!covered) edits.push_back(std::move(rename));
  }
  const std::string step = indent_unit(unit);
  std::string out = loads + "#pragma unroll\nfor (int " + v + " = 0; " + v + " < " + std::string(width_name) + "; ++" + v + ") {\n";
  for (const Stmt* s : prefix) out += indented(statements_text(unit, {s}, edits), step);
  return out + indented(statements_text(unit, body, edits), step) + "}\n" + stores;
}

}  // namespace warpath
