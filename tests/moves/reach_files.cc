// What moves say of kernels as people keep them: reach_files FILE... makes a synthetic spec of
// every kernel (arguments by their types, sizes by their names, a launch by the indices that the
// text uses), asks every move for what it offers there, and prints one JSON line a kernel:
// {"file", "kernel", "line", "specified", "why", "veto", "moves": {NAME: offers},
// "structural": [NAME...], "reasons": {NAME: why a structural move offers nothing},
// "normal_veto": that of the normal form, "seconds": CPU time of the offers, "signature": of every
// instance and of the text that it leads to}. Nothing is run;
// reach_files --run FILE... makes a smaller spec of the kernel without the rest of its file, for
// the host runner, and runs the kernel, and what every move that restructures it makes of it, with
// the kernel itself as the reference: {"file", "kernel", "line", "untouched": status, "log",
// "runs": [{"step", "status", "log", and where it is no success "before", "after"}]}. Where a
// result is wrong, the kernel itself is looked at again: one whose threads race, that reads what it
// has not written, or that leaves its own arrays, says nothing;
// reach_files --spec SPEC does the same with a spec that there is, on its workloads for the host;
// reach_files --after SPEC makes each restructuring move that its kernel is offered, with the first
// guess of parameters, and asks those that were offered before again: {"kernel", "made": step,
// "open": [NAME...], "closed": {NAME: why}}. Nothing is run.

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/spec/spec_load.h"
#include "engine/text/source_edit.h"
#include "experiments/project/accessor_parameters.h"
#include "experiments/project/foreign_names.h"
#include "experiments/project/kernel_text.h"
#include "experiments/project/reading_options.h"
#include "experiments/project/struct_parameters.h"
#include "moves/edit/known_shape.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/propose/move_script.h"
#include "moves/propose/rule_proposer.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"
#include "runners/host/execute/worker.h"
#include "tests/support/host_runs.h"
#include "tests/support/synthetic_spec.h"

using namespace warpath;
using nlohmann::json;

