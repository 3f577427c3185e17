#include <algorithm>
#include <cstdlib>
#include <limits>

#include "engine/text/source_edit.h"
#include "moves/blocks/block_runner.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using ValueKind = BlockValue::Kind;

constexpr auto kHintedLoads =
    std::to_array<std::string_view>({"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"});
constexpr auto kHintedStores =
    std::to_array<std::string_view>({"__stwb", "__stcg", "__stcs", "__stwt"});

BlockValue pointer_to(int memory, BlockMemory::Element element) {
  BlockValue out;
  out.kind = ValueKind::pointer, out.array = memory;
  out.at = element.at, out.per_block = element.per_block;
  return out;
}

}  // namespace

/// The value of the expression in each thread; undefined after anything was not understood.
BlockRunner::Lanes BlockRunner::evaluated(const Expr& e, const Threads& threads) {
  if (!why_.empty() || threads.empty()) return {};
  Lanes out = evaluated_kind(e, threads);
  count_work(out.values.size());
  return why_.empty() ? out : Lanes();
}

BlockRunner::Lanes BlockRunner::evaluated_kind(const Expr& e, const Threads& threads) {
  switch (e.kind) {
    case ExprKind::number:
      return literal(e);
    case ExprKind::literal:
      if (e.name != "true" && e.name != "false") break;
      return Lanes(BlockValue::integer(e.name == "true" ? 1 : 0));
    case ExprKind::name:
      return named(e, threads);
    case ExprKind::member:
      return builtin(e, threads);
    case ExprKind::unary:
      return unary(e, threads);
    case ExprKind::postfix:
      return stepped(e, threads, true);
    case ExprKind::binary:
      return two_sided(e, threads);
    case ExprKind::assign:
      return assigned(e, threads);
    case ExprKind::conditional: {
      if (follows_ && compares_data(e.arg(0), threads)) {
        const Lanes a = evaluated(e.arg(1), threads);
        return chosen(e.arg(0), a, evaluated(e.arg(2), threads), threads);
      }
      const auto [yes, no] = split(e.arg(0), threads);
      const Lanes a = evaluated(e.arg(1), yes), b = evaluated(e.arg(2), no);
      return woven(threads, yes, a, b);
    }
    case ExprKind::comma:
      static_cast<void>(evaluated(e.arg(0), threads));
      return evaluated(e.arg(1), threads);
    case ExprKind::subscript:
      return loaded(places(e, threads), threads);
    case ExprKind::cast:
      return cast(e, threads);
    case ExprKind::call:
      return called(e, threads);
    default:
      break;
  }
  return stop_at(e), Lanes();
}

/// `a`, the values of threads `yes`, and `b`, those of the others.
BlockRunner::Lanes BlockRunner::woven(const Threads& threads,
                                      const Threads& yes,
                                      const Lanes& a,
                                      const Lanes& b) {
  if (yes.empty() || yes.size() == threads.size()) return yes.empty() ? b : a;
  Lanes out(threads);
  for (std::size_t i = 0, k = 0; i < threads.size(); ++i) {
    const bool first = k < yes.size() && yes[k] == threads[i];
    out.values[i] = first ? a[k] : b[i - k];
    if (first) ++k;
  }
  return out;
}

BlockRunner::Lanes BlockRunner::literal(const Expr& e) {
  if (const auto whole = integer_value(e.name)) return Lanes(BlockValue::integer(*whole));
  const double value = std::strtod(std::string(e.name).c_str(), nullptr);
  if (value != 0 && value != 1) stop_at(e);
  return Lanes(BlockValue::integer(value == 0 ? 0 : 1));
}

/// The variable that a name means; null for constants and for parameters of an expanded call.
BlockRunner::Variable* BlockRunner::variable_of(const Expr& e) {
  const auto [found, fresh] = named_.try_emplace(&e, nullptr);
  if (fresh) {
    const Declarator* const d = model::declaration_of(unit_, e);
    const auto known = variables_.find(d);
    found->second = known != variables_.end() ? &known->second : follows_ ? entered(d, e) : nullptr;
  }
  return found->second;
}

