#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runners/cuda/compile/availability.h"
#include "tests/experiments/program.h"
#include "tests/support/figure.h"

using namespace warpath::testing;
using Words = std::vector<std::string>;

namespace {

/// Everything below `folder`, for comparing before and after.
std::vector<std::string> listing(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

void check_refused(const Words& words, int code, const std::string& expected) {
  CAPTURE(expected);
  const ProgramResult result = run_program(words);
  CAPTURE(result.err);
  CHECK(result.code == code);
  CHECK(result.out == "");
  CHECK(lines_of(result.err).size() == 1);
  CHECK(result.err.starts_with("warpath: "));
  CHECK(result.err.find(expected) != std::string::npos);
}

}  // namespace

TEST_SUITE_BEGIN("bad_usage");

TEST_CASE(
    "bad usage is refused by one line that names it, with exit code 64, and nothing is written") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  const std::string file = folder / "file", empty = folder / "empty",
                    config = folder / "config.json";
  const std::string broken = folder / "broken.json", readable = folder / "key",
                    twice = folder / "twice.json", out = folder / "out";
  write_file(file, "not a folder");
  write_file(config, R"({"run": {"seeds": 1}})");
  write_file(broken, R"({"name": "x", "kernel": )");
  write_file(twice, read_file(spec));
  write_file(readable, "sk-others-may-read-this");
  std::filesystem::permissions(readable, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  std::filesystem::create_directory(empty);
  const std::string key = folder / "own_key";
  write_file(key, "sk-mine");
  std::filesystem::permissions(
      key, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto run = [&](Words more) {
    Words words{"run", "--runner", "synthetic", "--outdir", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::pair<Words, std::string>> table{
      {{"rnu"}, "did you mean run?"},
      {{"--frobnicate"}, "--frobnicate"},
      {{"options", "extra"}, "extra"},
      {{"options", "--jsno"}, "did you mean --json?"},
      {{"validate"}, "FILE"},
      {{"inspect"}, "RUN"},
      {{"worker", "nothing"}, "nothing"},
      {run({}), "--input"},
      {run({"--input"}), "--input"},
      {run({"--input", folder / "absent.json"}), "absent.json"},
      {run({"--input", empty}), "empty"},
      {run({"--input", broken}), "broken.json"},
      {run({"--input", spec, spec}), "softmax_scaled"},
      {run({"--input", spec, "--seed", "x"}), "--seed"},
      {run({"--input", spec, "--seed", "1", "--seed", "2"}), "--seed again"},
      {run({"--input", spec, "--budget-builds", "0"}), "--budget-builds"},
      {run({"--input", spec, "--budget-seconds", "-1"}), "--budget-seconds"},
      {run({"--input", spec, "--budget-gpu-seconds", "-1"}), "--budget-gpu-seconds"},
      {run({"--input", spec, "--until", "1.5"}), "--until"},
      {run({"--input", spec, "--until", "0.9"}), "a runner that times a GPU"},
      {run({"--input", spec, "--set", "search.c_put=1"}), "search/c_put"},
      {run({"--input", spec, "--set", "search.selection=none"}), "none"},
      {run({"--input", spec, "--set", "search.backup=none"}), "search.backup"},
      {run({"--input", spec, "--set", "search.widening=none"}), "search.widening"},
      {run({"--input", spec, "--set", "search.sharing=forest"}), "search.sharing"},
      {run({"--input", spec, "--set", "record.sync=sometimes"}), "record.sync"},
      // options of plug-ins that are not chosen
      {run({"--input", spec, "--set", "cuda.screening=screening,nothing"}), "got nothing"},
      {run({"--input", spec, "--set", "prior.sources=rules,nothing"}), "got nothing"},
      {run({"--input", spec, "--prior", "oracle"}), "oracle"},
      {run({"--input", spec, "--config", config}), "config.json/run/seeds"},
      {run({"--input", spec, "--config", folder / "absent.json"}), "absent.json"},
      {run({"--input", spec, "--name", "nothing*"}), "nothing*"},
      {run({"--input", spec, "--resume=yes"}), "--resume"},
      {run({"--input", spec, "--llm-modle", "m"}), "did you mean --llm-model?"},
      {run({"--input", spec, "--llm-profile", "nowhere"}), "nowhere"},
      {run({"--input", spec, "--llm-profile", "ollama"}), "--llm-model"},
      {run({"--input", spec, "--llm-model", "m", "--llm-profile", "custom"}), "--llm-base-url"},
      {run({"--input", spec, "--isolation", "some"}),
       "got \"some\", expected one of process, none"},
      {run({"--input", spec, "--llm-cassette-mode", "sometimes"}),
       "/llm/cassette_mode: got \"sometimes\", expected one of live, record, replay"},
      {run({"--input", spec, "--llm-model", "m", "--llm-key-env", "WARPATH_NO_SUCH_KEY",
            "--llm-key-file", readable}),
       "chmod 600"},
      {run({"--input", spec, "--proposals", folder / "absent.jsonl"}), "absent.jsonl"},
      {{"ask"}, "RUN"},
      {{"prompt", empty}, "a run folder"},
      {{"mcp"}, "RUN"},
      {{"mcp", empty}, "a run folder"},
      {{"tell", empty}, "--node"},
      {run({"--resume"}), "--resume"},
      {{"help", "rnu"}, "did you mean run?"},
      {{"bundle", ""}, "the name of a folder"},
      {{"inspect", empty, "--json"}, "a run folder"},
      {{"inspect", "--ncu", file, "--dot"}, "--regions alone"},
      {{"inspect", "--regions", file, "--ncu", file}, "one of them"},
      {{"inspect", "--regions", spec, "--rate", "nope=1"}, "--rate: got nope"},
      {{"train", empty, "--output", folder / "absent" / "model.json"}, "--output"},
      {{"train", empty, "--output", empty}, "--output"},
      {run({"--input", spec, "--gpus", "x"}), "--gpus: got x"},
      {run({"--input", spec, "--gpus", "0,,1"}), "--gpus: got 0,,1"},
      {run({"--input", spec, "--gpus", "slurm:gpu:2"}), "--cluster slurm:gpu:2"},
      {run({"--input", spec, "--llm-model", "m", "--llm-key-file", key, "--llm-base-url",
            "http://example.com/v1"}),
       "--llm-base-url"},
      {{"run", "--input", spec, "--runner", "opencl", "--outdir", out}, "host, replay, synthetic"},
      {{"run", "--input", spec, "--runner", "cuda", "--gpus", "none", "--outdir", out}, "--gpus"},
      {{"bundle"}, "DIR"},
      {{"bundle", folder.path().string()}, "empty"},
      {{"bundle", out, "--specs", folder / "absent"}, "--specs"},
      {{"run", "--input", spec, "--runner", "host:x", "--outdir", out}, "host:x"},
      {{"run", "--input", spec, "--runner", "synthetic:nowhere", "--outdir", out}, "nowhere"},
      {{"run", "--input", spec, "--runner", "replay:" + pipe, "--outdir", out}, "pipe"},
      {{"train", "/dev/zero"}, "/dev/zero"},
      {{"run", "--input", spec, "--runner", "synthetic", "--outdir", file}, "file"}};
  const auto before = listing(folder.path());
  for (const auto& [words, expected] : table) check_refused(words, 64, expected);
  CHECK(listing(folder.path()) == before);
  report_figure("bad_inputs", table.size());
}

TEST_CASE("messages have no control characters, whatever was given, and name what a path lacks") {
  const TemporaryFolder folder;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  const auto run = [&](const std::string& out, const std::string& set) {
    return Words{"run", "--input", spec, "--runner", "synthetic", "--outdir", out, "--set", set};
  };
  check_refused(run(folder / "out", "a\x1b[2J.b=1"), 64, "a\\x1b[2J.b");
  check_refused(run(folder / "out", "a\nb.c=1"), 64, "--set a b.c");
  const ProgramResult too_long =
      run_program(run(folder / std::string(300, 'x'), "search.c_puct=1"));
  CHECK(too_long.code == 3);
  CHECK(too_long.err.find(": File name too long") != std::string::npos);
  CHECK(too_long.err.find("unexpected") == std::string::npos);
}

TEST_CASE("help of a command is the command's help") {
  const ProgramResult help = run_program({"help", "run"});
  CHECK(help.code == 0);
  CHECK(help.out == run_program({"run", "--help"}).out);
}

TEST_CASE("what cannot be printed is an error, and messages never end in the files of a run") {
  const TemporaryFolder folder;
  const std::string program = std::getenv("WARPATH_PROGRAM");
  const auto shell = [&](const std::string& command) {
    const int status =
        std::system(("exec 2>" + (folder / "err").string() + "; " + command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  };
  CHECK(shell(program + " options --json >/dev/full") == 3);
  CHECK(read_file(folder / "err").find("standard output cannot be written") != std::string::npos);
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  const std::string search = program + " run --input " + spec +
                             " --runner synthetic --budget-builds 20 --outdir " +
                             (folder / "out").string();
  CHECK(shell(search + " <&- >&- 2>&-") == 0);
  const std::string log = read_file(folder.path() / "out/kernels/softmax_scaled/events.jsonl");
  for (const std::string& line : lines_of(log)) CHECK(nlohmann::json::accept(line));
  CHECK(run_program({"inspect", (folder.path() / "out/kernels/softmax_scaled").string()}).code ==
        0);
  // A limit on files is an error with a name, not an end without a word.
  CHECK(shell("ulimit -f 8; " + program + " run --input " + spec +
              " --runner synthetic --budget-builds 200 --outdir " + (folder / "small").string() +
              " >/dev/null") == 3);
  CHECK(read_file(folder / "err").find("cannot be") != std::string::npos);
}

TEST_CASE(
    "who asks for a GPU where none can be used is told so by one line, with exit code 3, and "
    "nothing is written") {
  std::string why;
  if (warpath::cuda::cuda_available(why)) return;
  const TemporaryFolder folder;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  const std::string out = folder / "out";
  check_refused({"run", "--input", spec, "--runner", "cuda", "--outdir", out}, 3, why);
  check_refused({"run", "--input", spec, "--runner", "cuda", "--gpus", "0", "--outdir", out}, 3,
                why);
  check_refused({"run", "--input", spec, "--gpus", "0,1", "--outdir", out}, 3, "--gpus 0,1");
  CHECK(listing(folder.path()).empty());
}

TEST_CASE("validate names every problem of every file and goes on") {
  const TemporaryFolder folder;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  write_file(folder / "one.json", "{");
  write_file(folder / "two.json", R"({"name": 7})");
  const ProgramResult result =
      run_program({"validate", folder / "one.json", spec, folder / "two.json"});
  CHECK(result.code == 64);
  CHECK(lines_of(result.err).size() == 2);
  CHECK(result.err.find("one.json") != std::string::npos);
  CHECK(result.err.find("two.json") != std::string::npos);
  CHECK(lines_of(result.out).size() == 1);
  CHECK(result.out.find("softmax_scaled") != std::string::npos);
}

TEST_CASE("the specs of the tree are valid") {
  const ProgramResult result = run_program({"validate", (source_root() / "specs").string()});
  CHECK(result.code == 0);
  CHECK(result.err == "");
  CHECK(lines_of(result.out).size() >= 12);
}

TEST_CASE("doctor says what there is and refuses an output folder that is none") {
  const TemporaryFolder folder;
  const ProgramResult fine = run_program({"doctor", "--outdir", folder / "out"});
  CAPTURE(fine.out);
  CHECK(fine.code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  for (const char* what : {"C++ compiler", "NVRTC", "CUDA driver", "GPU", "CUPTI", "sandbox", "ncu",
                           "compute-sanitizer", "output folder"}) {
    CHECK(fine.out.find(what) != std::string::npos);
  }
  write_file(folder / "file", "");
  CHECK(run_program({"doctor", "--outdir", folder / "file"}).code == 3);
}

TEST_CASE("every command explains itself") {
  const ProgramResult overview = run_program({"--help"});
  CHECK(overview.code == 0);
  for (const char* command :
       {"run", "validate", "inspect", "options", "moves", "doctor", "bundle", "worker", "mcp"}) {
    CAPTURE(command);
    CHECK(overview.out.find(command) != std::string::npos);
    const ProgramResult help = run_program({command, "--help"});
    CHECK(help.code == 0);
    CHECK(help.out.starts_with("usage: warpath " + std::string(command)));
  }
}

TEST_CASE("options, moves and the resolved configuration are printed for people and programs") {
  CHECK(run_program({"options"}).out.find("search.c_puct") != std::string::npos);
  CHECK(run_program({"options", "--json"}).out.starts_with("["));
  CHECK(run_program({"moves"}).out.find("set_tunable") != std::string::npos);
  const ProgramResult config = run_program({"run", "--seed", "42", "--print-config"});
  CHECK(config.code == 0);
  CHECK(config.out.find("\"seed\": 42") != std::string::npos);
}

TEST_SUITE_END();
