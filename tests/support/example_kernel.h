#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moves/model/kernel_model.h"
#include "moves/propose/example.h"
#include "moves/propose/move_script.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"

namespace warpath {

/// A kernel with its spec in the form of the moves' examples, and what moves make of it.
class ExampleKernel {
 public:
  ExampleKernel(const std::string& head, const std::string& source)
      : spec_(
            parse_example("step: launch_bounds\n" + head + "--- before\n" + source, "test").spec) {
    variant_ = baseline_variant(spec_);
  }
  KernelSpec& spec() { return spec_; }
  /// The kernel of the spec as it is now.
  void restart() { variant_ = baseline_variant(spec_); }
  [[nodiscard]] const std::string& source() const { return variant_.source; }
  [[nodiscard]] bool has(const std::string& text) const {
    return source().find(text) != std::string::npos;
  }
  /// Instances of the move that apply here; of all moves without a name.
  [[nodiscard]] std::vector<MoveOffer> offered(const std::string& name = "") const {
    std::vector<MoveOffer> out;
    for (const auto& [known, entry] : registered_moves().entries()) {
      if (!name.empty() && known != name) continue;
      for (MoveOffer& offer : offers(*entry.make(), at())) out.push_back(std::move(offer));
    }
    return out;
  }
  /// Empty if the step applied, else the reason why not.
  std::string step(const std::string& text) {
    const MoveInstance wanted = parse_move_script(text, "test").front();
    std::string why;
    auto made = apply_step(*registered_moves().create("", wanted.move), at(), wanted, why);
    if (!made) return why.empty() ? "no reason given" : why;
    variant_ = std::move(made->variant);
    return "";
  }
  /// What all moves say of the kernel, also by name and without a site.
  [[nodiscard]] std::vector<std::string> reasons() const {
    std::vector<std::string> out;
    for (const auto& [name, entry] : registered_moves().entries()) {
      std::string why;
      if (!apply_step(*entry.make(), at(), {.move = name, .site = "", .parameters = {}}, why))
        out.push_back(name + ": " + why);
    }
    return out;
  }
  [[nodiscard]] std::shared_ptr<const model::KernelModel> model() const {
    std::string why;
    return model::model_kernel(spec_, variant_, why);
  }
  [[nodiscard]] MoveContext at() const { return {spec_, variant_, device_}; }

 private:
  KernelSpec spec_;
  Variant variant_;
  DeviceFacts device_ = example_device();
};

}  // namespace warpath
