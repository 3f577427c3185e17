#include "experiments/init/draft_tensors.h"

#include <algorithm>

#include "engine/base/error.h"
#include "experiments/init/analysis_text.h"
#include "experiments/init/argument_sizes.h"
#include "experiments/init/index_coverage.h"
#include "experiments/init/whole_extents.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using json = nlohmann::ordered_json;
using model::Access;
using model::AccessKind;
using model::Array;
using model::Atom;
using model::Polynomial;

namespace {

constexpr std::int64_t kMeanRow = 8;  // non-zeros of a sparse row
constexpr int kSmallPlaces = 4;       // what an index that is not followed may be made of

bool without_ranges(const Polynomial& extent) {
  return std::ranges::none_of(extent.names(),
                              [](const std::string& name) { return name.starts_with('#'); });
}

}  // namespace

DraftTensors::DraftTensors(const model::KernelFacts& facts,
                           const std::vector<KernelParameter>& parameters,
                           const ThreadLayout& layout,
                           std::map<std::string, Polynomial> bytes)
    : facts_(facts),
      parameters_(parameters),
      layout_(layout),
      bytes_(std::move(bytes)),
      bounds_(facts, layout.assumed) {}

DraftTensors::Tensor* DraftTensors::find(const std::string& name) {
  const auto it = std::ranges::find_if(
      tensors_, [&](const Tensor& one) { return one.parameter->name == name; });
  return it == tensors_.end() ? nullptr : &*it;
}

bool DraftTensors::is_size(const KernelParameter& p) {
  return !p.pointer && !info(p.dtype).is_float && p.dtype != DType::boolean;
}

bool DraftTensors::of_sizes(const Polynomial& extent) const {
  return std::ranges::none_of(extent.names(), [&](const std::string& name) {
    const auto own = std::ranges::find(parameters_, name, &KernelParameter::name);
    return own != parameters_.end() && !is_size(*own);
  });
}

bool DraftTensors::is_followed() const {
  return std::ranges::all_of(tensors_, [&](const Tensor& tensor) {
    return tensor.followed || bytes_.contains(tensor.parameter->name);
  });
}

/// The sizes that the indices of a tensor which is not followed are computed from; all integers
/// where that is not known either.
std::set<std::string> DraftTensors::sizes_behind(const Tensor& tensor) const {
  std::set<std::string> out, all;
  for (const KernelParameter& p : parameters_)
    if (is_size(p)) all.insert(p.name);
  if (tensor.array < 0 || facts_.arrays[static_cast<std::size_t>(tensor.array)].escapes ||
      facts_.accesses_to(tensor.array).empty())
    return all;
  for (const Access* const access : facts_.accesses_to(tensor.array)) {
    const auto sizes = bounds_.sizes_behind(*access);
    if (!sizes) return all;
    for (const std::string& name : *sizes) {
      const auto own = std::ranges::find(parameters_, name, &KernelParameter::name);
      const bool size =
          own == parameters_.end() ? std::ranges::count(layout_.sizes, name) > 0 : is_size(*own);
      if (size) out.insert(name);
    }
  }
  return out;
}

/// What a tensor that is not followed may have: an element for every combination of those; as many
/// rows as all of them together where one is the length of a row.
std::string DraftTensors::all_sizes(const Tensor& tensor,
                                    const Bindings& gpu,
                                    const Bindings& host) const {
  std::string product, sum, row;
  for (const std::string& name : sizes_behind(tensor)) {
    if (gpu.at(name) <= 1 || host.at(name) <= 1) continue;
    product += (product.empty() ? "" : " * ") + name;
    if (is_leading_dimension(name))
      row = row.empty() ? name : row;
    else
      sum += (sum.empty() ? "" : " + ") + name;
  }
  return row.empty() || sum.empty() ? product : "(" + sum + ") * " + row;
}

