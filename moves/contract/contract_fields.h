#pragma once

// The fields of a contract in best_summary.json and portfolio.json. Include only from .cc files.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/json/record_codec.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"

namespace warpath {

namespace contract_fields {

/// {argument: [values]}
struct Sizes {
  using Values = std::map<std::string, std::vector<std::string>>;
  static void read(const JsonCursor& at, std::vector<SourceContract::Fixed>& out) {
    Values values;
    Codec<Values>::read(at, values);
    out.clear();
    for (auto& [argument, list] : values) out.push_back({argument, std::move(list)});
  }
  static nlohmann::json write(const std::vector<SourceContract::Fixed>& sizes) {
    auto out = nlohmann::json::object();
    for (const auto& fixed : sizes) out[fixed.argument] = fixed.values;
    return out;
  }
};

/// {argument: bytes}; comes before Apart.
struct Alignment {
  static void read(const JsonCursor& at, SourceContract& out) {
    std::map<std::string, std::int64_t> bytes;
    Codec<std::map<std::string, std::int64_t>>::read(at, bytes);
    out.pointers.clear();
    for (const auto& [argument, alignment] : bytes)
      out.pointers.push_back({.argument = argument, .alignment_bytes = alignment});
  }
  static nlohmann::json write(const SourceContract& contract) {
    auto out = nlohmann::json::object();
    for (const auto& pointer : contract.pointers) out[pointer.argument] = pointer.alignment_bytes;
    return out;
  }
};

/// [argument]
struct Apart {
  static void read(const JsonCursor& at, SourceContract& out) {
    std::vector<std::string> names;
    Codec<std::vector<std::string>>::read(at, names);
    for (auto& pointer : out.pointers)
      pointer.apart = std::ranges::find(names, pointer.argument) != names.end();
  }
  static nlohmann::json write(const SourceContract& contract) {
    auto out = nlohmann::json::array();
    for (const auto& pointer : contract.pointers) {
      if (pointer.apart) out.push_back(pointer.argument);
    }
    return out;
  }
};

/// For readers of the file; it follows from the rest.
struct Summary {
  static void read(const JsonCursor&, SourceContract&) {}
  static nlohmann::json write(const SourceContract& contract) { return contract_summary(contract); }
};

struct Architecture {
  static void read(const JsonCursor& at, SourceContract& out) {
    out.compute_capability = compute_capability(at.text());
  }
  static nlohmann::json write(const SourceContract& contract) {
    return contract_architecture(contract);
  }
};

/// [x, y, z], each as text
struct Extents {
  static void read(const JsonCursor& at, std::array<Expression, 3>& out) {
    if (at.size() != 3) at.fail("an array of 3");
    for (std::size_t i = 0; i < 3; ++i)
      out[i] = Expression::parse(at.element(i).text(), at.place());
  }
  static nlohmann::json write(const std::array<Expression, 3>& extents) {
    return nlohmann::json::array({extents[0].text(), extents[1].text(), extents[2].text()});
  }
};
struct Bytes {
  static void read(const JsonCursor& at, Expression& out) {
    out = Expression::parse(at.text(), at.place());
  }
  static nlohmann::json write(const Expression& bytes) { return bytes.text(); }
};
struct Launch : RecordOf<LaunchPlan,
                         Kept<"grid", &LaunchPlan::grid, Extents>,
                         Kept<"block", &LaunchPlan::block, Extents>,
                         Kept<"cluster", &LaunchPlan::cluster, Extents>,
                         Kept<"dynamic_smem_bytes", &LaunchPlan::dynamic_smem_bytes, Bytes>> {};

}  // namespace contract_fields

template <>
struct Description<SourceContract> {
  template <class V>
  static void fields(V& v) {
    using T = SourceContract;
    using namespace contract_fields;
    const auto key = [](std::string_view name) {
      return KeyText{.key = name, .help = "", .required = true};
    };
    v(&T::narrowed, key("narrowed"));
    v.template custom<Summary>(key("summary"));
    v.template as<Sizes>(&T::sizes, key("sizes"));
    v(&T::ignored, key("ignored_inputs"));
    v.template custom<Alignment>(key("alignment_bytes"));
    v.template custom<Apart>(key("no_overlap"));
    v.group(key("device"), [&](auto& device) {
      device(&T::device, key("measured_on"));
      device.template custom<Architecture>(key("architecture"));
      device(&T::exact_architecture, key("exact"));
      device(&T::dynamic_smem_bytes, key("dynamic_smem_bytes"));
    });
    v.template as<Launch>(&T::launch, key("launch"));
    v(&T::macros, key("macros"));
    v(&T::verified, key("verified"));
    v(&T::unread, key("unread"));
  }
};

}  // namespace warpath
