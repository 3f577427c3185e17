#include "moves/edit/pack_accesses.h"

#include <algorithm>
#include <set>

#include "moves/edit/hinted_access.h"
#include "moves/edit/pack_text.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kMostPackStride = 8;

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
Polynomial expanded(const KernelFacts& facts,
                    const std::vector<const Stmt*>& body,
                    Polynomial index) {
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

/// Steps by one with the variable, and is a multiple of `alignment` where the variable is one of
/// `width`. `folded` is the same index with all locals folded in, which may show factors that their
/// names hide.
bool steps_by_one(const KernelFacts& facts,
                  const Polynomial& index,
                  const Polynomial& folded,
                  const std::string& variable,
                  std::int64_t width,
                  std::int64_t alignment) {
  if (!index.is_known()) return false;
  if (index.affine_in(variable)) {
    if (!(index.coefficient_of(variable).constant() == 1)) return false;
    return is_multiple(facts, index.without(variable), alignment) ||
           (folded.is_known() && folded.affine_in(variable) &&
            folded.coefficient_of(variable).constant() == 1 &&
            is_multiple(facts, folded.without(variable), alignment));
  }
  // A remainder that the pack does not cross: (i + rest) % C with C and rest multiples of the
  // width.
  for (const Polynomial::Term& term : index.terms()) {
    if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0]->op != "%") continue;
    const Atom& atom = *term.factors[0];
    const Polynomial rest = index.without(atom.text);
    const Polynomial &inner = atom.operands[0], &period = atom.operands[1];
    if (rest.mentions(variable) || period.mentions(variable) || !inner.affine_in(variable))
      continue;
    return inner.coefficient_of(variable).constant() == 1 &&
           is_multiple(facts, inner.without(variable), width) &&
           is_multiple(facts, period, width) && is_multiple(facts, rest, alignment);
  }
  return false;
}

/// True if the access's text is valid outside the body; `inner`: names declared in the body.
bool stands_outside(const Access& access, const std::set<std::string, std::less<>>& inner) {
  return access.expr->is(ExprKind::subscript) &&
         std::none_of(inner.begin(), inner.end(),
                      [&](const std::string& name) { return mentions(*access.expr, name); });
}

/// Places of one array that are the same in the same iteration, or never, as those of pairs.
bool keeps_apart(const Polynomial& a, const Polynomial& b, const std::string& variable) {
  if (a == b) return true;
  const auto distance = (a - b).constant(),
             stride = a.affine_in(variable) ? a.coefficient_of(variable).constant() : std::nullopt;
  return distance && stride && *stride != 0 && *distance % *stride != 0;
}

/// A place that could be one memory with another, in the same body.
std::string conflict(const KernelFacts& facts,
                     const std::vector<const Access*>& accesses,
                     const std::vector<Polynomial>& indices,
                     const std::string& variable) {
  for (std::size_t w = 0; w < accesses.size(); ++w) {
    if (!accesses[w]->writes() || accesses[w]->kind == AccessKind::atomic) continue;
    if (facts.arrays[static_cast<std::size_t>(accesses[w]->array)].space != Space::global) continue;
    for (std::size_t r = 0; r < accesses.size(); ++r) {
      if (r == w) continue;
      const int a = accesses[w]->array, b = accesses[r]->array;
      const bool apart =
          a == b ? keeps_apart(indices[w], indices[r], variable) : !facts.may_alias(a, b);
      if (!apart && !accesses[r]->reads())
        return "stores to " + facts.arrays[static_cast<std::size_t>(a)].name +
               " stand at two places of it";
      if (!apart)
        return "a store to " + facts.arrays[static_cast<std::size_t>(a)].name +
               " could change a load of " + facts.arrays[static_cast<std::size_t>(b)].name;
    }
  }
  return "";
}

/// Where the accesses of a body stand in their order, and which elements they reach.
struct Places {
  std::vector<const Access*> accesses;
  std::vector<Polynomial> indices;
  [[nodiscard]] std::size_t of(const Access* a) const {
    return static_cast<std::size_t>(std::find(accesses.begin(), accesses.end(), a) -
                                    accesses.begin());
  }
};

/// The place of the first store to the pack's elements at `offset`; past the end if there is none.
std::size_t stored_from(const Pack& pack, std::int64_t offset, const Places& places) {
  std::size_t out = places.accesses.size();
  for (std::size_t k = 0; k < pack.offsets.size(); ++k) {
    if (pack.offsets[k] == offset && pack.accesses[k]->writes())
      out = std::min(out, places.of(pack.accesses[k]));
  }
  return out;
}

