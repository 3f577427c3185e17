#include "tests/support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpath::test {
namespace {

using nlohmann::json;

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// False: the client left.
bool read_request(int socket, ReceivedRequest& out) {
  std::string text;
  std::size_t head = std::string::npos;
  std::size_t length = 0;
  char buffer[16384];
  for (;;) {
    if (head == std::string::npos && (head = text.find("\r\n\r\n")) != std::string::npos) {
      std::size_t at = text.find("\r\n");
      const std::string first = text.substr(0, at);
      const std::size_t blank = first.find(' ');
      out.target = first.substr(blank + 1, first.rfind(' ') - blank - 1);
      while (at < head) {
        const std::size_t begin = at + 2;
        at = text.find("\r\n", begin);
        const std::string line = text.substr(begin, at - begin);
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        out.headers.emplace_back(lower(line.substr(0, colon)),
                                 line.substr(line.find_first_not_of(' ', colon + 1)));
      }
      length = std::strtoull(out.header("content-length").c_str(), nullptr, 10);
    }
    if (head != std::string::npos && text.size() >= head + 4 + length) {
      out.body = text.substr(head + 4, length);
      return true;
    }
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string hex(std::size_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "%zx", n);
  return text;
}

std::string event(const json& data, const std::string& name = "") {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data.dump() + "\n\n";
}

/// `text` in pieces of a few bytes that do not split UTF-8.
std::vector<std::string> deltas(const std::string& text) {
  std::vector<std::string> out;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (out.empty() || (out.back().size() >= 24 && !continues)) out.emplace_back();
    out.back() += c;
  }
  return out;
}

json chat_usage(const Said& s) {
  return {{"prompt_tokens", s.input},
          {"completion_tokens", s.output},
          {"prompt_tokens_details", {{"cached_tokens", s.input / 2}}}};
}

json responses_object(const Said& s) {
  const bool cut = s.finish == "max_output_tokens" || s.finish == "content_filter";
  json out{
      {"object", "response"},
      {"model", "test-model"},
      {"status", cut ? "incomplete" : "completed"},
      {"output",
       json::array({{{"type", "reasoning"}, {"summary", json::array()}},
                    {{"type", "message"},
                     {"content", json::array({{{"type", "output_text"}, {"text", s.text}}})}}})}};
  if (cut) out["incomplete_details"] = {{"reason", s.finish}};
  if (s.input >= 0)
    out["usage"] = {{"input_tokens", s.input},
                    {"output_tokens", s.output},
                    {"output_tokens_details", {{"reasoning_tokens", s.output / 2}}}};
  return out;
}

}  // namespace

std::string ReceivedRequest::header(const std::string& name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, any, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no loopback port");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  over_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<ReceivedRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::accept_all() {
  while (!over_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] {
      serve(socket);
      const std::lock_guard guard(mutex_);
      std::erase(sockets_, socket);
      ::close(socket);
    });
  }
}

void HttpServer::serve(int socket) {
  ReceivedRequest request;
  if (!read_request(socket, request)) return;
  {
    const std::lock_guard lock(mutex_);
    request.number = requests_.size();
    requests_.push_back(request);
  }
  const std::size_t now = ++now_;
  std::size_t most = most_;
  while (most < now && !most_.compare_exchange_weak(most, now)) {
  }
  const ServerReply reply = handler_(request);
  --now_;
  if (!reply.silent) {
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " X\r\nConnection: close\r\n";
    for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
    if (reply.chunked) head += "Transfer-Encoding: chunked\r\n";
    if (!send_all(socket, head + "\r\n")) return;
    for (const std::string& piece : reply.pieces) {
      if (piece.empty()) continue;
      if (!send_all(socket, reply.chunked ? hex(piece.size()) + "\r\n" + piece + "\r\n" : piece))
        return;
    }
    if (reply.end == ServerReply::End::close && reply.chunked)
      static_cast<void>(send_all(socket, "0\r\n\r\n"));
  }
  if (reply.end == ServerReply::End::stall) {
    char byte = 0;
    while (!over_ && ::recv(socket, &byte, 1, 0) > 0) {
    }
  }
}

