#include <doctest/doctest.h>
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "tests/experiments/program.h"
#include "tests/support/browser.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;
using test::Browser;

namespace {

/// What a kernel's text may contain, and a page must not take for its own.
constexpr const char* kHostile =
    "// </script><script>document.title='taken'</script><!-- &amp; ' \" \\ \u00e9\n";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run of one build on the synthetic landscape, then a log in its place that has as many variants
/// as wanted: every third found on the one before, the others on the baseline; every fifth refused.
class LongRun {
 public:
  explicit LongRun(std::uint32_t nodes) {
    REQUIRE(run_program({"run", "--input", (source_root() / "specs/softmax_scaled.json").string(),
                         "--runner", "synthetic", "--outdir", out_.path().string(),
                         "--budget-builds", "1", "--finalists", "0"})
                .code != 64);
    std::filesystem::remove(folder() / "search_state.json");
    EventReader log(folder() / "events.jsonl");
    const std::string first = *log.next();
    while (const auto object = log.next()) {
      const Event event = decode(*object, log.place());
      if (const auto* const baseline = std::get_if<BaselineEvent>(&event)) baseline_ = *baseline;
    }
    writer_.emplace(EventWriter::create(folder() / "events.jsonl", first, SyncRule::never));
    writer_->append(encode(SessionEvent{.at = 1.7e9}), false);
    writer_->append(encode(baseline_), false);
    for (std::uint32_t i = 1; i < nodes; ++i) add();
  }

  void add() {
    const std::uint32_t i = ++count_;
    DispatchEvent dispatch;
    dispatch.sequence = i - 1;
    dispatch.node = NodeId{i};
    dispatch.parent = NodeId{i % 3 == 0 ? i - 1 : 0};
    dispatch.key = Hash128{.high = 0x1234567800000000U + i, .low = i};
    dispatch.instance = {
        .move = "unroll_loops", .site = "loop:" + std::to_string(i), .parameters = {}};
    dispatch.source = "rules";
    dispatch.path = {NodeId{0}, NodeId{i}};
    dispatch.change.source = kHostile + ("int variant_" + std::to_string(i)) + ";\nint last;\n";
    writer_->append(encode(dispatch), false);
    OutcomeEvent outcome{
        .sequence = dispatch.sequence, .outcome = baseline_.outcome, .at = 0, .seconds = 0.01 * i};
    if (i % 5 == 0) {
      outcome.outcome.status = Status::wrong_result;
      outcome.outcome.timings.clear();
      outcome.outcome.verdict.gates = {{"reference", GateResult::Answer::fail, "off by 1"}};
    } else {
      for (WorkloadTiming& timing : outcome.outcome.timings)
        for (double& ns : timing.samples_ns) ns /= 1.05 + 0.0001 * i;
    }
    writer_->append(encode(outcome), false);
  }

  [[nodiscard]] std::filesystem::path folder() const { return out_ / "kernels/softmax_scaled"; }
  [[nodiscard]] std::filesystem::path outdir() const { return out_.path(); }

 private:
  TemporaryFolder out_;
  BaselineEvent baseline_;
  std::optional<EventWriter> writer_;
  std::uint32_t count_ = 0;
};

std::string page_of(const LongRun& run) {
  const ProgramResult report = run_program({"report", run.folder().string()});
  REQUIRE_MESSAGE(report.code == 0, report.err);
  return read_file(run.folder() / "report.html");
}

/// Where a variant is drawn, in pixels of the window.
json place_of(Browser& browser, int node) {
  return browser.value(
      "(() => { const box = graph.canvas.getBoundingClientRect(), k = graph.zoom.scale(), [l, t] = "
      "graph.zoom.translate(); return [box.left + graph.at.x[" +
      std::to_string(node) + "] * k + l, box.top + graph.at.y[" + std::to_string(node) +
      "] * k + t]; })()");
}

}  // namespace

TEST_SUITE_BEGIN("pages");

