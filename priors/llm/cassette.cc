#include "priors/llm/cassette.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/json/record_codec.h"
#include "engine/log/events.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using Mode = Cassette::Mode;

constexpr std::size_t kMostCassetteBytes = std::size_t{1} << 31U;

bool is_kept(std::string_view name) {
  return name.starts_with("x-ratelimit-") || name.starts_with("anthropic-ratelimit-") ||
         name.starts_with("retry-after") || name == "x-should-retry" || name == "x-request-id" ||
         name == "request-id" || name == "content-type";
}

}  // namespace

namespace cassette_fields {

/// Those headers of an answer that say something about the service.
struct KeptHeaders {
  static void read(const JsonCursor& cursor, HttpHeaders& out) {
    warpath::Codec<HttpHeaders>::read(cursor, out);
  }
  static json write(const HttpHeaders& headers) {
    json out = json::array();
    for (const auto& [name, value] : headers) {
      if (is_kept(name)) out.push_back({name, valid_utf8(value)});
    }
    return out;
  }
};
/// Written for people; not read back.
struct Request {
  static void read(const JsonCursor&, json&) {}
  static json write(const json& request) { return request; }
};

}  // namespace cassette_fields

namespace {

/// What both kinds of line begin with.
struct LineHead {
  Hash128 key;
  std::uint64_t occurrence = 0;
  int attempt = 0;
  double at = 0;  ///< seconds since 1970
};
/// An attempt that is about to be sent; `worst`: its maximum cost.
struct BegunLine : LineHead {
  std::string label;
  json request;
  Usage worst;
  double worst_cost = 0;
};
struct CallLine : LineHead, RecordedAttempt {};

}  // namespace
}  // namespace warpath::llm

namespace warpath {

template <>
struct EnumWords<llm::HttpFailure> {
  static constexpr auto rows = rows_of<llm::HttpFailure>(llm::kHttpFailureNames);
};
template <>
struct EnumWords<llm::Cassette::Mode> {
  static constexpr auto rows = rows_of<llm::Cassette::Mode>(
      std::to_array<std::string_view>({"live", "record", "replay", "replay-or-live"}));
};
template <>
struct Description<llm::Usage> : Record<Kept<"input", &llm::Usage::input>,
                                        Kept<"cached", &llm::Usage::cached>,
                                        Kept<"cache_write", &llm::Usage::cache_write>,
                                        Kept<"output", &llm::Usage::output>,
                                        Kept<"reasoning", &llm::Usage::reasoning>,
                                        Kept<"known", &llm::Usage::known>> {};
template <>
struct Description<llm::HttpResult>
    : Record<Kept<"failure", &llm::HttpResult::failure>,
             Kept<"detail", &llm::HttpResult::detail, ValidText>,
             Kept<"sent", &llm::HttpResult::sent>,
             Kept<"status", &llm::HttpResult::status>,
             Kept<"headers", &llm::HttpResult::headers, llm::cassette_fields::KeptHeaders>,
             Kept<"body", &llm::HttpResult::body, AnyText>,
             Kept<"pieces", &llm::HttpResult::pieces>,
             Kept<"seconds", &llm::HttpResult::seconds>> {};
template <>
struct Description<llm::BegunLine>
    : Record<Always<"type", "begun">,
             Kept<"key", &llm::BegunLine::key>,
             Kept<"occurrence", &llm::BegunLine::occurrence>,
             Kept<"attempt", &llm::BegunLine::attempt>,
             Kept<"at", &llm::BegunLine::at>,
             Kept<"label", &llm::BegunLine::label>,
             Kept<"request", &llm::BegunLine::request, llm::cassette_fields::Request>,
             Kept<"worst", &llm::BegunLine::worst>,
             Kept<"worst_cost", &llm::BegunLine::worst_cost>> {};
template <>
struct Description<llm::CallLine> : Record<Always<"type", "call">,
                                           Kept<"key", &llm::CallLine::key>,
                                           Kept<"occurrence", &llm::CallLine::occurrence>,
                                           Kept<"attempt", &llm::CallLine::attempt>,
                                           Kept<"at", &llm::CallLine::at>,
                                           Kept<"outcome", &llm::CallLine::outcome>,
                                           Kept<"usage", &llm::CallLine::usage>,
                                           Kept<"cost", &llm::CallLine::cost>,
                                           Kept<"result", &llm::CallLine::result>> {};

}  // namespace warpath