BlockRunner::Lanes BlockRunner::named(const Expr& e, const Threads& threads) {
  if (arguments_ != nullptr) {
    if (const auto bound = arguments_->find(e.name); bound != arguments_->end()) {
      const auto& [of, values] = bound->second;
      if (values.is_uniform()) return values;
      Lanes out(threads);
      for (std::size_t i = 0; i < threads.size(); ++i) {
        const auto at = std::lower_bound(of.begin(), of.end(), threads[i]) - of.begin();
        out.values[i] = values[static_cast<std::size_t>(at)];
      }
      return out;
    }
  } else if (const Variable* v = scalar(e)) {
    return read(*v, threads);
  } else if (v = variable_of(e); v != nullptr && v->memory >= 0) {
    // its elements are counted as those of another type
    if (is_viewed(*v) && !e.parent->is(ExprKind::cast)) return stop_at(e), Lanes();
    if (v->extents.size() == 1) return Lanes(pointer_to(v->memory, {}));
    if (v->extents.size() > 1) return stop_at(e), Lanes();
    return loaded(places(e, threads), threads);
  }
  if (const auto constant = model::constant_value(unit_, e, values_))
    return Lanes(BlockValue::integer(*constant));
  BlockValue out;
  if (e.name == "warpSize") out = BlockValue::integer(kWarp);
  if (e.name == "INT_MIN") out = BlockValue::integer(std::numeric_limits<std::int32_t>::min());
  if (e.name == "INT_MAX") out = BlockValue::integer(std::numeric_limits<std::int32_t>::max());
  if (e.name == "INFINITY" || e.name == "CUDART_INF_F") out.kind = ValueKind::infinite, out.at = 1;
  if (out.is(ValueKind::undefined)) stop_at(e);
  return Lanes(out);
}

BlockRunner::Lanes BlockRunner::builtin(const Expr& e, const Threads& threads) {
  const std::string text = std::string(e.arg(0).name) + "." + std::string(e.name);
  const std::size_t axis = e.name == "x" ? 0 : e.name == "y" ? 1 : 2;
  if (const auto known = values_.find(text); known != values_.end())
    return Lanes(BlockValue::integer(known->second));
  if (e.arg(0).is_name("blockIdx")) {
    const auto grid = values_.find("gridDim." + std::string(e.name));
    // Numbers are counted with the block along x; along another axis there must be one.
    if (axis > 0 && (grid == values_.end() || grid->second != 1)) return stop_at(e), Lanes();
    return Lanes(BlockValue::integer(0, axis == 0 ? 1 : 0));
  }
  if (!e.arg(0).is_name("threadIdx")) return stop_at(e), Lanes();
  const std::array<std::int64_t, 3> below{1, block_[0], block_[0] * block_[1]};
  Lanes out(threads);
  for (std::size_t i = 0; i < threads.size(); ++i)
    out.values[i] = BlockValue::integer(threads[i] / below[axis] % block_[axis]);
  return out;
}

BlockRunner::Lanes BlockRunner::unary(const Expr& e, const Threads& threads) {
  if (e.op == "++" || e.op == "--") return stepped(e, threads, false);
  if (e.op == "*") return loaded(places(e, threads), threads);
  if (e.op == "&") {
    const std::vector<Place> at = places(e.arg(0), threads);
    Lanes out(threads);
    for (std::size_t i = 0; i < at.size() && why_.empty(); ++i) {
      if (at[i].memory < 0) stop_at(e);
      out.values[i] = pointer_to(at[i].memory, at[i].element);
    }
    return out;
  }
  Lanes out = evaluated(e.arg(0), threads);
  for (BlockValue& v : out.values) {
    if (e.op == "-" && v.is(ValueKind::integer))
      v.at = -v.at, v.per_block = -v.per_block;
    else if (e.op == "-" && v.is(ValueKind::infinite))
      v.at = -v.at;
    else if (e.op == "!" && v.is_number())
      v.at = v.at == 0 ? 1 : 0;
    else if (e.op == "~" && v.is_number())
      v.at = ~v.at;
    else if (e.op != "+")
      stop_at(e);
  }
  return out;
}

BlockRunner::Lanes BlockRunner::two_sided(const Expr& e, const Threads& threads) {
  const bool both = e.op == "&&";
  if (both || e.op == "||") {
    const auto [yes, no] = split(e.arg(0), threads);
    const auto [second, rest] = split(e.arg(1), both ? yes : no);
    return woven(threads, both ? second : merged(yes, second), Lanes(BlockValue::integer(1)),
                 Lanes(BlockValue::integer(0)));
  }
  const Lanes left = evaluated(e.arg(0), threads), right = evaluated(e.arg(1), threads);
  return operated(e.op, left, right, e, e.arg(0), e.arg(1));
}