std::string chat_whole(const Said& s) {
  json out{{"model", "test-model"},
           {"choices", json::array({{{"index", 0},
                                     {"message", {{"role", "assistant"}, {"content", s.text}}},
                                     {"finish_reason", s.finish.empty() ? "stop" : s.finish}}})}};
  if (s.input >= 0) out["usage"] = chat_usage(s);
  return out.dump();
}

std::string chat_stream(const Said& s) {
  std::string out = ": keep-alive\n\n";
  for (const std::string& d : deltas(s.text))
    out += event({{"model", "test-model"},
                  {"choices", json::array({{{"index", 0}, {"delta", {{"content", d}}}}})}});
  out += event(
      {{"choices", json::array({{{"index", 0},
                                 {"delta", json::object()},
                                 {"finish_reason", s.finish.empty() ? "stop" : s.finish}}})}});
  if (s.input >= 0) out += event({{"choices", json::array()}, {"usage", chat_usage(s)}});
  return out + "data: [DONE]\n\n";
}

std::string responses_whole(const Said& s) {
  return responses_object(s).dump();
}

std::string responses_stream(const Said& s) {
  std::string out =
      event({{"type", "response.created"}, {"sequence_number", 0}}, "response.created");
  for (const std::string& d : deltas(s.text))
    out +=
        event({{"type", "response.output_text.delta"}, {"delta", d}}, "response.output_text.delta");
  const json whole = responses_object(s);
  const std::string type = "response." + whole["status"].get<std::string>();
  return out + event({{"type", type}, {"response", whole}}, type);
}

std::string anthropic_whole(const Said& s) {
  json out{{"model", "test-model"},
           {"content", json::array({{{"type", "text"}, {"text", s.text}}})},
           {"stop_reason", s.finish.empty() ? "end_turn" : s.finish}};
  if (s.input >= 0) out["usage"] = {{"input_tokens", s.input}, {"output_tokens", s.output}};
  return out.dump();
}

std::string anthropic_stream(const Said& s) {
  json start{{"type", "message_start"}, {"message", {{"model", "test-model"}}}};
  if (s.input >= 0) start["message"]["usage"] = {{"input_tokens", s.input}, {"output_tokens", 1}};
  std::string out = event(start, "message_start") + event({{"type", "ping"}}, "ping");
  for (const std::string& d : deltas(s.text))
    out +=
        event({{"type", "content_block_delta"}, {"delta", {{"type", "text_delta"}, {"text", d}}}},
              "content_block_delta");
  json end{{"type", "message_delta"},
           {"delta", {{"stop_reason", s.finish.empty() ? "end_turn" : s.finish}}}};
  if (s.input >= 0) end["usage"] = {{"output_tokens", s.output}};
  return out + event(end, "message_delta") + event({{"type", "message_stop"}}, "message_stop");
}

std::string stream_body(const std::string& codec, const Said& said) {
  if (codec == "chat") return chat_stream(said);
  if (codec == "responses") return responses_stream(said);
  if (codec == "anthropic") return anthropic_stream(said);
  throw std::runtime_error("no codec " + codec);
}

ServerReply error_reply(int status,
                        const std::string& message,
                        std::vector<std::pair<std::string, std::string>> headers) {
  return {.status = status,
          .headers = std::move(headers),
          .pieces = {json{{"error", {{"message", message}}}}.dump()}};
}

ServerReply stream_reply(const std::string& codec, const Said& said) {
  return {.headers = {{"Content-Type", "text/event-stream"}}, .pieces = {stream_body(codec, said)}};
}

std::string prompt_of(const std::string& body) {
  const json document = json::parse(body);
  std::string out;
  const auto add = [&](const json& content) {
    if (content.is_string()) out += content.get<std::string>() + "\n";
    if (!content.is_array()) return;
    for (const json& part : content) out += part.value("text", "") + "\n";
  };
  if (document.contains("instructions")) add(document["instructions"]);
  if (document.contains("system")) add(document["system"]);
  for (const char* key : {"messages", "input"}) {
    if (!document.contains(key)) continue;
    for (const json& message : document[key]) add(message["content"]);
  }
  return out;
}

}  // namespace warpath::test
