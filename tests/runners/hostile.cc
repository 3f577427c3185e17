#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/options.h"
#include "runners/worker/process.h"
#include "runners/worker/sandbox.h"
#include "tests/support/figure.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::host;
using warpath::test::TemporaryFolder;
using warpath::test::text_of;
using warpath::testing::report_figure;
namespace fs = std::filesystem;

namespace {

const std::string kSecret = "a secret of the victim\n";

/// A listening socket that nobody may reach.
class Listener {
 public:
  Listener(int domain, int type, const void* address, socklen_t size)
      : socket_(::socket(domain, type | SOCK_CLOEXEC, 0)) {
    REQUIRE(::bind(socket_, static_cast<const sockaddr*>(address), size) == 0);
    if (type == SOCK_STREAM) REQUIRE(::listen(socket_, 16) == 0);
  }
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  [[nodiscard]] int port() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
  }
  [[nodiscard]] bool reached() const {
    pollfd wait{socket_, POLLIN, 0};
    return ::poll(&wait, 1, 0) != 0;
  }

 private:
  int socket_;
};

sockaddr_in any_port() {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}
sockaddr_un unix_name(const std::string& name, bool abstract) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  std::memcpy(out.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return out;
}

/// Everything that a hostile candidate might want: a file, listeners, another process of the same
/// user, a variable.
class Surroundings {
 public:
  Surroundings() {
    std::ofstream(victim_) << kSecret;
    REQUIRE(::setenv("WARPATH_TEST_CANARY", "sk-canary", 1) == 0);
    const sockaddr_in port = any_port();
    tcp_ = std::make_unique<Listener>(AF_INET, SOCK_STREAM, &port, sizeof port);
    udp_ = std::make_unique<Listener>(AF_INET, SOCK_DGRAM, &port, sizeof port);
    const sockaddr_un file = unix_name(stream_.string(), false), name = unix_name(abstract_, true);
    unix_ = std::make_unique<Listener>(AF_UNIX, SOCK_STREAM, &file, sizeof file);
    named_ = std::make_unique<Listener>(
        AF_UNIX, SOCK_STREAM, &name,
        static_cast<socklen_t>(sizeof(sa_family_t) + 1 + abstract_.size()));
  }
  ~Surroundings() { ::unsetenv("WARPATH_TEST_CANARY"); }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  [[nodiscard]] const fs::path& victim() const { return victim_; }
  /// What attacks.cc reads.
  [[nodiscard]] std::string facts() const {
    std::ostringstream out;
    out << victim_.string() << '\n'
        << folder_.path().string() << '\n'
        << stream_.string() << '\n'
        << abstract_ << '\n'
        << tcp_->port() << ' ' << udp_->port() << ' ' << ::getpid() << ' ' << other_.pid();
    return out.str();
  }
  /// Nothing was read, written, sent, started or killed, as far as it leaves a trace.
  void check_untouched() {
    CHECK(text_of(victim_) == kSecret);
    CHECK((fs::status(victim_).permissions() & fs::perms::others_write) == fs::perms::none);
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) ++entries;
    CHECK(entries == 2);  // the victim and the socket
    CHECK_FALSE(fs::exists("/dev/shm/warpath-hostile"));
    for (const auto* listener : {tcp_.get(), udp_.get(), unix_.get(), named_.get()})
      CHECK_FALSE(listener->reached());
    int status = 0;
    CHECK(::waitpid(other_.pid(), &status, WNOHANG) == 0);  // lives
  }

 private:
  const TemporaryFolder folder_;
  const fs::path victim_ = folder_.path() / "victim", stream_ = folder_.path() / "socket";
  const std::string abstract_ = "warpath-test-" + std::to_string(::getpid());
  std::unique_ptr<Listener> tcp_, udp_, unix_, named_;
  Child other_{ProcessSpec{.argv = {"/bin/sleep", "600"}, .environment = {}, .directory = "/"}};
};

HostOptions options() {
  HostOptions out;
  out.threads = 2;
  out.memory_mib = 1024;
  return out;
}

constexpr std::size_t kAnswerBytes = 80;

/// One launch of the entry in attacks.cc.
struct Attacked {
  bool lost = false;
  std::int64_t answer = 0, second = 0;
  std::string name;
};

