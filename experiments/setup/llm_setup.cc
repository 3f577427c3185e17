#include "experiments/setup/llm_setup.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"
#include "moves/patch/patch.h"
#include "priors/llm/options.h"

namespace warpath {

using nlohmann::json;

std::optional<LlmAccess> llm_access(const LlmOptions& options, std::string& why) {
  static_cast<void>(llm::Cassette::parse_mode(options.cassette_mode, "llm.cassette_mode"));
  if (options.model.empty() && options.profile.empty())
    return why = "no language model: --llm-model names one", std::nullopt;
  LlmAccess out{.profile = llm::load_profile(options.profile.empty() ? "openai" : options.profile),
                .key = "",
                .key_variable = ""};
  llm::Profile& p = out.profile;
  if (!options.model.empty()) p.model = options.model;
  if (p.model.empty())
    throw bad_input("--llm-model", "", "the name of a model: the profile has none");
  const char* base = p.base_url_env.empty() ? nullptr : std::getenv(p.base_url_env.c_str());
  if (base != nullptr && *base != '\0') p.base_url = base;
  if (!options.base_url.empty()) p.base_url = options.base_url;
  while (p.base_url.ends_with('/')) p.base_url.pop_back();
  if (p.base_url.empty())
    throw bad_input("--llm-base-url", "",
                    "the address of the server: profile " + p.name + " has none");
  const std::string variable = options.key_env.empty() ? p.key_env : options.key_env;
  out.key = llm::read_key(variable, options.key_file);
  out.key_variable = variable;
  const bool replays = options.cassette_mode == "replay";
  if (const std::string problem = replays ? "" : llm::address_problem(p.base_url);
      !problem.empty()) {
    throw bad_input("--llm-base-url", p.base_url,
                    "an https address, or http on this machine (" + problem + ")");
  }
  if (out.key.empty() && p.auth != llm::Profile::Auth::none && !replays) {
    return why = "no language model: no key in " +
                 (variable.empty() ? std::string("--llm-key-env") : variable) + "; rules alone",
           std::nullopt;
  }
  if (!p.prices && !options.unpriced && !replays) {
    throw bad_input(
        "--llm-money", "profile " + p.name + " without prices",
        "\"prices\" in a profile file, or --llm-unpriced to go without a limit on money");
  }
  return out;
}

std::vector<llm::MoveCard> move_cards(const MoveRegistry& moves) {
  std::vector<llm::MoveCard> out;
  for (const auto& [name, entry] : moves.entries())
    out.push_back({.name = name, .help = entry.help});
  return out;
}

LlmStack::LlmStack(const LlmAccess& access,
                   const KernelSpec& spec,
                   const DeviceFacts& device,
                   const MoveRegistry& moves,
                   const Options& options,
                   const std::filesystem::path& folder)
    : profile_(access.profile),
      budget_({.calls = options.of<LlmOptions>().calls,
               .input_tokens = options.of<LlmOptions>().input_tokens,
               .output_tokens = options.of<LlmOptions>().output_tokens,
               .money = options.of<LlmOptions>().money,
               .seconds = options.of<LlmOptions>().seconds}),
      transport_(llm::make_curl_transport()) {
  llm::Redactor redactor;
  redactor.add(access.key);
  const bool own = options.of<LlmOptions>().cassette.empty();
  if (own) std::filesystem::create_directories(folder);
  const auto mode =
      llm::Cassette::parse_mode(options.of<LlmOptions>().cassette_mode, "llm.cassette_mode");
  cassette_ = std::make_unique<llm::Cassette>(
      own ? folder / "llm.jsonl" : std::filesystem::path(options.of<LlmOptions>().cassette), mode,
      redactor);
  if (own && mode == llm::Cassette::Mode::replay_or_live) {
    for (const auto& past : cassette_->past()) budget_.charge(past.usage, past.cost);
  }
  client_ = std::make_unique<llm::Client>(
      llm::Client::Setup{.profile = profile_,
                         .key = access.key,
                         .transport = *transport_,
                         .cassette = *cassette_,
                         .budget = budget_,
                         .redactor = redactor,
                         .seed = options.run.seed,
                         .in_flight = options.of<LlmOptions>().in_flight});
  proposer_ = std::make_unique<llm::LlmProposer>(llm::LlmProposer::Parts{
      .spec = spec,
      .device = device,
      .catalogue = move_cards(moves),
      .options = options.of<LlmOptions>(),
      .client = *client_,
      .profile = profile_,
      .patch = [](const std::string& source, const std::string& text,
                  std::string& why) { return apply_patch(source, text, why); },
      .seed = options.run.seed});
}

void LlmStack::write_summary(const std::filesystem::path& folder) const {
  client_->settle();
  const llm::Spent spent = budget_.charged();
  const llm::ClientFigures calls = client_->figures();
  const llm::ProposerFigures& said = proposer_->figures();
  const auto each = [&](double x) {
    return said.improved > 0 ? json(x / static_cast<double>(said.improved)) : json();
  };
  const json out{{"model", profile_.model},
                 {"profile", profile_.name},
                 {"currency", profile_.currency},
                 {"prices", profile_.prices ? json{{"input", profile_.prices->input},
                                                   {"cached", profile_.prices->cached},
                                                   {"cache_write", profile_.prices->cache_write},
                                                   {"output", profile_.prices->output}}
                                            : json()},
                 {"spent",
                  {{"calls", spent.calls},
                   {"input_tokens", spent.input_tokens},
                   {"output_tokens", spent.output_tokens},
                   {"money", spent.money}}},
                 {"calls",
                  {{"submitted", calls.calls},
                   {"sent", calls.attempts},
                   {"replayed", calls.replayed},
                   {"retries", calls.retries},
                   {"estimated_usage", calls.estimated},
                   {"failures", calls.reasons}}},
                 {"ideas",
                  {{"nodes_asked", said.asked},
                   {"choices", said.choices},
                   {"proposals", said.proposals},
                   {"dropped", said.dropped}}},
                 {"implementations", {{"written", said.written}, {"repairs", said.repairs}}},
                 {"evaluated",
                  {{"all", said.evaluated}, {"failed", said.failed}, {"improved", said.improved}}},
                 {"money_per_improvement", each(spent.money)},
                 {"tokens_per_improvement",
                  each(static_cast<double>(spent.input_tokens + spent.output_tokens))},
                 {"disabled", client_->disabled()}};
  write_file_atomically(folder / "llm_summary.json", json_text(out, 2) + "\n", false);
}

std::string LlmStack::summary() const {
  const llm::Spent spent = budget_.charged();
  const llm::ProposerFigures& said = proposer_->figures();
  const std::string text = std::to_string(spent.calls) + " calls, " + number_text(spent.money, 4) +
                           " " + profile_.currency + ", " + std::to_string(said.proposals) +
                           " proposals, " + std::to_string(said.evaluated) + " evaluated, " +
                           std::to_string(said.improved) + " faster than their parents";
  const std::string disabled = client_->disabled();
  return profile_.model + ": " + text +
         (disabled.empty() ? "" : "; nothing more was asked: " + disabled);
}

}  // namespace warpath