void DraftTensors::find_extents() {
  for (const KernelParameter& parameter : parameters_) {
    if (!parameter.pointer) continue;
    Tensor& tensor = tensors_.emplace_back();
    tensor.parameter = &parameter;
    tensor.array = facts_.array_index(parameter.name);
    if (tensor.array < 0) continue;
    tensor.followed = !facts_.arrays[static_cast<std::size_t>(tensor.array)].escapes;
    for (const Access* const access : facts_.accesses_to(tensor.array)) {
      auto end = bounds_.end_of(*access);
      if (end && !of_sizes(*end)) end.reset();
      if (end) tensor.reaches.push_back({access, *end});
      tensor.followed = tensor.followed && end;
    }
  }
  std::set<std::string> loaded;
  for (const Access& access : facts_.accesses) {
    for (const Atom* const operation : access.index.operations())
      if (const std::string array = loaded_array(*operation); !array.empty()) loaded.insert(array);
  }
  for (const auto& loop : facts_.loops) {
    if (!loop->counted) continue;
    for (const Atom* const operation : loop->end.operations())
      if (const std::string array = loaded_array(*operation); !array.empty()) loaded.insert(array);
  }
  for (const std::string& array : bounds_.row_pointers()) range_of(array);
  for (const std::string& array : loaded) {
    if (!bounds_.row_pointers().contains(array)) range_of(array);
  }
}

/// Where the values of the index array lead: the first tensor or shared array that they index.
std::string DraftTensors::target_of(const std::string& array) const {
  for (const Access& access : facts_.accesses) {
    for (const Atom* const operation : access.index.operations()) {
      if (loaded_array(*operation) == array)
        return facts_.arrays[static_cast<std::size_t>(access.array)].name;
    }
  }
  return "";
}

/// Elements of a row of which the array's values say how many count: the stride beside a loop that
/// ends there.
std::optional<Polynomial> DraftTensors::row_counted_by(const std::string& array) const {
  for (const Access& access : facts_.accesses) {
    for (const model::Loop* const loop : access.loops) {
      const bool ends_there =
          loop->counted && std::ranges::any_of(loop->end.operations(), [&](const Atom* operation) {
            return loaded_array(*operation) == array;
          });
      if (!ends_there || access.index.coefficient_of(loop->variable).constant() != 1) continue;
      for (const std::string& atom : access.index.atoms()) {
        const Polynomial stride = access.index.coefficient_of(atom);
        if (!stride.constant() && of_sizes(stride) && stride.operations().empty() &&
            stride.as_name())
          return stride;
      }
    }
  }
  return std::nullopt;
}

std::optional<Polynomial> DraftTensors::known_range(const std::string& array) {
  const auto own = std::ranges::find_if(
      tensors_, [&](const Tensor& one) { return one.parameter->name == array; });
  if (own == tensors_.end()) return std::nullopt;
  if (bounds_.row_pointers().contains(array)) {
    if (own->reaches.empty()) return std::nullopt;
    return kMeanRow * (own->reaches.back().end - 1);
  }
  for (const Access& access : facts_.accesses) {
    const Array& target = facts_.arrays[static_cast<std::size_t>(access.array)];
    for (const std::string& atom : access.index.atoms()) {
      const Atom* const operation = access.index.operation_atom(atom);
      if (operation == nullptr || loaded_array(*operation) != array) continue;
      if (access.index.coefficient_of(atom).constant() != 1) continue;
      if (!target.extents.empty()) {
        Polynomial product = 1;
        for (const Polynomial& extent : target.extents) product = product * extent;
        return product;
      }
      for (const Tensor& tensor : tensors_) {
        if (tensor.parameter->name != target.name) continue;
        for (const Reach& reach : tensor.reaches) {
          if (reach.access->index.operations().empty() && without_ranges(reach.end))
            return reach.end;
        }
      }
    }
  }
  for (const Access& access : facts_.accesses) {  // what else is multiplied by the same stride
    for (const Atom* const operation : access.index.operations()) {
      if (loaded_array(*operation) != array || access.index.degree(operation->text) != 1) continue;
      const Polynomial stride = access.index.coefficient_of(operation->text);
      for (const std::string& atom : access.index.atoms()) {  // C of (n * C + c) * stride
        for (const KernelParameter& p : parameters_) {
          const Polynomial size = Polynomial::name(p.name);
          if (is_size(p) && access.index.coefficient_of(atom) == stride * size) return size;
        }
      }
      for (const Access* const other : facts_.accesses_to(access.array)) {
        if (stride.constant()) continue;
        if (const auto extent = bounds_.extent_beside(*other, stride)) return extent;
      }
    }
  }
  if (const auto row = row_counted_by(array)) return *row + 1;
  const DType dtype = own->parameter->dtype;
  if (info(dtype).size_bytes == 1) return Polynomial(info(dtype).is_signed ? 128 : 256);
  return std::nullopt;
}

