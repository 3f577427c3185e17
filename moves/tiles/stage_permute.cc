#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/device_limits.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_parts.h"
#include "moves/tiles/staging.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kShortest = 8;  // coordinates of fewer values leave most of a tile idle
constexpr std::string_view kFlat = "the flat index";

/// constant + the sum of factor * (i / divisor) over the flat index i, factors by divisor.
struct Form {
  std::map<std::int64_t, std::int64_t> factors;
  std::int64_t constant = 0;
};

/// A coordinate: i / divisor % extent, and the factor that an index has with it.
struct Coordinate {
  std::int64_t divisor = 1, extent = 1;
  std::int64_t in = 0, out = 0;  ///< in the load's index, in the store's
  std::string name;
};

/// Whether each divisor divides the next, so that the quotients between them are coordinates.
bool is_chain(const std::set<std::int64_t>& divisors) {
  std::int64_t last = 1;
  return std::ranges::all_of(divisors,
                             [&](std::int64_t d) { return d % std::exchange(last, d) == 0; });
}

/// The factor of the coordinate that counts in steps of `divisor`.
std::int64_t stride(const Form& form, std::int64_t divisor) {
  std::int64_t out = 0;
  for (const auto& [d, factor] : form.factors) {
    if (d <= divisor) out += factor * (divisor / d);
  }
  return out;
}

bool is_nonnegative(const Form& form) {
  std::set<std::int64_t> divisors{1};
  for (const auto& [d, factor] : form.factors) divisors.insert(d);
  return form.constant >= 0 && is_chain(divisors) &&
         std::ranges::all_of(divisors, [&](std::int64_t d) { return stride(form, d) >= 0; });
}

