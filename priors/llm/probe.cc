#include "priors/llm/probe.h"

#include <algorithm>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/format.h"
#include "priors/llm/codec.h"
#include "priors/llm/extract.h"
#include "priors/llm/retry.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using State = Probed::State;
using Next = Judgement::Next;

constexpr std::int64_t kMostOutput = 512;  // a model that reasons needs some before it says a word
constexpr std::size_t kShownText = 60;
constexpr int kMostDropped = 4;  // options that one question may lose

std::string usage_text(const Usage& usage) {
  return std::to_string(usage.input) + " tokens in, " + std::to_string(usage.output) + " out";
}

/// Talk is what a server answers that does not look at this.
json colour_schema() {
  return {{"type", "object"},
          {"properties", {{"colour", {{"type", "string"}, {"enum", {"red", "green"}}}}}},
          {"required", {"colour"}},
          {"additionalProperties", false}};
}

bool keeps_to_schema(const std::string& text) {
  const json answer = json::parse(without_thinking(text), nullptr, false);
  return answer.is_object() && answer.size() == 1 &&
         (member(answer, "colour") == "red" || member(answer, "colour") == "green");
}

struct Heard {
  HttpResult result;
  ModelAnswer answer;
  Judgement judged;
};

class Prober {
 public:
  Prober(const Profile& profile,
         const std::string& key,
         Transport& transport,
         Budget& budget,
         const Redactor& redactor)
      : profile_(profile), key_(key), transport_(transport), budget_(budget), redactor_(redactor) {}

  ProbeReport run() {
    report_.capabilities = profile_.capabilities;
    answering();
    schema();
    streaming();
    for (const std::string& option : dropped_)
      add("option " + option, State::no, "refused: left out of requests");
    return std::move(report_);
  }

 private:
  void add(const std::string& what, State state, const std::string& detail) {
    std::string text = redactor_(detail);
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    report_.lines.push_back({.what = what, .state = state, .detail = std::move(text)});
  }

  /// One question, with these capabilities beside those that have nothing to do with what is tried.
  /// nullopt: the budget does not allow it.
  std::optional<Heard> ask(const std::string& question,
                           const std::set<std::string, std::less<>>& with) {
    ModelRequest request;
    request.messages = {
        {Message::Role::system, "You are asked to see whether you answer. Be brief."},
        {Message::Role::user, question}};
    request.max_output_tokens = std::min(kMostOutput, profile_.max_output_tokens);
    request.effort = profile_.effort;
    if (with.contains("json_schema")) request.schema = colour_schema();
    Profile profile = profile_;
    for (const std::string_view tried : {"json_schema", "json_object", "stream", "stream_usage"})
      profile.capabilities.erase(std::string(tried));
    profile.capabilities.insert(with.begin(), with.end());
    for (const std::string& option : dropped_) profile.capabilities.erase(option);
    for (int dropped = 0;; ++dropped) {
      std::optional<Heard> heard = call(profile, request);
      if (!heard || heard->judged.next != Next::drop || with.contains(heard->judged.option) ||
          dropped >= kMostDropped)
        return heard;
      profile.capabilities.erase(heard->judged.option);
      report_.capabilities.erase(heard->judged.option);
      dropped_.insert(heard->judged.option);
    }
  }

  std::optional<Heard> call(const Profile& profile, const ModelRequest& request) {
    HttpRequest post = http_request(profile, key_, request);
    post.id = ++calls_;
    Usage worst;
    // a token has a byte at least
    worst.input = static_cast<std::int64_t>(post.body.size()) + kFraming;
    worst.output = request.max_output_tokens;
    if (!budget_.reserve(worst, profile.cost(worst))) return std::nullopt;
    const auto promise = std::make_shared<std::promise<HttpResult>>();
    std::future<HttpResult> future = promise->get_future();
    transport_.send(std::move(post),
                    [promise](HttpResult result) { promise->set_value(std::move(result)); });
    Heard out{.result = future.get(), .answer = {}, .judged = {}};
    if (!out.result.body.empty())
      out.answer = decode_body(*find_codec(profile.codec), out.result.body);
    out.judged = judge(out.result, out.answer, profile, 0);
    const bool free = !out.result.sent || (out.result.status != 0 && out.result.status / 100 != 2);
    const Usage took = out.answer.usage.known ? out.answer.usage : free ? Usage() : worst;
    budget_.settle(worst, profile.cost(worst), took, profile.cost(took));
    return out;
  }

  [[nodiscard]] std::string no_budget() const {
    return "not tried: the budget of " + std::to_string(budget_.limits().calls) +
           " calls, tokens and money does not allow it";
  }