void DraftTensors::range_of(const std::string& array) {
  const Tensor* const own = find(array);
  if (own == nullptr) return;
  auto range = known_range(array);
  const bool asked = std::ranges::any_of(tensors_, [&](const Tensor& tensor) {
    return std::ranges::any_of(tensor.reaches, [&](const Reach& reach) {
      return reach.end.mentions(IndexBounds::range_name(array));
    });
  });
  if (!range && !asked) return;
  if (!range && unused_ < layout_.unused.size())
    range = Polynomial::name(layout_.unused[unused_++]);
  if (!range) {
    const std::string target = target_of(array);
    sizes_.push_back(
        model::fresh_name(*facts_.unit, target.empty() ? array + "_range" : target + "_rows"));
    range = Polynomial::name(sizes_.back());
  }
  give_range(array, *range);
}

void DraftTensors::give_range(const std::string& array, const Polynomial& range) {
  const std::string name = IndexBounds::range_name(array);
  for (Tensor& tensor : tensors_) {
    for (Reach& reach : tensor.reaches) reach.end = reach.end.substituted(name, range);
  }
  for (auto& [other, known] : ranges_) known = known.substituted(name, range);
  ranges_[array] = range;
}

std::map<std::string, std::string> DraftTensors::strides() {
  std::map<std::string, std::string> out;
  for (const auto& [name, extent] : bounds_.strides())
    out.emplace(name, layout_.text(of_whole_steps(extent)));
  return out;
}

std::set<std::string> DraftTensors::names() const {
  std::set<std::string> out;
  for (const Tensor& tensor : tensors_) {
    for (const Reach& reach : tensor.reaches) out.merge(reach.end.names());
  }
  return out;
}

std::set<std::string> DraftTensors::allocated_names() const {
  std::set<std::string> out;
  for (const auto& [name, bytes] : bytes_) out.merge(bytes.names());
  return out;
}

std::size_t DraftTensors::rank() const {
  std::size_t most = 1;
  for (const Tensor& tensor : tensors_) {
    if (!tensor.followed && !bytes_.contains(tensor.parameter->name))
      most = std::max(most, sizes_behind(tensor).size());
  }
  const auto count = [&](const Polynomial& elements) {
    for (const auto& term : elements.terms()) {
      const auto named = std::ranges::count_if(term.factors, [](const auto& factor) {
        return factor->op.empty() && !factor->text.starts_with("blockDim.");
      });
      most = std::max(most, static_cast<std::size_t>(named));
    }
  };
  for (const auto& [name, bytes] : bytes_) count(bytes);
  for (const Tensor& tensor : tensors_) {
    for (const Reach& reach : tensor.reaches) count(reach.end);
  }
  return most;
}

std::int64_t DraftTensors::value(const std::string& expression, const Bindings& numbers) const {
  return Expression::parse(expression, "extent").evaluate(numbers, "extent");
}

std::int64_t DraftTensors::most_elements(const std::string& extent, const Bindings& numbers) const {
  try {
    return value(extent, numbers);
  } catch (const Error&) {
    return INT64_MAX;  // sizes that are not settled yet
  }
}

