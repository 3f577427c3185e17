#include "priors/llm/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/record_codec.h"
#include "priors/llm/codec.h"

namespace warpath::llm {
namespace {

using nlohmann::json;
using Auth = Profile::Auth;

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

}  // namespace

namespace profile_fields {

struct CodecName {
  static void read(const JsonCursor& c, std::string& out) {
    out = c.text();
    if (find_codec(out) == nullptr) c.fail("chat, responses or anthropic");
  }
};

struct Seconds {
  static void read(const JsonCursor& c, std::chrono::milliseconds& out) {
    const double seconds = c.number();
    if (!(seconds > 0) || seconds > 86400) c.fail("seconds above 0, at most a day");
    out = std::chrono::milliseconds(
        std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1000)));
  }
};

/// An object: name -> value.
struct Headers {
  static void read(const JsonCursor& c, HttpHeaders& out) {
    c.require_object();
    out.clear();
    for (const auto& [name, value] : c.value().items()) {
      const std::string text = c.at(name).text();
      if (name.find_first_of("\r\n:") != std::string::npos ||
          text.find_first_of("\r\n") != std::string::npos)
        c.at(name).fail("a header on one line");
      out.emplace_back(name, text);
    }
  }
};

/// An object: capability -> whether the service has it; the others stay.
struct Capabilities {
  static void read(const JsonCursor& c, std::set<std::string, std::less<>>& out) {
    c.require_object();
    for (const auto& [name, value] : c.value().items()) {
      if (std::ranges::find(kCapabilities, name) == std::end(kCapabilities)) {
        std::string known;
        for (const std::string_view k : kCapabilities)
          known += (known.empty() ? "" : ", ") + std::string(k);
        throw bad_input(c.place(), name, "one of " + known);
      }
      if (c.at(name).boolean()) {
        out.insert(name);
      } else {
        out.erase(name);
      }
    }
  }
};

/// Cached tokens and those written to a cache cost what others do, unless said.
struct PriceList {
  static void read(const JsonCursor& c, std::optional<Prices>& out);
};

/// The built-in profile that the others complete, which is taken before the file is read.
struct Like {
  static void read(const JsonCursor&, Profile&) {}
};
struct LikeKey {
  template <class V>
  static void field(V& v) {
    v.template custom<Like>({.key = "like", .help = ""});
  }
};

}  // namespace profile_fields
}  // namespace warpath::llm

namespace warpath {

template <>
struct EnumWords<llm::Profile::Auth> {
  static constexpr auto rows = rows_of<llm::Profile::Auth>(
      std::to_array<std::string_view>({"bearer", "api-key", "x-api-key", "none"}));
};
template <>
struct Description<llm::Prices>
    : Record<Kept<"input", &llm::Prices::input, NotNegative>,
             Kept<"output", &llm::Prices::output, NotNegative>,
             Sparse<"cached", &llm::Prices::cached, NotNegative>,
             Sparse<"cache_write", &llm::Prices::cache_write, NotNegative>> {};
template <>
struct Description<llm::HttpLimits>
    : Record<Sparse<"connect", &llm::HttpLimits::connect, llm::profile_fields::Seconds>,
             Sparse<"first_byte", &llm::HttpLimits::first_byte, llm::profile_fields::Seconds>,
             Sparse<"idle", &llm::HttpLimits::idle, llm::profile_fields::Seconds>,
             Sparse<"total", &llm::HttpLimits::total, llm::profile_fields::Seconds>,
             Sparse<"max_response_bytes", &llm::HttpLimits::max_response_bytes, Positive>> {};
template <>
struct Description<llm::Profile>
    : Record<llm::profile_fields::LikeKey,
             Sparse<"name", &llm::Profile::name>,
             Sparse<"base_url", &llm::Profile::base_url>,
             Sparse<"base_url_env", &llm::Profile::base_url_env>,
             Sparse<"codec", &llm::Profile::codec, llm::profile_fields::CodecName>,
             Sparse<"auth", &llm::Profile::auth>,
             Sparse<"key_env", &llm::Profile::key_env>,
             Sparse<"headers", &llm::Profile::headers, llm::profile_fields::Headers>,
             Sparse<"model", &llm::Profile::model>,
             Sparse<"capabilities", &llm::Profile::capabilities, llm::profile_fields::Capabilities>,
             Sparse<"max_tokens_field", &llm::Profile::max_tokens_field>,
             Sparse<"context_tokens", &llm::Profile::context_tokens, Positive>,
             Sparse<"max_output_tokens", &llm::Profile::max_output_tokens, Positive>,
             Sparse<"prices", &llm::Profile::prices, llm::profile_fields::PriceList>,
             Sparse<"currency", &llm::Profile::currency>,
             Sparse<"requests_per_minute", &llm::Profile::requests_per_minute, NotNegative>,
             Sparse<"tokens_per_minute", &llm::Profile::tokens_per_minute, NotNegative>,
             Sparse<"effort", &llm::Profile::effort>,
             Sparse<"limits", &llm::Profile::limits>> {};

}  // namespace warpath

namespace warpath::llm {

void profile_fields::PriceList::read(const JsonCursor& c, std::optional<Prices>& out) {
  Prices prices;
  warpath::Codec<Prices>::read(c, prices);
  if (!c.find("cached")) prices.cached = prices.input;
  if (!c.find("cache_write")) prices.cache_write = prices.input;
  out = prices;
}

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
  const std::string like = c.find("like") ? c.at("like").text() : "custom";
  const auto base = builtin_profiles().find(like);
  if (base == builtin_profiles().end()) c.at("like").fail("a built-in profile");
  Profile p = base->second;
  p.name = file;
  warpath::Codec<Profile>::read(c, p);
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