namespace {

/// Moves that annotate the kernel and change nothing that it computes with.
const std::set<std::string, std::less<>> kAnnotations{
    "cache_policy_cg", "compiler_options", "launch_bounds", "qualify_pointers",
    "set_tunable",     "unroll_limit",     "unroll_loops"};
constexpr std::size_t kMostLog = 600;

DeviceFacts gpu() {
  return {.runner = "cuda",
          .name = "none",
          .arch = "sm_90a",
          .multiprocessors = 132,
          .max_smem_per_block_bytes = 227 << 10,
          .is_gpu = true};
}

Hash128 signature(const std::map<std::string, std::vector<MoveOffer>, std::less<>>& offered) {
  Hasher hasher;
  for (const auto& [name, list] : offered) {
    for (const MoveOffer& offer : list) {
      const VariantEdit& edit = offer.made.edit;
      hasher.add(offer.instance.text()).add(offer.made.key);
      hasher.add(static_cast<std::uint64_t>(edit.begin));
      hasher.add(static_cast<std::uint64_t>(edit.removed)).add(std::string_view(edit.inserted));
    }
  }
  return hasher.digest();
}

/// The kernel of `unit` that stands where `kernel` stands among those of its name.
const model::Function* same_kernel(const model::Unit& unit,
                                   const model::Unit& before,
                                   const model::Function& kernel) {
  const auto namesakes = [&](const model::Unit& of) {
    std::vector<const model::Function*> out;
    for (const model::Function* const one : of.functions())
      if (one->is_global && one->body != nullptr && one->name == kernel.name) out.push_back(one);
    return out;
  };
  const auto old = namesakes(before), now = namesakes(unit);
  const auto at = std::ranges::find(old, &kernel);
  return old.size() != now.size() || at == old.end() ? nullptr : now[at - old.begin()];
}

/// The kernel as `warpath init` drafts it: with what it names of its file, and nothing else, and
/// with pointers and sizes in the place of tensor accessors.
std::string drafted_text(const model::Unit& unit, const model::Function& kernel) {
  std::string why;
  if (const auto accessors = kernel_of_accessors(unit, kernel, why)) {
    const model::Unit taken = model::parse(accessors->source, reading_options(accessors->source));
    if (const model::Function* const own = same_kernel(taken, unit, kernel))
      return kernel_text(taken, *own);
  }
  return kernel_text(unit, kernel);
}

json reach_of(const model::Unit& unit, const model::Function& kernel, const MoveRegistry& moves) {
  json out = {{"kernel", kernel.name},
              {"line", model::line_of(unit, kernel.name_span.begin)},
              {"specified", false},
              {"why", ""},
              {"veto", ""},
              {"moves", json::object()},
              {"reasons", json::object()},
              {"structural", json::array()}};
  const std::string text = drafted_text(unit, kernel);
  const model::Unit alone = model::parse(text);
  const model::Function* const drafted = alone.find_kernel(kernel.name);
  std::string why = "the kernel alone is not found";
  const auto described =
      drafted == nullptr ? std::nullopt
                         : test::synthetic_spec(alone, *drafted, text, test::device_sizes(), why);
  if (!described) return out["why"] = why, out;
  try {
    const KernelSpec spec = spec_from_json(*described, "spec");
    const Variant variant = baseline_variant(spec);
    const DeviceFacts device = gpu();
    const model::Unit own = model::parse(spec, variant);
    const model::Function* const found = own.find_kernel(variant.kernel_name);
    if (found == nullptr) throw bad_input("kernel", variant.kernel_name, "one that is found");
    out["specified"] = true;
    out["veto"] = model::analyse(own, *found, {&spec, &variant}).veto;
    const model::ModelScope models(spec);
    out["normal_veto"] = out["veto"];
    const auto normal = with_normal_form({spec, variant, device});
    Variant plain = normal ? *normal : variant;  // as moves see it at last
    if (const auto guarded = with_point_a_thread({spec, plain, device})) plain = *guarded;
    if (normal) {
      const model::Unit unit_of = model::parse(spec, *normal);
      if (const model::Function* const k = unit_of.find_kernel(normal->kernel_name))
        out["normal_veto"] = model::analyse(unit_of, *k, {&spec, &*normal}).veto;
    }
    // As a proposer asks: nothing is known of the kernel yet, and the reasons come afterwards.
    std::map<std::string, std::vector<MoveOffer>, std::less<>> offered_of;
    const std::clock_t began = std::clock();
    {
      const model::ModelScope fresh(spec);
      for (const auto& [name, entry] : moves.entries())
        offered_of[name] = offers(*entry.make(), {spec, variant, device});
    }
    out["seconds"] = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    out["signature"] = signature(offered_of).hex();
    for (const auto& [name, entry] : moves.entries()) {
      const auto move = entry.make();
      const std::size_t offered = offered_of[name].size();
      if (offered > 0) {
        out["moves"][name] = offered;
        if (move->structural()) out["structural"].push_back(name);
      }
      // normalise: what stays of a veto
      if (move->structural() && (offered == 0 || name == "normalise") &&
          (out["normal_veto"] == "" || name == "normalise")) {
        static_cast<void>(apply_step(*move, {spec, plain, device},
                                     {.move = name, .site = "", .parameters = {}}, why));
        out["reasons"][name] = why;
      }
    }
  } catch (const Error& error) {
    out["why"] = error.what();
  }
  return out;
}

/// The same kernel with other variables beside its local arrays: what it reads beyond them, or
/// before it writes, is something else.
std::string disturbed(const model::Unit& unit) {
  std::vector<Edit> edits;
  for (const model::Function* const function : unit.functions()) {
    if (function->body == nullptr) continue;
    model::walk(*function->body, [&](const model::Stmt& s) {
      const bool array = std::ranges::any_of(s.declarators, [](const model::Declarator* d) {
        return d->is_array() && !d->has(model::kShared) && !d->is_parameter;
      });
      if (array && s.parent != nullptr && s.parent->is(model::StmtKind::block)) {
        const std::string name = model::fresh_name(unit, "beside") + std::to_string(edits.size());
        edits.push_back({s.span.begin, s.span.begin,
                         "volatile unsigned char " + name + "[64] = {77, 88, 99}; (void)" + name +
                             "[threadIdx.x % 64]; "});
      }
      return true;
    });
  }
  return edited(unit.source(), std::move(edits));
}

std::string said(const Outcome& outcome) {
  return (outcome.log + " " + outcome.verdict.summary()).substr(0, kMostLog);
}

/// Why the result of the kernel itself is not determined; empty where it is, as far as is seen.
std::string undefined(const KernelSpec& spec,
                      const Variant& variant,
                      const model::Unit& alone,
                      const test::HostRuns& host) {
  Variant control = variant;
  control.source = disturbed(alone);
  try {
    for (const Outcome& outcome : {host.run(control), host.run(variant, Stage::confirmation)})
      if (outcome.status != Status::ok) return said(outcome);
    const Outcome bounded = test::HostRuns(spec, true).run(variant);
    return bounded.status == Status::ok ? "" : said(bounded);
  } catch (const Error& error) {  // it is its own reference
    return error.what();
  }
}

json nothing_run() {
  return {{"untouched", "not_specified"}, {"log", ""}, {"runs", json::array()}};
}

/// What becomes of the spec's kernel, which `alone` is the text of, and of its moves.
json runs_of(const KernelSpec& spec, const model::Unit& alone, const MoveRegistry& moves) {
  json out = nothing_run();
  try {
    const Variant variant = baseline_variant(spec);
    const test::HostRuns host(spec);
    const Outcome untouched = host.run(variant);
    out["untouched"] = name(untouched.status);
    out["log"] = said(untouched);
    if (untouched.status != Status::ok) return out;
    DeviceFacts device = gpu();
    device.runner = "host";
    device.multiprocessors = 1;  // a few blocks are many
    const MoveContext context{spec, variant, device};
    const model::ModelScope models(spec);
    std::set<Hash128> seen{variant_key(variant)};
    bool doubtful = false;
    std::string why;
    for (const auto& [name, entry] : moves.entries()) {
      if (kAnnotations.contains(name)) continue;
      const auto move = entry.make();
      const std::vector<MoveInstance> listed = move->enumerate(context);
      const auto applied = [&](const MoveInstance& one) { return move->apply(context, one, why); };
      std::optional<Variant> after;
      std::size_t number = 0;
      while (!after && number < listed.size()) after = applied(listed[number++]);
      if (!after || !seen.insert(variant_key(*after)).second) continue;
      const Outcome outcome = host.run(*after);
      json run = {{"step", listed[number - 1].text()},
                  {"status", warpath::name(outcome.status)},
                  {"log", said(outcome)}};
      if (outcome.status != Status::ok)
        run["before"] = variant.source, run["after"] = after->source, doubtful = true;
      out["runs"].push_back(run);
    }
    if (!doubtful) return out;
    if (const std::string why_not = undefined(spec, variant, alone, host); !why_not.empty())
      out["untouched"] = "undefined", out["log"] = why_not, out["runs"] = json::array();
  } catch (const Error& error) {
    if (out["untouched"] == "not_specified") out["untouched"] = "refused";
    out["log"] = error.what();
  }
  return out;
}

/// The same of the kernel, alone in its text, at these sizes.
json run_at(const test::SyntheticSizes& sizes,
            const model::Unit& alone,
            const std::string& text,
            const std::string& kernel,
            const MoveRegistry& moves) {
  json out = nothing_run();
  const model::Function* const own = alone.find_kernel(kernel);
  std::string why = "the kernel alone is not found";
  const auto described =
      own == nullptr ? std::nullopt : test::synthetic_spec(alone, *own, text, sizes, why);
  if (!described) return out["log"] = why, out;
  try {
    return runs_of(spec_from_json(*described, "spec"), alone, moves);
  } catch (const Error& error) {
    out["untouched"] = "refused";
    out["log"] = error.what();
  }
  return out;
}

/// The same of a spec's kernel on its workloads for the host.
json run_of_spec(KernelSpec spec, const MoveRegistry& moves) {
  std::erase_if(spec.workloads, [](const Workload& w) { return w.target == WorkloadTarget::gpu; });
  const model::Unit alone = model::parse(spec, baseline_variant(spec));
  return runs_of(spec, alone, moves);
}

/// The first guess of every move that restructures the kernel at hand.
std::map<std::string, MoveInstance, std::less<>> structural_offers(const MoveContext& at,
                                                                   const MoveRegistry& moves) {
  std::map<std::string, MoveInstance, std::less<>> out;
  for (const auto& [name, entry] : moves.entries()) {
    const auto move = entry.make();
    // normalise and specialise_shape are part of what the others make
    if (!move->structural() || name == "normalise" || name == "specialise_shape") continue;
    if (const auto list = offers(*move, at); !list.empty()) out[name] = list.front().instance;
  }
  return out;
}

/// One line a move: what it leaves open of the others.
std::vector<json> after_each(const KernelSpec& spec, const MoveRegistry& moves) {
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device = gpu();
  const model::ModelScope models(spec);
  const auto before = structural_offers({spec, variant, device}, moves);
  std::vector<json> out;
  for (const auto& [name, instance] : before) {
    std::string why;
    const auto made =
        apply_step(*moves.entries().at(name).make(), {spec, variant, device}, instance, why);
    if (!made) continue;
    json line = {{"kernel", spec.name},
                 {"made", instance.text()},
                 {"open", json::array()},
                 {"closed", json::object()}};
    const MoveContext now{spec, made->variant, device};
    for (const auto& [other, unused] : before) {
      if (other == name) continue;
      const auto move = moves.entries().at(other).make();
      if (!offers(*move, now).empty()) {
        line["open"].push_back(other);
      } else {
        why = "nothing to offer";
        static_cast<void>(
            apply_step(*move, now, {.move = other, .site = "", .parameters = {}}, why));
        line["closed"][other] = why;
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

/// The first of the sizes at which the kernel runs.
json run_of(const model::Unit& unit, const model::Function& kernel, const MoveRegistry& moves) {
  const std::string text = drafted_text(unit, kernel);
  const model::Unit alone = model::parse(text);
  json out;
  for (const test::SyntheticSizes& sizes : test::host_sizes()) {
    json now = run_at(sizes, alone, text, std::string(kernel.name), moves);
    const bool ok = now["untouched"] == "ok";
    const std::string log = now["log"];
    if (ok || out.is_null()) out = std::move(now);
    if (ok || out["untouched"] == "not_specified" ||
        log.find("that the host runner compiles") != std::string::npos)
      break;
  }
  out["kernel"] = kernel.name;
  out["line"] = model::line_of(unit, kernel.name_span.begin);
  return out;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> given(words + 1, words + count);
  if (given == std::vector<std::string>{"worker", "host"}) return host::worker_main();
  const MoveRegistry& moves = registered_moves();
  const std::string mode =
      !given.empty() && given[0].starts_with("--") ? given[0] : std::string("--offers");
  const std::size_t file = mode == "--offers" ? 0 : 1;
  if (given.size() <= file) {
    std::fprintf(stderr,
                 "usage: reach_files [--run] FILE [KERNEL...]; reach_files --spec|--after SPEC\n");
    return 64;
  }
  const auto print = [](const json& line) {
    std::cout << line.dump(-1, ' ', true, json::error_handler_t::replace) << "\n" << std::flush;
  };
  if (mode == "--spec" || mode == "--after") {
    for (const KernelSpec& spec : load_specs(given[file])) {
      if (mode == "--spec") {
        print(run_of_spec(spec, moves));
      } else {
        for (const json& line : after_each(spec, moves)) print(line);
      }
    }
    return 0;
  }
  std::ostringstream text;
  text << std::ifstream(given[file], std::ios::binary).rdbuf();
  const std::set<std::string, std::less<>> wanted(
      given.begin() + static_cast<std::ptrdiff_t>(file) + 1, given.end());
  std::map<std::string, std::string> replaced;
  const std::string read = with_foreign_names(text.str(), replaced);
  const model::Unit unit = model::parse(read, reading_options(read));
  for (const model::Function* const function : unit.functions()) {
    if (!function->is_global || function->body == nullptr) continue;
    if (!wanted.empty() && !wanted.contains(function->name)) continue;
    json line = mode == "--run" ? run_of(unit, *function, moves) : reach_of(unit, *function, moves);
    line["file"] = given[file];
    print(line);
  }
  return 0;
}