void DraftTensors::settle(const Bindings& gpu, const Bindings& host) {
  drafts_.clear();
  std::string largest;
  std::int64_t most = 0;
  for (const Tensor& tensor : tensors_) {
    for (const Reach& reach : tensor.reaches) {
      try {
        const std::string text = layout_.text(reach.end);
        const std::int64_t elements = value(text, gpu);
        if (elements > most) most = elements, largest = text;
      } catch (const Error&) {
        continue;  // an extent that a spec cannot say
      }
    }
  }
  if (largest.empty()) largest = "1048576";
  for (Tensor& tensor : tensors_) {
    tensor.largest = all_sizes(tensor, gpu, host);
    if (tensor.largest.empty()) tensor.largest = largest;
    DraftTensor& draft = drafts_[tensor.parameter->name];
    shape(tensor, draft, gpu, host);
    role(tensor, draft, host);
    if (draft.role == "output") continue;
    bool rounded = false;
    for (Reach& reach : tensor.reaches) {
      const auto whole = whole_of(reach.end);
      if (whole) reach.end = *whole;
      rounded = rounded || whole;
    }
    if (!rounded) continue;
    draft = {};
    shape(tensor, draft, gpu, host);
    role(tensor, draft, host);
  }
  std::size_t number = 0;
  for (const Tensor& tensor : tensors_) content(tensor, drafts_[tensor.parameter->name], ++number);
}

void DraftTensors::shape(Tensor& tensor,
                         DraftTensor& draft,
                         const Bindings& gpu,
                         const Bindings& host) {
  struct Candidate {
    const Reach* reach;
    std::string text;
    std::int64_t gpu, host;
  };
  std::vector<Candidate> all;
  for (const Reach& reach : tensor.reaches) {
    try {
      const std::string text = layout_.text(reach.end);
      all.push_back({&reach, text, value(text, gpu), value(text, host)});
    } catch (const Error&) {
      tensor.followed = false;
    }
  }
  const std::string& name = tensor.parameter->name;
  const auto bytes = bytes_.find(name);
  const auto unit =
      static_cast<std::int64_t>(info(tensor.parameter->dtype).size_bytes) * tensor.parameter->lanes;
  if (!tensor.followed && bytes != bytes_.end()) {
    const auto elements = bytes->second.divided_by(unit);
    draft.shape = {
        layout_.text(elements ? *elements : Polynomial::operation("/", {bytes->second, unit}))};
  } else if (!tensor.followed || all.empty()) {
    draft.shape = {all.empty() ? tensor.largest : all[0].text};
    for (const Candidate& one : all) {
      if (one.gpu > value(draft.shape[0], gpu)) draft.shape = {one.text};
    }
    if (most_elements(draft.shape[0], gpu) < most_elements(tensor.largest, gpu))
      draft.shape = {tensor.largest};
    draft.guesses.emplace_back("/tensor_spec/shape",
                               "not every index of " + name + " could be followed");
  } else {
    const auto on_gpu = std::ranges::max_element(all, {}, &Candidate::gpu);
    const auto on_host = std::ranges::max_element(all, {}, &Candidate::host);
    if (on_gpu->host == on_host->host) {
      for (const Polynomial& extent : bounds_.shape_of(on_gpu->reach->end, *on_gpu->reach->access))
        draft.shape.push_back(layout_.text(extent));
    } else {
      draft.shape = {"max(" + on_gpu->text + ", " + on_host->text + ")"};
    }
    for (const std::string& used : on_gpu->reach->end.names())
      by_block_ = by_block_ || is_launch_extent(used);
  }
  if (tensor.parameter->lanes > 1) draft.shape.push_back(std::to_string(tensor.parameter->lanes));
}

