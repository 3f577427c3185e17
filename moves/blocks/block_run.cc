#include "moves/blocks/block_run.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "moves/blocks/block_runner.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Stmt;
using model::StmtKind;

constexpr int kMostThreads = 1024;
/// Elements of an array of each thread, and of a shared one.
constexpr std::int64_t kMostLocal = 64;
constexpr std::int64_t kLargestArray = std::int64_t{1} << 16;

}  // namespace

bool BlockRunner::read_launch() {
  why_.clear();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string letter(1, "xyz"[axis]);
    const auto block = values_.find("blockDim." + letter), grid = values_.find("gridDim." + letter);
    if (block == values_.end() || grid == values_.end() ||
        (!follows_ && axis > 0 && grid->second != 1))
      return why_ = "the launch is unknown or has more than one axis of blocks", false;
    block_[axis] = block->second;
    if (axis == 0) blocks_ = grid->second;
  }
  if (block_[0] * block_[1] * block_[2] > kMostThreads || blocks_ < 1)
    return why_ = "the launch is beyond the limits", false;
  threads_ = static_cast<int>(block_[0] * block_[1] * block_[2]);
  now_.warps.resize(static_cast<std::size_t>((threads_ + kWarp - 1) / kWarp));
  return true;
}

std::optional<BlockRun> BlockRunner::run() {
  if (!read_launch()) return std::nullopt;
  for (const Declarator* p : model_.kernel->parameters) declare_parameter(*p);
  const std::size_t parameters = model_.kernel->parameters.size();
  Threads all(static_cast<std::size_t>(threads_));
  std::iota(all.begin(), all.end(), 0);
  static_cast<void>(execute(*model_.kernel->body, std::move(all)));
  if (!why_.empty()) return std::nullopt;
  memories_.resize(parameters);
  return BlockRun{std::move(memories_), blocks_};
}

std::optional<DType> BlockRunner::type_of(const Declarator& d) const {
  return model::dtype_of_type(unit_.resolved_type(unit_.plain_text(d.type)));
}

/// Each parameter has a memory of its number, used by those that are pointers.
void BlockRunner::declare_parameter(const Declarator& p) {
  Variable& v = variables_[&p];
  BlockMemory memory;
  memory.name = std::string(p.name), memory.array = static_cast<int>(memories_.size());
  memory.global = true;
  BlockValue value;
  const auto type = type_of(p);
  if (p.is_pointer()) {
    const model::Array* array = model_.facts.array(p.name);
    memory.written = array == nullptr || array->written || array->atomic;
    if (p.pointer_depth == 1 && type && array != nullptr && !overlaps(*array)) {
      memory.type = *type;
      value.kind = BlockValue::Kind::pointer, value.array = memory.array;
    }
  } else if (const auto known = values_.find(p.name); known != values_.end()) {
    value = BlockValue::integer(known->second);
  }
  v.values.assign(1, value);
  memories_.push_back(std::move(memory));
}

/// Shares memory with another parameter, and one of them is written.
bool BlockRunner::overlaps(const model::Array& array) const {
  const int k = model_.facts.array_index(array.name);
  for (std::size_t j = 0; j < model_.facts.arrays.size(); ++j) {
    const model::Array& other = model_.facts.arrays[j];
    if (&other != &array && other.space == model::Space::global &&
        (array.written || other.written) && model_.facts.may_alias(k, static_cast<int>(j)))
      return true;
  }
  return false;
}

