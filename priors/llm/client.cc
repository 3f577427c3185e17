#include "priors/llm/client.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/log/events.h"
#include "priors/llm/codec.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using std::chrono::duration;
using std::chrono::duration_cast;

// usages that a server reported before its tokens a byte are believed
constexpr int kCalibrated = 3;
constexpr double kMargin = 1.5;
/// Limit on the wait until a transport releases cancelled requests.
constexpr std::chrono::seconds kMostWait{5};

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text.size() > 300 ? text.substr(0, 300) : text;
}

}  // namespace

json canonical_request(const Profile& profile, const ModelRequest& request) {
  json messages = json::array();
  for (const Message& m : request.messages) messages.push_back({std::string(name(m.role)), m.text});
  return {{"model", profile.model},
          {"messages", std::move(messages)},
          {"schema", request.schema ? *request.schema : json()},
          {"max_output_tokens", request.max_output_tokens},
          {"temperature", request.temperature ? json(*request.temperature) : json()},
          {"effort", request.effort}};
}

struct Client::Call {
  std::uint64_t id = 0;
  ModelRequest request;
  json canonical;
  Cassette::Key key;
  std::size_t bytes = 0;     // of the body, when it was last made
  int attempt = 0;           // made so far, recorded ones included
  std::size_t replayed = 0;  // of the recorded attempts
  Clock::time_point begin, due;
  bool flying = false;
  Usage worst;
  double worst_cost = 0;
  Reply reply;
  std::string dropped;  // an option was left out once
};

Client::Client(Setup setup)
    : setup_(std::move(setup)),
      codec_(*find_codec(setup_.profile.codec)),
      rng_(setup_.seed, "llm jitter"),
      rate_(setup_.profile.requests_per_minute, setup_.profile.tokens_per_minute, Clock::now()),
      breaker_(setup_.breaker_failures, setup_.breaker_open_s),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Client::~Client() {
  cancel();
  thread_.request_stop();
  wake_.notify_all();
  thread_.join();
  // The transport may still report what it cancelled: wait until it has let go of everything.
  for (auto& [id, call] : calls_) {
    if (call->flying) setup_.transport.cancel(id);
  }
  std::unique_lock lock(mutex_);
  const auto flying = static_cast<std::size_t>(
      std::ranges::count_if(calls_, [](const auto& c) { return c.second->flying; }));
  wake_.wait_for(lock, kMostWait, [&] { return results_.size() >= flying; });
}

std::uint64_t Client::submit(ModelRequest request) {
  auto call = std::make_unique<Call>();
  call->request = std::move(request);
  const std::lock_guard lock(mutex_);
  call->id = next_id_++;
  const std::uint64_t id = call->id;
  arrived_.push_back(std::move(call));
  ++under_way_;
  ++figures_.calls;
  wake_.notify_all();
  return id;
}

std::vector<Reply> Client::take() {
  const std::lock_guard lock(mutex_);
  std::ranges::sort(replies_, {}, &Reply::id);
  return std::exchange(replies_, {});
}

std::size_t Client::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

bool Client::accepting() const {
  const std::lock_guard lock(mutex_);
  return disabled_.empty() && !down_ && !cancel_;
}

std::string Client::disabled() const {
  const std::lock_guard lock(mutex_);
  return disabled_;
}

ClientFigures Client::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void Client::cancel() {
  const std::lock_guard lock(mutex_);
  cancel_ = true;
  wake_.notify_all();
}

void Client::settle() {
  cancel();
  std::unique_lock lock(mutex_);
  idle_.wait_for(lock, kMostWait, [&] { return under_way_ == 0; });
}

void Client::work(const std::stop_token& stop) {
  Clock::time_point next = Clock::now();
  while (!stop.stop_requested()) {
    std::vector<std::unique_ptr<Call>> arrived;
    std::vector<HttpResult> results;
    bool cancelled = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, stop, next, [&] {
        return !arrived_.empty() || !results_.empty() || (cancel_ && !calls_.empty());
      });
      arrived.swap(arrived_);
      results.swap(results_);
      cancelled = cancel_;
    }
    // If the cassette cannot be written, no further call is made; answers to calls under way are
    // still taken.
    const auto guarded = [this](const auto& step) {
      try {
        step();
      } catch (const Error& e) {
        const std::lock_guard lock(mutex_);
        if (disabled_.empty()) disabled_ = e.what();
      }
    };
    for (HttpResult& r : results) guarded([&] { receive(std::move(r)); });
    guarded([&] {
      admit(std::move(arrived));
      if (cancelled) {
        for (auto& [id, call] : calls_) {
          if (call->flying) setup_.transport.cancel(id);
          if (!call->flying && call->reply.id == 0)
            finish(*call, Reply::End::cancelled, "cancelled");
        }
      }
      next = advance(Clock::now());
    });
    std::erase_if(calls_, [](const auto& c) { return c.second->reply.id != 0; });
    const std::lock_guard lock(mutex_);
    down_ = breaker_.open(Clock::now());
  }
}