/// Takes the accesses into the pack that reach its elements from inner loops and branches; false if
/// one of them cannot be: memory and the pack would hold different values.
bool take_others(const KernelFacts& facts,
                 Pack& pack,
                 const Places& places,
                 const std::set<std::string, std::less<>>& inner) {
  const Pack own = pack;
  const int array = own.accesses.front()->array;
  // stored as a whole, or not at all
  for (std::int64_t offset = 0; offset < pack.stride; ++offset) {
    if (pack.store && stored_from(own, offset, places) == places.accesses.size()) return false;
  }
  for (std::size_t i = 0; i < places.accesses.size(); ++i) {
    const Access& other = *places.accesses[i];
    if (std::find(own.accesses.begin(), own.accesses.end(), &other) != own.accesses.end() ||
        !(pack.store || other.writes()))
      continue;
    if (other.array != array && !facts.may_alias(array, other.array)) continue;
    const auto same = std::find_if(own.accesses.begin(), own.accesses.end(), [&](const Access* a) {
      return other.array == array && places.indices[places.of(a)] == places.indices[i];
    });
    const bool named_inside = std::any_of(inner.begin(), inner.end(), [&](const std::string& name) {
      return places.indices[i].mentions(name);
    });
    if (same == own.accesses.end() || named_inside || replaceable(other) == nullptr ||
        other.vector_width != 1)
      return false;
    const std::int64_t offset = own.offsets[static_cast<std::size_t>(same - own.accesses.begin())];
    const std::size_t stored = stored_from(own, offset, places);
    // A pack that is stored as a whole must have all its elements stored.
    if (other.writes() && stored == places.accesses.size()) return false;
    pack.accesses.push_back(&other);
    pack.offsets.push_back(offset);
    pack.load = pack.load || (other.reads() && i < stored);
  }
  return true;
}

/// Finds the packs of one body.
class PackFinder {
 public:
  PackFinder(const KernelFacts& facts, const std::vector<const Stmt*>& body, PackPlan& plan)
      : facts_(facts), body_(body), plan_(plan), inner_(declared_in(body)) {
    for (const Stmt* s : body) {
      for (const std::string& name : facts.names_written(*s)) written_.insert(name);
      for (const Access* access : facts.accesses_in(*s)) {
        places_.accesses.push_back(access);
        places_.indices.push_back(expanded(facts, body, access->source_index));
      }
    }
  }

  bool find(const Access* start, std::string& why) {
    if (written_.contains(plan_.variable)) return why = "the body changes " + plan_.variable, false;
    if (const std::string problem =
            conflict(facts_, places_.accesses, places_.indices, plan_.variable);
        !problem.empty())
      return why = problem, false;
    if (start != nullptr) take(places_.of(start), start);
    for (std::size_t i = 0; i < places_.accesses.size(); ++i) {
      if (places_.accesses[i] != start) take(i, start);
    }
    if (start == nullptr) take_side_by_side();
    for (Pack& pack : plan_.packs) finish(pack);
    const std::size_t found = plan_.packs.size();
    std::erase_if(plan_.packs, [&](Pack& pack) {
      const bool whole = take_others(facts_, pack, places_, inner_);
      if (!whole) why = pack.array->name + " is used where it cannot be a pack";
      return !whole;
    });
    if (plan_.packs.empty() && found > 0) return false;
    if (plan_.packs.empty())
      return why = "no access steps by one element with " + plan_.variable + " from aligned places",
             false;
    return true;
  }

