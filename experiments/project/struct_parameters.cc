#include "experiments/project/struct_parameters.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "experiments/project/kernel_signature.h"
#include "experiments/project/kernel_words.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Declarator;

struct Member {
  std::string type;  ///< all words and stars before the name
  std::string name;  ///< of a vector's component "size.x"
};

/// Components of a vector type of CUDA, of `int2` int x and int y; empty for other types.
std::vector<Member> components_of(std::string type) {
  for (const std::string_view word : {"const ", "struct "}) {
    if (type.starts_with(word)) type.erase(0, word.size());
  }
  const auto found = elements_of(type == "dim3" ? "uint3" : type);
  std::vector<Member> out;
  const bool number = found && found->first != DType::f16 && found->first != DType::bf16;
  for (int i = 0; number && found->second > 1 && i < found->second; ++i)
    out.push_back({std::string(info(found->first).cuda_type), std::string(1, "xyzw"[i])});
  return out;
}

std::size_t bytes_of(const model::Unit& unit, const std::string& type) {
  if (type.find('*') != std::string::npos) return sizeof(void*);
  std::string plain = type.starts_with("const ") ? type.substr(6) : type;
  const auto dtype = model::dtype_of_type(unit.resolved_type(plain));
  return dtype ? info(*dtype).size_bytes : 0;
}

/// Vectors among the members as their components. nullopt where these by themselves would not lie
/// where the vector has them, which begins at a multiple of more than one component's size.
std::optional<std::vector<Member>> with_components(const model::Unit& unit,
                                                   const std::vector<Member>& members) {
  constexpr std::size_t kMostAlignment = 16;
  std::vector<Member> out;
  std::size_t offset = 0;
  bool known = true;  // the offset
  for (const Member& member : members) {
    const std::vector<Member> components = components_of(member.type);
    const std::string& element = components.empty() ? member.type : components[0].type;
    const std::size_t bytes = bytes_of(unit, element);
    known = known && bytes > 0;
    if (known) offset = (offset + bytes - 1) / bytes * bytes;
    const std::size_t all = bytes * components.size();
    const std::size_t alignment = components.size() == 3 ? bytes : std::min(all, kMostAlignment);
    if (!components.empty() && (!known || offset % alignment != 0)) return std::nullopt;
    offset += components.empty() ? bytes : all;
    if (components.empty()) out.push_back(member);
    for (const Member& one : components) out.push_back({one.type, member.name + "." + one.name});
  }
  return out;
}

/// The brace that opens the definition of a struct; the end if the file has none.
std::size_t definition_of(const Words& words, std::string_view type) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.text(i) != "struct" && words.text(i) != "class") continue;
    if (i > 0 && words.text(i - 1) == "enum") continue;
    std::size_t open = i + 1;
    bool named = false;
    while (words.is_name(open) || words.text(open) == "(" || words.text(open) == ")" ||
           words[std::min(open, words.size() - 1)].kind == TokenKind::number) {
      named = named || words.text(open) == type;  // behind alignment
      ++open;
    }
    if (words.text(open) != "{") continue;
    const bool is_typedef =
        i > 0 && words.text(i - 1) == "typedef" && words.text(words.closing(open) + 1) == type;
    if (named || is_typedef) return open;
  }
  return words.size();
}

/// The declarators of `int a, *b;`, tokens [begin, end); false for what is no number or pointer.
bool read_members(const Words& words,
                  std::size_t begin,
                  std::size_t end,
                  std::vector<Member>& out) {
  std::string base;
  for (std::size_t from = begin; from < end;) {
    std::size_t to = from;
    while (to < end && words.text(to) != ",") ++to;
    std::size_t last = from;  // the declarator ends here
    while (last < to && words.text(last) != "=" && words.text(last) != "{") ++last;
    Member member;
    std::string before;
    for (std::size_t i = from; i < last; ++i) {
      const std::string word(words.text(i));
      const bool plain = words.is_name(i) || word == "*" || word == "::";
      if (!plain) return false;
      if (i + 1 == last) {
        if (!words.is_name(i)) return false;
        member.name = word;
        break;
      }
      if (word == "*" && base.empty()) base = before;
      before += (before.empty() || word == "::" || before.ends_with("::") ? "" : " ") + word;
    }
    if (from == begin && base.empty()) base = before;
    member.type = from == begin ? before : base + (before.empty() ? "" : " " + before);
    if (member.name.empty() || member.type.empty()) return false;
    out.push_back(std::move(member));
    from = to + 1;
  }
  return true;
}