class Attacker {
 public:
  explicit Attacker(std::string facts)
      : facts_(std::move(facts)), worker_("/proc/self/exe", options()) {
    facts_.resize((facts_.size() + 16) / 16 * 16, '\0');
    const std::string root = WARPATH_SOURCE_ROOT;
    object_ = (folder_.path() / "attacks.so").string();
    const auto built =
        run_process({.argv = {"g++", "-std=c++17", "-w", "-O1", "-fPIC", "-shared",
                              "-I" + root + "/runners/host/shim", "-o", object_,
                              root + "/tests/data/hostile/attacks.cc", "-ldl", "-lpthread"},
                     .environment = compiler_environment()},
                    std::chrono::seconds(60), 1 << 16);
    REQUIRE_MESSAGE(built.code == 0, built.output);
  }
  Attacked run(int which, double seconds) {
    Attacked out;
    const WorkerClient::Limit limit(seconds + 5);
    const auto loaded = worker_.load(object_, 0, limit, {});
    REQUIRE_FALSE(loaded.loss);
    REQUIRE(loaded.reply.problem == "");
    BoundArgument number, facts, answer;
    number.bytes.resize(sizeof which);
    std::memcpy(number.bytes.data(), &which, sizeof which);
    number.role = ArgRole::scalar;
    number.size_bytes = sizeof which;
    facts.is_tensor = answer.is_tensor = true;
    const auto text = std::as_bytes(std::span(facts_));
    facts.bytes.assign(text.begin(), text.end());
    facts.size_bytes = facts_.size();
    answer.role = ArgRole::output;
    answer.dtype = DType::u8;
    answer.size_bytes = kAnswerBytes;
    REQUIRE_FALSE(worker_.bind({number, facts, answer}, limit, {}));
    const auto end = worker_.launch(
        {.numbers = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_smem_bytes = 0}, .seed = 1},
        WorkerClient::Limit(seconds), {});
    if (end.loss || end.reply.outputs.empty() || end.reply.outputs[0].size() != kAnswerBytes)
      return out.lost = true, worker_.reset(), out;
    const auto& bytes = end.reply.outputs[0];
    std::memcpy(&out.answer, bytes.data(), 8);
    std::memcpy(&out.second, bytes.data() + 8, 8);
    out.name = std::string(reinterpret_cast<const char*>(bytes.data()) + 8, 64).c_str();
    return out;
  }
  [[nodiscard]] const Sandbox& sandbox() { return worker_.sandbox(); }

 private:
  const TemporaryFolder folder_;
  std::string facts_, object_;
  WorkerClient worker_;
};

/// A kernel k(const float* x, float* y, int n) whose body is `statements`, behind `before`.
std::string source_of(const std::string& before, const std::string& statements) {
  return before + "\nextern \"C\" __global__ void k(const float* x, float* y, int n) { " +
         statements + " }\n";
}

}  // namespace

TEST_SUITE_BEGIN("hostile");

TEST_CASE("machine code of a candidate can compute and nothing else") {
  Surroundings around;
  Attacker attacker(around.facts());
  if (!attacker.sandbox().missing().empty()) {
    MESSAGE("skipped: this kernel does not offer ", attacker.sandbox().missing());
    return;
  }
  const Attacked counted = attacker.run(-1, 5);
  REQUIRE(counted.answer > 90);
  const auto count = static_cast<int>(counted.answer), ending = static_cast<int>(counted.second);
  std::uint64_t reached = 0;
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    const bool ends = i >= count - ending;
    const Attacked got = attacker.run(i, ends ? 0.5 : 10);
    CAPTURE(got.name);
    CAPTURE(got.answer);
    const bool refused = got.lost || got.answer < 0;
    CHECK(refused);
    if (!ends) CHECK_FALSE(got.lost);
    if (!refused) ++reached;
  }
  around.check_untouched();
  CHECK(attacker.run(-1, 5).answer == count);  // and the next candidate is served
  report_figure("hostile_attacks", static_cast<std::uint64_t>(count));
  report_figure("hostile_attacks_reached", reached);
}