/// form / by, rounded down; the value is not negative.
std::optional<Form> quotient(const Form& form, std::int64_t by, std::int64_t total) {
  Form out;
  bool rest = false;
  if (by < 1 || by > kMost || form.constant % by != 0 || !is_nonnegative(form)) return std::nullopt;
  out.constant = form.constant / by;
  for (const auto& [d, factor] : form.factors) {
    if (factor % by == 0) {
      out.factors[d] += factor / by;
    } else if (!rest && factor > 0 && by % factor == 0) {
      rest = true;
      if (d * (by / factor) < total) out.factors[d * (by / factor)] += 1;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<Form> form_of(const Polynomial& value, std::int64_t total) {
  if (!value.is_known()) return std::nullopt;
  Form out;
  for (const Polynomial::Term& term : value.terms()) {
    if (term.factors.size() > 1 || std::abs(term.coefficient) > kMost) return std::nullopt;
    if (term.factors.empty()) {
      out.constant += term.coefficient;
      continue;
    }
    const Atom& atom = *term.factors[0];
    Form part;
    if (atom.text == kFlat) {
      part.factors[1] = 1;
    } else {
      const bool remainder = atom.op == "%";
      if ((!remainder && atom.op != "/") || atom.operands.size() != 2) return std::nullopt;
      const auto whole = form_of(atom.operands[0], total);
      const auto by = atom.operands[1].constant();
      const auto over = whole && by ? quotient(*whole, *by, total) : std::nullopt;
      if (!over) return std::nullopt;
      part = *over;
      if (remainder) {
        for (auto& [d, factor] : part.factors) factor *= -*by;
        part.constant *= -*by;
        for (const auto& [d, factor] : whole->factors) part.factors[d] += factor;
        part.constant += whole->constant;
      }
    }
    for (const auto& [d, factor] : part.factors) {
      if (std::abs(factor) > kMost) return std::nullopt;
      out.factors[d] += factor * term.coefficient;
    }
    out.constant += part.constant * term.coefficient;
  }
  std::erase_if(out.factors, [](const auto& one) { return one.second == 0; });
  if (std::ranges::any_of(out.factors,
                          [](const auto& one) { return std::abs(one.second) > kMost; }))
    return std::nullopt;
  return out;
}

/// A kernel of one flat index below `total` that loads in one order of its coordinates and stores
/// in another.
struct Permutation {
  GuardedBody body;
  std::int64_t total = 0;
  const Access* load = nullptr;
  const Access* store = nullptr;
  Form in, out;
  std::vector<Coordinate> coordinates;  ///< innermost first
  std::size_t along_in = 0, along_out = 0;
};

std::optional<Form> form_in(const KernelFacts& facts,
                            const ThreadIndex& index,
                            const Polynomial& value,
                            std::int64_t total) {
  const Polynomial blocks = facts.resolved(index.value).without("threadIdx.x");
  return form_of(facts.resolved(value).substituted("threadIdx.x", Polynomial::name(kFlat) - blocks),
                 total);
}

/// Divides the flat index where load or store do. False if no tile has both orders.
bool find_coordinates(Permutation& p, std::string& why) {
  std::set<std::int64_t> divisors{1};
  for (const Form* form : {&p.in, &p.out}) {
    for (const auto& [d, factor] : form->factors) divisors.insert(d);
  }
  if (!is_chain(divisors) || p.total % *divisors.rbegin() != 0)
    return why = "the guard is no product of the coordinates' extents", false;
  std::int64_t last_in = p.in.constant, last_out = p.out.constant;
  int units_in = 0, units_out = 0;
  for (auto d = divisors.begin(); d != divisors.end(); ++d) {
    const std::int64_t next = std::next(d) == divisors.end() ? p.total : *std::next(d);
    const Coordinate one{*d, next / *d, stride(p.in, *d), stride(p.out, *d), ""};
    if (one.in < 0 || one.out < 1 || one.in > kMost || one.out > kMost || last_in < 0 ||
        last_out < 0)
      return why = "an index falls with a coordinate, or a coordinate is not stored by", false;
    last_in += one.in * (one.extent - 1), last_out += one.out * (one.extent - 1);
    if (last_in > kMost || last_out > kMost) return why = "an index needs more than 32 bits", false;
    if (one.in == 1) p.along_in = p.coordinates.size(), ++units_in;
    if (one.out == 1) p.along_out = p.coordinates.size(), ++units_out;
    p.coordinates.push_back(one);
  }
  std::vector<Coordinate> stored = p.coordinates;
  std::ranges::sort(stored, {}, &Coordinate::out);
  for (std::size_t i = 1; i < stored.size(); ++i) {
    if (stored[i].out < stored[i - 1].out * stored[i - 1].extent)
      return why = "two points may store the same element", false;
  }
  if (units_in != 1 || units_out != 1 || p.along_in == p.along_out)
    return why = "loads and stores are contiguous along the same coordinate", false;
  for (const std::size_t at : {p.along_in, p.along_out}) {
    if (p.coordinates[at].extent < kShortest)
      return why = "a coordinate is too short for a tile", false;
  }
  return true;
}

bool is_plain(const KernelFacts& facts, const Access& access) {
  const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
  return array.is_parameter && access.expr->is(ExprKind::subscript) &&
         access.expr->arg(0).is_name(array.name) && access.vector_width == 1 && !access.in_helper &&
         replaceable(access) != nullptr;
}

/// What the kernel does besides the access by its index, in `why`, if a thread of another index
/// could not do it.
bool is_pointwise(const KernelModel& kernel, const GuardedBody& body, std::string& why) {
  const KernelFacts& facts = kernel.facts;
  if (why = facts.threads_veto(); !why.empty()) return false;
  if (!facts.loops.empty()) return why = "the kernel has loops", false;
  if (facts.has_assembly) return why = "the kernel has assembly", false;
  if (!body.only_bound) return why = "the guard tests more than the index", false;
  if (body.index->declarator->stmt == nullptr ||
      body.index->declarator->stmt->declarators.size() != 1)
    return why = "the index is declared with others", false;
  if (body.index->declarator->has(kAuto | kVolatile))
    return why = "the index has no type of its own", false;
  for (const std::string& name : facts.names_written(*kernel.kernel->body)) {
    if (name == body.index->name && std::ranges::any_of(body.statements, [&](const Stmt* s) {
          return std::ranges::count(facts.names_written(*s), name) > 0;
        }))
      return why = "the index changes", false;
  }
  for (const Array& array : facts.arrays) {
    if (is_moved(facts, array)) return why = "the kernel moves a pointer", false;
    if (array.space != Space::global || (array.declarator && array.declarator->has(kVolatile)))
      return why = array.name + " is no plain global memory", false;
    if (array.atomic || (array.read && array.written))
      return why = array.name + " is read and written", false;
  }
  const std::set<std::string_view> own{"threadIdx", "blockIdx", "blockDim", "gridDim"};
  bool by_itself = false;
  for (const Stmt* s : body.statements) {
    if (jumps_out(*s)) return why = "a statement leaves the kernel", false;
    walk(*s, [&](const Stmt& inner) {
      by_itself = by_itself || inner.is(StmtKind::directive) || inner.is(StmtKind::macro);
      return true;
    });
  }
  for (const Stmt* s : kernel.kernel->body->children) {
    if (s == body.index->declarator->stmt) continue;
    if (s->is(StmtKind::directive)) by_itself = true;
    walk_expressions(*s, [&](const Expr& e) {
      by_itself = by_itself || (e.is(ExprKind::name) && own.contains(e.name));
      return true;
    });
  }
  return by_itself
             ? (why = "the thread's index is used by itself, or a directive stands inside", false)
             : true;
}

std::optional<Permutation> find_permutation(const MoveContext& context,
                                            const KernelModel& kernel,
                                            std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](const char* text) { return why = text, std::nullopt; };
  auto body = guarded_body(facts, 0, why);
  if (!body || !is_pointwise(kernel, *body, why)) return std::nullopt;
  Permutation out;
  out.body = *body;
  if (!covers_axis(context, facts, *body->index, 1) || has_own_plans(context.spec))
    return none("the index counts blocks of another size than the launch plan's");
  for (const Workload* w : workloads_of(context)) {
    const Bindings values = facts.values(*w);
    for (const char* name : {"gridDim.y", "gridDim.z", "blockDim.y", "blockDim.z"}) {
      if (const auto at = values.find(name); at == values.end() || at->second != 1)
        return none("the launch has more than one axis");
    }
  }
  const auto total = fixed(facts, *body->index->bound);
  if (!total || *total < 1 || *total > kMost)
    return none("the number of points is not known, or needs more than 32 bits");
  out.total = *total;
  for (const Access& access : facts.accesses) {
    if (!access.writes()) continue;
    if (out.store != nullptr) return none("there is more than one store");
    out.store = &access;
  }
  if (out.store == nullptr || !is_plain(facts, *out.store) || out.store->guards.size() != 1)
    return none("no store of an element a point");
  const auto stored = form_in(facts, *body->index, out.store->index, out.total);
  if (!stored) return none("the stored index is no sum of the flat index's coordinates");
  out.out = *stored;
  why = "no load that all points make, by coordinates of the flat index";
  for (const Access& access : facts.accesses) {
    if (access.writes() || !is_plain(facts, access) || access.guards.size() != 1 ||
        !is_always_evaluated(*access.expr) || facts.may_alias(access.array, out.store->array) ||
        facts.arrays[static_cast<std::size_t>(access.array)].element_bytes == 0 ||
        std::ranges::none_of(body->statements,
                             [&](const Stmt* s) { return is_inside(*access.expr, *s); }))
      continue;
    const auto loaded = form_in(facts, *body->index, access.index, out.total);
    if (!loaded) continue;
    Permutation one = out;
    one.load = &access, one.in = *loaded;
    if (find_coordinates(one, why)) return one;
  }
  return std::nullopt;
}

/// A value that is a sum of the coordinates; nullopt if it divides them, or may be negative.
std::optional<std::string> text_of(const Permutation& p, const Form& form) {
  std::string out;
  std::int64_t last = form.constant;
  for (const auto& [d, factor] : form.factors) {
    if (std::ranges::count(p.coordinates, d, &Coordinate::divisor) == 0) return std::nullopt;
  }
  for (auto c = p.coordinates.rbegin(); c != p.coordinates.rend(); ++c) {
    const std::int64_t factor = stride(form, c->divisor);
    if (factor == 0 || c->extent == 1) continue;
    last += factor * (c->extent - 1);
    if (factor < 0 || factor > kMost || last > kMost) return std::nullopt;
    out += (out.empty() ? "" : " + ") + c->name + (factor == 1 ? "" : " * " + number(factor));
  }
  if (form.constant < 0) return std::nullopt;
  if (form.constant > 0 || out.empty()) out += (out.empty() ? "" : " + ") + number(form.constant);
  return out;
}

/// The statements with indices made of the coordinates and the load from `element`; definitions
/// that nothing needs are left out.
std::string rewritten_body(const KernelModel& kernel,
                           const Permutation& p,
                           const std::string& element) {
  const Unit& unit = kernel.unit;
  const KernelFacts& facts = kernel.facts;
  std::vector<const Stmt*> list;
  for (const Stmt* s : kernel.kernel->body->children) {
    if (s->is(StmtKind::declaration) && std::ranges::count(p.body.statements, s) == 0)
      list.push_back(s);
  }
  list.insert(list.end(), p.body.statements.begin(), p.body.statements.end());
  std::vector<std::string> texts;
  for (const Stmt* s : list) {
    std::vector<Edit> edits;
    const auto replace = [&](Span span, const std::optional<std::string>& text) {
      if (text) edits.push_back({span.begin, span.end, *text});
    };
    const Expr& at = p.store->expr->arg(1);
    const Span load = replaceable(*p.load)->span;
    const bool loads = is_inside(*p.load->expr, *s), stores = is_inside(*p.store->expr, *s);
    if (loads) replace(load, element);
    if (stores && !at.span.overlaps(load)) replace(at.span, text_of(p, p.out));
    if (s->is(StmtKind::declaration) && !loads && !s->text_only && s->declarators.size() == 1) {
      const Declarator& d = *s->declarators[0];
      if (d.value() != nullptr && !d.is_pointer() && !d.reference && !d.has(kConstexpr | kAuto)) {
        const auto form = form_in(facts, *p.body.index, facts.polynomial(*d.value()), p.total);
        if (form && !form->factors.empty()) replace(d.value()->span, text_of(p, *form));
      }
    }
    texts.push_back(
        unindented(indentation(unit, s->span.begin) + substituted(unit, s->span, edits)));
  }
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Stmt& s = *list[i];
      if (texts[i].empty() || !s.is(StmtKind::declaration) || s.text_only ||
          s.declarators.size() != 1 || is_inside(*p.load->expr, s))
        continue;
      const Declarator& d = *s.declarators[0];
      if (d.value() == nullptr || d.is_pointer() || !is_pure(unit, *d.value())) continue;
      bool used = false;
      for (std::size_t j = 0; j < list.size(); ++j)
        used = used || (j != i && names_in(texts[j]).contains(std::string(d.name)));
      if (!used) texts[i].clear(), again = true;
    }
  }
  std::string out;
  for (const std::string& text : texts) {
    if (!text.empty()) out += text + (text.ends_with('\n') ? "" : "\n");
  }
  return out;
}

}  // namespace

