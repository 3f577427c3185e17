#include <algorithm>
#include <array>

#include "moves/edit/hinted_access.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// How the caches treat an array: values of the parameter.
enum Policy : std::int64_t { kDefault, kStreaming, kL2Only, kReadOnly };
constexpr std::array<std::string_view, 4> kLoads{"", "__ldcs", "__ldcg", "__ldg"};
constexpr std::array<std::string_view, 4> kStores{"", "__stcs", "__stcg", ""};

/// A load or store that a function can take over: `place` is the element or the vector at it.
/// `hint` is the call that does it already; then only its name changes.
struct Transfer {
  const Expr* place = nullptr;
  bool store = false;
  const Expr* hint = nullptr;
};

/// Hints that another may replace; __ldcv and __stwt promise more than a way through the caches.
bool is_exchangeable(std::string_view call) {
  static constexpr std::array<std::string_view, 8> kHints{"__ldg",  "__ldca", "__ldcg", "__ldcs",
                                                          "__ldlu", "__stcs", "__stcg", "__stwb"};
  return std::find(kHints.begin(), kHints.end(), call) != kHints.end();
}

std::string_view hint_of(bool store, std::int64_t policy) {
  return (store ? kStores : kLoads)[static_cast<std::size_t>(policy)];
}

/// The dereferenced vector pointer around x[i] in *reinterpret_cast<float4*>(&x[i]) and
/// reinterpret_cast<float4*>(&x[i])[1]; or the subscript itself.
const Expr& whole_place(const Expr& subscript) {
  const Expr* at = &subscript;
  if (at->parent != nullptr && at->parent->is_op(ExprKind::unary, "&")) {
    const Expr* cast = at->parent->parent;
    if (cast != nullptr && cast->is(ExprKind::cast) && cast->parent != nullptr) {
      const Expr& outer = *cast->parent;
      if (outer.is_op(ExprKind::unary, "*") ||
          (outer.is(ExprKind::subscript) && outer.args[0] == cast))
        return outer;
    }
  }
  return subscript;  // NOLINT(bugprone-return-const-ref-from-parameter): a node of the tree
}

