#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine/base/error.h"
#include "priors/llm/transport.h"

namespace warpath::llm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLongestPoll{200};

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string url_part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  std::string out = text;
  curl_free(text);
  return out;
}

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  if (!host.starts_with("127.")) return false;
  return host.find_first_not_of("0123456789.") == std::string::npos &&
         std::ranges::count(host, '.') == 3;
}

/// Empty, or why the address may not be asked. `loopback`: it is this machine's.
std::string address_problem(const std::string& text, bool& loopback) {
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  if (url == nullptr || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
    return "no address: " + text;
  loopback = is_loopback(url_part(url.get(), CURLUPART_HOST));
  const std::string scheme = url_part(url.get(), CURLUPART_SCHEME);
  if (!url_part(url.get(), CURLUPART_USER).empty() ||
      !url_part(url.get(), CURLUPART_PASSWORD).empty())
    return "an address with a user in it";
  if (scheme == "https" || (scheme == "http" && loopback)) return "";
  return scheme + " to another machine: https is needed";
}

HttpFailure failure_of(CURLcode code) {
  constexpr std::array kPassing{CURLE_COULDNT_RESOLVE_PROXY,
                                CURLE_COULDNT_RESOLVE_HOST,
                                CURLE_COULDNT_CONNECT,
                                CURLE_WEIRD_SERVER_REPLY,
                                CURLE_PARTIAL_FILE,
                                CURLE_GOT_NOTHING,
                                CURLE_SEND_ERROR,
                                CURLE_RECV_ERROR,
                                CURLE_HTTP2,
                                CURLE_HTTP2_STREAM,
                                CURLE_SSL_CONNECT_ERROR,
                                CURLE_AGAIN,
                                CURLE_BAD_CONTENT_ENCODING,
                                CURLE_WRITE_ERROR};
  if (code == CURLE_OPERATION_TIMEDOUT) return HttpFailure::timed_out;
  return std::ranges::find(kPassing, code) != kPassing.end() ? HttpFailure::transfer
                                                             : HttpFailure::forbidden;
}

/// One request under way.
class Transfer {
 public:
  Transfer(HttpRequest request, std::function<void(HttpResult)> done)
      : request_(std::move(request)), done_(std::move(done)) {
    result_.id = request_.id;
  }

  /// False: it ended before it began.
  bool begin() {
    bool loopback = false;
    if (const std::string problem = address_problem(request_.url, loopback); !problem.empty()) {
      stop(HttpFailure::forbidden, problem);
      return false;
    }
    easy_.reset(curl_easy_init());
    if (easy_ == nullptr) {
      stop(HttpFailure::transfer, "libcurl has no handle");
      return false;
    }
    curl_slist* list = nullptr;
    for (const auto& [name, value] : request_.headers)
      list = curl_slist_append(list, (name + ": " + value).c_str());
    list = curl_slist_append(list, "Expect:");
    list_.reset(list);
    CURL* const h = easy_.get();
    curl_easy_setopt(h, CURLOPT_PRIVATE, this);
    curl_easy_setopt(h, CURLOPT_URL, request_.url.c_str());
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, loopback ? "http,https" : "https");
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(h, CURLOPT_POST, 1L);
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(h, CURLOPT_POSTFIELDS, request_.body.c_str());
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, list_.get());
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(request_.limits.connect.count()));
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, error_.data());
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, this);
    if (loopback) curl_easy_setopt(h, CURLOPT_NOPROXY, "*");
    if (const char* bundle = std::getenv("SSL_CERT_FILE"); bundle != nullptr && *bundle != '\0')
      curl_easy_setopt(h, CURLOPT_CAINFO, bundle);
    begin_ = last_ = Clock::now();
    return true;
  }

  [[nodiscard]] CURL* handle() const { return easy_.get(); }
  [[nodiscard]] std::uint64_t id() const { return request_.id; }

  /// libcurl says that it is over.
  void finish(CURLcode code) {
    if (stopped_) return;  // it said so because a callback stopped it
    if (code == CURLE_OK) return stop(HttpFailure::none, "");
    stop(failure_of(code), error_[0] != '\0' ? error_.data() : curl_easy_strerror(code));
  }
  void cancel() { stop(HttpFailure::cancelled, "cancelled"); }

  /// Ends the transfer if a limit has passed.
  void check_limits(Clock::time_point now) {
    if (stopped_) return;
    const auto say = [&](const char* what, milliseconds limit) {
      stop(HttpFailure::timed_out,
           std::string(what) + " for " + std::to_string(limit.count()) + " ms");
    };
    if (now - begin_ > request_.limits.total) return say("no end", request_.limits.total);
    if (!began_ && now - begin_ > request_.limits.first_byte)
      return say("no answer", request_.limits.first_byte);
    if (began_ && now - last_ > request_.limits.idle) return say("silence", request_.limits.idle);
  }
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Gives the result away; once, at the end.
  void report() {
    if (easy_ != nullptr) {
      curl_off_t sent = 0;
      if (curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &sent) == CURLE_OK)
        result_.sent = sent > 0 || result_.status != 0;
      result_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    done_(std::move(result_));
  }

 private:
  void stop(HttpFailure failure, const std::string& detail) {
    if (stopped_) return;
    stopped_ = true;
    result_.failure = failure;
    result_.detail = detail;
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Transfer*>(self)->body(std::string_view(data, size * count));
  }
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    static_cast<Transfer*>(self)->header(std::string_view(data, size * count));
    return size * count;
  }

  std::size_t body(std::string_view piece) {
    if (stopped_) return 0;
    began_ = true;
    last_ = Clock::now();
    if (result_.body.size() + piece.size() > request_.limits.max_response_bytes) {
      stop(HttpFailure::too_large, "an answer of more than " +
                                       std::to_string(request_.limits.max_response_bytes) +
                                       " bytes");
      return 0;
    }
    result_.body += piece;
    result_.pieces.emplace_back(std::chrono::duration<double>(last_ - begin_).count(),
                                piece.size());
    if (request_.ended && result_.status / 100 == 2 && request_.ended(piece)) {
      stop(HttpFailure::none, "");
      return 0;
    }
    return piece.size();
  }

  void header(std::string_view line) {
    began_ = true;
    last_ = Clock::now();
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
      result_.headers.clear();  // of an interim response
      const std::size_t blank = line.find(' ');
      result_.status = blank == std::string_view::npos
                           ? 0
                           : std::atoi(std::string(line.substr(blank + 1, 3)).c_str());
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    result_.headers.emplace_back(std::move(name), std::string(value));
  }

  HttpRequest request_;
  std::function<void(HttpResult)> done_;
  std::unique_ptr<CURL, EasyDeleter> easy_;
  std::unique_ptr<curl_slist, ListDeleter> list_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  HttpResult result_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool began_ = false;
  bool stopped_ = false;
};

