#include <cstdio>

#include "engine/base/error.h"
#include "experiments/console/interrupt.h"
#include "experiments/report/live_page.h"
#include "register_commands.h"

namespace warpath {
namespace {

constexpr std::size_t kMostPort = 65535;

int watch(const Arguments& arguments, const Program&) {
  const std::string text = arguments.value("port").value_or("0");
  const std::size_t port = text == "0" ? 0 : parse_count(text, "--port");
  if (port > kMostPort) throw bad_input("--port", text, "0 to 65535");
  const InterruptWatch interrupts("");
  serve_live_page(
      arguments.words()[0], static_cast<int>(port),
      [](const std::string& address) {
        std::printf("%s\n", address.c_str());
        std::fflush(stdout);
        std::fputs("warpath: the run's page is there until Ctrl-C\n", stderr);
      },
      interrupts.stop());
  return 0;
}

}  // namespace

void register_command_watch(CommandRegistry& registry) {
  registry.push_back(
      {.name = "watch",
       .usage = "RUN",
       .help = "serve the page of `report` on this machine alone, kept up to date while the search "
               "runs; the address is printed",
       .flags = {{.name = "port", .value = "N", .help = "0: any that is free (0)"}},
       .least_words = 1,
       .most_words = 1,
       .run = watch});
}

}  // namespace warpath
