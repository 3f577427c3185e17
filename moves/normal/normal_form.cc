#include "moves/normal/normal_form.h"

#include <algorithm>

#include "engine/text/local_names.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/normal/decide_conditions.h"
#include "moves/normal/expand_macro.h"
#include "moves/normal/first_values.h"
#include "moves/normal/float_doubles.h"
#include "moves/normal/inline_call.h"
#include "moves/normal/lagging_index.h"
#include "moves/normal/launch_terms.h"
#include "moves/normal/mirrored_index.h"
#include "moves/normal/nested_returns.h"
#include "moves/normal/one_value.h"
#include "moves/normal/own_index.h"
#include "moves/normal/own_slots.h"
#include "moves/normal/thread_groups.h"
#include "moves/syntax/argument_effects.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr int kMostSteps = 200;
constexpr std::size_t kMostGrowth = 200'000;     // bytes
constexpr std::size_t kMostParsed = 40'000'000;  // bytes, by all steps

/// Calls of which the facts know no more than what they may touch.
std::size_t closed_calls(const KernelFacts& facts) {
  std::size_t out = 0;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    const bool closed = e.is(ExprKind::call) && !expansion_of(*facts.unit, e) &&
                        !is_pure_function(*facts.unit, callee(e)) &&
                        argument_effects(*facts.unit, e).has_value();
    out += closed ? 1U : 0U;
    return true;
  });
  return out;
}

/// How much of the kernel the facts do not follow, or follow where no move can change it.
std::size_t vetoes(const KernelFacts& facts) {
  std::size_t out = facts.state->unknown_effects.size() + facts.kernel->opaque.size();
  out += static_cast<std::size_t>(
      std::ranges::count_if(facts.accesses, [](const Access& a) { return a.in_helper; }));
  out += static_cast<std::size_t>(
      std::ranges::count_if(facts.loops, [](const auto& loop) { return shares_index(*loop); }));
  out += nested_returns(facts).size() + second_names(facts) + own_slots(facts).size() +
         terms_of_launch(facts).size() + mirrored_indices(facts) + lagging_indices(facts) +
         closed_calls(facts) + late_values(facts) + (float_doubles(facts).empty() ? 0U : 1U);
  for (const Array& array : facts.arrays) out += array.escapes ? 1U : 0U;
  return out + (facts.veto.empty() ? 0U : 1U);
}

/// What the facts say of a text.
struct Vetoes {
  std::size_t count = 0;
  std::string first;
  std::size_t misread = 0;  ///< opaque spans of the file
};

std::optional<Vetoes> vetoes_of(const KernelSpec& spec, const Variant& variant) {
  const Unit unit = parse(spec, variant);
  const Function* const kernel = unit.find_kernel(variant.kernel_name);
  if (kernel == nullptr || kernel->body == nullptr || unit.ambiguous()) return std::nullopt;
  const KernelFacts facts = analyse(unit, *kernel, {&spec, &variant});
  return Vetoes{vetoes(facts), facts.veto, unit.opaque().size()};
}

/// Removes functions that the kernel called and that nothing refers to any more.
void drop_unused(const KernelSpec& spec, Variant& variant, std::set<std::string> inlined) {
  for (bool more = true; more;) {
    more = false;
    const Unit unit = parse(spec, variant);
    for (const std::string& name : inlined) {
      std::vector<Span> own;
      for (const Function* f : unit.functions()) {
        if (f->name == name && f->record == nullptr) own.push_back(f->span);
      }
      const auto is_own = [&](std::size_t at) {
        return std::ranges::any_of(own, [&](Span s) { return s.begin <= at && at < s.end; });
      };
      bool used = own.empty();
      for (const Token& t : tokenize(unit.source()).tokens) {
        const std::string_view text = unit.source().substr(t.begin, t.size());
        const bool directive = t.kind == TokenKind::directive;
        const bool pragma = directive && directive_name(unit.source(), t) == "pragma";
        used = used || (directive && !pragma && is_own(t.begin)) ||
               (directive && text.find(name) != std::string_view::npos);
        if (t.kind == TokenKind::identifier && !is_own(t.begin)) used = used || text == name;
      }
      if (used) continue;
      std::vector<Edit> edits;
      for (const Span span : own) {
        Span lines = whole_lines(unit, span);
        const std::string_view before = unit.source().substr(0, lines.begin);
        const std::string_view behind = unit.source().substr(lines.end);
        const bool apart = before.empty() || before.ends_with("\n\n");
        if (apart && behind.starts_with('\n')) ++lines.end;
        edits.push_back({lines.begin, lines.end, ""});
      }
      variant.source = edited(unit.source(), std::move(edits));
      inlined.erase(name);
      more = true;
      break;
    }
  }
}