TEST_CASE("hostile sources are refused by their text or by what they import") {
  const Compiler compiler(options());
  struct Row {
    std::string before, statements;
    Status status;
    const char* log;
  };
  const std::string use = "y[n] = static_cast<float>(reinterpret_cast<long>(&";
  std::vector<Row> rows{
      {"__attribute__((section(\".text\"))) const unsigned char code[] = {0xc3};",
       "reinterpret_cast<void (*)()>(code)();", Status::rejected, "'section'"},
      {"const unsigned char code[] __attribute((__section__(\".text\"))) = {0xc3};", "",
       Status::rejected, "'__section__'"},
      {"[[gnu::section(\".text\")]] const unsigned char code[] = {0xc3};", "", Status::rejected,
       "'section'"},
      {"#define S section(\".text\")\n__attribute__((aligned(16), S)) const unsigned char code[] = "
       "{0xc3};",
       "", Status::rejected, "'S'"},
      {"__attribute__((constructor)) void first() {}", "", Status::rejected, "'constructor'"},
      {"[[gnu::constructor]] void first() {}", "", Status::rejected, "'constructor'"},
      {"[[using gnu: used, destructor]] void last() {}", "", Status::rejected, "'destructor'"},
      {"extern \"C\" void* choose(); extern \"C\" void f() __attribute__((ifunc(\"choose\")));", "",
       Status::rejected, "'ifunc'"},
      {"extern \"C\" int shell(const char*) __attribute__((alias(\"system\")));", "",
       Status::rejected, "'alias'"},
      {"extern \"C\" int shell(const char*) __attribute__((weakref(\"system\")));", "",
       Status::rejected, "'weakref'"},
      {"extern \"C\" int shell(const char*) __attribute__((weak));", "", Status::rejected,
       "'weak'"},
      {"__attribute__((naked)) void f() {}", "", Status::rejected, "'naked'"},
      {"void undo(int*); ", "int z __attribute__((cleanup(undo))) = 0;", Status::rejected,
       "'cleanup'"},
      {"__attribute__((target(\"avx512f\"))) void f() {}", "", Status::rejected, "'target'"},
      {"__attribute__((section(\".x\\n.incbin \\\"/etc/passwd\\\"\\n#\"))) int z = 1;", "",
       Status::rejected, "'section'"},
      {"#define A __attribute__\nA((constructor)) void first() {}", "", Status::rejected,
       "attribute"},
      {"", "y[0] = *static_cast<float*>(__builtin_return_address(0));", Status::rejected,
       "__builtin_return_address"},
      {"", "y[0] = *static_cast<float*>(__builtin_frame_address(0));", Status::rejected,
       "__builtin_frame_address"},
      {"", "__builtin_longjmp(reinterpret_cast<void**>(y), 1);", Status::rejected,
       "__builtin_longjmp"},
      {"", "asm volatile(\"syscall\");", Status::not_applicable, "inline PTX"},
      {"extern \"C\" int shell(const char*) __asm__(\"system\");", "shell(\"id\");",
       Status::not_applicable, "inline PTX"},
      {"struct Early { Early() { for (volatile int i = 0; i < 3; i = i + 1) {} } }; Early early;",
       "", Status::rejected, "loaded"},
      {"__device__ int f(int n); static int g = f(3); __device__ __noinline__ int f(int n) { "
       "volatile int m = n; return m; }",
       "y[0] = g;", Status::rejected, "loaded"},
  };
  // Functions and objects of the C library by their names.
  for (const char* const name :
       {"__cxa_finalize", "open",   "read",        "socket",     "connect", "send",
        "fork",           "execve", "posix_spawn", "popen",      "kill",    "ptrace",
        "unlink",         "rename", "mmap",        "mprotect",   "dlopen",  "dlsym",
        "syscall",        "signal", "sigaction",   "setjmp",     "longjmp", "pthread_create",
        "shm_open",       "_exit",  "abort",       "printf_chk", "fopen",   "gethostbyname",
        "io_uring_setup"})
    rows.push_back({std::string("extern \"C\" void ") + name + "();", use + name + "));",
                    Status::rejected, name});
  rows.push_back({"", "y[0] = *getenv(\"HOME\");", Status::rejected, "'getenv'"});
  rows.push_back({"", "y[0] = system(\"id\");", Status::rejected, "'system'"});
  rows.push_back({"extern \"C\" char** environ;", use + "environ));", Status::rejected, "environ"});

  for (const Row& row : rows) {
    CAPTURE(row.before);
    CAPTURE(row.statements);
    CompileJob job;
    job.source = source_of(row.before, row.statements);
    job.kernels = {"k"};
    const Compiled compiled = compiler.compile(job);
    CAPTURE(compiled.log);
    CHECK(name(compiled.status) == name(row.status));
    CHECK(compiled.log.find(row.log) != std::string::npos);
  }
  report_figure("hostile_sources", rows.size());
}