void DraftTensors::role(const Tensor& tensor, DraftTensor& draft, const Bindings& host) const {
  const KernelParameter& parameter = *tensor.parameter;
  if (parameter.is_const) return;
  bool reads = false, writes = false, atomic = false;
  if (tensor.array >= 0) {
    for (const Access* const access : facts_.accesses_to(tensor.array)) {
      reads = reads || access->kind == AccessKind::read || access->kind == AccessKind::read_write;
      writes = writes || access->writes();
      atomic = atomic || access->kind == AccessKind::atomic;
    }
  }
  const bool escapes =
      tensor.array >= 0 && facts_.arrays[static_cast<std::size_t>(tensor.array)].escapes;
  if (tensor.array < 0 || escapes) {
    draft.role = "inout";
    draft.guesses.emplace_back(
        "/role", "what happens to " + parameter.name + " in what the kernel calls is not followed");
    return;
  }
  if (!writes) return;
  draft.role = "inout";
  if (reads || atomic) return;
  Bindings numbers = host;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    numbers[std::string("blockDim.") + kLaunchAxes[axis]] = layout_.block[axis].value;
    numbers[std::string("gridDim.") + kLaunchAxes[axis]] =
        value(layout_.grid_text(axis, false), host);
  }
  std::int64_t elements = 1;
  for (const std::string& extent : draft.shape) {
    if (__builtin_mul_overflow(elements, most_elements(extent, host), &elements))
      elements = INT64_MAX;
  }
  if (writes_all(facts_, tensor.array, elements / parameter.lanes, numbers)) {
    draft.role = "output";
    return;
  }
  draft.guesses.emplace_back("/role",
                             "not every element of " + parameter.name + " is certainly written");
}

void DraftTensors::content(const Tensor& tensor, DraftTensor& draft, std::size_t number) const {
  if (draft.role == "output") return;
  const DTypeInfo& type = info(tensor.parameter->dtype);
  const auto updates = [&](bool least) {
    return tensor.array >= 0 &&
           std::ranges::any_of(facts_.accesses_to(tensor.array), [&](const Access* access) {
             return access->kind == AccessKind::atomic &&
                    access->atomic_op.starts_with("atomicMin") == least;
           });
  };
  const std::string& name = tensor.parameter->name;
  const auto range = ranges_.find(name);
  if (range != ranges_.end() && !type.is_float && bounds_.row_pointers().contains(name)) {
    draft.init = {{"kind", "csr_row_pointers"}, {"mean", kMeanRow}, {"seed", number}};
    draft.guesses.emplace_back("/tensor_spec/init", "how long the rows are is not in the text");
  } else if (range != ranges_.end()) {
    const std::string high = layout_.text(range->second);
    const char* const kind = type.is_float ? "uniform" : "randint";
    draft.init = {{"kind", kind}, {"low", 0}, {"high", high}, {"seed", number}};
    const Expression parsed = Expression::parse(high, "range");
    if (parsed.is_constant()) draft.init["high"] = parsed.evaluate({}, "range");
    const std::string target = target_of(name);
    const auto indexed = drafts_.find(target);
    if (!type.is_float && indexed != drafts_.end() && !indexed->second.shape.empty() &&
        indexed->second.shape[0] == high)
      draft.indexes = target;
    draft.guesses.emplace_back("/tensor_spec/init",
                               "which elements " + name + " names is not in the text");
  } else if (updates(true) && !type.is_float) {  // from the largest number down
    const std::size_t bits = std::min<std::size_t>(type.size_bytes, 4) * 8 - 1;
    draft.init = {{"kind", "full"}, {"fill_value", (std::int64_t{1} << bits) - 1}};
  } else if (updates(true) || updates(false)) {
    draft.init = {{"kind", "zeros"}};
  } else if (type.is_float && tensor.array >= 0 &&
             std::ranges::any_of(facts_.accesses_to(tensor.array), [&](const Access* access) {
               return access->reads() && becomes_integer(*facts_.unit, *access);
             })) {
    draft.init = {{"kind", "uniform"}, {"low", 0}, {"high", kSmallPlaces}, {"seed", number}};
    draft.guesses.emplace_back(
        "/tensor_spec/init",
        "numbers that " + name + " holds become integers, which ones is not in the text");
  } else if (type.is_float) {
    draft.init = {{"kind", "randn"}, {"seed", number}};
  } else {
    const bool truth = tensor.parameter->dtype == DType::boolean;
    const int high = truth ? 2 : is_followed() ? 100 : kSmallPlaces;
    draft.init = {{"kind", "randint"}, {"low", 0}, {"high", high}, {"seed", number}};
    draft.guesses.emplace_back("/tensor_spec/init",
                               "which numbers " + name + " holds is not in the text");
  }
}

}  // namespace warpath