void Client::admit(std::vector<std::unique_ptr<Call>> arrived) {
  for (auto& call : arrived) {
    call->canonical = canonical_request(setup_.profile, call->request);
    const Hash128 hash = hash128(json_text(call->canonical));
    call->key = setup_.cassette.resolve({hash, occurrences_[hash]++}, call->request.label);
    call->begin = call->due = Clock::now();
    calls_.emplace(call->id, std::move(call));
  }
}

/// Does what can be done now. Returns when to look again.
Client::Clock::time_point Client::advance(Clock::time_point now) {
  Clock::time_point next = now + std::chrono::seconds(1);
  auto flying = static_cast<int>(
      std::ranges::count_if(calls_, [](const auto& c) { return c.second->flying; }));
  for (auto& [id, held] : calls_) {
    Call& call = *held;
    if (call.flying || call.reply.id != 0) continue;
    if (call.due > now) {
      next = std::min(next, call.due);
      continue;
    }
    replay(call);
    if (call.reply.id != 0) continue;
    if (setup_.cassette.mode() == Cassette::Mode::replay) {
      finish(call, Reply::End::unknown,
             "call " + call.key.first.short_hex() + " is not on the cassette");
      continue;
    }
    if (setup_.cassette.lost(call.key)) {
      finish(call, Reply::End::lost, "lost: an earlier session sent it and was killed");
      continue;
    }
    if (const std::string reason = disabled(); !reason.empty()) {
      finish(call, Reply::End::disabled, reason);
      continue;
    }
    if (duration<double>(now - call.begin).count() > setup_.retry.total_s) {
      finish(call, Reply::End::failed,
             "deadline: no answer in " + std::to_string(static_cast<int>(setup_.retry.total_s)) +
                 " s");
      continue;
    }
    if (flying >= setup_.in_flight) continue;
    if (!breaker_.lets_pass(now)) {
      next = std::min(next, std::max(breaker_.until(), now + std::chrono::milliseconds(10)));
      continue;
    }
    call.bytes = body_text(call).size();
    call.worst = worst_case(call);
    if (const double wait = rate_.wait(call.worst.input + call.worst.output, now); wait > 0) {
      next = std::min(next, now + duration_cast<Clock::duration>(duration<double>(wait)));
      continue;
    }
    call.worst_cost = setup_.profile.cost(call.worst);
    if (!setup_.budget.reserve(call.worst, call.worst_cost)) {
      if (setup_.budget.reserved().calls == 0) finish(call, Reply::End::over_budget, "over_budget");
      continue;  // else what is under way may leave enough
    }
    try {
      send(call, now);
    } catch (const Error&) {
      setup_.budget.release(call.worst, call.worst_cost);
      throw;
    }
    ++flying;
  }
  return next;
}

void Client::replay(Call& call) {
  const auto& recorded = setup_.cassette.attempts(call.key);
  while (call.replayed < recorded.size() && call.reply.id == 0) {
    const RecordedAttempt& attempt = recorded[call.replayed++];
    ++call.attempt;
    call.reply.replayed = true;
    call.reply.usage.input += attempt.usage.input;
    call.reply.usage.output += attempt.usage.output;
    call.reply.cost += attempt.cost;
    if (setup_.cassette.mode() == Cassette::Mode::replay)
      setup_.budget.charge(attempt.usage, attempt.cost);
    {
      const std::lock_guard lock(mutex_);
      ++figures_.replayed;
    }
    absorb(call, attempt.result, false);
  }
}

std::string Client::body_text(const Call& call) const {
  return json_text(codec_.body(setup_.profile, call.request));
}

/// Tokens are bytes at most, until the server has shown how many bytes a token has.
Usage Client::worst_case(const Call& call) const {
  const double input =
      std::ceil(static_cast<double>(call.bytes) * std::min(1.0, tokens_per_byte_)) +
      static_cast<double>(kFraming);
  const auto tokens = static_cast<std::int64_t>(input);
  const bool dear_cache =
      setup_.profile.prices && setup_.profile.prices->cache_write > setup_.profile.prices->input;
  return {.input = tokens,
          .cached = 0,
          .cache_write = dear_cache ? tokens : 0,
          .output = call.request.max_output_tokens,
          .reasoning = 0,
          .known = false};
}

void Client::send(Call& call, Clock::time_point now) {
  ++call.attempt;
  setup_.cassette.begin(call.key, call.attempt, call.request.label, call.canonical, call.worst,
                        call.worst_cost);
  rate_.take(call.worst.input + call.worst.output, now);
  breaker_.sent();
  call.flying = true;
  {
    const std::lock_guard lock(mutex_);
    ++figures_.attempts;
    if (call.attempt > 1) ++figures_.retries;
  }
  HttpRequest request = http_request(setup_.profile, setup_.key, call.request);
  request.id = call.id;
  setup_.transport.send(std::move(request), [this](HttpResult result) {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
    wake_.notify_all();
  });
}

