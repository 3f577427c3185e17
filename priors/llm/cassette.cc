#include "priors/llm/cassette.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/run/events.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using Mode = Cassette::Mode;

constexpr std::array<std::pair<std::string_view, Mode>, 4> kModes{
    {{"live", Mode::live},
     {"record", Mode::record},
     {"replay", Mode::replay},
     {"replay-or-live", Mode::replay_or_live}}};
constexpr std::size_t kMostCassetteBytes = std::size_t{1} << 31U;

bool is_kept(std::string_view name) {
  return name.starts_with("x-ratelimit-") || name.starts_with("anthropic-ratelimit-") ||
         name.starts_with("retry-after") || name == "x-should-retry" || name == "x-request-id" ||
         name == "request-id" || name == "content-type";
}

json to_json(const Usage& u) {
  return {{"input", u.input},   {"cached", u.cached},       {"cache_write", u.cache_write},
          {"output", u.output}, {"reasoning", u.reasoning}, {"known", u.known}};
}

Usage usage_from_json(const JsonCursor& c) {
  require_only(c, {"input", "cached", "cache_write", "output", "reasoning", "known"});
  return {.input = c.at("input").integer(),
          .cached = c.at("cached").integer(),
          .cache_write = c.at("cache_write").integer(),
          .output = c.at("output").integer(),
          .reasoning = c.at("reasoning").integer(),
          .known = c.at("known").boolean()};
}

json to_json(const HttpResult& r) {
  json headers = json::array();
  for (const auto& [name, value] : r.headers) {
    if (is_kept(name)) headers.push_back({name, valid_utf8(value)});
  }
  json pieces = json::array();
  for (const auto& [at, size] : r.pieces) pieces.push_back({at, size});
  return {{"failure", kHttpFailureNames[static_cast<std::size_t>(r.failure)]},
          {"detail", valid_utf8(r.detail)},
          {"sent", r.sent},
          {"status", r.status},
          {"headers", std::move(headers)},
          {"body", any_text_to_json(r.body)},
          {"pieces", std::move(pieces)},
          {"seconds", r.seconds}};
}

HttpResult result_from_json(const JsonCursor& c) {
  require_only(c, {"failure", "detail", "sent", "status", "headers", "body", "pieces", "seconds"});
  HttpResult r;
  const std::string failure = c.at("failure").text();
  const auto* it = std::ranges::find(kHttpFailureNames, failure);
  if (it == std::end(kHttpFailureNames)) c.at("failure").fail("a kind of failure");
  r.failure = static_cast<HttpFailure>(it - std::begin(kHttpFailureNames));
  r.detail = c.at("detail").text();
  r.sent = c.at("sent").boolean();
  r.status = static_cast<int>(c.at("status").integer());
  const JsonCursor headers = c.at("headers");
  headers.require_array();
  for (std::size_t i = 0; i < headers.size(); ++i)
    r.headers.emplace_back(headers.element(i).element(0).text(),
                           headers.element(i).element(1).text());
  r.body = any_text(c.at("body"));
  const JsonCursor pieces = c.at("pieces");
  pieces.require_array();
  for (std::size_t i = 0; i < pieces.size(); ++i)
    r.pieces.emplace_back(pieces.element(i).element(0).number(),
                          pieces.element(i).element(1).unsigned_integer());
  r.seconds = c.at("seconds").number();
  return r;
}

}  // namespace

Mode Cassette::parse_mode(std::string_view text, std::string_view place) {
  for (const auto& [name, mode] : kModes) {
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
    const Key key{hash_from_json(c.at("key")), c.at("occurrence").unsigned_integer()};
    const int attempt = static_cast<int>(c.at("attempt").integer());
    const std::string type = c.at("type").text();
    Call& call = calls_[key];
    if (type == "begun") {
      if (const std::string label = c.at("label").text(); !label.empty())
        labels_.insert_or_assign(label, key);
      call.begun[attempt] = {.usage = usage_from_json(c.at("worst")),
                             .cost = c.at("worst_cost").number()};
    } else if (type == "call") {
      call.begun.erase(attempt);
      call.attempts.push_back({.result = result_from_json(c.at("result")),
                               .usage = usage_from_json(c.at("usage")),
                               .cost = c.at("cost").number(),
                               .outcome = c.at("outcome").text()});
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
  out_ << redactor_.within(line).dump(-1, ' ', false, json::error_handler_t::replace) << '\n'
       << std::flush;
  if (!out_) throw environment_error(file_.string() + ": cannot be written");
}

void Cassette::begin(const Key& key,
                     int attempt,
                     const std::string& label,
                     const json& request,
                     const Usage& worst,
                     double worst_cost) {
  if (!out_.is_open()) return;
  append({{"type", "begun"},
          {"key", key.first.hex()},
          {"occurrence", key.second},
          {"attempt", attempt},
          {"at", unix_now()},
          {"label", label},
          {"request", request},
          {"worst", to_json(worst)},
          {"worst_cost", worst_cost}});
}

void Cassette::end(const Key& key, int attempt, const RecordedAttempt& recorded) {
  if (!out_.is_open()) return;
  append({{"type", "call"},
          {"key", key.first.hex()},
          {"occurrence", key.second},
          {"attempt", attempt},
          {"at", unix_now()},
          {"outcome", recorded.outcome},
          {"usage", to_json(recorded.usage)},
          {"cost", recorded.cost},
          {"result", to_json(recorded.result)}});
}

}  // namespace warpath::llm