void BlockRunner::declare(const Declarator& d, const Threads& threads) {
  if (d.reference || (d.has(model::kStatic) && !d.has(model::kShared)) || d.is_function_pointer)
    return stop("the declaration of " + std::string(d.name));
  const auto [found, fresh] = variables_.try_emplace(&d);
  Variable& v = found->second;
  v.in_step = d.has(model::kVolatile);
  if (fresh && !shape(d, v)) return stop("the declaration of " + std::string(d.name));
  if (v.memory >= 0) return d.init.empty() ? void() : stop("an initial value in shared memory");
  Lanes values;
  if (!d.init.empty()) {
    if (d.is_array() || d.value() == nullptr || d.value()->is(ExprKind::init_list))
      return stop("the initial value of " + std::string(d.name));
    values = evaluated(*d.value(), threads);
    convert(values, v.type);
  }
  if (v.extents.empty()) return write(v, values, threads);
  for (const int t : threads) std::fill_n(&own({&v, -1, {}}, t), v.size, BlockValue{});
}

bool BlockRunner::shape(const Declarator& d, Variable& v) {
  const bool shared = d.has(model::kShared), dynamic = shared && d.has(model::kExtern);
  const std::string words = unit_.resolved_type(unit_.plain_text(d.type));
  if (!d.is_pointer()) v.type = model::dtype_of_type(words);
  if (!d.is_pointer() && !v.type && (words != "auto" || shared)) return false;
  if ((d.is_pointer() && (d.is_array() || shared)) || d.pointer_depth > 1) return false;
  for (const Expr* e : d.extents) {
    const auto extent = e == nullptr ? (dynamic ? std::optional<std::int64_t>(0) : std::nullopt)
                                     : model::constant_value(unit_, *e, values_);
    if (!extent || *extent < 0 || *extent > kLargestArray) return false;
    v.extents.push_back(*extent);
    v.size *= static_cast<std::size_t>(*extent);
    if (std::cmp_greater(v.size, shared ? kLargestArray : kMostLocal)) return false;
  }
  if (!shared) {
    v.values.resize(v.extents.empty() ? 1 : v.size * static_cast<std::size_t>(threads_));
    return true;
  }
  BlockMemory memory;
  memory.name = std::string(d.name), memory.array = v.memory = static_cast<int>(memories_.size());
  memory.type = *v.type, memory.size = static_cast<std::int64_t>(v.size);
  memories_.push_back(std::move(memory));
  return true;
}

/// The array's elements are used as those of another type.
bool BlockRunner::is_viewed(const Variable& v) const {
  return v.memory >= 0 && memories_[static_cast<std::size_t>(v.memory)].type != *v.type;
}

/// From here on a dynamic shared array of bytes has elements of `type`, as all that uses it must
/// agree on; false if it is another array.
bool BlockRunner::view(const BlockValue& pointer, DType type) {
  BlockMemory& memory = memories_[static_cast<std::size_t>(pointer.array)];
  if (!memory.unknown || memory.size != 0 || info(memory.type).size_bytes != 1 || pointer.at != 0 ||
      !memory.is_untouched())
    return false;
  memory.type = type;
  return true;
}

void BlockRunner::stop(const std::string& what) {
  if (why_.empty()) why_ = what + " is not followed";
}

void BlockRunner::stop_at(const Expr& e) {
  if (why_.empty()) stop(model::plain_text(e));
}

void BlockRunner::count_work(std::size_t values) {
  work_ += static_cast<std::int64_t>(values);
  if (work_ > kMostWork) stop("so much work");
}

