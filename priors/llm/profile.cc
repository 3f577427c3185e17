#include "priors/llm/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "priors/llm/codec.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using Auth = Profile::Auth;

constexpr std::pair<std::string_view, Auth> kAuths[] = {{"bearer", Auth::bearer},
                                                        {"api-key", Auth::api_key},
                                                        {"x-api-key", Auth::x_api_key},
                                                        {"none", Auth::none}};

Profile hosted(std::string name,
               std::string url,
               std::string codec,
               std::set<std::string, std::less<>> can) {
  Profile p;
  p.name = std::move(name);
  p.base_url = std::move(url);
  p.codec = std::move(codec);
  p.capabilities = std::move(can);
  return p;
}

Profile local(std::string name, std::string url, std::set<std::string, std::less<>> can) {
  Profile p = hosted(std::move(name), std::move(url), "chat", std::move(can));
  p.auth = Auth::none;
  p.key_env = "";
  p.max_tokens_field = "max_tokens";
  p.context_tokens = 32'768;
  p.max_output_tokens = 8'192;
  p.prices = Prices{};  // own machine
  p.limits.first_byte = std::chrono::milliseconds(600'000);
  return p;
}

std::map<std::string, Profile, std::less<>> make_builtin() {
  std::vector<Profile> list;
  list.push_back(hosted(
      "openai", "https://api.openai.com/v1", "chat",
      {"temperature", "json_schema", "json_object", "stream", "stream_usage", "reasoning_effort"}));
  list.back().base_url_env = "OPENAI_BASE_URL";
  list.push_back(hosted("openai-responses", "https://api.openai.com/v1", "responses",
                        {"json_schema", "stream", "reasoning_effort", "store"}));
  list.back().base_url_env = "OPENAI_BASE_URL";
  list.push_back(
      hosted("azure-v1", "", "chat",
             {"json_schema", "json_object", "stream", "stream_usage", "reasoning_effort"}));
  list.back().auth = Auth::api_key;
  list.back().key_env = "AZURE_OPENAI_API_KEY";
  list.push_back(hosted("openrouter", "https://openrouter.ai/api/v1", "chat",
                        {"temperature", "json_schema", "stream", "stream_usage"}));
  list.back().key_env = "OPENROUTER_API_KEY";
  list.push_back(hosted("anthropic", "https://api.anthropic.com/v1", "anthropic",
                        {"temperature", "json_schema", "stream", "cache_control"}));
  list.back().auth = Auth::x_api_key;
  list.back().key_env = "ANTHROPIC_API_KEY";
  list.back().headers = {{"anthropic-version", "2023-06-01"}};
  list.push_back(local("vllm", "http://127.0.0.1:8000/v1",
                       {"temperature", "json_schema", "json_object", "stream", "stream_usage"}));
  list.push_back(local("llamacpp", "http://127.0.0.1:8080/v1",
                       {"temperature", "json_schema", "json_object", "stream"}));
  list.push_back(local("ollama", "http://127.0.0.1:11434/v1",
                       {"temperature", "json_schema", "json_object", "stream", "stream_usage"}));
  list.push_back(
      local("lmstudio", "http://127.0.0.1:1234/v1", {"temperature", "json_schema", "stream"}));
  list.push_back(hosted("custom", "", "chat", {"stream"}));
  std::map<std::string, Profile, std::less<>> out;
  for (Profile& p : list) out.emplace(p.name, std::move(p));
  return out;
}

Auth read_auth(const JsonCursor& c) {
  const std::string text = c.text();
  for (const auto& [name, auth] : kAuths) {
    if (name == text) return auth;
  }
  c.fail("bearer, api-key, x-api-key or none");
}

double amount(const JsonCursor& c) {
  const double x = c.number();
  if (x < 0) c.fail("a number of at least 0");
  return x;
}

std::int64_t positive(const JsonCursor& c) {
  const std::int64_t n = c.integer();
  if (n < 1) c.fail("an integer of at least 1");
  return n;
}

void read_limits(const JsonCursor& c, HttpLimits& limits) {
  require_only(c, {"connect", "first_byte", "idle", "total", "max_response_bytes"});
  const auto seconds = [&](std::string_view key, std::chrono::milliseconds& out) {
    if (const auto value = c.find(key)) {
      if (!(value->number() > 0) || value->number() > 86400)
        value->fail("seconds above 0, at most a day");
      out = std::chrono::milliseconds(
          std::max<std::int64_t>(1, static_cast<std::int64_t>(value->number() * 1000)));
    }
  };
  seconds("connect", limits.connect);
  seconds("first_byte", limits.first_byte);
  seconds("idle", limits.idle);
  seconds("total", limits.total);
  if (const auto bytes = c.find("max_response_bytes"))
    limits.max_response_bytes = static_cast<std::size_t>(positive(*bytes));
}

void read_headers(const JsonCursor& c, HttpHeaders& headers) {
  c.require_object();
  headers.clear();
  for (const auto& [name, value] : c.value().items()) {
    const std::string text = c.at(name).text();
    if (name.find_first_of("\r\n:") != std::string::npos ||
        text.find_first_of("\r\n") != std::string::npos)
      c.at(name).fail("a header on one line");
    headers.emplace_back(name, text);
  }
}

void read_capabilities(const JsonCursor& c, Profile& profile) {
  c.require_object();
  for (const auto& [name, value] : c.value().items()) {
    if (std::ranges::find(kCapabilities, name) == std::end(kCapabilities)) {
      std::string known;
      for (const std::string_view k : kCapabilities)
        known += (known.empty() ? "" : ", ") + std::string(k);
      throw bad_input(c.place(), name, "one of " + known);
    }
    c.at(name).boolean() ? static_cast<void>(profile.capabilities.insert(name))
                         : static_cast<void>(profile.capabilities.erase(name));
  }
}

}  // namespace