/// Text from which steps lead to the normal form.
class Normaliser {
 public:
  Normaliser(const KernelSpec& spec, const Variant& variant) : spec_(spec), now_(variant) {}

  void run() {
    const std::size_t most = now_.source.size() + kMostGrowth;
    std::size_t parsed = now_.source.size();
    bool stepped = step();
    before_ = last_;
    for (int i = 1; stepped && i < kMostSteps && now_.source.size() < most && parsed < kMostParsed;
         ++i) {
      parsed += now_.source.size();
      stepped = step();
    }
    after_ = stepped ? vetoes_of(spec_, now_) : last_;
    if (!inlined_.empty()) drop_unused(spec_, now_, inlined_);
    std::vector<Edit> edits;
    if (ungrouped_) drop_group_header(parse(spec_, now_), edits);
    now_.source = edited(now_.source, std::move(edits));
  }
  [[nodiscard]] const Variant& variant() const { return now_; }
  /// Of the text as given, and of the result; nullopt if there is no kernel that can be read.
  [[nodiscard]] const std::optional<Vetoes>& before() const { return before_; }
  [[nodiscard]] const std::optional<Vetoes>& after() const { return after_; }
  /// Why something was left as it was; empty if nothing was.
  [[nodiscard]] const std::string& left() const { return left_; }

 private:
  bool step() {
    last_.reset();
    const Unit unit = parse(spec_, now_);
    const Function* const kernel = unit.find_kernel(now_.kernel_name);
    if (kernel == nullptr || kernel->body == nullptr || unit.ambiguous()) return false;
    const KernelFacts facts = analyse(unit, *kernel, {&spec_, &now_});
    last_ = Vetoes{vetoes(facts), facts.veto, unit.opaque().size()};
    if (last_->count == 0) return false;
    const NormalSite site{unit, *kernel, spec_, now_, hoisted_, facts};
    left_.clear();
    std::vector<Edit> edits;
    std::string why;
    bool done = expand_macro(site, edits, why);
    keep(why);
    for (const Expr* call : done ? std::vector<const Expr*>{} : helper_calls(site)) {
      why.clear();
      edits.clear();
      if (inline_call(site, *call, edits, why)) {
        const std::string_view f = callee(*call);
        const std::size_t colons = f.rfind("::");
        inlined_.emplace(colons == std::string_view::npos ? f : f.substr(colons + 2));
        done = true;
        break;
      }
      keep(why);
    }
    if (!done) {
      why.clear();
      edits.clear();
      done = write_out_groups(site, edits, why);
      ungrouped_ = ungrouped_ || done;
      keep(why);
    }
    if (!done) {
      why.clear();
      edits.clear();
      done = mirror_in_body(site, edits) || lag_in_body(site, edits) || own_index(site, edits, why);
      keep(why);
    }
    if (!done) {
      edits.clear();
      done = declare_late(site, edits) || step_behind(site, edits) ||
             drop_launch_term(site, edits) || enclose_rest(site, edits) ||
             keep_slots(site, edits) || one_value(site, edits);
    }
    if (!done) {
      edits = float_doubles(facts);
      done = !edits.empty();
    }
    if (done) now_.source = edited(unit.source(), std::move(edits));
    return done;
  }

  void keep(const std::string& why) {
    if (left_.empty()) left_ = why;
  }

  const KernelSpec& spec_;
  Variant now_;
  std::map<std::string, std::string> hoisted_;
  std::set<std::string> inlined_;
  std::string left_;
  std::optional<Vetoes> before_, after_, last_;  // last_: of the text before the last step
  bool ungrouped_ = false;
};

}  // namespace

bool may_be_normalised(const KernelFacts& facts) {
  return vetoes(facts) > 0;
}

std::optional<Variant> normal_form(const MoveContext& context, std::string& why) {
  Variant decided = context.variant;
  const bool changed = decide_conditions(context, decided);
  Normaliser normaliser(context.spec, decided);
  normaliser.run();
  const auto before = changed ? vetoes_of(context.spec, context.variant) : normaliser.before();
  const auto& after = normaliser.after();
  if (!before) return why = "no kernel that can be read", std::nullopt;
  constexpr const char* kFollowed = "the facts follow all of the kernel";
  if (before->count == 0) return why = kFollowed, std::nullopt;
  // invalid C++ may only seem better because more of it is misread
  if (after && after->count < before->count && after->misread <= before->misread)
    return normaliser.variant();
  why = normaliser.left();
  if (why.empty()) why = after ? after->first : before->first;
  if (why.empty()) why = kFollowed;
  return std::nullopt;
}

}  // namespace warpath
