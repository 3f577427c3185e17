#include "priors/llm/codec.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "priors/llm/profile.h"

namespace warpath::llm {
namespace {

using nlohmann::json;

const std::vector<std::unique_ptr<Codec>>& all_codecs() {
  static const std::vector<std::unique_ptr<Codec>> codecs = [] {
    std::vector<std::unique_ptr<Codec>> out;
    out.push_back(chat_codec());
    out.push_back(responses_codec());
    out.push_back(anthropic_codec());
    return out;
  }();
  return codecs;
}

}  // namespace

std::string_view name(Message::Role role) {
  switch (role) {
    case Message::Role::system:
      return "system";
    case Message::Role::user:
      return "user";
    case Message::Role::assistant:
      return "assistant";
  }
  return "user";
}

const Codec* find_codec(std::string_view name) {
  for (const auto& codec : all_codecs()) {
    if (codec->name() == name) return codec.get();
  }
  return nullptr;
}

const std::vector<std::string_view>& codec_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const auto& codec : all_codecs()) out.push_back(codec->name());
    return out;
  }();
  return names;
}

ModelAnswer decode_body(const Codec& codec, std::string_view body) {
  ModelAnswer answer;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    answer.error_message = "an empty body";
    return answer;
  }
  if (body[first] == '{' || body[first] == '[') {
    try {
      const json document = parse_json(body, "response");
      if (!member(document, "error").is_null()) {
        absorb_error(document, answer);
      } else {
        codec.absorb_whole(document, answer);
      }
    } catch (const Error& e) {
      answer.error_message = e.what();
    }
    return answer;
  }
  SseDecoder sse;
  for (const SseEvent& event : sse.feed(body)) {
    codec.absorb(event, answer);
    if (codec.is_last(event)) break;
  }
  if (answer.end == ModelAnswer::End::unfinished && answer.error_message.empty())
    answer.error_message = "the stream ended early";
  return answer;
}

HttpRequest http_request(const Profile& profile,
                         const std::string& key,
                         const ModelRequest& request) {
  const Codec& codec = *find_codec(profile.codec);
  HttpRequest out{.url = profile.url(),
                  .headers = profile.headers,
                  .body = json_text(codec.body(profile, request)),
                  .limits = profile.limits};
  out.headers.emplace_back("Content-Type", "application/json");
  if (profile.can("stream"))
    out.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (!key.empty()) {
    using Auth = Profile::Auth;
    if (profile.auth == Auth::bearer) out.headers.emplace_back("Authorization", "Bearer " + key);
    if (profile.auth == Auth::api_key) out.headers.emplace_back("api-key", key);
    if (profile.auth == Auth::x_api_key) out.headers.emplace_back("x-api-key", key);
  }
  out.ended = [detector = std::make_shared<EndDetector>(codec)](std::string_view piece) {
    return detector->feed(piece);
  };
  return out;
}

bool EndDetector::feed(std::string_view piece) {
  bool last = false;
  for (const SseEvent& event : sse_.feed(piece)) last = last || codec_.is_last(event);
  return last;
}

const json& member(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string text_of(const json& object, std::string_view key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t count_of(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_number_integer()) return 0;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 40U) return 0;
  const auto n = value.get<std::int64_t>();
  return n < 0 || n > std::int64_t{1} << 40U ? 0 : n;
}

void absorb_error(const json& object, ModelAnswer& answer) {
  const json& inner = member(object, "error");
  const json& error = inner.is_object() ? inner : object;
  answer.end = ModelAnswer::End::error;
  answer.error_type = text_of(error, "type");
  answer.error_code = text_of(error, "code");
  answer.error_param = text_of(error, "param");
  answer.error_message = inner.is_string() ? inner.get<std::string>() : text_of(error, "message");
  if (answer.error_message.empty()) answer.error_message = "an error without a message";
}

}  // namespace warpath::llm
