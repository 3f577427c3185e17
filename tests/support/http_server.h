#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace warpath::test {

/// A request as the server read it; names of headers in lower case.
struct ReceivedRequest {
  std::size_t number = 0;  ///< from 0, in the order of arrival
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  [[nodiscard]] std::string header(const std::string& name) const;
};

/// What the server does with one request.
struct ServerReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::vector<std::string> pieces{};  ///< of the body, each sent by itself
  bool chunked = true;                ///< else the connection's end ends the body
  enum class End : unsigned char {
    close,  ///< as HTTP has it
    cut,    ///< the connection goes away without the last chunk
    stall,  ///< nothing more is said until the client leaves
  } end = End::close;
  bool silent = false;  ///< not even a status line; then as `end` says
};

/// A real HTTP/1.1 server on a free loopback port, a thread a connection. The handler is called by
/// several threads at once.
class HttpServer {
 public:
  using Handler = std::function<ServerReply(const ReceivedRequest&)>;
  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
  }
  [[nodiscard]] std::vector<ReceivedRequest> requests() const;
  [[nodiscard]] std::size_t most_at_once() const { return most_; }

 private:
  void accept_all();
  void serve(int socket);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> over_{false};
  std::atomic<std::size_t> now_{0}, most_{0};
  mutable std::mutex mutex_;
  std::vector<ReceivedRequest> requests_;  // guarded by mutex_
  std::vector<std::thread> threads_;       // guarded by mutex_
  std::vector<int> sockets_;               // guarded by mutex_; of connections under way
  std::thread acceptor_;
};

// Bodies that say `text`, whole or as streams, in the three formats. `input` and `output`: usage;
// negative: none is said.
struct Said {
  std::string text;
  std::int64_t input = 100, output = 20;
  std::string finish = "";  ///< the format's own word for a normal end if empty
};
[[nodiscard]] std::string chat_whole(const Said& said);
[[nodiscard]] std::string chat_stream(const Said& said);
[[nodiscard]] std::string responses_whole(const Said& said);
[[nodiscard]] std::string responses_stream(const Said& said);
[[nodiscard]] std::string anthropic_whole(const Said& said);
[[nodiscard]] std::string anthropic_stream(const Said& said);
/// By codec name.
[[nodiscard]] std::string stream_body(const std::string& codec, const Said& said);
/// An error as every format writes it.
[[nodiscard]] ServerReply error_reply(
    int status,
    const std::string& message,
    std::vector<std::pair<std::string, std::string>> headers = {});
[[nodiscard]] ServerReply stream_reply(const std::string& codec, const Said& said);
/// The text of all messages of a request body, whatever its format.
[[nodiscard]] std::string prompt_of(const std::string& body);

}  // namespace warpath::test