/// The charge of an attempt: the server's figures, or an estimate if it reported none but may have
/// done work.
Usage Client::estimate(const Call& call,
                       const HttpResult& result,
                       const ModelAnswer& answer) const {
  if (answer.usage.known) return answer.usage;
  if (!result.sent || (result.status != 0 && result.status / 100 != 2)) return {};
  const bool whole =
      answer.end == ModelAnswer::End::complete || answer.end == ModelAnswer::End::length;
  Usage out = call.worst;
  if (whole) out.output = std::min(out.output, static_cast<std::int64_t>(answer.text.size()));
  return out;
}

void Client::receive(HttpResult result) {
  const auto it = calls_.find(result.id);
  if (it == calls_.end() || !it->second->flying) return;
  Call& call = *it->second;
  call.flying = false;
  const ModelAnswer answer = result.failure == HttpFailure::none || !result.body.empty()
                                 ? decode_body(codec_, result.body)
                                 : ModelAnswer{};
  // A cancelled call stays open on the cassette, where its worst case is charged; it is charged the
  // same here.
  const bool heard = result.failure != HttpFailure::cancelled;
  const Usage took = heard ? estimate(call, result, answer) : call.worst;
  const double cost = heard ? setup_.profile.cost(took) : call.worst_cost;
  setup_.budget.settle(call.worst, call.worst_cost, took, cost);
  rate_.correct(call.worst.input + call.worst.output, took.input + took.output);
  rate_.hear(result, Clock::now());
  if (took.known && call.bytes > 0) {
    const double seen = kMargin * static_cast<double>(took.input) / static_cast<double>(call.bytes);
    tokens_per_byte_ = heard_ == 0 ? seen : std::max(tokens_per_byte_, seen);
    if (++heard_ < kCalibrated) tokens_per_byte_ = std::max(tokens_per_byte_, 1.0);
  } else if (took.input > 0) {
    const std::lock_guard lock(mutex_);
    ++figures_.estimated;
  }
  call.reply.usage.input += took.input;
  call.reply.usage.output += took.output;
  call.reply.cost += cost;
  const int attempt = call.attempt;
  const Cassette::Key key = call.key;
  absorb(call, result, true);
  const std::string outcome =
      call.reply.id == 0 ? "retry"
                         : std::string(kReplyEndNames[static_cast<std::size_t>(call.reply.end)]);
  if (heard)
    setup_.cassette.end(
        key, attempt,
        {.result = std::move(result), .usage = took, .cost = cost, .outcome = outcome});
}

/// The response of one attempt: an answer, a retry, or the end.
void Client::absorb(Call& call, const HttpResult& result, bool live) {
  ModelAnswer answer = result.failure == HttpFailure::none || !result.body.empty()
                           ? decode_body(codec_, result.body)
                           : ModelAnswer{};
  const Judgement judged = judge(result, answer, setup_.profile, unix_now());
  using Next = Judgement::Next;
  const auto now = Clock::now();
  if (judged.next != Next::take) count(judged.reason);
  if (live) {
    // Only trouble of the server or the way there opens the breaker.
    if (judged.next == Next::retry && result.status != 429) breaker_.failed(now);
    if (judged.next == Next::take) breaker_.succeeded();
    if (judged.next != Next::retry && judged.next != Next::take) breaker_.succeeded();
  }
  switch (judged.next) {
    case Next::take:
      call.reply.answer = std::move(answer);
      return finish(call, Reply::End::answered, "");
    case Next::shrink:
      return finish(call, Reply::End::too_long, judged.reason);
    case Next::give_up:
      return finish(
          call,
          result.failure == HttpFailure::cancelled ? Reply::End::cancelled : Reply::End::failed,
          judged.reason);
    case Next::disable: {
      if (live) {
        const std::lock_guard lock(mutex_);
        if (disabled_.empty()) disabled_ = setup_.redactor(one_line(judged.reason));
      }
      return finish(call, Reply::End::disabled, judged.reason);
    }
    case Next::drop:
      setup_.profile.capabilities.erase(judged.option);
      call.dropped += judged.option + " ";
      call.due = now;
      return;
    case Next::retry:
      break;
  }
  if (call.attempt >= setup_.retry.attempts) return finish(call, Reply::End::failed, judged.reason);
  if (judged.wait_s && *judged.wait_s > setup_.retry.hint_cap_s)
    return finish(call, Reply::End::failed,
                  judged.reason + " (it asks for " + std::to_string(*judged.wait_s) + " s)");
  const double wait = live ? judged.wait_s.value_or(backoff(setup_.retry, call.attempt, rng_)) : 0;
  call.due = now + duration_cast<Clock::duration>(duration<double>(wait));
}

void Client::count(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++figures_.reasons[reason.substr(0, reason.find(':'))];
}

void Client::finish(Call& call, Reply::End end, std::string reason) {
  Reply reply = call.reply;
  reply.id = call.reply.id = call.id;  // marks it as done
  reply.end = call.reply.end = end;
  reply.reason = setup_.redactor(one_line(std::move(reason)));
  reply.attempts = call.attempt;
  const std::lock_guard lock(mutex_);
  replies_.push_back(std::move(reply));
  --under_way_;
  idle_.notify_all();
}

}  // namespace warpath::llm