TEST_CASE("the page is one file that loads nothing, and no text of a kernel becomes markup") {
  const LongRun run(40);
  const std::string page = page_of(run);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.ends_with("</body></html>\n"));
  CHECK_FALSE(contains(page, "<script src"));
  CHECK_FALSE(contains(page, "<link rel=\"stylesheet"));
  CHECK_FALSE(contains(page, "<script>document.title"));
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(opening) + opening.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  CHECK(data.at("nodes").size() == 40);
  const json texts = data.at("texts");
  const json second = data.at("nodes")[1][1];
  CHECK(contains(texts.at(second.at("diff").get<std::size_t>()), kHostile));
  for (const char* const part :
       {"<h1>softmax_scaled</h1>", "device", "revision", "budget", "./warpath run --input",
        "<h2>Path</h2>", "<h2>What was tried</h2>", "<h2>What was refused</h2>", "reference",
        "<h2>Where the seconds went</h2>", "<h2>Environment</h2>"}) {
    CAPTURE(part);
    CHECK(contains(page, part));
  }
}

TEST_CASE("steps that gained nothing are behind a fold, the others in the path") {
  const LongRun run(4);  // the best is 3, found on 2, over which it gains 0.01 %
  const std::string text = run_program({"report", run.folder().string()}).out;
  CAPTURE(text);
  CHECK(contains(text, "2 steps from the baseline to the best kernel, 1 of which gained nothing"));
  const auto fold = text.find("Steps that gained nothing by themselves: 1");
  REQUIRE(fold != std::string::npos);
  CHECK(text.find("unroll_loops@loop:2") < fold);
  CHECK(text.find("unroll_loops@loop:3") > fold);
  const std::string page = page_of(run);
  const auto details = page.find("<details>");
  CHECK(page.find("<td>unroll_loops@loop:3</td>") > details);
  CHECK(page.find("<td>unroll_loops@loop:3</td>") < page.find("</details>"));
}

TEST_CASE("a page of several runs has a table of them, which leads to their pages") {
  const LongRun run(10);
  const ProgramResult report = run_program({"report", run.outdir().string()});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK(contains(report.out, "| softmax_scaled |"));
  CHECK(contains(read_file(run.outdir() / "report.html"),
                 "<a href=\"kernels/softmax_scaled/report.html\">softmax_scaled</a>"));
  CHECK(std::filesystem::exists(run.folder() / "report.html"));
  CHECK(run_program({"report", run.folder().string(), run.folder().string()}).code == 64);
  CHECK(run_program({"report", run.folder().string(), "--output", "x.html"}).code == 64);
}