std::optional<std::vector<Member>> members_of(const Words& words, std::size_t open) {
  std::vector<Member> out;
  const std::size_t close = words.closing(open);
  for (std::size_t i = open + 1; i < close;) {
    std::size_t end = i;
    while (end < close && words.text(end) != ";") {
      if (words.text(end) == "(" || words.text(end) == "[") return std::nullopt;
      ++end;
    }
    if (words.text(i) == "public" && words.text(i + 1) == ":") i += 2;
    if (!read_members(words, i, end, out)) return std::nullopt;
    i = end + 1;
  }
  return out;
}

/// Every use of the struct `parameter` in the body as that of a member; false if there is another.
bool edit_uses(const Words& words,
               model::Span body,
               std::string_view parameter,
               const std::map<std::string, std::string, std::less<>>& names,
               std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].begin < body.begin || words[i].end > body.end) continue;
    if (words.text(i) != parameter || !words.is_name(i)) continue;
    const std::string_view before = i > 0 ? words.text(i - 1) : std::string_view{};
    if (before == "." || before == "->") continue;
    std::size_t last = i + 2;
    auto name = names.find(words.text(last));
    if (name == names.end() && words.text(last + 1) == ".") {
      name = names.find(std::string(words.text(last)) + "." + std::string(words.text(last + 2)));
      last += 2;
    }
    if (words.text(i + 1) != "." || name == names.end()) return false;
    edits.push_back({words[i].begin, words[last].end, name->second});
  }
  return true;
}

/// Names of the kernel that are no members of the struct.
std::set<std::string, std::less<>> names_in(const Words& words, const model::Function& kernel) {
  std::set<std::string, std::less<>> out;
  for (const Declarator* const parameter : kernel.parameters) out.emplace(parameter->name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const model::Span body = kernel.body->span;
    if (words[i].begin < body.begin || words[i].end > body.end || !words.is_name(i)) continue;
    const std::string_view before = i > 0 ? words.text(i - 1) : std::string_view{};
    if (before != "." && before != "->") out.emplace(words.text(i));
  }
  return out;
}

}  // namespace

std::optional<KernelOfMembers> kernel_of_members(const model::Unit& unit,
                                                 const model::Function& kernel,
                                                 std::string& why) {
  const Words words(unit.source());
  std::set<std::string, std::less<>> taken = names_in(words, kernel);
  KernelOfMembers out;
  std::vector<Edit> edits;
  for (const Declarator* const parameter : kernel.parameters) {
    if (parameter->is_pointer() || parameter->reference || parameter->is_array()) continue;
    const std::string type = unit.plain_text(parameter->type);
    const std::size_t open =
        definition_of(words, type.starts_with("struct ") ? std::string_view(type).substr(7) : type);
    const std::vector<Member> vector = components_of(type);
    if (open == words.size() && vector.empty()) continue;
    const std::string which =
        "parameter " + std::string(parameter->name) + " of type " + type + ", a struct ";
    auto members = vector.empty() ? members_of(words, open) : std::optional(vector);
    if (members) members = with_components(unit, *members);
    if (!members) {
      why = which + "with members that are no numbers and no pointers to them";
      return std::nullopt;
    }
    std::map<std::string, std::string, std::less<>> names;
    std::string list;
    for (const Member& member : *members) {
      std::string plain = member.name;
      std::ranges::replace(plain, '.', '_');
      const bool free = vector.empty() && taken.insert(plain).second;
      const std::string name = free ? plain : std::string(parameter->name) + "_" + plain;
      taken.insert(name);
      names[member.name] = name;
      out.member_of[name] = std::string(parameter->name);
      list += (list.empty() ? "" : ", ") + member.type + " " + name;
    }
    if (!edit_uses(words, kernel.body->span, parameter->name, names, edits)) {
      why = which + "that is used as a whole";
      return std::nullopt;
    }
    edits.push_back({parameter->specifiers.begin, parameter->span.end, list});
  }
  if (out.member_of.empty()) return std::nullopt;
  out.source = edited(unit.source(), std::move(edits));
  return out;
}

}  // namespace warpath