std::string Profile::url() const {
  return base_url + std::string(find_codec(codec)->path());
}

double Profile::cost(const Usage& usage) const {
  if (!prices) return 0;
  const auto fresh = static_cast<double>(
      std::max<std::int64_t>(0, usage.input - usage.cached - usage.cache_write));
  return (fresh * prices->input + static_cast<double>(usage.cached) * prices->cached +
          static_cast<double>(usage.cache_write) * prices->cache_write +
          static_cast<double>(usage.output) * prices->output) *
         1e-6;
}

const std::map<std::string, Profile, std::less<>>& builtin_profiles() {
  static const std::map<std::string, Profile, std::less<>> profiles = make_builtin();
  return profiles;
}

Profile profile_from_json(const json& value, const std::string& file) {
  const JsonCursor c(value, file);
  require_only(
      c, {"name", "like", "base_url", "base_url_env", "codec", "auth", "key_env", "headers",
          "model", "capabilities", "max_tokens_field", "context_tokens", "max_output_tokens",
          "prices", "currency", "requests_per_minute", "tokens_per_minute", "effort", "limits"});
  const std::string like = c.find("like") ? c.at("like").text() : "custom";
  const auto base = builtin_profiles().find(like);
  if (base == builtin_profiles().end()) c.at("like").fail("a built-in profile");
  Profile p = base->second;
  const auto text = [&](std::string_view key, std::string& out) {
    if (const auto member = c.find(key)) out = member->text();
  };
  p.name = file;
  text("name", p.name);
  text("base_url", p.base_url);
  text("base_url_env", p.base_url_env);
  text("codec", p.codec);
  if (find_codec(p.codec) == nullptr) c.at("codec").fail("chat, responses or anthropic");
  if (const auto auth = c.find("auth")) p.auth = read_auth(*auth);
  text("key_env", p.key_env);
  if (const auto headers = c.find("headers")) read_headers(*headers, p.headers);
  text("model", p.model);
  if (const auto can = c.find("capabilities")) read_capabilities(*can, p);
  text("max_tokens_field", p.max_tokens_field);
  if (const auto n = c.find("context_tokens")) p.context_tokens = positive(*n);
  if (const auto n = c.find("max_output_tokens")) p.max_output_tokens = positive(*n);
  if (const auto prices = c.find("prices")) {
    require_only(*prices, {"input", "cached", "cache_write", "output"});
    Prices out{.input = amount(prices->at("input")),
               .cached = 0,
               .cache_write = 0,
               .output = amount(prices->at("output"))};
    out.cached = prices->find("cached") ? amount(prices->at("cached")) : out.input;
    out.cache_write = prices->find("cache_write") ? amount(prices->at("cache_write")) : out.input;
    p.prices = out;
  }
  text("currency", p.currency);
  if (const auto n = c.find("requests_per_minute")) p.requests_per_minute = amount(*n);
  if (const auto n = c.find("tokens_per_minute")) p.tokens_per_minute = amount(*n);
  text("effort", p.effort);
  if (const auto limits = c.find("limits")) read_limits(*limits, p.limits);
  return p;
}

Profile load_profile(const std::string& text) {
  if (const auto it = builtin_profiles().find(text); it != builtin_profiles().end())
    return it->second;
  if (text.find('/') == std::string::npos && text.find('.') == std::string::npos) {
    std::string names;
    for (const auto& [name, profile] : builtin_profiles()) names += name + ", ";
    throw bad_input("--llm-profile", text, names + "or a JSON file");
  }
  return profile_from_json(read_json_file(text), text);
}

}  // namespace warpath::llm