TEST_CASE("a live page answers nobody but this machine, and ends with Ctrl-C") {
  const LongRun run(20);
  RunningProgram server({"watch", run.folder().string()});
  REQUIRE(server.wait_until([&] { return contains(server.out(), "http://127.0.0.1:"); }));
  const std::string address = server.out().substr(0, server.out().find('\n'));
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  httplib::Client client("127.0.0.1", port);
  const auto page = client.Get("/");
  REQUIRE(page);
  CHECK(page->status == 200);
  CHECK(contains(page->body, "<h1>softmax_scaled</h1>"));
  const auto news = client.Get("/events?after=0");
  REQUIRE(news);
  CHECK(json::parse(news->body).at("run").at("nodes").size() == 20);
  CHECK(client.Get("/events?after=x")->status == 400);
  CHECK(client.Get("/events.jsonl")->status == 404);
  CHECK(client.Post("/", "", "text/plain")->status == 404);
  CHECK(client.Get("/", {{"Host", "elsewhere.example:" + std::to_string(port)}})->status == 403);

  CHECK(run_program({"watch", run.folder().string(), "--port", std::to_string(port)}).code == 3);
  server.signal(SIGINT);
  const ProgramResult ended = server.finish(10);
  CHECK(ended.code == 0);
  CHECK(run_program({"watch", run.outdir().string()}).code == 64);
  CHECK(run_program({"watch", run.folder().string(), "--port", "70000"}).code == 64);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("browser");

TEST_CASE("at 10 000 variants the page loads in seconds, and a click on one shows its source") {
  const LongRun run(10000);
  static_cast<void>(page_of(run));
  Browser browser(1200, 1000);
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(browser.open("file://" + (run.folder() / "report.html").string()));
  REQUIRE(browser.wait_until("typeof graph !== 'undefined' && graph.at !== undefined"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  MESSAGE("loaded in " << took.count() << " s");
  CHECK(took.count() < 15);
  CHECK(browser.value("run.nodes.length") == 10000);

  const int node = 4002;
  static_cast<void>(
      browser.value("page.choose(0); graph.by(40); graph.centre(4002); "
                    "graph.canvas.scrollIntoView({block: 'center'})"));
  const json place = place_of(browser, node);
  browser.click(place[0].get<double>(), place[1].get<double>());
  REQUIRE(browser.wait_until("graph.chosen === 4002"));
  CHECK(
      contains(browser.value("document.getElementById('node').textContent"), "int variant_4002;"));
  CHECK(browser.value("document.querySelectorAll('#node td.added').length > 0") == true);
  static_cast<void>(browser.value("document.getElementById('tab_source').click()"));
  const std::string source =
      browser.value("document.querySelector('#node pre.source').textContent");
  CHECK(source == kHostile + std::string("int variant_4002;\nint last;\n"));
  static_cast<void>(browser.value("document.getElementById('tab_verdict').click()"));
  CHECK(contains(browser.value("document.getElementById('node').textContent"), "pass"));

  static_cast<void>(browser.value("document.getElementById('search').focus()"));
  browser.type("reference loop:4005");
  CHECK(browser.wait_until("graph.hits.size === 1 && graph.hits.has(4005)"));
  static_cast<void>(browser.value("document.querySelector('#results button').click()"));
  CHECK(browser.value("graph.chosen") == 4005);
  CHECK(contains(browser.value("document.getElementById('node').textContent"),
                 "refused by reference"));
  CHECK(browser.value("document.title") != "taken");
  CHECK_MESSAGE(browser.problems().empty(), browser.problems().front());
}

TEST_CASE("a table sorts by a click on its heading, and once more the other way") {
  const LongRun run(10);
  REQUIRE(run_program({"report", run.outdir().string()}).code == 0);
  static_cast<void>(page_of(run));
  Browser browser;
  REQUIRE(browser.open("file://" + (run.folder() / "report.html").string()));
  static_cast<void>(browser.value(
      "document.body.insertAdjacentHTML('beforeend', '<table id=t class=sorted><tr><th>n</th></tr>"
      "<tr><td>10x</td></tr><tr><td>9x</td></tr><tr><td>-</td></tr></table>'); "
      "page.sortable(document.getElementById('t')); document.querySelector('#t th').click()"));
  CHECK(browser.value("document.getElementById('t').innerText.split(/\\s+/).join(' ')") ==
        "n 9x 10x -");
  static_cast<void>(browser.value("document.querySelector('#t th').click()"));
  CHECK(contains(browser.value("document.getElementById('t').innerText.split(/\\s+/).join(' ')"),
                 "10x 9x"));
  CHECK(browser.problems().empty());
}

TEST_CASE("a live page grows with the log") {
  LongRun run(20);
  RunningProgram server({"watch", run.folder().string()});
  REQUIRE(server.wait_until([&] { return contains(server.out(), "http://127.0.0.1:"); }));
  Browser browser;
  REQUIRE(browser.open(server.out().substr(0, server.out().find('\n'))));
  REQUIRE(browser.wait_until("typeof graph !== 'undefined' && graph.at !== undefined"));
  CHECK(browser.value("run.nodes.length") == 20);
  run.add();
  CHECK(browser.wait_until("run.nodes.length === 21 && graph.at.x.length === 21"));
  CHECK_MESSAGE(browser.problems().empty(), browser.problems().front());
}

TEST_SUITE_END();