/// `a` op `b`, the values of `left` and `right`. Numbers are unbounded integers here: an `e` in
/// which the source's numbers overflow or are not integers is not followed.
BlockRunner::Lanes BlockRunner::operated(std::string_view text,
                                         const Lanes& a,
                                         const Lanes& b,
                                         const Expr& e,
                                         const Expr& left,
                                         const Expr& right) {
  const auto op = block_op(text);
  if (!op) return stop_at(e), Lanes();
  Lanes out;
  out.values.resize(std::max(a.values.size(), b.values.size()));
  const bool plain = *op <= BlockOp::multiply;
  bool negative = false, rounded = false;
  for (std::size_t i = 0; i < out.values.size() && why_.empty(); ++i) {
    const BlockValue &x = a[i], &y = b[i];
    const auto value = binary(*op, x, y, blocks_);
    if (!value) return stop_at(e), Lanes();
    out.values[i] = *value;
    if (plain || !x.is(ValueKind::integer) || !y.is(ValueKind::integer)) continue;
    negative |= x.at < 0 || y.at < 0;
    rounded |= *op == BlockOp::divide && x.at % y.at != 0;
  }
  const auto is_whole = [&](const Expr& side) {
    return model::is_integer_type(model::type_of(model_.facts, side));
  };
  if ((negative && (is_unsigned(left) || is_unsigned(right))) ||
      (rounded && !(is_whole(left) && is_whole(right))))
    stop_at(e);
  return out;
}

bool BlockRunner::is_unsigned(const Expr& e) const {
  const auto type = model::dtype_of_type(model::type_of(model_.facts, e));
  return !type || !info(*type).is_signed;
}

void BlockRunner::convert(Lanes& values, std::optional<DType> type) {
  if (!type) return;
  for (BlockValue& v : values.values) {
    if (const auto out = converted(v, *type, blocks_))
      v = *out;
    else
      return stop("a conversion of " + std::string(v.is(ValueKind::data) ? "data" : "a number"));
  }
}

BlockRunner::Lanes BlockRunner::cast(const Expr& e, const Threads& threads) {
  if (e.args.size() != 1) return stop_at(e), Lanes();
  Lanes out = evaluated(e.arg(0), threads);
  std::string words = unit_.resolved_type(model::plain_type(e));
  const bool pointer = words.ends_with('*');
  while (words.ends_with('*') || words.ends_with(' ')) words.pop_back();
  for (const std::string_view qualifier : {"const ", "volatile "}) {
    if (words.starts_with(qualifier)) words.erase(0, qualifier.size());
  }
  const auto type = model::dtype_of_type(words);
  const auto fits = [&](const BlockValue& v) {
    return v.is(ValueKind::pointer) == pointer &&
           (!pointer || memories_[static_cast<std::size_t>(v.array)].type == *type ||
            view(v, *type));
  };
  if (!type || !std::all_of(out.values.begin(), out.values.end(), fits)) return stop_at(e), Lanes();
  if (!pointer) convert(out, type);
  return out;
}

BlockRunner::Lanes BlockRunner::assigned(const Expr& e, const Threads& threads) {
  Lanes values = evaluated(e.arg(1), threads);
  Variable* v = scalar(e.arg(0));
  const std::vector<Place> to = v == nullptr ? places(e.arg(0), threads) : std::vector<Place>();
  if (!why_.empty()) return {};
  if (e.op != "=") {
    const Lanes before = v == nullptr ? loaded(to, threads) : read(*v, threads);
    values = operated(e.op.substr(0, e.op.size() - 1), before, values, e, e.arg(0), e.arg(1));
  }
  if (!why_.empty()) return {};
  if (v == nullptr) return stored(to, std::move(values), threads);
  convert(values, v->type);
  write(*v, values, threads);
  return values;
}

BlockRunner::Lanes BlockRunner::stepped(const Expr& e, const Threads& threads, bool after) {
  Variable* v = scalar(e.arg(0));
  if (v == nullptr) return stop_at(e), Lanes();
  const Lanes before = read(*v, threads);
  Lanes values =
      operated(e.op.substr(0, 1), before, Lanes(BlockValue::integer(1)), e, e.arg(0), e.arg(0));
  convert(values, v->type);
  write(*v, values, threads);
  return after ? before : values;
}