BlockRunner::Threads BlockRunner::merged(const Threads& a, const Threads& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  Threads out;
  out.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// Those of the threads for which the condition holds, and the others.
std::pair<BlockRunner::Threads, BlockRunner::Threads> BlockRunner::split(const Expr& condition,
                                                                         const Threads& threads) {
  std::pair<Threads, Threads> out;
  const Lanes tests = evaluated(condition, threads);
  const auto known = [](const BlockValue& v) { return v.is_number(); };
  if (!std::all_of(tests.values.begin(), tests.values.end(), known) && why_.empty())
    why_ = "data or the block decide " + model::plain_text(condition);
  if (!why_.empty()) return out;
  if (tests.is_uniform()) return (tests[0].at != 0 ? out.first : out.second) = threads, out;
  for (std::size_t i = 0; i < threads.size(); ++i)
    (tests[i].at != 0 ? out.first : out.second).push_back(threads[i]);
  return out;
}

/// Runs the statement; the threads that go on behind it.
BlockRunner::Threads BlockRunner::execute(const Stmt& s, Threads threads) {
  if (!why_.empty() || threads.empty()) return {};
  switch (s.kind) {
    case StmtKind::block:
      for (const Stmt* child : s.children) threads = execute(*child, std::move(threads));
      return threads;
    case StmtKind::declaration:
      if (s.text_only) return threads;
      for (const Declarator* d : s.declarators) declare(*d, threads);
      return threads;
    case StmtKind::expression:
      static_cast<void>(evaluated(*s.expr, threads));
      return threads;
    case StmtKind::if_: {
      if (s.init != nullptr || s.expr == nullptr) break;
      if (follows_ && keeps_better(s, threads)) return threads;
      auto [yes, no] = split(*s.expr, threads);
      yes = execute(*s.body, std::move(yes));
      if (s.otherwise != nullptr) no = execute(*s.otherwise, std::move(no));
      return merged(yes, no);
    }
    case StmtKind::for_:
    case StmtKind::while_:
    case StmtKind::do_:
      return repeated(s, std::move(threads));
    case StmtKind::return_:
      return {};
    case StmtKind::break_:
    case StmtKind::continue_: {
      Threads& list = s.is(StmtKind::break_) ? broken_ : continued_;
      list = merged(list, threads);
      return {};
    }
    case StmtKind::empty:
    case StmtKind::directive:
      return threads;
    default:
      break;
  }
  stop("a statement, " + std::string(model::name(s.kind)) + ",");
  return {};
}

BlockRunner::Threads BlockRunner::repeated(const Stmt& s, Threads threads) {
  Threads left, outer_broken = std::exchange(broken_, {}),
                outer_continued = std::exchange(continued_, {});
  if (s.init != nullptr) threads = execute(*s.init, std::move(threads));
  bool tests = !s.is(StmtKind::do_);
  while (!threads.empty() && why_.empty()) {
    if (tests && s.expr != nullptr) {
      auto [stay, leave] = split(*s.expr, threads);
      left = merged(left, leave);
      threads = std::move(stay);
    }
    tests = true;
    count_work(1 + threads.size() / kWarp);
    if (s.body != nullptr) threads = execute(*s.body, std::move(threads));
    threads = merged(threads, std::exchange(continued_, {}));
    if (s.step != nullptr && !threads.empty()) static_cast<void>(evaluated(*s.step, threads));
  }
  left = merged(left, broken_);
  broken_ = std::move(outer_broken), continued_ = std::move(outer_continued);
  return left;
}

std::vector<BlockRunner::Place> BlockRunner::places(const Expr& e, const Threads& threads) {
  std::vector<Place> out(threads.size());
  std::vector<const Expr*> indices;
  const Expr* base = &e;
  for (; base->is(ExprKind::subscript) && base->args.size() == 2; base = &base->arg(0))
    indices.insert(indices.begin(), &base->arg(1));
  Variable* v = base->is(ExprKind::name) && arguments_ == nullptr ? variable_of(*base) : nullptr;
  if (v != nullptr && is_viewed(*v)) return stop_at(e), out;
  const bool whole = v != nullptr && indices.size() == v->extents.size();
  if (follows_ && v != nullptr && v->in_step) {
    for (Place& p : out) p.in_step = true;
  }
  if (whole) {
    for (Place& p : out) p.variable = v->memory < 0 ? v : nullptr, p.memory = v->memory;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const Lanes index = evaluated(*indices[k], threads);
      const std::int64_t extent = v->extents[k];
      for (std::size_t i = 0; i < out.size() && why_.empty(); ++i) {
        const bool inside =
            index[i].is_number() && index[i].at >= 0 && (extent == 0 || index[i].at < extent);
        if (!inside) stop_at(e);
        out[i].element.at = out[i].element.at * extent + index[i].at;
      }
    }
    return out;
  }
  const bool starred = e.is_op(ExprKind::unary, "*");
  if ((!starred && indices.size() != 1) || (v != nullptr && !v->extents.empty()))
    return stop_at(e), out;
  const Lanes at = evaluated(starred ? e.arg(0) : *base, threads),
              steps = starred ? Lanes(BlockValue::integer(0)) : evaluated(*indices[0], threads);
  for (std::size_t i = 0; i < out.size() && why_.empty(); ++i) {
    const auto place = binary(BlockOp::add, at[i], steps[i], blocks_);
    if (!place || !place->is(BlockValue::Kind::pointer)) return stop_at(e), out;
    out[i].memory = place->array, out[i].element = {place->at, place->per_block};
  }
  return out;
}