 private:
  /// Of a global array whose elements can stand in a vector, in every iteration, at a place that
  /// the body does not change.
  [[nodiscard]] bool is_plain(std::size_t i) const {
    const Access& access = *places_.accesses[i];
    const Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || access.vector_width != 1 || replaceable(access) == nullptr)
      return false;
    if (array.element_bytes == 0 || array.element_bytes > 8 || array.escapes || !array.dtype)
      return false;
    if (enclosing_loop(*access.stmt) != enclosing_loop(*body_.front()) ||
        !is_always_evaluated(*access.expr))
      return false;
    // of an early return before it, too
    if (access.guards.size() != facts_.guards_at(*body_.back()).size()) return false;
    return std::none_of(written_.begin(), written_.end(), [&](const std::string& name) {
      return places_.indices[i].mentions(name) && !inner_.contains(name);
    });
  }

  /// An empty pack of the access's array; nullopt if no vector holds it or the array is not aligned
  /// enough.
  [[nodiscard]] std::optional<Pack> pack_of(std::size_t i, std::int64_t stride) const {
    const Array& array = facts_.arrays[static_cast<std::size_t>(places_.accesses[i]->array)];
    Pack out;
    out.array = &array, out.stride = stride, out.type = array.type,
    out.element_bytes = array.element_bytes;
    const std::size_t bytes = chunk_bytes(out, plan_.width);
    if (vector_type(array.type, array.element_bytes, bytes).empty() ||
        array.alignment_bytes < static_cast<std::int64_t>(bytes))
      return std::nullopt;
    out.index = places_.indices[i];
    out.as_written = stands_outside(*places_.accesses[i], inner_);
    // by the array's name, which the kernel may have made point elsewhere
    const bool expressible =
        !is_moved(facts_, array) &&
        std::none_of(inner_.begin(), inner_.end(),
                     [&](const std::string& name) { return out.index.mentions(name); });
    return out.as_written || expressible ? std::optional(out) : std::nullopt;
  }

  [[nodiscard]] std::int64_t alignment(const Pack& pack) const {
    return static_cast<std::int64_t>(chunk_bytes(pack, plan_.width) / pack.element_bytes);
  }

  /// Elements that step by one.
  void take(std::size_t i, const Access* start) {
    if (!is_plain(i)) return;
    const Access& access = *places_.accesses[i];
    const auto known = std::find_if(plan_.packs.begin(), plan_.packs.end(), [&](const Pack& p) {
      return p.accesses.front()->array == access.array &&
             places_.indices[places_.of(p.accesses.front())] == places_.indices[i];
    });
    if (known != plan_.packs.end()) return add(*known, access, 0);
    auto pack = pack_of(i, 1);
    if (!pack) return;
    if (start == nullptr) {
      if (!steps_by_one(facts_, places_.indices[i], access.index, plan_.variable, plan_.width,
                        alignment(*pack)))
        return;
    } else if (!steps_beside(i, *start, *pack)) {
      return;
    }
    add(plan_.packs.emplace_back(std::move(*pack)), access, 0);
  }

  /// Aligned where the elements of `start` are.
  [[nodiscard]] bool steps_beside(std::size_t i, const Access& start, const Pack& pack) const {
    const Polynomial &index = places_.indices[i], &first = places_.indices[places_.of(&start)];
    const bool both = index.affine_in(plan_.variable) && first.affine_in(plan_.variable) &&
                      index.coefficient_of(plan_.variable).constant() == 1 &&
                      first.coefficient_of(plan_.variable).constant() == 1;
    return both && is_multiple(facts_, index - first, alignment(pack)) &&
           (plan_.packs.empty() || alignment(pack) <= alignment(plan_.packs.front()));
  }

  /// Elements `stride` apart of which every one is touched: pairs, colours, components.
  void take_side_by_side() {
    std::set<std::size_t> taken;
    for (std::size_t low = 0; low < places_.accesses.size(); ++low) {
      const Polynomial& index = places_.indices[low];
      if (taken.contains(low) || !is_plain(low) || !index.affine_in(plan_.variable)) continue;
      const std::int64_t stride = index.coefficient_of(plan_.variable).constant().value_or(0);
      if (stride < 2 || stride > kMostPackStride) continue;
      std::vector<std::pair<std::size_t, std::int64_t>> members;
      std::set<std::int64_t> offsets;
      for (std::size_t i = 0; i < places_.accesses.size(); ++i) {
        const auto offset = (places_.indices[i] - index).constant();
        if (places_.accesses[i]->array != places_.accesses[low]->array || !offset || *offset < 0 ||
            *offset >= stride || taken.contains(i) || !is_plain(i))
          continue;
        members.emplace_back(i, *offset);
        offsets.insert(*offset);
      }
      auto pack =
          static_cast<std::int64_t>(offsets.size()) == stride ? pack_of(low, stride) : std::nullopt;
      if (!pack || !is_multiple(facts_, index.without(plan_.variable), alignment(*pack))) continue;
      Pack& kept = plan_.packs.emplace_back(std::move(*pack));
      add(kept, *places_.accesses[low], 0);  // whose text is that of the first element
      for (const auto& [i, offset] : members) {
        if (i != low) add(kept, *places_.accesses[i], offset);
        taken.insert(i);
      }
    }
  }

  static void add(Pack& pack, const Access& access, std::int64_t offset) {
    pack.accesses.push_back(&access);
    pack.offsets.push_back(offset);
  }

  /// What was stored before needs no load.
  void finish(Pack& pack) const {
    for (std::size_t k = 0; k < pack.accesses.size(); ++k) {
      pack.store = pack.store || pack.accesses[k]->writes();
      const std::size_t place = places_.of(pack.accesses[k]),
                        stored = stored_from(pack, pack.offsets[k], places_);
      pack.load = pack.load || (pack.accesses[k]->reads() && place <= stored);
    }
  }

  const KernelFacts& facts_;
  const std::vector<const Stmt*>& body_;
  PackPlan& plan_;
  std::set<std::string, std::less<>> inner_;
  std::set<std::string> written_;
  Places places_;
};

}  // namespace

std::optional<PackPlan> plan_packs(const KernelFacts& facts,
                                   const std::vector<const Stmt*>& body,
                                   std::string_view variable,
                                   std::int64_t width,
                                   std::string& why,
                                   const Access* start) {
  PackPlan plan{std::string(variable), width, {}};
  if (!PackFinder(facts, body, plan).find(start, why)) return std::nullopt;
  if (start != nullptr && (plan.packs.empty() || plan.packs.front().accesses.front() != start))
    return std::nullopt;
  return plan;
}

}  // namespace warpath
