#include "priors/llm/llm_proposer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/variant_io.h"
#include "priors/llm/extract.h"
#include "priors/llm/reply_text.h"

namespace warpath::llm {
namespace {

constexpr std::size_t kMostQueued = 64;
constexpr std::size_t kMemoryLines = 30;
constexpr std::size_t kBlocksFromLines = 300;  // longer sources are changed by blocks
constexpr double kColder = 0.2;
// of one source and its repairs, among what comes of a node
constexpr int kPlaces = 16;

}  // namespace

struct LlmProposer::Node {
  Asked asked;
  // calls under way, and sources that are not evaluated yet: more may be said
  int open = 0;
};

/// What is to be said about one node.
struct LlmProposer::Ready {
  std::shared_ptr<Node> node;
  std::map<int, std::vector<Proposal>> parts;  // by place
};

struct LlmProposer::Job {
  enum class Kind : std::uint8_t { choose, write } kind = Kind::choose;
  std::shared_ptr<Node> node;
  int place = 0;    // among all that may come of the node
  Choice choice{};  // write
  std::vector<Message> messages{};
  std::string nonce{};           // write
  std::string reply{};           // write, once answered
  int round = 0;                 // repairs so far
  std::size_t memory_lines = 0;  // choose
  bool again = false;            // choose: a second and last time
};

LlmProposer::LlmProposer(Parts parts)
    : parts_(std::move(parts)), prompts_(parts_.spec, parts_.device, parts_.catalogue) {}
LlmProposer::~LlmProposer() = default;

void LlmProposer::offer(const Offer& offer) {
  if (closed_ || !parts_.client.accepting()) return;
  if (std::log(offer.best_speedup / std::max(offer.speedup, 1e-9)) > parts_.options.reach) return;
  // its answer could not be tried
  if (offer.remaining_builds <= queue_.size() + jobs_.size() + ready_.size()) return;
  if (!asked_.insert(offer.context.node_key).second) return;
  auto node = std::make_shared<Node>();
  node->asked = {.variant = offer.context.at.variant,
                 .key = offer.context.node_key,
                 .outcome = offer.context.outcome != nullptr ? std::optional(*offer.context.outcome)
                                                             : std::nullopt,
                 .speedup = offer.speedup,
                 .best_speedup = offer.best_speedup,
                 .legal = {}};
  for (const Proposal& p : offer.legal) {
    if (node->asked.legal.size() >= static_cast<std::size_t>(parts_.options.offered)) break;
    if (!p.variant)
      node->asked.legal.push_back({.instance = p.instance,
                                   .weight = p.weight,
                                   .source = p.source,
                                   .variant = std::nullopt,
                                   .why = ""});
  }
  queue_.push_back(std::move(node));
  // The best first; equal ones as they came.
  std::ranges::stable_sort(
      queue_, [](const auto& a, const auto& b) { return a->asked.speedup > b->asked.speedup; });
  if (queue_.size() > kMostQueued) queue_.pop_back();
  pump();
}

void LlmProposer::pump() {
  for (const Reply& reply : parts_.client.take()) handle(reply);
  if (closed_ || !parts_.client.disabled().empty()) queue_.clear();
  while (!queue_.empty() && parts_.client.accepting() &&
         parts_.client.under_way() < static_cast<std::size_t>(parts_.options.in_flight)) {
    const std::shared_ptr<Node> node = queue_.front();
    queue_.erase(queue_.begin());
    ++figures_.asked;
    ask(node, kMemoryLines, false);
  }
}

void LlmProposer::submit(Job job, ModelRequest request) {
  request.messages = job.messages;
  request.effort = parts_.profile.effort;
  request.max_output_tokens = parts_.profile.max_output_tokens;
  ++job.node->open;
  const std::uint64_t id = parts_.client.submit(std::move(request));
  jobs_.emplace(id, std::move(job));
}

ModelRequest LlmProposer::choose_request(const Node& node, bool again) const {
  ModelRequest out;
  out.schema = choice_schema(node.asked.legal, prompts_.by_hand());
  out.schema_name = "moves";
  out.label = "choose " + node.asked.key.hex() + (again ? " again" : "");
  return out;
}

void LlmProposer::ask(const std::shared_ptr<Node>& node, std::size_t memory_lines, bool again) {
  Job job{.kind = Job::Kind::choose, .node = node, .memory_lines = memory_lines, .again = again};
  job.messages = prompts_.choose(node->asked, memory_, memory_lines, parts_.options.moves);
  submit(std::move(job), choose_request(*node, again));
}

std::string LlmProposer::nonce(const Node& node, const std::string& move, int round) const {
  return Hasher().add(parts_.seed).add(node.asked.key).add(move).add(round).digest().short_hex();
}

void LlmProposer::write(Job job) {
  ModelRequest request;
  if (job.round > 0) request.temperature = kColder;
  request.label = "write " + job.node->asked.key.hex() + " " + job.choice.move + " " +
                  std::to_string(job.round);
  submit(std::move(job), std::move(request));
}

void LlmProposer::handle(const Reply& reply) {
  const auto it = jobs_.find(reply.id);
  if (it == jobs_.end()) return;
  const Job job = std::move(it->second);
  jobs_.erase(it);
  if (closed_) return;
  using enum Reply::End;
  if (reply.end == unknown)
    throw bad_input("llm.cassette", reply.reason, "a call that was recorded");
  const bool complete = reply.end == answered && reply.answer.end == ModelAnswer::End::complete;
  if (!complete) {
    ++figures_.dropped[reply.end == answered
                           ? std::string(kEndNames[static_cast<std::size_t>(reply.answer.end)])
                           : std::string(kReplyEndNames[static_cast<std::size_t>(reply.end)])];
  }
  if (complete) {
    job.kind == Job::Kind::choose ? choose(job, reply) : take_source(job, reply);
  } else if (reply.end == too_long && job.kind == Job::Kind::choose && !job.again) {
    job.node->asked.legal.resize((job.node->asked.legal.size() + 1) / 2);
    ask(job.node, 0, true);
  }
  // What was not sent may be by another session: the node stays open.
  const bool sent = reply.end != over_budget && reply.end != disabled && reply.end != cancelled;
  if (sent) close_one(job.node);
}

void LlmProposer::close_one(const std::shared_ptr<Node>& node) {
  if (--node->open == 0) ready_.try_emplace(node->asked.key, Ready{.node = node, .parts = {}});
}

void LlmProposer::choose(const Job& job, const Reply& reply) {
  std::string why;
  const auto object = extract_object(reply.answer.text, why);
  std::optional<Chosen> chosen;
  if (object) chosen = read_choices(object->object, job.node->asked.legal, prompts_.by_hand(), why);
  if (!chosen) {
    ++figures_.dropped["invalid_answer"];
    if (job.again) return;
    Job next = job;
    next.again = true;
    next.messages.push_back({Message::Role::assistant, reply.answer.text});
    next.messages.push_back({Message::Role::user, "That could not be read: " + why +
                                                      ". Answer with the JSON object alone."});
    return submit(std::move(next), choose_request(*job.node, true));
  }
  if (object->how == Extraction::embedded) ++figures_.dropped["text_around_object"];
  for (const auto& [reason, count] : chosen->dropped) figures_.dropped["choice_" + reason] += count;
  std::vector<Proposal> proposals;
  const auto taken =
      std::span(chosen->choices)
          .first(std::min(chosen->choices.size(), static_cast<std::size_t>(parts_.options.moves)));
  int by_hand = 0;
  for (const Choice& choice : taken) {
    if (choice.instance) {
      if (memory_.tried(job.node->asked.key, *choice.instance)) {
        ++figures_.dropped["choice_tried"];
        continue;
      }
      proposals.push_back(proposal(choice, *choice.instance));
    } else {
      if (++by_hand > parts_.options.by_hand) continue;
      Job next{.kind = Job::Kind::write,
               .node = job.node,
               .place = by_hand * kPlaces,
               .choice = choice,
               .nonce = nonce(*job.node, choice.move, 0)};
      const auto lines =
          static_cast<std::size_t>(std::ranges::count(job.node->asked.variant.source, '\n'));
      next.messages = prompts_.write(job.node->asked, choice, next.nonce, lines > kBlocksFromLines);
      write(std::move(next));
    }
    ++figures_.choices;
  }
  if (!proposals.empty()) arrive(job.node, 0, std::move(proposals));
}

void LlmProposer::repair(const Job& job, const std::string& reply_text, const std::string& wrong) {
  if (closed_ || job.round >= parts_.options.repairs || !parts_.client.accepting()) {
    ++figures_.dropped["not_repaired"];
    return;
  }
  ++figures_.repairs;
  Job next = job;
  ++next.round;
  ++next.place;
  next.nonce = nonce(*job.node, job.choice.move, next.round);
  next.messages = prompts_.repair(job.messages, reply_text, wrong, next.nonce);
  write(std::move(next));
}

void LlmProposer::take_source(const Job& job, const Reply& reply) {
  const std::string text(without_thinking(reply.answer.text));
  std::string why;
  const auto kernel = written_kernel(text, job.nonce, why);
  std::optional<std::string> source;
  if (kernel) source = parts_.patch(job.node->asked.variant.source, kernel->text, why);
  if (!source) {
    ++figures_.dropped["unusable_source"];
    return repair(job, text, why);
  }
  Variant variant = job.node->asked.variant;
  variant.source = std::move(*source);
  if (!kernel->plan.empty()) {
    try {
      variant.launch = launch_from_json(parse_json(kernel->plan, "PLAN"), "PLAN");
    } catch (const Error& e) {
      ++figures_.dropped["unusable_plan"];
      return repair(job, text, e.what());
    }
  }
  if (!satisfies_constraints(parts_.spec, variant, why)) {
    ++figures_.dropped["constraint"];
    return repair(job, text, why);
  }
  ++figures_.written;
  const Hash128 key = variant_key(variant);
  if (const auto it = evaluated_.find(key); it != evaluated_.end()) {  // by an earlier session
    if (!it->second.empty()) repair(job, text, it->second);
    return;
  }
  Proposal made = proposal(
      job.choice, {.move = job.choice.move.substr(kByHand.size()),
                   .site = "",
                   .parameters = {{std::string(kTextParameter), text_parameter(variant)}}});
  made.variant = std::move(variant);
  Job kept = job;
  kept.reply = text;
  if (written_.insert_or_assign(key, std::move(kept)).second) ++job.node->open;
  std::vector<Proposal> list;
  list.push_back(std::move(made));
  arrive(job.node, job.place, std::move(list));
}

Proposal LlmProposer::proposal(const Choice& choice, const MoveInstance& instance) {
  return {.instance = instance,
          .weight = std::clamp(choice.confidence, 0.05, 1.0),
          .source = "llm",
          .variant = std::nullopt,
          .predicted_log_gain = (std::log(choice.gain_lo) + std::log(choice.gain_hi)) / 2,
          .why = choice.why};
}

void LlmProposer::arrive(const std::shared_ptr<Node>& node,
                         int place,
                         std::vector<Proposal> proposals) {
  figures_.proposals += std::ssize(proposals);
  Ready& ready = ready_[node->asked.key];
  ready.node = node;
  ready.parts[place] = std::move(proposals);
}

void LlmProposer::learn(const Lesson& lesson) {
  memory_.add(lesson);
  if (lesson.source != name()) return;
  ++figures_.evaluated;
  const bool ok = lesson.outcome.status == Status::ok;
  if (ok && lesson.speedup > lesson.parent_speedup) ++figures_.improved;
  if (!ok) ++figures_.failed;
  const std::string wrong = ok ? "" : repair_text(lesson.outcome);
  const auto it = written_.find(lesson.key);
  if (it == written_.end()) {
    if (lesson.instance.parameters.contains(kTextParameter))
      evaluated_.insert_or_assign(lesson.key, wrong);
    return;
  }
  const Job job = std::move(it->second);
  written_.erase(it);
  if (!ok) repair(job, job.reply, wrong);
  close_one(job.node);
}

std::vector<Arrival> LlmProposer::take() {
  pump();
  std::vector<Arrival> out;
  for (auto& [key, ready] : std::exchange(ready_, {})) {
    Arrival arrival{
        .key = key, .share = parts_.options.share, .more = ready.node->open > 0, .proposals = {}};
    for (auto& [place, proposals] : ready.parts)
      std::ranges::move(proposals, std::back_inserter(arrival.proposals));
    out.push_back(std::move(arrival));
  }
  return out;
}

bool LlmProposer::waiting() {
  pump();
  return !closed_ && (!jobs_.empty() || (!queue_.empty() && parts_.client.accepting()));
}

void LlmProposer::close() {
  if (closed_) return;
  closed_ = true;
  queue_.clear();
  parts_.client.cancel();
}

}  // namespace warpath::llm