BlockValue& BlockRunner::own(const Place& p, int thread) {
  return p.variable->values[static_cast<std::size_t>(thread) * p.variable->size +
                            static_cast<std::size_t>(p.element.at)];
}

/// A variable of each thread that is no array; null for others, and for what is no name of one.
BlockRunner::Variable* BlockRunner::scalar(const Expr& e) {
  Variable* v = e.is(ExprKind::name) && arguments_ == nullptr ? variable_of(e) : nullptr;
  return v != nullptr && v->memory < 0 && v->extents.empty() ? v : nullptr;
}

BlockRunner::Lanes BlockRunner::read(const Variable& v, const Threads& threads) {
  if (v.values.size() == 1) return Lanes(v.values[0]);
  Lanes out(threads);
  for (std::size_t i = 0; i < threads.size(); ++i)
    out.values[i] = v.values[static_cast<std::size_t>(threads[i])];
  return out;
}

void BlockRunner::write(Variable& v, const Lanes& values, const Threads& threads) const {
  const auto all = static_cast<std::size_t>(threads_);
  if (values.is_uniform() && threads.size() == all) return v.values.assign(1, values[0]);
  if (v.values.size() == 1) v.values.resize(all, BlockValue(v.values[0]));
  for (std::size_t i = 0; i < threads.size(); ++i)
    v.values[static_cast<std::size_t>(threads[i])] = values[i];
}

BlockRunner::Lanes BlockRunner::loaded(const std::vector<Place>& from, const Threads& threads) {
  Lanes out(threads);
  if (!from.empty() && from[0].in_step) advance_warps(threads);
  for (std::size_t i = 0; i < threads.size() && why_.empty(); ++i) {
    if (from[i].memory < 0) {
      out.values[i] = own(from[i], threads[i]);
    } else if (const auto value = memories_[static_cast<std::size_t>(from[i].memory)].load(
                   from[i].element, threads[i], now_, why_)) {
      out.values[i] = *value;
    }
  }
  return out;
}

/// The values as they were stored. All places are of one type.
BlockRunner::Lanes BlockRunner::stored(const std::vector<Place>& to,
                                       Lanes values,
                                       const Threads& threads) {
  const Place& first = to.front();
  if (first.in_step) advance_warps(threads);
  convert(values, first.memory < 0 ? first.variable->type
                                   : memories_[static_cast<std::size_t>(first.memory)].type);
  for (std::size_t i = 0; i < threads.size() && why_.empty(); ++i) {
    if (to[i].memory < 0) {
      own(to[i], threads[i]) = values[i];
    } else {
      static_cast<void>(memories_[static_cast<std::size_t>(to[i].memory)].store(
          to[i].element, values[i], threads[i], now_, why_));
    }
  }
  return values;
}

std::optional<BlockRun> run_block(const model::KernelModel& model,
                                  const Bindings& values,
                                  std::string& why) {
  return BlockRunner(model, values, why).run();
}

}  // namespace warpath
