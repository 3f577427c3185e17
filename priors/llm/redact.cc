#include "priors/llm/redact.h"

#include <string.h>  // explicit_bzero
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"

namespace warpath::llm {
namespace {

constexpr std::string_view kInstead = "[redacted]";
constexpr std::size_t kLeastSecret = 4;
constexpr std::size_t kMostKeyBytes = 16384;

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("-_.~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

}  // namespace

void Redactor::add(std::string_view secret) {
  if (secret.size() < kLeastSecret) return;
  std::string escaped = nlohmann::json(std::string(secret))
                            .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  escaped = escaped.substr(1, escaped.size() - 2);
  const std::string base64 = base64_encode(std::as_bytes(std::span(secret)));
  for (std::string form : {std::string(secret), escaped, percent_encoded(secret), base64}) {
    if (std::ranges::find(forms_, form) == forms_.end()) forms_.push_back(std::move(form));
  }
  std::ranges::stable_sort(
      forms_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Redactor::operator()(std::string_view text) const {
  std::string out(text);
  for (const std::string& form : forms_) {
    for (std::size_t at = out.find(form); at != std::string::npos;
         at = out.find(form, at + kInstead.size()))
      out.replace(at, form.size(), kInstead);
  }
  return out;
}

nlohmann::json Redactor::within(const nlohmann::json& value) const {
  if (value.is_string()) return (*this)(value.get_ref<const std::string&>());
  if (value.is_array()) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& element : value) out.push_back(within(element));
    return out;
  }
  if (!value.is_object()) return value;
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [key, member] : value.items()) out[(*this)(key)] = within(member);
  return out;
}

std::string read_key(const std::string& variable, const std::string& file) {
  std::string key;
  std::string place;
  if (const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
      value != nullptr && *value != '\0') {
    key = value;
    place = "environment variable " + variable;
  } else if (!file.empty()) {
    place = file;
    struct stat info{};
    if (::stat(file.c_str(), &info) != 0) throw bad_input(file, "", "a file that holds a key");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
      throw bad_input(file, "a key that others may read", "mode 600 (chmod 600)");
    key = read_text_file(file, kMostKeyBytes, file);
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  }
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    // its value is not shown
    if (byte <= 32 || byte == 127)
      throw bad_input(place, "", "a key without blanks or control characters");
  }
  return key;
}

void forget_key(const std::string& variable) {
  char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
  if (value != nullptr) {
    ::explicit_bzero(value, std::string_view(value).size());
    ::unsetenv(variable.c_str());
  }
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace warpath::llm