TEST_CASE("words put together by the preprocessor get past the text, and reach nothing") {
  Surroundings around;
  const Compiler compiler(options());
  const std::string attribute =
      "#define J(a, b) J2(a, b)\n#define J2(a, b) a##b\n#define A J(__attri, bute__)\n";
  const std::string victim = around.victim().string();
  std::string path;
  for (const char c : victim) path += std::to_string(static_cast<int>(c)) + ", ";
  const std::vector<std::string> sources{
      // The assembler is asked for the victim's text.
      source_of(
          attribute + "A((sec##tion(\".x\\n.incbin \\\"" + victim + "\\\"\\n#\"))) int z = 1;",
          "y[0] = z;"),
      source_of(attribute + "A((J(sec, tion)(\".x\\n.incbin \\\"" + victim +
                    "\\\"\\n#\"), used)) int z = 1;",
                "y[0] = z;"),
      source_of(attribute + "A((J(sec, tion)(\".x\\n.include \\\"" + victim +
                    "\\\"\\n#\"), used)) int z = 1;",
                "y[0] = z;"),
      // Machine code among the instructions removes the victim.
      source_of(attribute + "static const char path[] = {" + path +
                    "0};\nA((J(sec, tion)(\".text#\"), aligned(16))) const unsigned char code[] = "
                    "{0xb8, 87, 0, 0, 0, 0x0f, 0x05, 0xc3};",
                "y[0] = static_cast<float>(reinterpret_cast<long (*)(const "
                "char*)>(reinterpret_cast<unsigned long>(code))(path));"),
      // The same before the kernel runs.
      source_of(attribute + "A((J(construc, tor))) void first() { for (;;) {} }", "y[0] = 1;"),
  };
  WorkerClient worker("/proc/self/exe", options());
  std::size_t ran = 0;
  for (const std::string& source : sources) {
    CAPTURE(source);
    CompileJob job;
    job.source = source;
    job.kernels = {"k"};
    const Compiled compiled = compiler.compile(job);
    CAPTURE(compiled.log);
    if (compiled.status != Status::ok) continue;
    CHECK(text_of(compiled.object_path).find(kSecret.substr(0, 20)) == std::string::npos);
    const WorkerClient::Limit limit(5);
    const auto loaded = worker.load(compiled.object_path, 0, limit, {});
    REQUIRE_FALSE(loaded.loss);
    BoundArgument x, y, n;
    x.is_tensor = y.is_tensor = true;
    y.role = ArgRole::output;
    n.role = ArgRole::scalar;
    x.bytes.resize(64);
    x.size_bytes = y.size_bytes = 64;
    n.bytes.resize(4);
    n.size_bytes = 4;
    REQUIRE_FALSE(worker.bind({x, y, n}, limit, {}));
    const auto end = worker.launch(
        {.numbers = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_smem_bytes = 0}, .seed = 1},
        limit, {});
    worker.reset();
    ++ran;
    if (end.loss || end.reply.outputs.empty()) continue;
    float answer = 0;
    std::memcpy(&answer, end.reply.outputs[0].data(), sizeof answer);
    CHECK(answer < 0);
  }
  CHECK(ran >= 1);  // the machine code did run
  around.check_untouched();
}

TEST_CASE("a confined compiler reads headers and its own parts, and no other file") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "victim") << kSecret;
  const Compiler compiler(options());
  if (!compiler.sandbox().missing().empty()) {
    MESSAGE("skipped: compilers are held by ", compiler.sandbox().summary());
    return;
  }
  const ProgramSandbox sandbox(
      {.read = {"/usr/lib", "/lib", "/lib64"},
       .execute = {"/bin", "/usr/bin", "/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"},
       .write = {"/dev/null"}});
  const auto shell = [&](const std::string& script, const ProgramSandbox* held) {
    return run_process({.argv = {"sh", "-c", script},
                        .environment = compiler_environment(),
                        .directory = folder.path().string(),
                        .sandbox = held},
                       std::chrono::seconds(20), 1 << 16);
  };
  CHECK(shell("cat victim", nullptr).output == kSecret);
  const auto read = shell("cat victim; echo $?", &sandbox);
  CHECK(read.output.find("secret") == std::string::npos);
  CHECK(read.output.find("1\n") != std::string::npos);
  CHECK(shell("echo x > victim && echo wrote", &sandbox).output.find("wrote") == std::string::npos);
  CHECK(shell("rm -f victim && echo removed", &sandbox).output.find("removed") ==
        std::string::npos);
  CHECK(shell("kill -0 " + std::to_string(::getpid()) + " && echo reached", &sandbox)
            .output.find("reached") == std::string::npos);
  CHECK(shell("cat /proc/" + std::to_string(::getpid()) + "/environ", &sandbox)
            .output.find("PATH=") == std::string::npos);
  CHECK(text_of(folder.path() / "victim") == kSecret);
}

TEST_SUITE_END();