  void answering() {
    const auto heard = ask("Say the word ready.", {});
    if (!heard) {
      for (const char* what : {"reachable", "key", "answers", "usage counts"})
        add(what, State::untried, no_budget());
      return;
    }
    const HttpResult& result = heard->result;
    const bool reached = result.status != 0;
    add("reachable", reached ? State::yes : State::broken,
        profile_.url() + (reached ? ": HTTP " + std::to_string(result.status) + " in " +
                                        format("%.2f s", result.seconds)
                                  : ": " + heard->judged.reason));
    if (!reached) {
      for (const char* what : {"key", "answers", "usage counts"})
        add(what, State::untried, "not reached");
      return;
    }
    const bool refused = result.status == 401 || result.status == 403;
    const bool taken = heard->judged.next == Next::take;
    if (refused) {
      add("key", State::broken, "refused: " + heard->judged.reason);
    } else {
      add("key", taken ? State::yes : State::untried,
          !taken         ? "not judged: " + heard->judged.reason
          : key_.empty() ? "none was asked for"
                         : "accepted");
    }
    report_.usable = taken;
    add("answers", taken ? State::yes : State::broken,
        taken
            ? "\"" + shown(heard->answer.text) + "\" from " +
                  (heard->answer.model.empty() ? "an unnamed model" : shown(heard->answer.model)) +
                  end_text(heard->answer)
            : heard->judged.reason);
    if (!taken) return add("usage counts", State::untried, "no answer");
    const Usage& usage = heard->answer.usage;
    add("usage counts", usage.known ? State::yes : State::no,
        usage.known ? usage_text(usage) : "none: estimates are charged");
  }

  /// Redacted before it is cut: half a key is no longer known as one.
  [[nodiscard]] std::string shown(const std::string& said) const {
    std::string text = redactor_(said);
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text.size() > kShownText ? text.substr(0, kShownText) + "..." : text;
  }

  static std::string end_text(const ModelAnswer& answer) {
    return answer.end == ModelAnswer::End::complete
               ? ""
               : " (ended by " + std::string(kEndNames[static_cast<std::size_t>(answer.end)]) + ")";
  }

  void set(const std::string& capability, bool there) {
    there ? static_cast<void>(report_.capabilities.insert(capability))
          : static_cast<void>(report_.capabilities.erase(capability));
  }

  void schema() {
    const std::string what = "structured output";
    if (!report_.usable) return add(what, State::untried, "no answer");
    const auto heard =
        ask("What is the colour of grass? Answer in one short sentence.", {"json_schema"});
    if (!heard) return add(what, State::untried, no_budget());
    if (heard->judged.next != Next::take && heard->judged.next != Next::drop &&
        heard->judged.next != Next::give_up) {
      return add(what, State::untried, "not judged: " + heard->judged.reason);
    }
    const bool kept = heard->judged.next == Next::take && keeps_to_schema(heard->answer.text);
    set("json_schema", kept);
    add(what, kept ? State::yes : State::no,
        kept ? "kept to the schema: " + shown(heard->answer.text)
        : heard->judged.next == Next::take
            ? "the schema was not kept: \"" + shown(heard->answer.text) + "\"" +
                  end_text(heard->answer)
            : heard->judged.reason);
  }

  void streaming() {
    const std::string what = "streaming", counts = "usage in streams";
    if (!report_.usable) {
      add(what, State::untried, "no answer");
      return add(counts, State::untried, "no answer");
    }
    std::set<std::string, std::less<>> with{"stream", "stream_usage"};
    auto heard = ask("Count from one to ten.", with);
    if (heard && heard->judged.next == Next::drop && heard->judged.option == "stream_usage") {
      set("stream_usage", false);
      heard = ask("Count from one to ten.", {"stream"});
    }
    if (!heard || (heard->judged.next != Next::take && heard->judged.next != Next::drop &&
                   heard->judged.next != Next::give_up)) {
      const std::string why = heard ? "not judged: " + heard->judged.reason : no_budget();
      add(what, State::untried, why);
      return add(counts, State::untried, why);
    }
    const bool taken = heard->judged.next == Next::take;
    const bool whole =
        taken && heard->result.body.find_first_not_of(" \t\r\n") == heard->result.body.find('{');
    set("stream", taken && !whole);
    const Usage& usage = heard->answer.usage;
    add(what, taken && !whole ? State::yes : State::no,
        !taken  ? heard->judged.reason
        : whole ? "it was asked for, and the answer came in one"
                : std::to_string(heard->result.pieces.size()) + " pieces in " +
                      format("%.2f s", heard->result.seconds));
    if (!taken || whole) return add(counts, State::untried, "no stream");
    if (profile_.codec == "chat") set("stream_usage", usage.known);
    add(counts, usage.known ? State::yes : State::no,
        usage.known ? usage_text(usage) : "none: estimates are charged");
  }

  const Profile& profile_;
  const std::string& key_;
  Transport& transport_;
  Budget& budget_;
  const Redactor& redactor_;
  ProbeReport report_;
  std::set<std::string> dropped_;
  std::uint64_t calls_ = 0;
};

}  // namespace

ProbeReport probe(const Profile& profile,
                  const std::string& key,
                  Transport& transport,
                  Budget& budget,
                  const Redactor& redactor) {
  return Prober(profile, key, transport, budget, redactor).run();
}

}  // namespace warpath::llm