BlockRunner::Lanes BlockRunner::called(const Expr& e, const Threads& threads) {
  std::string_view name = model::callee(e);
  if (name.starts_with("std::")) name.remove_prefix(5);
  const std::size_t count = e.args.size() - 1;
  if (name == "__syncthreads" && count == 0) {
    if (threads.size() != static_cast<std::size_t>(threads_))
      why_ = "not all threads reach a barrier";
    ++now_.block;
    return {};
  }
  if (name == "__syncwarp") {
    if (!has_whole_warps(threads)) stop_at(e);
    for (const int t : threads) {
      if (t % kWarp == 0) ++now_.warps[static_cast<std::size_t>(t / kWarp)];
    }
    return {};
  }
  if (name == "__threadfence_block" || (name == "__threadfence" && !follows_)) return {};
  if (name.starts_with("__shfl_")) return shuffled(e, name, threads);
  const auto one_of = [&](const auto& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (count == 1 && one_of(kHintedLoads)) return hinted(e, false, threads);
  if (count == 2 && one_of(kHintedStores)) return hinted(e, true, threads);
  const bool least = name == "min" || name == "fmin" || name == "fminf",
             most = name == "max" || name == "fmax" || name == "fmaxf";
  if (count == 2 && (least || most)) {
    const Lanes left = evaluated(e.arg(1), threads), right = evaluated(e.arg(2), threads);
    return operated(least ? "min" : "max", left, right, e, e.arg(1), e.arg(2));
  }
  return expanded(e, name, threads);
}

/// A load or store through a pointer with a hint for the cache.
BlockRunner::Lanes BlockRunner::hinted(const Expr& e, bool stores, const Threads& threads) {
  const Lanes at = evaluated(e.arg(1), threads),
              values = stores ? evaluated(e.arg(2), threads) : Lanes();
  std::vector<Place> places(threads.size());
  for (std::size_t i = 0; i < places.size() && why_.empty(); ++i) {
    if (!at[i].is(ValueKind::pointer)) stop_at(e);
    places[i].memory = at[i].array, places[i].element = {at[i].at, at[i].per_block};
  }
  if (!why_.empty()) return {};
  return stores ? stored(places, values, threads) : loaded(places, threads);
}

/// A macro that is an expression, or a function that is one return.
BlockRunner::Lanes BlockRunner::expanded(const Expr& e,
                                         std::string_view name,
                                         const Threads& threads) {
  const Expr* body = nullptr;
  std::vector<std::string_view> parameters;
  if (const model::Macro* macro = unit_.macro(name)) {
    body = macro->function_like ? unit_.macro_expression(name) : nullptr;
    parameters.assign(macro->parameters.begin(), macro->parameters.end());
  } else if (const model::Function* function = unit_.find_function(name)) {
    body = model::returned_expression(*function);
    for (const Declarator* p : function->parameters) parameters.push_back(p->name);
  }
  constexpr int kDepth = 8;
  if (body == nullptr || parameters.size() != e.args.size() - 1 || depth_ >= kDepth ||
      !model::is_pure(unit_, *body))
    return stop_at(e), Lanes();
  Arguments bound;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    bound[parameters[k]] = {threads, evaluated(e.arg(k + 1), threads)};
  const Arguments* outer = std::exchange(arguments_, &bound);
  ++depth_;
  Lanes out = evaluated(*body, threads);
  --depth_;
  arguments_ = outer;
  return out;
}

bool BlockRunner::has_whole_warps(const Threads& threads) const {
  for (std::size_t i = 0; i < threads.size();) {
    const int first = threads[i] / kWarp * kWarp, past = std::min(first + kWarp, threads_);
    const std::size_t count = static_cast<std::size_t>(past - first);
    if (threads[i] != first || i + count > threads.size() || threads[i + count - 1] != past - 1)
      return false;
    i += count;
  }
  return true;
}

BlockRunner::Lanes BlockRunner::shuffled(const Expr& e,
                                         std::string_view name,
                                         const Threads& threads) {
  const std::size_t count = e.args.size() - 1;
  if (!name.ends_with("_sync") || count < 3 || count > 4 || !has_whole_warps(threads))
    return stop_at(e), Lanes();
  const Lanes values = evaluated(e.arg(2), threads), steps = evaluated(e.arg(3), threads),
              widths =
                  count == 4 ? evaluated(e.arg(4), threads) : Lanes(BlockValue::integer(kWarp));
  if (!why_.empty()) return {};
  Lanes out(threads);
  for (std::size_t i = 0; i < threads.size() && why_.empty(); ++i) {
    const std::int64_t width = widths[i].at, step = steps[i].at, lane = threads[i] % kWarp;
    if (!steps[i].is_number() || !widths[i].is_number() || width < 1 || width > kWarp ||
        (width & (width - 1)) != 0 || step < 0 || step >= kWarp)
      return stop_at(e), out;
    const std::int64_t first = lane / width * width;
    std::int64_t from = name == "__shfl_up_sync"     ? lane - step
                        : name == "__shfl_down_sync" ? lane + step
                        : name == "__shfl_xor_sync"  ? lane ^ step
                                                     : first + step % width;
    if (from < first || from >= first + width) from = lane;
    const std::size_t source = i + static_cast<std::size_t>(from) - static_cast<std::size_t>(lane);
    if (source < threads.size() && threads[source] / kWarp == threads[i] / kWarp)
      out.values[i] = values[source];
  }
  return out;
}

}  // namespace warpath