std::optional<Variant> permuted_through_tile(const MoveContext& context,
                                             const KernelModel& kernel,
                                             std::int64_t tile,
                                             std::int64_t rows,
                                             std::string& why) {
  auto p = find_permutation(context, kernel, why);
  if (!p) return std::nullopt;
  const Unit& unit = kernel.unit;
  const Array& array = kernel.facts.arrays[static_cast<std::size_t>(p->load->array)];
  if (tile * (tile + 1) * static_cast<std::int64_t>(array.element_bytes) > kStaticSmemBytes)
    return why = "the tile needs more shared memory than a block has", std::nullopt;
  std::int64_t rest = 1;
  const std::int64_t outer_points =
      p->total / p->coordinates[p->along_in].extent / p->coordinates[p->along_out].extent;
  std::set<std::string, std::less<>> taken;
  const auto fresh = [&](const std::string& wish) { return fresh_name(unit, wish, &taken); };
  const std::string size = fresh("TILE"), step = fresh("ROWS"), buffer = fresh("tile"),
                    r = fresh("r");
  std::string outer;
  for (std::size_t i = 0; i < p->coordinates.size(); ++i) {
    Coordinate& c = p->coordinates[i];
    c.name = fresh(i == p->along_in ? "along_in" : i == p->along_out ? "along_out" : "outer");
    if (i == p->along_in || i == p->along_out) continue;
    if (c.extent > 1)
      outer += "const int " + c.name + " = blockIdx.z" + (rest > 1 ? " / " + number(rest) : "") +
               (rest * c.extent < outer_points ? " % " + number(c.extent) : "") + ";\n";
    rest *= c.extent;
  }
  const Coordinate &in = p->coordinates[p->along_in], &out = p->coordinates[p->along_out];
  const std::int64_t in_tiles = (in.extent + tile - 1) / tile,
                     out_tiles = (out.extent + tile - 1) / tile;
  if (in_tiles > 65535 || rest > 65535)
    return why = "the grid would be too large along an axis", std::nullopt;
  const auto stage = [&](CodeWriter& w, bool load) {
    w.open("for (int " + r + " = threadIdx.y; " + r + " < " + size + "; " + r + " += " + step +
           ")");
    w.line("const int " + in.name + " = blockIdx.y * " + size + " + " + (load ? "threadIdx.x" : r) +
           ";");
    w.line("const int " + out.name + " = blockIdx.x * " + size + " + " +
           (load ? r : "threadIdx.x") + ";");
    w.open("if (" + in.name + " < " + number(in.extent) + " && " + out.name + " < " +
           number(out.extent) + ")");
  };
  const Span whole = replaceable(*p->load)->span, at = p->load->expr->arg(1).span;
  const auto index = text_of(*p, p->in);
  if (!index || !whole.contains(at)) return why = "the load stands in a macro", std::nullopt;
  CodeWriter w(indent_unit(unit));
  w.line("constexpr int " + size + " = " + number(tile) + ", " + step + " = " + number(rows) + ";");
  w.line("__shared__ " + array.type + " " + buffer + "[" + size + "][" + size +
         " + 1];  // one more column: rows and columns start in different banks");
  w.lines(outer);
  w.line("// In: neighbours in a warp load along the input.");
  stage(w, true);
  w.line(buffer + "[" + r + "][threadIdx.x] = " + unit.plain_text({whole.begin, at.begin}) +
         *index + unit.plain_text({at.end, whole.end}) + ";");
  w.close().close();
  w.line("__syncthreads();");
  w.line("// Out: they store along the output.");
  stage(w, false);
  w.lines(rewritten_body(kernel, *p, buffer + "[threadIdx.x][" + r + "]"));
  w.close().close();
  Variant result = context.variant;
  const Span body = kernel.kernel->body->span;
  std::vector<Edit> edits{{body.begin + 1, body.end - 1, "\n" + w.text()}};
  if (const Span bounds = kernel.kernel->launch_bounds; !bounds.empty())
    edits.push_back({bounds.begin, bounds.end, "__launch_bounds__(" + number(tile * rows) + ")"});
  result.source = edited(unit.source(), std::move(edits));
  result.launch.grid = {Expression(out_tiles), Expression(in_tiles), Expression(rest)};
  result.launch.block = {Expression(tile), Expression(rows), Expression(1)};
  return result;
}

}  // namespace warpath
