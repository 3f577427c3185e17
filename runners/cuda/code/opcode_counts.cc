#include "runners/cuda/code/opcode_counts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "engine/base/format.h"

namespace warpath::cuda {
namespace {

/// One instruction of a function, in order.
struct Place {
  std::string opcode;                 ///< empty: padding
  std::optional<std::size_t> target;  ///< of a branch: index of the instruction that it goes to
};

void add(const std::vector<Place>& places, CountedCode& to) {
  std::map<std::size_t, std::size_t> last_of;  // first instruction of a loop -> last branch to it
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].target && *places[i].target <= i) last_of[*places[i].target] = i;
  }
  std::vector<int> change(places.size() + 1, 0);  // of the depth, from here on
  for (const auto& [first, last] : last_of) {
    ++change[first];
    --change[last + 1];
  }
  std::size_t depth = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    depth = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(depth) + change[i]);
    if (places[i].opcode.empty()) continue;
    std::vector<std::int64_t>& counts = to.opcodes[places[i].opcode];
    if (counts.size() <= depth) counts.resize(depth + 1, 0);
    ++counts[depth];
  }
  to.loops += static_cast<std::int64_t>(last_of.size());
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// ---- machine code ----

/// Takes the word at the front: up to a blank.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && !text.empty() && end == text.data() + text.size()
             ? std::optional(value)
             : std::nullopt;
}

bool is_constant_source(std::string_view operand) {
  operand = trimmed(operand);
  while (!operand.empty() && (operand.front() == '-' || operand.front() == '!' ||
                              operand.front() == '|' || operand.front() == '+'))
    operand.remove_prefix(1);
  for (const std::string_view zero : {"RZ", "URZ", "SRZ", "PT", "UPT"}) {
    if (operand.starts_with(zero) && (operand.size() == zero.size() ||
                                      operand[zero.size()] == '.' || operand[zero.size()] == '|'))
      return true;
  }
  return !operand.empty() && std::isdigit(static_cast<unsigned char>(operand.front())) != 0;
}

bool is_register(std::string_view operand) {
  operand = trimmed(operand);
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() > 1 && operand[0] == 'R' &&
         std::isdigit(static_cast<unsigned char>(operand[1])) != 0;
}

/// "R2, -RZ, RZ, 0, 0": a register, then nothing that could differ from run to run.
bool loads_constant(std::string_view operands) {
  std::vector<std::string_view> parts;
  while (!operands.empty()) {
    const std::size_t comma = operands.find(',');
    parts.push_back(operands.substr(0, comma));
    operands.remove_prefix(comma == std::string_view::npos ? operands.size() : comma + 1);
  }
  return parts.size() >= 2 && is_register(parts.front()) &&
         std::all_of(parts.begin() + 1, parts.end(), is_constant_source);
}

/// The functions of a listing, one after the other.
class Listing {
 public:
  Listing(std::span<const std::string> left_out, CountedCode& to) : left_out_(left_out), to_(to) {}

  void read(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("/*")) {
      instruction(line);
    } else if (line.starts_with(".text.") && line.ends_with(':')) {
      begin(line.substr(6, line.size() - 7));
    } else if (line.starts_with("Function :")) {
      begin(trimmed(line.substr(10)));
    } else if (line.ends_with(':') && line.starts_with(".L")) {
      labels_[std::string(line.substr(0, line.size() - 1))] = places_.size();
    }
  }

  void end() {
    if (counts_) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        places_[i].target = target_of(i);
        if (places_[i].target == i) places_[i] = {};
      }
      add(places_, to_);
    }
    places_.clear();
    jumps_.clear();
    labels_.clear();
    addresses_.clear();
    counts_ = false;
  }

 private:
  void begin(std::string_view name) {
    end();
    counts_ = !contains(left_out_, name);
  }

  /// "/*0050*/  @!P0 BRA `(.L_x_0) ;  /* 0x00000008001c8947 */"
  void instruction(std::string_view line) {
    const std::size_t close = line.find("*/");
    if (close == std::string_view::npos) return;
    const auto address = hexadecimal(trimmed(line.substr(2, close - 2)));
    line.remove_prefix(close + 2);
    const std::size_t semicolon = line.find(';');
    if (!address || semicolon == std::string_view::npos) return;
    line = trimmed(line.substr(0, semicolon));
    if (line.starts_with('{')) line = trimmed(line.substr(1));  // dual issue of old chips
    if (line.starts_with('@')) static_cast<void>(take_word(line));
    const std::string_view opcode = take_word(line);
    if (opcode.empty() || opcode == "NOP" ||
        std::isupper(static_cast<unsigned char>(opcode.front())) == 0)
      return;
    addresses_[*address] = places_.size();
    if (opcode.starts_with("BRA")) jumps_[places_.size()] = std::string(trimmed(line));
    places_.push_back({loads_constant(line) ? "CONSTANT.LOAD" : std::string(opcode), std::nullopt});
  }

  /// Of a branch; its last operand names the place: "`(.L_x_0)", "0x8d0".
  [[nodiscard]] std::optional<std::size_t> target_of(std::size_t i) const {
    const auto jump = jumps_.find(i);
    if (jump == jumps_.end()) return std::nullopt;
    std::string_view where = jump->second;
    where.remove_prefix(std::min(where.size(), where.find_last_of(", \t") + 1));
    std::optional<std::size_t> place;
    if (where.starts_with("`(") && where.ends_with(')')) {
      const auto label = labels_.find(where.substr(2, where.size() - 3));
      if (label != labels_.end()) place = label->second;
    } else if (const auto address = hexadecimal(where)) {
      const auto known = addresses_.find(*address);
      if (known != addresses_.end()) place = known->second;
    }
    return place;
  }

  std::span<const std::string> left_out_;
  CountedCode& to_;
  bool counts_ = false;
  std::vector<Place> places_;
  std::map<std::size_t, std::string> jumps_;  // index -> operands
  std::map<std::string, std::size_t, std::less<>> labels_;
  std::map<std::uint64_t, std::size_t> addresses_;
};

}  // namespace

CountedCode count_ptx(const PtxModule& module, std::span<const std::string> entries) {
  CountedCode out;
  for (const PtxFunction& function : module.functions) {
    if (!function.has_body || (function.is_entry && !contains(entries, function.name))) continue;
    for (const std::string_view directive : function.directives) {
      auto& counts = out.opcodes["directive." + std::string(directive)];
      counts.resize(std::max<std::size_t>(counts.size(), 1), 0);
      ++counts.front();
    }
    std::vector<Place> places;
    for (const PtxInstruction& instruction : function.instructions) {
      Place place{std::string(instruction.opcode), std::nullopt};
      for (const std::string_view modifier : instruction.modifiers)
        place.opcode.append(".").append(modifier);
      if (instruction.opcode == "bra" && !instruction.operands.empty()) {
        const auto label =
            std::ranges::find(function.labels, instruction.operands.back(), &PtxLabel::name);
        if (label != function.labels.end()) place.target = label->at;
      }
      places.push_back(std::move(place));
    }
    add(places, out);
  }
  return out;
}

CountedCode count_machine(std::string_view text, std::span<const std::string> left_out) {
  CountedCode out;
  Listing listing(left_out, out);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    listing.read(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  listing.end();
  return out;
}

}  // namespace warpath::cuda