bool can_be_hinted(std::string_view type) {
  static constexpr std::array<std::string_view, 22> kTypes{
      "float",         "double",         "int",         "unsigned int",
      "unsigned",      "char",           "signed char", "unsigned char",
      "short",         "unsigned short", "long long",   "unsigned long long",
      "__nv_bfloat16", "nv_bfloat16",    "half",        "__half",
      "long",          "unsigned long",  "uint8_t",     "int8_t",
      "int32_t",       "uint32_t"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

std::optional<std::vector<Transfer>> accesses_of(const KernelModel& model,
                                                 int array,
                                                 std::string& why) {
  const KernelFacts& facts = model.facts;
  std::vector<Transfer> out;
  for (const Access* access : facts.accesses_to(array)) {
    if (access->kind == AccessKind::atomic || access->kind == AccessKind::read_write ||
        access->in_helper) {
      return why = "an access is no plain load or store", std::nullopt;
    }
    if (const Expr* const hint = hinting_call(*access)) {
      if (!is_exchangeable(callee(*hint)))
        return why = std::string(callee(*hint)) + " is more than a hint", std::nullopt;
      out.push_back({nullptr, access->writes(), hint});
      continue;
    }
    const Expr& place = access->vector_width > 1 && !access->expr->is(ExprKind::subscript)
                            ? *access->expr
                            : whole_place(*access->expr);
    const Expr* const parent = place.parent;
    if (!place.is(ExprKind::subscript) && !place.is_op(ExprKind::unary, "*"))
      return why = "an access is no element that has an address", std::nullopt;
    if (parent != nullptr && parent->is_op(ExprKind::unary, "&"))
      return why = "the address of an element is used otherwise", std::nullopt;
    Transfer move{&place, access->writes(), nullptr};
    if (move.store) {
      const bool statement = parent != nullptr && parent->is_op(ExprKind::assign, "=") &&
                             parent->args[0] == &place && parent->parent == nullptr;
      if (!statement) return why = "a store is part of an expression", std::nullopt;
    }
    out.push_back(move);
  }
  if (out.empty()) return why = "no access to it", std::nullopt;
  const std::vector<const Access*> all = facts.accesses_to(array);
  if (std::all_of(all.begin(), all.end(),
                  [](const Access* a) { return a->index.constant().has_value(); }))
    return why = "the same few elements for every thread", std::nullopt;
  return out;
}

/// A cache hint on all loads and stores of an array: streaming (.cs) for what is touched once, L2
/// only (.cg) for what other multiprocessors share, the read-only path (__ldg). Site
/// "argument:NAME" of the spec.
class CachePolicy final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "cache_policy_cg"; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kArgumentPrefix)) return {};
    return {Tunable{"policy",
                    {kStreaming, kL2Only, kReadOnly},
                    kStreaming,
                    "1: streaming (.cs), 2: level 2 only (.cg), 3: read-only path (__ldg)"}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel& model) const override {
    std::vector<MoveInstance> out;
    for (const Array& array : model.facts.arrays) {
      if (!array.spec_name.empty())
        add(out, std::string(kArgumentPrefix) + array.spec_name, "policy",
            {kStreaming, kL2Only, kReadOnly});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    const std::int64_t policy = wanted.parameters.at("policy");
    const KernelFacts& facts = model.facts;
    for (std::size_t a = 0; a < facts.arrays.size(); ++a) {
      const Array& array = facts.arrays[a];
      if (array.spec_name.empty() || std::string(kArgumentPrefix) + array.spec_name != wanted.site)
        continue;
      if (array.space != Space::global || array.escapes)
        return why = array.name + " is not followed everywhere", std::nullopt;
      if (!can_be_hinted(array.type))
        return why = "no hinted access takes " + array.type, std::nullopt;
      if (policy == kReadOnly && array.written)
        return why = array.name + " is written", std::nullopt;
      for (std::size_t b = 0; policy == kReadOnly && b < facts.arrays.size(); ++b) {
        if (facts.arrays[b].written && facts.may_alias(static_cast<int>(a), static_cast<int>(b)))
          return why = facts.arrays[b].name + " may be its memory", std::nullopt;
      }
      const auto moves = accesses_of(model, static_cast<int>(a), why);
      if (!moves) return std::nullopt;
      const auto hinted_so = [&](const Transfer& m) {
        return m.hint != nullptr && callee(*m.hint) == hint_of(m.store, policy);
      };
      if (std::all_of(moves->begin(), moves->end(), hinted_so))
        return why = "the accesses have that hint", std::nullopt;
      Rewrite rewrite(model);
      for (const Transfer& m : *moves) rewrite_access(m, policy, rewrite);
      return rewrite.finish(context.variant);
    }
    return why = "no array argument at " + wanted.site, std::nullopt;
  }

  static void rewrite_access(const Transfer& m, std::int64_t policy, Rewrite& rewrite) {
    const std::string_view call = hint_of(m.store, policy);
    if (m.hint != nullptr) return rewrite.replace(m.hint->arg(0).span, std::string(call));
    const Expr& place = *m.place;
    // *p becomes call(p), x[i] becomes call(&x[i]); the inner text is kept, since it may contain
    // accesses itself.
    const std::string open = std::string(call) + "(";
    if (place.is_op(ExprKind::unary, "*")) {
      rewrite.replace(place.name_span, open);
    } else {
      rewrite.insert(place.span.begin, open + "&");
    }
    if (!m.store) return rewrite.insert(place.span.end, ")");
    // (x[i]) = v
    if (place.outer.begin < place.span.begin)
      rewrite.replace({place.outer.begin, place.span.begin}, "");
    const Expr& assign = *place.parent;
    const std::size_t value = assign.arg(1).outer.begin;
    rewrite.replace({place.span.end, value}, ", ");
    rewrite.insert(assign.span.end, ")");
  }
};

}  // namespace

void register_move_cache_policy_cg(MoveRegistry& registry) {
  registry.add("cache_policy_cg", "a cache hint on the loads and stores of an array",
               [] { return std::make_unique<CachePolicy>(); });
}

}  // namespace warpath
