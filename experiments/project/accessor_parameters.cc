#include "experiments/project/accessor_parameters.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "engine/text/source_edit.h"
#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_words.h"

namespace warpath {
namespace {

constexpr std::size_t kMostRank = 8;

struct Accessor {
  std::string type;  ///< of an element
  std::size_t rank = 0;
};

/// Of "at::PackedTensorAccessor32<float, 3>"; nullopt for other types.
std::optional<Accessor> accessor_of(std::string_view type) {
  static const std::set<std::string_view> kNames{
      "PackedTensorAccessor",        "PackedTensorAccessor32", "PackedTensorAccessor64",
      "GenericPackedTensorAccessor", "THCDeviceTensor",        "DeviceTensor"};
  if (type.starts_with("const ")) type.remove_prefix(6);
  std::string_view name = type.substr(0, type.find('<'));
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  const std::vector<std::string> arguments = template_arguments_in(type);
  if (!kNames.contains(name) || arguments.size() < 2) return std::nullopt;
  const std::string& rank = arguments[1];
  if (rank.size() != 1 || rank[0] < '1' || rank[0] > '0' + static_cast<int>(kMostRank))
    return std::nullopt;
  return Accessor{.type = arguments[0], .rank = static_cast<std::size_t>(rank[0] - '0')};
}

std::string size_name(const std::string& accessor, std::size_t dimension) {
  return accessor + "_size" + std::to_string(dimension);
}

/// Sizes of the dimensions from `first` on, multiplied.
std::string product_of(const std::string& name, const Accessor& accessor, std::size_t first) {
  std::string out;
  for (std::size_t d = first; d < accessor.rank; ++d)
    out += (out.empty() ? "" : " * ") + size_name(name, d);
  return out.empty() ? "1" : "(" + out + ")";
}

/// The text of a kernel with its accessors' uses written out.
class Uses {
 public:
  Uses(const model::Unit& unit, const std::map<std::string, Accessor, std::less<>>& accessors)
      : source_(unit.source()), words_(source_), accessors_(accessors) {}

  /// Of the body; `wrong` then has the accessor that is used in another way, if one is.
  std::string body(model::Span span) {
    std::size_t begin = 0;
    while (begin < words_.size() && words_[begin].begin < span.begin) ++begin;
    std::size_t end = begin;
    while (end < words_.size() && words_[end].end <= span.end) ++end;
    return text(begin, end);
  }
  std::string wrong;

 private:
  /// Tokens [begin, end), without what stands before the first one.
  std::string text(std::size_t begin, std::size_t end) {
    std::string out;
    if (begin >= end) return out;
    std::size_t at = words_[begin].begin;
    for (std::size_t i = begin; i < end;) {
      const auto accessor = accessors_.find(words_.text(i));
      const std::string_view before = i > begin ? words_.text(i - 1) : std::string_view{};
      if (accessor == accessors_.end() || before == "." || before == "->" || before == "::") {
        ++i;
        continue;
      }
      out += source_.substr(at, words_[i].begin - at);
      i = use(i, accessor->first, accessor->second, out);
      at = words_[i - 1].end;
    }
    return out + std::string(source_.substr(at, words_[end - 1].end - at));
  }

  /// The use that begins with word `i`; returns the word behind it.
  std::size_t use(std::size_t i,
                  const std::string& name,
                  const Accessor& accessor,
                  std::string& out) {
    std::vector<std::string> indices;
    std::size_t next = i + 1;
    for (; words_.text(next) == "[" && indices.size() < accessor.rank;
         next = words_.closing(next) + 1)
      indices.push_back(text(next + 1, words_.closing(next)));
    const std::string_view call = words_.text(next) == "." ? words_.text(next + 1) : "";
    const bool plain = words_.text(next + 2) == "(" && words_.text(next + 3) == ")";
    if (indices.size() == accessor.rank) {
      const std::string element = name + "[" + offset(name, indices) + "]";
      const bool address = call == "data" && plain, value = call == "ldg" && plain;
      out += address ? "(&" + element + ")" : element;
      return address || value ? next + 4 : next;
    }
    if (call == "data" && plain) {
      const std::string rest = product_of(name, accessor, indices.size());
      out += indices.empty() ? name
                             : "(" + name + " + (" + offset(name, indices) + ") * " + rest + ")";
      return next + 4;
    }
    if (call == "numElements" && plain && indices.empty()) {
      out += product_of(name, accessor, 0);
      return next + 4;
    }
    const std::string_view axis = words_.text(next + 3);
    const bool of_axis = words_.text(next + 2) == "(" && words_.text(next + 4) == ")" &&
                         axis.size() == 1 && axis[0] >= '0' &&
                         axis[0] < '0' + static_cast<int>(accessor.rank) && indices.empty();
    const auto dimension = static_cast<std::size_t>(of_axis ? axis[0] - '0' : 0);
    if (of_axis && (call == "size" || call == "getSize")) {
      out += size_name(name, dimension);
      return next + 5;
    }
    if (of_axis && (call == "stride" || call == "getStride")) {
      out += product_of(name, accessor, dimension + 1);
      return next + 5;
    }
    if (wrong.empty()) wrong = name;
    out += name;
    return i + 1;
  }

  static std::string offset(const std::string& name, const std::vector<std::string>& indices) {
    std::string out = "(" + indices[0] + ")";
    for (std::size_t d = 1; d < indices.size(); ++d)
      out = "(" + out + " * " + size_name(name, d) + " + (" + indices[d] + "))";
    return out;
  }

  std::string_view source_;
  Words words_;
  const std::map<std::string, Accessor, std::less<>>& accessors_;
};

}  // namespace

std::optional<KernelOfAccessors> kernel_of_accessors(const model::Unit& unit,
                                                     const model::Function& kernel,
                                                     std::string& why) {
  std::map<std::string, Accessor, std::less<>> accessors;
  std::vector<Edit> edits;
  KernelOfAccessors out;
  for (const model::Declarator* const parameter : kernel.parameters) {
    const std::string type = unit.plain_text(parameter->type), name(parameter->name);
    const auto accessor = accessor_of(type);
    if (!accessor || parameter->is_pointer() || parameter->reference) continue;
    std::string list = accessor->type + "* " + name;
    for (std::size_t d = 0; d < accessor->rank; ++d) {
      const std::string size = size_name(name, d);
      if (unit.identifiers().contains(size)) {
        why = "parameter " + name + ", a tensor accessor; " + size + " is a name of the file";
        return std::nullopt;
      }
      list += ", int " + size;
    }
    edits.push_back({parameter->specifiers.begin, parameter->span.end, list});
    out.notes.push_back(name + " is a " + type.substr(0, type.find('<')) +
                        " in the file; the text takes its pointer and sizes, without gaps");
    accessors.emplace(name, *accessor);
  }
  if (accessors.empty()) return std::nullopt;
  Uses uses(unit, accessors);
  const model::Span body = kernel.body->span;
  edits.push_back({body.begin, body.end, uses.body(body)});
  if (!uses.wrong.empty()) {
    why = "parameter " + uses.wrong +
          ", a tensor accessor that is used otherwise than by its "
          "elements, sizes, strides and data";
    return std::nullopt;
  }
  out.source = edited(unit.source(), std::move(edits));
  return out;
}

}  // namespace warpath
