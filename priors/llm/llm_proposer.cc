#include "priors/llm/llm_proposer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/json_reader.h"
#include "engine/variant_io.h"
#include "priors/llm/extract.h"
#include "priors/llm/reply_text.h"

namespace warpath::llm {
namespace {

constexpr std::size_t kMostQueued = 64;
constexpr std::size_t kMemoryLines = 30;
constexpr std::size_t kBlocksFromLines = 300;  // longer sources are changed by blocks
constexpr double kColder = 0.2;

}  // namespace

struct LlmProposer::Node {
  std::uint64_t sequence = 0;
  std::uint64_t steps = 0;
  Asked asked;
};

struct LlmProposer::Job {
  enum class Kind : std::uint8_t { choose, write } kind = Kind::choose;
  std::shared_ptr<Node> node;
  std::uint64_t step = 0;          // of the node: the place of what comes of it
  Choice choice{};                 // write
  std::vector<Message> messages{};
  std::string nonce{};             // write
  std::string reply{};             // write, once answered
  int round = 0;                   // repairs so far
  std::size_t memory_lines = 0;    // choose
  bool again = false;              // choose: a second and last time
};

LlmProposer::LlmProposer(Parts parts) : parts_(std::move(parts)), prompts_(parts_.spec, parts_.device, parts_.catalogue) {}
LlmProposer::~LlmProposer() = default;

void LlmProposer::offer(const Offer& offer) {
  if (closed_ || !parts_.client.accepting()) return;
  if (std::log(offer.best_speedup / std::max(offer.speedup, 1e-9)) > parts_.options.reach) return;
  if (offer.remaining_builds <= queue_.size() + jobs_.size() + ready_.size()) return;  // its answer could not be tried
  if (!asked_.insert(offer.context.node_key).second) return;
  auto node = std::make_shared<Node>();
  node->sequence = next_node_++;
  node->asked = {.variant = offer.context.at.variant,
                 .key = offer.context.node_key,
                 .outcome = offer.context.outcome != nullptr ? std::optional(*offer.context.outcome) : std::nullopt,
                 .speedup = offer.speedup,
                 .best_speedup = offer.best_speedup,
                 .legal = {}};
  for (const Proposal& p : offer.legal) {
    if (node->asked.legal.size() >= static_cast<std::size_t>(parts_.options.offered)) break;
    if (!p.variant) node->asked.legal.push_back({.instance = p.instance, .weight = p.weight, .source = p.source, .variant = std::nullopt, .why = ""});
  }
  queue_.push_back(std::move(node));
  // The best first; equal ones as they came.
  std::ranges::stable_sort(queue_, [](const auto& a, const auto& b) { return a->asked.speedup > b->asked.speedup; });
  if (queue_.size() > kMostQueued) queue_.pop_back();
  pump();
}

void LlmProposer::pump() {
  for (const Reply& reply : parts_.client.take()) handle(reply);
  if (closed_ || !parts_.client.disabled().empty()) queue_.clear();
  while (!queue_.empty() && parts_.client.accepting() && parts_.client.under_way() < static_cast<std::size_t>(parts_.options.in_flight)) {
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
  const std::uint64_t id = parts_.client.submit(std::move(request));
  jobs_.emplace(id, std::move(job));
}

void LlmProposer::ask(const std::shared_ptr<Node>& node, std::size_t memory_lines, bool again) {
  Job job{.kind = Job::Kind::choose, .node = node, .step = node->steps++, .memory_lines = memory_lines, .again = again};
  job.messages = prompts_.choose(node->asked, memory_, memory_lines, parts_.options.moves);
  ModelRequest request;
  request.schema = choice_schema(node->asked.legal, prompts_.by_hand());
  request.schema_name = "moves";
  submit(std::move(job), std::move(request));
}

std::string LlmProposer::nonce(const Node& node, const std::string& move, int round) const {
  return Hasher().add(parts_.seed).add(node.asked.key).add(move).add(round).digest().short_hex();
}

void LlmProposer::write(const std::shared_ptr<Node>& node, const Choice& choice, std::vector<Message> messages, const std::string& nonce, int round) {
  Job job{.kind = Job::Kind::write, .node = node, .step = node->steps++, .choice = choice, .messages = std::move(messages), .nonce = nonce, .round = round};
  ModelRequest request;
  if (round > 0) request.temperature = kColder;
  submit(std::move(job), std::move(request));
}

void LlmProposer::handle(const Reply& reply) {
  const auto it = jobs_.find(reply.id);
  if (it == jobs_.end()) return;
  const Job job = std::move(it->second);
  jobs_.erase(it);
  if (closed_) return;
  if (reply.end == Reply::End::unknown) throw bad_input("llm.cassette", reply.reason, "a call that was recorded");
  if (reply.end == Reply::End::too_long && job.kind == Job::Kind::choose && !job.again) {
    job.node->asked.legal.resize((job.node->asked.legal.size() + 1) / 2);
    return ask(job.node, 0, true);
  }
  const bool complete = reply.end == Reply::End::answered && reply.answer.end == ModelAnswer::End::complete;
  if (complete) return job.kind == Job::Kind::choose ? choose(job, reply) : take_source(job, reply);
  ++figures_.dropped[reply.end == Reply::End::answered ? std::string(kEndNames[static_cast<std::size_t>(reply.answer.end)])
                                                       : std::string(kReplyEndNames[static_cast<std::size_t>(reply.end)])];
  // A call that was cut off by the end of a session may be made by the next one; all else is settled.
  if (job.kind == Job::Kind::choose && reply.end != Reply::End::cancelled) arrive(*job.node, job.step, {});
}

void LlmProposer::choose(const Job& job, const Reply& reply) {
  std::string why;
  const auto object = extract_object(reply.answer.text, why);
  std::optional<Chosen> chosen;
  if (object) chosen = read_choices(object->object, job.node->asked.legal, prompts_.by_hand(), why);
  if (!chosen) {
    ++figures_.dropped["invalid_answer"];
    if (job.again) return arrive(*job.node, job.step, {});
    Job next = job;
    next.again = true;
    next.step = job.node->steps++;
    next.messages.push_back({Message::Role::assistant, reply.answer.text});
    next.messages.push_back({Message::Role::user, "That could not be read: " + why + ". Answer with the JSON object alone."});
    ModelRequest request;
    request.schema = choice_schema(job.node->asked.legal, prompts_.by_hand());
    request.schema_name = "moves";
    return submit(std::move(next), std::move(request));
  }
  if (object->how == Extraction::embedded) ++figures_.dropped["text_around_object"];
  for (const auto& [reason, count] : chosen->dropped) figures_.dropped["choice_" + reason] += count;
  std::vector<Proposal> proposals;
  int by_hand = 0;
  int taken = 0;
  for (const Choice& choice : chosen->choices) {
    if (taken >= parts_.options.moves) break;
    if (choice.instance) {
      if (memory_.tried(job.node->asked.key, *choice.instance)) {
        ++figures_.dropped["choice_tried"];
        continue;
      }
      proposals.push_back({.instance = *choice.instance,
                           .weight = std::clamp(choice.confidence, 0.05, 1.0),
                           .source = "llm",
                           .variant = std::nullopt,
                           .predicted_log_gain = (std::log(choice.gain_lo) + std::log(choice.gain_hi)) / 2,
                           .why = choice.why});
    } else {
      if (by_hand++ >= parts_.options.by_hand) continue;
      const std::string id = nonce(*job.node, choice.move, 0);
      const auto lines = static_cast<std::size_t>(std::ranges::count(job.node->asked.variant.source, '\n'));
      write(job.node, choice, prompts_.write(job.node->asked, choice, id, lines > kBlocksFromLines), id, 0);
    }
    ++taken;
    ++figures_.choices;
  }
  arrive(*job.node, job.step, std::move(proposals));
}

void LlmProposer::repair(const Job& job, const std::string& reply_text, const std::string& wrong) {
  if (closed_ || job.round >= parts_.options.repairs || !parts_.client.accepting()) {
    ++figures_.dropped["not_repaired"];
    return;
  }
  ++figures_.repairs;
  const std::string id = nonce(*job.node, job.choice.move, job.round + 1);
  write(job.node, job.choice, prompts_.repair(job.messages, reply_text, wrong, id), id, job.round + 1);
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
  const std::string move = job.choice.move.substr(kByHand.size());
  Proposal proposal{.instance = {.move = move, .site = "", .parameters = {{std::string(kTextParameter), text_parameter(variant)}}},
                    .weight = std::clamp(job.choice.confidence, 0.05, 1.0),
                    .source = "llm",
                    .variant = variant,
                    .predicted_log_gain = (std::log(job.choice.gain_lo) + std::log(job.choice.gain_hi)) / 2,
                    .why = job.choice.why};
  Job kept = job;
  kept.reply = text;
  written_.insert_or_assign(variant_key(variant), std::move(kept));
  arrive(*job.node, job.step, {std::move(proposal)});
}

void LlmProposer::arrive(const Node& node, std::uint64_t step, std::vector<Proposal> proposals) {
  figures_.proposals += std::ssize(proposals);
  ready_.insert_or_assign({node.sequence, step}, Arrival{.key = node.asked.key, .share = parts_.options.share, .proposals = std::move(proposals)});
}

void LlmProposer::learn(const Lesson& lesson) {
  memory_.add(lesson);
  if (lesson.source != name()) return;
  ++figures_.evaluated;
  const bool ok = lesson.outcome.status == Status::ok;
  if (ok && lesson.speedup > lesson.parent_speedup) ++figures_.improved;
  if (!ok) ++figures_.failed;
  const auto it = written_.find(lesson.key);
  if (it == written_.end()) return;
  const Job job = std::move(it->second);
  written_.erase(it);
  if (!ok) repair(job, job.reply, repair_text(lesson.outcome));
}

std::vector<Arrival> LlmProposer::take() {
  pump();
  std::vector<Arrival> out;
  for (auto& [place, arrival] : ready_) out.push_back(std::move(arrival));
  ready_.clear();
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