namespace warpath::llm {

Mode Cassette::parse_mode(std::string_view text, std::string_view place) {
  for (const auto& [name, mode] : EnumWords<Mode>::rows) {
    if (name == text) return mode;
  }
  throw bad_input(place, text, "live, record, replay or replay-or-live");
}

Cassette::Cassette(std::filesystem::path file, Mode mode, Redactor redactor)
    : file_(std::move(file)), mode_(mode), redactor_(std::move(redactor)) {
  if (mode_ == Mode::live) return;
  const bool exists = std::filesystem::exists(file_);
  if (mode_ == Mode::replay && !exists) throw bad_input(file_.string(), "", "a cassette to replay");
  if (mode_ != Mode::record && exists) read();
  if (mode_ == Mode::replay) return;
  out_.open(file_, mode_ == Mode::record ? std::ios::trunc | std::ios::binary
                                         : std::ios::app | std::ios::binary);
  if (!out_) throw environment_error(file_.string() + ": cannot be written");
}

void Cassette::read() {
  const std::string text = read_text_file(file_.string(), kMostCassetteBytes, file_.string());
  std::size_t at = 0;
  std::size_t number = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) {  // cut short: what follows must begin on a line of its own
      if (mode_ != Mode::replay) std::filesystem::resize_file(file_, at);
      return;
    }
    const std::string place = file_.string() + ":" + std::to_string(++number);
    const json line = parse_json(std::string_view(text).substr(at, end - at), place);
    const JsonCursor c(line, place + ":");
    const std::string type = c.at("type").text();
    if (type == "begun") {
      BegunLine begun;
      warpath::Codec<BegunLine>::read(c, begun);
      const Key key{begun.key, begun.occurrence};
      if (!begun.label.empty()) labels_.insert_or_assign(begun.label, key);
      calls_[key].begun[begun.attempt] = {.usage = begun.worst, .cost = begun.worst_cost};
    } else if (type == "call") {
      CallLine ended;
      warpath::Codec<CallLine>::read(c, ended);
      Call& call = calls_[{ended.key, ended.occurrence}];
      call.begun.erase(ended.attempt);
      call.attempts.push_back(std::move(ended));
    } else {
      c.at("type").fail("begun or call");
    }
    at = end + 1;
  }
}

Cassette::Key Cassette::resolve(const Key& key, const std::string& label) {
  const auto it = labels_.find(label);
  if (it == labels_.end()) return key;
  const Key recorded = it->second;
  labels_.erase(it);
  return mode_ == Mode::replay_or_live && !calls_.contains(key) ? recorded : key;
}

const std::vector<RecordedAttempt>& Cassette::attempts(const Key& key) const {
  static const std::vector<RecordedAttempt> kNone;
  const auto it = calls_.find(key);
  return it == calls_.end() ? kNone : it->second.attempts;
}

bool Cassette::lost(const Key& key) const {
  const auto it = calls_.find(key);
  return it != calls_.end() && !it->second.begun.empty();
}

std::vector<Cassette::Past> Cassette::past() const {
  std::vector<Past> out;
  for (const auto& [key, call] : calls_) {
    for (const RecordedAttempt& a : call.attempts)
      out.push_back({.usage = a.usage, .cost = a.cost});
    for (const auto& [attempt, worst] : call.begun) out.push_back(worst);
  }
  return out;
}

void Cassette::append(const json& line) {
  out_ << json_text(redactor_.within(line)) << '\n' << std::flush;
  if (!out_) throw environment_error(file_.string() + ": cannot be written");
}

void Cassette::begin(const Key& key,
                     int attempt,
                     const std::string& label,
                     const json& request,
                     const Usage& worst,
                     double worst_cost) {
  if (!out_.is_open()) return;
  const LineHead head{key.first, key.second, attempt, unix_now()};
  append(warpath::Codec<BegunLine>::write({head, label, request, worst, worst_cost}));
}

void Cassette::end(const Key& key, int attempt, const RecordedAttempt& recorded) {
  if (!out_.is_open()) return;
  const LineHead head{key.first, key.second, attempt, unix_now()};
  append(warpath::Codec<CallLine>::write({head, recorded}));
}

}  // namespace warpath::llm