class CurlTransport final : public Transport {
 public:
  CurlTransport() : multi_(curl_multi_init()) {
    if (multi_ == nullptr) throw environment_error("libcurl has no multi handle");
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport() override {
    thread_.request_stop();
    curl_multi_wakeup(multi_);
    thread_.join();
    for (auto& [id, transfer] : active_) curl_multi_remove_handle(multi_, transfer->handle());
    active_.clear();
    curl_multi_cleanup(multi_);
  }

  void send(HttpRequest request, std::function<void(HttpResult)> done) override {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::make_unique<Transfer>(std::move(request), std::move(done)));
    curl_multi_wakeup(multi_);
  }
  void cancel(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(id);
    curl_multi_wakeup(multi_);
  }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      take_orders();
      int running = 0;
      curl_multi_perform(multi_, &running);
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        Transfer* transfer = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer->finish(message->data.result);
        over_.insert(transfer->id());
      }
      const auto now = Clock::now();
      for (auto& [id, transfer] : active_) {
        transfer->check_limits(now);
        if (transfer->stopped()) over_.insert(id);
      }
      for (const std::uint64_t id : over_) end(id);
      over_.clear();
      curl_multi_poll(multi_, nullptr, 0, static_cast<int>(kLongestPoll.count()), nullptr);
    }
  }

  void take_orders() {
    std::vector<std::unique_ptr<Transfer>> arrived;
    std::set<std::uint64_t> cancelled;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
      cancelled.swap(cancelled_);
    }
    for (auto& transfer : arrived) {
      if (!transfer->begin()) {
        transfer->report();
        continue;
      }
      curl_multi_add_handle(multi_, transfer->handle());
      active_.emplace(transfer->id(), std::move(transfer));
    }
    for (const std::uint64_t id : cancelled) {
      if (const auto it = active_.find(id); it != active_.end()) {
        it->second->cancel();
        over_.insert(id);
      }
    }
  }

  void end(std::uint64_t id) {
    const auto it = active_.find(id);
    if (it == active_.end()) return;
    curl_multi_remove_handle(multi_, it->second->handle());
    const std::unique_ptr<Transfer> transfer = std::move(it->second);
    active_.erase(it);
    transfer->report();
  }

  CURLM* multi_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Transfer>> arrived_;             // guarded by mutex_
  std::set<std::uint64_t> cancelled_;                          // guarded by mutex_
  std::map<std::uint64_t, std::unique_ptr<Transfer>> active_;  // of the thread
  std::set<std::uint64_t> over_;                               // of the thread
  std::jthread thread_;
};

}  // namespace

std::string_view HttpResult::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string address_problem(const std::string& url) {
  bool loopback = false;
  return address_problem(url, loopback);
}

std::unique_ptr<Transport> make_curl_transport() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK)
    throw environment_error(std::string("libcurl: ") + curl_easy_strerror(started));
  return std::make_unique<CurlTransport>();
}

}  // namespace warpath::llm
